/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets, byte by byte (SDM volume 3, "Packet Definitions"). Each function puts one
 * at `at` and returns the end of it; Last IP is the only memory.
 */
#ifndef HWTRACING_EMU_PT_ENCODER_HH
#define HWTRACING_EMU_PT_ENCODER_HH

#include <cstdint>

#include "pt_unit.h"

namespace pt_emu {

enum class IpPacket : std::uint8_t {
	tip = 0x0d,
	pge = 0x11,
	pgd = 0x01,
	fup = 0x1d,
};

enum class Event : std::uint8_t {
	interrupt = 1, /* and exceptions */
};

enum class EventData : std::uint8_t {
	fault_address = 0, /* CR2 */
};

class Encoder {
    public:
	using Byte = std::uint8_t;

	static constexpr unsigned int long_tnt_bits = 47;
	static constexpr unsigned int short_tnt_bits = 6;

	/* What decoders know of earlier addresses, which may be nothing. */
	void forget_ip()
	{
		last_ip_known = false;
	}

	Byte *psb(Byte *at)
	{
		for (int i = 0; i < 8; i++)
			at = two(at, 0x02, 0x82);
		/*
		 * Last IP is 0 from here on, but perf looks at the next address before it
		 * has forgotten the last one: no less than the whole address will do.
		 */
		forget_ip();
		return at;
	}

	static Byte *psb_end(Byte *at)
	{
		return two(at, 0x02, 0x23);
	}

	static Byte *overflow(Byte *at)
	{
		return two(at, 0x02, 0xf3);
	}

	static Byte *trace_stop(Byte *at)
	{
		return two(at, 0x02, 0x83);
	}

	Byte *ip(Byte *at, IpPacket kind, std::uint64_t to)
	{
		const std::uint64_t differs = last_ip_known ? to ^ last_ip : ~0ULL;
		const auto code = static_cast<unsigned int>(kind);

		last_ip = to;
		last_ip_known = true;
		if (!(differs >> 16))
			return number<2>(byte(at, code | 1 << 5), to);
		if (!(differs >> 32))
			return number<4>(byte(at, code | 2 << 5), to);
		if (sign_extended_48(to))
			return number<6>(byte(at, code | 3 << 5), to);
		return number<8>(byte(at, code | 6 << 5), to);
	}

	/* TIP.PGD that does not say where. */
	static Byte *pgd_without_ip(Byte *at)
	{
		return byte(at, static_cast<unsigned int>(IpPacket::pgd));
	}

	/* The oldest of @count results is the highest bit; any count up to 47. */
	static Byte *tnt(Byte *at, std::uint64_t bits, unsigned int count)
	{
		if (count == long_tnt_bits) {
			bits |= 1ULL << long_tnt_bits;
			return number<6>(two(at, 0x02, 0xa3), bits);
		}
		while (count) {
			const unsigned int now = count < short_tnt_bits ? count : short_tnt_bits;
			const std::uint64_t these = bits >> (count - now) & ((1U << now) - 1);

			at = byte(at, static_cast<unsigned int>(1U << now | these) << 1);
			count -= now;
		}
		return at;
	}

	/* @interruptible: RFLAGS.IF, for traces with events; else false. */
	static Byte *mode_exec(Byte *at, pt_unit_mode mode, bool interruptible)
	{
		const unsigned int exec = mode == PT_UNIT_64 ? 1 : mode == PT_UNIT_32 ? 2 : 0;

		return two(at, 0x99, exec | (interruptible ? 4 : 0));
	}

	static Byte *pip(Byte *at, std::uint64_t cr3)
	{
		return number<6>(two(at, 0x02, 0x43), cr3 >> 5 << 1);
	}

	static Byte *tsc(Byte *at, std::uint64_t time)
	{
		return number<7>(byte(at, 0x19), time);
	}

	/* @ctc: of the crystal, 16 bits. @fast: TSC ticks since its last tick, 9 bits. */
	static Byte *tma(Byte *at, std::uint64_t ctc, std::uint64_t fast)
	{
		at = number<2>(two(at, 0x02, 0x73), ctc);
		return number<2>(byte(at, 0), fast & 0x1ff);
	}

	static Byte *mtc(Byte *at, std::uint64_t ctc_bits)
	{
		return two(at, 0x59, static_cast<unsigned int>(ctc_bits & 0xff));
	}

	static Byte *cbr(Byte *at, unsigned int ratio)
	{
		return two(two(at, 0x02, 0x03), ratio & 0xff, 0);
	}

	static Byte *cyc(Byte *at, std::uint64_t cycles)
	{
		const auto low = static_cast<unsigned int>(cycles & 0x1f);

		cycles >>= 5;
		at = byte(at, low << 3 | (cycles ? 4 : 0) | 3);
		while (cycles) {
			const auto seven = static_cast<unsigned int>(cycles & 0x7f);

			cycles >>= 7;
			at = byte(at, seven << 1 | (cycles ? 1 : 0));
		}
		return at;
	}

	/* What a CFE behind it is about. */
	static Byte *event_data(Byte *at, EventData type, std::uint64_t payload)
	{
		return number<8>(byte(two(at, 0x02, 0x53), static_cast<unsigned int>(type)),
				 payload);
	}

	/* With_ip: a FUP of its own follows. */
	static Byte *event(Byte *at, Event type, unsigned int vector, bool with_ip)
	{
		at = two(at, 0x02, 0x13);
		return two(at, static_cast<unsigned int>(type) | (with_ip ? 0x80 : 0), vector);
	}

	/* Into a C-state, 1 to 15, that software has asked for; C1 is 0 in the packet. */
	static Byte *power_entry(Byte *at, unsigned int c_state)
	{
		return two(two(at, 0x02, 0x22), 0, (c_state - 1) << 4);
	}

	/* Execution has stopped. */
	static Byte *execution_stop(Byte *at)
	{
		return two(at, 0x02, 0x62);
	}

	/* Out of a C-state, which was the deepest as well, by an interrupt. */
	static Byte *power_exit(Byte *at, unsigned int c_state)
	{
		const unsigned int state = c_state - 1;

		return number<5>(two(at, 0x02, 0xa2), state | state << 4 | 1U << 8);
	}

	/* @size: 4 or 8. With_ip: a FUP follows. */
	static Byte *ptw(Byte *at, std::uint64_t payload, unsigned int size, bool with_ip)
	{
		const unsigned int ip_bit = with_ip ? 0x80 : 0;

		if (size == 4)
			return number<4>(two(at, 0x02, 0x12 | ip_bit), payload);
		return number<8>(two(at, 0x02, 0x32 | ip_bit), payload);
	}

    private:
	static Byte *byte(Byte *at, unsigned int value)
	{
		*at = static_cast<Byte>(value);
		return at + 1;
	}

	static Byte *two(Byte *at, unsigned int first, unsigned int second)
	{
		const auto both = static_cast<std::uint16_t>(first | second << 8);

		__builtin_memcpy(at, &both, sizeof(both));
		return at + 2;
	}

	/* Little-endian, as the machine. Not a byte behind the last one is touched. */
	template <unsigned int n> static Byte *number(Byte *at, std::uint64_t value)
	{
		__builtin_memcpy(at, &value, n);
		return at + n;
	}

	static bool sign_extended_48(std::uint64_t address)
	{
		return static_cast<std::uint64_t>(static_cast<std::int64_t>(address << 16) >> 16) ==
		       address;
	}

	std::uint64_t last_ip;
	bool last_ip_known;
};

} // namespace pt_emu

#endif
