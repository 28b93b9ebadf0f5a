// SPDX-License-Identifier: GPL-2.0
/*
 * How often does a privileged command ask capable(CAP_SYS_ADMIN)?
 *
 * This test will check that commands issued on a ring whose privilege is cached
 * never ask, that each command which cannot use the cache asks once, and that
 * one slow answer is enough to fill the cache again. It counts the calls in
 * the kernel, thread by thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ioctl.h>

#include "../kselftest_harness.h"
#include "capable_count.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
	need_counting();
}

FIXTURE(kind) {
	struct nvme_dev dev;
	struct ring ring;
	unsigned int n;
};

FIXTURE_VARIANT(kind) {
	unsigned int setup;
};

FIXTURE_VARIANT_ADD(kind, plain) {
};

FIXTURE_VARIANT_ADD(kind, iopoll) {
	.setup = IORING_SETUP_IOPOLL,
};

FIXTURE_VARIANT_ADD(kind, coop_taskrun) {
	.setup = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(kind, single_issuer) {
	.setup = IORING_SETUP_SINGLE_ISSUER,
};

FIXTURE_VARIANT_ADD(kind, defer_taskrun) {
	.setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(kind)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, variant->setup));
	ASSERT_EQ(0, count_start());
	self->n = rounds(1000);
}

FIXTURE_TEARDOWN(kind)
{
	count_stop();
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

TEST_F(kind, makers_commands_never_ask)
{
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

TEST_F(kind, batches_never_ask)
{
	long before = count_self();
	int i, j, res[32];

	for (i = 0; i < 8; i++) {
		for (j = 0; j < 32; j++)
			prep_probe(ring_sqe(&self->ring), &self->dev);
		ASSERT_EQ(0, ring_run(&self->ring, res));
		for (j = 0; j < 32; j++)
			ASSERT_EQ(ALLOWED, res[j]);
	}
	EXPECT_EQ(0, count_self() - before);
}

TEST_F(kind, each_refused_command_asks)
{
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(self->n, count_probes(&self->ring, &self->dev, self->n, REFUSED));
}

TEST_F(kind, raised_asks_once)
{
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(1, count_probes(&self->ring, &self->dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

/* Equal, but not the same object. */
TEST_F(kind, new_credentials_ask_once)
{
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(1, count_probes(&self->ring, &self->dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

/* What threads and children get. */
struct counted {
	struct nvme_dev dev;
	struct ring ring;
	unsigned int n;
};

FIXTURE(count) {
	struct counted c;
};

FIXTURE_SETUP(count)
{
	ASSERT_EQ(0, nvme_open(&self->c.dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->c.ring, 0));
	ASSERT_EQ(0, count_start());
	self->c.n = rounds(1000);
}

FIXTURE_TEARDOWN(count)
{
	count_stop();
	ring_exit(&self->c.ring);
	nvme_close(&self->c.dev);
}

/* Making a ring asks silently, whoever makes it: no line in the audit log. */
TEST_F(count, making_a_ring_does_not_ask)
{
	struct ring ring;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, cap_sys_admin(i));
		ASSERT_EQ(0, ring_init(&ring, 0));
		ring_exit(&ring);
	}
	EXPECT_EQ(0, count_self());
}

TEST_F(count, unprivileged_ring_asks_until_allowed)
{
	struct ring ring;

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, ring_init(&ring, 0));
	EXPECT_EQ(20, count_probes(&ring, &self->c.dev, 20, REFUSED));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(1, count_probes(&ring, &self->c.dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&ring, &self->c.dev, self->c.n, ALLOWED));
	ring_exit(&ring);
}

/* A refused user does not cost the others their cached answer. */
TEST_F(count, refused_personality_leaves_the_cache)
{
	int i, nobody = register_personality(self->c.ring.fd, true);
	long before;

	ASSERT_LT(0, nobody);
	/* Going to nobody and back has changed the maker's credentials. */
	ASSERT_EQ(ALLOWED, ring_probe(&self->c.ring, &self->c.dev));
	before = count_self();
	for (i = 0; i < 20; i++)
		ASSERT_EQ(REFUSED, ring_probe_as(&self->c.ring, &self->c.dev, 0, nobody));
	EXPECT_EQ(20, count_self() - before);
	EXPECT_EQ(0, count_probes(&self->c.ring, &self->c.dev, 20, ALLOWED));
}

