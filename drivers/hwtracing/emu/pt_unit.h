/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the emulated Intel PT unit: one CPU's trace hardware in software.
 *
 * Valid in C and C++, free of kernel headers. A unit is registers, an output engine,
 * a packet encoder and the flow of the CPU's user mode; it is told what the CPU does
 * and writes what hardware would have written (SDM volume 3, chapter "Intel Processor
 * Trace").
 *
 * One unit belongs to one CPU and is used there only, with interrupts off. An NMI may
 * use the registers of a unit that it has interrupted in any other function: what was
 * about to be written is then given up, which the trace tells as an overflow (OVF).
 * Nothing here allocates, sleeps or takes a lock.
 */
#ifndef HWTRACING_EMU_PT_UNIT_H
#define HWTRACING_EMU_PT_UNIT_H

#ifdef __cplusplus
extern "C" {
#endif

struct pt_unit;

/* What the unit asks of the machine around it. Called with interrupts off, or from NMI. */
struct pt_unit_ops {
	/*
	 * The memory at a physical address, usable up to the end of its 4 KiB page;
	 * NULL: there is none, which is an output error (SDM, "ToPA Errors").
	 */
	void *(*memory)(void *context, unsigned long long physical);
	/* The time stamp counter. */
	unsigned long long (*tsc)(void *context);
	/* A region with INT has been filled: raise the performance monitoring interrupt. */
	void (*interrupt)(void *context);
};

/* What CPUID shows of the unit, within what it can do. */
struct pt_unit_features {
	unsigned int	address_ranges;	/* 0 to 4 pairs of ADDRn_A and ADDRn_B */
	unsigned int	ptwrite;	/* non-zero: the CPU decodes PTWRITE */
	unsigned int	single_range;	/* non-zero: output without a table is offered */
	unsigned int	single_entry;	/* non-zero: tables of one entry and END only */
	unsigned int	tsc_numerator;	/* CPUID 0x15 EBX: TSC over crystal clock; 0: as 1 */
	unsigned int	tsc_denominator;/* CPUID 0x15 EAX; 0: as 1 */
	unsigned int	bus_ratio;	/* what CBR packets say: TSC frequency / 100 MHz */
};

/* Size and alignment (8) of a unit, for whoever hands in its memory. */
unsigned long pt_unit_size(void);

/* Make a unit of zeroed memory. Copies ops and features; `context` goes to every op. */
void pt_unit_init(struct pt_unit *unit, const struct pt_unit_ops *ops, void *context,
		  const struct pt_unit_features *features);

/* CPUID leaf 0x14: eax, ebx, ecx, edx of a subleaf; zeros beyond the last. */
void pt_unit_cpuid(const struct pt_unit *unit, unsigned int subleaf, unsigned int registers[4]);

/*
 * RDMSR and WRMSR of IA32_RTIT_*. 0, or -1 where hardware would raise #GP: an unknown
 * register, reserved bits, a change while TraceEn is set, an encoding that CPUID does
 * not offer; the register keeps its value then.
 */
int pt_unit_read(struct pt_unit *unit, unsigned int msr, unsigned long long *value);
int pt_unit_write(struct pt_unit *unit, unsigned int msr, unsigned long long value);

/* What the unit has met since it was made, for tests and debugging. */
struct pt_unit_counts {
	unsigned long long faults;	/* accesses that were refused with -1 */
	unsigned long long overflows;	/* times that packets could not be had: OVF told or due */
	unsigned long long errors;	/* operational errors: STATUS.Error set */
	unsigned long long instructions;/* retired with packets enabled */
};

void pt_unit_counts(const struct pt_unit *unit, struct pt_unit_counts *counts);

/* The execution mode that MODE.Exec tells. */
enum pt_unit_mode {
	PT_UNIT_16,
	PT_UNIT_32,
	PT_UNIT_64,
};

/* What retires. What is not listed is only worth its count of instructions. */
enum pt_unit_class {
	PT_UNIT_SEQUENTIAL,	/* straight on: `to` has been reached without a branch */
	PT_UNIT_COND_TAKEN,	/* Jcc, JCXZ, LOOP */
	PT_UNIT_COND_NOT_TAKEN,
	PT_UNIT_JUMP,		/* direct */
	PT_UNIT_CALL,		/* direct */
	PT_UNIT_INDIRECT_JUMP,
	PT_UNIT_INDIRECT_CALL,
	PT_UNIT_RETURN,		/* near */
	PT_UNIT_FAR,		/* a far transfer that stays in user mode */
	PT_UNIT_PTWRITE,	/* `payload`, `payload_size`; goes on at `to` */
};

struct pt_unit_retired {
	enum pt_unit_class	kind;
	unsigned int		instructions;	/* retired since the last report, with this one */
	unsigned long long	ip;		/* of the instruction; SEQUENTIAL: of the first */
	unsigned long long	next;		/* behind it: where a call returns to */
	unsigned long long	to;		/* where execution goes on */
	unsigned long long	payload;
	unsigned int		payload_size;	/* 4 or 8 */
	enum pt_unit_mode	mode;		/* at `to` */
};

/*
 * Is it of any use to follow user mode with this CR3 now? Non-zero: TraceEn, User, no
 * stop, no error, CR3 passes its filter. Cheap: asked on each way to user mode.
 */
int pt_unit_follows(const struct pt_unit *unit, unsigned long long cr3);

/*
 * User mode begins at ip. If the unit still holds its context open and ip, CR3 and mode
 * are those that it has last been told, execution has not been interrupted as far as
 * the trace is concerned; else what is open is closed first, at its last address.
 */
void pt_unit_enter(struct pt_unit *unit, unsigned long long ip, unsigned long long cr3,
		   enum pt_unit_mode mode);

/* An instruction has retired in user mode, after `instructions` - 1 without a branch. */
void pt_unit_retire(struct pt_unit *unit, const struct pt_unit_retired *retired);

/*
 * User mode ends: by an interrupt or a fault before the instruction at ip, which has
 * not retired (ASYNC; INT n, INT3 and INTO are told in this way too, with their own
 * address), or by SYSCALL or SYSENTER at ip, the last to retire (SYSCALL).
 * LATE is an ASYNC that is told later than it was: nothing is said of the time, so that it
 * is not taken for what came after. `instructions` have retired since the last report.
 * An entry into the kernel that hardware would not have had is not told at all.
 */
enum pt_unit_end {
	PT_UNIT_ASYNC,
	PT_UNIT_LATE,
	PT_UNIT_SYSCALL,
};

void pt_unit_leave(struct pt_unit *unit, enum pt_unit_end end, unsigned long long ip,
		   unsigned int instructions);

/*
 * What the next pt_unit_leave(ASYNC) is about: the vector of an interrupt or an exception
 * and, unless NULL, the address of a page fault. Only told where CTL.EventEn is set: cheap to
 * ask first. Without it the trace says that user mode has ended, and not why.
 */
int pt_unit_tells_events(const struct pt_unit *unit);
void pt_unit_event(struct pt_unit *unit, unsigned int vector, const unsigned long long *address);

/*
 * The CPU goes into a C-state, 1 to 15, and comes back by an interrupt (CTL.PwrEvtEn). No
 * user mode is open.
 */
int pt_unit_tells_power(const struct pt_unit *unit);
void pt_unit_sleep(struct pt_unit *unit, unsigned int c_state);
void pt_unit_wake(struct pt_unit *unit);

/*
 * The lowest address above ip at which an address filter begins or ends to apply; all
 * ones: none. Straight runs are reported (SEQUENTIAL) where they reach or cross it: the
 * report's `to` is the first instruction at or above it.
 */
unsigned long long pt_unit_boundary(const struct pt_unit *unit, unsigned long long ip);

#ifdef __cplusplus
}
#endif

#endif /* HWTRACING_EMU_PT_UNIT_H */
