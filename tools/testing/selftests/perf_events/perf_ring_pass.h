/* SPDX-License-Identifier: GPL-2.0 */
/* An event's fd on its way to another process. */
#ifndef PERF_RING_PASS_H
#define PERF_RING_PASS_H

#include "perf_ring_test.h"

#include <sys/socket.h>

static inline void send_fd(int via, int fd)
{
	char room[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec byte = { "x", 1 };
	struct msghdr message = {
		.msg_iov = &byte,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(via, &message, 0), 1);
}

static inline int receive_fd(int via)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec into = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &into,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	int fd;

	CHECK_EQ(recvmsg(via, &message, 0), 1);
	CHECK(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

#endif /* PERF_RING_PASS_H */
