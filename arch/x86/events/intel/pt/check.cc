// SPDX-License-Identifier: GPL-2.0
/* For tests: tables, marks and positions against what they have to be. */
#include "check_model.hh"
#include "topa.hh"

namespace {

using pt::Topa;
using pt::check::Arena;
using pt::check::Buffer;
using pt::check::Chunk;
using pt::check::Engine;
using pt::check::hold;
using pt::check::Random;

constexpr unsigned long page = PT_PAGE_SIZE;

/* Places chunks in memory: apart from each other, aligned to their size if @aligned. */
class Placer {
    public:
	Placer(unsigned long long seed, bool aligned) : random_(seed), aligned_(aligned)
	{
	}

	Chunk place(unsigned int order)
	{
		const unsigned long long size = page << order;
		const unsigned long long align = aligned_ ? size : page;

		next_ = (next_ + align - 1) & ~(align - 1);

		const Chunk chunk = {next_, order};

		next_ += size + random_.below(3) * page;
		return chunk;
	}

    private:
	Random random_;
	bool aligned_;
	unsigned long long next_ = 1ull << 32;
};

/* Up to 8 pages, in chunks whose orders the digits of @number say; 0: there is none. */
unsigned int small_layout(Chunk *chunks, unsigned int pages, unsigned int number)
{
	Placer placer(number + 1, true);
	unsigned int count = 0, left = pages;

	for (; left; number /= 4) {
		const unsigned int order = number % 4;

		if (1u << order > left)
			return 0;
		chunks[count++] = placer.place(order);
		left -= 1u << order;
	}
	return number ? 0 : count;
}

/* Marks that are set, over all entries. */
unsigned int entries_with(const pt_topa &topa, unsigned long long bit)
{
	unsigned int count = 0;

	for (unsigned int region = 0; region < topa.nr_regions; region++)
		count += (Topa::word(topa, region) & bit) != 0;
	return count;
}

void table_is_sound(pt_check &check, const pt_topa &topa, unsigned int table, unsigned int &pages)
{
	const unsigned int tables = pt_topa_tables(&topa);
	const unsigned long long *entries = topa.tables[table].entries;
	unsigned int at = 0;

	PT_TRUE(check, !(entries[0] & PT_ENTRY_END));
	for (; !(entries[at] & PT_ENTRY_END); at++) {
		const unsigned int order = entries[at] >> PT_ENTRY_SIZE_SHIFT & 0xf;
		const unsigned long long base = entries[at] & ~(page - 1ull);

		PT_TRUE(check, at < PT_TOPA_REGIONS);
		PT_EQUAL(check, base & ((page << order) - 1), 0);
		/* Nothing but base, size and marks. */
		PT_EQUAL(check,
			 entries[at] & (page - 1) & ~(0xfull << PT_ENTRY_SIZE_SHIFT) &
				 ~(PT_ENTRY_INT | PT_ENTRY_STOP),
			 0);
		PT_EQUAL(check, Topa::start_of(topa, Topa::first_of(topa, table) + at) / page,
			 pages);
		pages += 1u << order;
	}
	PT_EQUAL(check, at, Topa::regions_in(topa, table));
	PT_EQUAL(check, entries[at] & (page - 1), PT_ENTRY_END);

	const unsigned int next = topa.single_entry ? table : table + 1 < tables ? table + 1 : 0;

	PT_EQUAL(check, entries[at] & ~(page - 1ull), topa.tables[next].physical);
	if (topa.single_entry)
		PT_EQUAL(check, at, 1);
}

/* The memory that the tables list is that of the chunks, in their order. */
void tables_cover(pt_check &check, const pt_topa &topa, const Chunk *chunks, unsigned int count)
{
	unsigned int region = 0;

	for (unsigned int at = 0; at < count; at++) {
		unsigned long long next = chunks[at].physical;
		const unsigned long long end = next + (page << chunks[at].order);

		while (next < end) {
			const unsigned long long word = Topa::word(topa, region++);

			PT_EQUAL(check, word & ~(page - 1ull), next);
			next += page << (word >> PT_ENTRY_SIZE_SHIFT & 0xf);
		}
		PT_EQUAL(check, next, end);
	}
	PT_EQUAL(check, region, topa.nr_regions);
}

void tables_are_sound(pt_check &check, const Buffer &buffer, const Chunk *chunks,
		      unsigned int count)
{
	const pt_topa &topa = buffer.output.topa;
	unsigned int pages = 0;

	for (unsigned int table = 0; table < pt_topa_tables(&topa); table++)
		table_is_sound(check, topa, table, pages);
	PT_EQUAL(check, pages, topa.nr_pages);
	tables_cover(check, topa, chunks, count);
}

/* ---- marks ---- */

/* The end of a transaction, which has a quick way that has to come to the same. */
void end(pt_check &check, pt_output &output, const Engine &engine, pt_written &written)
{
	pt_output quick = output;
	unsigned long bytes = 0;

	if (engine.base == output.place.base)
		bytes = pt_output_end_within(&quick, engine.mask);
	pt_output_end(&output, engine.base, engine.mask, engine.status, &written);
	if (!bytes)
		return;
	PT_EQUAL(check, engine.status, 0);
	if (!output.overwrite)
		PT_EQUAL(check, bytes, written.bytes);
	PT_TRUE(check, !written.cut && !written.resync && !written.pad_size);
	PT_EQUAL(check, quick.position, output.position);
	PT_EQUAL(check, pt_output_mask(&quick), pt_output_mask(&output));
}

/* The same before one: the quick way says that nothing is to be done. */
int begin(pt_check &check, pt_output &output, unsigned long head, unsigned long room,
	  unsigned long wakeup)
{
	const bool quick = pt_output_goes_on(&output, head, room, wakeup);
	const int err = pt_output_begin(&output, head, room, wakeup);

	hold(check, !quick || !err, "what goes on can be begun", __LINE__, quick, 0);
	return err;
}

/* Where a region ends, as a position: all there are, from the one after @head on. */
class Ends {
    public:
	Ends(const pt_output &output, unsigned long head)
		: topa_(output.topa),
		  size_(output.size),
		  position_(head)
	{
		next();
	}

