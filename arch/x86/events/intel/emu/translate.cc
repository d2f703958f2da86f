// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions to ops: which of them the interpreter carries out, and how. SDM volume 2,
 * appendix A. What is not here is left to the CPU: prefixes out of the ordinary, segments
 * with a base other than FS's, what serializes.
 */
#include "atomic_operands.hh"
#include "bits_operands.hh"
#include "string_operands.hh"
#include "vector_operands.hh"

namespace {

using namespace x86_emu; // NOLINT(google-build-using-namespace)

class Translator : public Operands {
    public:
	using Operands::Operands;

	/* False: it is not in the repertoire. */
	bool run()
	{
		if (!begin() || d.prefixes & X86_PREFIX_LOCK)
			return false;
		if (d.map == X86_MAP_1)
			return repeated() ? is_pause() || (is_branch() && one_byte()) : one_byte();
		if (d.map == X86_MAP_0F)
			return two_bytes();
		return false;
	}

    private:
	bool is_pause()
	{
		return d.opcode == 0x90 && !(d.rex & 1) && set(nop);
	}

	/* What REP and BND do nothing to. */
	bool is_branch() const
	{
		return (d.opcode & 0xf0) == 0x70 || (d.opcode & 0xfe) == 0xc2 ||
		       (d.opcode & 0xfc) == 0xe8 ||
		       (d.opcode == 0xff && (field() == 2 || field() == 4));
	}

	bool one_byte()
	{
		if (d.opcode < 0x40)
			return (d.opcode & 7) < 6 && arithmetic_op();
		switch (d.opcode >> 4) {
		case 4:
			op.operation = d.opcode & 8 ? unary_dec : unary_inc;
			op.to = named(full);
			return set(unary_r, full);
		case 5:
			return push_or_pop();
		case 6:
			return sixties();
		case 7:
			return branch();
		case 8:
			return eighties();
		case 9:
			return nineties();
		case 0xa:
			return (d.opcode & 0xfe) == 0xa8 && accumulator(alu_test);
		case 0xb:
			return move_immediate();
		case 0xc:
			return c_row();
		case 0xd:
			return shift();
		case 0xe:
			return branch();
		default:
			return last_row();
		}
	}

	bool arithmetic_op()
	{
		op.operation = d.opcode >> 3;
		if ((d.opcode & 7) >= 4)
			return accumulator(op.operation);
		return two_operands(alu_rr, alu_rm, alu_mr);
	}

	bool accumulator(unsigned char operation)
	{
		op.operation = operation;
		op.to = ax;
		return set(alu_ri, width());
	}

	/* Eb,Gb Ev,Gv Gb,Eb Gv,Ev, by the opcode's low two bits. */
	bool two_operands(unsigned rr, unsigned load_form, unsigned store_form)
	{
		const unsigned size = width();
		const bool to_register = d.opcode & 2;

		op.to = to_register ? reg(size) : rm(size);
		op.from = to_register ? rm(size) : reg(size);
		return either(rr, to_register ? load_form : store_form, size);
	}

	bool push_or_pop()
	{
		if (d.prefixes & X86_PREFIX_OPERAND)
			return false;
		op.to = op.from = named(stack);
		return set(d.opcode & 8 ? pop_r : push_r, 0);
	}

	bool sixties()
	{
		switch (d.opcode) {
		case 0x63:
			if (!long_mode)
				return false;
			op.to = reg(full);
			op.from = rm(2);
			op.operation = static_cast<unsigned char>((full == 1 ? 1 : 2) | full << 2 |
								  extend_signed);
			return either(extend_r, extend_m, 0);
		case 0x68:
		case 0x6a:
			return !(d.prefixes & X86_PREFIX_OPERAND) && set(push_i);
		case 0x69:
		case 0x6b:
			op.to = reg(full);
			op.from = rm(full);
			return either(multiply_rri, multiply_rmi, full);
		default:
			return false;
		}
	}

	bool eighties()
	{
		switch (d.opcode) {
		case 0x80:
		case 0x81:
		case 0x83:
			op.operation = static_cast<unsigned char>(field());
			op.to = rm(width());
			return either(alu_ri, alu_mi, width());
		case 0x84:
		case 0x85:
			op.operation = alu_test;
			return two_operands(alu_rr, alu_rm, alu_mr);
		case 0x86:
		case 0x87:
			op.to = reg(width());
			op.from = rm(width());
			return is_register() && set(exchange, width());
		case 0x88:
		case 0x89:
		case 0x8a:
		case 0x8b:
			return two_operands(mov_rr, load, store);
		case 0x8d:
			op.to = reg(full);
			return memory(false) && set(lea, full);
		default:
			return false;
		}
	}

	bool nineties()
	{
		if (d.opcode == 0x98) {
			return set(widen, full);
		}
		if (d.opcode == 0x99)
			return set(sign_data, full);
		if (d.opcode >= 0x9e)
			return rarity(d.opcode & 1 ? rare_lahf : rare_sahf);
		if (d.opcode > 0x97)
			return false;
		if (d.opcode == 0x90 && !(d.rex & 1))
			return set(nop);
		op.to = ax;
		op.from = named(full);
		return set(exchange, full);
	}

