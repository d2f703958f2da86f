// SPDX-License-Identifier: GPL-2.0
/*
 * The shell that runs a CPU's trace, on the emulated unit and the real AUX ring. An NMI
 * comes at any access to a register, and wants what NMIs can want.
 */
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "buffer.hh"
#include "config.h"
#include "pt_unit.h"
#include "shell/shell.h"

namespace {

using pt_driver_test::Buffer;
using pt_driver_test::Memory;

struct Record {
	unsigned long offset;
	unsigned long size;
	unsigned long long flags;
};

class PtShell : public testing::Test {
    protected:
	void make(const std::vector<unsigned int> &orders, bool overwrite,
		  bool single_entry = false)
	{
		const pt_unit_features features = {0, 1, 1, single_entry, 0, 0, 30};
		const pt_unit_ops ops = {
			[](void *self, unsigned long long physical) -> void * {
				return static_cast<PtShell *>(self)->memory.at(physical);
			},
			[](void *self) -> unsigned long long {
				return static_cast<PtShell *>(self)->time += 100;
			},
			[](void *self) { static_cast<PtShell *>(self)->interrupts++; },
		};
		const shell_world world = {
			this,
			[](void *self, unsigned int msr) {
				return static_cast<PtShell *>(self)->read(msr);
			},
			[](void *self, unsigned int msr, unsigned long long value) {
				static_cast<PtShell *>(self)->write(msr, value);
			},
			[](void *self, unsigned long from, unsigned long to) {
				static_cast<PtShell *>(self)->copy(from, to);
			},
			[](void *self, unsigned long offset, unsigned long size,
			   unsigned long long flags) {
				static_cast<PtShell *>(self)->records.push_back(
					{offset, size, flags});
			},
		};

		buffer = std::make_unique<Buffer>(memory, orders, overwrite, single_entry);
		for (unsigned long at = 0; at < buffer->output.size; at += PT_PAGE_SIZE)
			pages.push_back(&buffer->byte(memory, at));
		storage.resize(pt_unit_size() / sizeof(std::uint64_t) + 1);
		pt_unit_init(unit(), &ops, this, &features);
		shell_init(&world, &buffer->output, pages.data(),
			   pt_config_ctl(PT_CTL_PTWEN | PT_CTL_TSCEN, 0, 1),
			   buffer->output.size / 2);
	}

	~PtShell() override
	{
		struct pt_unit_counts counts;

		pt_unit_counts(unit(), &counts);
		EXPECT_EQ(counts.faults, 0U);
		EXPECT_EQ(shell_warning(), nullptr) << shell_warning();
		EXPECT_FALSE(shell_busy());
	}

	pt_unit *unit()
	{
		return reinterpret_cast<pt_unit *>(storage.data());
	}

	bool traces()
	{
		unsigned long long ctl = 0;

		pt_unit_read(unit(), PT_MSR_CTL, &ctl);
		return ctl & PT_CTL_TRACEEN;
	}

	/* The task runs for a while. */
	void run(unsigned int ptwrites)
	{
		pt_unit_enter(unit(), ip, 0x1000, PT_UNIT_64);
		while (ptwrites--) {
			pt_unit_retired retired = {};

			retired.kind = PT_UNIT_PTWRITE;
			retired.instructions = 1;
			retired.ip = ip;
			retired.next = retired.to = ip = ip + 5;
			retired.payload = next++;
			retired.payload_size = 8;
			retired.mode = PT_UNIT_64;
			pt_unit_retire(unit(), &retired);
			if (!interrupts || held_off)
				continue;
			pt_unit_leave(unit(), PT_UNIT_ASYNC, ip, 0);
			interrupts = 0;
			shell_interrupt();
			pt_unit_enter(unit(), ip, 0x1000, PT_UNIT_64);
		}
		pt_unit_leave(unit(), PT_UNIT_ASYNC, ip, 0);
	}

	/* Called at every access to a register, but not from within itself. */
	std::function<void()> nmi;

	Memory memory;
	std::unique_ptr<Buffer> buffer;
	std::vector<void *> pages;
	std::vector<std::uint64_t> storage;
	std::uint64_t time = 1000000;
	std::uint64_t ip = 0x400000;
	std::uint64_t next = 1;
	unsigned int interrupts = 0;
	bool held_off = false; /* PMIs do not come yet */
	std::vector<Record> records;
	std::vector<unsigned int> msrs; /* those written, in their order */
	unsigned int reads = 0;
	unsigned int copies = 0;

