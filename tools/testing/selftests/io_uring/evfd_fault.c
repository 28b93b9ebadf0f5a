// SPDX-License-Identifier: GPL-2.0
/*
 * Eventfds are registered and signalled while the kernel runs out of memory,
 * or cannot copy from or to the user's, at one place after the other.
 *
 * This test will check that each failure has an error that says so, that it leaves
 * behind neither half a state nor any object, and that the next attempt works.
 */
#include <unistd.h>

#include "evfd_fault.h"

/* One nop gives one or more signals: 0 or -errno. */
static int nop_signals(struct io_uring *ring, int fd, bool async)
{
	int ret;

	evfd_take(fd);
	ret = evfd_nops(ring, 1, async ? IOSQE_ASYNC : 0);
	if (ret)
		return ret;
	ret = evfd_wait(fd) ? 0 : -ETIME;
	return evfd_reap_n(ring, 1) == 1 ? ret : -EIO;
}

FIXTURE(eventfd) {
	struct fault fault;
	struct io_uring ring;
	bool async;
	int fd;		/* registered, then closed, in each attempt */
	int polled;
	int first;	/* number that an eventfd gets before the first attempt */
};

FIXTURE_VARIANT(eventfd) {
	unsigned int flags;
	bool async;	/* IORING_REGISTER_EVENTFD_ASYNC */
};

FIXTURE_VARIANT_ADD(eventfd, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(eventfd, plain_async) {
	.flags = 0, .async = true,
};

FIXTURE_VARIANT_ADD(eventfd, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(eventfd, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(eventfd, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(eventfd, defer_taskrun_async) {
	.flags = IORING_SETUP_DEFER_TASKRUN, .async = true,
};

FIXTURE_SETUP(eventfd)
{
	ASSERT_EQ(0, fault_open(&self->fault));
	evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->async = variant->async;
	self->polled = evfd_new();
	ASSERT_LE(0, self->polled);
	/* Paths and the pages behind them that the first call of each would take. */
	self->fd = evfd_new();
	ASSERT_EQ(0, evfd_register(&self->ring, self->fd, self->async));
	ASSERT_EQ(0, nop_signals(&self->ring, self->fd, self->async));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	close(self->fd);
	evfd_settle();
	self->first = evfd_next_id();
	ASSERT_LE(0, self->first);
}

FIXTURE_TEARDOWN(eventfd)
{
	EXPECT_EQ(0, fault_close(&self->fault));
	io_uring_queue_exit(&self->ring);
	close(self->polled);
}

static int register_eventfd(void *arg)
{
	FIXTURE_DATA(eventfd) * self = arg;

	return evfd_register(&self->ring, self->fd, self->async);
}

static int unregister_eventfd(void *arg)
{
	FIXTURE_DATA(eventfd) * self = arg;

	return io_uring_unregister_eventfd(&self->ring);
}

TEST_F_TIMEOUT(eventfd, register_each_place, EVFD_TIMEOUT)
{
	unsigned int nth, failed = 0;
	int ret;

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ret = fault_run(&self->fault, nth, register_eventfd, self);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			failed++;
			EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
			ASSERT_EQ(0, nop_works(&self->ring));
			EXPECT_EQ(0, evfd_take(self->fd));
			ASSERT_EQ(0, register_eventfd(self));
		}
		ASSERT_EQ(-EBUSY, register_eventfd(self));
		ASSERT_EQ(0, nop_signals(&self->ring, self->fd, self->async));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	/* At least the number of the file has to be copied. */
	EXPECT_LT(0, failed);
	EXPECT_TRUE(evfd_freed(self->first));
}

/* Takes nothing, and so must never fail. */
TEST_F_TIMEOUT(eventfd, unregister_each_place, EVFD_TIMEOUT)
{
	unsigned int nth;

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ASSERT_EQ(0, register_eventfd(self));
		ASSERT_EQ(0, fault_run(&self->fault, nth, unregister_eventfd, self)) {
			TH_LOG("place %u", nth);
		}
		EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(evfd_freed(self->first));
}

static int submit(void *arg)
{
	return io_uring_submit(arg);
}

/* EAGAIN: no memory for the request, whose entry is still there. */
static bool submit_errno(int ret)
{
	return fault_errno(ret) || ret == -EAGAIN;
}

/* Whatever fails on the way, a request has one CQE and that its signal. */
TEST_F_TIMEOUT(eventfd, submit_each_place, EVFD_TIMEOUT)
{
	unsigned int nth;
	int ret;

	if (variant->async)
		SKIP(return, "completions of the submitter do not signal here");
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ASSERT_EQ(0, register_eventfd(self));
		io_uring_prep_nop(io_uring_get_sqe(&self->ring));
		ret = fault_run(&self->fault, nth, submit, &self->ring);
		if (ret < 0) {
			ASSERT_TRUE(self->fault.hit && submit_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			ASSERT_EQ(1, io_uring_submit(&self->ring));
		}
		EXPECT_LE(1, evfd_wait(self->fd)) {
			TH_LOG("place %u", nth);
		}
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		EXPECT_EQ(0, evfd_reap(&self->ring));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(evfd_freed(self->first));
}

static int add(void *arg)
{
	return evfd_add(*(int *)arg);
}

/*
 * The signal for what completes inside another eventfd's wakeup, deferred on rings where
 * it has to be, comes once the wakeup has happened.
 */
TEST_F_TIMEOUT(eventfd, wakeup_each_place, EVFD_TIMEOUT)
{
	unsigned int nth;
	int ret;

	if (variant->async)
		SKIP(return, "completions in the task do not signal here");
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ASSERT_EQ(0, register_eventfd(self));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ret = fault_run(&self->fault, nth, add, &self->polled);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			ASSERT_EQ(0, evfd_add(self->polled));
		}
		EXPECT_LE(1, evfd_wait(self->fd)) {
			TH_LOG("place %u", nth);
		}
		/* An SQPOLL ring's thread may see the poll as late as that. */
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		EXPECT_EQ(1, evfd_take(self->polled));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(evfd_freed(self->first));
}

/* A thread's first entry makes all that the kernel keeps for it. */
TEST_F_TIMEOUT(eventfd, first_entry_of_a_thread, EVFD_TIMEOUT)
{
	unsigned int nth, failed = 0;
	int ret;

	if (variant->flags & IORING_SETUP_DEFER_TASKRUN)
		SKIP(return, "one thread alone may enter this ring");
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		io_uring_prep_nop(io_uring_get_sqe(&self->ring));
		ret = fault_run_thread(&self->fault, nth, submit, &self->ring);
		if (ret < 0) {
			ASSERT_TRUE(self->fault.hit && submit_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			failed++;
			ASSERT_EQ(1, io_uring_submit(&self->ring));
		}
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1)) {
			TH_LOG("place %u", nth);
		}
		EXPECT_EQ(0, evfd_reap(&self->ring));
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	TH_LOG("%u places, %u of them fail", nth - 1, failed);
}

TEST_HARNESS_MAIN
