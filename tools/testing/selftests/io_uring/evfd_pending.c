// SPDX-License-Identifier: GPL-2.0
/*
 * Registration of an eventfd, whatever is in flight.
 *
 * This test will check that IORING_REGISTER_EVENTFD, IORING_REGISTER_EVENTFD_ASYNC and
 * IORING_UNREGISTER_EVENTFD return while up to 10,000 requests of one kind are pending
 * that nobody will complete. A kernel that waits for them is interrupted by an alarm.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

#include "../kselftest_harness.h"
#include "evfd.h"

#define CYCLES	5
#define ALARM	3	/* s: calls that were never to wait have been waiting */

enum kind { NOTHING, READS, POLLS, TIMEOUTS, IO_WQ, CHAINS };

FIXTURE(pending) {
	struct io_uring ring;
	char dir[32], fifo[48];
	int pipe[2];
	char byte;
	int fd;
};

FIXTURE_VARIANT(pending) {
	enum kind kind;
	unsigned int n;
};

FIXTURE_VARIANT_ADD(pending, nothing) { .kind = NOTHING, .n = 0, };
FIXTURE_VARIANT_ADD(pending, one_read) { .kind = READS, .n = 1, };
FIXTURE_VARIANT_ADD(pending, thousand_reads) { .kind = READS, .n = 1000, };
FIXTURE_VARIANT_ADD(pending, many_reads) { .kind = READS, .n = 10000, };
FIXTURE_VARIANT_ADD(pending, one_poll) { .kind = POLLS, .n = 1, };
FIXTURE_VARIANT_ADD(pending, thousand_polls) { .kind = POLLS, .n = 1000, };
FIXTURE_VARIANT_ADD(pending, many_polls) { .kind = POLLS, .n = 10000, };
FIXTURE_VARIANT_ADD(pending, one_timeout) { .kind = TIMEOUTS, .n = 1, };
FIXTURE_VARIANT_ADD(pending, thousand_timeouts) { .kind = TIMEOUTS, .n = 1000, };
FIXTURE_VARIANT_ADD(pending, many_timeouts) { .kind = TIMEOUTS, .n = 10000, };
FIXTURE_VARIANT_ADD(pending, one_in_io_wq) { .kind = IO_WQ, .n = 1, };
FIXTURE_VARIANT_ADD(pending, thousand_in_io_wq) { .kind = IO_WQ, .n = 1000, };
FIXTURE_VARIANT_ADD(pending, many_in_io_wq) { .kind = IO_WQ, .n = 10000, };
FIXTURE_VARIANT_ADD(pending, one_chain) { .kind = CHAINS, .n = 1, };
FIXTURE_VARIANT_ADD(pending, thousand_chains) { .kind = CHAINS, .n = 1000, };
FIXTURE_VARIANT_ADD(pending, many_chains) { .kind = CHAINS, .n = 10000, };

static void prep(struct io_uring *ring, enum kind kind, int pipe, const char *fifo, char *byte)
{
	static struct __kernel_timespec hour = { .tv_sec = 3600 };
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	switch (kind) {
	case NOTHING:
		break;
	case READS:
		io_uring_prep_read(sqe, pipe, byte, 1, -1);
		break;
	case POLLS:
		io_uring_prep_poll_add(sqe, pipe, POLLIN);
		break;
	case TIMEOUTS:
		io_uring_prep_timeout(sqe, &hour, 0, 0);
		break;
	case IO_WQ:
		/* Blocks until somebody opens the other end; a few do, the others queue. */
		io_uring_prep_openat(sqe, AT_FDCWD, fifo, O_RDONLY, 0);
		sqe->flags = IOSQE_ASYNC;
		break;
	case CHAINS:
		io_uring_prep_read(sqe, pipe, byte, 1, -1);
		sqe->flags = IOSQE_IO_LINK;
		io_uring_prep_nop(io_uring_get_sqe(ring));
		break;
	}
}

static void tick(int sig)
{
}

FIXTURE_SETUP(pending)
{
	const struct sigaction act = { .sa_handler = tick };
	unsigned int i, ready;

	ASSERT_EQ(0, evfd_ring(&self->ring, 0));
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pipe(self->pipe));
	snprintf(self->dir, sizeof(self->dir), "/tmp/evfd_pending.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->fifo, sizeof(self->fifo), "%s/fifo", self->dir);
	ASSERT_EQ(0, mkfifo(self->fifo, 0600));

	for (i = 1; i <= variant->n; i++) {
		prep(&self->ring, variant->kind, self->pipe[0], self->fifo, &self->byte);
		if (io_uring_sq_space_left(&self->ring) >= 2 && i < variant->n)
			continue;
		ready = io_uring_sq_ready(&self->ring);
		ASSERT_EQ(ready, io_uring_submit(&self->ring));
	}
	ASSERT_EQ(0, sigaction(SIGALRM, &act, NULL));
	alarm(ALARM);
}

FIXTURE_TEARDOWN(pending)
{
	alarm(0);
	io_uring_queue_exit(&self->ring);
	unlink(self->fifo);
	rmdir(self->dir);
	close(self->pipe[0]);
	close(self->pipe[1]);
	close(self->fd);
}

TEST_F(pending, returns)
{
	int i;

	for (i = 0; i < CYCLES; i++) {
		ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		ASSERT_EQ(0, io_uring_register_eventfd_async(&self->ring, self->fd));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	}
	/* All requests are still there. */
	EXPECT_EQ(0, evfd_reap(&self->ring));
}

TEST_HARNESS_MAIN