    private:
	void nest()
	{
		if (!nmi || nested)
			return;
		nested = true;

		const std::function<void()> now = nmi;

		now();
		nested = false;
	}

	unsigned long long read(unsigned int msr)
	{
		unsigned long long value = 0;

		nest();
		EXPECT_FALSE(msr != PT_MSR_STATUS && traces()) << "read while it moves";
		EXPECT_EQ(pt_unit_read(unit(), msr, &value), 0);
		reads++;
		nest();
		return value;
	}

	void write(unsigned int msr, unsigned long long value)
	{
		nest();
		EXPECT_EQ(pt_unit_write(unit(), msr, value), 0) << std::hex << msr;
		if (msr == PT_MSR_CTL && value & PT_CTL_TRACEEN) {
			EXPECT_TRUE(shell_open()) << "tracing without a transaction";
		}
		msrs.push_back(msr);
		nest();
	}

	void copy(unsigned long from, unsigned long to)
	{
		EXPECT_FALSE(traces()) << "copied while tracing";
		EXPECT_LE(to - from, buffer->output.size);
		copies++;
	}

	bool nested = false;
};

TEST_F(PtShell, StartRunStop)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	EXPECT_TRUE(traces());
	run(10);
	shell_del();
	EXPECT_FALSE(traces());
	ASSERT_EQ(records.size(), 1U);
	EXPECT_GT(records[0].size, 100U);
	EXPECT_EQ(records[0].flags, 0U);
	EXPECT_EQ(shell_head(), records[0].size);
}

/* What is not needed costs, at every switch of tasks. */
TEST_F(PtShell, ASwitchIsTwoWritesAndARead)
{
	make({2, 2}, false);
	EXPECT_EQ(shell_add(), 0);
	for (unsigned int round = 0; round < 20; round++) {
		run(5);
		msrs.clear();
		reads = 0;
		shell_del();
		EXPECT_EQ(shell_add(), 0);
		EXPECT_EQ(msrs, (std::vector<unsigned int>{PT_MSR_CTL, PT_MSR_CTL}));
		EXPECT_EQ(reads, 1U);
		shell_read_to(shell_head());
	}
}

/* What another trace has lost at the same place is not for this one to tell. */
TEST_F(PtShell, ArrivingOnACpuBehindAnotherTrace)
{
	const auto writes_of_base = [&] {
		return std::count(msrs.begin(), msrs.end(), PT_MSR_OUTPUT_BASE);
	};

	make({2, 2}, false);
	EXPECT_EQ(shell_add(), 0);
	EXPECT_EQ(writes_of_base(), 2) << "the first start";
	run(5);
	shell_del();
	/* Back on its own, with what it has lost itself. */
	shell_move(1, 0);
	msrs.clear();
	EXPECT_EQ(shell_add(), 0);
	EXPECT_EQ(writes_of_base(), 0);
	shell_del();
	shell_move(2, 1);
	msrs.clear();
	EXPECT_EQ(shell_add(), 0);
	EXPECT_EQ(writes_of_base(), 2);
	EXPECT_EQ(std::count(msrs.begin(), msrs.end(), PT_MSR_STATUS), 0) << "it has no gap";
	shell_del();
}

TEST_F(PtShell, AFullBuffer)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	run(4000);
	EXPECT_FALSE(traces());
	EXPECT_TRUE(shell_stopped());
	EXPECT_FALSE(shell_open());
	EXPECT_GT(shell_disabled(), 0U);
	EXPECT_EQ(records.back().flags, static_cast<unsigned long long>(SHELL_TRUNCATED));
	EXPECT_EQ(shell_head(), buffer->output.size);
	/* The core switches it out, and it cannot come in again before it is read. */
	shell_del();
	EXPECT_EQ(shell_add(), -EINVAL);
	shell_read_to(shell_head());
	msrs.clear();
	EXPECT_EQ(shell_add(), 0);
	EXPECT_EQ(msrs.front(), PT_MSR_STATUS) << "no PSB behind the gap";
	shell_del();
}

