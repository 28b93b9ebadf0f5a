// SPDX-License-Identifier: GPL-2.0
/*
 * Registration and requests in flight.
 *
 * This test will check that to register and to unregister an eventfd waits for
 * no request, however many are pending. A kernel that waits for them never comes back,
 * and one that waits for anything at all is interrupted by a timer now and then.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

#define CYCLES	20	/* of register and unregister */
#define TICKS	50	/* of the timer */
#define ALARM	3	/* s: the end of a test that was never to wait */

enum pending { NOTHING, ONE_READ, ONE_READ_IO_WQ, POLLS, TIMEOUTS, ALL };

FIXTURE(pending) {
	struct io_uring ring;
	int pipe[2];
	char byte;
	unsigned int n;	/* requests in flight */
	int fd;
};

FIXTURE_VARIANT(pending) {
	unsigned int flags;
	enum pending pending;
};

FIXTURE_VARIANT_ADD(pending, nothing) {
	.pending = NOTHING,
};

FIXTURE_VARIANT_ADD(pending, one_read) {
	.pending = ONE_READ,
};

FIXTURE_VARIANT_ADD(pending, one_read_io_wq) {
	.pending = ONE_READ_IO_WQ,
};

FIXTURE_VARIANT_ADD(pending, hundred_polls) {
	.pending = POLLS,
};

FIXTURE_VARIANT_ADD(pending, timeouts) {
	.pending = TIMEOUTS,
};

FIXTURE_VARIANT_ADD(pending, all) {
	.pending = ALL,
};

FIXTURE_VARIANT_ADD(pending, all_coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN, .pending = ALL,
};

FIXTURE_VARIANT_ADD(pending, all_defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN, .pending = ALL,
};

FIXTURE_VARIANT_ADD(pending, all_sqpoll) {
	.flags = IORING_SETUP_SQPOLL, .pending = ALL,
};

static void pend_reads(struct io_uring *ring, int fd, char *byte, unsigned int sqe_flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_read(sqe, fd, byte, 1, -1);
	sqe->flags = sqe_flags;
}

static void pend_polls(struct io_uring *ring, int fd, unsigned int n)
{
	while (n--)
		io_uring_prep_poll_add(io_uring_get_sqe(ring), fd, POLLIN);
}

static void pend_timeouts(struct io_uring *ring, unsigned int n)
{
	static struct __kernel_timespec hour = { .tv_sec = 3600 };

	while (n--)
		io_uring_prep_timeout(io_uring_get_sqe(ring), &hour, 0, 0);
}

FIXTURE_SETUP(pending)
{
	bool all = variant->pending == ALL;

	evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pipe(self->pipe));

	if (all || variant->pending == ONE_READ)
		pend_reads(&self->ring, self->pipe[0], &self->byte, 0);
	if (variant->pending == ONE_READ_IO_WQ)
		pend_reads(&self->ring, self->pipe[0], &self->byte, IOSQE_ASYNC);
	if (all || variant->pending == POLLS)
		pend_polls(&self->ring, self->pipe[0], 100);
	if (all || variant->pending == TIMEOUTS)
		pend_timeouts(&self->ring, 10);
	self->n = io_uring_sq_ready(&self->ring);
	ASSERT_EQ(self->n, io_uring_submit(&self->ring));
	/* Until the thread of an SQPOLL ring has taken them. */
	while (io_uring_sq_ready(&self->ring))
		usleep(100);
	alarm(ALARM);
}

FIXTURE_TEARDOWN(pending)
{
	alarm(0);
	close(self->pipe[1]);
	io_uring_queue_exit(&self->ring);
	close(self->pipe[0]);
	close(self->fd);
}

TEST_F(pending, register_returns)
{
	int i;

	for (i = 0; i < CYCLES; i++) {
		ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	}
	/* All requests are still there. */
	EXPECT_EQ(0, evfd_reap(&self->ring));
}

TEST_F(pending, register_async_returns)
{
	int i;

	for (i = 0; i < CYCLES; i++) {
		ASSERT_EQ(0, io_uring_register_eventfd_async(&self->ring, self->fd));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	}
	EXPECT_EQ(0, evfd_reap(&self->ring));
}

/* A request older than the registration signals like any other. */
TEST_F(pending, request_signals_afterwards)
{
	if (variant->pending == NOTHING || variant->pending == TIMEOUTS)
		SKIP(return, "there is nothing that this test could complete");
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	EXPECT_EQ(0, evfd_take(self->fd));
	ASSERT_EQ(1, write(self->pipe[1], "x", 1));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_LE(1, evfd_reap_n(&self->ring, 1));
}

/* One that completes while no eventfd is registered does not signal. */
TEST_F(pending, request_completes_unregistered)
{
	if (variant->pending == NOTHING || variant->pending == TIMEOUTS)
		SKIP(return, "there is nothing that this test could complete");
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(1, write(self->pipe[1], "x", 1));
	EXPECT_LE(1, evfd_reap_n(&self->ring, 1));
	EXPECT_EQ(0, evfd_take_late(self->fd));
}

static int ticks;

static void tick(int sig)
{
	__atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
}

static bool ticking(void)
{
	return __atomic_load_n(&ticks, __ATOMIC_RELAXED) < TICKS;
}

/* A signal each millisecond, without SA_RESTART. */
static int start_ticking(timer_t *timer)
{
	const struct itimerspec ms = { { 0, 1000000 }, { 0, 1000000 } };
	const struct sigaction act = { .sa_handler = tick };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };

	ticks = 0;
	if (sigaction(SIGUSR1, &act, NULL) || timer_create(CLOCK_MONOTONIC, &event, timer) ||
	    timer_settime(*timer, 0, &ms, NULL))
		return -errno;
	return 0;
}

TEST_F(pending, register_is_never_interrupted)
{
	timer_t timer;
	int ret = 0;

	ASSERT_EQ(0, start_ticking(&timer));
	while (ticking() && !ret) {
		ret = io_uring_register_eventfd(&self->ring, self->fd);
		if (!ret)
			ret = io_uring_unregister_eventfd(&self->ring);
	}
	timer_delete(timer);
	EXPECT_EQ(0, ret);
}

/* A ring that is not enabled yet has no requests to wait for. */
TEST(restrictions_and_enable_are_never_interrupted)
{
	struct io_uring_restriction res = {
		.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_NOP,
	};
	struct io_uring ring;
	timer_t timer;
	int fd, ret;

	ret = evfd_ring(&ring, IORING_SETUP_R_DISABLED);
	if (ret == -EINVAL)
		SKIP(return, "this kernel has no disabled rings");
	ASSERT_EQ(0, ret);
	io_uring_queue_exit(&ring);
	alarm(ALARM);
	ASSERT_EQ(0, start_ticking(&timer));
	while (ticking() && !ret) {
		do {
			ret = evfd_ring(&ring, IORING_SETUP_R_DISABLED);
		} while (ret == -EINTR);
		if (ret)
			break;
		fd = ring.ring_fd;
		ret = io_uring_register(fd, IORING_REGISTER_RESTRICTIONS, &res, 1);
		if (!ret)
			ret = io_uring_register(fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
		io_uring_queue_exit(&ring);
	}
	timer_delete(timer);
	EXPECT_EQ(0, ret);
}

TEST_HARNESS_MAIN
