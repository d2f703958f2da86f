// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's core drives the emulated unit, which faults where hardware would. What a
 * reader takes out of the buffer is decoded by libipt: each PTW packet's payload is the
 * number of the one before and one more, but where the driver said that it was cut.
 */
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <intel-pt.h>

#include "buffer.hh"
#include "config.h"
#include "program.h"
#include "pt_unit.h"

namespace {

using pt_driver_test::Buffer;
using pt_driver_test::Memory;

class World {
    public:
	World(const pt_unit_features &features, const std::vector<unsigned int> &orders,
	      bool overwrite)
		: buffer(memory, orders, overwrite, features.single_entry),
		  storage_(pt_unit_size() / sizeof(std::uint64_t) + 1)
	{
		const pt_unit_ops ops = {
			[](void *self, unsigned long long physical) -> void * {
				return static_cast<World *>(self)->memory.at(physical);
			},
			[](void *self) -> unsigned long long {
				return static_cast<World *>(self)->time_ += 100;
			},
			[](void *self) { static_cast<World *>(self)->interrupts++; },
		};

		pt_unit_init(unit(), &ops, this, &features);
		pt_shadow_forget(&shadow_);
	}

	pt_unit *unit()
	{
		return reinterpret_cast<pt_unit *>(storage_.data());
	}

	/* As the shell does it. */
	bool start()
	{
		pt_write writes[PT_PROGRAM_MOST];

		if (pt_output_begin(&buffer.output, head, room(), wakeup))
			return false;

		const unsigned int count =
			pt_program(&shadow_, &buffer.output, &ranges, resync, writes);

		for (unsigned int at = 0; at < count; at++)
			write(writes[at].msr, writes[at].value);
		resync = false;
		ctl_ = config | ranges.ctl | (buffer.output.ranged ? 0 : PT_CTL_TOPA);
		write(PT_MSR_CTL, ctl_ | PT_CTL_TRACEEN);
		interrupts = 0;
		return true;
	}

	pt_written stop()
	{
		pt_written written = {};

		write(PT_MSR_CTL, ctl_);
		if (pt_output_moves(&buffer.output))
			shadow_.base = read(PT_MSR_OUTPUT_BASE);
		shadow_.mask = read(PT_MSR_OUTPUT_MASK);
		pt_output_end(&buffer.output, shadow_.base, shadow_.mask, read(PT_MSR_STATUS),
			      &written);
		if (written.resync) {
			write(PT_MSR_STATUS, 0);
			resync = true;
		}
		for (unsigned long at = 0; at < written.pad_size; at++)
			buffer.byte(memory, written.pad + at) = 0;
		if (buffer.output.overwrite)
			head = buffer.output.position;
		else
			head += written.bytes;
		return written;
	}

	/* One PTWRITE of the next number. */
	void ptwrite()
	{
		pt_unit_retired retired = {};

		retired.kind = PT_UNIT_PTWRITE;
		retired.instructions = 1;
		retired.ip = ip_;
		retired.next = retired.to = ip_ = ip_ + 5;
		retired.payload = next++;
		retired.payload_size = 8;
		retired.mode = PT_UNIT_64;
		pt_unit_retire(unit(), &retired);
	}

	void enter()
	{
		pt_unit_enter(unit(), ip_, 0x1000, PT_UNIT_64);
	}

	void leave()
	{
		pt_unit_leave(unit(), PT_UNIT_ASYNC, ip_, 0);
	}

	/* Up to @most bytes of what has been written and not been read. */
	void take(unsigned long most)
	{
		for (; most && tail != head; most--, tail++)
			taken.push_back(buffer.byte(memory, tail & (buffer.output.size - 1)));
	}

	unsigned long room() const
	{
		return buffer.output.size - 1 - (head - tail);
	}

	std::uint64_t faults()
	{
		struct pt_unit_counts counts;

		pt_unit_counts(unit(), &counts);
		return counts.faults;
	}

	Memory memory;
	Buffer buffer;
	pt_ranges ranges = {};
	unsigned long long config = pt_config_ctl(PT_CTL_PTWEN | PT_CTL_TSCEN, 0, 1);
	bool resync = true;
	unsigned long head = 0, tail = 0, wakeup = 0;
	unsigned int interrupts = 0;
	std::uint64_t next = 1;
	std::vector<std::uint8_t> taken;

    private:
	void write(unsigned int msr, unsigned long long value)
	{
		EXPECT_EQ(pt_unit_write(unit(), msr, value), 0)
			<< "WRMSR " << std::hex << msr << " " << value;
	}

	unsigned long long read(unsigned int msr)
	{
		unsigned long long value = 0;

		EXPECT_EQ(pt_unit_read(unit(), msr, &value), 0) << "RDMSR " << std::hex << msr;
		return value;
	}

