/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * perf_event_open(2): what crosses the boundary between kernel and user space.
 *
 * The file follows the life of an event: say what to measure, open it, steer
 * the descriptor, read the count, map the rings, walk the records, decode the
 * words inside a sample.
 *
 * Conventions used throughout:
 *  - Times are nanoseconds, sizes and offsets are bytes, unless a line says
 *    otherwise. Multi-byte values have the byte order of the machine.
 *  - A constant ending in _MAX only tells how far this copy of the file
 *    reaches. It moves whenever something is added, so never store or send it.
 *  - __reserved members and undefined bits must be zero on the way in (EINVAL)
 *    and must be ignored on the way out.
 *  - An errno without a function name is what perf_event_open() returns.
 */
#ifndef _UAPI_LINUX_PERF_EVENT_H
#define _UAPI_LINUX_PERF_EVENT_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include <asm/byteorder.h>

/* ------------------------------------------------------------------------
 * 1. What to measure: attr.type and attr.config
 */

/*
 * attr.type names a PMU. The numbers below are fixed; every other PMU gets its
 * number at boot and publishes it in /sys/bus/event_source/devices/<pmu>/type.
 * ENOENT: no PMU with that number takes the event.
 */
enum perf_type_id {
	PERF_TYPE_HARDWARE	= 0,	/* config: enum perf_hw_id */
	PERF_TYPE_SOFTWARE	= 1,	/* config: enum perf_sw_ids */
	PERF_TYPE_TRACEPOINT	= 2,	/* config: id file of the tracepoint in tracefs */
	PERF_TYPE_HW_CACHE	= 3,	/* config: three perf_hw_cache_* bytes */
	PERF_TYPE_RAW		= 4,	/* config: event code of the CPU's own PMU */
	PERF_TYPE_BREAKPOINT	= 5,	/* bp_type, bp_addr, bp_len; config is unused */

	PERF_TYPE_MAX
};

/*
 * On a CPU with several core types, each type has its own core PMU. HARDWARE
 * and HW_CACHE events reach one of them when its attr.type number sits in the
 * upper half of config; zero there means the PMU that serves PERF_TYPE_RAW.
 * The lower half holds the event itself and is cut out with the mask.
 */
#define PERF_PMU_TYPE_SHIFT		32
#define PERF_HW_EVENT_MASK		0xffffffff

/* Events that most CPUs have in some form; the driver picks the nearest one. */
enum perf_hw_id {
	PERF_COUNT_HW_CPU_CYCLES		= 0,	/* core clock, follows its frequency */
	PERF_COUNT_HW_INSTRUCTIONS		= 1,	/* retired */
	PERF_COUNT_HW_CACHE_REFERENCES		= 2,	/* usually last level cache */
	PERF_COUNT_HW_CACHE_MISSES		= 3,	/* same level as the references */
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS	= 4,	/* retired */
	PERF_COUNT_HW_BRANCH_MISSES		= 5,	/* mispredicted */
	PERF_COUNT_HW_BUS_CYCLES		= 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND	= 7,	/* nothing to issue */
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND	= 8,	/* nowhere to execute */
	PERF_COUNT_HW_REF_CPU_CYCLES		= 9,	/* unhalted, at a constant rate */

	PERF_COUNT_HW_MAX
};

/*
 * PERF_TYPE_HW_CACHE takes one value of each of the next three enums:
 *
 *	config = id | op << 8 | result << 16
 *
 * EINVAL: a value outside its enum. ENOENT or EINVAL: a combination that this
 * CPU does not count.
 */
enum perf_hw_cache_id {
	PERF_COUNT_HW_CACHE_L1D		= 0,
	PERF_COUNT_HW_CACHE_L1I		= 1,
	PERF_COUNT_HW_CACHE_LL		= 2,	/* last level before memory */
	PERF_COUNT_HW_CACHE_DTLB	= 3,
	PERF_COUNT_HW_CACHE_ITLB	= 4,
	PERF_COUNT_HW_CACHE_BPU		= 5,	/* branch predictor */
	PERF_COUNT_HW_CACHE_NODE	= 6,	/* memory of the local NUMA node */

	PERF_COUNT_HW_CACHE_MAX
};

enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ		= 0,
	PERF_COUNT_HW_CACHE_OP_WRITE		= 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH		= 2,

	PERF_COUNT_HW_CACHE_OP_MAX
};

enum perf_hw_cache_op_result_id {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS	= 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS		= 1,

	PERF_COUNT_HW_CACHE_RESULT_MAX
};

/* Counted by the kernel itself, hence present on every machine. */
enum perf_sw_ids {
	PERF_COUNT_SW_CPU_CLOCK		= 0,	/* ns of wall time on a CPU, by timer */
	PERF_COUNT_SW_TASK_CLOCK	= 1,	/* ns that the task ran, by timer */
	PERF_COUNT_SW_PAGE_FAULTS	= 2,	/* minor plus major */
	PERF_COUNT_SW_CONTEXT_SWITCHES	= 3,
	PERF_COUNT_SW_CPU_MIGRATIONS	= 4,	/* task moved to another CPU */
	PERF_COUNT_SW_PAGE_FAULTS_MIN	= 5,	/* served without I/O */
	PERF_COUNT_SW_PAGE_FAULTS_MAJ	= 6,	/* had to wait for I/O */
	PERF_COUNT_SW_ALIGNMENT_FAULTS	= 7,	/* fixed up by the kernel */
	PERF_COUNT_SW_EMULATION_FAULTS	= 8,	/* instructions run in software */
	PERF_COUNT_SW_DUMMY		= 9,	/* never counts: carries side-band records */
	PERF_COUNT_SW_BPF_OUTPUT	= 10,	/* samples come from bpf_perf_event_output() */
	PERF_COUNT_SW_CGROUP_SWITCHES	= 11,	/* the next task sits in another cgroup */

	PERF_COUNT_SW_MAX
};

/* ------------------------------------------------------------------------
 * 2. What to record: selectors stored in struct perf_event_attr
 */

/*
 * attr.sample_type: one bit per item of a sample. Section 7 has the order in
 * which the items are written, which is not the order of the bits.
 */
enum perf_event_sample_format {
	PERF_SAMPLE_IP			= 1U << 0,	/* instruction pointer */
	PERF_SAMPLE_TID			= 1U << 1,	/* process and thread */
	PERF_SAMPLE_TIME		= 1U << 2,	/* see attr.use_clockid */
	PERF_SAMPLE_ADDR		= 1U << 3,	/* data address, 0 if none */
	PERF_SAMPLE_READ		= 1U << 4,	/* counts, as from read(2) */
	PERF_SAMPLE_CALLCHAIN		= 1U << 5,
	PERF_SAMPLE_ID			= 1U << 6,	/* shared by inherited copies */
	PERF_SAMPLE_CPU			= 1U << 7,
	PERF_SAMPLE_PERIOD		= 1U << 8,	/* events this sample stands for */
	PERF_SAMPLE_STREAM_ID		= 1U << 9,	/* own id of each inherited copy */
	PERF_SAMPLE_RAW			= 1U << 10,	/* bytes that the PMU defines */
	PERF_SAMPLE_BRANCH_STACK	= 1U << 11,	/* EOPNOTSUPP without hardware */
	PERF_SAMPLE_REGS_USER		= 1U << 12,	/* sample_regs_user */
	PERF_SAMPLE_STACK_USER		= 1U << 13,	/* sample_stack_user */
	PERF_SAMPLE_WEIGHT		= 1U << 14,	/* union perf_sample_weight.full */
	PERF_SAMPLE_DATA_SRC		= 1U << 15,	/* union perf_mem_data_src */
	PERF_SAMPLE_IDENTIFIER		= 1U << 16,	/* the id, where parsers find it */
	PERF_SAMPLE_TRANSACTION		= 1U << 17,	/* PERF_TXN_* */
	PERF_SAMPLE_REGS_INTR		= 1U << 18,	/* sample_regs_intr */
	PERF_SAMPLE_PHYS_ADDR		= 1U << 19,	/* needs kernel profiling rights */
	PERF_SAMPLE_AUX			= 1U << 20,	/* aux_sample_size */
	PERF_SAMPLE_CGROUP		= 1U << 21,	/* EINVAL without CGROUP_PERF */
	PERF_SAMPLE_DATA_PAGE_SIZE	= 1U << 22,	/* of the page at ADDR */
	PERF_SAMPLE_CODE_PAGE_SIZE	= 1U << 23,	/* of the page at IP */
	PERF_SAMPLE_WEIGHT_STRUCT	= 1U << 24,	/* three weights in one word */

