/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of everything that crosses a seam, as one compiler sees it. The
 * table is made twice, in C and in C++, and must come out the same.
 */
#ifndef TESTS_HOST_SEAM_LAYOUT_H
#define TESTS_HOST_SEAM_LAYOUT_H

#include <stddef.h>

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
	SEAM_ENUM(PERF_SAMPLE_RUN_ID)

#ifdef __cplusplus
extern "C" {
#endif

extern const struct seam_layout seam_layout_cxx[];
extern const size_t seam_layout_cxx_entries;

#ifdef __cplusplus
}
#endif

#endif