TEST_F(PtShell, RoomThatHardwareCannotStopIn)
{
	make({1, 1}, false);
	EXPECT_EQ(shell_add(), 0);
	run(900);
	shell_del();
	/* The second region is begun; what is free ends within the first. */
	shell_read_to(0);
	while (shell_head() < buffer->output.size * 3 / 4) {
		ASSERT_EQ(shell_add(), 0);
		run(100);
		shell_del();
	}
	shell_read_to(100);
	records.clear();
	shell_add();
	run(2000);
	shell_del();
	EXPECT_EQ(records.back().flags, static_cast<unsigned long long>(SHELL_TRUNCATED));
	/* Now in the first region, which ends behind what has not been read. */
	shell_read_to(buffer->output.size / 2 + 100);
	records.clear();
	EXPECT_EQ(shell_add(), 0);
	run(2000);
	EXPECT_EQ(shell_head(), buffer->output.size * 3 / 2);
	shell_del();
	records.clear();
	EXPECT_EQ(shell_add(), -EINVAL);
	EXPECT_EQ(records.size(), 1U);
	EXPECT_EQ(records[0].size, 0U);
	EXPECT_EQ(records[0].flags, static_cast<unsigned long long>(SHELL_TRUNCATED));
}

TEST_F(PtShell, StartsAndStopsThatAreOutOfTurn)
{
	make({0, 0}, false);
	shell_interrupt();
	EXPECT_FALSE(traces());
	shell_pause();
	shell_resume();
	EXPECT_FALSE(traces());
	EXPECT_EQ(shell_add(), 0);
	EXPECT_EQ(shell_add(), -EBUSY);
	shell_start();
	EXPECT_TRUE(traces());
	run(3);
	shell_stop(1);
	shell_stop(1);
	shell_stop(0);
	EXPECT_FALSE(traces());
	EXPECT_FALSE(shell_open());
	shell_interrupt();
	EXPECT_FALSE(traces());
	shell_start();
	shell_start();
	EXPECT_TRUE(traces());
	shell_del();
	shell_del();
	EXPECT_FALSE(traces());
	EXPECT_EQ(records.size(), 1U) << "the second one was empty";
}

TEST_F(PtShell, PauseAndResume)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	run(3);
	shell_pause();
	EXPECT_FALSE(traces());
	EXPECT_TRUE(shell_open());
	run(100);
	shell_interrupt();
	EXPECT_FALSE(traces()) << "an interrupt is no resume";
	shell_resume();
	EXPECT_TRUE(traces());
	shell_pause();
	shell_del();
	EXPECT_EQ(shell_add(), 0);
	EXPECT_FALSE(traces()) << "still paused";
	shell_resume();
	EXPECT_TRUE(traces());
	shell_del();
	EXPECT_FALSE(traces());
}

/* The stop has come, its interrupt not yet: a resume sees to it. */
TEST_F(PtShell, ResumeAfterAStop)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	pt_unit_enter(unit(), ip, 0x1000, PT_UNIT_64);
	for (unsigned int at = 0; at < 2000; at++) {
		pt_unit_retired retired = {};

		retired.kind = PT_UNIT_PTWRITE;
		retired.instructions = 1;
		retired.ip = ip;
		retired.next = retired.to = ip = ip + 5;
		retired.payload_size = 8;
		retired.mode = PT_UNIT_64;
		pt_unit_retire(unit(), &retired);
	}
	pt_unit_leave(unit(), PT_UNIT_ASYNC, ip, 0);
	shell_pause();
	shell_resume();
	EXPECT_FALSE(traces());
	EXPECT_TRUE(shell_stopped());
	EXPECT_EQ(records.back().flags, static_cast<unsigned long long>(SHELL_TRUNCATED));
	EXPECT_EQ(shell_head(), buffer->output.size);
	shell_interrupt();
	shell_del();
}

/* A PMI in the middle of a pause is not forgotten. */
TEST_F(PtShell, AnInterruptThatHasToWait)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	held_off = true;
	run(500);
	nmi = [this] {
		nmi = nullptr;
		shell_interrupt();
	};
	shell_pause();
	EXPECT_EQ(records.size(), 1U);
	EXPECT_GE(shell_head(), PT_PAGE_SIZE);
	EXPECT_FALSE(traces());
	shell_del();
}

TEST_F(PtShell, VmxOperation)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	run(3);
	shell_vmx(1);
	EXPECT_FALSE(traces());
	run(100);
	shell_del();
	ASSERT_EQ(records.size(), 1U);
	EXPECT_EQ(records[0].flags, static_cast<unsigned long long>(SHELL_PARTIAL));
	/* From beginning to end without a trace: told, and no data are claimed. */
	EXPECT_EQ(shell_add(), 0);
	EXPECT_FALSE(traces());
	run(100);
	shell_del();
	ASSERT_EQ(records.size(), 2U);
	EXPECT_EQ(records[1].flags, static_cast<unsigned long long>(SHELL_PARTIAL));
	EXPECT_EQ(records[1].size, 0U);
	EXPECT_EQ(shell_add(), 0);
	shell_vmx(0);
	EXPECT_TRUE(traces());
	run(3);
	shell_del();
	EXPECT_GT(records[2].size, 0U);
	EXPECT_EQ(records[2].flags, static_cast<unsigned long long>(SHELL_PARTIAL));
}