	PERF_SAMPLE_MAX			= 1U << 25
};

/* Both share one word of the sample, so asking for both is EINVAL. */
#define PERF_SAMPLE_WEIGHT_TYPE	(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/*
 * attr.branch_sample_type: the filter for PERF_SAMPLE_BRANCH_STACK, given here
 * as bit numbers for tables and below as masks.
 *
 * Three groups of bits:
 *  - privilege (USER, KERNEL, HV): none of them means "like the event", that
 *    is, the levels which exclude_* leaves over. KERNEL and HV need the right
 *    to profile the kernel (EACCES).
 *  - kind: at least one is needed (EINVAL); several are OR-ed, and ANY makes
 *    the rest redundant. EOPNOTSUPP: the hardware cannot filter so.
 *  - shape of the entries: what is left out or put in.
 */
enum perf_branch_sample_type_shift {
	/* privilege level of the branch target */
	PERF_SAMPLE_BRANCH_USER_SHIFT		= 0,
	PERF_SAMPLE_BRANCH_KERNEL_SHIFT		= 1,
	PERF_SAMPLE_BRANCH_HV_SHIFT		= 2,

	/* kind of branch */
	PERF_SAMPLE_BRANCH_ANY_SHIFT		= 3,
	PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT	= 4,	/* near, far, syscall, interrupt */
	PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT	= 5,
	PERF_SAMPLE_BRANCH_IND_CALL_SHIFT	= 6,	/* target from register or memory */
	PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT	= 7,	/* ends a memory transaction */
	PERF_SAMPLE_BRANCH_IN_TX_SHIFT		= 8,	/* only inside transactions */
	PERF_SAMPLE_BRANCH_NO_TX_SHIFT		= 9,	/* only outside of them */
	PERF_SAMPLE_BRANCH_COND_SHIFT		= 10,
	PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT	= 11,	/* returns pop their call */
	PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT	= 12,
	PERF_SAMPLE_BRANCH_CALL_SHIFT		= 13,	/* target in the instruction */

	/* shape of struct perf_branch_entry and of the stack around it */
	PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT	= 14,	/* mispred, predicted stay 0 */
	PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT	= 15,	/* cycles stays 0 */
	PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT	= 16,	/* fill type and new_type */
	PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT	= 17,	/* add hw_idx to the stack */
	PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT	= 18,	/* fill priv */
	PERF_SAMPLE_BRANCH_COUNTERS_SHIFT	= 19,	/* add a counter word per entry */

	PERF_SAMPLE_BRANCH_MAX_SHIFT
};

enum perf_branch_sample_type {
	PERF_SAMPLE_BRANCH_USER		= 1U << PERF_SAMPLE_BRANCH_USER_SHIFT,
	PERF_SAMPLE_BRANCH_KERNEL	= 1U << PERF_SAMPLE_BRANCH_KERNEL_SHIFT,
	PERF_SAMPLE_BRANCH_HV		= 1U << PERF_SAMPLE_BRANCH_HV_SHIFT,

	PERF_SAMPLE_BRANCH_ANY		= 1U << PERF_SAMPLE_BRANCH_ANY_SHIFT,
	PERF_SAMPLE_BRANCH_ANY_CALL	= 1U << PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT,
	PERF_SAMPLE_BRANCH_ANY_RETURN	= 1U << PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT,
	PERF_SAMPLE_BRANCH_IND_CALL	= 1U << PERF_SAMPLE_BRANCH_IND_CALL_SHIFT,
	PERF_SAMPLE_BRANCH_ABORT_TX	= 1U << PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT,
	PERF_SAMPLE_BRANCH_IN_TX	= 1U << PERF_SAMPLE_BRANCH_IN_TX_SHIFT,
	PERF_SAMPLE_BRANCH_NO_TX	= 1U << PERF_SAMPLE_BRANCH_NO_TX_SHIFT,
	PERF_SAMPLE_BRANCH_COND		= 1U << PERF_SAMPLE_BRANCH_COND_SHIFT,
	PERF_SAMPLE_BRANCH_CALL_STACK	= 1U << PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT,
	PERF_SAMPLE_BRANCH_IND_JUMP	= 1U << PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT,
	PERF_SAMPLE_BRANCH_CALL		= 1U << PERF_SAMPLE_BRANCH_CALL_SHIFT,

	PERF_SAMPLE_BRANCH_NO_FLAGS	= 1U << PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT,
	PERF_SAMPLE_BRANCH_NO_CYCLES	= 1U << PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT,
	PERF_SAMPLE_BRANCH_TYPE_SAVE	= 1U << PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT,
	PERF_SAMPLE_BRANCH_HW_INDEX	= 1U << PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT,
	PERF_SAMPLE_BRANCH_PRIV_SAVE	= 1U << PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT,
	PERF_SAMPLE_BRANCH_COUNTERS	= 1U << PERF_SAMPLE_BRANCH_COUNTERS_SHIFT,

	PERF_SAMPLE_BRANCH_MAX		= 1U << PERF_SAMPLE_BRANCH_MAX_SHIFT
};

/* The privilege group of the filter. */
#define PERF_SAMPLE_BRANCH_PLM_ALL \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

/*
 * attr.read_format: the shape of a read(2), of PERF_RECORD_READ and of the
 * PERF_SAMPLE_READ item. Everything is u64; a word whose bit is clear is left
 * out and the next one moves up.
 *
 *	without PERF_FORMAT_GROUP		with PERF_FORMAT_GROUP
 *	-------------------------		----------------------
 *	count					number of members
 *	ns enabled     (TOTAL_TIME_ENABLED)	ns enabled     (TOTAL_TIME_ENABLED)
 *	ns on the PMU  (TOTAL_TIME_RUNNING)	ns on the PMU  (TOTAL_TIME_RUNNING)
 *	event id       (ID)			then per member, leader first:
 *	lost records   (LOST)			  count
 *						  event id     (ID)
 *						  lost records (LOST)
 *
 * enabled > running tells that the event shared its counter with others; scale
 * the count by enabled / running. "lost records" are those of this event that
 * the ring refused, for want of room or because it was paused.
 *
 * E2BIG: the group's block would exceed 16 KiB. read(): ENOSPC when the user's
 * buffer is too small, 0 (end of file) when a pinned event lost its counter.
 */
enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED	= 1U << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING	= 1U << 1,
	PERF_FORMAT_ID			= 1U << 2,
	PERF_FORMAT_GROUP		= 1U << 3,
	PERF_FORMAT_LOST		= 1U << 4,

	PERF_FORMAT_MAX			= 1U << 5
};

