// SPDX-License-Identifier: GPL-2.0
/*
 * Commands on a ring with a cached privilege, while the kernel runs out of memory or
 * cannot copy from or to the user's, at one place after the other.
 *
 * This test will check that no failure lets a command pass without privilege, that
 * with privilege a command works or says what it lacked, and that the next one is
 * judged as ever.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "creds.h"
#include "priv_fault.h"

#define BUF_SIZE	4096
#define LOG_SIZE	512
#define UNTOUCHED	0xa5

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

TEST_F_TIMEOUT(issue, privileged, FAULT_TIMEOUT)
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

TEST_F_TIMEOUT(issue, dropped, FAULT_TIMEOUT)
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
TEST_F_TIMEOUT(issue, taking_turns, FAULT_TIMEOUT)
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

TEST_HARNESS_MAIN
