/* SPDX-License-Identifier: GPL-2.0 */
#define DECLARE_STATIC_CALL(name, function) extern __typeof__(function) name
#define static_call(name) (name)
