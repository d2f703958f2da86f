// SPDX-License-Identifier: GPL-2.0
/* PT packets, byte by byte. */
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "pt_encoder.hh"

namespace pt_test {
namespace {

using pt_emu::Encoder;
using pt_emu::IpPacket;
using Bytes = std::vector<std::uint8_t>;

/* What is put, and that nothing behind it is touched. */
Bytes put(const std::function<std::uint8_t *(std::uint8_t *)> &packet)
{
	std::vector<std::uint8_t> memory(64, 0xee);
	const std::uint8_t *const end = packet(memory.data());
	const auto size = static_cast<std::size_t>(end - memory.data());

	for (std::size_t i = size; i < memory.size(); i++)
		EXPECT_EQ(memory[i], 0xee) << "byte " << i << " of " << size;
	memory.resize(size);
	return memory;
}

TEST(PtPackets, WithoutAddress)
{
	EXPECT_EQ(put(Encoder::psb_end), (Bytes{0x02, 0x23}));
	EXPECT_EQ(put(Encoder::overflow), (Bytes{0x02, 0xf3}));
	EXPECT_EQ(put(Encoder::trace_stop), (Bytes{0x02, 0x83}));
	EXPECT_EQ(put(Encoder::pgd_without_ip), (Bytes{0x01}));
	EXPECT_EQ(put([](auto *at) { return Encoder::mode_exec(at, PT_UNIT_64, false); }),
		  (Bytes{0x99, 0x01}));
	EXPECT_EQ(put([](auto *at) { return Encoder::mode_exec(at, PT_UNIT_32, false); }),
		  (Bytes{0x99, 0x02}));
	EXPECT_EQ(put([](auto *at) { return Encoder::mode_exec(at, PT_UNIT_16, false); }),
		  (Bytes{0x99, 0x00}));
	EXPECT_EQ(put([](auto *at) { return Encoder::mode_exec(at, PT_UNIT_64, true); }),
		  (Bytes{0x99, 0x05}));
	EXPECT_EQ(put([](auto *at) { return Encoder::cbr(at, 30); }), (Bytes{0x02, 0x03, 30, 0}));
	EXPECT_EQ(put([](auto *at) { return Encoder::pip(at, 0x123456789abe0); }),
		  (Bytes{0x02, 0x43, 0xbe, 0x9a, 0x78, 0x56, 0x34, 0x12}));
}

TEST(PtPackets, Time)
{
	EXPECT_EQ(put([](auto *at) { return Encoder::tsc(at, 0xff11223344556677); }),
		  (Bytes{0x19, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
	EXPECT_EQ(put([](auto *at) { return Encoder::tma(at, 0x12345, 0x1fe); }),
		  (Bytes{0x02, 0x73, 0x45, 0x23, 0x00, 0xfe, 0x01}));
	EXPECT_EQ(put([](auto *at) { return Encoder::mtc(at, 0x1a5); }), (Bytes{0x59, 0xa5}));
	EXPECT_EQ(put([](auto *at) { return Encoder::cyc(at, 0); }), (Bytes{0x03}));
	EXPECT_EQ(put([](auto *at) { return Encoder::cyc(at, 31); }), (Bytes{0xfb}));
	EXPECT_EQ(put([](auto *at) { return Encoder::cyc(at, 32); }), (Bytes{0x07, 0x02}));
	EXPECT_EQ(put([](auto *at) { return Encoder::cyc(at, 32 << 7 | 5); }),
		  (Bytes{0x2f, 0x01, 0x02}));
	EXPECT_EQ(put([](auto *at) { return Encoder::cyc(at, ~0ULL); }).size(), 10U);
}

TEST(PtPackets, Branches)
{
	const auto tnt = [](std::uint64_t bits, unsigned int count) {
		return put([&](auto *at) { return Encoder::tnt(at, bits, count); });
	};

	EXPECT_EQ(tnt(1, 1), (Bytes{0x06}));
	EXPECT_EQ(tnt(0, 1), (Bytes{0x04}));
	EXPECT_EQ(tnt(0b101101, 6), (Bytes{0xda}));
	/* The oldest first; higher bits are older still, and told already. */
	EXPECT_EQ(tnt(0b1111'101101'0, 7), (Bytes{0xda, 0x04}));
	EXPECT_EQ(tnt(0x5555'5555'5555'5555, 46).size(), 8U);
	EXPECT_EQ(tnt(~0ULL, 47), (Bytes{0x02, 0xa3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
	EXPECT_EQ(tnt(1, 47), (Bytes{0x02, 0xa3, 0x01, 0x00, 0x00, 0x00, 0x00, 0x80}));
}

TEST(PtPackets, AddressesAreCompressed)
{
	Encoder encoder{};
	const auto ip = [&](IpPacket kind, std::uint64_t to) {
		return put([&](auto *at) { return encoder.ip(at, kind, to); });
	};

	/* Nothing to compress against. */
	encoder.forget_ip();
	EXPECT_EQ(ip(IpPacket::tip, 0x400123), (Bytes{0x6d, 0x23, 0x01, 0x40, 0, 0, 0}));
	EXPECT_EQ(ip(IpPacket::tip, 0x40abcd), (Bytes{0x2d, 0xcd, 0xab}));
	EXPECT_EQ(ip(IpPacket::tip, 0x40abcd), (Bytes{0x2d, 0xcd, 0xab}));
	EXPECT_EQ(ip(IpPacket::pge, 0x12340000), (Bytes{0x51, 0x00, 0x00, 0x34, 0x12}));
	EXPECT_EQ(ip(IpPacket::fup, 0x7fff12340000),
		  (Bytes{0x7d, 0x00, 0x00, 0x34, 0x12, 0xff, 0x7f}));
	EXPECT_EQ(ip(IpPacket::pgd, 0xffffffff81000000),
		  (Bytes{0x61, 0x00, 0x00, 0x00, 0x81, 0xff, 0xff}));
	EXPECT_EQ(ip(IpPacket::tip, 0x00f0123456789abc),
		  (Bytes{0xcd, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 0xf0, 0x00}));
	/* A PSB begins anew. */
	const Bytes psb = put([&](auto *at) { return encoder.psb(at); });

	EXPECT_EQ(psb.size(), 16U);
	for (std::size_t i = 0; i < psb.size(); i++)
		EXPECT_EQ(psb[i], i % 2 ? 0x82 : 0x02);
	EXPECT_EQ(ip(IpPacket::fup, 0x56789abc), (Bytes{0x7d, 0xbc, 0x9a, 0x78, 0x56, 0, 0}));
}

TEST(PtPackets, Values)
{
	EXPECT_EQ(put([](auto *at) { return Encoder::ptw(at, 0x1122334455667788, 4, false); }),
		  (Bytes{0x02, 0x12, 0x88, 0x77, 0x66, 0x55}));
	EXPECT_EQ(put([](auto *at) { return Encoder::ptw(at, 0x1122334455667788, 8, true); }),
		  (Bytes{0x02, 0xb2, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
}

TEST(PtPackets, Events)
{
	using pt_emu::Event;
	using pt_emu::EventData;

	EXPECT_EQ(put([](auto *at) { return Encoder::event(at, Event::interrupt, 3, false); }),
		  (Bytes{0x02, 0x13, 0x01, 0x03}));
	EXPECT_EQ(put([](auto *at) { return Encoder::event(at, Event::interrupt, 0xec, true); }),
		  (Bytes{0x02, 0x13, 0x81, 0xec}));
	EXPECT_EQ(put([](auto *at) {
			  return Encoder::event_data(at, EventData::fault_address,
						     0x1122334455667788);
		  }),
		  (Bytes{0x02, 0x53, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
	/* C1 is 0. */
	EXPECT_EQ(put([](auto *at) { return Encoder::power_entry(at, 1); }),
		  (Bytes{0x02, 0x22, 0x00, 0x00}));
	EXPECT_EQ(put([](auto *at) { return Encoder::power_entry(at, 7); }),
		  (Bytes{0x02, 0x22, 0x00, 0x60}));
	EXPECT_EQ(put(Encoder::execution_stop), (Bytes{0x02, 0x62}));
	EXPECT_EQ(put([](auto *at) { return Encoder::power_exit(at, 3); }),
		  (Bytes{0x02, 0xa2, 0x22, 0x01, 0x00, 0x00, 0x00}));
}

} // namespace
} // namespace pt_test
