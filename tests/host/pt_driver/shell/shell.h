/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver's trace.c in a world of one CPU, one event and one AUX ring, which is the
 * real one. Valid in C and C++; all state is in here and belongs to the running test.
 */
#ifndef TESTS_PT_DRIVER_SHELL_H
#define TESTS_PT_DRIVER_SHELL_H

#include "output.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the test provides. */
struct shell_world {
	void			*context;
	unsigned long long	(*read)(void *context, unsigned int msr);
	void			(*write)(void *context, unsigned int msr, unsigned long long value);
	/* A snapshot copies what is between these positions. */
	void			(*copy)(void *context, unsigned long from, unsigned long to);
	/* A PERF_RECORD_AUX has been written. */
	void			(*record)(void *context, unsigned long offset, unsigned long size,
					  unsigned long long flags);
};

enum shell_flag {
	SHELL_TRUNCATED = 1,
	SHELL_OVERWRITE = 2,
	SHELL_PARTIAL = 4,
};

/* A new event with this buffer; @pages are the addresses of its pages. */
void shell_init(const struct shell_world *world, struct pt_output *output, void **pages,
		unsigned long long ctl, unsigned long watermark);

/* What comes is on another CPU, where another trace has been started since, or not. */
void shell_move(int to, int after_another);

int shell_add(void);	/* with PERF_EF_START */
void shell_del(void);
void shell_start(void);
void shell_stop(int update);
void shell_pause(void);	/* sets aux_paused as the perf core does */
void shell_resume(void);
void shell_interrupt(void);
void shell_vmx(int on);
void shell_emergency(void);
long shell_snapshot(unsigned long size);

/* The reader: how far it may read, and that it has. */
unsigned long shell_head(void);
void shell_read_to(unsigned long tail);

int shell_stopped(void);	/* PERF_HES_STOPPED */
int shell_paused(void);
int shell_open(void);		/* a transaction is open */
int shell_busy(void);		/* an NMI would have to wait */
unsigned int shell_disabled(void);	/* how often the core has turned the event off */
const char *shell_warning(void);	/* the last one, or NULL */

#ifdef __cplusplus
}
#endif

#endif /* TESTS_PT_DRIVER_SHELL_H */
