/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interpreter's instructions: what translate.cc makes and interpret.cc carries out.
 */
#ifndef X86_EVENTS_EMU_OP_HH
#define X86_EVENTS_EMU_OP_HH

#include "interpret.h"
#include "registers.hh"

namespace x86_emu {

/* struct x86_op, code. Those in the first part come in four sizes: add its logarithm. */
enum Code : unsigned char {
	none = 0,

	alu_rr = 4, /* Alu, to <- to, from */
	alu_ri = 8,
	alu_rm = 12, /* to <- to, memory */
	alu_mr = 16, /* memory <- memory, from */
	alu_mi = 20,
	mov_rr = 24,
	mov_ri = 28,
	load = 32,
	store = 36,
	store_i = 40,
	lea = 44,
	unary_r = 48, /* Unary */
	unary_m = 52,
	shift_r = 56, /* Shift, by `from` of the immediate or CL */
	shift_m = 60,
	exchange = 64,
	multiply_rr = 68, /* to <- to * from */
	multiply_rm = 72,
	multiply_rri = 76, /* to <- from * immediate */
	multiply_rmi = 80,
	wide_r = 84, /* Wide, accumulator and data register by `from` */
	wide_m = 88,
	bit_rr = 92, /* Bit */
	bit_ri = 96,
	scan_rr = 100, /* Scan */
	scan_rm = 104,
	double_rr = 108, /* SHLD, SHRD */
	cmov_rr = 112,	 /* condition */
	cmov_rm = 116,
	widen = 120,	  /* CBW, CWDE, CDQE, by the size of the result */
	sign_data = 124,  /* CWD, CDQ, CQO */
	swap_bytes = 128, /* 4 and 8 bytes only */

	mov_wide = 132, /* 64 bits of displacement and immediate */
	extend_r,	/* Extension */
	extend_m,
	set_r, /* condition */
	set_m,
	push_r,
	push_i,
	push_m,
	pop_r,
	leave,
	nop,
	carry_flag, /* operation: 0 clears, 1 sets, 2 complements */

	branch_if, /* condition */
	jump,
	call,
	ret,
	jump_r,
	jump_m,
	call_r,
	call_m,

	atomic = 152, /* Atomic; in four sizes, as the next two */
	bits_r = 156, /* Bits */
	bits_m = 160,
	string = 164, /* String, logarithm of the size in `to`, Repeat in `from` */
	rare,	      /* Rare */