	unsigned long get() const
	{
		return position_;
	}

	void next()
	{
		const unsigned long at = position_ & (size_ - 1);
		unsigned int region = 0;

		/* By counting: not by what is tested. */
		while (start(region + 1) <= at)
			region++;
		position_ += start(region + 1) - at;
	}

    private:
	unsigned long start(unsigned int region) const
	{
		unsigned long bytes = 0;

		for (unsigned int at = 0; at < region && at < topa_.nr_regions; at++)
			bytes += page << (Topa::word(topa_, at) >> PT_ENTRY_SIZE_SHIFT & 0xf);
		return bytes;
	}

	const pt_topa &topa_;
	unsigned long size_;
	unsigned long position_;
};

/* What has to come of a begin. */
struct Expected {
	unsigned long stop; /* position; 0: it cannot be begun */
	unsigned long interrupt;
};

Expected expect(const pt_output &output, unsigned long head, unsigned long room,
		unsigned long wakeup)
{
	const unsigned long limit = head + room + 1;
	Expected expected = {0, 0};
	unsigned long before = 0;

	for (Ends end(output, head); end.get() <= limit; end.next()) {
		if (!expected.interrupt && end.get() >= wakeup)
			expected.interrupt = end.get();
		before = expected.stop;
		expected.stop = end.get();
	}
	/* One region before the stop, if there is one. */
	if (!expected.interrupt || expected.interrupt == expected.stop)
		expected.interrupt = before ? before : expected.stop;
	return expected;
}

void run_to_stop(pt_check &check, pt_output &output, unsigned long head, const Expected &expected)
{
	Engine engine(output, check.held % 2);
	pt_written written = {};

	PT_EQUAL(check, entries_with(output.topa, PT_ENTRY_STOP), 1);
	PT_TRUE(check, entries_with(output.topa, PT_ENTRY_INT) <= 2);
	engine.program();
	PT_EQUAL(check, head + engine.write_to_interrupt(4 * output.size), expected.interrupt);

	const unsigned long bytes = engine.write(4 * output.size);

	PT_EQUAL(check, expected.interrupt + bytes, expected.stop);
	PT_EQUAL(check, engine.status, PT_STATUS_STOPPED);
	PT_EQUAL(check, pt_output_where(&output, engine.base, engine.mask),
		 expected.stop & (output.size - 1));
	end(check, output, engine, written);
	PT_EQUAL(check, written.bytes, expected.stop - head);
	PT_TRUE(check, written.cut && written.resync && !written.error && !written.pad_size);
	PT_EQUAL(check, output.position, expected.stop);
}

/* Less than up to the stop: @bytes, and none of it is a cut. */
void run_a_part(pt_check &check, pt_output &output, unsigned long bytes)
{
	const unsigned long head = output.position;
	Engine engine(output);
	pt_written written = {};

	engine.program();
	PT_EQUAL(check, engine.write(bytes), bytes);
	end(check, output, engine, written);
	PT_EQUAL(check, written.bytes, bytes);
	PT_TRUE(check, !written.cut && !written.resync && !written.error && !written.pad_size);
	PT_EQUAL(check, output.position, head + bytes);
}

constexpr unsigned long offsets[] = {0, 1, 2048, page - 1};

void marks_for(pt_check &check, pt_output &output, unsigned long head, unsigned long room,
	       unsigned long wakeup)
{
	const Expected expected = expect(output, head, room, wakeup);
	const int err = begin(check, output, head, room, wakeup);

	PT_EQUAL(check, err, expected.stop ? 0 : -28);
	if (err)
		return;
	if (expected.stop - head > 1) {
		const unsigned long part = (expected.stop - head) / 2;

		run_a_part(check, output, part);
		PT_EQUAL(check, pt_output_begin(&output, head + part, room - part, wakeup), 0);

		/* What has been passed does not interrupt again before the end. */
		run_to_stop(check, output, head + part,
			    expect(output, head + part, room - part, wakeup));
		return;
	}
	run_to_stop(check, output, head, expected);
}

void marks_of_layout(pt_check &check, const Chunk *chunks, unsigned int count)
{
	Arena arena(check);
	Buffer buffer(arena, chunks, count, false);
	pt_output &output = buffer.output;
	const unsigned long size = output.size, lap = 3 * size;

	PT_TRUE(check, buffer.made);
	for (unsigned long at = 0; at < size && !check.failed; at += page) {
		for (const unsigned long offset : offsets) {
			const unsigned long head = lap + at + offset;

			/* Room is a byte short of all, less what is not read yet. */
			for (unsigned long unread = 0; unread < size - 1; unread += page / 2 - 1) {
				for (unsigned long ahead = 0; ahead <= size; ahead += page / 2)
					marks_for(check, output, head, size - 1 - unread,
						  head + ahead);
			}
		}
	}
}

} // namespace