/* ------------------------------------------------------------------------
 * 3. Opening: struct perf_event_attr and the flags argument
 */

/*
 * attr.size through the versions, with the member that made each one longer.
 * The struct only ever grows at its end, and zero in a new member means "not
 * asked for", so old programs run on new kernels and the other way round:
 *  - size 0 is taken for VER0;
 *  - a longer struct than the kernel's passes as long as the excess is zero;
 *  - otherwise, or below VER0, or above a page: E2BIG, and the kernel stores
 *    its own sizeof in attr.size so that the caller can fall back.
 */
#define PERF_ATTR_SIZE_VER0	64	/* ends with bp_addr and its aliases */
#define PERF_ATTR_SIZE_VER1	72	/* bp_len and its aliases */
#define PERF_ATTR_SIZE_VER2	80	/* branch_sample_type */
#define PERF_ATTR_SIZE_VER3	96	/* sample_regs_user, sample_stack_user, clockid */
#define PERF_ATTR_SIZE_VER4	104	/* sample_regs_intr */
#define PERF_ATTR_SIZE_VER5	112	/* aux_watermark, sample_max_stack */
#define PERF_ATTR_SIZE_VER6	120	/* aux_sample_size, aux_action */
#define PERF_ATTR_SIZE_VER7	128	/* sig_data */
#define PERF_ATTR_SIZE_VER8	136	/* config3 */

/* Written by the caller, only read by the kernel (except size on E2BIG). */
struct perf_event_attr {
	__u32	type;			/* enum perf_type_id or a PMU's number */
	__u32	size;			/* sizeof the struct the caller knows */
	__u64	config;			/* which event; meaning depends on type */

	/*
	 * How often to sample. Zero: count only. A period is in units of the
	 * event and has bit 63 clear; a frequency is in Hz and at most sysctl
	 * kernel.perf_event_max_sample_rate (EINVAL).
	 */
	union {
		__u64	sample_period;	/* !freq */
		__u64	sample_freq;	/* freq */
	};

	__u64	sample_type;		/* enum perf_event_sample_format */
	__u64	read_format;		/* enum perf_event_read_format */

	/*
	 * When it counts, and for whom. EINVAL: inherit with PERF_SAMPLE_READ
	 * but without PERF_SAMPLE_TID; pinned or exclusive in a group member.
	 */
	__u64	disabled	: 1,	/* wait for IOC_ENABLE or enable_on_exec */
		inherit		: 1,	/* new children get a copy that adds to this one */
		pinned		: 1,	/* leader only: on the PMU or in error, no sharing */
		exclusive	: 1;	/* leader only: no other group beside it */

	/* Where it does not count. EINVAL or EOPNOTSUPP: the PMU cannot tell. */
	__u64	exclude_user	: 1,
		exclude_kernel	: 1,	/* clear: EACCES if perf_event_paranoid > 1 */
		exclude_hv	: 1,
		exclude_idle	: 1;	/* idle task */

	/*
	 * Side-band, here and further down: records about the system that a
	 * reader needs in order to understand the samples. The comment names
	 * the record.
	 */
	__u64	mmap		: 1,	/* MMAP, executable mappings only */
		comm		: 1;	/* COMM */

	__u64	freq		: 1,	/* sample_freq counts instead of sample_period */
		inherit_stat	: 1,	/* READ with the child's own count when it exits */
		enable_on_exec	: 1,	/* execve() clears disabled */
		task		: 1,	/* FORK and EXIT */
		watermark	: 1;	/* wakeup_watermark counts, not wakeup_events */

	/*
	 * Longest acceptable way from the cause of the event to the recorded
	 * IP: 0 any, 1 fixed, 2 preferably none, 3 none. EOPNOTSUPP: more than
	 * the PMU has. PERF_RECORD_MISC_EXACT_IP tells what a sample got.
	 */
	__u64	precise_ip	: 2;

	__u64	mmap_data	: 1,	/* MMAP for mappings without PROT_EXEC too */
		sample_id_all	: 1;	/* every record ends with an id trailer */

	/* Virtual machines, seen from the host. */
	__u64	exclude_host	: 1,
		exclude_guest	: 1;

	/* Parts of a PERF_SAMPLE_CALLCHAIN. */
	__u64	exclude_callchain_kernel : 1,
		exclude_callchain_user	 : 1;

	__u64	mmap2		: 1,	/* MMAP2 in place of MMAP */
		comm_exec	: 1,	/* probe only: PERF_RECORD_MISC_COMM_EXEC is known */
		use_clockid	: 1,	/* times are of clockid, not of the perf clock */
		context_switch	: 1;	/* SWITCH or SWITCH_CPU_WIDE */

	/*
	 * Fill the data ring from its top downwards, so that a reader of an
	 * overwrite ring starts at data_head with the newest record and walks
	 * towards older ones. All events of one ring agree on it.
	 */
	__u64	write_backward	: 1;

	__u64	namespaces	: 1,	/* NAMESPACES; EACCES without CAP_PERFMON */
		ksymbol		: 1,	/* KSYMBOL */
		bpf_event	: 1,	/* BPF_EVENT */
		aux_output	: 1,	/* hardware writes samples into the leader's AUX area */
		cgroup		: 1,	/* CGROUP */
		text_poke	: 1,	/* TEXT_POKE; needs kernel profiling rights */
		build_id	: 1,	/* MMAP2 carries a build id if the file has one */
		inherit_thread	: 1,	/* with inherit: into threads, not into processes */
		remove_on_exec	: 1;	/* execve() closes it; not with enable_on_exec */

	/*
	 * SIGTRAP to the task at each overflow, before it executes more user
	 * code. EINVAL: not a task event, or without remove_on_exec.
	 */
	__u64	sigtrap		: 1,
		__reserved_1	: 26;

	/*
	 * When to wake whoever polls the ring or asked for SIGIO: after every
	 * wakeup_watermark bytes, or half a ring of bytes if that is 0 or not
	 * in use (the event that maps the ring decides), and in addition after
	 * every wakeup_events samples.
	 */
	union {
		__u32	wakeup_events;		/* !watermark; 0: bytes only */
		__u32	wakeup_watermark;	/* watermark */
	};

	__u32	bp_type;		/* HW_BREAKPOINT_{R,W,RW,X} of linux/hw_breakpoint.h */

	/*
	 * Two words whose meaning the PMU picks: a breakpoint, the kprobe and
	 * uprobe PMUs, or more event code. The probes take user pointers to a
	 * NUL-terminated string as u64.
	 */
	union {
		__u64	bp_addr;
		__u64	kprobe_func;	/* symbol name, or 0 to use kprobe_addr */
		__u64	uprobe_path;	/* file name */
		__u64	config1;
	};
	union {
		__u64	bp_len;		/* HW_BREAKPOINT_LEN_*; sizeof(long) for X */
		__u64	kprobe_addr;
		__u64	probe_offset;	/* from the symbol, or into the file */
		__u64	config2;
	};

	__u64	branch_sample_type;	/* enum perf_branch_sample_type */

	/*
	 * PERF_SAMPLE_REGS_USER: set of registers by their number in
	 * asm/perf_regs.h. EINVAL: none, or one that cannot be read.
	 */
	__u64	sample_regs_user;

	/*
	 * PERF_SAMPLE_STACK_USER: bytes to copy from the user stack pointer
	 * upwards, a multiple of 8 below 65535 (EINVAL). ENOSYS: not on this
	 * architecture.
	 */
	__u32	sample_stack_user;

