/* SPDX-License-Identifier: GPL-2.0 */
/* A ring of each kind with a registered eventfd, and another eventfd that it may poll. */
#ifndef EVFD_SIGNAL_H
#define EVFD_SIGNAL_H

#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

/* Twice shows that the first time left nothing behind, thrice that this is no toggle. */
#define LOOPS	3

FIXTURE(signal) {
	struct io_uring ring;
	unsigned int flags;
	int polled;
	int fd;
};

FIXTURE_VARIANT(signal) {
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(signal, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(signal, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(signal, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(signal, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_SETUP(signal)
{
	self->flags = evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->polled = evfd_new();
	ASSERT_LE(0, self->polled);
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
}

FIXTURE_TEARDOWN(signal)
{
	io_uring_queue_exit(&self->ring);
	close(self->polled);
	close(self->fd);
}

#endif
