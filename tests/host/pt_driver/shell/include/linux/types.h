/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHELL_LINUX_TYPES_H
#define SHELL_LINUX_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

#endif
