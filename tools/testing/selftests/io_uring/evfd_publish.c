// SPDX-License-Identifier: GPL-2.0
/*
 * Requests complete on other CPUs, without the ring's lock, in the very moment in
 * which an eventfd is registered or unregistered: in io-wq, and in the wakeup of an
 * eventfd that another thread writes to.
 *
 * This test will check that all calls succeed and that the eventfd works in the
 * end. What it is really for only a kernel with KASAN, KCSAN or lockdep can see: a
 * registration that is used before it is complete, or after it is gone.
 */
#include <errno.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

#define ROUNDS	6000
#define BURST	4	/* registrations while one batch completes */

FIXTURE(publish) {
	struct io_uring ring;
	struct evfd_poker poker;
	int fd;
};

FIXTURE_VARIANT(publish) {
	unsigned int flags;
	bool async;	/* IORING_REGISTER_EVENTFD_ASYNC */
};

FIXTURE_VARIANT_ADD(publish, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(publish, plain_async) {
	.flags = 0, .async = true,
};

FIXTURE_VARIANT_ADD(publish, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(publish, defer_taskrun_async) {
	.flags = IORING_SETUP_DEFER_TASKRUN, .async = true,
};

FIXTURE_VARIANT_ADD(publish, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_SETUP(publish)
{
	evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, evfd_poker_start(&self->poker));
}

FIXTURE_TEARDOWN(publish)
{
	evfd_poker_stop(&self->poker);
	io_uring_queue_exit(&self->ring);
	close(self->fd);
}

TEST_F_TIMEOUT(publish, while_requests_complete, EVFD_TIMEOUT)
{
	unsigned int i, j, rounds = evfd_rounds(ROUNDS, 5);

	ASSERT_EQ(0, evfd_register_with_a_poll());
	for (i = 0; i < rounds; i++) {
		if (i % 16 == 0) {
			ASSERT_EQ(0, evfd_poll_cancel(&self->ring));
			ASSERT_EQ(0, evfd_poll(&self->ring, self->poker.fd[i / 16 % 2], true));
		}
		ASSERT_EQ(0, evfd_nops(&self->ring, 2, i % 4 ? IOSQE_ASYNC : 0));
		for (j = 0; j < BURST; j++) {
			ASSERT_EQ(0, evfd_register(&self->ring, self->fd, variant->async));
			ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		}
		ASSERT_LE(1, evfd_reap_n(&self->ring, 1));
	}
	/*
	 * Where only the first work signals, whatever is left would be in the way of the last
	 * question: a poll that could not be cancelled just then, and work that the ring did not
	 * come to, as it may run only so much at a time.
	 */
	evfd_poker_halt(&self->poker);
	ASSERT_EQ(0, evfd_poll_cancel(&self->ring));
	for (i = 0; i < 3; i++) {
		evfd_settle();
		while (evfd_reap(&self->ring))
			;
	}
	ASSERT_EQ(0, evfd_register(&self->ring, self->fd, variant->async));
	evfd_take(self->fd);
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, IOSQE_ASYNC));
	EXPECT_LE(1, evfd_wait(self->fd));
}

TEST_HARNESS_MAIN