/* The maker's own credentials, registered: the same object. */
TEST_F(count, own_personality_never_asks)
{
	int i, own = register_personality(self->c.ring.fd, false);

	ASSERT_LT(0, own);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->c.ring, &self->c.dev, 0, own));
	EXPECT_EQ(0, count_self());
}

/* Two who may, in turns: a miss costs one call and no more. */
TEST_F(count, two_privileged_in_turns)
{
	int i, old = register_personality(self->c.ring.fd, false);
	long before;

	ASSERT_LT(0, old);
	ASSERT_EQ(0, cap_sys_admin(true));
	before = count_self();
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->c.ring, &self->c.dev, 0, old));
		ASSERT_EQ(ALLOWED, ring_probe(&self->c.ring, &self->c.dev));
	}
	EXPECT_GE(200, count_self() - before);
}

static void *count_in_thread(void *arg)
{
	struct counted *c = arg;

	return (void *)count_probes(&c->ring, &c->dev, c->n, ALLOWED);
}

/* A thread begins with the very credentials of its creator. */
TEST_F(count, other_thread_never_asks)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, count_in_thread, &self->c));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(0, (long)ret);
}

static int count_in_fork(void *arg)
{
	struct counted *c = arg;

	if (count_probes(&c->ring, &c->dev, 1, ALLOWED) != 1)
		return -1;
	return count_probes(&c->ring, &c->dev, c->n, ALLOWED) ? -2 : 0;
}

/* A process begins with a copy. */
TEST_F(count, forked_child_asks_once)
{
	ASSERT_EQ(ALLOWED, ring_probe(&self->c.ring, &self->c.dev));
	EXPECT_EQ(0, in_child(count_in_fork, &self->c));
}

static int count_refused_in_fork(void *arg)
{
	struct counted *c = arg;

	if (cap_sys_admin(false))
		return -1;
	return count_probes(&c->ring, &c->dev, 50, REFUSED) == 50 ? 0 : -2;
}

TEST_F(count, forked_child_refused_asks_each_time)
{
	ASSERT_EQ(ALLOWED, ring_probe(&self->c.ring, &self->c.dev));
	EXPECT_EQ(0, in_child(count_refused_in_fork, &self->c));
}

TEST_F(count, sqpoll_thread_never_asks)
{
	struct ring ring;

	ASSERT_EQ(0, ring_init(&ring, IORING_SETUP_SQPOLL));
	ASSERT_EQ(ALLOWED, ring_probe_all(&ring, &self->c.dev, 200, ALLOWED));
	EXPECT_EQ(0, count_named("iou-sqp-"));
	EXPECT_EQ(0, count_self());
	ring_exit(&ring);
}

TEST_F(count, each_sqpoll_refusal_asks)
{
	struct ring ring;

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, ring_init(&ring, IORING_SETUP_SQPOLL));
	ASSERT_EQ(REFUSED, ring_probe_all(&ring, &self->c.dev, 50, REFUSED));
	EXPECT_EQ(50, count_named("iou-sqp-"));
	EXPECT_EQ(0, count_self());
	ring_exit(&ring);
}

/* io-wq does not hold the ring's lock: it neither reads nor fills the cache. */
TEST_F(count, each_worker_command_asks)
{
	int i, want, round;

	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, cap_sys_admin(!round));
		want = round ? REFUSED : ALLOWED;
		/* Asks once, and the ring keeps what a worker must not use. */
		ASSERT_EQ(want, ring_probe_as(&self->c.ring, &self->c.dev, 0, 0));
		for (i = 0; i < 100; i++)
			ASSERT_EQ(want, ring_probe_as(&self->c.ring, &self->c.dev, IOSQE_ASYNC, 0));
		EXPECT_EQ(100 * (round + 1), count_named("iou-wrk-"));
	}
	EXPECT_EQ(2, count_self());
}

