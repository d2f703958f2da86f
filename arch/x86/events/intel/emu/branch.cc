// SPDX-License-Identifier: GPL-2.0
/*
 * What an instruction is to a tracer (x86_branch_classify), and what near branches do
 * (x86_branch_execute). SDM volume 2: Jcc, JMP, CALL, RET, LOOP; appendix A for opcodes.
 */
#include "branch.h"
#include "registers.hh"

namespace {

bool has_prefix(const x86_decoded &d, unsigned prefix)
{
	return d.prefixes & prefix;
}

unsigned reg_field(const x86_decoded &d)
{
	return d.modrm >> 3 & 7u;
}

bool is_register_form(const x86_decoded &d)
{
	return d.modrm >> 6 == 3;
}

x86_kind group5(const x86_decoded &d)
{
	switch (reg_field(d)) {
	case 2:
		return X86_INDIRECT_CALL;
	case 4:
		return X86_INDIRECT_JUMP;
	case 3:
	case 5:
		return X86_FAR;
	default:
		return X86_PLAIN;
	}
}

x86_kind one_byte(const x86_decoded &d, unsigned char code)
{
	if ((code & 0xf0) == 0x70)
		return X86_COND;
	switch (code) {
	case 0xe0: /* LOOPNE, LOOPE, LOOP, JCXZ */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return X86_COUNTED;
	case 0xe9:
	case 0xeb:
		return X86_JUMP;
	case 0xe8:
		return X86_CALL;
	case 0xc2:
	case 0xc3:
		return X86_RETURN;
	case 0xff:
		return group5(d);
	case 0x9a: /* far CALL, RET, IRET, far JMP */
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xea:
		return X86_FAR;
	case 0xcc: /* INT3, INT n, INT1 */
	case 0xcd:
	case 0xf1:
		return X86_INTERRUPT;
	case 0xce: /* INTO */
		return X86_ODD;
	case 0xf4: /* HLT */
		return X86_UNDEFINED;
	case 0x17: /* POP SS */
		return d.long_mode ? X86_UNDEFINED : X86_SHADOW;
	case 0x8e:
		return reg_field(d) == 2 ? X86_SHADOW : X86_PLAIN;
	case 0xc7: /* XBEGIN */
		return d.modrm == 0xf8 ? X86_ODD : X86_PLAIN;
	default:
		return X86_PLAIN;
	}
}

x86_kind two_bytes(const x86_decoded &d, unsigned char code)
{
	if ((code & 0xf0) == 0x80)
		return X86_COND;
	switch (code) {
	case 0x05:
	case 0x34:
		return X86_SYSCALL;
	case 0x0b: /* UD2, UD1, UD0 */
	case 0xb9:
	case 0xff:
	case 0x07: /* SYSRET, SYSEXIT: privileged */
	case 0x35:
		return X86_UNDEFINED;
	case 0xae: /* F3 0F AE /4 */
		return has_prefix(d, X86_PREFIX_REP) && !has_prefix(d, X86_PREFIX_OPERAND) &&
				       reg_field(d) == 4
			       ? X86_PTWRITE
			       : X86_PLAIN;
	default:
		return X86_PLAIN;
	}
}

x86_kind kind_of(const x86_decoded &d)
{
	if (!d.length)
		return X86_UNKNOWN;
	if (d.map == X86_MAP_1)
		return one_byte(d, d.opcode);
	if (d.map == X86_MAP_0F)
		return two_bytes(d, d.opcode);
	return X86_PLAIN;
}

unsigned char extended(unsigned number, bool extension)
{
	return static_cast<unsigned char>(number + (extension ? 8 : 0));
}

/* SDM volume 2, section "ModR/M and SIB Bytes", 32- and 64-bit addressing. */
x86_operand operand_of(const x86_decoded &d)
{
	x86_operand o = {};
	const unsigned rm = d.modrm & 7, mod = d.modrm >> 6;

	o.bytes = d.long_mode ? 8 : 4;
	o.base = o.index = X86_NONE;
	if (mod == 3) {
		o.base = extended(rm, d.rex & 1);
		return o;
	}
	o.is_memory = 1;
	if (d.has_displacement)
		o.displacement = d.displacement;
	if (!d.has_sib) {
		o.base = mod == 0 && rm == 5
				 ? static_cast<unsigned char>(d.long_mode ? X86_IP : X86_NONE)
				 : extended(rm, d.rex & 1);
		return o;
	}
	if ((d.sib & 7) != 5 || mod != 0)
		o.base = extended(d.sib & 7, d.rex & 1);
	if ((d.sib >> 3 & 7) != 4 || d.rex & 2)
		o.index = extended(d.sib >> 3 & 7, d.rex & 2);
	o.scale = static_cast<unsigned char>(d.sib >> 6);
	return o;
}

unsigned long wrapped(unsigned long address, bool long_mode)
{
	return long_mode ? address : address & 0xffffffff;
}

/*
 * What the CPU has to do itself: 16-bit operands, which truncate the target on one
 * vendor's CPUs and not on the other's, segments with a base, and in 32-bit code all
 * that goes through a data segment, whose base is not known here.
 */
bool is_executable(const x86_decoded &d, const x86_branch &b)
{
	if (has_prefix(d, X86_PREFIX_OPERAND | X86_PREFIX_LOCK))
		return false;
	switch (b.kind) {
	case X86_COND:
	case X86_COUNTED:
	case X86_JUMP:
	case X86_CALL:
	case X86_RETURN:
		return true;
	case X86_INDIRECT_JUMP:
	case X86_INDIRECT_CALL:
	case X86_PTWRITE:
		if (is_register_form(d))
			return true;
		return d.long_mode && !has_prefix(d, X86_PREFIX_FS_GS | X86_PREFIX_ADDRESS);
	default:
		return false;
	}
}

unsigned char counter_bytes(const x86_decoded &d)
{
	if (has_prefix(d, X86_PREFIX_ADDRESS))
		return d.long_mode ? 4 : 2;
	return d.long_mode ? 8 : 4;
}

constexpr unsigned char pushf = 0x9c, popf = 0x9d, iret = 0xcf;

unsigned char flags_pushed(const x86_decoded &d)
{
	if (d.map != X86_MAP_1 || d.opcode != pushf)
		return 0;
	if (has_prefix(d, X86_PREFIX_OPERAND) && !(d.rex & 8))
		return 2;
	return d.long_mode ? 8 : 4;
}

unsigned long register_value(const x86_registers &r, unsigned char number)
{
	return reinterpret_cast<const unsigned long *>(
		&r)[x86_emu::register_place[number & 15] / sizeof(long)];
}

/* LOOP writes the counter back in its own width; a 32-bit one clears the upper half. */
unsigned long counted_down(unsigned long cx, unsigned char bytes)
{
	if (bytes == 8)
		return cx - 1;
	if (bytes == 4)
		return (cx - 1) & 0xffffffff;
	return (cx & ~0xfffful) | ((cx - 1) & 0xffff);
}

unsigned long counter_of(unsigned long cx, unsigned char bytes)
{
	if (bytes == 8)
		return cx;
	return cx & (bytes == 4 ? 0xffffffff : 0xffff);
}

void count(const x86_branch &b, const x86_registers &r, x86_outcome &out)
{
	const bool is_zero = r.flags & x86_emu::zero;

	if (b.condition == 0xe3) {
		out.taken = counter_of(r.cx, b.address_bytes) == 0;
		return;
	}
	out.cx = counted_down(r.cx, b.address_bytes);
	out.taken = counter_of(out.cx, b.address_bytes) != 0;
	if (b.condition == 0xe0)
		out.taken = out.taken && !is_zero;
	else if (b.condition == 0xe1)
		out.taken = out.taken && is_zero;
}

void push_next(const x86_branch &b, const x86_registers &r, x86_outcome &out)
{
	out.push_bytes = b.long_mode ? 8 : 4;
	out.sp = wrapped(r.sp - out.push_bytes, b.long_mode);
	out.pushed = b.next;
}

/* 47 bits and their sign; what uses the fifth level is left to the CPU. */
bool is_canonical(unsigned long address)
{
	return static_cast<unsigned long>(static_cast<long>(address << 16) >> 16) == address;
}

} // namespace

