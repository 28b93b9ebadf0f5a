// SPDX-License-Identifier: GPL-2.0
/*
 * Restrictions and personalities are registered while the kernel runs out of memory,
 * or cannot copy from or to the user's, at one place after the other.
 *
 * This test will check that each failure has an error that says so, that it leaves
 * behind neither half a state nor any object, and that the next attempt works.
 */
#include <stdbool.h>

#include "evfd_fault.h"

/* Personalities enough to fill the array's first node. */
#define MANY		63

FIXTURE(disabled) {
	struct fault fault;
	struct io_uring ring;
};

FIXTURE_VARIANT(disabled) {
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(disabled, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(disabled, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(disabled, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(disabled)
{
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(disabled)
{
	EXPECT_EQ(0, fault_close(&self->fault));
}

/* Nops, and the registration that enables the ring. */
static int restrict_ring(void *arg)
{
	struct io_uring_restriction res[] = {
		{ .opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_NOP },
		{ .opcode = IORING_RESTRICTION_REGISTER_OP,
		  .register_op = IORING_REGISTER_ENABLE_RINGS },
	};

	return register_op(arg, IORING_REGISTER_RESTRICTIONS, res, 2);
}

static int enable_ring(void *arg)
{
	return register_op(arg, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}

/* The result of closing a file that there is not: EACCES if the ring forbids to ask. */
static int try_close(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	int ret;

	io_uring_prep_close(sqe, -1);
	ret = io_uring_submit_and_wait(ring, 1);
	if (ret < 0)
		return ret;
	ret = io_uring_wait_cqe(ring, &cqe);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

/* Whether the restrictions hold, all of them or none, on an enabled ring: 0 or -errno. */
static int judged(struct io_uring *ring, bool restricted)
{
	int ret = nop_works(ring);

	if (ret)
		return ret;
	if (try_close(ring) != (restricted ? -EACCES : -EBADF))
		return -EPERM;
	ret = io_uring_unregister_eventfd(ring);
	return ret == (restricted ? -EACCES : -ENXIO) ? 0 : -EPERM;
}

TEST_F_TIMEOUT(disabled, restrictions_each_place, EVFD_TIMEOUT)
{
	unsigned int nth, flags = variant->flags | IORING_SETUP_R_DISABLED, failed = 0;
	bool restricted;
	int ret;

	for (nth = 0; nth <= FAULT_MAX; nth++) {
		ret = evfd_ring(&self->ring, flags);
		if (ret == -EINVAL)
			SKIP(return, "this kernel has no rings with flags %#x", flags);
		ASSERT_EQ(0, ret);
		restricted = true;
		/* The first time is without a fault. */
		ret = fault_run(&self->fault, nth, restrict_ring, &self->ring);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			/* Once more, or without any: each in turn. */
			restricted = failed++ % 2;
			if (restricted)
				ASSERT_EQ(0, restrict_ring(&self->ring));
		}
		if (restricted)
			EXPECT_EQ(-EBUSY, restrict_ring(&self->ring));
		ASSERT_EQ(0, enable_ring(&self->ring));
		ASSERT_EQ(0, judged(&self->ring, restricted)) {
			TH_LOG("place %u", nth);
		}
		io_uring_queue_exit(&self->ring);
		if (nth && !self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	/* The restrictions are copied into memory: two places. */
	EXPECT_LT(1, failed);
}

TEST_F_TIMEOUT(disabled, enable_each_place, EVFD_TIMEOUT)
{
	unsigned int nth, flags = variant->flags | IORING_SETUP_R_DISABLED;
	int ret;

	for (nth = 0; nth <= FAULT_MAX; nth++) {
		ret = evfd_ring(&self->ring, flags);
		if (ret == -EINVAL)
			SKIP(return, "this kernel has no rings with flags %#x", flags);
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, restrict_ring(&self->ring));
		ret = fault_run(&self->fault, nth, enable_ring, &self->ring);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			EXPECT_EQ(-EBADFD, io_uring_enter(self->ring.ring_fd, 1, 0, 0, NULL));
			ASSERT_EQ(0, enable_ring(&self->ring));
		}
		ASSERT_EQ(0, judged(&self->ring, true)) {
			TH_LOG("place %u", nth);
		}
		io_uring_queue_exit(&self->ring);
		if (nth && !self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
}

FIXTURE(personality) {
	struct fault fault;
	struct io_uring ring;
};

FIXTURE_VARIANT(personality) {
	unsigned int before;	/* how many the ring has */
};

FIXTURE_VARIANT_ADD(personality, first) { .before = 0, };
FIXTURE_VARIANT_ADD(personality, second) { .before = 1, };
FIXTURE_VARIANT_ADD(personality, next_node) { .before = MANY, };

FIXTURE_SETUP(personality)
{
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(personality)
{
	EXPECT_EQ(0, fault_close(&self->fault));
}

static int new_personality(void *arg)
{
	return register_op(arg, IORING_REGISTER_PERSONALITY, NULL, 0);
}

struct personality {
	struct io_uring *ring;
	int id;
};

static int end_personality(void *arg)
{
	const struct personality *p = arg;

	return register_op(p->ring, IORING_UNREGISTER_PERSONALITY, NULL, p->id);
}

/* The result of a nop with that personality. */
static int nop_as(struct io_uring *ring, int id)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	int ret;

	io_uring_prep_nop(sqe);
	sqe->personality = id;
	ret = io_uring_submit(ring);
	if (ret < 0)
		return ret;
	ret = io_uring_wait_cqe(ring, &cqe);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

/*
 * The array asks once more for memory, in another way, before it gives up: one fault alone
 * need not make a registration fail.
 */
TEST_F_TIMEOUT(personality, each_place, EVFD_TIMEOUT)
{
	struct personality p = { .ring = &self->ring };
	unsigned int nth, i, failed = 0;
	bool hit;
	int ret;

	for (nth = 0; nth <= FAULT_MAX; nth++) {
		/* A ring of its own each time, as its array would keep the memory. */
		ASSERT_EQ(0, evfd_ring(&self->ring, 0));
		for (i = 0; i < variant->before; i++)
			ASSERT_LT(0, new_personality(&self->ring));
		p.id = fault_run(&self->fault, nth, new_personality, &self->ring);
		hit = self->fault.hit;
		if (p.id < 0) {
			ASSERT_TRUE(hit && fault_errno(p.id)) {
				TH_LOG("place %u: %d", nth, p.id);
			}
			failed++;
			EXPECT_EQ(-EINVAL, nop_as(&self->ring, variant->before + 1));
			p.id = new_personality(&self->ring);
		}
		ASSERT_EQ(variant->before + 1, p.id);
		ASSERT_EQ(0, nop_as(&self->ring, p.id));
		if (variant->before)
			EXPECT_EQ(0, nop_as(&self->ring, 1));

		ret = fault_run(&self->fault, nth, end_personality, &p);
		ASSERT_EQ(0, ret) {
			TH_LOG("place %u", nth);
		}
		EXPECT_EQ(-EINVAL, nop_as(&self->ring, p.id));
		EXPECT_EQ(-EINVAL, end_personality(&p));
		io_uring_queue_exit(&self->ring);
		if (nth && !hit && !self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	TH_LOG("%u of the places fail", failed);
}

TEST_HARNESS_MAIN
