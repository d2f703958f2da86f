// SPDX-License-Identifier: GPL-2.0
/* Which branches are told, byte by byte: none, those that are no matter of a bit, far ones. */
#include "pt_written.hh"

namespace pt_test {
namespace {

constexpr std::uint64_t ip = 0x400000;
constexpr std::uint64_t on = ctl::trace_en | ctl::user;

class PtBranches : public PtWritten {
    protected:
	/* And user mode begins. */
	void start(std::uint64_t control)
	{
		PtWritten::start(control);
		pt_unit_enter(machine.unit(), ip, 0, PT_UNIT_64);
	}
	/* From ip, to @to. */
	void retire(pt_unit_class kind, std::uint64_t to = ip + 0x10,
		    pt_unit_mode mode = PT_UNIT_64)
	{
		const pt_unit_retired retired = {kind, 1, ip, ip + 8, to, 0x11223344, 4, mode};

		pt_unit_retire(machine.unit(), &retired);
	}
	void leave()
	{
		pt_unit_leave(machine.unit(), PT_UNIT_ASYNC, ip, 0);
	}
	std::uint64_t instructions()
	{
		struct pt_unit_counts counts;

		pt_unit_counts(machine.unit(), &counts);
		return counts.instructions;
	}
};

constexpr pt_unit_class all[] = {
	PT_UNIT_SEQUENTIAL,    PT_UNIT_COND_TAKEN, PT_UNIT_COND_NOT_TAKEN,
	PT_UNIT_JUMP,	       PT_UNIT_CALL,	   PT_UNIT_INDIRECT_JUMP,
	PT_UNIT_INDIRECT_CALL, PT_UNIT_RETURN,	   PT_UNIT_FAR,
};

/* SDM volume 3, IA32_RTIT_CTL, BranchEn: no branch, and not where user mode begins and ends. */
TEST_F(PtBranches, WithoutBranchEnThereIsNoneOfThem)
{
	start(on | ctl::ptw_en);
	for (const pt_unit_class kind : all)
		retire(kind);
	leave();
	EXPECT_EQ(news(), Bytes{});
	EXPECT_EQ(instructions(), std::size(all)) << "packets are enabled all the same";
	pt_unit_enter(machine.unit(), ip, 0, PT_UNIT_32);
	retire(PT_UNIT_PTWRITE, ip + 8);
	EXPECT_EQ(news(), (Bytes{0x02, 0x12, 0x44, 0x33, 0x22, 0x11}));
}

/* Where a filter ends, neither. */
TEST_F(PtBranches, WithoutBranchEnAFilterIsNoMatterOfPackets)
{
	ASSERT_TRUE(machine.write(msr::addr0_a, ip));
	ASSERT_TRUE(machine.write(msr::addr0_a + 1, ip + 0xff));
	start(on | ctl::ptw_en | 1ULL << ctl::addr0_cfg_shift);
	retire(PT_UNIT_INDIRECT_JUMP, ip + 0x1000);
	retire(PT_UNIT_PTWRITE, ip + 0x1008);
	EXPECT_EQ(news(), Bytes{}) << "outside";
	retire(PT_UNIT_RETURN, ip);
	retire(PT_UNIT_PTWRITE, ip + 8);
	EXPECT_EQ(news(), (Bytes{0x02, 0x12, 0x44, 0x33, 0x22, 0x11}));
}

/* SDM volume 3, IA32_RTIT_CTL, DisTNT. */
TEST_F(PtBranches, WithoutTntOnlyTargets)
{
	start(on | ctl::branch_en | ctl::dis_tnt | ctl::dis_retc);
	(void)news();
	for (int i = 0; i < 100; i++) {
		retire(PT_UNIT_COND_TAKEN);
		retire(PT_UNIT_COND_NOT_TAKEN, ip + 8);
		retire(PT_UNIT_CALL, ip + 0x20);
	}
	EXPECT_EQ(news(), Bytes{});
	retire(PT_UNIT_INDIRECT_JUMP, ip + 0x10);
	EXPECT_EQ(news(), (Bytes{0x2d, 0x10, 0x00}));
	retire(PT_UNIT_RETURN, ip + 0x20);
	EXPECT_EQ(news(), (Bytes{0x2d, 0x20, 0x00}));
	leave();
	EXPECT_EQ(news(), (Bytes{0x3d, 0x00, 0x00, 0x01}));
}

TEST_F(PtBranches, AFarOneTellsItsMode)
{
	start(on | ctl::branch_en);
	EXPECT_EQ(news(), (Bytes{0x99, 0x01, 0x71, 0x00, 0x00, 0x40, 0, 0, 0}));
	retire(PT_UNIT_COND_TAKEN);
	EXPECT_EQ(news(), Bytes{}) << "there is room for more";
	retire(PT_UNIT_FAR, ip + 0x10, PT_UNIT_32);
	EXPECT_EQ(news(), (Bytes{0x06, 0x99, 0x02, 0x2d, 0x10, 0x00}));
	retire(PT_UNIT_FAR, ip + 0x20, PT_UNIT_64);
	EXPECT_EQ(news(), (Bytes{0x99, 0x01, 0x2d, 0x20, 0x00}));
	/* The same mode once more. */
	retire(PT_UNIT_FAR, ip + 0x30, PT_UNIT_64);
	EXPECT_EQ(news(), (Bytes{0x99, 0x01, 0x2d, 0x30, 0x00}));
}

/* What returns behind it is nobody's who has called before. */
TEST_F(PtBranches, AFarOneForgetsCalls)
{
	start(on | ctl::branch_en);
	(void)news();
	retire(PT_UNIT_CALL, ip + 0x100);
	retire(PT_UNIT_RETURN, ip + 8);
	EXPECT_EQ(news(), Bytes{}) << "a bit";
	retire(PT_UNIT_CALL, ip + 0x100);
	retire(PT_UNIT_FAR, ip + 0x200);
	EXPECT_EQ(news(), (Bytes{0x06, 0x99, 0x01, 0x2d, 0x00, 0x02}));
	retire(PT_UNIT_RETURN, ip + 8);
	EXPECT_EQ(news(), (Bytes{0x2d, 0x08, 0x00}));
}

/* The mode that user mode has come back in. */
TEST_F(PtBranches, EachBeginningTellsTheMode)
{
	start(on | ctl::branch_en);
	leave();
	(void)news();
	pt_unit_enter(machine.unit(), ip, 0, PT_UNIT_32);
	EXPECT_EQ(news(), (Bytes{0x99, 0x02, 0x11 | 1 << 5, 0x00, 0x00}));
}

} // namespace
} // namespace pt_test