	/*
	 * CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW always; CLOCK_REALTIME,
	 * CLOCK_BOOTTIME and CLOCK_TAI on PMUs that never sample from NMI
	 * (EINVAL). One group and one ring use one clock.
	 */
	__s32	clockid;

	/*
	 * PERF_SAMPLE_REGS_INTR: like sample_regs_user, for the state that the
	 * event interrupted, kernel or user; with precise_ip, as close to the
	 * sampled instruction as hardware stores it.
	 */
	__u64	sample_regs_intr;

	__u32	aux_watermark;		/* bytes of AUX data per wake-up; 0: half the area */
	__u16	sample_max_stack;	/* frames; 0: sysctl; above the sysctl: EOVERFLOW */
	__u16	__reserved_2;

	/*
	 * PERF_SAMPLE_AUX: how many of the newest bytes in the leader's AUX
	 * area each sample takes along; fewer if its 64 KiB are used up.
	 */
	__u32	aux_sample_size;

	/*
	 * Stop and go for an AUX event that leads the group, so that a trace
	 * covers only what happens between two other events. EOPNOTSUPP: the
	 * PMU cannot start paused. EINVAL: no leader that can pause, or both
	 * actions at once.
	 */
	union {
		__u32	aux_action;
		struct {
			__u32	aux_start_paused : 1,	/* in the leader itself */
				aux_pause	 : 1,	/* in a member, at its overflow */
				aux_resume	 : 1,
				__reserved_3	 : 29;
		};
	};

	/* For sigtrap: copied to si_perf_data, whose upper half 32-bit lacks. */
	__u64	sig_data;

	__u64	config3;		/* a third word for the PMU */
};

/* flags argument of perf_event_open(); EINVAL for any other bit */
#define PERF_FLAG_FD_NO_GROUP	(1UL << 0)	/* group_fd is not to be the leader */
#define PERF_FLAG_FD_OUTPUT	(1UL << 1)	/* write into the ring of group_fd */
#define PERF_FLAG_PID_CGROUP	(1UL << 2)	/* pid: fd of a cgroup; cpu: not -1 */
#define PERF_FLAG_FD_CLOEXEC	(1UL << 3)

/* ------------------------------------------------------------------------
 * 4. Steering: ioctl(2) on the descriptor
 */

/*
 * PERF_EVENT_IOC_QUERY_BPF: which BPF programs hang on the tracepoint of this
 * event. EPERM: no CAP_PERFMON. EINVAL: not a tracepoint. E2BIG: ids_len above
 * the kernel's limit. ENOSPC: ids_len too small; prog_cnt says for how many.
 */
struct perf_event_query_bpf {
	__u32	ids_len;	/* in: room in ids[]; 0 just asks for prog_cnt */
	__u32	prog_cnt;	/* out: programs attached */
	__u32	ids[];		/* out: their ids */
};

/*
 * Some numbers encode a size although the argument is a plain value: REFRESH,
 * SET_OUTPUT, SET_BPF and PAUSE_OUTPUT take an integer, the rest of those with
 * an argument take a pointer. Where a pointer type is encoded, the number
 * differs between 32-bit and 64-bit programs. ENOTTY: unknown number.
 *
 *  ENABLE, DISABLE	the count goes on from where it stopped
 *  RESET		count = 0; enabled and running times are kept
 *  REFRESH		enable for "arg" more overflows, then stop with POLLHUP;
 *			EINVAL with inherit or without sampling
 *  PERIOD		new sample_period or sample_freq, effective at once
 *  SET_OUTPUT		share the ring of fd "arg", -1 leaves it; EINVAL if this
 *			event is mapped, or CPU, task, clock, direction or AUX
 *			PMU differ, or "arg" has no ring
 *  SET_FILTER		string: tracepoint filter, or address filter of a trace PMU;
 *			EINVAL for events that have neither
 *  ID			stores, as u64, the id that PERF_SAMPLE_ID shows
 *  SET_BPF		fd of a program to run for the event
 *  PAUSE_OUTPUT	non-zero: refuse and count records; EINVAL without data ring
 *  MODIFY_ATTRIBUTES	breakpoints only, else EOPNOTSUPP
 *
 * ENABLE, DISABLE and RESET act on inherited copies as well.
 */
#define PERF_EVENT_IOC_ENABLE			_IO('$', 0)
#define PERF_EVENT_IOC_DISABLE			_IO('$', 1)
#define PERF_EVENT_IOC_REFRESH			_IO('$', 2)
#define PERF_EVENT_IOC_RESET			_IO('$', 3)
#define PERF_EVENT_IOC_PERIOD			_IOW('$', 4, __u64)
#define PERF_EVENT_IOC_SET_OUTPUT		_IO('$', 5)
#define PERF_EVENT_IOC_SET_FILTER		_IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID			_IOR('$', 7, __u64 *)
#define PERF_EVENT_IOC_SET_BPF			_IOW('$', 8, __u32)
#define PERF_EVENT_IOC_PAUSE_OUTPUT		_IOW('$', 9, __u32)
#define PERF_EVENT_IOC_QUERY_BPF		_IOWR('$', 10, struct perf_event_query_bpf *)
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES	_IOW('$', 11, struct perf_event_attr *)

/* Argument of ENABLE, DISABLE and RESET. */
enum perf_event_ioc_flags {
	PERF_IOC_FLAG_GROUP	= 1U << 0	/* the whole group of the event */
};

/* ------------------------------------------------------------------------
 * 5. Mapping: the user page and the rings behind it
 */

/*
 * First page of a mapping at offset 0, which is MAP_SHARED and holds this page
 * and the 2^n pages of the data ring; or this page alone, to read counters.
 * EINVAL: anything else, or inherit with cpu == -1. A second mapping of the
 * same descriptor at aux_offset is the AUX area. EPERM: more memory than
 * RLIMIT_MEMLOCK and sysctl kernel.perf_event_mlock_kb leave.
 *
 * The kernel writes every member except data_tail, aux_tail, aux_offset and
 * aux_size.
 *
 * Reading a counter without a system call works for a thread that looks at its
 * own event, because kernel and reader then share a CPU. Retry until lock is
 * the same before and after, with a compiler barrier on both sides of:
 *
 *	count = offset
 *	if (cap_user_rdpmc && index)
 *		count += sign_extend(read_counter(index - 1), pmc_width)
 *	enabled = time_enabled, running = time_running
 *	if (cap_user_time)
 *		read clock and the three conversion members
 *
 * The conversion multiplies by time_mult / 2^time_shift in two parts, so that
 * no intermediate result exceeds 64 bits:
 *
 *	ns(c) = (c >> s) * time_mult + ((low(c, s) * time_mult) >> s)
 *	        where s = time_shift, low(c, s) = the s lowest bits of c
 *
 * and gives
 *
 *	since the update	d = time_offset + ns(clock)	(cap_user_time)
 *				enabled += d, and running += d if index
 *	perf clock		t = time_zero + ns(clock)	(cap_user_time_zero)
 *	clock from t		p = t - time_zero
 *				((p / time_mult) << s) +
 *					((p % time_mult) << s) / time_mult
 *
 * With cap_user_time_short the hardware clock wraps within the life of the
 * system, and is widened before use, relative to its value at the update:
 *
 *	clock = time_cycles + (time_mask & (clock - time_cycles))
 */
struct perf_event_mmap_page {
	__u32	version;		/* 0 so far */
	__u32	compat_version;		/* 0 so far */

	__u32	lock;			/* changes around every update */
	__u32	index;			/* 1 + what reads the counter; 0: not on one */
	__s64	offset;			/* what the hardware counter lacks */
	__u64	time_enabled;
	__u64	time_running;
	union {
		__u64	capabilities;
		struct {
			/*
			 * Old kernels had two capabilities overlap in bit 0.
			 * With bit 1 set, bit 0 is void and the bits below
			 * mean what they say.
			 */
			__u64	cap_bit0		: 1,
				cap_bit0_is_deprecated	: 1,

