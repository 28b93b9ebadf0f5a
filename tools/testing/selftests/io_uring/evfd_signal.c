// SPDX-License-Identifier: GPL-2.0
/*
 * When a registered eventfd is signalled.
 *
 * This test will check that each batch of CQEs posted after the registration
 * returned signals at least once, on each kind of ring and however the requests
 * complete.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "evfd_signal.h"

TEST_F(signal, nops)
{
	static const unsigned int batch[] = { 1, 2, 32, 100 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(batch); i++) {
		ASSERT_EQ(0, evfd_nops(&self->ring, batch[i], 0));
		ASSERT_LE(1, evfd_wait(self->fd));
		ASSERT_EQ(batch[i], evfd_reap_n(&self->ring, batch[i]));
		/* More than one signal may belong to this batch. */
		evfd_take_late(self->fd);
	}
}

TEST_F(signal, chain)
{
	ASSERT_EQ(0, evfd_nops(&self->ring, 6, IOSQE_IO_LINK));
	/* The last of a submission ends the chain. */
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(6, evfd_reap_n(&self->ring, 6));
}

/* The second half of the chain comes with the poll, long after the first. */
TEST_F(signal, chain_that_waits)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);

	io_uring_prep_nop(sqe);
	sqe->flags = IOSQE_IO_LINK;
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_poll_add(sqe, self->polled, POLLIN);
	sqe->flags = IOSQE_IO_LINK;
	io_uring_prep_nop(io_uring_get_sqe(&self->ring));
	ASSERT_EQ(3, io_uring_submit(&self->ring));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	evfd_take_late(self->fd);
	ASSERT_EQ(0, evfd_add(self->polled));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(2, evfd_reap_n(&self->ring, 2));
}

TEST_F(signal, poll)
{
	int i;

	for (i = 0; i < LOOPS; i++) {
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, evfd_add(self->polled));
		ASSERT_LE(1, evfd_wait(self->fd));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		evfd_take(self->polled);
		evfd_take_late(self->fd);
	}
}

TEST_F(signal, poll_multishot)
{
	int i;

	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, true));
	for (i = 0; i < LOOPS; i++) {
		ASSERT_EQ(0, evfd_add(self->polled));
		ASSERT_LE(1, evfd_wait(self->fd));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		evfd_take(self->polled);
		evfd_take_late(self->fd);
	}
}

TEST_F(signal, cancelled_poll)
{
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_poll_cancel(&self->ring));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(2, evfd_reap_n(&self->ring, 2));
}

TEST_F(signal, timeout)
{
	struct __kernel_timespec ms = { .tv_nsec = 1000000 };

	io_uring_prep_timeout(io_uring_get_sqe(&self->ring), &ms, 0, 0);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
}

TEST_F(signal, io_wq)
{
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, IOSQE_ASYNC));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
}

TEST_F(signal, io_wq_pipe)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	int fds[2];
	char byte;

	ASSERT_EQ(0, pipe(fds));
	io_uring_prep_read(sqe, fds[0], &byte, 1, -1);
	sqe->flags = IOSQE_ASYNC;
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_EQ(1, write(fds[1], "x", 1));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	close(fds[0]);
	close(fds[1]);
}

TEST_F(signal, failed_request)
{
	char byte;

	io_uring_prep_read(io_uring_get_sqe(&self->ring), -1, &byte, 1, 0);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
}

/* CQEs that do not fit signal, and so do they when there is room. */
TEST_F(signal, overflowed_cq)
{
	unsigned int i, n = *self->ring.cq.kring_entries + 50;

	for (i = 0; i < n; i += 50)
		ASSERT_EQ(0, evfd_nops(&self->ring, 50, 0));
	EXPECT_LE(1, evfd_wait(self->fd));
	/* All have been posted when the overflow shows, but for a last few of SQPOLL. */
	for (i = 0; i < EVFD_GIVE_UP && !io_uring_cq_has_overflow(&self->ring); i++)
		usleep(1000);
	ASSERT_TRUE(io_uring_cq_has_overflow(&self->ring));
	evfd_take_late(self->fd);
	n = io_uring_cq_ready(&self->ring);
	EXPECT_EQ(*self->ring.cq.kring_entries, n);
	io_uring_cq_advance(&self->ring, n);
	io_uring_enter(self->ring.ring_fd, 0, 0, IORING_ENTER_GETEVENTS, NULL);
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_LE(1, evfd_reap(&self->ring));
}

/* A kernel that waits for RCU at each registration takes its time on a busy host. */
TEST_F_TIMEOUT(signal, eventfd_registered_again, EVFD_TIMEOUT)
{
	int i;

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
		ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
		ASSERT_LE(1, evfd_wait(self->fd));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
	}
}

/* A block device whose queue can be polled, or -1. */
static int open_pollable(void)
{
	char enabled = '0', name[64], path[96];
	int fd = -1, attr;
	glob_t g;
	size_t i;

	if (glob("/sys/block/*/queue/io_poll", 0, NULL, &g))
		return -1;
	for (i = 0; fd < 0 && i < g.gl_pathc; i++) {
		attr = open(g.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		if (read(attr, &enabled, 1) == 1 && enabled == '1' &&
		    sscanf(g.gl_pathv[i], "/sys/block/%63[^/]", name) == 1) {
			snprintf(path, sizeof(path), "/dev/%s", name);
			fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
		}
		close(attr);
	}
	globfree(&g);
	return fd;
}

/* The task that polls the device posts the CQE, and signals. */
TEST(iopoll)
{
	int i, fd = evfd_new(), dev = open_pollable();
	struct io_uring ring;
	void *buf;

	if (dev < 0)
		SKIP(return, "no block device with polled queues, or we may not read it");
	ASSERT_EQ(0, posix_memalign(&buf, 4096, 4096));
	ASSERT_EQ(0, evfd_ring(&ring, IORING_SETUP_IOPOLL));
	ASSERT_EQ(0, io_uring_register_eventfd(&ring, fd));
	for (i = 0; i < LOOPS; i++) {
		io_uring_prep_read(io_uring_get_sqe(&ring), dev, buf, 4096, 0);
		ASSERT_EQ(1, io_uring_submit(&ring));
		ASSERT_EQ(1, evfd_reap_n(&ring, 1));
		ASSERT_LE(1, evfd_wait(fd));
	}
	EXPECT_EQ(0, io_uring_unregister_eventfd(&ring));
	io_uring_queue_exit(&ring);
	close(dev);
	close(fd);
	free(buf);
}

TEST_HARNESS_MAIN
