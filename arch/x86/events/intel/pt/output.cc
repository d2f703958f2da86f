// SPDX-License-Identifier: GPL-2.0
/*
 * Positions of a buffer.
 *
 * Hardware stops where a region ends. So STOP is on the last region that fits into the
 * room, and INT on the region with which the reader's wake-up is reached; but rather one
 * region before STOP, so that the reader can make room in time:
 *
 *	          head                wakeup               head + room + 1
 *	            |                    |                    |
 *	+-------+-------+-------+-------+-------+-------+-------+
 *	|       |  now  |       |       |  INT  | STOP  |       |
 *	+-------+-------+-------+-------+-------+-------+-------+
 */
#include "output.h"
#include "topa.hh"

namespace {

using pt::Entry;
using pt::Topa;

constexpr int enospc = -28;

unsigned long place_of(const pt_output &output, unsigned long position)
{
	return position & (output.size - 1);
}

/* The place at @offset of the buffer. */
void move_to(pt_output &output, unsigned long offset)
{
	const pt_topa &topa = output.topa;
	pt_place &place = output.place;

	if (output.ranged) {
		place = {};
		place.size = output.size;
		place.base = output.range;
		place.low = static_cast<unsigned int>(PT_MASK_ONES | (output.size - 1));
	} else {
		const unsigned int region = Topa::region_at(topa, offset);
		const Entry entry = Topa::entry_of(topa, region);

		place.region = region;
		place.table = entry.table;
		place.start = Topa::start_of(topa, region);
		place.size = Topa::size_of(topa, region);
		place.base = topa.tables[entry.table].physical;
		place.low = static_cast<unsigned int>(PT_MASK_ONES |
						      entry.index << PT_MASK_INDEX_SHIFT);
	}
	place.offset = static_cast<unsigned int>(offset - place.start);
	place.quiet = static_cast<unsigned int>(place.size);
	if (topa.single_entry && !output.overwrite)
		place.quiet -= PT_OUTPUT_MARGIN;
}

/* How many regions of @output end, from now on, before STOP: the room ends at @limit. */
unsigned int regions_to_stop(const pt_output &output, unsigned long limit)
{
	const pt_topa &topa = output.topa;
	const pt_place &place = output.place;
	const unsigned long ahead = limit - (output.position - place.offset);

	/* All round, into the region that we are in. */
	if (ahead >= output.size)
		return topa.nr_regions - 1;

	const unsigned int behind = Topa::region_at(topa, place_of(output, limit));

	return Topa::steps(topa, place.region, behind) - 1;
}

/* The same before INT, for the byte before @wakeup to be written; at most @most. */
unsigned int regions_to_interrupt(const pt_output &output, unsigned long wakeup, unsigned int most)
{
	const pt_topa &topa = output.topa;
	const pt_place &place = output.place;

	if (static_cast<long>(wakeup - output.position) <= 0)
		return 0;

	const unsigned long ahead = wakeup - 1 - (output.position - place.offset);

	if (ahead >= output.size)
		return most;

	const unsigned int region = Topa::region_at(topa, place_of(output, wakeup - 1));
	const unsigned int steps = Topa::steps(topa, place.region, region);

	return steps < most ? steps : most;
}

/* The position where a region that is ahead, or the current one, ends. */
unsigned long end_of(const pt_output &output, unsigned int region)
{
	const pt_topa &topa = output.topa;
	const pt_place &place = output.place;
	const unsigned long end = Topa::start_of(topa, region) + Topa::size_of(topa, region);
	const unsigned long ahead = place_of(output, end - place.start);

	return output.position - place.offset + (ahead ? ahead : output.size);
}

void unmark(pt_output &output)
{
	Topa::word(output.topa, output.stop) &= ~(PT_ENTRY_STOP | PT_ENTRY_INT);
	Topa::word(output.topa, output.interrupt) &= ~PT_ENTRY_INT;
}

void mark(pt_output &output, unsigned long limit, unsigned long wakeup)
{
	const pt_topa &topa = output.topa;
	const pt_place &place = output.place;
	const unsigned int to_stop = regions_to_stop(output, limit);
	const unsigned int to_interrupt =
		regions_to_interrupt(output, wakeup, to_stop ? to_stop - 1 : 0);

	if (output.marked)
		unmark(output);
	output.marked = 1;
	output.stop = Topa::after(topa, place.region, to_stop);
	output.interrupt = Topa::after(topa, place.region, to_interrupt);
	Topa::word(topa, output.stop) |= PT_ENTRY_STOP | PT_ENTRY_INT;
	Topa::word(topa, output.interrupt) |= PT_ENTRY_INT;

	output.wakeup = wakeup;
	output.stop_end = end_of(output, output.stop);
	output.behind_stop = Topa::size_of(topa, Topa::after(topa, output.stop, 1));
	output.interrupt_end = end_of(output, output.interrupt);
}

/* What the registers say. An offset equal to the region's size: it is full. */
struct Found {
	bool known;
	unsigned int region;
	unsigned long offset;
};

/* From where we were, since that is where it usually is; hardware goes forwards. */
bool find_table(const pt_output &output, unsigned long long base, unsigned int &found)
{
	const unsigned int tables = Topa::tables(output.topa);
	unsigned int table = output.place.table;

	for (unsigned int tried = 0; tried < tables; tried++) {
		if (output.topa.tables[table].physical == base) {
			found = table;
			return true;
		}
		table = table + 1 < tables ? table + 1 : 0;
	}
	return false;
}

Found find(const pt_output &output, unsigned long long base, unsigned long long mask)
{
	const unsigned long offset = mask >> PT_MASK_OFFSET_SHIFT;
	const unsigned int index = static_cast<unsigned int>(mask) >> PT_MASK_INDEX_SHIFT;
	const pt_topa &topa = output.topa;
	unsigned int table = 0;

	if (output.ranged)
		return {offset <= output.size, 0, offset};
	if (!find_table(output, base, table))
		return {};

	const unsigned int regions = Topa::regions_in(topa, table);
	const unsigned int region = Topa::first_of(topa, table) + index;

	/* On the END entry: as good as at the beginning of the next table. */
	if (index == regions && !offset)
		return {true, topa.single_entry ? table : region % topa.nr_regions, 0};
	if (index >= regions || offset > Topa::size_of(topa, region))
		return {};
	return {true, region, offset};
}

/* To what was found, or to the beginning of the next region if it is full. */
void settle(pt_output &output, const Found &found)
{
	const pt_topa &topa = output.topa;
	pt_place &place = output.place;

	if (output.ranged) {
		place.offset = static_cast<unsigned int>(place_of(output, found.offset));
		return;
	}
	if (found.region != place.region)
		move_to(output, Topa::start_of(topa, found.region));
	if (found.offset == place.size)
		move_to(output, place_of(output, place.start + place.size));
	else
		place.offset = static_cast<unsigned int>(found.offset);
}

/* Bytes from where we were to what was found. */
unsigned long distance(const pt_output &output, const Found &found, bool stopped)
{
	const pt_place &place = output.place;
	const unsigned long to = Topa::start_of(output.topa, found.region) + found.offset;
	const unsigned long bytes = place_of(output, to - output.position);

	if (bytes)
		return bytes;
	if (found.region != place.region || found.offset != place.offset)
		return output.size;

	/*
	 * Nothing, or all of an empty buffer: hardware that stops stays at the region's
	 * end, but it might as well have gone on to the next.
	 */
	const bool all =
		output.marked && output.stop_end - output.position == output.size && !place.offset;

	return stopped && all && !output.stop_filter ? output.size : 0;
}

/*
 * A table of one entry: is its region full, or as good as? The rest is padded. Hardware
 * that goes on after a stop is at the beginning of the same region.
 */
bool pad_region(const pt_output &output, Found &found, bool stopped, pt_written &written)
{
	const unsigned long size = Topa::size_of(output.topa, found.region);

	if (stopped && !found.offset && !output.stop_filter)
		found.offset = size;

	const unsigned long left = size - found.offset;

	if (left > PT_OUTPUT_MARGIN)
		return false;
	written.pad = Topa::start_of(output.topa, found.region) + found.offset;
	written.pad_size = left;
	found.offset = size;
	return true;
}

void end_full(pt_output &output, Found &found, bool stopped, pt_written &written)
{
	bool at_stop = false;

	if (output.topa.single_entry)
		at_stop = pad_region(output, found, stopped, written);

	written.bytes = distance(output, found, stopped);
	settle(output, found);
	output.position += written.bytes;

	/* A stop filter, too, leaves STOPPED behind; there nothing is missing. */
	if (output.marked)
		at_stop = written.bytes && !output.place.offset &&
			  output.place.region == Topa::after(output.topa, output.stop, 1);
	written.cut = stopped && at_stop;
}

} // namespace