	bool move_immediate()
	{
		const unsigned size = d.opcode & 8 ? full : 0;

		op.to = named(size);
		if (size != 3)
			return set(mov_ri, size);
		const unsigned char *const value = code + d.length - 8;
		op.displacement = word_at(value);
		op.immediate = word_at(value + 4);
		return set(mov_wide);
	}

	bool rarity(Rare which)
	{
		op.operation = which;
		return set(rare);
	}

	static int word_at(const unsigned char *at)
	{
		return static_cast<int>(
			static_cast<unsigned>(at[0]) | static_cast<unsigned>(at[1]) << 8 |
			static_cast<unsigned>(at[2]) << 16 | static_cast<unsigned>(at[3]) << 24);
	}

	bool c_row()
	{
		switch (d.opcode) {
		case 0xc0:
		case 0xc1:
			return shift();
		case 0xc6:
		case 0xc7:
			op.to = rm(width());
			return field() == 0 && either(mov_ri, store_i, width());
		case 0xc9:
			return !(d.prefixes & X86_PREFIX_OPERAND) && set(leave);
		default:
			return branch();
		}
	}

	bool shift()
	{
		const unsigned size = width();

		if (d.opcode > 0xd3)
			return false;
		op.operation = static_cast<unsigned char>(field());
		op.to = rm(size);
		if (d.opcode >= 0xd2)
			op.from = by_cl;
		else if (d.opcode >= 0xd0)
			op.immediate = 1;
		return either(shift_r, shift_m, size);
	}

	bool last_row()
	{
		switch (d.opcode) {
		case 0xf5:
		case 0xf8:
		case 0xf9:
			op.operation = d.opcode == 0xf5 ? 2 : d.opcode & 1;
			return set(carry_flag);
		case 0xfc:
			return rarity(rare_cld);
		case 0xf6:
		case 0xf7:
			return group_3();
		case 0xfe:
		case 0xff:
			return group_4_5();
		default:
			return false;
		}
	}

	bool group_3()
	{
		const unsigned size = width();

		op.to = op.from = rm(size);
		switch (field()) {
		case 0:
		case 1:
			op.operation = alu_test;
			return either(alu_ri, alu_mi, size);
		case 2:
		case 3:
			op.operation = field() == 2 ? unary_not : unary_neg;
			return either(unary_r, unary_m, size);
		default:
			op.operation = static_cast<unsigned char>(field());
			return size != 0 && either(wide_r, wide_m, size);
		}
	}

	bool group_4_5()
	{
		const unsigned size = width();

		op.to = rm(size);
		if (field() < 2) {
			op.operation = field() ? unary_dec : unary_inc;
			return either(unary_r, unary_m, size);
		}
		if (d.opcode == 0xfe || d.prefixes & X86_PREFIX_OPERAND)
			return false;
		op.from = rm(stack);
		switch (field()) {
		case 2:
			return either(call_r, call_m, 0);
		case 4:
			return either(jump_r, jump_m, 0);
		case 6:
			return either(push_r, push_m, 0);
		default:
			return false;
		}
	}

	/* The run's end has where they go. */
	bool branch()
	{
		/* 16-bit operands, see branch.cc. */
		if (d.prefixes & X86_PREFIX_OPERAND)
			return false;
		if ((d.opcode & 0xf0) == (d.map == X86_MAP_1 ? 0x70 : 0x80)) {
			op.operation = d.opcode & 0xf;
			return set(branch_if);
		}
		switch (d.opcode) {
		case 0xe8:
			return set(call);
		case 0xe9:
		case 0xeb:
			return set(jump);
		case 0xc2:
		case 0xc3:
			op.immediate = d.opcode == 0xc2 ? d.immediate & 0xffff : 0;
			return set(ret);
		default:
			return false;
		}
	}

	bool two_bytes()
	{
		if (repeated())
			return is_endbr() || (d.prefixes & X86_PREFIX_REP && count_zeros()) ||
			       ((d.opcode & 0xf0) == 0x80 && branch());
		switch (d.opcode >> 4) {
		case 0:
		case 1:
			return hint();
		case 4:
			op.operation = d.opcode & 0xf;
			op.to = reg(full);
			op.from = rm(full);
			return either(cmov_rr, cmov_rm, full);
		case 8:
			return branch();
		case 9:
			op.operation = d.opcode & 0xf;
			op.to = rm(0);
			return either(set_r, set_m, 0);
		case 0xa:
		case 0xb:
			return bits_and_widths();
		case 0xc:
			op.to = named(full);
			return d.opcode >= 0xc8 && full != 1 && set(swap_bytes, full);
		default:
			return false;
		}
	}