TEST_F(PtShell, Snapshot)
{
	make({1, 0, 0}, true);
	EXPECT_EQ(shell_snapshot(512), 0) << "nothing is open";
	EXPECT_EQ(shell_add(), 0);
	for (unsigned int round = 0; round < 100; round++) {
		run(77);
		EXPECT_EQ(shell_snapshot(512), 512);
		EXPECT_TRUE(traces());
	}
	/* Stopped, but open: a sample of an event that goes off later. */
	shell_stop(0);
	EXPECT_FALSE(traces());
	EXPECT_EQ(shell_snapshot(512), 512);
	EXPECT_FALSE(traces());
	shell_start();
	EXPECT_TRUE(traces());
	shell_del();
	EXPECT_FALSE(traces());
	EXPECT_FALSE(shell_open());
	EXPECT_EQ(copies, 101U);
	EXPECT_TRUE(records.empty()) << "overwriting alone says nothing";
}

TEST_F(PtShell, EmergencyStop)
{
	make({0, 0}, false);
	shell_emergency();
	EXPECT_EQ(shell_add(), 0);
	shell_emergency();
	EXPECT_FALSE(traces());
	EXPECT_FALSE(shell_open());
}

/* In the middle of anything: TraceEn is clear from there on. */
TEST_F(PtShell, EmergencyStopWithin)
{
	make({0, 0}, false);
	EXPECT_EQ(shell_add(), 0);
	nmi = [this] {
		if (shell_busy())
			shell_emergency();
		EXPECT_FALSE(shell_busy() && traces());
	};
	shell_stop(1);
	nmi = nullptr;
	EXPECT_FALSE(traces());
}

/*
 * Switches, runs, pauses and readers at random, and an NMI at any register: in the end
 * TraceEn is what is wanted, every byte is in one record, and nothing has faulted.
 */
class PtShellNmi : public PtShell {
    protected:
	void torture(bool overwrite)
	{
		const char *seed = std::getenv("PERFRING_SEED");
		std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 0) : 4711);
		bool added = false;
		unsigned long told = 0, last = 0;

		nmi = [&random, overwrite] {
			switch (random() % 8) {
			case 0:
				shell_pause();
				break;
			case 1:
				shell_resume();
				break;
			case 2:
				shell_interrupt();
				break;
			case 3:
				if (overwrite)
					shell_snapshot(256);
				break;
			}
		};
		for (unsigned int step = 0; step < 30000; step++) {
			const auto what = static_cast<unsigned int>(random() % 6);

			if (what == 0 && !added)
				added = shell_add() == 0;
			else if (what == 1 && added)
				shell_del(), added = false;
			else if (what == 2)
				run(static_cast<unsigned int>(random() % 300));
			else if (what == 3 && !overwrite)
				shell_read_to(shell_head());
			else if (what == 4)
				shell_resume();
			else if (what == 5 && overwrite)
				shell_snapshot(128);
			/* An NMI could have come behind the last access. */
			EXPECT_FALSE(shell_busy());
			EXPECT_EQ(traces(), added && !shell_stopped() && !shell_paused()) << step;
			EXPECT_EQ(shell_open(), added && !shell_stopped()) << step;
		}
		nmi = nullptr;
		if (added)
			shell_del();
		for (const Record &record : records) {
			if (!record.size)
				continue;
			EXPECT_EQ(record.offset, last);
			last = record.offset + record.size;
			told += record.size;
		}
		if (!overwrite) {
			EXPECT_EQ(told, shell_head());
		}
	}
};

TEST_F(PtShellNmi, FullMode)
{
	make({0, 1, 0}, false);
	torture(false);
}

TEST_F(PtShellNmi, FullModeTablesOfOneEntry)
{
	make({0, 1, 0}, false, true);
	torture(false);
}

TEST_F(PtShellNmi, OverwriteMode)
{
	make({0, 1, 0}, true);
	torture(true);
}

} // namespace
