// SPDX-License-Identifier: GPL-2.0
/*
 * Rings with a cached privilege, and their commands, while the kernel runs out of memory
 * or cannot copy from or to the user's, at one place after the other.
 *
 * This test will check that no failure lets a command pass without privilege, that
 * with privilege a command works or says what it lacked, that the next one is judged as
 * ever, and that no credentials are left behind.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "fault.h"
#include "nvme_ring.h"

#define BUF_SIZE	4096
#define LOG_SIZE	512
#define UNTOUCHED	0xa5
/* The keyring of the process, and one that is about to go. */
#define STILL_USED	2
/* Attempts at each place: what only one of the places leaves behind must count as well. */
#define ATTEMPTS	(STILL_USED + 1)
/* Seconds for one test: a debug kernel under emulation takes its time. */
#define SECONDS		300

static void __attribute__((constructor)) needs(void)
{
	fault_need();
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(issue) {
	struct nvme_dev dev;
	struct ring ring;
	struct fault fault;
	struct nvme_uring_cmd cmd;
	unsigned char *buf;
	unsigned int sqe_flags;
	unsigned int op;
	int fd;
	int want;	/* the result with privilege and without a fault */
	/* What the last submission came to. */
	int submitted;
	int reaped;
	int res;
};

enum command { VENDOR, HEALTH_LOG };

FIXTURE_VARIANT(issue) {
	enum command command;
	unsigned int setup;
	unsigned int sqe_flags;
	bool thread;	/* each by a thread that has not used io_uring before */
};

FIXTURE_VARIANT_ADD(issue, vendor) {
	.command = VENDOR,
};

FIXTURE_VARIANT_ADD(issue, health_log) {
	.command = HEALTH_LOG,
};

FIXTURE_VARIANT_ADD(issue, vendor_defer_taskrun) {
	.command = VENDOR, .setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(issue, health_log_defer_taskrun) {
	.command = HEALTH_LOG, .setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(issue, vendor_first_of_a_thread) {
	.command = VENDOR, .thread = true,
};

FIXTURE_VARIANT_ADD(issue, health_log_async) {
	.command = HEALTH_LOG, .sqe_flags = IOSQE_ASYNC,
};

/* The worker is made at the faulty places, too. */
FIXTURE_VARIANT_ADD(issue, vendor_async_first_of_a_thread) {
	.command = VENDOR, .sqe_flags = IOSQE_ASYNC, .thread = true,
};

/* A command that the device does not know, and without data: it has a result even so. */
static void prep_vendor(FIXTURE_DATA(issue) * self)
{
	self->fd = self->dev.ns;
	self->op = NVME_URING_CMD_IO;
	self->cmd.opcode = NVME_OP_VENDOR;
	self->cmd.nsid = self->dev.nsid;
}

static void prep_health_log(FIXTURE_DATA(issue) * self)
{
	self->fd = self->dev.ctrl;
	self->op = NVME_URING_CMD_ADMIN;
	self->cmd.opcode = NVME_ADMIN_GET_LOG_PAGE;
	self->cmd.nsid = -1U;
	self->cmd.cdw10 = (LOG_SIZE / 4 - 1) << 16 | 2;
	self->cmd.addr = (uintptr_t)self->buf;
	self->cmd.data_len = LOG_SIZE;
}

/* One command that was prepared, and its CQE. */
static int submit_and_reap(void *arg)
{
	FIXTURE_DATA(issue) * self = arg;

	self->reaped = -EAGAIN;
	self->submitted = ring_submit(&self->ring);
	if (!self->submitted)
		self->reaped = ring_reap(&self->ring, 1, &self->res);
	return self->submitted ?: self->reaped;
}

/* Prepares a command, into a buffer that shows whether it was run. */
static void prepare(FIXTURE_DATA(issue) * self)
{
	struct io_uring_sqe *sqe = ring_sqe(&self->ring);

	memset(self->buf, UNTOUCHED, BUF_SIZE);
	prep_cmd(sqe, self->fd, self->op, &self->cmd);
	sqe->flags = self->sqe_flags;
}

/* Without a fault: the result, or RING_BROKEN. */
static int command(FIXTURE_DATA(issue) * self)
{
	prepare(self);
	return submit_and_reap(self) ? RING_BROKEN : self->res;
}

/*
 * With the fault at place @nth: the result, whether it came then or only after another
 * attempt to submit or to reap; RING_BROKEN where neither an error nor a result came.
 */
static int faulty_command(FIXTURE_DATA(issue) * self, unsigned int nth, bool thread)
{
	int ret;

	prepare(self);
	ret = thread ? fault_run_thread(&self->fault, nth, submit_and_reap, self) :
		       fault_run(&self->fault, nth, submit_and_reap, self);
	if (!ret)
		return self->res;
	if (ret == FAULT_BROKEN || !self->fault.hit)
		return RING_BROKEN;
	/* EAGAIN: no memory for the request. Its entry still waits in the ring. */
	if (!fault_errno(ret) && ret != -EAGAIN)
		return RING_BROKEN;
	if (self->submitted &&
	    syscall(SYS_io_uring_enter, self->ring.fd, 1, 0, 0, NULL, 0) != 1)
		return RING_BROKEN;
	return ring_reap(&self->ring, 1, &self->res) ? RING_BROKEN : self->res;
}

/* For io-wq, ECANCELED: no worker could be made; EAGAIN: no memory to take the command along. */
static bool failed_by_fault(FIXTURE_DATA(issue) * self, int res)
{
	bool async = self->sqe_flags & IOSQE_ASYNC;

	return self->fault.hit &&
	       (fault_errno(res) || (async && (res == -ECANCELED || res == -EAGAIN)));
}

static bool untouched(const unsigned char *buf)
{
	int i = 0;

	while (i < BUF_SIZE && buf[i] == UNTOUCHED)
		i++;
	return i == BUF_SIZE;
}

FIXTURE_SETUP(issue)
{
	void *buf;

	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, variant->setup));
	ASSERT_EQ(0, posix_memalign(&buf, BUF_SIZE, BUF_SIZE));
	self->buf = buf;
	self->sqe_flags = variant->sqe_flags;
	if (variant->command == VENDOR)
		prep_vendor(self);
	else
		prep_health_log(self);
	self->want = command(self);
	/* A status of the device counts: the command has passed. */
	ASSERT_LE(0, self->want);
	ASSERT_EQ(variant->command == VENDOR, untouched(self->buf));
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(issue)
{
	EXPECT_EQ(0, fault_close(&self->fault));
	ring_exit(&self->ring);
	nvme_close(&self->dev);
	free(self->buf);
}

TEST_F_TIMEOUT(issue, privileged, SECONDS)
{
	int res, cached = ring_priv_cached(&self->ring);
	unsigned int nth, failed = 0;

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		res = faulty_command(self, nth, variant->thread);
		if (res != self->want) {
			ASSERT_TRUE(failed_by_fault(self, res)) {
				TH_LOG("place %u: %d", nth, res);
			}
			failed++;
		}
		if (!self->fault.hit)
			break;
		ASSERT_EQ(self->want, command(self)) {
			TH_LOG("place %u", nth);
		}
		ASSERT_EQ(cached, ring_priv_cached(&self->ring));
	}
	EXPECT_GE(FAULT_MAX, nth);
	TH_LOG("%u places, %u of them fail", nth - 1, failed);
}

TEST_F_TIMEOUT(issue, dropped, SECONDS)
{
	unsigned int nth, failed = 0;
	int res;

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(REFUSED, command(self));
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		res = faulty_command(self, nth, variant->thread);
		if (res != REFUSED) {
			ASSERT_TRUE(failed_by_fault(self, res)) {
				TH_LOG("place %u: %d", nth, res);
			}
			failed++;
		}
		ASSERT_TRUE(untouched(self->buf)) {
			TH_LOG("place %u", nth);
		}
		if (!self->fault.hit)
			break;
		ASSERT_EQ(REFUSED, command(self)) {
			TH_LOG("place %u", nth);
		}
	}
	EXPECT_GE(FAULT_MAX, nth);
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(self->want, command(self));
	TH_LOG("%u places, %u of them fail", nth - 1, failed);
}

