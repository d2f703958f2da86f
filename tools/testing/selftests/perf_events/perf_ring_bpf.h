/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF maps and programs by the system call alone.
 */
#ifndef PERF_RING_BPF_H
#define PERF_RING_BPF_H

#include "perf_ring_event.h"

#include <linux/bpf.h>

#define INSN(op, dst, src, offset, value)                                     \
	((struct bpf_insn){ .code = (op), .dst_reg = (dst), .src_reg = (src), \
			    .off = (offset), .imm = (value) })

#define SET(dst, value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value)
#define SET_LOW(dst, value) INSN(BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, value)
#define COPY(dst, src) INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define ADD(dst, value) INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value)
#define AND(dst, value) INSN(BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, value)
#define LOAD(dst, src, offset)                                                \
	INSN(BPF_LDX | BPF_DW | BPF_MEM, dst, src, offset, 0)
#define STORE(dst, offset, src)                                               \
	INSN(BPF_STX | BPF_DW | BPF_MEM, dst, src, offset, 0)
#define STORE_VALUE(dst, offset, value)                                       \
	INSN(BPF_ST | BPF_DW | BPF_MEM, dst, 0, offset, value)
#define MAP(dst, fd)                                                          \
	INSN(BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd),       \
		INSN(0, 0, 0, 0, 0)
#define CALL(function) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define SKIP_IF_SET(reg, nr) INSN(BPF_JMP | BPF_JNE | BPF_K, reg, 0, nr, 0)
#define RETURN() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* r0 is then the only element of an array; without one, the program ends. */
#define ONLY_ELEMENT(fd)                                                      \
	STORE_VALUE(BPF_REG_10, -8, 0), MAP(BPF_REG_1, fd),                   \
		COPY(BPF_REG_2, BPF_REG_10), ADD(BPF_REG_2, -8),              \
		CALL(BPF_FUNC_map_lookup_elem), SKIP_IF_SET(BPF_REG_0, 1),    \
		RETURN()

static inline int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static inline int bpf_map(uint32_t type, uint32_t value_size, uint32_t entries)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = 4,
		.value_size = value_size,
		.max_entries = entries,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		SKIP("no BPF: %s", strerror(errno));
	CHECK(fd >= 0);
	return fd;
}

static inline void bpf_set(int map, uint32_t key, const void *value)
{
	union bpf_attr attr = {
		.map_fd = (uint32_t)map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};

	CHECK(!bpf(BPF_MAP_UPDATE_ELEM, &attr));
}

static inline void bpf_get(int map, uint32_t key, void *value)
{
	union bpf_attr attr = {
		.map_fd = (uint32_t)map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};

	CHECK(!bpf(BPF_MAP_LOOKUP_ELEM, &attr));
}

static inline int bpf_program(uint32_t type, const struct bpf_insn *insns,
			      size_t nr)
{
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = type,
		.insn_cnt = (uint32_t)nr,
		.insns = (uintptr_t)insns,
		.license = (uintptr_t)"GPL",
		.log_level = 1,
		.log_size = sizeof(log),
		.log_buf = (uintptr_t)log,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		FAIL("BPF program is refused: %s: %.300s", strerror(errno),
		     log);
	return fd;
}

static inline int set_bpf(int fd, int program)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
}

#endif /* PERF_RING_BPF_H */
