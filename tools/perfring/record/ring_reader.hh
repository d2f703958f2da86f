/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a data ring that cannot be trusted.
 *
 * The bytes are copied out first and looked at afterwards, in memory that nobody else
 * writes to. What is looked at is therefore what is kept. A record whose size cannot
 * be true, or a head that is not within one ring of the tail, is damage: it is
 * counted, and the reader goes on at the head. There is no input for which it loops.
 *
 * The edges C and D are those of Documentation/userspace-api/perf_ring_buffer.rst.
 */
#ifndef PERFRING_RECORD_RING_READER_HH
#define PERFRING_RECORD_RING_READER_HH

#include <linux/perf_event.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace perfring::record {

/* The largest record that a 16-bit size in steps of 8 can name. */
constexpr std::size_t largest_record = 65536 - 8;

struct Damage {
	std::uint64_t times = 0; /* how often the reader had to go on at the head */
	std::uint64_t bytes = 0; /* passed over, as far as that is known */
};

inline perf_event_header header_of(const std::byte *record)
{
	perf_event_header header;

	std::memcpy(&header, record, sizeof(header));
	return header;
}

/* Copies length bytes at position, which counts up for ever, out of a ring. */
inline void copy_from_ring(std::byte *to, const std::byte *ring, std::size_t size,
			   std::uint64_t position, std::size_t length)
{
	const std::size_t start = position & (size - 1);
	const std::size_t first = std::min(length, size - start);

	std::memcpy(to, ring + start, first);
	std::memcpy(to + first, ring, length - first);
}

/* One reader of a ring that is written forwards. */
class RingReader {
    public:
	/* size: a power of two. Neither the page nor the data are owned. */
	RingReader(perf_event_mmap_page *user_page, const std::byte *ring_data,
		   std::size_t ring_size)
		: page(user_page),
		  data(ring_data),
		  size(ring_size),
		  position(__atomic_load_n(&user_page->data_tail, __ATOMIC_RELAXED))
	{
	}

	/* Bytes to be read, at most the size of the ring. */
	std::size_t ready() const
	{
		const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_RELAXED);

		return static_cast<std::size_t>(std::min<std::uint64_t>(head - position, size));
	}

	/*
	 * Copies whole records into room and calls visit(span) for each of the copies.
	 * Returns how many bytes of room are used; 0 if there is no record. The space in
	 * the ring stays taken until release().
	 *
	 * room.size() >= largest_record, or a record might never fit.
	 */
	template <class Visit> std::size_t read(std::span<std::byte> room, Visit &&visit)
	{
		const std::uint64_t head =
			__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE); /* C */
		const std::uint64_t available = head - position;

		if (available > size) {
			resync(head, 0);
			return 0;
		}

		const auto length =
			static_cast<std::size_t>(std::min<std::uint64_t>(available, room.size()));
		std::size_t used = 0;

		copy_from_ring(room.data(), data, size, position, length);
		while (length - used >= sizeof(perf_event_header)) {
			const std::size_t record = header_of(room.data() + used).size;

			if (record < sizeof(perf_event_header) || record % 8 ||
			    record > available - used) {
				resync(head, available - used);
				return used;
			}
			if (record > length - used)
				break;
			visit(std::span<const std::byte>(room.data() + used, record));
			used += record;
		}
		/* Less than a header in front of the head: nobody writes that. */
		if (length == available && used < available) {
			resync(head, available - used);
			return used;
		}
		position += used;
		return used;
	}

	/* Gives the space of all that was read back to the writer. */
	void release()
	{
		__atomic_store_n(&page->data_tail, position, __ATOMIC_RELEASE); /* D */
	}

	const Damage &damage() const
	{
		return damages;
	}

    private:
	void resync(std::uint64_t head, std::uint64_t bytes)
	{
		damages.times++;
		damages.bytes += bytes;
		position = head;
	}

	perf_event_mmap_page *page;
	const std::byte *data;
	std::size_t size;
	std::uint64_t position; /* ours; what the page says is not believed */
	Damage damages;
};

/*
 * What was written backwards into a ring since the head was at since, newest record
 * first. The head counts down from zero. The writer has to be paused. Copies into room,
 * which has the ring's size, and returns how many bytes of it are whole records.
 */
template <class Visit>
std::size_t read_backward(const perf_event_mmap_page *page, const std::byte *data, std::size_t size,
			  std::uint64_t since, std::span<std::byte> room, Visit &&visit)
{
	const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE); /* C */
	const auto written = static_cast<std::size_t>(std::min<std::uint64_t>(since - head, size));
	std::size_t used = 0;

	copy_from_ring(room.data(), data, size, head, written);
	while (written - used >= sizeof(perf_event_header)) {
		const std::size_t record = header_of(room.data() + used).size;

		/* The oldest one has been overwritten in part. */
		if (record < sizeof(perf_event_header) || record % 8 || record > written - used)
			break;
		visit(std::span<const std::byte>(room.data() + used, record));
		used += record;
	}
	return used;
}

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_RING_READER_HH */