extern "C" {

void pt_check_tables(pt_check *check)
{
	constexpr unsigned int most = 1200;
	Random random(check->seed);
	Arena arena(*check);
	Chunk *chunks = arena.take<Chunk>(most);

	PT_TRUE(*check, chunks);
	for (unsigned int round = 0; round < check->rounds && !check->failed; round++) {
		const bool aligned = round % 2, single_entry = round % 3 == 0;
		const auto count =
			1 + static_cast<unsigned int>(random.below(single_entry ? 200 : most));
		const unsigned long orders = 1 + random.below(6);
		Placer placer(random.next(), aligned);

		for (unsigned int at = 0; at < count; at++)
			chunks[at] = placer.place(static_cast<unsigned int>(random.below(orders)));

		Arena rest = arena;
		const Buffer buffer(rest, chunks, count, round % 5 == 0, single_entry);

		PT_TRUE(*check, buffer.made);
		tables_are_sound(*check, buffer, chunks, count);
		if (aligned)
			PT_EQUAL(*check, buffer.output.topa.nr_regions, count);
	}
}

void pt_check_marks(pt_check *check)
{
	Chunk chunks[8];

	for (unsigned int pages = 1; pages <= 8; pages *= 2) {
		for (unsigned int number = 0; number < 1u << (2 * pages); number++) {
			const unsigned int count = small_layout(chunks, pages, number);

			if (count && !check->failed)
				marks_of_layout(*check, chunks, count);
		}
	}
}

void pt_check_stream(pt_check *check)
{
	Random random(check->seed);
	Chunk chunks[64];

	for (unsigned int round = 0; round < check->rounds && !check->failed; round++) {
		const unsigned int order = static_cast<unsigned int>(random.below(4));
		const unsigned int pages = 2u << (order + random.below(3));
		Placer placer(random.next(), true);
		unsigned int count = 0;

		for (unsigned int left = pages; left; left -= 1u << chunks[count++].order) {
			unsigned int piece = static_cast<unsigned int>(random.below(order + 1));

			while (1u << piece > left)
				piece--;
			chunks[count] = placer.place(piece);
		}

		Arena arena(*check);
		Buffer buffer(arena, chunks, count, false);
		pt_output &output = buffer.output;
		Engine engine(output, round % 2);
		unsigned long head = random.next(), tail = head, mark = head;
		const unsigned long watermark = output.size / 2;

		PT_TRUE(*check, buffer.made);
		for (unsigned int step = 0; step < 300; step++) {
			const unsigned long room = output.size - 1 - (head - tail);
			const bool fits = expect(output, head, room, mark + watermark).stop;
			pt_written written = {};
			unsigned long bytes;

			if (pt_output_begin(&output, head, room, mark + watermark)) {
				PT_TRUE(*check, !fits);
				tail += random.below(head - tail + 1);
				continue;
			}
			PT_TRUE(*check, fits);
			engine.program();
			bytes = engine.write(random.below(output.size + page));
			end(*check, output, engine, written);
			PT_EQUAL(*check, written.bytes, bytes);
			PT_EQUAL(*check, written.cut, !!(engine.status & PT_STATUS_STOPPED));
			PT_TRUE(*check, !written.error && bytes <= room + 1);
			head += bytes;
			if (head - mark >= watermark)
				mark = head - head % watermark;
			if (random.below(2))
				tail += random.below(head - tail + 1);
		}
	}
}

void pt_check_wrap(pt_check *check)
{
	Chunk chunks[8];

	for (unsigned int number = 0; number < 1u << 16 && !check->failed; number++) {
		const unsigned int count = small_layout(chunks, 8, number);

		if (!count)
			continue;

		Arena arena(*check);
		Buffer buffer(arena, chunks, count, true);
		pt_output &output = buffer.output;
		Engine engine(output);
		unsigned long position = 0;

		PT_TRUE(*check, buffer.made);
		for (unsigned int round = 0; round < check->rounds; round++) {
			/* All residues come: it has no divisor in common with the size. */
			const unsigned long bytes = round % 3 ? 1021 : output.size + 1021;
			pt_written written = {};

			PT_EQUAL(*check, pt_output_begin(&output, position, 0, 0), 0);
			engine.program();
			PT_EQUAL(*check, engine.write(bytes), bytes);
			position += bytes;
			PT_EQUAL(*check, pt_output_where(&output, engine.base, engine.mask),
				 position & (output.size - 1));
			end(*check, output, engine, written);
			PT_EQUAL(*check, output.position, position & (output.size - 1));
			PT_TRUE(*check, !written.cut && !written.error && !engine.interrupts);
		}
		PT_EQUAL(*check, entries_with(output.topa, PT_ENTRY_STOP | PT_ENTRY_INT), 0);
	}
}

void pt_check_single_entry(pt_check *check)
{
	Placer placer(check->seed, true);
	const Chunk chunks[] = {placer.place(1), placer.place(0), placer.place(0)};
	Arena arena(*check);
	Buffer buffer(arena, chunks, 3, false, true);
	pt_output &output = buffer.output;
	const unsigned long size = output.size;
	unsigned long head = 5 * size;

	PT_TRUE(*check, buffer.made);
	for (unsigned int round = 0; round < 3 * 2 * (PT_OUTPUT_MARGIN + 8); round++) {
		const unsigned long region = output.place.size;
		const unsigned long left = round / 6 % (PT_OUTPUT_MARGIN + 8);
		const unsigned long bytes = region - left;
		const bool padded = left <= PT_OUTPUT_MARGIN;
		Engine engine(output, round % 2);
		pt_written written = {};

		PT_EQUAL(*check, pt_output_begin(&output, head, size - 1, head + size / 2), 0);
		engine.program();
		PT_EQUAL(*check, engine.write(bytes), bytes);
		PT_EQUAL(*check, engine.status, left ? 0 : PT_STATUS_STOPPED);
		end(*check, output, engine, written);
		PT_EQUAL(*check, written.bytes, padded ? region : bytes);
		PT_EQUAL(*check, written.pad_size, padded ? left : 0);
		if (padded && left)
			PT_EQUAL(*check, written.pad, (head + bytes) & (size - 1));
		/* Full means that something is missing; a little before that, not yet. */
		PT_EQUAL(*check, written.cut, !left);
		head += written.bytes;
		PT_EQUAL(*check, output.position, head);
		if (padded)
			continue;
		/* On to the end of the region, so that the next round begins with another. */
		PT_EQUAL(*check, pt_output_begin(&output, head, size - 1, head + size), 0);
		Engine rest(output);
		rest.program();
		PT_EQUAL(*check, rest.write(page), left);
		pt_output_end(&output, rest.base, rest.mask, rest.status, &written);
		PT_TRUE(*check, written.cut);
		head += written.bytes;
	}
}

void pt_check_nonsense(pt_check *check)
{
	Placer placer(check->seed, true);
	const Chunk chunks[] = {placer.place(1), placer.place(0), placer.place(0)};
	Random random(check->seed);

	for (unsigned int round = 0; round < check->rounds && !check->failed; round++) {
		Arena arena(*check);
		Buffer buffer(arena, chunks, 3, round % 2, false);
		pt_output &output = buffer.output;
		const unsigned long long base =
			round % 3 ? Buffer::tables_at : random.next() & ~(page - 1ull);
		const unsigned long long mask = random.next();
		pt_written written = {};

		PT_TRUE(*check, buffer.made);
		PT_EQUAL(*check, pt_output_begin(&output, page + 7, output.size - 1, output.size),
			 0);
		PT_TRUE(*check, pt_output_where(&output, base, mask) < output.size);
		pt_output_end(&output, base, mask, 0, &written);
		PT_TRUE(*check, written.error && written.resync && !written.bytes);
		PT_EQUAL(*check, output.position, page + 7);
	}
}

void pt_check_lookup(pt_check *check)
{
	constexpr unsigned int pages = 1u << 19;
	Arena arena(*check);
	Chunk *chunks = arena.take<Chunk>(pages);

	PT_TRUE(*check, chunks);
	for (unsigned int uneven = 0; uneven < 2; uneven++) {
		Placer placer(check->seed, true);
		unsigned int count = 0;

		for (unsigned int at = 0; at < pages; at += 1u << chunks[count++].order)
			chunks[count] = placer.place(uneven && at >= pages / 2 ? 1 : 0);

		Arena rest = arena;
		Buffer buffer(rest, chunks, count, true);
		pt_output &output = buffer.output;

		PT_TRUE(*check, buffer.made);
		PT_EQUAL(*check, !output.topa.uneven, !uneven);
		for (unsigned int at = 0; at < pages; at++) {
			const unsigned long head = at * page + 5;

			PT_EQUAL(*check, pt_output_begin(&output, head, 0, 0), 0);
			PT_EQUAL(*check, output.place.start + output.place.offset, head);
			PT_TRUE(*check, output.place.offset < output.place.size);
		}
	}
}

} // extern "C"
