/* SPDX-License-Identifier: GPL-2.0 */
/* Takes a record apart from front to back and never reads beyond its end. */
#ifndef PARITY_CURSOR_H
#define PARITY_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

struct cursor {
	FILE *out;
	const uint8_t *bytes;
	uint8_t *loose;		/* may be NULL */
	size_t at, end;
	bool overrun;		/* a field lay beyond the end */
};

static inline size_t left(const struct cursor *in)
{
	return in->end - in->at;
}

/* Takes @size bytes, which the text will show literally unless @loose. */
static inline const uint8_t *take_bytes(struct cursor *in, size_t size, bool loose)
{
	const uint8_t *bytes = in->bytes + in->at;

	if (size > left(in)) {
		in->overrun = true;
		in->at = in->end;
		return NULL;
	}
	if (loose && in->loose)
		memset(in->loose + in->at, 1, size);
	in->at += size;
	return bytes;
}

static inline uint64_t take_number(struct cursor *in, size_t size, bool loose)
{
	const uint8_t *bytes = take_bytes(in, size, loose);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

static inline uint64_t take(struct cursor *in, size_t size)
{
	return take_number(in, size, false);
}

static inline uint64_t take_loose(struct cursor *in, size_t size)
{
	return take_number(in, size, true);
}

/* Fields that print themselves as " name=text". */
void put_number(struct cursor *in, const char *name, size_t size);
void put_hex(struct cursor *in, const char *name, size_t size);
void put_name(struct cursor *in, const char *name, enum name_kind kind, size_t size);
void put_presence(struct cursor *in, const char *name, size_t size);
void put_address(struct cursor *in, const char *name);
void put_bytes(struct cursor *in, const char *name, size_t size);
/* Text with its NUL and whatever pads it up to @size. */
void put_text(struct cursor *in, const char *name, size_t size);

#endif
