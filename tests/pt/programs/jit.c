// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is made at run time, in memory that is writable and executable, in memory
 * that is the one or the other, and in memory that is mapped twice. Before code is
 * overwritten, the program sends itself SIGWINCH: who traces it takes a picture then.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 6

typedef unsigned int (*function)(unsigned int);

static unsigned char *emit(unsigned char *at, const char *bytes, unsigned int size)
{
	memcpy(at, bytes, size);
	return at + size;
}

/*
 * Returns its argument plus @steps * 2, by one of three flows: a loop, straight code,
 * or jumps over what would crash.
 */
static void generate(unsigned char *at, unsigned int steps, unsigned int flow)
{
	at = emit(at, "\x89\xf8", 2); /* mov %edi, %eax */
	switch (flow % 3) {
	case 0:
		at = emit(at, "\xb9", 1); /* mov $steps, %ecx */
		at = emit(at, (const char *)&steps, 4);
		at = emit(at, "\x83\xc0\x02", 3); /* add $2, %eax */
		at = emit(at, "\xff\xc9\x75\xf9", 4); /* dec %ecx; jnz to the add */
		break;
	case 1:
		for (unsigned int i = 0; i < steps; i++)
			at = emit(at, "\x83\xc0\x02", 3);
		break;
	case 2:
		for (unsigned int i = 0; i < steps; i++)
			at = emit(at, "\xeb\x02\x0f\x0b\x83\xc0\x02", 7); /* jmp +2; ud2; add */
		break;
	}
	emit(at, "\xc3", 1);
}

static int call(const void *code, unsigned int steps)
{
	function made;

	memcpy(&made, &code, sizeof(made));
	return made(100) == 100 + 2 * steps;
}

int main(void)
{
	int file = memfd_create("code", 0);
	unsigned char *both, *either, *written, *executed;
	int good = 1;

	if (ftruncate(file, 4096))
		return 1;
	both = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	either = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	executed = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		generate(both, i + 2, i);
		mprotect(either, 4096, PROT_READ | PROT_WRITE);
		generate(either, i + 3, i + 1);
		mprotect(either, 4096, PROT_READ | PROT_EXEC);
		generate(written, i + 4, i + 2);
		for (int j = 0; j < 5; j++) {
			good &= call(both, i + 2);
			good &= call(either, i + 3);
			good &= call(executed, i + 4);
		}
		kill(getpid(), SIGWINCH);
	}
	return good ? 0 : 1;
}
