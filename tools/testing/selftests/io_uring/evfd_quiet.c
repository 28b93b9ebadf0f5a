// SPDX-License-Identifier: GPL-2.0
/*
 * The two ways of asking for fewer signals: IORING_CQ_EVENTFD_DISABLED and
 * IORING_REGISTER_EVENTFD_ASYNC.
 *
 * This test will check that what must not signal does not, that all else does, and
 * that the first belongs to the ring and the second to the registration.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "evfd_signal.h"

TEST_F(signal, disabled)
{
	ASSERT_EQ(0, io_uring_cq_eventfd_toggle(&self->ring, false));
	ASSERT_EQ(0, evfd_nops(&self->ring, 4, 0));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	EXPECT_EQ(5, evfd_reap_n(&self->ring, 5));
	EXPECT_EQ(0, evfd_take_late(self->fd));
	ASSERT_EQ(0, io_uring_cq_eventfd_toggle(&self->ring, true));
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
}

/* The bit belongs to the ring and not to the registration. */
TEST_F(signal, disabled_survives_registration)
{
	ASSERT_EQ(0, io_uring_cq_eventfd_toggle(&self->ring, false));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	EXPECT_EQ(0, evfd_take_late(self->fd));
}

/* Inline completions, and those in the task, do not signal. */
TEST_F(signal, async)
{
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, io_uring_register_eventfd_async(&self->ring, self->fd));
	ASSERT_EQ(0, evfd_nops(&self->ring, 4, 0));
	ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
	ASSERT_EQ(0, evfd_add(self->polled));
	EXPECT_EQ(5, evfd_reap_n(&self->ring, 5));
	EXPECT_EQ(0, evfd_take_late(self->fd));
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, IOSQE_ASYNC));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	/* The mode goes with the registration. */
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	evfd_take_late(self->fd);
	ASSERT_EQ(0, evfd_nops(&self->ring, 1, 0));
	EXPECT_LE(1, evfd_wait(self->fd));
}

TEST_F(signal, async_regular_file)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	int file = memfd_create("evfd", MFD_CLOEXEC);
	char byte;

	ASSERT_EQ(1, write(file, "x", 1));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, io_uring_register_eventfd_async(&self->ring, self->fd));
	io_uring_prep_read(sqe, file, &byte, 1, 0);
	sqe->flags = IOSQE_ASYNC;
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	EXPECT_LE(1, evfd_wait(self->fd));
	EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
	close(file);
}

TEST_HARNESS_MAIN
