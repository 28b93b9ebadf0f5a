// SPDX-License-Identifier: GPL-2.0
/*
 * A signal that cannot be sent at once, because the ring was told of its work
 * inside the wakeup of another eventfd, is left to an RCU callback.
 *
 * This test will check that it arrives once, whatever happens to the registration,
 * the ring and the eventfd meanwhile.
 */
#include <errno.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

FIXTURE(deferred) {
	struct io_uring ring;
	unsigned int flags;
	int first;	/* number that an eventfd gets before fd is made */
	int polled;
	int fd;
};

FIXTURE_VARIANT(deferred) {
	unsigned int flags;
};

/* Here the signal comes with the CQE, in task work: there is nothing to defer. */
FIXTURE_VARIANT_ADD(deferred, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(deferred, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(deferred, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(deferred)
{
	self->flags = evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->polled = evfd_new();
	ASSERT_LE(0, self->polled);
	self->first = evfd_next_id();
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(deferred)
{
	io_uring_queue_exit(&self->ring);
	close(self->polled);
	close(self->fd);
}

TEST_F(deferred, arrives_once)
{
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	EXPECT_EQ(1, evfd_wait_all(self->fd, 1));
	EXPECT_EQ(1, evfd_reap(&self->ring));
}

/*
 * To unregister may run the work, and the CQE signals too: it is there if so. What
 * comes afterwards is no longer the business of the eventfd.
 */
TEST_F(deferred, arrives_once_after_unregister)
{
	unsigned int posted;

	if (!(self->flags & IORING_SETUP_DEFER_TASKRUN))
		SKIP(return, "such a ring signals when its task runs, not in the wakeup");
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	posted = io_uring_cq_ready(&self->ring);
	EXPECT_EQ(1 + posted, evfd_wait_all(self->fd, 1 + posted));
	EXPECT_EQ(1, evfd_reap(&self->ring));
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	EXPECT_EQ(1, evfd_reap(&self->ring));
	EXPECT_EQ(0, evfd_take_late(self->fd));
}

/* A kernel that waits for the poll before it unregisters never comes back. */
TEST_F_TIMEOUT(deferred, nothing_is_signalled_for_work_after_unregister, 10)
{
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, evfd_add(self->polled));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	EXPECT_EQ(0, evfd_take_late(self->fd));
}

/* Several wakeups before the callback: at least one signal, at most one for each. */
TEST_F(deferred, many_wakeups)
{
	int fds[8], i;
	eventfd_t count;

	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	for (i = 0; i < 8; i++) {
		fds[i] = evfd_new();
		ASSERT_EQ(0, evfd_poll(&self->ring, fds[i], false));
	}
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, evfd_add(fds[i]));
	count = evfd_wait_all(self->fd, 1);
	EXPECT_LE(1, count);
	EXPECT_GE(8, count);
	EXPECT_EQ(8, evfd_reap_n(&self->ring, 8));
	for (i = 0; i < 8; i++)
		close(fds[i]);
}

/* The callback of the first signal is over, so the second needs one of its own. */
TEST_F(deferred, again_after_the_callback)
{
	int i;

	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, evfd_add(self->polled));
		ASSERT_EQ(1, evfd_wait_all(self->fd, 1));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		evfd_take_late(self->fd);
		evfd_take(self->polled);
	}
}

/* The old eventfd gets the old signal, the new one those that follow. */
TEST_F(deferred, another_eventfd_registered_meanwhile)
{
	int other = evfd_new();
	unsigned int posted;

	if (!(self->flags & IORING_SETUP_DEFER_TASKRUN))
		SKIP(return, "such a ring signals when its task runs, not in the wakeup");
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	posted = io_uring_cq_ready(&self->ring);
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, other));
	EXPECT_EQ(1 + posted, evfd_wait_all(self->fd, 1 + posted));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	evfd_take(other);
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	EXPECT_EQ(1, evfd_wait_all(other, 1));
	EXPECT_EQ(0, evfd_take(self->fd));
	close(other);
}

/* Also the polled eventfd may go before the callback comes. */
TEST_F(deferred, polled_eventfd_closed_meanwhile)
{
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	close(self->polled);
	EXPECT_EQ(1, evfd_wait_all(self->fd, 1));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
}

/* No file stands for the eventfd any more: the signal goes nowhere, safely. */
TEST_F(deferred, closed_before_unregister)
{
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	close(self->fd);
	ASSERT_EQ(0, evfd_add(self->polled));
	evfd_settle();
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	ASSERT_EQ(0, evfd_nops(&self->ring, 3, 0));
	EXPECT_EQ(3, evfd_reap_n(&self->ring, 3));
	EXPECT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
	EXPECT_TRUE(evfd_freed(self->first));
}

/* Whether or not the signal still arrives, the ring's end releases the eventfd. */
TEST_F(deferred, ring_closed_meanwhile)
{
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	io_uring_queue_exit(&self->ring);
	EXPECT_GE(2, evfd_take_late(self->fd));
	close(self->fd);
	EXPECT_TRUE(evfd_freed(self->first));
	/* For the teardown. */
	ASSERT_EQ(0, evfd_ring(&self->ring, 0));
}

TEST_F(deferred, many_rings_closed_meanwhile)
{
	struct io_uring ring;
	int i, fd;

	close(self->fd);
	for (i = 0; i < 40; i++) {
		fd = evfd_new();
		ASSERT_EQ(0, evfd_ring(&ring, self->flags));
		ASSERT_EQ(0, io_uring_register_eventfd(&ring, fd));
		ASSERT_EQ(0, evfd_poll(&ring, self->polled, false));
		ASSERT_EQ(0, evfd_add(self->polled));
		close(fd);
		io_uring_queue_exit(&ring);
		evfd_take(self->polled);
	}
	EXPECT_TRUE(evfd_freed(self->first));
}

/* Each ring has a registration, so each has a signal of its own to deliver. */
TEST_F(deferred, two_rings_one_eventfd)
{
	struct io_uring second;

	ASSERT_EQ(0, evfd_ring(&second, self->flags));
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, io_uring_register_eventfd(&second, self->fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_poll(&second, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	EXPECT_EQ(2, evfd_wait_all(self->fd, 2));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	EXPECT_EQ(1, evfd_reap_n(&second, 1));
	evfd_take_late(self->fd);
	/* The one that stays registered is not affected by the other. */
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, evfd_nops(&second, 1, 0));
	EXPECT_EQ(1, evfd_wait_all(self->fd, 1));
	io_uring_queue_exit(&second);
}

TEST_HARNESS_MAIN
