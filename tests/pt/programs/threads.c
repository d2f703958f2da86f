// SPDX-License-Identifier: GPL-2.0
/*
 * Four threads at work. What each of them does in this file is always the same,
 * however they meet in the library's locks; only the first waits for the others.
 */
#include "count.h"

#include <pthread.h>
#include <stdint.h>

#define THREADS 4
#define ROUNDS	60

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

static __attribute__((noinline)) uint32_t next(uint32_t state)
{
	if (state & 1)
		state = state >> 1 ^ 0xedb88320;
	else
		state >>= 1;
	return state;
}

static void *work(void *seed)
{
	uint32_t state = (uint32_t)(uintptr_t)seed;

	for (int i = 0; i < ROUNDS; i++) {
		for (unsigned int j = 0; j < (state & 15); j++)
			state = next(state) + 1;
		pthread_mutex_lock(&lock);
		sum += state;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 12345)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	PRINT_ENTRIES(work, THREADS);
	return 0;
}