	std::vector<std::uint64_t> storage_;
	pt_shadow shadow_ = {};
	unsigned long long ctl_ = 0;
	std::uint64_t time_ = 1000000;
	std::uint64_t ip_ = 0x400000;
};

struct Decoded {
	std::vector<std::uint64_t> numbers;
	std::vector<std::size_t> syncs; /* how many numbers there were before each PSB */
	int end = 0;
};

/* All of @bytes, which begin with a PSB or in the middle of something. */
Decoded decode(std::vector<std::uint8_t> &bytes)
{
	Decoded decoded;
	pt_config config = {};

	config.size = sizeof(config);
	config.begin = bytes.data();
	config.end = bytes.data() + bytes.size();

	pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);

	decoded.end = pt_pkt_sync_forward(decoder);
	while (decoded.end >= 0) {
		pt_packet packet = {};

		decoded.end = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (decoded.end < 0)
			break;
		if (packet.type == ppt_ptw)
			decoded.numbers.push_back(packet.payload.ptw.payload);
		if (packet.type == ppt_psb)
			decoded.syncs.push_back(decoded.numbers.size());
	}
	pt_pkt_free_decoder(decoder);
	return decoded;
}

std::uint64_t seed()
{
	const char *given = std::getenv("PERFRING_SEED");

	return given ? std::strtoull(given, nullptr, 0) : 4711;
}

constexpr pt_unit_features multiple = {4, 1, 1, 0, 0, 0, 30};
constexpr pt_unit_features single_entry = {0, 1, 0, 1, 0, 0, 30};

/* Chunks of random orders: a power of two of pages, in full mode two chunks at least. */
std::vector<unsigned int> random_orders(std::mt19937_64 &random, bool at_least_two)
{
	unsigned int left = 2U << random() % 6;
	const unsigned int largest = left / (at_least_two ? 2 : 1);
	std::vector<unsigned int> orders;

	while (left) {
		unsigned int order = static_cast<unsigned int>(random() % 4);

		while (1U << order > left || 1U << order > largest)
			order--;
		orders.push_back(order);
		left -= 1U << order;
	}
	return orders;
}

/* Where in the numbers the driver has said that something is missing. */
struct Told {
	std::set<std::uint64_t> cuts; /* numbers that come after one */
};

void wake(World &world, unsigned long watermark)
{
	if (world.head >= world.wakeup)
		world.wakeup = world.head - world.head % watermark + watermark;
}

/* A task is switched in, writes for a while, interrupts are served, is switched out. */
void slice(World &world, unsigned int writes, unsigned long watermark, Told &told)
{
	if (!world.start()) {
		/* No room that hardware could stop in. */
		told.cuts.insert(world.next);
		world.resync = true;
		return;
	}
	world.enter();
	while (writes--) {
		world.ptwrite();
		if (!world.interrupts)
			continue;
		world.leave();

		const pt_written written = world.stop();

		wake(world, watermark);
		if (written.cut || world.room() == 0 || !world.start()) {
			told.cuts.insert(world.next);
			world.resync = true;
			return;
		}
		world.enter();
	}
	world.leave();

	const pt_written written = world.stop();

	wake(world, watermark);
	EXPECT_FALSE(written.error);
	if (written.cut) {
		/* What the end of tracing writes has filled it up. */
		EXPECT_NE(world.interrupts, 0U);
		told.cuts.insert(world.next);
	}
}

void stream(const pt_unit_features &features, std::mt19937_64 &random, bool keeps_up)
{
	World world(features, random_orders(random, true), false);
	const unsigned long watermark = world.buffer.output.size / 2;
	Told told;

	world.wakeup = watermark;
	for (unsigned int round = 0; round < 400; round++) {
		if (world.room() == 0)
			world.take(1 + random() % world.buffer.output.size);
		else
			slice(world, static_cast<unsigned int>(random() % 600), watermark, told);
		if (keeps_up || random() % 3 == 0)
			world.take(keeps_up ? ~0UL : random() % world.buffer.output.size);
	}
	world.take(~0UL);

	const Decoded decoded = decode(world.taken);

	EXPECT_EQ(decoded.end, -pte_eos);
	EXPECT_EQ(world.faults(), 0U);
	ASSERT_FALSE(decoded.numbers.empty());

	std::uint64_t wanted = 1;

	for (std::size_t at = 0; at < decoded.numbers.size(); at++) {
		const std::uint64_t number = decoded.numbers[at];

		if (number != wanted) {
			/* Between the last one seen and this one the driver has cut. */
			const auto cut = told.cuts.lower_bound(wanted);

			ASSERT_GT(number, wanted);
			ASSERT_TRUE(cut != told.cuts.end() && *cut <= number)
				<< wanted << " is missing, " << number << " comes";
			EXPECT_TRUE(
				std::binary_search(decoded.syncs.begin(), decoded.syncs.end(), at))
				<< "no PSB before " << number;
		}
		wanted = number + 1;
	}
}