	first_vector,
	vector_load = first_vector,
	vector_store,
	vector_move,
	vector_binary_r, /* the opcode behind 66 0F */
	vector_binary_m,
	vector_shuffle_r, /* PSHUFD */
	vector_shuffle_m,
	vector_test_r, /* PTEST */
	vector_test_m,
	vector_broadcast_r, /* logarithm of the size */
	vector_broadcast_m,
	vector_part_load, /* the same */
	vector_part_store,
	vector_part_move,
	vector_from_general,
	vector_to_general,
	vector_half_load, /* 0: the lower, 1: the upper */
	vector_half_store,
	vector_mask,  /* PMOVMSKB */
	vector_clear, /* VZEROUPPER */
	vector_38_r,  /* the opcode behind 66 0F 38 */
	vector_38_m,
	vector_widen_r, /* PMOVSX, PMOVZX: the same */
	vector_widen_m,
	vector_align_r, /* PALIGNR */
	vector_align_m,
	vector_strings_r, /* PCMPISTRI */
	vector_strings_m,
	vector_shift,	/* by the immediate: the opcode that shifts by a register */
	vector_slide,	/* PSLLDQ: 1, PSRLDQ: 0 */
	vector_words_r, /* PSHUFLW: 0, PSHUFHW: 1 */
	vector_words_m,
	vector_pick_r, /* SHUFPS: 0, SHUFPD: 1 */
	vector_pick_m,
	vector_spread_r, /* MOVSLDUP: 0, MOVSHDUP: 1, MOVDDUP: 2 */
	vector_spread_m,
	vector_half_move, /* MOVHLPS: 0, MOVLHPS: 1 */
	vector_insert_r,  /* logarithm of the size */
	vector_insert_m,
	vector_extract_r,
	vector_extract_m,
	vector_signs,	/* MOVMSKPS: 2, MOVMSKPD: 3 */
	vector_float_r, /* the opcode, and its kind */
	vector_float_m,
	vector_compare_r,
	vector_compare_m,
	vector_order_r, /* 1: UCOMISS and UCOMISD */
	vector_order_m,
	vector_from_integer_r, /* logarithm of the integer's size */
	vector_from_integer_m,
	vector_to_integer_r, /* the same; it truncates: 0x10 */
	vector_to_integer_m,
	last_vector = vector_to_integer_m,
};

/* x86_op::immediate of vectors: the immediate byte, VEX's third register, and these. */
constexpr unsigned vector_other_shift = 8;
constexpr int vector_vex = 0x1000, vector_wide = 0x2000, vector_aligned = 0x4000;
constexpr unsigned vector_kind_shift = 16, /* enum FloatKind */
	vector_needs_shift = 20;	   /* X86_CAN_* that it takes */

constexpr unsigned char vector_truncates = 0x10;

/* Those of the opcodes' own numbers. */
enum Alu : unsigned char {
	alu_add,
	alu_or,
	alu_adc,
	alu_sbb,
	alu_and,
	alu_sub,
	alu_xor,
	alu_cmp,
	alu_test,
};

enum Unary : unsigned char { unary_inc, unary_dec, unary_not, unary_neg };

enum Shift : unsigned char {
	shift_rol,
	shift_ror,
	shift_rcl,
	shift_rcr,
	shift_shl,
	shift_shr,
	shift_sal,
	shift_sar,
};

enum Wide : unsigned char { wide_mul = 4, wide_imul, wide_div, wide_idiv };

enum Bit : unsigned char { bit_test, bit_set, bit_reset, bit_complement };

enum Scan : unsigned char { scan_forward, scan_reverse, scan_tzcnt, scan_lzcnt };

/*
 * What is done to memory at once, in the order of Alu as far as that goes; `to` is 1 if others
 * are kept out, and `from` a register or none, for the immediate.
 */
enum Atomic : unsigned char {
	atomic_inc = 8,
	atomic_dec,
	atomic_not,
	atomic_neg,
	atomic_add, /* XADD */
	atomic_exchange,
	atomic_compare,	 /* CMPXCHG */
	atomic_bit_test, /* these in the order of Bit */
	atomic_bit_set,
	atomic_bit_reset,
	atomic_bit_complement,
	atomic_add_r,
	atomic_compare_r,
};

/* The third operand's place is the immediate's low byte; what the CPU must know, its others. */
enum Bits : unsigned char {
	bits_shl, /* SHLX and so on, which set no flags */
	bits_shr,
	bits_sar,
	bits_ror, /* RORX, by the immediate */
	bits_mulx,
	bits_andn,
	bits_blsr,
	bits_blsmsk,
	bits_blsi,
	bits_bextr,
	bits_bzhi,
	bits_pdep,
	bits_pext,
	bits_count,
	bits_crc32,
	bits_load_swapped,
	bits_store_swapped,
};

constexpr unsigned bits_can_shift = 8;

enum String : unsigned char {
	string_move,
	string_compare,
	string_store,
	string_load,
	string_scan,
};

enum Repeat : unsigned char { repeat_never, repeat_while_equal, repeat_until_equal };

enum Rare : unsigned char {
	rare_lahf,
	rare_sahf,
	rare_cld,
	rare_lfence,
	rare_sfence,
};

/* x86_op::operation of extend: logarithms of the sizes, source in bits 0-1, result in 2-3. */
constexpr unsigned char extend_signed = 0x10;

/* x86_op::address */
constexpr unsigned char address_shift = 3, address_relative = 4, address_fs = 8,
			address_narrow = 16, address_special = 28;

/* x86_op::base and ::index, where there is none. */
constexpr unsigned char no_register = 0xff;

/* Shifts: by CL. */
constexpr unsigned char by_cl = 1;

/* What the arithmetic flags are of. */
enum Pending : unsigned char {
	settled, /* what the registers say */
	of_add,
	of_sub,
	of_logic,
	of_inc, /* CF is what the registers say */
	of_dec,
	of_shl, /* by `b`, which is not 0 */
	of_shr,
	of_sar,
};

constexpr unsigned char ax = 10 * 8, cx = 11 * 8, dx = 12 * 8, sp = 19 * 8, bp = 4 * 8, si = 13 * 8,
			di = 14 * 8;

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_OP_HH */
