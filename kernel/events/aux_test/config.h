/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What attr.config, config1 and config2 of an aux_test event ask for.
 *
 * Valid in C and C++, free of kernel headers; pure functions, any context.
 */
#ifndef PERF_EVENTS_AUX_TEST_CONFIG_H
#define PERF_EVENTS_AUX_TEST_CONFIG_H

#define AUX_TEST_CONFIGS 3	/* config words in attr that have fields */

/* A field as sysfs format/ shows it. */
struct aux_test_field {
	const char	*name;
	int		config;		/* 0: attr.config, 1: attr.config1, ... */
	int		first_bit;
	int		last_bit;
};

/* When the area is full. */
enum aux_test_overrun {
	AUX_TEST_STOP,		/* what is due is lost, and the source stops */
	AUX_TEST_RUN_ON,	/* it runs on until it is started again, all of that is lost */
	AUX_TEST_HOLD,		/* it waits, nothing is lost */
	AUX_TEST_OVERRUNS
};

struct aux_test_config {
	unsigned long long	rate;		/* bytes in a second */
	unsigned long		burst;		/* bytes that come at once */
	unsigned long		chunk;		/* bytes in a transaction; 0: to the wake-up */
	unsigned long		align;		/* bytes; transactions start at multiples */
	unsigned long long	interval;	/* ns between two bursts */
	unsigned int		raise;		/* PERF_AUX_FLAG_* at the end of each transaction */
	enum aux_test_overrun	overrun;
	unsigned int		drop;		/* each so manyth burst is lost; 0: none */
	unsigned int		fail_setup;	/* this set-up fails, the first is 1; 0: none */
	unsigned int		fail_begin;	/* this start fails after its begin; 0: none */
	unsigned int		slow_stop;	/* microseconds that a stop takes */
	int			late_end;	/* a stop leaves the transaction open for so long */
	int			hw_id;		/* AUX_OUTPUT_HW_ID says the stream's id */
	int			strict;		/* an event that cannot write is not on */
	unsigned int		id;		/* the stream's, in each of its words */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The fields; ends with one that has no name. */
const struct aux_test_field *aux_test_fields(void);

/* 0, or -EINVAL for bits that mean nothing and values that cannot be. */
int aux_test_parse(struct aux_test_config *config,
		   const unsigned long long words[AUX_TEST_CONFIGS]);

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_AUX_TEST_CONFIG_H */