/* New credentials at each place, so that a fault may also meet the filling of the cache. */
TEST_F_TIMEOUT(issue, taking_turns, SECONDS)
{
	unsigned int nth;
	bool hit;
	int res;

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		ASSERT_EQ(0, cap_sys_admin(false));
		res = faulty_command(self, nth, variant->thread);
		hit = self->fault.hit;
		ASSERT_TRUE(res == REFUSED || failed_by_fault(self, res)) {
			TH_LOG("place %u, dropped: %d", nth, res);
		}
		ASSERT_TRUE(untouched(self->buf));
		ASSERT_EQ(0, cap_sys_admin(true));
		res = faulty_command(self, nth, variant->thread);
		hit |= self->fault.hit;
		ASSERT_TRUE(res == self->want || failed_by_fault(self, res)) {
			TH_LOG("place %u, raised: %d", nth, res);
		}
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, command(self)) {
			TH_LOG("place %u", nth);
		}
		if (!hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
}

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
	return nth ? fault_run(&self->fault, nth, create, &self->p) : create(&self->p);
}

TEST_F_TIMEOUT(held, by_a_ring_that_fails, SECONDS)
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

TEST_F_TIMEOUT(held, by_a_personality, SECONDS)
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
		end.id = nth ? fault_run(&self->fault, nth, register_one, &reg) :
			       register_one(&reg);
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
		ASSERT_EQ(0, nth ? fault_run(&self->fault, nth, register_one, &end) :
				   register_one(&end));
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
