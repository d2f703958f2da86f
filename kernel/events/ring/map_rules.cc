// SPDX-License-Identifier: GPL-2.0
/* The mapping rules: sizes, offsets, charges and redirections. */
#include <climits>

#include "map_rules.h"

namespace {

/* The ABI's numbers; the same in every architecture's errno.h. */
constexpr long no_memory = -12;
constexpr long invalid = -22;

constexpr bool power_of_two(unsigned long value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

} // namespace

extern "C" {

long perf_map_data_pages(unsigned long length, unsigned long page_shift)
{
	const unsigned long pages = length >> page_shift;

	if (pages == 0 || pages << page_shift != length)
		return invalid;

	const unsigned long data_pages = pages - 1;

	if (data_pages != 0 && !power_of_two(data_pages))
		return invalid;
	if (data_pages > INT_MAX)
		return no_memory;
	return static_cast<long>(data_pages);
}

long perf_map_aux_pages(const perf_map_geometry *have, const perf_aux_request *asked,
			unsigned long first, unsigned long length)
{
	const unsigned long pages = length >> have->page_shift;
	const unsigned long long data_end = (static_cast<unsigned long long>(have->data_pages) + 1)
					    << have->page_shift;

	if (pages > INT_MAX)
		return no_memory;
	if (asked->offset < data_end)
		return invalid;
	if (asked->offset >> have->page_shift != first ||
	    (asked->offset & ((1ULL << have->page_shift) - 1)) != 0)
		return invalid;
	if (asked->size != length || pages << have->page_shift != length)
		return invalid;
	if (have->aux_pages && (have->aux_first != first || have->aux_pages != pages))
		return invalid;
	if (!power_of_two(pages))
		return invalid;
	return static_cast<long>(pages);
}

perf_map_page perf_map_page_at(const perf_map_geometry *have, unsigned long offset)
{
	if (have->aux_pages && offset >= have->aux_first) {
		const unsigned long index = offset - have->aux_first;

		if (index < have->aux_pages)
			return {PERF_MAP_AUX, index};
		return {PERF_MAP_NONE, 0};
	}
	if (offset == 0)
		return {PERF_MAP_USER_PAGE, 0};
	if (offset <= have->data_pages)
		return {PERF_MAP_DATA, offset - 1};
	return {PERF_MAP_NONE, 0};
}

struct perf_lock_split perf_lock_split(unsigned long pages, unsigned long used,
				       unsigned long allowance)
{
	/* The allowance can have been lowered below what is in use. */
	const unsigned long left = used < allowance ? allowance - used : 0;
	const unsigned long user = pages < left ? pages : left;

	return {user, pages - user};
}

int perf_cpus_meet(int cpu, int other)
{
	return cpu == other || cpu == -1 || other == -1;
}

int perf_output_compatible(const perf_output_end_point *from, const perf_output_end_point *to)
{
	/* A ring has one writer at a time: one CPU, or one task wherever it runs. */
	const bool one_writer = from->cpu == to->cpu && (to->cpu != -1 || from->task == to->task);
	/* Records are ordered by time and walked in one direction. */
	const bool one_order = from->clock == to->clock && !from->backward == !to->backward;
	/* The AUX area belongs to one driver. */
	const bool one_driver = !from->aux_pmu || !to->aux_pmu || from->aux_pmu == to->aux_pmu;

	if (from->event == to->event || !one_writer || !one_order || !one_driver)
		return static_cast<int>(invalid);
	return 0;
}

} // extern "C"
