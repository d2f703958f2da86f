/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PARITY_SELF_TEST_H
#define PARITY_SELF_TEST_H

/* 0 if every damage to a record shows in its text, else 1. */
int self_test(void);

#endif
