// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "bpf_program.h"
#include "case.h"

#define MOST_STACK 512
#define MOST_INSNS 256

struct program {
	struct bpf_insn insns[MOST_INSNS];
	unsigned int count;
};

static int call_kernel(int command, union bpf_attr *attr)
{
	int result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (result < 0 && errno == ENOSYS)
		skip_case("the kernel has no bpf(2)");
	if (result < 0)
		err(1, "bpf command %d", command);
	return result;
}

static void add(struct program *program, int code, int to, int from, int offset, int immediate)
{
	program->insns[program->count++] = (struct bpf_insn){
		.code = code, .dst_reg = to, .src_reg = from, .off = offset, .imm = immediate,
	};
}

static void set_number(struct program *program, int reg, int number)
{
	add(program, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, number);
}

static void copy_register(struct program *program, int to, int from)
{
	add(program, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

/* The only instruction of two slots. */
static void set_wide(struct program *program, int reg, int kind, uint64_t value)
{
	add(program, BPF_LD | BPF_DW | BPF_IMM, reg, kind, 0, (uint32_t)value);
	add(program, 0, 0, 0, 0, value >> 32);
}

static int load(const struct program *program)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uint64_t)program->insns,
		.insn_cnt = program->count,
		.license = (uint64_t)"GPL",
		.prog_name = "parity",
	};

	return call_kernel(BPF_PROG_LOAD, &attr);
}

static void end_with(struct program *program, int value)
{
	set_number(program, BPF_REG_0, value);
	add(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

int load_verdict(int value)
{
	struct program program = { 0 };

	end_with(&program, value);
	return load(&program);
}

int create_event_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 64,
	};

	return call_kernel(BPF_MAP_CREATE, &attr);
}

void put_event(int map, int cpu, int event)
{
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uint64_t)&cpu,
		.value = (uint64_t)&event,
	};

	call_kernel(BPF_MAP_UPDATE_ELEM, &attr);
}

/* The pattern: 8-byte words that tell their index, on the program's stack. */
int load_sender(int map, size_t size)
{
	int room = (size + 7) / 8 * 8;
	struct program program = { 0 };

	if (room > MOST_STACK)
		errx(1, "a BPF stack has no room for %zu bytes", size);
	copy_register(&program, BPF_REG_6, BPF_REG_1);
	for (int at = 0; at < room; at += 8)
		add(&program, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, at - room,
		    0x41000000 + at);
	copy_register(&program, BPF_REG_1, BPF_REG_6);
	set_wide(&program, BPF_REG_2, BPF_PSEUDO_MAP_FD, map);
	set_wide(&program, BPF_REG_3, 0, BPF_F_CURRENT_CPU);
	copy_register(&program, BPF_REG_4, BPF_REG_10);
	add(&program, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -room);
	set_number(&program, BPF_REG_5, size);
	add(&program, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output);
	end_with(&program, 0);
	return load(&program);
}
