/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of everything that crosses a seam, as one compiler sees it. The
 * table is made twice, in C and in C++, and must come out the same.
 */
#ifndef TESTS_HOST_SEAM_LAYOUT_H
#define TESTS_HOST_SEAM_LAYOUT_H

#include <stddef.h>

#include "aux_ring.h"
#include "aux_test/stream.h"
#include "data_ring.h"
#include "map_rules.h"
#include "sample_plan.h"

struct seam_layout {
	const char	*name;
	size_t		offset;
	size_t		size;
};

#define SEAM_MEMBER(type, member) \
	{ #type "::" #member, offsetof(struct type, member), sizeof(((struct type *)0)->member) }
#define SEAM_TYPE(type) \
	{ #type, 0, sizeof(struct type) }
#define SEAM_ENUM(name) \
	{ #name, (size_t)(name), sizeof(enum perf_ring_refusal) }

#define SEAM_LAYOUT_TABLE						\
	SEAM_TYPE(perf_ring_control),					\
	SEAM_MEMBER(perf_ring_control, other_fields),			\
	SEAM_MEMBER(perf_ring_control, data_head),			\
	SEAM_MEMBER(perf_ring_control, data_tail),			\
	SEAM_TYPE(perf_data_ring),					\
	SEAM_MEMBER(perf_data_ring, head),				\
	SEAM_MEMBER(perf_data_ring, wakeup),				\
	SEAM_MEMBER(perf_data_ring, lost),				\
	SEAM_MEMBER(perf_data_ring, watermark),				\
	SEAM_MEMBER(perf_data_ring, nest),				\
	SEAM_MEMBER(perf_data_ring, paused),				\
	SEAM_MEMBER(perf_data_ring, overwrite),				\
	SEAM_MEMBER(perf_data_ring, piece_shift),			\
	SEAM_MEMBER(perf_data_ring, control),				\
	SEAM_MEMBER(perf_data_ring, pieces),				\
	SEAM_MEMBER(perf_data_ring, size),				\
	SEAM_MEMBER(perf_data_ring, events),				\
	SEAM_TYPE(perf_ring_handle),					\
	SEAM_MEMBER(perf_ring_handle, event),				\
	SEAM_MEMBER(perf_ring_handle, ring),				\
	SEAM_MEMBER(perf_ring_handle, wakeup),				\
	SEAM_MEMBER(perf_ring_handle, room),				\
	SEAM_MEMBER(perf_ring_handle, flags),				\
	SEAM_MEMBER(perf_ring_handle, addr),				\
	SEAM_MEMBER(perf_ring_handle, piece),				\
	SEAM_ENUM(PERF_RING_FULL),					\
	SEAM_ENUM(PERF_RING_FULL_WAKE),					\
	SEAM_ENUM(PERF_RING_NO_DATA),					\
	SEAM_TYPE(perf_map_geometry),					\
	SEAM_MEMBER(perf_map_geometry, page_shift),			\
	SEAM_MEMBER(perf_map_geometry, data_pages),			\
	SEAM_MEMBER(perf_map_geometry, aux_pages),			\
	SEAM_MEMBER(perf_map_geometry, aux_first),			\
	SEAM_TYPE(perf_aux_request),					\
	SEAM_MEMBER(perf_aux_request, offset),				\
	SEAM_MEMBER(perf_aux_request, size),				\
	SEAM_TYPE(perf_lock_split),					\
	SEAM_MEMBER(perf_lock_split, user),				\
	SEAM_MEMBER(perf_lock_split, mm),				\
	SEAM_TYPE(perf_map_page),					\
	SEAM_MEMBER(perf_map_page, kind),				\
	SEAM_MEMBER(perf_map_page, index),				\
	SEAM_ENUM(PERF_MAP_NONE),					\
	SEAM_ENUM(PERF_MAP_USER_PAGE),					\
	SEAM_ENUM(PERF_MAP_DATA),					\
	SEAM_ENUM(PERF_MAP_AUX),					\
	SEAM_TYPE(perf_output_end_point),				\
	SEAM_MEMBER(perf_output_end_point, event),			\
	SEAM_MEMBER(perf_output_end_point, task),			\
	SEAM_MEMBER(perf_output_end_point, clock),			\
	SEAM_MEMBER(perf_output_end_point, aux_pmu),			\
	SEAM_MEMBER(perf_output_end_point, cpu),			\
	SEAM_MEMBER(perf_output_end_point, backward),			\
	SEAM_TYPE(perf_sample_plan),					\
	SEAM_MEMBER(perf_sample_plan, wanted),				\
	SEAM_MEMBER(perf_sample_plan, variable),			\
	SEAM_MEMBER(perf_sample_plan, every),				\
	SEAM_MEMBER(perf_sample_plan, size),				\
	SEAM_MEMBER(perf_sample_plan, id_size),				\
	SEAM_MEMBER(perf_sample_plan, end),				\
	SEAM_MEMBER(perf_sample_plan, from),				\
	SEAM_TYPE(perf_sample_sources),					\
	SEAM_MEMBER(perf_sample_sources, word),				\
	SEAM_ENUM(PERF_SAMPLE_RUN_HEAD),				\
	SEAM_ENUM(PERF_SAMPLE_RUN_MIDDLE),				\
	SEAM_ENUM(PERF_SAMPLE_RUN_TAIL),				\
	SEAM_ENUM(PERF_SAMPLE_RUN_ID),					\
	SEAM_AUX_TABLE,							\
	SEAM_AUX_TEST_TABLE

#define SEAM_AUX_TABLE							\
	SEAM_TYPE(perf_aux_control),					\
	SEAM_MEMBER(perf_aux_control, aux_head),			\
	SEAM_MEMBER(perf_aux_control, aux_tail),			\
	SEAM_MEMBER(perf_aux_control, aux_lost),			\
	SEAM_TYPE(perf_aux_report),					\
	SEAM_MEMBER(perf_aux_report, offset),				\
	SEAM_MEMBER(perf_aux_report, size),				\
	SEAM_MEMBER(perf_aux_report, flags),				\
	SEAM_MEMBER(perf_aux_report, lost),				\
	SEAM_MEMBER(perf_aux_report, lost_since),			\
	SEAM_TYPE(perf_aux_ring),					\
	SEAM_MEMBER(perf_aux_ring, head),				\
	SEAM_MEMBER(perf_aux_ring, wakeup),				\
	SEAM_MEMBER(perf_aux_ring, watermark),				\
	SEAM_MEMBER(perf_aux_ring, size),				\
	SEAM_MEMBER(perf_aux_ring, open),				\
	SEAM_MEMBER(perf_aux_ring, overwrite),				\
	SEAM_MEMBER(perf_aux_ring, cut),				\
	SEAM_MEMBER(perf_aux_ring, lost),				\
	SEAM_MEMBER(perf_aux_ring, lost_since),				\
	SEAM_MEMBER(perf_aux_ring, lost_total),				\
	SEAM_MEMBER(perf_aux_ring, showing),				\
	SEAM_MEMBER(perf_aux_ring, untold),				\
	SEAM_MEMBER(perf_aux_ring, control),				\
	SEAM_TYPE(perf_aux_handle),					\
	SEAM_MEMBER(perf_aux_handle, event),				\
	SEAM_MEMBER(perf_aux_handle, rb),				\
	SEAM_MEMBER(perf_aux_handle, wakeup),				\
	SEAM_MEMBER(perf_aux_handle, size),				\
	SEAM_MEMBER(perf_aux_handle, flags),				\
	SEAM_MEMBER(perf_aux_handle, head),				\
	SEAM_ENUM(PERF_AUX_OPENED),					\
	SEAM_ENUM(PERF_AUX_BUSY),					\
	SEAM_ENUM(PERF_AUX_FULL),					\
	SEAM_TYPE(perf_aux_layout),					\
	SEAM_MEMBER(perf_aux_layout, watermark),			\
	SEAM_MEMBER(perf_aux_layout, max_order),			\
	SEAM_MEMBER(perf_aux_layout, one_chunk),			\
	SEAM_ENUM(PERF_AUX_PAGES_ANY),					\
	SEAM_ENUM(PERF_AUX_PAGES_LARGE),				\
	SEAM_ENUM(PERF_AUX_PAGES_CONTIGUOUS)

#define SEAM_AUX_TEST_TABLE						\
	SEAM_TYPE(aux_test_field),					\
	SEAM_MEMBER(aux_test_field, name),				\
	SEAM_MEMBER(aux_test_field, config),				\
	SEAM_MEMBER(aux_test_field, first_bit),				\
	SEAM_MEMBER(aux_test_field, last_bit),				\
	SEAM_TYPE(aux_test_config),					\
	SEAM_MEMBER(aux_test_config, rate),				\
	SEAM_MEMBER(aux_test_config, burst),				\
	SEAM_MEMBER(aux_test_config, chunk),				\
	SEAM_MEMBER(aux_test_config, align),				\
	SEAM_MEMBER(aux_test_config, interval),				\
	SEAM_MEMBER(aux_test_config, raise),				\
	SEAM_MEMBER(aux_test_config, overrun),				\
	SEAM_MEMBER(aux_test_config, drop),				\
	SEAM_MEMBER(aux_test_config, fail_setup),			\
	SEAM_MEMBER(aux_test_config, fail_begin),			\
	SEAM_MEMBER(aux_test_config, slow_stop),			\
	SEAM_MEMBER(aux_test_config, late_end),				\
	SEAM_MEMBER(aux_test_config, hw_id),				\
	SEAM_MEMBER(aux_test_config, id),				\
	SEAM_TYPE(aux_test_clock),					\
	SEAM_MEMBER(aux_test_clock, now),				\
	SEAM_MEMBER(aux_test_clock, fraction),				\
	SEAM_TYPE(aux_test_area),					\
	SEAM_MEMBER(aux_test_area, pages),				\
	SEAM_MEMBER(aux_test_area, size),				\
	SEAM_MEMBER(aux_test_area, page_shift),				\
	SEAM_MEMBER(aux_test_area, overwrite),				\
	SEAM_TYPE(aux_test_run),					\
	SEAM_MEMBER(aux_test_run, head),				\
	SEAM_MEMBER(aux_test_run, room),				\
	SEAM_MEMBER(aux_test_run, wakeup),				\
	SEAM_MEMBER(aux_test_run, written),				\
	SEAM_TYPE(aux_test_step),					\
	SEAM_MEMBER(aux_test_step, bytes),				\
	SEAM_MEMBER(aux_test_step, next),				\
	SEAM_ENUM(AUX_TEST_GO_ON),					\
	SEAM_ENUM(AUX_TEST_END),					\
	SEAM_ENUM(AUX_TEST_FULL)

#ifdef __cplusplus
extern "C" {
#endif

extern const struct seam_layout seam_layout_cxx[];
extern const size_t seam_layout_cxx_entries;

#ifdef __cplusplus
}
#endif

#endif
