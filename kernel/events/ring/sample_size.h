/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the sizes that a sample's variable fields may have.
 *
 * Valid in C and C++, free of kernel headers. All sizes are bytes. A record
 * tells its size in 16 bits and is a multiple of 8.
 */
#ifndef PERF_EVENTS_RING_SAMPLE_SIZE_H
#define PERF_EVENTS_RING_SAMPLE_SIZE_H

/* The largest record there can be. */
#define PERF_RECORD_SIZE_MAX	65528U

#ifdef __cplusplus
extern "C" {
#endif

/*
 * User stack to dump: at most @asked (attr.sample_stack_user) of the @available,
 * a multiple of 8, so that with the words that tell the sizes the sample, which
 * has @used bytes without this field, stays a record. 0: only one word, 0.
 */
unsigned int perf_sample_stack_dump(unsigned int asked, unsigned int available,
				    unsigned long used);
/* What a dump of @dump bytes takes in the sample. */
unsigned int perf_sample_stack_field(unsigned int dump);

/* The same for AUX data: @asked is attr.aux_sample_size. */
unsigned int perf_sample_aux_dump(unsigned int asked, unsigned long available,
				  unsigned long used);

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_RING_SAMPLE_SIZE_H */
