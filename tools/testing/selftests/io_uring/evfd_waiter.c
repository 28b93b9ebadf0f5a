// SPDX-License-Identifier: GPL-2.0
/*
 * Who waits for a registered eventfd: epoll or another ring.
 *
 * This test will check that each signal wakes the waiter, also where it is sent
 * inside of a wakeup.
 */
#include <sys/epoll.h>

#include "evfd_signal.h"

TEST_F(signal, epoll_waiter)
{
	struct epoll_event event = { .events = EPOLLIN };
	int i, ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &event));
	for (i = 0; i < LOOPS; i++) {
		ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
		ASSERT_EQ(1, epoll_wait(ep, &event, 1, EVFD_GIVE_UP));
		ASSERT_LE(1, evfd_take(self->fd));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
	}
	close(ep);
}

TEST_F(signal, edge_triggered_epoll_waiter)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int i, ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &event));
	for (i = 0; i < LOOPS; i++) {
		ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
		ASSERT_EQ(1, epoll_wait(ep, &event, 1, EVFD_GIVE_UP));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
	}
	close(ep);
}

/* A second ring waits for the eventfd of the first. */
TEST_F(signal, io_uring_waiter)
{
	struct io_uring waiter;
	int i;

	ASSERT_EQ(0, evfd_ring(&waiter, 0));
	for (i = 0; i < LOOPS; i++) {
		ASSERT_EQ(0, evfd_poll(&waiter, self->fd, false));
		ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
		ASSERT_EQ(1, evfd_reap_n(&waiter, 1));
		ASSERT_LE(1, evfd_take(self->fd));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		evfd_take_late(self->fd);
	}
	io_uring_queue_exit(&waiter);
}

/* The same inside a wakeup: the first ring is told of its work there. */
TEST_F(signal, io_uring_waiter_for_a_poll)
{
	struct io_uring waiter;
	int i;

	ASSERT_EQ(0, evfd_ring(&waiter, self->flags));
	for (i = 0; i < LOOPS; i++) {
		ASSERT_EQ(0, evfd_poll(&waiter, self->fd, false));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ASSERT_EQ(0, evfd_add(self->polled));
		ASSERT_EQ(1, evfd_reap_n(&waiter, 1));
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		evfd_take(self->polled);
		evfd_take_late(self->fd);
	}
	io_uring_queue_exit(&waiter);
}

TEST_HARNESS_MAIN
