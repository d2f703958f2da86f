// SPDX-License-Identifier: GPL-2.0
/* The stream of an aux_test event. */
#include "stream.h"

namespace {

constexpr unsigned long long second = 1000000000;
constexpr unsigned long word_size = 8;
constexpr unsigned long long offset_mask = (1ULL << AUX_TEST_OFFSET_BITS) - 1;
/* With rates below 2^35 the product stays within 64 bits. */
constexpr unsigned long long longest_piece = 1ULL << 28;

constexpr unsigned long long least(unsigned long long a, unsigned long long b)
{
	return a < b ? a : b;
}

constexpr unsigned long long whole_words(unsigned long long bytes)
{
	return bytes & ~(word_size - 1ULL);
}

/* Bytes due in @elapsed ns; what does not make a byte stays in @fraction. */
unsigned long long bytes_in(unsigned long long elapsed, unsigned long long rate,
			    unsigned long long &fraction)
{
	unsigned long long bytes = elapsed / second * rate;

	elapsed %= second;
	while (elapsed) {
		const unsigned long long piece = least(elapsed, longest_piece);
		const unsigned long long product = piece * rate;

		fraction += product % second;
		bytes += product / second + fraction / second;
		fraction %= second;
		elapsed -= piece;
	}
	return bytes;
}

/* Where the transaction ends if there is room; not before it has a word. */
unsigned long until_end(const aux_test_config &config, const aux_test_area &area,
			const aux_test_run &run)
{
	if (config.chunk)
		return config.chunk > run.written ? config.chunk - run.written : word_size;
	if (area.overwrite)
		return ~0UL;

	const unsigned long to_wakeup = run.wakeup - run.head;

	if (to_wakeup > area.size)
		return ~0UL;
	return to_wakeup > run.written
		       ? (to_wakeup - run.written + word_size - 1) & ~(word_size - 1)
		       : word_size;
}

unsigned long room_left(const aux_test_area &area, const aux_test_run &run)
{
	return area.overwrite ? ~0UL
			      : static_cast<unsigned long>(whole_words(run.room)) - run.written;
}

} // namespace

extern "C" {

void aux_test_clock_start(aux_test_clock *clock, unsigned long long now)
{
	clock->now = now;
	clock->fraction = 0;
}

unsigned long long aux_test_clock_take(aux_test_clock *clock, unsigned long long rate,
				       unsigned long long now, unsigned long long most)
{
	const unsigned long long elapsed = now > clock->now ? now - clock->now : 0;
	unsigned long long fraction = clock->fraction % second;
	const unsigned long long kept = clock->fraction / second;
	const unsigned long long bytes = kept + bytes_in(elapsed, rate, fraction);
	const unsigned long long due = whole_words(bytes);

	clock->now += elapsed;
	/* Up to 7 bytes wait for their word. */
	clock->fraction = (bytes - due) * second + fraction;
	return most ? least(due, whole_words(most)) : due;
}

void aux_test_clock_return(aux_test_clock *clock, unsigned long long bytes)
{
	clock->fraction += bytes * second;
}

struct aux_test_step aux_test_step(const aux_test_config *config, const aux_test_area *area,
				   const aux_test_run *run, unsigned long long due)
{
	const unsigned long room = room_left(*area, *run);
	const unsigned long end = until_end(*config, *area, *run);
	/* Not more than once around at a time. */
	const unsigned long long now = least(least(due, area->size), least(room, end));
	const auto bytes = static_cast<unsigned long>(now);

	if (bytes == end)
		return {bytes, AUX_TEST_END};
	if (bytes == due)
		return {bytes, AUX_TEST_GO_ON};
	if (bytes == room)
		return {bytes, AUX_TEST_FULL};
	return {bytes, AUX_TEST_GO_ON};
}

void aux_test_fill(const aux_test_area *area, unsigned long at, unsigned long bytes,
		   unsigned int id, unsigned long long offset)
{
	const unsigned long page_size = 1UL << area->page_shift;
	const unsigned long long whose = static_cast<unsigned long long>(id)
					 << AUX_TEST_OFFSET_BITS;

	while (bytes) {
		const unsigned long place = at & (area->size - 1);
		const unsigned long in_page = place & (page_size - 1);
		const unsigned long left = page_size - in_page;
		const unsigned long now = bytes < left ? bytes : left;
		auto *to =
			static_cast<unsigned long long *>(area->pages[place >> area->page_shift]) +
			in_page / word_size;

		for (unsigned long i = 0; i < now / word_size; i++, offset += word_size)
			to[i] = whose | (offset & offset_mask);
		at += now;
		bytes -= now;
	}
}

unsigned long aux_test_pad(unsigned long head, unsigned long align)
{
	return (align - head % align) % align;
}

} // extern "C"
