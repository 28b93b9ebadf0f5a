// SPDX-License-Identifier: GPL-2.0
/*
 * Rings where each request has a size of its own, and rings that are resized.
 *
 * This test will check that a command's size is taken for that of no other,
 * whatever its caller may do, that big commands and CQEs among small ones are
 * judged as on a ring of big ones, and that a ring that changes its size keeps
 * what it remembers, and no more.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "capable_count.h"
#include "creds.h"
#include "nvme_ring.h"

/* Younger than the headers of many distributions. */
#define SETUP_SINGLE_ISSUER	0x1000
#define SETUP_DEFER_TASKRUN	0x2000
#define SETUP_CQE_MIXED		0x40000
#define SETUP_SQE_MIXED		0x80000
#define CQE_SKIP		0x20
#define CQE_IS_32		0x8000
#define OP_URING_CMD128		64
#define REGISTER_RESIZE_RINGS	33

static void __attribute__((constructor)) needs(void)
{
	struct ring ring;

	need_nvme(SERIAL_PLAIN);
	need_counting();
	if (ring_init_small(&ring, SETUP_SQE_MIXED | SETUP_CQE_MIXED))
		ksft_exit_skip("this kernel has no rings of mixed sizes\n");
	ring_exit(&ring);
}

FIXTURE(mixed) {
	struct nvme_dev dev;
	struct ring ring;
};

FIXTURE_VARIANT(mixed) {
	unsigned int setup;
	unsigned int opcode;
};

FIXTURE_VARIANT_ADD(mixed, both) {
	.setup = SETUP_SQE_MIXED | SETUP_CQE_MIXED, .opcode = OP_URING_CMD128,
};

FIXTURE_VARIANT_ADD(mixed, sqes) {
	.setup = SETUP_SQE_MIXED | IORING_SETUP_CQE32, .opcode = OP_URING_CMD128,
};

FIXTURE_VARIANT_ADD(mixed, cqes) {
	.setup = IORING_SETUP_SQE128 | SETUP_CQE_MIXED, .opcode = IORING_OP_URING_CMD,
};

FIXTURE_VARIANT_ADD(mixed, big_anyway) {
	.setup = IORING_SETUP_SQE128 | IORING_SETUP_CQE32, .opcode = OP_URING_CMD128,
};

FIXTURE_VARIANT_ADD(mixed, defer_taskrun) {
	.setup = SETUP_SQE_MIXED | SETUP_CQE_MIXED | SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN,
	.opcode = OP_URING_CMD128,
};

FIXTURE_SETUP(mixed)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init_small(&self->ring, variant->setup));
	ASSERT_EQ(0, count_start());
}

FIXTURE_TEARDOWN(mixed)
{
	count_stop();
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

/* An SQE with room for a big command: two places of a mixed queue, which do not wrap. */
static struct io_uring_sqe *big_sqe(struct ring *r, unsigned int opcode, unsigned int user_data)
{
	struct io_uring_sqe *sqe = ring_sqe(r);

	if (r->p.flags & SETUP_SQE_MIXED)
		ring_sqe(r);
	sqe->opcode = opcode;
	sqe->user_data = user_data;
	return sqe;
}

static void prep_big_probe(struct ring *r, const struct nvme_dev *dev, unsigned int opcode,
			   unsigned int user_data)
{
	struct io_uring_sqe *sqe = big_sqe(r, opcode, user_data);

	prep_probe(sqe, dev);
	sqe->opcode = opcode;
}

static __u32 *ring_word(struct ring *r, __u32 offset)
{
	return (__u32 *)((char *)r->rings + offset);
}

/* As ring_reap(), but of CQEs of both sizes. */
static int reap(struct ring *r, unsigned int n, int *res)
{
	struct io_uring_cqe *cqes = (void *)ring_word(r, r->p.cq_off.cqes), *cqe;
	__u32 *head = ring_word(r, r->p.cq_off.head);
	__u32 *tail = ring_word(r, r->p.cq_off.tail);

	if (!(r->p.flags & SETUP_CQE_MIXED))
		return ring_reap(r, n, res);
	while (n) {
		if (*head == __atomic_load_n(tail, __ATOMIC_ACQUIRE)) {
			if (syscall(SYS_io_uring_enter, r->fd, 0, 1,
				    IORING_ENTER_GETEVENTS, NULL, 0) < 0)
				return RING_BROKEN;
			continue;
		}
		cqe = &cqes[*head & (r->p.cq_entries - 1)];
		if (!(cqe->flags & CQE_SKIP)) {
			res[cqe->user_data] = cqe->res;
			n--;
		}
		__atomic_store_n(head, *head + (cqe->flags & CQE_IS_32 ? 2 : 1), __ATOMIC_RELEASE);
	}
	return 0;
}

static int probe(struct ring *r, const struct nvme_dev *dev, unsigned int opcode)
{
	int res;

	prep_big_probe(r, dev, opcode, 0);
	return ring_submit(r) || reap(r, 1, &res) ? RING_BROKEN : res;
}

static int probe_all(struct ring *r, const struct nvme_dev *dev, unsigned int opcode,
		     unsigned int n, int want)
{
	int ret = want;

	while (n-- && ret == want)
		ret = probe(r, dev, opcode);
	return ret;
}

TEST_F(mixed, drop_and_raise)
{
	unsigned int i, op = variant->opcode;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(ALLOWED, probe_all(&self->ring, &self->dev, op, 40, ALLOWED));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, probe_all(&self->ring, &self->dev, op, 40, REFUSED));
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_F(mixed, makers_commands_never_ask)
{
	unsigned int op = variant->opcode, n = rounds(500);
	long before = count_self();

	ASSERT_EQ(ALLOWED, probe_all(&self->ring, &self->dev, op, n, ALLOWED));
	EXPECT_EQ(0, count_self() - before);
}

/* Small requests before and behind it, in one batch. */
TEST_F(mixed, among_small_ones)
{
	int i, j, res[6];

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		for (j = 0; j < 6; j++) {
			if (j == 2 || j == 3) {
				prep_big_probe(&self->ring, &self->dev, variant->opcode, j);
			} else {
				struct io_uring_sqe *sqe = ring_sqe(&self->ring);

				prep_nop(sqe);
				sqe->user_data = j;
			}
		}
		ASSERT_EQ(0, ring_submit(&self->ring));
		ASSERT_EQ(0, reap(&self->ring, 6, res));
		for (j = 0; j < 6; j++)
			EXPECT_EQ(j != 2 && j != 3 ? 0 : i & 1 ? REFUSED : ALLOWED, res[j]);
	}
}

