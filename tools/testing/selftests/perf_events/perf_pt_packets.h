/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of Intel PT, as far as the tests ask: which one it is, how long, and the address
 * in it. SDM volume 3, "Trace Packets and Data Types".
 */
#ifndef PERF_PT_PACKETS_H
#define PERF_PT_PACKETS_H

#include "perf_ring_test.h"

#include <inttypes.h>

#define PT_PSB_BYTES 16

enum pt_packet {
	PT_PAD, PT_TNT, PT_PSB, PT_PSBEND, PT_OVF, PT_CBR, PT_TMA, PT_PIP,
	PT_TRACESTOP, PT_PTW, PT_TSC, PT_MTC, PT_MODE, PT_CYC, PT_CFE, PT_EVD,
	PT_PWRE, PT_EXSTOP, PT_PWRX, PT_TIP, PT_TIP_PGE, PT_TIP_PGD, PT_FUP,
	PT_PACKETS, /* how many kinds */
	PT_CUT, /* the bytes end within it */
	PT_BAD, /* it is none */
};

struct pt_walk {
	const uint8_t *bytes;
	size_t size, at; /* of the next packet */
	uint64_t last_ip;
	/* Of the packet that has been met last. */
	size_t place;
	bool has_ip;
	uint64_t ip;
	/* Since the beginning. */
	uint64_t seen[PT_PACKETS];
};

static inline uint64_t pt_bytes(const uint8_t *from, unsigned int nr)
{
	uint64_t value = 0;

	memcpy(&value, from, nr);
	return value;
}

/* An address is given by its low bytes, as far as it differs from the one before. */
static inline bool pt_address(struct pt_walk *walk, const uint8_t *packet)
{
	const uint8_t *from = packet + 1;

	switch (packet[0] >> 5) {
	case 0: /* it is not told */
		return true;
	case 1:
		walk->ip = (walk->last_ip & ~0xffffULL) | pt_bytes(from, 2);
		break;
	case 2:
		walk->ip = (walk->last_ip & ~0xffffffffULL) | pt_bytes(from, 4);
		break;
	case 3: /* sign-extended */
		walk->ip = (uint64_t)((int64_t)(pt_bytes(from, 6) << 16) >> 16);
		break;
	case 4:
		walk->ip = (walk->last_ip & ~0xffffffffffffULL) |
			   pt_bytes(from, 6);
		break;
	case 6:
		walk->ip = pt_bytes(from, 8);
		break;
	default:
		return false;
	}
	walk->last_ip = walk->ip;
	walk->has_ip = true;
	return true;
}

static inline size_t pt_address_bytes(uint8_t first)
{
	static const uint8_t bytes[] = { 1, 3, 5, 7, 7, 1, 9, 1 };

	return bytes[first >> 5];
}

/* Packets of two bytes and more that begin with 2. */
static inline enum pt_packet pt_extended(uint8_t second, size_t *length)
{
	switch (second) {
	case 0x82:
		*length = PT_PSB_BYTES;
		return PT_PSB;
	case 0x23:
		*length = 2;
		return PT_PSBEND;
	case 0xf3:
		*length = 2;
		return PT_OVF;
	case 0xa3:
		*length = 8;
		return PT_TNT;
	case 0x03:
		*length = 4;
		return PT_CBR;
	case 0x73:
		*length = 7;
		return PT_TMA;
	case 0x43:
		*length = 8;
		return PT_PIP;
	case 0x83:
		*length = 2;
		return PT_TRACESTOP;
	case 0x13:
		*length = 4;
		return PT_CFE;
	case 0x53:
		*length = 11;
		return PT_EVD;
	case 0x22:
		*length = 4;
		return PT_PWRE;
	case 0x62:
	case 0xe2:
		*length = 2;
		return PT_EXSTOP;
	case 0xa2:
		*length = 7;
		return PT_PWRX;
	default:
		break;
	}
	if ((second & 0x1f) != 0x12 || (second >> 5 & 3) > 1)
		return PT_BAD;
	*length = second & 0x20 ? 10 : 6;
	return PT_PTW;
}

static inline enum pt_packet pt_kind(const uint8_t *packet, size_t left,
				     size_t *length)
{
	const uint8_t first = packet[0];

	*length = 1;
	if (!first)
		return PT_PAD;
	if (first == 2) {
		if (left < 2)
			return PT_CUT;
		return pt_extended(packet[1], length);
	}
	if (!(first & 1))
		return PT_TNT;
	if ((first & 3) == 3) {
		bool more = first & 4;

		while (more && *length < left)
			more = packet[(*length)++] & 1;
		return more ? PT_CUT : PT_CYC;
	}
	*length = first == 0x19 ? 8 : 2;
	if (first == 0x19)
		return PT_TSC;
	if (first == 0x59)
		return PT_MTC;
	if (first == 0x99)
		return PT_MODE;
	*length = pt_address_bytes(first);
	switch (first & 0x1f) {
	case 0x0d:
		return PT_TIP;
	case 0x11:
		return PT_TIP_PGE;
	case 0x01:
		return PT_TIP_PGD;
	case 0x1d:
		return PT_FUP;
	default:
		return PT_BAD;
	}
}

static inline bool pt_is_psb(const uint8_t *packet)
{
	for (int i = 0; i < PT_PSB_BYTES; i += 2)
		if (packet[i] != 0x02 || packet[i + 1] != 0x82)
			return false;
	return true;
}

/* The next packet; PT_CUT where the bytes end, within one or behind the last. */
static inline enum pt_packet pt_next(struct pt_walk *walk)
{
	const uint8_t *packet = walk->bytes + walk->at;
	size_t left = walk->size - walk->at, length;
	enum pt_packet kind;

	walk->has_ip = false;
	walk->place = walk->at;
	if (!left)
		return PT_CUT;
	kind = pt_kind(packet, left, &length);
	if (kind == PT_BAD || kind == PT_CUT)
		return kind;
	if (left < length)
		return PT_CUT;
	if (kind == PT_PSB) {
		if (!pt_is_psb(packet))
			return PT_BAD;
		walk->last_ip = 0;
	}
	if (kind >= PT_TIP && !pt_address(walk, packet))
		return PT_BAD;
	walk->seen[kind]++;
	walk->at += length;
	return kind;
}

/* The first PSB at or behind this byte; false: there is none. */
static inline bool pt_seek_psb(struct pt_walk *walk, size_t from)
{
	for (; from + PT_PSB_BYTES <= walk->size; from++) {
		if (!pt_is_psb(walk->bytes + from))
			continue;
		walk->at = from;
		return true;
	}
	return false;
}

/*
 * All packets, from the first byte to the last. Whoever has lost something may end within
 * a packet; others may not.
 */
static inline void pt_walk_whole(struct pt_walk *walk, bool may_be_cut)
{
	enum pt_packet kind;

	do {
		kind = pt_next(walk);
		if (kind == PT_BAD)
			FAIL("at %zu of %zu bytes is no packet: %02x %02x",
			     walk->place, walk->size, walk->bytes[walk->place],
			     walk->place + 1 < walk->size ?
				     walk->bytes[walk->place + 1] : 0);
	} while (kind != PT_CUT);
	if (walk->place != walk->size && !may_be_cut)
		FAIL("%zu bytes end within a packet at %zu", walk->size,
		     walk->place);
}

#endif /* PERF_PT_PACKETS_H */
