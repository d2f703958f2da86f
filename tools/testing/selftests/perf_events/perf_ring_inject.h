/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations of this thread that fail when their turn comes, where the kernel can. */
#ifndef PERF_RING_INJECT_H
#define PERF_RING_INJECT_H

#include "perf_ring_test.h"

#include <fcntl.h>

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define PAGE_FAULTS "/sys/kernel/debug/fail_page_alloc/"
#define SLAB_FAULTS "/sys/kernel/debug/failslab/"

static inline bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool written = fd >= 0 &&
		       write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return written;
}

/* Lets every allocation fail when its turn comes; without noise in the log. */
static inline void arm_fault_injection(void)
{
	if (access(PAGE_FAULTS "min-order", W_OK) || access(FAIL_NTH, W_OK))
		SKIP("the kernel has no fail_page_alloc in debugfs");
	CHECK(write_text(PAGE_FAULTS "min-order", "0"));
	CHECK(write_text(PAGE_FAULTS "ignore-gfp-wait", "N"));
	CHECK(write_text(PAGE_FAULTS "verbose", "0"));
	if (!access(SLAB_FAULTS "ignore-gfp-wait", W_OK)) {
		CHECK(write_text(SLAB_FAULTS "ignore-gfp-wait", "N"));
		CHECK(write_text(SLAB_FAULTS "verbose", "0"));
	}
}

/* From here on the nth allocation fails; returns what to end it with. */
static inline int fail_allocation(unsigned int nth)
{
	int control = open(FAIL_NTH, O_RDWR);
	char text[12] = "";
	int len = snprintf(text, sizeof(text), "%u", nth);

	CHECK_EQ(write(control, text, (size_t)len), len);
	return control;
}

/* No allocation fails any more. Has one? errno stays what it is. */
static inline bool allocation_failed(int control)
{
	int saved = errno;
	char text[12] = "";

	CHECK(pread(control, text, sizeof(text) - 1, 0) > 0);
	CHECK_EQ(pwrite(control, "0", 1, 0), 1);
	close(control);
	errno = saved;
	return !atoi(text);
}

#endif /* PERF_RING_INJECT_H */
