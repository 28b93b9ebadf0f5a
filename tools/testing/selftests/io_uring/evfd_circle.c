// SPDX-License-Identifier: GPL-2.0
/*
 * Rings poll the eventfd that they signal, their own or each other's.
 *
 * This test will check that those which wait for each other neither hang nor go round
 * for ever, and that none is left when they are closed.
 */
#include <errno.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

/*
 * All CQEs until no more come, or -ETIME: a wakeup that comes from the ring itself must end
 * even a multishot poll, at the latest when the CQ is full.
 */
static int reap_until_quiet(struct io_uring *ring)
{
	int i, n, sum = 0;

	for (i = 0; i < 16; i++) {
		n = evfd_reap(ring);
		sum += n;
		evfd_settle();
		if (!n)
			return sum;
	}
	return -ETIME;
}

FIXTURE(circle) {
	struct io_uring ring;
	unsigned int flags;
	int first;	/* number that an eventfd gets before fd is made */
	int fd;
};

FIXTURE_VARIANT(circle) {
	unsigned int flags;
	bool multishot;
};

FIXTURE_VARIANT_ADD(circle, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(circle, plain_multishot) {
	.flags = 0, .multishot = true,
};

FIXTURE_VARIANT_ADD(circle, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(circle, coop_taskrun_multishot) {
	.flags = IORING_SETUP_COOP_TASKRUN, .multishot = true,
};

FIXTURE_VARIANT_ADD(circle, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(circle, defer_taskrun_multishot) {
	.flags = IORING_SETUP_DEFER_TASKRUN, .multishot = true,
};

FIXTURE_SETUP(circle)
{
	self->flags = evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->first = evfd_next_id();
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
}

FIXTURE_TEARDOWN(circle)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
}

/* A completion signals the eventfd that the ring itself waits for. */
TEST_F(circle, ring_polls_its_own_eventfd)
{
	ASSERT_EQ(0, evfd_poll(&self->ring, self->fd, variant->multishot));
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_LE(1, reap_until_quiet(&self->ring));
	EXPECT_EQ(0, io_uring_unregister_eventfd(&self->ring));
}

/* The same from outside: the wakeup that has to defer is the eventfd's own. */
TEST_F(circle, write_to_its_own_eventfd)
{
	ASSERT_EQ(0, evfd_poll(&self->ring, self->fd, variant->multishot));
	ASSERT_EQ(0, evfd_add(self->fd));
	EXPECT_LE(1, reap_until_quiet(&self->ring));
	/* One from here, one or more of the ring. */
	EXPECT_LE(2, evfd_take(self->fd));
	EXPECT_EQ(0, io_uring_unregister_eventfd(&self->ring));
}

/* Nothing may be left that waits for itself. */
TEST_F(circle, ring_closed_while_it_polls_itself)
{
	ASSERT_EQ(0, evfd_poll(&self->ring, self->fd, variant->multishot));
	io_uring_queue_exit(&self->ring);
	close(self->fd);
	EXPECT_TRUE(evfd_freed(self->first));
	ASSERT_EQ(0, evfd_ring(&self->ring, 0));
}

TEST_F(circle, two_rings_poll_each_other)
{
	struct io_uring second;
	int fd = evfd_new();
	int i;

	ASSERT_EQ(0, evfd_ring(&second, self->flags));
	ASSERT_EQ(0, io_uring_register_eventfd(&second, fd));
	ASSERT_EQ(0, evfd_poll(&self->ring, fd, variant->multishot));
	ASSERT_EQ(0, evfd_poll(&second, self->fd, variant->multishot));
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	/* The nop, then in turn what each ring saw of the other. */
	for (i = 0; i < 16; i++) {
		int n = reap_until_quiet(&self->ring), m = reap_until_quiet(&second);

		ASSERT_LE(0, n);
		ASSERT_LE(0, m);
		if (!n && !m)
			break;
	}
	EXPECT_LE(1, i);
	EXPECT_GT(16, i);
	EXPECT_LE(1, evfd_take(self->fd));
	EXPECT_LE(1, evfd_take(fd));
	io_uring_queue_exit(&second);
	close(fd);
}

TEST_HARNESS_MAIN
