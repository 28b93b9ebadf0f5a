// SPDX-License-Identifier: GPL-2.0
/*
 * The NVMe driver's privileged commands, for real: I/O and admin, plain and
 * vectored, by io_uring and by ioctl(2).
 *
 * This test will check that they work with CAP_SYS_ADMIN and are refused
 * without, and that rules which refuse a command whatever the caller may do
 * come before that question, as ever.
 */
#define _GNU_SOURCE
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

#define BUF_SIZE	4096
#define UNTOUCHED	0xa5

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(command) {
	struct nvme_dev dev;
	struct ring ring;
	struct nvme_uring_cmd cmd;
	struct iovec iov[2];
	unsigned char *buf;
	int fd;
};

FIXTURE_VARIANT(command) {
	unsigned int op;
	unsigned int opcode;
	unsigned int len;
	unsigned int cdw10;
	/* Since 6.2 no privilege is needed. */
	bool ordinary;
};

FIXTURE_VARIANT_ADD(command, read) {
	.op = NVME_URING_CMD_IO, .opcode = NVME_OP_READ, .len = 512, .ordinary = true,
};

FIXTURE_VARIANT_ADD(command, read_vec) {
	.op = NVME_URING_CMD_IO_VEC, .opcode = NVME_OP_READ, .len = 512, .ordinary = true,
};

FIXTURE_VARIANT_ADD(command, flush) {
	.op = NVME_URING_CMD_IO, .opcode = NVME_OP_FLUSH, .ordinary = true,
};

FIXTURE_VARIANT_ADD(command, identify) {
	.op = NVME_URING_CMD_ADMIN, .opcode = NVME_ADMIN_IDENTIFY, .len = BUF_SIZE,
	.cdw10 = 1, .ordinary = true,
};

FIXTURE_VARIANT_ADD(command, identify_vec) {
	.op = NVME_URING_CMD_ADMIN_VEC, .opcode = NVME_ADMIN_IDENTIFY, .len = BUF_SIZE,
	.cdw10 = 1, .ordinary = true,
};

FIXTURE_VARIANT_ADD(command, health_log) {
	.op = NVME_URING_CMD_ADMIN, .opcode = NVME_ADMIN_GET_LOG_PAGE, .len = 512,
	.cdw10 = (512 / 4 - 1) << 16 | 2,
};

FIXTURE_VARIANT_ADD(command, health_log_vec) {
	.op = NVME_URING_CMD_ADMIN_VEC, .opcode = NVME_ADMIN_GET_LOG_PAGE, .len = 512,
	.cdw10 = (512 / 4 - 1) << 16 | 2,
};

/* Number of queues: no data, the answer is in the CQE. */
FIXTURE_VARIANT_ADD(command, get_features) {
	.op = NVME_URING_CMD_ADMIN, .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7,
};

static bool is_admin(unsigned int op)
{
	return op == NVME_URING_CMD_ADMIN || op == NVME_URING_CMD_ADMIN_VEC;
}

static bool is_vec(unsigned int op)
{
	return op == NVME_URING_CMD_IO_VEC || op == NVME_URING_CMD_ADMIN_VEC;
}

FIXTURE_SETUP(command)
{
	void *buf;

	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	ASSERT_EQ(0, posix_memalign(&buf, BUF_SIZE, BUF_SIZE));
	self->buf = buf;
	memset(buf, UNTOUCHED, BUF_SIZE);
	self->iov[0].iov_base = buf;
	self->iov[0].iov_len = variant->len / 2;
	self->iov[1].iov_base = self->buf + variant->len / 2;
	self->iov[1].iov_len = variant->len / 2;

	self->fd = is_admin(variant->op) ? self->dev.ctrl : self->dev.ns;
	self->cmd.opcode = variant->opcode;
	self->cmd.nsid = is_admin(variant->op) ? 0 : self->dev.nsid;
	self->cmd.cdw10 = variant->cdw10;
	if (variant->opcode == NVME_ADMIN_GET_LOG_PAGE && is_admin(variant->op))
		self->cmd.nsid = -1U;
	if (variant->len) {
		self->cmd.addr = is_vec(variant->op) ? (uintptr_t)self->iov : (uintptr_t)buf;
		self->cmd.data_len = is_vec(variant->op) ? 2 : variant->len;
	}
}

FIXTURE_TEARDOWN(command)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
	free(self->buf);
}

TEST_F(command, drop_and_raise)
{
	int i, want = variant->ordinary && nvme_fine_grained() ? 0 : REFUSED;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, ring_cmd(&self->ring, self->fd, variant->op, &self->cmd));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(want, ring_cmd(&self->ring, self->fd, variant->op, &self->cmd));
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_F(command, async)
{
	int res, want = variant->ordinary && nvme_fine_grained() ? 0 : REFUSED;
	struct io_uring_sqe *sqe;
	int i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		sqe = ring_sqe(&self->ring);
		prep_cmd(sqe, self->fd, variant->op, &self->cmd);
		sqe->flags = IOSQE_ASYNC;
		ASSERT_EQ(0, ring_run(&self->ring, &res));
		ASSERT_EQ(i & 1 ? want : 0, res);
	}
}

