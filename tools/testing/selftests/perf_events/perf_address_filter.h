/* SPDX-License-Identifier: GPL-2.0 */
/* Address filters (PERF_EVENT_IOC_SET_FILTER): which texts are taken, and which are not. */
#ifndef PERF_ADDRESS_FILTER_H
#define PERF_ADDRESS_FILTER_H

static inline int set_filter(int fd, const char *text)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text);
}

static inline void expect_taken(int fd, const char *text)
{
	if (set_filter(fd, text))
		FAIL("\"%s\" is refused with %s", text, strerrorname_np(errno));
}

static inline void expect_refused(int fd, const char *text, int error)
{
	if (!set_filter(fd, text))
		FAIL("\"%.100s\" is accepted, not refused with %s", text,
		     strerrorname_np(error));
	if (errno != error)
		FAIL("\"%.100s\" fails with %s, not with %s", text,
		     strerrorname_np(errno), strerrorname_np(error));
}

#endif /* PERF_ADDRESS_FILTER_H */