extern "C" {

void pt_output_init(pt_output *output)
{
	output->position = 0;
	output->marked = 0;
	output->moves = !output->ranged && !output->topa.single_entry &&
			output->topa.nr_regions > PT_TOPA_REGIONS;
	move_to(*output, 0);
}

int pt_output_begin(pt_output *output, unsigned long head, unsigned long room, unsigned long wakeup)
{
	if (output->overwrite)
		head = place_of(*output, head);
	if (head != output->position) {
		move_to(*output, place_of(*output, head));
		output->position = head;
	}
	if (output->overwrite)
		return 0;

	if (output->place.offset + room + 1 < output->place.size)
		return enospc;
	if (!output->topa.single_entry && !pt_output_goes_on(output, head, room, wakeup))
		mark(*output, head + room + 1, wakeup);
	return 0;
}

void pt_output_end(pt_output *output, unsigned long long base, unsigned long long mask,
		   unsigned long long status, pt_written *written)
{
	Found found = find(*output, base, mask);

	*written = {};
	written->resync = (status & (PT_STATUS_ERROR | PT_STATUS_STOPPED)) != 0;
	written->error = (status & PT_STATUS_ERROR) != 0;
	if (!found.known) {
		written->error = written->resync = 1;
		return;
	}
	if (!output->overwrite) {
		end_full(*output, found, (status & PT_STATUS_STOPPED) != 0, *written);
		return;
	}
	settle(*output, found);
	output->position = output->place.start + output->place.offset;
}

unsigned long pt_output_where(const pt_output *output, unsigned long long base,
			      unsigned long long mask)
{
	const Found found = find(*output, base, mask);

	if (!found.known)
		return output->overwrite ? output->position : place_of(*output, output->position);
	if (output->ranged)
		return place_of(*output, found.offset);
	return place_of(*output, Topa::start_of(output->topa, found.region) + found.offset);
}

} // extern "C"