TEST(PtUnit, StreamInTables)
{
	std::mt19937_64 random(seed());

	for (unsigned int round = 0; round < 30 && !testing::Test::HasFatalFailure(); round++)
		stream(multiple, random, round % 2);
}

TEST(PtUnit, StreamInTablesOfOneEntry)
{
	std::mt19937_64 random(seed());

	for (unsigned int round = 0; round < 30 && !testing::Test::HasFatalFailure(); round++)
		stream(single_entry, random, round % 2);
}

/* Overwrite mode: the last bytes are what was written last. */
void overwrite(World &world, std::mt19937_64 &random)
{
	const unsigned long size = world.buffer.output.size;

	for (unsigned int round = 0; round < 50; round++) {
		ASSERT_TRUE(world.start());
		world.enter();
		for (unsigned long left = random() % (size / 4); left; left--)
			world.ptwrite();
		world.leave();

		const pt_written written = world.stop();

		ASSERT_FALSE(written.cut || written.error || written.pad_size);
		ASSERT_LT(world.head, size);
		/* Oldest first: from behind the head all the way round. */
		world.taken.clear();
		for (unsigned long at = 0; at < size; at++)
			world.taken.push_back(
				world.buffer.byte(world.memory, (world.head + at) & (size - 1)));

		const Decoded decoded = decode(world.taken);

		EXPECT_EQ(world.interrupts, 0U);
		if (decoded.numbers.empty())
			continue;
		EXPECT_EQ(decoded.end, -pte_eos);
		EXPECT_EQ(decoded.numbers.back(), world.next - 1);
		for (std::size_t at = 1; at < decoded.numbers.size(); at++)
			ASSERT_EQ(decoded.numbers[at], decoded.numbers[at - 1] + 1);
	}
	EXPECT_EQ(world.faults(), 0U);
}

TEST(PtUnit, OverwriteInTables)
{
	std::mt19937_64 random(seed());

	for (unsigned int round = 0; round < 20 && !testing::Test::HasFatalFailure(); round++) {
		World world(multiple, random_orders(random, false), true);

		overwrite(world, random);
	}
}

TEST(PtUnit, OverwriteInOneEntry)
{
	std::mt19937_64 random(seed());
	World world(single_entry, {2}, true);

	overwrite(world, random);
}

TEST(PtUnit, OverwriteInARange)
{
	std::mt19937_64 random(seed());
	World world(multiple, {0}, true);
	pt_output &output = world.buffer.output;

	output.range = world.buffer.pieces[0].physical;
	output.ranged = 1;
	pt_output_init(&output);
	overwrite(world, random);
}

/* A whole lap in one go: not to be taken for nothing. */
TEST(PtUnit, AnEmptyBufferFillsUp)
{
	World world(multiple, {0, 0, 0, 0}, false);

	world.wakeup = world.buffer.output.size;
	ASSERT_TRUE(world.start());
	world.enter();
	for (unsigned int at = 0; at < 4000; at++)
		world.ptwrite();
	world.leave();

	const pt_written written = world.stop();

	EXPECT_EQ(written.bytes, world.buffer.output.size);
	EXPECT_NE(written.cut, 0U);
	EXPECT_EQ(world.faults(), 0U);
}

/* All that attr.config can ask for, by what CPUID of the unit offers. */
TEST(PtUnit, NoConfigurationFaults)
{
	World world(multiple, {0, 0}, false);
	unsigned int words[PT_CAPS_WORDS] = {};
	unsigned int tried = 0;

	pt_unit_cpuid(world.unit(), 0, &words[0]);
	pt_unit_cpuid(world.unit(), 1, &words[4]);
	pt_caps_bound(words);
	for (std::uint64_t number = 0; number < 1U << 16; number++) {
		/* Bits 0, 1, 4, 5, 9 to 13, 31, 55, and two of each period. */
		std::uint64_t config = (number & 3) | (number >> 2 & 3) << 4 |
				       (number >> 4 & 31) << 9 | (number >> 9 & 1) << 31 |
				       (number >> 10 & 1) << 55;

		config |= (number >> 11 & 1) * 3 << 14 | (number >> 12 & 1) * 2 << 19 |
			  (number >> 13 & 3) * 2 << 24;
		if (number >> 15)
			pt_ranges_add(&world.ranges, 0x400000, 0x100, PT_RANGE_FILTER, 48);
		if (pt_config_check(words, config, 0))
			continue;
		tried++;
		world.config = pt_config_ctl(config, number & 1, 1);
		world.tail = world.head;
		ASSERT_TRUE(world.start());
		world.stop();
		ASSERT_EQ(world.faults(), 0U) << std::hex << config;
	}
	EXPECT_GT(tried, 100U);
}

} // namespace
