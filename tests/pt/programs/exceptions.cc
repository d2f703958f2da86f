// SPDX-License-Identifier: GPL-2.0
/* C++ exceptions through several frames with destructors, rethrown, and longjmp(). */
#include "count.h"

#include <csetjmp>
#include <stdexcept>

namespace {

std::jmp_buf back;
unsigned long destroyed, deepest;

struct Guard {
	__attribute__((noinline)) ~Guard()
	{
		destroyed++;
	}
};

__attribute__((noinline)) void descend(int depth, int how)
{
	Guard guard;

	if (depth)
		descend(depth - 1, how);
	else if (how == 0)
		throw std::runtime_error("bottom");
	else
		throw how;
}

__attribute__((noinline)) int rethrow(int how)
{
	try {
		descend(3, how);
	} catch (const std::exception &) {
		throw;
	} catch (int number) {
		return number;
	}
	return -1;
}

#pragma GCC diagnostic ignored "-Winfinite-recursion" // longjmp() ends it
__attribute__((noinline)) void jump(int depth)
{
	if (!depth)
		std::longjmp(back, 1);
	jump(depth - 1);
	deepest++; /* never reached; keeps the call from becoming a jump */
}

} // namespace

int main()
{
	unsigned long caught = 0;

	for (int i = 0; i < 2; i++) {
		try {
			caught += rethrow(i % 2) == 1;
		} catch (const std::runtime_error &) {
			caught++;
		}
		if (!setjmp(back))
			jump(20);
	}
	PRINT_ENTRIES(rethrow, 2);
	PRINT_ENTRIES(descend, 8);
	PRINT_ENTRIES(jump, 42);
	return caught == 2 && destroyed == 8 ? 0 : 1;
}