				cap_user_rdpmc		: 1,	/* user counter reads */
				cap_user_time		: 1,	/* time_{shift,mult,offset} */
				cap_user_time_zero	: 1,	/* time_zero */
				cap_user_time_short	: 1,	/* time_{cycles,mask} */
				cap_____res		: 58;
		};
	};
	__u16	pmc_width;		/* bits of a hardware counter */
	__u16	time_shift;
	__u32	time_mult;
	__u64	time_offset;
	__u64	time_zero;

	__u32	size;			/* valid bytes, up to __reserved */
	__u32	__reserved_1;

	__u64	time_cycles;
	__u64	time_mask;

	__u8	__reserved[116 * 8];	/* the ring control starts at 1024 */

	/*
	 * Data ring. Positions run freely; modulo data_size they are offsets
	 * from data_offset. Forward rings hold the records from tail up to
	 * head. In a writable mapping the reader moves data_tail and the
	 * kernel never passes it; in a read-only one (overwrite) data_tail is
	 * ignored and old records are lost. For write_backward, head descends.
	 *
	 * Memory order of all four heads and tails:
	 * edges A-D: see Documentation/userspace-api/perf_ring_buffer.rst
	 */
	__u64	data_head;
	__u64	data_tail;		/* written by the reader */
	__u64	data_offset;
	__u64	data_size;

	/*
	 * AUX area: raw output of a trace PMU. The reader chooses aux_offset,
	 * page-aligned and not below the end of the data ring, and aux_size,
	 * 2^n pages, and stores both before it maps exactly that range
	 * (EINVAL). EOPNOTSUPP: the PMU has no AUX data. Writable or read-only
	 * makes the same difference as for the data ring, and is independent
	 * of it.
	 */
	__u64	aux_head;
	__u64	aux_tail;		/* written by the reader */
	__u64	aux_offset;		/* written by the reader */
	__u64	aux_size;		/* written by the reader */
};

/* ------------------------------------------------------------------------
 * 6. Walking the data ring: one header, many records
 */

struct perf_event_header {
	__u32	type;			/* enum perf_event_type */
	__u16	misc;			/* PERF_RECORD_MISC_* */
	__u16	size;			/* header to trailer, a multiple of 8 */
};

/*
 * misc, lowest three bits: where the CPU was. A plain number, not a bit set.
 */
#define PERF_RECORD_MISC_CPUMODE_MASK		7
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN	0
#define PERF_RECORD_MISC_KERNEL			1
#define PERF_RECORD_MISC_USER			2
#define PERF_RECORD_MISC_HYPERVISOR		3
#define PERF_RECORD_MISC_GUEST_KERNEL		4
#define PERF_RECORD_MISC_GUEST_USER		5

/*
 * misc, bits 12 to 15. Bits 13 and 14 depend on the record type, so look at
 * type before looking at them:
 *
 *	type		bit 13			bit 14
 *	MMAP, MMAP2	mapping not executable	build id instead of inode (MMAP2)
 *	COMM		renamed by execve()	-
 *	FORK		an exec followed (perf)	-
 *	SAMPLE		-			IP is exactly what caused the event
 *	SWITCH*		CPU is taken away	task was still runnable (preempted)
 *
 * PROC_MAP_PARSE_TIMEOUT and FORK_EXEC are never set by the kernel; the perf
 * tool uses them in records that it writes itself (TIMEOUT: it gave up reading
 * /proc/<pid>/maps before the end).
 */
#define PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT	(1 << 12)

#define PERF_RECORD_MISC_MMAP_DATA		(1 << 13)
#define PERF_RECORD_MISC_COMM_EXEC		(1 << 13)
#define PERF_RECORD_MISC_FORK_EXEC		(1 << 13)
#define PERF_RECORD_MISC_SWITCH_OUT		(1 << 13)

#define PERF_RECORD_MISC_EXACT_IP		(1 << 14)
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT	(1 << 14)
#define PERF_RECORD_MISC_MMAP_BUILD_ID		(1 << 14)

#define PERF_RECORD_MISC_EXT_RESERVED		(1 << 15)	/* for a longer misc */

/*
 * Record tables: the left column is the offset from the start of the record,
 * where the header takes 0 to 7; "+" is wherever the line above ended. Strings
 * end with NUL and are filled with NUL up to a multiple of 8.
 *
 * pid and tid are numbers in the pid namespace of the opener; 0 for the idle
 * task or one outside of that namespace, -1 for one that is past exit.
 *
 * Id trailer: with attr.sample_id_all, every record but SAMPLE continues after
 * its table with those of the following that sample_type selects. They tell
 * when, where and for which event the record was written. IDENTIFIER comes
 * last, so it is found 8 bytes before the end of any record.
 *
 *	sample_type	bytes	content
 *	TID		4+4	pid, tid
 *	TIME		8	time
 *	ID		8	event id
 *	STREAM_ID	8	id of the inherited copy
 *	CPU		4+4	cpu number, 0
 *	IDENTIFIER	8	event id
 */
enum perf_event_type {
	/*
	 * The task mapped memory: for turning addresses into symbols.
	 *
	 *	 8  u32  pid
	 *	12  u32  tid
	 *	16  u64  first address
	 *	24  u64  length
	 *	32  u64  offset into the file
	 *	40  str  file name; "//anon", "[heap]", "[vdso]" and the like
	 *		 if there is none
	 */
	PERF_RECORD_MMAP		= 1,

	/*
	 * Records were refused since the last one that got in; stands right
	 * before the first one that fits again.
	 *
	 *	 8  u64  id of the event that wrote this record
	 *	16  u64  records missing, of all events in the ring
	 */
	PERF_RECORD_LOST		= 2,

	/*
	 * The task has a new name.
	 *
	 *	 8  u32  pid
	 *	12  u32  tid
	 *	16  str  name, at most 15 characters
	 */
	PERF_RECORD_COMM		= 3,

	/*
	 * FORK: a task came to life. EXIT: it ended.
	 *
	 *	 8  u32  pid of the task
	 *	12  u32  pid of the parent
	 *	16  u32  tid of the task
	 *	20  u32  tid of the parent; EXIT repeats the parent's pid here
	 *	24  u64  time
	 */
	PERF_RECORD_EXIT		= 4,

	/*
	 * The event sampled too often and was stopped until the next tick
	 * (THROTTLE), or goes on now (UNTHROTTLE).
	 *
	 *	 8  u64  time
	 *	16  u64  event id
	 *	24  u64  id of the inherited copy
	 */
	PERF_RECORD_THROTTLE		= 5,
	PERF_RECORD_UNTHROTTLE		= 6,

	PERF_RECORD_FORK		= 7,	/* table at EXIT */

	/*
	 * Count of one task, written when it exits (attr.inherit_stat).
	 *
	 *	 8  u32  pid
	 *	12  u32  tid
	 *	16  ...  block laid out by attr.read_format
	 */
	PERF_RECORD_READ		= 8,

	/* An overflow. Its items have a section of their own, number 7. */
	PERF_RECORD_SAMPLE		= 9,