/* A refused command reaches neither the device nor the buffer. */
TEST_F(command, buffer)
{
	unsigned int i;

	if (!variant->len)
		SKIP(return, "this command transfers no data");
	if (variant->ordinary && nvme_fine_grained())
		SKIP(return, "since 6.2 this command needs no privilege");
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(REFUSED, ring_cmd(&self->ring, self->fd, variant->op, &self->cmd));
	for (i = 0; i < variant->len; i++)
		ASSERT_EQ(UNTOUCHED, self->buf[i]);
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(0, ring_cmd(&self->ring, self->fd, variant->op, &self->cmd));
	for (i = 0; i < variant->len && self->buf[i] == UNTOUCHED; i++)
		;
	ASSERT_GT(variant->len, i);
	if (variant->opcode == NVME_ADMIN_IDENTIFY)
		ASSERT_EQ(0, memcmp(self->buf + 4, SERIAL_PLAIN, strlen(SERIAL_PLAIN)));
}

TEST_F(command, deep_queue)
{
	int i, res[32];

	for (i = 0; i < 32; i++)
		prep_cmd(ring_sqe(&self->ring), self->fd, variant->op, &self->cmd);
	ASSERT_EQ(0, ring_run(&self->ring, res));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(0, res[i]);
}

/* 6.1 has no polled admin commands; the harness says what its kernel does. */
TEST_F(command, on_a_polled_ring)
{
	int i, res, fine = variant->ordinary && nvme_fine_grained() ? 0 : REFUSED;
	const char *env = getenv("RINGCAP_ADMIN_IOPOLL");
	bool polled = !is_admin(variant->op) || (env && !strcmp(env, "allowed"));
	struct ring ring;

	/* 6.1 keeps what to poll where it puts the callback of a finished command. */
	if (!variant->len && !is_admin(variant->op) && !nvme_fine_grained())
		SKIP(return, "6.1 crashes on polling for a command without data");
	ASSERT_EQ(0, ring_init(&ring, IORING_SETUP_IOPOLL));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		res = ring_cmd(&ring, self->fd, variant->op, &self->cmd);
		EXPECT_EQ(!polled ? -EOPNOTSUPP : i & 1 ? fine : 0, res);
	}
	ring_exit(&ring);
}

/* Refused for what it is, before anybody asks who sends it. */
TEST_F(command, small_ring)
{
	const unsigned int flags[] = { 0, IORING_SETUP_SQE128, IORING_SETUP_CQE32 };
	struct ring ring;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, cap_sys_admin(true));
		ASSERT_EQ(0, ring_init_small(&ring, flags[i]));
		EXPECT_EQ(-EOPNOTSUPP, ring_cmd(&ring, self->fd, variant->op, &self->cmd));
		ASSERT_EQ(0, cap_sys_admin(false));
		EXPECT_EQ(-EOPNOTSUPP, ring_cmd(&ring, self->fd, variant->op, &self->cmd));
		ring_exit(&ring);
	}
}

/* I/O on the controller's device and admin on the namespace's: no such command. */
TEST_F(command, wrong_device)
{
	int fd = is_admin(variant->op) ? self->dev.ns : self->dev.ctrl;

	EXPECT_EQ(-ENOTTY, ring_cmd(&self->ring, fd, variant->op, &self->cmd));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(-ENOTTY, ring_cmd(&self->ring, fd, variant->op, &self->cmd));
}

/* Each kernel looks at the flags where it always has: before 6.2 after the privilege. */
TEST_F(command, bad_flags)
{
	self->cmd.flags = 1;
	EXPECT_EQ(-EINVAL, ring_cmd(&self->ring, self->fd, variant->op, &self->cmd));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(nvme_fine_grained() ? -EINVAL : REFUSED,
		  ring_cmd(&self->ring, self->fd, variant->op, &self->cmd));
}

FIXTURE(ioctl) {
	struct nvme_dev dev;
	struct ring ring;
};

FIXTURE_VARIANT(ioctl) {
	unsigned long nr;
	unsigned int opcode;
	unsigned int cdw10;
	bool ordinary;
};

FIXTURE_VARIANT_ADD(ioctl, admin) {
	.nr = NVME_IOCTL_ADMIN_CMD, .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7,
};

FIXTURE_VARIANT_ADD(ioctl, admin64) {
	.nr = NVME_IOCTL_ADMIN64_CMD, .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7,
};

FIXTURE_VARIANT_ADD(ioctl, io) {
	.nr = NVME_IOCTL_IO_CMD, .opcode = NVME_OP_FLUSH, .ordinary = true,
};

FIXTURE_VARIANT_ADD(ioctl, io64) {
	.nr = NVME_IOCTL_IO64_CMD, .opcode = NVME_OP_FLUSH, .ordinary = true,
};

FIXTURE_SETUP(ioctl)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
}

FIXTURE_TEARDOWN(ioctl)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

static int nvme_ioctl(const struct nvme_dev *dev, unsigned long nr, unsigned int opcode,
		      unsigned int cdw10)
{
	bool admin = nr == NVME_IOCTL_ADMIN_CMD || nr == NVME_IOCTL_ADMIN64_CMD;
	/* The 64 bit form begins in the same way and has a longer end. */
	struct nvme_passthru_cmd64 cmd = {
		.opcode = opcode, .cdw10 = cdw10, .nsid = admin ? 0 : dev->nsid,
	};

	return ioctl(admin ? dev->ctrl : dev->ns, nr, &cmd) < 0 ? -errno : 0;
}

/* A hot privileged ring beside it makes no difference to ioctl(2). */
TEST_F(ioctl, drop_and_raise)
{
	int i, want = variant->ordinary && nvme_fine_grained() ? 0 : REFUSED;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
		ASSERT_EQ(0, nvme_ioctl(&self->dev, variant->nr, variant->opcode,
					variant->cdw10));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(want, nvme_ioctl(&self->dev, variant->nr, variant->opcode,
					   variant->cdw10));
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_HARNESS_MAIN
