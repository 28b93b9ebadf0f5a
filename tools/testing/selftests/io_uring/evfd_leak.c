// SPDX-License-Identifier: GPL-2.0
/*
 * A ring of IORING_SETUP_DEFER_TASKRUN that polls a second eventfd is told of it
 * inside that eventfd's wakeup. Its own signal must wait there until an RCU
 * callback can send it, and meanwhile the eventfd may be unregistered.
 *
 * This test will check that neither the registration nor the eventfd leaks then:
 * the kernel gives each eventfd the lowest number that is free, so after many
 * rounds a new one must still get a low number.
 */
#include <errno.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

#define ROUNDS	3000

/* Who writes to the polled eventfd. */
enum writer { CALLER, WORKER };

FIXTURE(leak) {
	struct io_uring ring;
	unsigned int rounds;
	long slab;
	int polled;
	int first;	/* number that an eventfd gets before the first round */
};

FIXTURE_VARIANT(leak) {
	unsigned int flags;
	enum writer writer;
	bool async;	/* IORING_REGISTER_EVENTFD_ASYNC */
};

FIXTURE_VARIANT_ADD(leak, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(leak, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(leak, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(leak, defer_taskrun_io_wq_async) {
	.flags = IORING_SETUP_DEFER_TASKRUN, .writer = WORKER, .async = true,
};

FIXTURE_SETUP(leak)
{
	evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->polled = evfd_new();
	ASSERT_LE(0, self->polled);
	self->first = evfd_next_id();
	ASSERT_LE(0, self->first);
	self->slab = evfd_meminfo("SUnreclaim");
	self->rounds = evfd_rounds(ROUNDS, variant->writer == WORKER ? 3 : 1);
	if (self->rounds < 16)
		self->rounds = 16;
}

FIXTURE_TEARDOWN(leak)
{
	io_uring_queue_exit(&self->ring);
	close(self->polled);
}

/* Adds to the polled eventfd; on return all its waiters have been told. */
static int hit(struct io_uring *ring, int polled, enum writer writer)
{
	static const eventfd_t one = 1;
	struct io_uring_sqe *sqe;

	if (writer == CALLER)
		return evfd_add(polled);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe, polled, &one, sizeof(one), 0);
	sqe->flags = IOSQE_ASYNC;
	if (io_uring_submit(ring) != 1)
		return -EIO;
	/* A read waits for the lock under which they are told. */
	return evfd_wait(polled) == 1 ? 0 : -ETIME;
}

/* Takes what a round left behind. */
static int clean(struct io_uring *ring, int polled, enum writer writer)
{
	int n = writer == WORKER ? 2 : 1;

	evfd_take(polled);
	return evfd_reap_n(ring, n) == n ? 0 : -ETIME;
}

/* Other programs may hold an eventfd or two that are new, not one for each round. */
static bool freed(int first, unsigned int rounds)
{
	return evfd_freed(first + rounds / 4);
}

TEST_F_TIMEOUT(leak, unregister_at_once, EVFD_TIMEOUT)
{
	unsigned int i;
	int fd;

	for (i = 0; i < self->rounds; i++) {
		fd = evfd_new();
		ASSERT_EQ(0, evfd_register(&self->ring, fd, variant->async));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, hit(&self->ring, self->polled, variant->writer));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(fd);
		ASSERT_EQ(0, clean(&self->ring, self->polled, variant->writer));
	}
	EXPECT_TRUE(freed(self->first, self->rounds));
	TH_LOG("%u rounds: next eventfd %d -> %d, SUnreclaim %+ld KiB", self->rounds,
	       self->first, evfd_next_id(), evfd_meminfo("SUnreclaim") - self->slab);
}

/* The RCU callback may come before, during or after the unregistration. */
TEST_F_TIMEOUT(leak, unregister_now_and_later, EVFD_TIMEOUT)
{
	unsigned int i, rounds = self->rounds / 6 + 8;
	int fd;

	for (i = 0; i < rounds; i++) {
		fd = evfd_new();
		ASSERT_EQ(0, evfd_register(&self->ring, fd, variant->async));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, hit(&self->ring, self->polled, variant->writer));
		if (i % 2)
			usleep(i * 37 % 12000);
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(fd);
		ASSERT_EQ(0, clean(&self->ring, self->polled, variant->writer));
	}
	EXPECT_TRUE(freed(self->first, rounds));
}

TEST_F_TIMEOUT(leak, unregister_after_the_callback, EVFD_TIMEOUT)
{
	unsigned int i, rounds = 16;
	int fd;

	for (i = 0; i < rounds; i++) {
		fd = evfd_new();
		ASSERT_EQ(0, evfd_register(&self->ring, fd, variant->async));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, hit(&self->ring, self->polled, variant->writer));
		evfd_settle();
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(fd);
		ASSERT_EQ(0, clean(&self->ring, self->polled, variant->writer));
	}
	EXPECT_TRUE(freed(self->first, rounds));
}

/* The registration is the last that holds the eventfd. */
TEST_F_TIMEOUT(leak, closed_before_the_wakeup, EVFD_TIMEOUT)
{
	unsigned int i;
	int fd;

	for (i = 0; i < self->rounds; i++) {
		fd = evfd_new();
		ASSERT_EQ(0, evfd_register(&self->ring, fd, variant->async));
		close(fd);
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, hit(&self->ring, self->polled, variant->writer));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		ASSERT_EQ(0, clean(&self->ring, self->polled, variant->writer));
	}
	EXPECT_TRUE(freed(self->first, self->rounds));
}

/* Always the same eventfd, so that several registrations hold it at a time. */
TEST_F_TIMEOUT(leak, registered_again, EVFD_TIMEOUT)
{
	unsigned int i;
	int fd = evfd_new();

	for (i = 0; i < self->rounds; i++) {
		ASSERT_EQ(0, evfd_register(&self->ring, fd, variant->async));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, hit(&self->ring, self->polled, variant->writer));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		ASSERT_EQ(0, clean(&self->ring, self->polled, variant->writer));
	}
	close(fd);
	EXPECT_TRUE(evfd_freed(self->first));
}

TEST_HARNESS_MAIN