	/*
	 * MMAP with the identity of the file, in one of two forms, told apart
	 * by PERF_RECORD_MISC_MMAP_BUILD_ID.
	 *
	 *	 8..39   as MMAP
	 *
	 *	clear:			set:
	 *	40  u32  major device	40  u8      build id length, up to 20
	 *	44  u32  minor device	41  u8[3]   zero
	 *	48  u64  inode		44  u8[20]  build id, zero-padded
	 *	56  u64  generation
	 *
	 *	64  u32  PROT_* bits
	 *	68  u32  MAP_* bits
	 *	72  str  file name
	 */
	PERF_RECORD_MMAP2		= 10,

	/*
	 * The trace hardware has added to the AUX area.
	 *
	 *	 8  u64  position of the new data, free-running as aux_head
	 *	16  u64  length
	 *	24  u64  PERF_AUX_FLAG_*
	 */
	PERF_RECORD_AUX			= 11,

	/*
	 * From here on the AUX area holds code that this task ran.
	 *
	 *	 8  u32  pid
	 *	12  u32  tid
	 */
	PERF_RECORD_ITRACE_START	= 12,

	/*
	 * Samples that the PMU's driver had to drop on their way to the ring.
	 *
	 *	 8  u64  how many
	 */
	PERF_RECORD_LOST_SAMPLES	= 13,

	/*
	 * The task got a CPU, or lost it (PERF_RECORD_MISC_SWITCH_OUT). Task
	 * events get SWITCH, which has no table: who and when is in the
	 * trailer. CPU events get SWITCH_CPU_WIDE, which adds the other side.
	 *
	 *	 8  u32  pid of the task that runs next, or ran before
	 *	12  u32  tid of that task
	 */
	PERF_RECORD_SWITCH		= 14,
	PERF_RECORD_SWITCH_CPU_WIDE	= 15,

	/*
	 * Namespaces of a new task, or after it changed them.
	 *
	 *	 8  u32  pid
	 *	12  u32  tid
	 *	16  u64  n
	 *	24  struct perf_ns_link_info[n], indexed by *_NS_INDEX
	 */
	PERF_RECORD_NAMESPACES		= 16,

	/*
	 * Kernel text that is in no symbol file came or went.
	 *
	 *	 8  u64  first address
	 *	16  u32  length
	 *	20  u16  enum perf_record_ksymbol_type
	 *	22  u16  PERF_RECORD_KSYMBOL_FLAGS_*
	 *	24  str  symbol
	 */
	PERF_RECORD_KSYMBOL		= 17,

	/*
	 * A BPF program was loaded or unloaded.
	 *
	 *	 8  u16    enum perf_bpf_event_type
	 *	10  u16    flags, none yet
	 *	12  u32    program id
	 *	16  u8[8]  program tag (BPF_TAG_SIZE)
	 */
	PERF_RECORD_BPF_EVENT		= 18,

	/*
	 * A cgroup was made: name for the ids of PERF_SAMPLE_CGROUP.
	 *
	 *	 8  u64  cgroup id
	 *	16  str  path from the root of the hierarchy
	 */
	PERF_RECORD_CGROUP		= 19,

	/*
	 * The kernel patched its own text; a trace decoder has to follow. One
	 * length is zero when code appears or vanishes as a whole.
	 *
	 *	 8  u64   address
	 *	16  u16   n, length before
	 *	18  u16   m, length after
	 *	20  u8[n] bytes before
	 *	 +  u8[m] bytes after
	 *	 +  zeroes to a multiple of 8
	 */
	PERF_RECORD_TEXT_POKE		= 20,

	/*
	 * Which event owns which number in the AUX data, for hardware that
	 * stores such a number and not our event id (PEBS through PT, trace
	 * ids of CoreSight). The trailer's id is the event.
	 *
	 *	 8  u64  number, as defined by the PMU
	 */
	PERF_RECORD_AUX_OUTPUT_HW_ID	= 21,

	PERF_RECORD_MAX
};

/* PERF_RECORD_AUX: flags */
#define PERF_AUX_FLAG_TRUNCATED			0x01	/* area was full, trace stopped */
#define PERF_AUX_FLAG_OVERWRITE			0x02	/* read-only mapping: no tail */
#define PERF_AUX_FLAG_PARTIAL			0x04	/* hardware lost data in between */
#define PERF_AUX_FLAG_COLLISION			0x08	/* two samples met in hardware */
#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK	0xff00	/* encoding; values per PMU: */
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT 0x0000	/* CoreSight: formatter frames */
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW	0x0100	/* CoreSight: unframed bytes */

/* PERF_RECORD_NAMESPACES: what stat(2) shows for /proc/<pid>/ns/<name> */
struct perf_ns_link_info {
	__u64	dev;
	__u64	ino;
};

enum {
	NET_NS_INDEX	= 0,
	UTS_NS_INDEX	= 1,
	IPC_NS_INDEX	= 2,
	PID_NS_INDEX	= 3,
	USER_NS_INDEX	= 4,
	MNT_NS_INDEX	= 5,
	CGROUP_NS_INDEX	= 6,

	NR_NAMESPACES		/* grows like a _MAX; use the record's own n */
};

/* PERF_RECORD_KSYMBOL: type and flags */
enum perf_record_ksymbol_type {
	PERF_RECORD_KSYMBOL_TYPE_UNKNOWN	= 0,
	PERF_RECORD_KSYMBOL_TYPE_BPF		= 1,	/* translated BPF program */
	PERF_RECORD_KSYMBOL_TYPE_OOL		= 2,	/* kprobe slot, ftrace trampoline */

	PERF_RECORD_KSYMBOL_TYPE_MAX
};

#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER	(1 << 0)	/* it went */

/* PERF_RECORD_BPF_EVENT: type */
enum perf_bpf_event_type {
	PERF_BPF_EVENT_UNKNOWN		= 0,
	PERF_BPF_EVENT_PROG_LOAD	= 1,
	PERF_BPF_EVENT_PROG_UNLOAD	= 2,

	PERF_BPF_EVENT_MAX
};

/* ------------------------------------------------------------------------
 * 7. Decoding a sample
 */

/*
 * PERF_RECORD_SAMPLE: the items that attr.sample_type selects, in this order
 * and without gaps. Every item is a multiple of 8 bytes. There is no trailer;
 * IDENTIFIER, being first, is found at offset 8 whatever else is selected.
 *
 *	item		content
 *	--------------	-----------------------------------------------------
 *	IDENTIFIER	u64 event id
 *	IP		u64 address; misc tells the CPU mode and exactness
 *	TID		u32 pid, u32 tid
 *	TIME		u64 time
 *	ADDR		u64 address of the data, or of the fault
 *	ID		u64 event id
 *	STREAM_ID	u64 id of the inherited copy
 *	CPU		u32 cpu number, u32 zero
 *	PERIOD		u64 period that led to this sample
 *	READ		block laid out by attr.read_format
 *	CALLCHAIN	u64 n, u64[n] code addresses, innermost first, with
 *			markers of enum perf_callchain_context among them
 *	RAW		u32 n, u8[n]; n + 4 is a multiple of 8, so the last
 *			bytes may be padding. What the bytes mean is between
 *			the PMU and its users, and may change with any kernel.
 *	BRANCH_STACK	u64 n
 *			u64 hw_idx, if BRANCH_HW_INDEX: hardware index of the
 *			  newest entry, -1 if unknown; left out with n == 0 if
 *			  the PMU gave no stack at all
 *			struct perf_branch_entry[n], newest first
 *			u64[n] if BRANCH_COUNTERS: events since the previous
 *			  branch; the PMU's caps/branch_counter_nr fields of
 *			  caps/branch_counter_width bits each
 *	REGS_USER	u64 enum perf_sample_regs_abi; unless that is NONE,
 *			u64 per bit of sample_regs_user, lowest bit first
 *	STACK_USER	u64 n; unless that is 0, u8[n] from the stack pointer
 *			upwards, then u64 how many of them could be read
 *	WEIGHT, or	union perf_sample_weight, one item for either bit
 *	WEIGHT_STRUCT
 *	DATA_SRC	union perf_mem_data_src
 *	TRANSACTION	u64 PERF_TXN_*
 *	REGS_INTR	as REGS_USER, for sample_regs_intr
 *	PHYS_ADDR	u64 physical address for ADDR, 0 if unknown
 *	CGROUP		u64 cgroup id of the task
 *	DATA_PAGE_SIZE	u64 bytes, 0 if unknown
 *	CODE_PAGE_SIZE	u64 bytes, 0 if unknown
 *	AUX		u64 n, u8[n] newest AUX data; n is a multiple of 8
 */

