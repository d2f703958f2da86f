// SPDX-License-Identifier: GPL-2.0
/* The BPF program of the RAW case, written out: no compiler, no library. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "cases.h"

static int call(int command, union bpf_attr *attr)
{
	const long result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (result < 0)
		die("bpf");
	return (int)result;
}

static uint64_t address(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

static int map_with(int sink)
{
	const uint32_t cpu = 0;
	union bpf_attr create, update;
	int map;

	memset(&create, 0, sizeof(create));
	create.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	create.key_size = sizeof(uint32_t);
	create.value_size = sizeof(uint32_t);
	create.max_entries = 1;
	/* Or the entry would go with our descriptor. */
	create.map_flags = BPF_F_PRESERVE_ELEMS;
	map = call(BPF_MAP_CREATE, &create);

	memset(&update, 0, sizeof(update));
	update.map_fd = (uint32_t)map;
	update.key = address(&cpu);
	update.value = address(&sink);
	call(BPF_MAP_UPDATE_ELEM, &update);
	return map;
}

static int load(const struct bpf_insn *instructions, unsigned int count)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = address(instructions);
	attr.insn_cnt = count;
	attr.license = address("GPL");
	return call(BPF_PROG_LOAD, &attr);
}

#define INSN(CODE, TO, FROM, OFFSET, VALUE) \
	((struct bpf_insn){ .code = (CODE), .dst_reg = (TO), .src_reg = (FROM), \
			    .off = (short)(OFFSET), .imm = (VALUE) })

int bpf_load_sender(int sink, int size)
{
	struct bpf_insn program[96];
	unsigned int n = 0;
	int map = -1, loaded;

	if (size) {
		map = map_with(sink);
		for (int at = -size; at < 0; at += 8)
			program[n++] = INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, at, 0x11);
		/* perf_event_output(context in r1, map, current CPU, stack, size) */
		program[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0,
				    map);
		program[n++] = INSN(0, 0, 0, 0, 0);
		program[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_3, 0, 0, -1);
		program[n++] = INSN(0, 0, 0, 0, 0);
		program[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_10, 0, 0);
		program[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -size);
		program[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_5, 0, 0, size);
		program[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output);
	}
	program[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	program[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	loaded = load(program, n);
	if (map >= 0)
		close(map);
	return loaded;
}