TEST_F(count, worker_does_not_fill_the_cache)
{
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(ALLOWED, ring_probe_as(&self->c.ring, &self->c.dev, IOSQE_ASYNC, 0));
	EXPECT_EQ(1, count_probes(&self->c.ring, &self->c.dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->c.ring, &self->c.dev, 50, ALLOWED));
	ASSERT_EQ(ALLOWED, ring_probe_as(&self->c.ring, &self->c.dev, IOSQE_ASYNC, 0));
	EXPECT_EQ(0, count_probes(&self->c.ring, &self->c.dev, 50, ALLOWED));
}

TEST_F(count, linked_commands_never_ask)
{
	struct io_uring_sqe *sqe;
	int i, res[2];

	for (i = 0; i < 50; i++) {
		sqe = ring_sqe(&self->c.ring);
		prep_nop(sqe);
		sqe->flags = IOSQE_IO_LINK;
		prep_probe(ring_sqe(&self->c.ring), &self->c.dev);
		ASSERT_EQ(0, ring_run(&self->c.ring, res));
		ASSERT_EQ(ALLOWED, res[1]);
	}
	EXPECT_EQ(0, count_self());
}

TEST_F(count, registered_file_never_asks)
{
	int i, fds[] = { self->c.dev.ns };

	ASSERT_EQ(0, ring_register(&self->c.ring, IORING_REGISTER_FILES, fds, 1));
	self->c.dev.ns = 0;
	for (i = 0; i < 50; i++)
		EXPECT_EQ(ALLOWED, ring_probe_as(&self->c.ring, &self->c.dev, IOSQE_FIXED_FILE, 0));
	self->c.dev.ns = fds[0];
	EXPECT_EQ(0, count_self());
}

TEST_F(count, admin_commands_never_ask)
{
	struct nvme_uring_cmd cmd = { .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7 };
	int i;

	for (i = 0; i < 50; i++)
		ASSERT_EQ(0, ring_cmd(&self->c.ring, self->c.dev.ctrl, NVME_URING_CMD_ADMIN, &cmd));
	EXPECT_EQ(0, count_self());
}

/* Without a ring there is no cache, and a hot ring beside it does not help. */
TEST_F(count, each_ioctl_asks)
{
	struct nvme_passthru_cmd cmd = { .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7 };
	long before;
	int i;

	ASSERT_EQ(ALLOWED, ring_probe(&self->c.ring, &self->c.dev));
	before = count_self();
	for (i = 0; i < 20; i++)
		ASSERT_EQ(0, ioctl(self->c.dev.ctrl, NVME_IOCTL_ADMIN_CMD, &cmd));
	EXPECT_EQ(20, count_self() - before);
	ASSERT_EQ(0, cap_sys_admin(false));
	for (i = 0; i < 20; i++)
		ASSERT_EQ(-1, ioctl(self->c.dev.ctrl, NVME_IOCTL_ADMIN_CMD, &cmd));
	EXPECT_EQ(40, count_self() - before);
}

TEST_F(count, fdinfo_of_a_privileged_ring)
{
	EXPECT_EQ(1, ring_priv_cached(&self->c.ring));
	ASSERT_EQ(ALLOWED, ring_probe(&self->c.ring, &self->c.dev));
	EXPECT_EQ(1, ring_priv_cached(&self->c.ring));
}

TEST_F(count, fdinfo_of_an_unprivileged_ring)
{
	struct ring ring;

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, ring_init(&ring, 0));
	EXPECT_EQ(0, ring_priv_cached(&ring));
	ASSERT_EQ(REFUSED, ring_probe(&ring, &self->c.dev));
	EXPECT_EQ(0, ring_priv_cached(&ring));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(0, ring_priv_cached(&ring));
	ASSERT_EQ(ALLOWED, ring_probe_as(&ring, &self->c.dev, IOSQE_ASYNC, 0));
	EXPECT_EQ(0, ring_priv_cached(&ring));
	ASSERT_EQ(ALLOWED, ring_probe(&ring, &self->c.dev));
	EXPECT_EQ(1, ring_priv_cached(&ring));
	ring_exit(&ring);
}

TEST_HARNESS_MAIN
