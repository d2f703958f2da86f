/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the x86 side of emulated trace hardware: what an instruction is to a
 * tracer, where execution goes after it, and runs of instructions up to the next branch.
 *
 * Valid in C and C++, free of kernel headers. Nothing here allocates, sleeps, takes a lock
 * or touches user memory; any context. Instructions as in SDM volume 2.
 */
#ifndef X86_EVENTS_EMU_BRANCH_H
#define X86_EVENTS_EMU_BRANCH_H

#ifdef __cplusplus
extern "C" {
#endif

/* The registers of user mode, in the order of struct pt_regs, which the shell asserts. */
struct x86_registers {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

/* Opcode maps; VECTOR: what is behind VEX, EVEX and XOP, where no branch is. */
enum x86_map {
	X86_MAP_1,
	X86_MAP_0F,
	X86_MAP_0F38,
	X86_MAP_0F3A,
	X86_MAP_VECTOR,
};

#define X86_PREFIX_OPERAND	0x01	/* 66 */
#define X86_PREFIX_ADDRESS	0x02	/* 67 */
#define X86_PREFIX_REPNE	0x04	/* F2 */
#define X86_PREFIX_REP		0x08	/* F3 */
#define X86_PREFIX_LOCK		0x10	/* F0 */
#define X86_PREFIX_FS_GS	0x20	/* 64, 65: segments with a base */
#define X86_PREFIX_SEGMENT	0x40	/* 26, 2E, 36, 3E */

/* One instruction, taken apart. */
struct x86_decoded {
	unsigned char	length;		/* bytes, 1 to 15; 0: not all of it is there */
	unsigned char	long_mode;	/* non-zero: 64-bit code */
	unsigned char	map;		/* enum x86_map */
	unsigned char	opcode;
	unsigned char	prefixes;	/* X86_PREFIX_* */
	unsigned char	rex;		/* 0x40 to 0x4f, or 0 */
	unsigned char	modrm;
	unsigned char	sib;
	unsigned char	has_modrm;
	unsigned char	has_sib;
	unsigned char	has_displacement;
	int		displacement;	/* sign-extended */
	int		immediate;	/* the first 4 bytes, sign-extended */
};

/* Takes the instruction apart that begins at code, of which n bytes can be read. */
void x86_decode(const unsigned char *code, unsigned int n, int long_mode,
		struct x86_decoded *decoded);

/* What an instruction is to whoever follows execution. */
enum x86_kind {
	X86_PLAIN,		/* goes on behind itself */
	X86_COND,		/* Jcc */
	X86_COUNTED,		/* JCXZ, LOOP, LOOPE, LOOPNE */
	X86_JUMP,
	X86_CALL,
	X86_INDIRECT_JUMP,
	X86_INDIRECT_CALL,
	X86_RETURN,
	X86_SYSCALL,		/* SYSCALL, SYSENTER: enters the kernel and retires */
	X86_INTERRUPT,		/* INT n, INT3, INT1: enters the kernel behind itself */
	X86_UNDEFINED,		/* UD0, UD1, UD2, HLT: never retires in user mode */
	X86_FAR,		/* far JMP, CALL and RET, IRET */
	X86_SHADOW,		/* MOV SS, POP SS: no debug exception before the next but one */
	X86_PTWRITE,
	X86_ODD,		/* may go elsewhere in its own ways: INTO, XBEGIN */
	X86_UNKNOWN,		/* could not be decoded */
};

/* How the operand of an indirect branch, or of PTWRITE, is found. */
struct x86_operand {
	unsigned char	is_memory;
	unsigned char	base;		/* register number; X86_NONE; X86_IP: what is behind */
	unsigned char	index;		/* register number or X86_NONE */
	unsigned char	scale;		/* shift of the index */
	unsigned char	bytes;		/* 4 or 8 */
	int		displacement;
};

#define X86_NONE 16
#define X86_IP 17

struct x86_branch {
	unsigned char	kind;		/* enum x86_kind */
	unsigned char	length;
	unsigned char	long_mode;
	unsigned char	condition;	/* COND: low 4 bits of the opcode; COUNTED: all 8 */
	unsigned char	executable;	/* non-zero: all that it needs is known here */
	unsigned char	address_bytes;	/* COUNTED: the counter's width, 2, 4 or 8 */
	unsigned char	pushes_flags;	/* PUSHF: bytes that it has pushed */
	unsigned char	loads_flags;	/* POPF, IRET: TF is what they have loaded */
	unsigned short	release;	/* RETURN: bytes of arguments that it takes off */
	struct x86_operand operand;
	unsigned long	ip;		/* of the instruction */
	unsigned long	next;		/* behind it */
	unsigned long	target;		/* of a direct branch */
};

/* Says what the instruction at ip is. */
void x86_branch_classify(const struct x86_decoded *decoded, unsigned long ip,
			 struct x86_branch *branch);

/* Linear address that an indirect branch, RETURN or PTWRITE reads; only if it reads memory. */
unsigned long x86_branch_address(const struct x86_branch *branch,
				 const struct x86_registers *registers);

/* Non-zero: carrying the branch out, or telling its payload, takes a word from memory. */
int x86_branch_reads(const struct x86_branch *branch);

/* What carrying a branch out comes to. The registers stay as they are. */
struct x86_outcome {
	unsigned long	to;		/* where execution goes on */
	unsigned long	sp;		/* the new stack pointer */
	unsigned long	cx;		/* the new counter */
	unsigned long	pushed;		/* value to be stored at sp */
	unsigned char	push_bytes;	/* 0: nothing is to be stored */
	unsigned char	taken;		/* COND and COUNTED */
};

/*
 * Carries out a branch that is executable; `word` is what was read, if x86_branch_reads().
 * Non-zero: done. 0: the CPU has to do it itself (a target that is not canonical).
 */
int x86_branch_execute(const struct x86_branch *branch, const struct x86_registers *registers,
		       unsigned long word, struct x86_outcome *outcome);

/* The register form of an operand, or of PTWRITE: its value. */
unsigned long x86_branch_register(const struct x86_branch *branch,
				  const struct x86_registers *registers);

/*
 * A run of instructions: straight on from start, up to and with the one that ends it.
 * What has been decoded once is kept, together with the bytes, and holds for as long as
 * the same bytes are at the same address.
 */
#define X86_RUN_BYTES 96

/* Instructions of a run that can be carried out in a row, its end included. */
#define X86_RUN_OPS 16

/* An instruction as the interpreter carries it out, see op.hh. */
struct x86_op {
	unsigned char	code;		/* which operation; 0: none */
	unsigned char	operation;	/* and which of its kind */
	unsigned char	to;		/* a register's place in x86_registers, in bytes */
	unsigned char	from;
	unsigned char	base;		/* the same for addresses, or 0xff: none */
	unsigned char	index;
	unsigned char	address;	/* shift of the index, and more */
	unsigned char	offset;		/* of the instruction from the run's start */
	int		displacement;
	int		immediate;
};

struct x86_run {
	unsigned long	start;
	unsigned long long begins[2];	/* bit n: an instruction begins at start + n */
	unsigned char	mode;		/* 0: empty; 1: 32-bit code; 2: 64-bit code */
	unsigned char	bytes;		/* how many belong to it, the end's included */
	unsigned char	instructions;	/* how many, the end included */
	unsigned char	ops;		/* how many from the start can be carried out */
	unsigned char	behind_ops;	/* bytes that belong to these */
	unsigned char	stores;		/* one of these writes to memory, or may */
	unsigned long	checked;	/* x86_session::key when its bytes were last compared */
	struct x86_branch end;		/* PLAIN: the run is cut off in front of end.ip */
	unsigned char	code[X86_RUN_BYTES];
	struct x86_op	op[X86_RUN_OPS];
};

/* A table of runs: 2^order of them, at least 2, zeroed memory that the caller owns. */
struct x86_runs {
	struct x86_run	*slots;
	unsigned int	order;
};

#define X86_RUNS_LEAST 6
#define X86_RUNS_MOST 14

/* The order of a table that takes no more than so many bytes, between these two. */
unsigned int x86_runs_order(unsigned long long bytes);

/* The first of the two places where a run that starts there may be; neither need be that run. */
static inline struct x86_run *x86_runs_slot(const struct x86_runs *runs, unsigned long start)
{
	/* The golden ratio's bits spread neighbours over the table. */
	return &runs->slots[(start * 0x9e3779b97f4a7c15ul >> (64 - runs->order)) & ~1ul];
}

/* The run that starts there, or the one whose place it takes: the one not seen for longer. */
static inline struct x86_run *x86_runs_find(const struct x86_runs *runs, unsigned long start,
					    unsigned char mode)
{
	struct x86_run *run = x86_runs_slot(runs, start);

	if (run[0].start == start && run[0].mode == mode)
		return &run[0];
	if (run[1].start == start && run[1].mode == mode)
		return &run[1];
	return run[0].checked <= run[1].checked ? &run[0] : &run[1];
}

/* Begin a run in a slot, of the given mode. */
void x86_run_begin(struct x86_run *run, unsigned long start, unsigned char mode);

/*
 * The next instruction of the run has been decoded; limit is an address in front of which
 * runs have to end (all ones: none). Non-zero: it goes on with the instruction behind.
 */
int x86_run_add(struct x86_run *run, const struct x86_decoded *decoded, unsigned long limit);

/* Cut the run off in front of the next instruction, which cannot be read. */
void x86_run_cut(struct x86_run *run);

/*
 * How many instructions of the run come before ip; -1: none of them begins there, so
 * that execution cannot have come to it.
 */
int x86_run_before(const struct x86_run *run, unsigned long ip);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_EMU_BRANCH_H */
