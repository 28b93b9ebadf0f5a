// SPDX-License-Identifier: GPL-2.0
/*
 * Commands name registered credentials, a personality, to be judged by.
 *
 * This test will check that the personality decides, not the maker of the
 * ring and not the task that submits, on each way that a command can take, and
 * that answers stay right while two personalities take turns.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(personality) {
	struct nvme_dev dev;
	struct ring ring;
	int root;
	int nobody;
};

FIXTURE_VARIANT(personality) {
	unsigned int setup;
	unsigned int sqe_flags;
};

FIXTURE_VARIANT_ADD(personality, inline_issue) {
};

FIXTURE_VARIANT_ADD(personality, async) {
	.sqe_flags = IOSQE_ASYNC,
};

FIXTURE_VARIANT_ADD(personality, drain) {
	.sqe_flags = IOSQE_IO_DRAIN,
};

FIXTURE_VARIANT_ADD(personality, sqpoll) {
	.setup = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(personality, sqpoll_async) {
	.setup = IORING_SETUP_SQPOLL,
	.sqe_flags = IOSQE_ASYNC,
};

FIXTURE_VARIANT_ADD(personality, defer_taskrun) {
	.setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(personality)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, variant->setup));
	self->root = register_personality(self->ring.fd, false);
	ASSERT_LT(0, self->root);
	self->nobody = register_personality(self->ring.fd, true);
	ASSERT_LT(0, self->nobody);
}

FIXTURE_TEARDOWN(personality)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

TEST_F(personality, of_nobody_on_a_root_ring)
{
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
						 self->nobody));
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags, 0));
	}
}

TEST_F(personality, of_root_used_by_nobody)
{
	int i, own = variant->setup & IORING_SETUP_SQPOLL ? ALLOWED : REFUSED;

	ASSERT_EQ(0, become_nobody());
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
						 self->root));
		/* An SQPOLL ring goes on acting for its maker. */
		ASSERT_EQ(own, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags, 0));
		ASSERT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
						 self->nobody));
	}
}

TEST_F(personality, registered_before_a_drop)
{
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
					 self->root));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
					 self->nobody));
}

TEST_F(personality, registered_after_a_drop)
{
	int dropped;

	ASSERT_EQ(0, cap_sys_admin(false));
	dropped = register_personality(self->ring.fd, false);
	ASSERT_LT(0, dropped);
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags, 0));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags, dropped));
}

TEST_F(personality, unregistered)
{
	ASSERT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
					 self->root));
	ASSERT_EQ(0, ring_register(&self->ring, IORING_UNREGISTER_PERSONALITY, NULL, self->root));
	ASSERT_EQ(-EINVAL, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
					 self->root));
	ASSERT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
					 self->nobody));
}

TEST_F(personality, two_taking_turns)
{
	bool threads = variant->setup & IORING_SETUP_SQPOLL || variant->sqe_flags & IOSQE_ASYNC;
	unsigned int i, n = rounds(threads ? 100 : 1000);

	for (i = 0; i < n; i++) {
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
						 self->root)) {
			TH_LOG("round %u", i);
		}
		ASSERT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, variant->sqe_flags,
						 self->nobody)) {
			TH_LOG("round %u", i);
		}
	}
}

TEST_F(personality, mixed_in_one_batch)
{
	struct io_uring_sqe *sqe;
	int i, res[32];

	for (i = 0; i < 32; i++) {
		sqe = ring_sqe(&self->ring);
		prep_probe(sqe, &self->dev);
		sqe->flags = variant->sqe_flags;
		sqe->personality = i & 1 ? self->nobody : self->root;
	}
	ASSERT_EQ(0, ring_run(&self->ring, res));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(i & 1 ? REFUSED : ALLOWED, res[i]);
}

/* Each command carries credentials of its own: the submitter's come last in a chain. */
TEST_F(personality, mixed_in_one_chain)
{
	struct io_uring_sqe *sqe;
	int i, res[8];

	for (i = 0; i < 8; i++) {
		sqe = ring_sqe(&self->ring);
		prep_probe(sqe, &self->dev);
		sqe->flags = variant->sqe_flags | (i < 7 ? IOSQE_IO_HARDLINK : 0);
		sqe->personality = i == 7 ? 0 : i & 1 ? self->nobody : self->root;
	}
	ASSERT_EQ(0, ring_run(&self->ring, res));
	for (i = 0; i < 7; i++)
		EXPECT_EQ(i & 1 ? REFUSED : ALLOWED, res[i]);
	EXPECT_EQ(ALLOWED, res[7]);
}

TEST_HARNESS_MAIN
