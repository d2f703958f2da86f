/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests: a buffer whose memory is only numbers, and hardware that writes to it as
 * the SDM says (volume 3, "Table of Physical Addresses (ToPA)").
 */
#ifndef X86_EVENTS_INTEL_PT_CHECK_MODEL_HH
#define X86_EVENTS_INTEL_PT_CHECK_MODEL_HH

#include "check.h"
#include "output.h"
#include "program.h"
#include "rtit.h"

namespace pt::check {

inline bool hold(pt_check &check, bool held, const char *what, unsigned int line,
		 unsigned long long got, unsigned long long wanted)
{
	if (check.failed)
		return false;
	if (held) {
		check.held++;
		return true;
	}
	check.failed = what;
	check.line = line;
	check.got = got;
	check.wanted = wanted;
	return false;
}

/* Leave the function if it does not hold. */
#define PT_EQUAL(of, got, wanted)                                                                  \
	do {                                                                                       \
		const auto got_ = static_cast<unsigned long long>(got);                            \
		const auto wanted_ = static_cast<unsigned long long>(wanted);                      \
                                                                                                   \
		if (!pt::check::hold(of, got_ == wanted_, #got " == " #wanted, __LINE__, got_,     \
				     wanted_))                                                     \
			return;                                                                    \
	} while (0)
#define PT_TRUE(of, condition) PT_EQUAL(of, static_cast<bool>(condition), true)

/* xorshift64 */
class Random {
    public:
	explicit Random(unsigned long long seed) : state_(seed)
	{
	}

	unsigned long long next()
	{
		state_ ^= state_ << 13;
		state_ ^= state_ >> 7;
		state_ ^= state_ << 17;
		return state_;
	}

	unsigned long below(unsigned long end)
	{
		return next() % end;
	}

    private:
	unsigned long long state_;
};

/* A chunk of the buffer's memory. */
struct Chunk {
	unsigned long long physical;
	unsigned int order;
};

/* Memory for tables and lists, taken from the front and given back all at once. */
class Arena {
    public:
	explicit Arena(const pt_check &check)
		: next_(static_cast<char *>(check.memory)),
		  left_(check.size)
	{
	}

	template <class T> T *take(unsigned long count)
	{
		const unsigned long bytes = (count * sizeof(T) + 63) & ~63ul;

		if (bytes > left_)
			return nullptr;
		T *taken = reinterpret_cast<T *>(next_);

		next_ += bytes;
		left_ -= bytes;
		__builtin_memset(taken, 0, bytes);
		return taken;
	}

    private:
	char *next_;
	unsigned long left_;
};

/* A buffer made of chunks; tables are at physical addresses beyond all of them. */
class Buffer {
    public:
	static constexpr unsigned long long tables_at = 1ull << 44;

	Buffer(Arena &arena, const Chunk *chunks, unsigned int count, bool overwrite,
	       bool single_entry = false)
	{
		pt_topa &topa = output.topa;

		output.overwrite = topa.overwrite = overwrite;
		topa.single_entry = single_entry;
		for (unsigned int at = 0; at < count; at++)
			pt_topa_measure(&topa, chunks[at].physical, chunks[at].order);

		const unsigned int tables = pt_topa_tables(&topa);

		topa.tables = arena.take<pt_topa_table>(tables);
		if (topa.uneven)
			topa.starts = arena.take<unsigned int>(topa.nr_regions);
		for (unsigned int at = 0; topa.tables && at < tables; at++) {
			topa.tables[at].entries = arena.take<unsigned long long>(512);
			topa.tables[at].physical = tables_at + at * 3 * PT_PAGE_SIZE;
			made = topa.tables[at].entries;
		}
		if (!made || (topa.uneven && !topa.starts)) {
			made = false;
			return;
		}
		for (unsigned int at = 0; at < count; at++)
			pt_topa_fill(&topa, chunks[at].physical, chunks[at].order);
		pt_topa_close(&topa);
		output.size = static_cast<unsigned long>(topa.nr_pages) << PT_PAGE_SHIFT;
		pt_output_init(&output);
	}

