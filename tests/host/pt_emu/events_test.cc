// SPDX-License-Identifier: GPL-2.0
/* Why user mode has ended, and how the CPU sleeps: byte by byte, with and without branches. */
#include "pt_written.hh"

namespace pt_test {
namespace {

constexpr std::uint64_t ip = 0x400000;
constexpr std::uint64_t with_events = ctl::trace_en | ctl::user | ctl::event_en;
const Bytes pge = {0x99, 0x05, 0x71, 0x00, 0x00, 0x40, 0, 0, 0};

Bytes operator+(Bytes a, const Bytes &b)
{
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

class PtEvents : public PtWritten {
    protected:
	void enter(std::uint64_t at = ip)
	{
		pt_unit_enter(machine.unit(), at, 0, PT_UNIT_64);
	}
	void leave(pt_unit_end end, std::uint64_t at = ip)
	{
		pt_unit_leave(machine.unit(), end, at, 0);
	}
	void event(unsigned int vector)
	{
		ASSERT_TRUE(pt_unit_tells_events(machine.unit()));
		pt_unit_event(machine.unit(), vector, nullptr);
	}
	void fault(unsigned long long address)
	{
		pt_unit_event(machine.unit(), 14, &address);
	}
};

TEST_F(PtEvents, InFrontOfTheEndOfUserMode)
{
	start(with_events | ctl::branch_en);
	enter();
	EXPECT_EQ(news(), pge);
	event(0xec);
	leave(PT_UNIT_ASYNC);
	EXPECT_EQ(news(), (Bytes{0x02, 0x13, 0x01, 0xec, 0x3d, 0x00, 0x00, 0x01}));
	enter();
	(void)news();
	fault(0x123456);
	leave(PT_UNIT_ASYNC);
	EXPECT_EQ(news(), (Bytes{0x02, 0x53, 0x00, 0x56, 0x34, 0x12, 0, 0, 0, 0, 0, 0x02, 0x13,
				 0x01, 14, 0x3d, 0x00, 0x00, 0x01}));
}

TEST_F(PtEvents, BehindTheBranchesBeforeIt)
{
	const pt_unit_retired taken = {PT_UNIT_COND_TAKEN, 1, ip, ip + 2, ip, 0, 0, PT_UNIT_64};

	start(with_events | ctl::branch_en);
	enter();
	pt_unit_retire(machine.unit(), &taken);
	(void)news();
	event(6);
	leave(PT_UNIT_ASYNC);
	EXPECT_EQ(news(), (Bytes{0x06, 0x02, 0x13, 0x01, 6, 0x3d, 0x00, 0x00, 0x01}));
}

/* Each is told once; a system call is none, and neither is what is told too late. */
TEST_F(PtEvents, OnlyWhatWasNoted)
{
	start(with_events | ctl::branch_en);
	for (const pt_unit_end end : {PT_UNIT_ASYNC, PT_UNIT_LATE, PT_UNIT_SYSCALL}) {
		enter();
		(void)news();
		if (end != PT_UNIT_ASYNC)
			event(1);
		leave(end);
		EXPECT_EQ(news(),
			  end == PT_UNIT_SYSCALL ? (Bytes{0x01}) : (Bytes{0x3d, 0x00, 0x00, 0x01}));
	}
	/* In the kernel there is no context of which to tell. */
	EXPECT_FALSE(pt_unit_tells_events(machine.unit()));
}

TEST_F(PtEvents, WithoutBranchesItSaysWhere)
{
	start(with_events | ctl::tsc_en);
	machine.time = 0x1234;
	enter();
	event(3);
	leave(PT_UNIT_ASYNC);
	/* Once for each time that user mode begins, the time. */
	const Bytes where = {0x02, 0x13, 0x81, 3, 0x7d, 0x00, 0x00, 0x40, 0, 0, 0};

	EXPECT_EQ(news(), (Bytes{0x19, 0x34, 0x12, 0, 0, 0, 0, 0}) + where);
}

TEST_F(PtEvents, OutsideOfAFilterNothingSaysWhere)
{
	ASSERT_TRUE(machine.write(msr::addr0_a, 0x1000));
	ASSERT_TRUE(machine.write(msr::addr0_a + 1, 0x1fff));
	start(with_events | ctl::branch_en | 1ULL << ctl::addr0_cfg_shift);
	enter();
	EXPECT_EQ(news(), Bytes{});
	fault(0x77);
	leave(PT_UNIT_ASYNC);
	EXPECT_EQ(news(),
		  (Bytes{0x02, 0x53, 0x00, 0x77, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x13, 0x01, 14}));
}

TEST_F(PtEvents, NotAskedFor)
{
	start(ctl::trace_en | ctl::user | ctl::branch_en);
	EXPECT_FALSE(pt_unit_tells_power(machine.unit()));
	enter();
	EXPECT_FALSE(pt_unit_tells_events(machine.unit()));
	EXPECT_EQ(news(), (Bytes{0x99, 0x01, 0x71, 0x00, 0x00, 0x40, 0, 0, 0}));
	leave(PT_UNIT_ASYNC);
	(void)news();
	pt_unit_sleep(machine.unit(), 1);
	pt_unit_wake(machine.unit());
	EXPECT_EQ(news(), Bytes{});
}

TEST_F(PtEvents, SleepAndWake)
{
	const Bytes time = {0x19, 0x34, 0x12, 0, 0, 0, 0, 0};

	start(ctl::trace_en | ctl::user | ctl::branch_en | ctl::tsc_en | ctl::pwr_evt_en);
	ASSERT_TRUE(pt_unit_tells_power(machine.unit()));
	machine.time = 0x1234;
	/* A wake whose sleep was not traced would be half a story. */
	pt_unit_wake(machine.unit());
	EXPECT_EQ(news(), Bytes{});
	pt_unit_sleep(machine.unit(), 2);
	EXPECT_EQ(news(), time + (Bytes{0x02, 0x22, 0x00, 0x10, 0x02, 0x62}));
	pt_unit_wake(machine.unit());
	EXPECT_EQ(news(), time + (Bytes{0x02, 0xa2, 0x11, 0x01, 0, 0, 0}));
	pt_unit_wake(machine.unit());
	EXPECT_EQ(news(), Bytes{});
	/* Off while asleep: on again it is awake. */
	pt_unit_sleep(machine.unit(), 2);
	machine.write(msr::ctl, 0);
	EXPECT_FALSE(pt_unit_tells_power(machine.unit()));
	machine.write(msr::ctl, ctl::trace_en | ctl::user | ctl::pwr_evt_en);
	(void)news();
	pt_unit_wake(machine.unit());
	EXPECT_EQ(news(), Bytes{});
}

} // namespace
} // namespace pt_test
