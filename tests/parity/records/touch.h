/* SPDX-License-Identifier: GPL-2.0 */
/* What touch.S defines. */
#ifndef PARITY_TOUCH_H
#define PARITY_TOUCH_H

#include <stddef.h>

void touch_pages(unsigned long page, size_t count, unsigned long stack, unsigned long frame);
void read_pages(unsigned long page, size_t count, unsigned long stack, unsigned long frame,
		int fd);

extern const char spin_here[];

#endif