extern "C" {

void x86_branch_classify(const x86_decoded *decoded, unsigned long ip, x86_branch *branch)
{
	const x86_decoded &d = *decoded;
	x86_branch &b = *branch;

	b = {};
	b.kind = kind_of(d);
	b.length = d.length;
	b.long_mode = d.long_mode;
	b.ip = ip;
	b.next = wrapped(ip + d.length, d.long_mode);
	b.executable = is_executable(d, b);
	b.pushes_flags = flags_pushed(d);
	b.loads_flags = d.map == X86_MAP_1 && (d.opcode == popf || d.opcode == iret);
	switch (b.kind) {
	case X86_COND:
	case X86_COUNTED:
	case X86_JUMP:
	case X86_CALL:
		b.target =
			wrapped(b.next + static_cast<unsigned long>(static_cast<long>(d.immediate)),
				d.long_mode);
		b.condition = b.kind == X86_COUNTED ? d.opcode
						    : static_cast<unsigned char>(d.opcode & 0xf);
		b.address_bytes = counter_bytes(d);
		break;
	case X86_INDIRECT_JUMP:
	case X86_INDIRECT_CALL:
	case X86_PTWRITE:
		b.operand = operand_of(d);
		if (b.kind == X86_PTWRITE)
			b.operand.bytes = d.rex & 8 ? 8 : 4;
		break;
	case X86_RETURN:
		if (d.opcode == 0xc2)
			b.release = static_cast<unsigned short>(d.immediate);
		b.operand.bytes = d.long_mode ? 8 : 4;
		break;
	default:
		break;
	}
}

unsigned long x86_branch_address(const x86_branch *branch, const x86_registers *registers)
{
	const x86_operand &o = branch->operand;
	unsigned long address = 0;

	if (branch->kind == X86_RETURN)
		return wrapped(registers->sp, branch->long_mode);
	if (o.base == X86_IP)
		address = branch->next;
	else if (o.base != X86_NONE)
		address = register_value(*registers, o.base);
	if (o.index != X86_NONE)
		address += register_value(*registers, o.index) << o.scale;
	address += static_cast<unsigned long>(static_cast<long>(o.displacement));
	return wrapped(address, branch->long_mode);
}

int x86_branch_reads(const x86_branch *branch)
{
	return branch->kind == X86_RETURN || branch->operand.is_memory;
}

unsigned long x86_branch_register(const x86_branch *branch, const x86_registers *registers)
{
	const unsigned long value = register_value(*registers, branch->operand.base);

	return branch->operand.bytes == 8 ? value : value & 0xffffffff;
}

int x86_branch_execute(const x86_branch *branch, const x86_registers *registers, unsigned long word,
		       x86_outcome *outcome)
{
	const x86_branch &b = *branch;
	const x86_registers &r = *registers;
	x86_outcome &out = *outcome;

	out = {};
	out.sp = r.sp;
	out.cx = r.cx;
	switch (b.kind) {
	case X86_COND:
		out.taken = x86_emu::holds(b.condition, r.flags);
		out.to = out.taken ? b.target : b.next;
		break;
	case X86_COUNTED:
		count(b, r, out);
		out.to = out.taken ? b.target : b.next;
		break;
	case X86_CALL:
		push_next(b, r, out);
		out.to = b.target;
		break;
	case X86_JUMP:
		out.to = b.target;
		break;
	case X86_INDIRECT_CALL:
		push_next(b, r, out);
		[[fallthrough]];
	case X86_INDIRECT_JUMP:
		out.to = b.operand.is_memory ? word : x86_branch_register(branch, registers);
		break;
	case X86_RETURN:
		out.to = word;
		out.sp = wrapped(r.sp + b.operand.bytes + b.release, b.long_mode);
		break;
	default:
		return 0;
	}
	return is_canonical(out.to);
}

} // extern "C"