/* CALLCHAIN: limits that sysctl kernel.perf_event_max_* can change */
#define PERF_MAX_STACK_DEPTH		127	/* frames */
#define PERF_MAX_CONTEXTS_PER_STACK	8	/* markers on top of those */

/*
 * CALLCHAIN: an entry at or above PERF_CONTEXT_MAX is no address but says
 * whose the following entries are.
 */
enum perf_callchain_context {
	PERF_CONTEXT_HV			= (__u64)-32,
	PERF_CONTEXT_KERNEL		= (__u64)-128,
	PERF_CONTEXT_USER		= (__u64)-512,

	PERF_CONTEXT_GUEST		= (__u64)-2048,
	PERF_CONTEXT_GUEST_KERNEL	= (__u64)-2176,
	PERF_CONTEXT_GUEST_USER		= (__u64)-2560,

	PERF_CONTEXT_MAX		= (__u64)-4095
};

/* REGS_USER and REGS_INTR: width of the interrupted code */
enum perf_sample_regs_abi {
	PERF_SAMPLE_REGS_ABI_NONE	= 0,	/* no registers follow */
	PERF_SAMPLE_REGS_ABI_32		= 1,
	PERF_SAMPLE_REGS_ABI_64		= 2
};

/* BRANCH_STACK: one taken branch. Whatever the hardware lacks stays zero. */
struct perf_branch_entry {
	__u64	from;			/* address of the branch, or near to it */
	__u64	to;
	__u64	mispred		: 1,	/* neither of the two: not reported */
		predicted	: 1,
		in_tx		: 1,	/* inside a memory transaction */
		abort		: 1,	/* which this branch ended */
		cycles		: 16,	/* since the entry before */
		type		: 4,	/* PERF_BR_UNKNOWN to PERF_BR_EXTEND_ABI */
		spec		: 2,	/* PERF_BR_SPEC_* */
		new_type	: 4,	/* PERF_BR_NEW_*, if type is EXTEND_ABI */
		priv		: 3,	/* PERF_BR_PRIV_* */
		reserved	: 31;
};

/* Bits of the third word that have a meaning. */
#define PERF_BRANCH_ENTRY_INFO_BITS_MAX		33

/* perf_branch_entry.type */
enum {
	PERF_BR_UNKNOWN		= 0,
	PERF_BR_COND		= 1,
	PERF_BR_UNCOND		= 2,	/* direct jump */
	PERF_BR_IND		= 3,	/* indirect jump */
	PERF_BR_CALL		= 4,	/* direct */
	PERF_BR_IND_CALL	= 5,
	PERF_BR_RET		= 6,
	PERF_BR_SYSCALL		= 7,
	PERF_BR_SYSRET		= 8,
	PERF_BR_COND_CALL	= 9,
	PERF_BR_COND_RET	= 10,
	PERF_BR_ERET		= 11,	/* out of an exception or interrupt */
	PERF_BR_IRQ		= 12,	/* into an interrupt */
	PERF_BR_SERROR		= 13,	/* into an asynchronous error */
	PERF_BR_NO_TX		= 14,	/* seen outside of a transaction */
	PERF_BR_EXTEND_ABI	= 15,	/* the four bits ran out: see new_type */

	PERF_BR_MAX
};

/* perf_branch_entry.spec: executed ahead of time, and was it wanted */
enum {
	PERF_BR_SPEC_NA			= 0,
	PERF_BR_SPEC_WRONG_PATH		= 1,
	PERF_BR_NON_SPEC_CORRECT_PATH	= 2,
	PERF_BR_SPEC_CORRECT_PATH	= 3,

	PERF_BR_SPEC_MAX
};

/* perf_branch_entry.new_type; each architecture names its own ARCH_* */
enum {
	PERF_BR_NEW_FAULT_ALGN	= 0,
	PERF_BR_NEW_FAULT_DATA	= 1,
	PERF_BR_NEW_FAULT_INST	= 2,
	PERF_BR_NEW_ARCH_1	= 3,
	PERF_BR_NEW_ARCH_2	= 4,
	PERF_BR_NEW_ARCH_3	= 5,
	PERF_BR_NEW_ARCH_4	= 6,
	PERF_BR_NEW_ARCH_5	= 7,

	PERF_BR_NEW_MAX
};

#define PERF_BR_ARM64_FIQ		PERF_BR_NEW_ARCH_1
#define PERF_BR_ARM64_DEBUG_HALT	PERF_BR_NEW_ARCH_2
#define PERF_BR_ARM64_DEBUG_EXIT	PERF_BR_NEW_ARCH_3
#define PERF_BR_ARM64_DEBUG_INST	PERF_BR_NEW_ARCH_4
#define PERF_BR_ARM64_DEBUG_DATA	PERF_BR_NEW_ARCH_5

/* perf_branch_entry.priv */
enum {
	PERF_BR_PRIV_UNKNOWN	= 0,
	PERF_BR_PRIV_USER	= 1,
	PERF_BR_PRIV_KERNEL	= 2,
	PERF_BR_PRIV_HV		= 3
};

/*
 * WEIGHT: what the sampled instruction cost, usually in core cycles; the more,
 * the worse. WEIGHT_STRUCT splits the word: on x86 and POWER var1 is the
 * latency of the memory access and var2 that of the whole instruction; var3
 * is the PMU's choice. Seen as one u64, var1 is the low half on every machine.
 */
union perf_sample_weight {
	__u64	full;
	struct {
#if defined(__LITTLE_ENDIAN_BITFIELD)
		__u32	var1_dw;
		__u16	var2_w;
		__u16	var3_w;
#elif defined(__BIG_ENDIAN_BITFIELD)
		__u16	var3_w;
		__u16	var2_w;
		__u32	var1_dw;
#else
#error "perf_sample_weight: asm/byteorder.h gives no bitfield order"
#endif
	};
};

/*
 * DATA_SRC: where a load found its data, or a store put it. The fields sit at
 * the same bits of val on every machine, so PERF_MEM_S() values may be OR-ed
 * into val and compared with it. mem_lvl_num and mem_hops hold a number, all
 * other fields hold a set of bits. Every set but mem_remote and mem_snoopx has
 * a bit _NA: this hardware does not know.
 */