/* NVMe wants big ones. That a neighbour is big makes no other so. */
TEST_F(mixed, small_command)
{
	int i, res[2];

	if (!(variant->setup & SETUP_SQE_MIXED))
		SKIP(return, "every SQE of this ring is a big one");
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		prep_big_probe(&self->ring, &self->dev, OP_URING_CMD128, 0);
		prep_big_probe(&self->ring, &self->dev, IORING_OP_URING_CMD, 1);
		/* The second half of that one is a request by itself. */
		self->ring.taken--;
		ASSERT_EQ(0, ring_submit(&self->ring));
		ASSERT_EQ(0, reap(&self->ring, 2, res));
		EXPECT_EQ(i & 1 ? REFUSED : ALLOWED, res[0]);
		EXPECT_EQ(-EOPNOTSUPP, res[1]);
		/* To an even place again. */
		prep_nop(ring_sqe(&self->ring));
		ASSERT_EQ(0, ring_submit(&self->ring));
		ASSERT_EQ(0, reap(&self->ring, 1, res));
	}
}

/* One that the device answers, so that its CQE is a big one. */
TEST_F(mixed, get_features)
{
	const struct nvme_uring_cmd cmd = { .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7 };
	struct io_uring_sqe *sqe;
	int i, res;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		sqe = big_sqe(&self->ring, variant->opcode, 0);
		prep_cmd(sqe, self->dev.ctrl, NVME_URING_CMD_ADMIN, &cmd);
		sqe->opcode = variant->opcode;
		ASSERT_EQ(0, ring_submit(&self->ring));
		ASSERT_EQ(0, reap(&self->ring, 1, &res));
		ASSERT_EQ(i & 1 ? REFUSED : 0, res);
	}
}

/* What the ring remembers stands beside the queues, not in them. */
TEST_F(mixed, resized)
{
	unsigned int entries, opcode = variant->opcode;
	struct io_uring_params p;
	struct ring *r = &self->ring;
	long before;

	if (!(variant->setup & SETUP_DEFER_TASKRUN))
		SKIP(return, "only IORING_SETUP_DEFER_TASKRUN rings can be resized");
	for (entries = 128; entries >= 16; entries /= 2) {
		ASSERT_EQ(ALLOWED, probe_all(r, &self->dev, opcode, 10, ALLOWED));
		memset(&p, 0, sizeof(p));
		p.sq_entries = entries;
		p.cq_entries = 2 * entries;
		p.flags = IORING_SETUP_CQSIZE;
		ASSERT_EQ(0, ring_register(r, REGISTER_RESIZE_RINGS, &p, 1));
		ASSERT_EQ(0, ring_map(r, r->fd, &p));

		before = count_self();
		EXPECT_EQ(ALLOWED, probe_all(r, &self->dev, opcode, 100, ALLOWED));
		EXPECT_EQ(0, count_self() - before);

		ASSERT_EQ(0, cap_sys_admin(false));
		EXPECT_EQ(REFUSED, probe_all(r, &self->dev, opcode, 100, REFUSED));
		ASSERT_EQ(0, cap_sys_admin(true));
		EXPECT_EQ(ALLOWED, probe(r, &self->dev, opcode));
	}
}

TEST_HARNESS_MAIN
