// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>

#include "cursor.h"

void put_number(struct cursor *in, const char *name, size_t size)
{
	fprintf(in->out, " %s=%llu", name, (unsigned long long)take(in, size));
}

void put_hex(struct cursor *in, const char *name, size_t size)
{
	fprintf(in->out, " %s=%#llx", name, (unsigned long long)take(in, size));
}

void put_name(struct cursor *in, const char *name, enum name_kind kind, size_t size)
{
	fprintf(in->out, " %s=", name);
	print_name(in->out, kind, take_loose(in, size));
}

void put_presence(struct cursor *in, const char *name, size_t size)
{
	fprintf(in->out, " %s=", name);
	print_presence(in->out, take_loose(in, size));
}

/* A kernel address is loose, a user one is not: only the value tells. */
void put_address(struct cursor *in, const char *name)
{
	size_t start = in->at;
	uint64_t address = take(in, 8);

	if (is_kernel_address(address) && in->loose && !in->overrun)
		memset(in->loose + start, 1, 8);
	if (name)
		fprintf(in->out, " %s=", name);
	print_address(in->out, address);
}

void put_bytes(struct cursor *in, const char *name, size_t size)
{
	const uint8_t *bytes = take_bytes(in, size, false);

	fprintf(in->out, " %s=", name);
	for (size_t i = 0; bytes && i < size; i++)
		fprintf(in->out, "%02x", bytes[i]);
}

static void put_char(FILE *out, uint8_t c)
{
	if (isgraph(c) && c != '\\' && c != '"')
		fputc(c, out);
	else
		fprintf(out, "\\%02x", c);
}

void put_text(struct cursor *in, const char *name, size_t size)
{
	const uint8_t *text = take_bytes(in, size, false);
	size_t length;

	if (!text)
		return;
	length = strnlen((const char *)text, size);
	fprintf(in->out, " %s=\"", name);
	for (size_t i = 0; i < length; i++)
		put_char(in->out, text[i]);
	fprintf(in->out, "\"+%zu", size - length);
	for (size_t i = length; i < size; i++) {
		if (text[i])
			fprintf(in->out, " pad[%zu]=%02x", i, text[i]);
	}
}
