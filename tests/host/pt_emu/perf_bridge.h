/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perf's decoder of Intel PT, of the base's tools/perf, which tests link where the base
 * is unpacked. Valid in C and C++.
 */
#ifndef TESTS_PT_EMU_PERF_BRIDGE_H
#define TESTS_PT_EMU_PERF_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum perf_bridge_class {
	PERF_BRIDGE_STRAIGHT,
	PERF_BRIDGE_COND,
	PERF_BRIDGE_JUMP,
	PERF_BRIDGE_CALL,
	PERF_BRIDGE_INDIRECT_JUMP,
	PERF_BRIDGE_INDIRECT_CALL,
	PERF_BRIDGE_RETURN,
	PERF_BRIDGE_IRET,
	PERF_BRIDGE_INT,
	PERF_BRIDGE_SYSCALL,
};

struct perf_bridge_instruction {
	enum perf_bridge_class kind;
	int size;
	int displacement;
};

struct perf_bridge {
	const uint8_t	*trace;
	size_t		size;
	uint64_t	ctl;		/* of IA32_RTIT_CTL */
	uint32_t	numerator;	/* of TSC over crystal */
	uint32_t	denominator;
	unsigned int	ratio;		/* as CBR packets have it */
	void		*context;
	/* The instruction at ip: 0, or -1. */
	int		(*look_up)(void *context, uint64_t ip, struct perf_bridge_instruction *found);
	/* Is an address one where tracing by address filters ends? */
	int		(*ends)(void *context, uint64_t ip);
	/* It has walked over an instruction, found a value, data lost, tracing begun. */
	void		(*instruction)(void *context, uint64_t ip);
	void		(*ptwrite)(void *context, uint64_t ip, uint64_t payload);
	void		(*gap)(void *context);
	void		(*enabled)(void *context, uint64_t ip);
	void		(*time)(void *context, uint64_t tsc);
};

/* 0; or the decoder's error, a number above 0, with its text. */
int perf_bridge_decode(const struct perf_bridge *bridge, char *text, size_t text_size);

#ifdef __cplusplus
}
#endif

#endif /* TESTS_PT_EMU_PERF_BRIDGE_H */