	bool is_endbr()
	{
		return d.opcode == 0x1e && (d.modrm & 0xfe) == 0xfa &&
		       d.prefixes & X86_PREFIX_REP && set(nop);
	}

	/* NOP with operands, and prefetches; none of them touches memory. */
	bool hint()
	{
		return (d.opcode == 0x1f ||
			((d.opcode == 0x18 || d.opcode == 0x0d) && !is_register())) &&
		       set(nop);
	}

	bool count_zeros()
	{
		if ((d.opcode & 0xfe) != 0xbc)
			return false;
		op.operation = d.opcode & 1 ? scan_lzcnt : scan_tzcnt;
		op.to = reg(full);
		op.from = rm(full);
		return either(scan_rr, scan_rm, full);
	}

	bool bits_and_widths()
	{
		op.to = reg(full);
		op.from = rm(full);
		switch (d.opcode) {
		case 0xa3:
		case 0xab:
		case 0xb3:
		case 0xbb:
			op.operation = d.opcode >> 3 & 3;
			op.to = rm(full);
			op.from = reg(full);
			return is_register() && set(bit_rr, full);
		case 0xba:
			op.operation = field() & 3;
			op.to = rm(full);
			return field() >= 4 && is_register() && set(bit_ri, full);
		case 0xa4:
		case 0xa5:
		case 0xac:
		case 0xad:
			op.operation = d.opcode & 9;
			op.to = rm(full);
			op.from = reg(full);
			/* More than 16 bits of a word is undefined. */
			return full != 1 && is_register() && set(double_rr, full);
		case 0xae:
			/* MFENCE serializes on CPUs by AMD. */
			return is_register() && (field() == 5 || field() == 7) && !(d.modrm & 7) &&
			       !(d.prefixes & X86_PREFIX_OPERAND) &&
			       rarity(field() == 5 ? rare_lfence : rare_sfence);
		case 0xaf:
			return either(multiply_rr, multiply_rm, full);
		case 0xbc:
		case 0xbd:
			op.operation = d.opcode & 1 ? scan_reverse : scan_forward;
			return either(scan_rr, scan_rm, full);
		case 0xb6:
		case 0xb7:
		case 0xbe:
		case 0xbf:
			return extend(d.opcode & 1, d.opcode & 8 ? extend_signed : 0);
		default:
			return false;
		}
	}

	bool extend(unsigned size, unsigned kind)
	{
		op.from = rm(size);
		op.operation = static_cast<unsigned char>(size | full << 2 | kind);
		return either(extend_r, extend_m, 0);
	}
};

/* Writes to memory, or may: all that are not known not to. */
bool stores(const x86_op &op)
{
	const unsigned base = op.code < mov_wide ? op.code & ~3u : op.code;

	switch (base) {
	case alu_mr:
	case alu_mi:
		return op.operation < alu_cmp;
	case store:
	case store_i:
	case unary_m:
	case shift_m:
	case set_m:
	case push_r:
	case push_i:
	case push_m:
	case call:
	case call_r:
	case call_m:
	case vector_store:
	case vector_part_store:
	case vector_half_store:
	case vector_extract_m:
		return true;
	default:
		return op.code >= atomic && op.code < first_vector;
	}
}

/* Execution goes on at 0 then, which nobody does on purpose. */
bool ends_at_4_gib(const x86_run &run, const x86_decoded &decoded)
{
	return run.mode != 2 && run.start + run.bytes + decoded.length > 0xffffffff;
}

/* False: it is not one that the translator knows. */
template <class T> bool take(T &&translator, x86_run &run)
{
	if (!translator.run())
		return false;
	run.op[run.ops] = translator.op;
	return true;
}

/* Of those that VEX may be in front of. */
bool translate_prefixed(const x86_decoded &decoded, const unsigned char *code, x86_run &run)
{
	const VectorPrefix prefix = vector_prefix(decoded, code);
	const x86_decoded d = with_rex(decoded, prefix.rex, run.mode == 2);

	return take(VectorTranslator(prefix, d, code, run.mode, run.bytes), run) ||
	       take(BitsTranslator(prefix, prefix.vex ? d : decoded, code, run.mode, run.bytes),
		    run);
}

} // namespace

extern "C" void x86_run_translate(x86_run *run, const x86_decoded *decoded,
				  const unsigned char *code)
{
	/* What comes behind one that is not carried out is not asked for. */
	if (run->ops != run->instructions || run->ops == X86_RUN_OPS ||
	    ends_at_4_gib(*run, *decoded))
		return;

	if (!take(Translator(*decoded, code, run->mode, run->bytes), *run) &&
	    !take(StringTranslator(*decoded, code, run->mode, run->bytes), *run) &&
	    !take(AtomicTranslator(*decoded, code, run->mode, run->bytes), *run) &&
	    !translate_prefixed(*decoded, code, *run))
		return;
	if (stores(run->op[run->ops]))
		run->stores = 1;
	run->ops++;
	run->behind_ops = static_cast<unsigned char>(run->bytes + decoded->length);
}
