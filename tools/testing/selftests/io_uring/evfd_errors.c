// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations of an eventfd that the kernel refuses.
 *
 * This test will check the error of each, and that it leaves the ring as it was:
 * one without an eventfd takes one afterwards, and one that has an eventfd keeps it.
 */
#include <errno.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"

FIXTURE(refused) {
	struct io_uring ring;
	int fd;
	int pipe[2];
};

/* What the registration's argument points to. */
enum arg { ARG_NULL, ARG_BAD_POINTER, ARG_EVENTFD, ARG_MINUS_ONE, ARG_CLOSED, ARG_PIPE, ARG_RING };

FIXTURE_VARIANT(refused) {
	unsigned int op;
	unsigned int nr;
	enum arg arg;
	int without;	/* the error of a ring that has no eventfd */
	int with;	/* of one that has */
};

FIXTURE_VARIANT_ADD(refused, second) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_EVENTFD, .without = 0, .with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, second_async) {
	.op = IORING_REGISTER_EVENTFD_ASYNC, .nr = 1, .arg = ARG_EVENTFD, .without = 0,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, minus_one) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_MINUS_ONE, .without = -EBADF,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, closed_fd) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_CLOSED, .without = -EBADF,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, closed_fd_async) {
	.op = IORING_REGISTER_EVENTFD_ASYNC, .nr = 1, .arg = ARG_CLOSED, .without = -EBADF,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, pipe) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_PIPE, .without = -EINVAL,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, pipe_async) {
	.op = IORING_REGISTER_EVENTFD_ASYNC, .nr = 1, .arg = ARG_PIPE, .without = -EINVAL,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, the_ring_itself) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_RING, .without = -EINVAL,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, null_pointer) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_NULL, .without = -EFAULT,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, bad_pointer) {
	.op = IORING_REGISTER_EVENTFD, .nr = 1, .arg = ARG_BAD_POINTER, .without = -EFAULT,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, bad_pointer_async) {
	.op = IORING_REGISTER_EVENTFD_ASYNC, .nr = 1, .arg = ARG_BAD_POINTER, .without = -EFAULT,
	.with = -EBUSY,
};

FIXTURE_VARIANT_ADD(refused, no_args) {
	.op = IORING_REGISTER_EVENTFD, .nr = 0, .arg = ARG_EVENTFD, .without = -EINVAL,
	.with = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, two_args) {
	.op = IORING_REGISTER_EVENTFD, .nr = 2, .arg = ARG_EVENTFD, .without = -EINVAL,
	.with = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, two_args_async) {
	.op = IORING_REGISTER_EVENTFD_ASYNC, .nr = 2, .arg = ARG_EVENTFD, .without = -EINVAL,
	.with = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, unregister_args) {
	.op = IORING_UNREGISTER_EVENTFD, .nr = 1, .arg = ARG_NULL, .without = -EINVAL,
	.with = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, unregister_pointer) {
	.op = IORING_UNREGISTER_EVENTFD, .nr = 0, .arg = ARG_EVENTFD, .without = -EINVAL,
	.with = -EINVAL,
};

FIXTURE_VARIANT_ADD(refused, unregister_nothing) {
	.op = IORING_UNREGISTER_EVENTFD, .nr = 0, .arg = ARG_NULL, .without = -ENXIO, .with = 0,
};

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, evfd_ring(&self->ring, 0));
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pipe(self->pipe));
}

FIXTURE_TEARDOWN(refused)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
	close(self->pipe[0]);
	close(self->pipe[1]);
}

static int try(struct io_uring *ring, unsigned int op, enum arg kind, int pipe_fd, unsigned int nr)
{
	int ret, own = evfd_new(), fd = own;
	void *arg = &fd;

	if (kind == ARG_CLOSED)
		close(own);
	if (kind == ARG_NULL)
		arg = NULL;
	else if (kind == ARG_BAD_POINTER)
		arg = (void *)8;
	else if (kind == ARG_MINUS_ONE)
		fd = -1;
	else if (kind == ARG_PIPE)
		fd = pipe_fd;
	else if (kind == ARG_RING)
		fd = ring->ring_fd;
	ret = io_uring_register(ring->ring_fd, op, arg, nr);
	if (kind != ARG_CLOSED)
		close(own);
	return ret;
}

/* The number of signals for one nop. */
static eventfd_t signals(struct io_uring *ring, int fd)
{
	eventfd_t count;

	evfd_take(fd);
	if (evfd_nops(ring, 1, 0))
		return 0;
	count = evfd_wait(fd);
	return evfd_reap_n(ring, 1) == 1 ? count : 0;
}

TEST_F(refused, ring_without_an_eventfd)
{
	if (!variant->without)
		SKIP(return, "this is no error of a ring without an eventfd");
	ASSERT_EQ(variant->without,
		  try(&self->ring, variant->op, variant->arg, self->pipe[0], variant->nr));
	EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	EXPECT_EQ(1, signals(&self->ring, self->fd));
	EXPECT_EQ(0, io_uring_unregister_eventfd(&self->ring));
}

TEST_F(refused, ring_with_an_eventfd)
{
	if (!variant->with)
		SKIP(return, "this is no error of a ring with an eventfd");
	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	ASSERT_EQ(variant->with,
		  try(&self->ring, variant->op, variant->arg, self->pipe[0], variant->nr));
	EXPECT_EQ(1, signals(&self->ring, self->fd));
	EXPECT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
}

/* What was refused must not hold the eventfd either. */
TEST_F(refused, holds_no_eventfd)
{
	int i, first = evfd_next_id();

	if (!variant->without)
		ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	for (i = 0; i < 100; i++)
		ASSERT_GT(0, try(&self->ring, variant->op, variant->arg, self->pipe[0],
				 variant->nr));
	EXPECT_TRUE(evfd_freed(first));
}

TEST_HARNESS_MAIN
