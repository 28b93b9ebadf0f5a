// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that poll each other's eventfds.
 *
 * This test will check that a completion which signals an eventfd that another ring
 * polls, which then signals its own, and so on, loses no signal on the way. The kernel
 * refuses, with a warning in its log, to signal inside of another eventfd's wakeup.
 */
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

#define RINGS	8
#define ROUNDS	200	/* of all variants */
#define SHARES	4

FIXTURE(nested) {
	struct io_uring first;
	struct io_uring ring[RINGS];
	int fd[RINGS + 1];	/* the ring that polls one signals the next */
};

FIXTURE_VARIANT(nested) {
	unsigned int flags;
	unsigned int sqe_flags;	/* of the request that starts it */
};

FIXTURE_VARIANT_ADD(nested, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(nested, plain_from_io_wq) {
	.flags = 0, .sqe_flags = IOSQE_ASYNC,
};

FIXTURE_VARIANT_ADD(nested, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(nested, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_SETUP(nested)
{
	unsigned int flags = variant->flags;
	int i;

	self->fd[0] = evfd_new();
	ASSERT_EQ(0, evfd_ring(&self->first, 0));
	ASSERT_EQ(0, io_uring_register_eventfd(&self->first, self->fd[0]));
	for (i = 0; i < RINGS; i++) {
		flags = evfd_setup_ring(_metadata, &self->ring[i], flags);
		self->fd[i + 1] = evfd_new();
		ASSERT_LE(0, self->fd[i + 1]);
		ASSERT_EQ(0, io_uring_register_eventfd(&self->ring[i], self->fd[i + 1]));
	}
}

FIXTURE_TEARDOWN(nested)
{
	int i;

	io_uring_queue_exit(&self->first);
	for (i = 0; i < RINGS; i++)
		io_uring_queue_exit(&self->ring[i]);
	for (i = 0; i <= RINGS; i++)
		close(self->fd[i]);
}

TEST_F_TIMEOUT(nested, signal_goes_through, EVFD_TIMEOUT)
{
	unsigned int i, j, rounds = evfd_rounds(ROUNDS, SHARES);

	for (i = 0; i < rounds; i++) {
		for (j = 0; j < RINGS; j++)
			ASSERT_EQ(0, evfd_poll(&self->ring[j], self->fd[j], false));
		ASSERT_EQ(0, evfd_nops(&self->first, 1, variant->sqe_flags));
		/* They work by themselves, but for those of DEFER_TASKRUN. */
		for (j = 0; j < RINGS; j++)
			ASSERT_EQ(1, evfd_reap_n(&self->ring[j], 1));
		/* Not before: an SQPOLL ring may come late to its poll. */
		for (j = 0; j <= RINGS; j++)
			ASSERT_LE(1, evfd_wait(self->fd[j]));
		ASSERT_EQ(1, evfd_reap_n(&self->first, 1));
		/* More than one signal may belong to a CQE. */
		evfd_settle();
		for (j = 0; j <= RINGS; j++)
			evfd_take(self->fd[j]);
	}
}

TEST_HARNESS_MAIN