	pt_output output = {};
	bool made = false;
};

/* The hardware. It knows tables, not buffers; `place` is for who looks on. */
class Engine {
    public:
	/* @goes_on: after a stop it is at the next entry, not at the region's end. */
	explicit Engine(const pt_output &output, bool goes_on = false)
		: output_(output),
		  goes_on_(goes_on)
	{
		pt_shadow_forget(&shadow_);
	}

	void program()
	{
		pt_write writes[PT_PROGRAM_MOST];
		const unsigned int count = pt_program(&shadow_, &output_, &no_ranges_, 0, writes);

		for (unsigned int at = 0; at < count; at++) {
			if (writes[at].msr == PT_MSR_OUTPUT_BASE)
				base = writes[at].value;
			if (writes[at].msr == PT_MSR_OUTPUT_MASK)
				mask = writes[at].value;
		}
		interrupts = 0;
		status = 0;
	}

	/* At most @bytes: how many there was room for. */
	unsigned long write(unsigned long bytes)
	{
		unsigned long written = 0;

		while (written < bytes && !(status & (PT_STATUS_STOPPED | PT_STATUS_ERROR))) {
			const unsigned long long entry = word(index());
			const unsigned long size = PT_PAGE_SIZE
						   << (entry >> PT_ENTRY_SIZE_SHIFT & 0xf);

			if (entry & PT_ENTRY_END || offset() >= size) {
				status |= PT_STATUS_ERROR;
				break;
			}

			const unsigned long left = size - offset(), more = bytes - written;
			const unsigned long now = left < more ? left : more;

			set(index(), offset() + now);
			written += now;
			if (now == left)
				filled(entry);
		}
		shadow_.base = base;
		shadow_.mask = mask;
		return written;
	}

	/* Run until an interrupt, or a stop: how many bytes. */
	unsigned long write_to_interrupt(unsigned long most)
	{
		unsigned long written = 0;

		while (!interrupts && written < most) {
			const unsigned long now = write(PT_PAGE_SIZE - offset() % PT_PAGE_SIZE);

			if (!now)
				break;
			written += now;
		}
		return written;
	}

	unsigned long offset() const
	{
		return mask >> PT_MASK_OFFSET_SHIFT;
	}

	unsigned long long base = 0, mask = 0, status = 0;
	unsigned int interrupts = 0;

    private:
	unsigned int index() const
	{
		return static_cast<unsigned int>(mask) >> PT_MASK_INDEX_SHIFT;
	}

	void set(unsigned int index, unsigned long long offset)
	{
		mask = PT_MASK_ONES |
		       static_cast<unsigned long long>(index) << PT_MASK_INDEX_SHIFT |
		       offset << PT_MASK_OFFSET_SHIFT;
	}

	unsigned long long word(unsigned int index) const
	{
		const unsigned int tables = pt_topa_tables(&output_.topa);

		for (unsigned int table = 0; table < tables; table++) {
			if (output_.topa.tables[table].physical == base)
				return output_.topa.tables[table].entries[index];
		}
		return PT_ENTRY_END;
	}

	void filled(unsigned long long entry)
	{
		if (entry & PT_ENTRY_INT)
			interrupts++;
		if (entry & PT_ENTRY_STOP) {
			status |= PT_STATUS_STOPPED;
			if (!goes_on_)
				return;
		}
		set(index() + 1, 0);

		const unsigned long long next = word(index());

		if (next & PT_ENTRY_END) {
			base = next & ~(PT_PAGE_SIZE - 1ull);
			set(0, 0);
		}
	}

	const pt_output &output_;
	bool goes_on_;
	pt_shadow shadow_ = {};
	pt_ranges no_ranges_ = {};
};

} // namespace pt::check

#endif
