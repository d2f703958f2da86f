/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the decoder need of each other. */
#ifndef PARITY_DECODE_PARTS_H
#define PARITY_DECODE_PARTS_H

#include "cursor.h"
#include "decode.h"

/* read_format, wherever it is embedded */
void put_counts(struct cursor *in, uint64_t read_format);
/* @last: the rule's last_own or last_id */
void put_time(struct cursor *in, const struct time_rule *rule, uint64_t *last);
void put_sample(struct cursor *in, const struct record *record);
/* Everything but samples, without the sample_id at the end. */
void put_sideband(struct cursor *in, const struct record *record);
/* Says if bytes are left over or were missing. */
void put_rest(struct cursor *in);

#endif
