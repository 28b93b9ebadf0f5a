// SPDX-License-Identifier: GPL-2.0
/*
 * Rings and personalities are made while the kernel runs out of memory or cannot copy
 * from or to the user's, at one place after the other.
 *
 * This test will check that a ring or personality that is made is judged by its maker's
 * credentials, and that one which fails leaves none behind.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "creds.h"
#include "priv_fault.h"

/* The keyring of the process, and one that is about to go. */
#define STILL_USED	2
/* Attempts at each place: what only one of the places leaves behind must count as well. */
#define ATTEMPTS	(STILL_USED + 1)

/* Rings that hold on to credentials, each with a keyring of its own, which can be counted. */
FIXTURE(held) {
	struct nvme_dev dev;
	struct fault fault;
	struct io_uring_params p;
	int before;
};

FIXTURE_VARIANT(held) {
	unsigned int setup;
	bool dropped;	/* whether the ring's maker is without privilege */
};

FIXTURE_VARIANT_ADD(held, plain) {
	.setup = 0,
};

FIXTURE_VARIANT_ADD(held, made_without_privilege) {
	.setup = 0, .dropped = true,
};

FIXTURE_VARIANT_ADD(held, sqpoll) {
	.setup = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(held, defer_taskrun) {
	.setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(held)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	self->p.flags = variant->setup | IORING_SETUP_SQE128 | IORING_SETUP_CQE32;
	self->before = root_keys();
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(held)
{
	EXPECT_EQ(0, fault_close(&self->fault));
	nvme_close(&self->dev);
}

static int create(void *arg)
{
	int fd = syscall(SYS_io_uring_setup, 64, arg);

	return fd < 0 ? -errno : fd;
}

/* The answers of a new ring, which is closed afterwards: 0, or the first that is wrong. */
static int judge(int fd, const struct io_uring_params *p, const struct nvme_dev *dev, bool dropped)
{
	/* An SQPOLL ring goes on acting for its maker. */
	bool maker = p->flags & IORING_SETUP_SQPOLL;
	struct ring ring;
	int i, ret, want;

	ret = ring_map(&ring, fd, p);
	if (ret) {
		close(fd);
		return ret;
	}
	for (i = 0; i < 4 && !ret; i++) {
		/* Each time other credentials than before. */
		if (i && cap_sys_admin(dropped ^ i % 2 ^ 1)) {
			ret = -EPERM;
			break;
		}
		want = (maker ? dropped : dropped ^ i % 2) ? REFUSED : ALLOWED;
		ret = ring_probe(&ring, dev);
		ret = ret == want ? 0 : ret ?: RING_BROKEN;
	}
	ring_exit(&ring);
	return ret;
}

/* Without a fault when @nth is 0. */
static int faulty_create(FIXTURE_DATA(held) * self, unsigned int nth, unsigned int flags)
{
	self->p = (struct io_uring_params) { .flags = flags };
	return fault_run(&self->fault, nth, create, &self->p);
}

TEST_F_TIMEOUT(held, by_a_ring_that_fails, FAULT_TIMEOUT)
{
	unsigned int i, nth, failed = 0, flags = self->p.flags;
	bool hit = true;
	int ret;

	if (self->before < 0)
		SKIP(return, "no /proc/key-users: this kernel has no CONFIG_KEYS");
	for (nth = 0; nth <= FAULT_MAX && hit; nth++) {
		hit = !nth;
		for (i = 0; i < ATTEMPTS; i++) {
			ASSERT_EQ(0, new_keyring());
			ASSERT_EQ(0, cap_sys_admin(!variant->dropped));
			ret = faulty_create(self, nth, flags);
			hit |= self->fault.hit;
			if (ret < 0) {
				ASSERT_TRUE(self->fault.hit && fault_ring_errno(ret)) {
					TH_LOG("place %u: %d", nth, ret);
				}
				failed++;
				continue;
			}
			ASSERT_EQ(0, judge(ret, &self->p, &self->dev, variant->dropped)) {
				TH_LOG("place %u", nth);
			}
		}
		/* The next one works. */
		ASSERT_EQ(0, cap_sys_admin(!variant->dropped));
		ret = faulty_create(self, 0, flags);
		ASSERT_LE(0, ret);
		ASSERT_EQ(0, judge(ret, &self->p, &self->dev, variant->dropped)) {
			TH_LOG("after place %u", nth);
		}
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_LT(STILL_USED, failed);
	EXPECT_TRUE(keys_are_back(self->before + STILL_USED)) {
		TH_LOG("%u rings failed, %d keys before, %d after", failed, self->before,
		       root_keys());
	}
}

struct personality {
	struct ring *ring;
	int op;
	int id;
};

static int register_one(void *arg)
{
	const struct personality *p = arg;

	return ring_register(p->ring, p->op, NULL, p->id);
}

TEST_F_TIMEOUT(held, by_a_personality, FAULT_TIMEOUT)
{
	struct personality reg = { .op = IORING_REGISTER_PERSONALITY };
	struct personality end = { .op = IORING_UNREGISTER_PERSONALITY };
	struct ring ring;
	unsigned int nth;
	bool hit = true;

	if (self->before < 0)
		SKIP(return, "no /proc/key-users: this kernel has no CONFIG_KEYS");
	reg.ring = &ring;
	end.ring = &ring;
	for (nth = 0; nth <= FAULT_MAX && hit; nth++) {
		ASSERT_EQ(0, cap_sys_admin(true));
		/* A ring of its own each time, as its array would keep the memory. */
		ASSERT_EQ(0, ring_init(&ring, variant->setup));
		ASSERT_EQ(0, new_keyring());
		ASSERT_EQ(0, cap_sys_admin(!variant->dropped));
		end.id = fault_run(&self->fault, nth, register_one, &reg);
		hit = !nth || self->fault.hit;
		if (end.id < 0) {
			ASSERT_TRUE(self->fault.hit && fault_errno(end.id)) {
				TH_LOG("place %u: %d", nth, end.id);
			}
			end.id = register_one(&reg);
		}
		ASSERT_LT(0, end.id);
		/* Judged by it, whoever submits. */
		ASSERT_EQ(0, new_keyring());
		ASSERT_EQ(0, cap_sys_admin(variant->dropped));
		ASSERT_EQ(variant->dropped ? REFUSED : ALLOWED,
			  ring_probe_as(&ring, &self->dev, 0, end.id));
		ASSERT_EQ(0, fault_run(&self->fault, nth, register_one, &end));
		hit |= self->fault.hit;
		ASSERT_EQ(-EINVAL, ring_probe_as(&ring, &self->dev, 0, end.id));
		ring_exit(&ring);
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(keys_are_back(self->before + STILL_USED)) {
		TH_LOG("%u rounds, %d keys before, %d after", nth, self->before, root_keys());
	}
}

TEST_HARNESS_MAIN