union perf_mem_data_src {
	__u64	val;
	struct {
#if defined(__LITTLE_ENDIAN_BITFIELD)
		__u64	mem_op		: 5,	/* PERF_MEM_OP_* */
			mem_lvl		: 14,	/* PERF_MEM_LVL_* */
			mem_snoop	: 5,	/* PERF_MEM_SNOOP_* */
			mem_lock	: 2,	/* PERF_MEM_LOCK_* */
			mem_dtlb	: 7,	/* PERF_MEM_TLB_* */
			mem_lvl_num	: 4,	/* PERF_MEM_LVLNUM_* */
			mem_remote	: 1,	/* PERF_MEM_REMOTE_* */
			mem_snoopx	: 2,	/* PERF_MEM_SNOOPX_* */
			mem_blk		: 3,	/* PERF_MEM_BLK_* */
			mem_hops	: 3,	/* PERF_MEM_HOPS_* */
			mem_rsvd	: 18;
#elif defined(__BIG_ENDIAN_BITFIELD)
		__u64	mem_rsvd	: 18,
			mem_hops	: 3,
			mem_blk		: 3,
			mem_snoopx	: 2,
			mem_remote	: 1,
			mem_lvl_num	: 4,
			mem_dtlb	: 7,
			mem_lock	: 2,
			mem_snoop	: 5,
			mem_lvl		: 14,
			mem_op		: 5;
#else
#error "perf_mem_data_src: asm/byteorder.h gives no bitfield order"
#endif
	};
};

/* PERF_MEM_S(LVLNUM, L3): a value moved to its place in perf_mem_data_src.val */
#define PERF_MEM_S(a, s) \
	((__u64)PERF_MEM_##a##_##s << PERF_MEM_##a##_SHIFT)

/* mem_op: what the instruction did */
#define PERF_MEM_OP_SHIFT		0
#define PERF_MEM_OP_NA			0x01
#define PERF_MEM_OP_LOAD		0x02
#define PERF_MEM_OP_STORE		0x04
#define PERF_MEM_OP_PFETCH		0x08
#define PERF_MEM_OP_EXEC		0x10	/* fetched code */

/*
 * mem_lvl: the older way to name the place, one bit per level plus HIT or
 * MISS. It ran out of bits; it is still filled for old readers. New ones look
 * at mem_lvl_num, mem_remote, mem_hops and mem_snoopx.
 */
#define PERF_MEM_LVL_SHIFT		5
#define PERF_MEM_LVL_NA			0x0001
#define PERF_MEM_LVL_HIT		0x0002
#define PERF_MEM_LVL_MISS		0x0004
#define PERF_MEM_LVL_L1			0x0008
#define PERF_MEM_LVL_LFB		0x0010	/* fill already under way */
#define PERF_MEM_LVL_L2			0x0020
#define PERF_MEM_LVL_L3			0x0040
#define PERF_MEM_LVL_LOC_RAM		0x0080	/* of this node */
#define PERF_MEM_LVL_REM_RAM1		0x0100	/* of a node one hop away */
#define PERF_MEM_LVL_REM_RAM2		0x0200	/* two hops */
#define PERF_MEM_LVL_REM_CCE1		0x0400	/* cache of a node one hop away */
#define PERF_MEM_LVL_REM_CCE2		0x0800	/* two hops */
#define PERF_MEM_LVL_IO			0x1000
#define PERF_MEM_LVL_UNC		0x2000	/* memory mapped uncacheable */

/* mem_snoop: what other caches answered */
#define PERF_MEM_SNOOP_SHIFT		19
#define PERF_MEM_SNOOP_NA		0x01
#define PERF_MEM_SNOOP_NONE		0x02	/* nobody was asked */
#define PERF_MEM_SNOOP_HIT		0x04	/* had it clean */
#define PERF_MEM_SNOOP_MISS		0x08
#define PERF_MEM_SNOOP_HITM		0x10	/* had it dirty */

/* mem_lock: atomic access */
#define PERF_MEM_LOCK_SHIFT		24
#define PERF_MEM_LOCK_NA		0x01
#define PERF_MEM_LOCK_LOCKED		0x02

/* mem_dtlb: who translated the address */
#define PERF_MEM_TLB_SHIFT		26
#define PERF_MEM_TLB_NA			0x01
#define PERF_MEM_TLB_HIT		0x02
#define PERF_MEM_TLB_MISS		0x04
#define PERF_MEM_TLB_L1			0x08
#define PERF_MEM_TLB_L2			0x10
#define PERF_MEM_TLB_WK			0x20	/* page walk by the CPU */
#define PERF_MEM_TLB_OS			0x40	/* page fault */

/* mem_lvl_num: the place that had the data; 7 is free */
#define PERF_MEM_LVLNUM_SHIFT		33
#define PERF_MEM_LVLNUM_L1		0x01
#define PERF_MEM_LVLNUM_L2		0x02
#define PERF_MEM_LVLNUM_L3		0x03
#define PERF_MEM_LVLNUM_L4		0x04
#define PERF_MEM_LVLNUM_L2_MHB		0x05	/* L2 fill under way */
#define PERF_MEM_LVLNUM_MSC		0x06	/* cache on the memory's side */
#define PERF_MEM_LVLNUM_UNC		0x08
#define PERF_MEM_LVLNUM_CXL		0x09	/* memory behind CXL */
#define PERF_MEM_LVLNUM_IO		0x0a
#define PERF_MEM_LVLNUM_ANY_CACHE	0x0b	/* level unknown */
#define PERF_MEM_LVLNUM_LFB		0x0c	/* L1 fill under way */
#define PERF_MEM_LVLNUM_RAM		0x0d
#define PERF_MEM_LVLNUM_PMEM		0x0e	/* persistent memory */
#define PERF_MEM_LVLNUM_NA		0x0f

/* mem_remote: the place belongs to another core, node or socket; see mem_hops */
#define PERF_MEM_REMOTE_SHIFT		37
#define PERF_MEM_REMOTE_REMOTE		0x01

/* mem_snoopx: more answers of other caches */
#define PERF_MEM_SNOOPX_SHIFT		38
#define PERF_MEM_SNOOPX_FWD		0x01	/* passed it on while clean */
#define PERF_MEM_SNOOPX_PEER		0x02	/* a cache of equal rank sent it */

/* mem_blk: why a load had to wait */
#define PERF_MEM_BLK_SHIFT		40
#define PERF_MEM_BLK_NA			0x01
#define PERF_MEM_BLK_DATA		0x02	/* older store could not hand over */
#define PERF_MEM_BLK_ADDR		0x04	/* older store to a similar address */

/* mem_hops: distance to that place; 0 is unknown, 5 to 7 are free */
#define PERF_MEM_HOPS_SHIFT		43
#define PERF_MEM_HOPS_0			0x01	/* other core of the node */
#define PERF_MEM_HOPS_1			0x02	/* other node of the socket */
#define PERF_MEM_HOPS_2			0x03	/* other socket of the board */
#define PERF_MEM_HOPS_3			0x04	/* other board */

/*
 * TRANSACTION: how a hardware memory transaction went, most of all why it was
 * aborted. Bits below 32 form a set; the upper half is the code that the
 * program gave to its abort instruction.
 */
enum {
	PERF_TXN_ELISION	= (1 << 0),	/* began as an elided lock */
	PERF_TXN_TRANSACTION	= (1 << 1),	/* began as such */
	PERF_TXN_SYNC		= (1 << 2),	/* the code at IP is to blame */
	PERF_TXN_ASYNC		= (1 << 3),	/* something else is */
	PERF_TXN_RETRY		= (1 << 4),	/* may succeed next time */
	PERF_TXN_CONFLICT	= (1 << 5),	/* another CPU used the same memory */
	PERF_TXN_CAPACITY_WRITE	= (1 << 6),	/* wrote more than the CPU can track */
	PERF_TXN_CAPACITY_READ	= (1 << 7),	/* read more than that */

	PERF_TXN_MAX		= (1 << 8),

	PERF_TXN_ABORT_SHIFT	= 32,
	PERF_TXN_ABORT_MASK	= (0xffffffffULL << 32)
};

#endif /* _UAPI_LINUX_PERF_EVENT_H */
