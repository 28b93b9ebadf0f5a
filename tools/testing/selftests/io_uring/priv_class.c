// SPDX-License-Identifier: GPL-2.0
/*
 * The NVMe driver's commands class by class: who may issue them, and which ask.
 *
 * This test will check for each class that it is for everybody, for those with
 * CAP_SYS_ADMIN or for nobody, by io_uring, from io-wq and by ioctl(2) alike;
 * that capable() is called where the class calls for it, once per command; and
 * that on a ring whose privilege is cached it is not called at all. No command
 * reaches a device: their buffer is not mapped, as that of the probe.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ioctl.h>

#include "../kselftest_harness.h"
#include "capable_count.h"
#include "creds.h"
#include "nvme_ring.h"

#define UNMAPPED	4096
#define COMMANDS	20

enum who {
	EVERYBODY,
	THE_CAPABLE,
	NOBODY_AT_ALL,
};

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
	need_counting();
}

FIXTURE(class) {
	struct nvme_dev dev;
	struct ring ring;
	struct nvme_uring_cmd cmd;
	unsigned int op;
	enum who who;
	int fd;
};

FIXTURE_VARIANT(class) {
	bool admin;
	bool readonly;
	unsigned int opcode;
	unsigned int cdw10;
	enum who who;		/* since 6.2; before, each command asks */
};

FIXTURE_VARIANT_ADD(class, read) {
	.opcode = 0x02, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, read_on_a_readonly_file) {
	.opcode = 0x02, .readonly = true, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, write) {
	.opcode = 0x01, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, write_on_a_readonly_file) {
	.opcode = 0x01, .readonly = true, .who = THE_CAPABLE,
};

/* Dataset management: it transfers little and changes much. */
FIXTURE_VARIANT_ADD(class, discard_on_a_readonly_file) {
	.opcode = 0x09, .readonly = true, .who = THE_CAPABLE,
};

/* Reservation register: QEMU's controller does not list it among its commands. */
FIXTURE_VARIANT_ADD(class, unsupported) {
	.opcode = 0x0d, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, fabrics) {
	.opcode = 0x7f, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, first_vendor) {
	.opcode = 0x80, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, vendor) {
	.opcode = NVME_OP_VENDOR, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, identify_namespace) {
	.admin = true, .opcode = NVME_ADMIN_IDENTIFY, .cdw10 = 0, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, identify_controller) {
	.admin = true, .opcode = NVME_ADMIN_IDENTIFY, .cdw10 = 1, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, identify_command_set_namespace) {
	.admin = true, .opcode = NVME_ADMIN_IDENTIFY, .cdw10 = 5, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, identify_command_set_controller) {
	.admin = true, .opcode = NVME_ADMIN_IDENTIFY, .cdw10 = 6, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, identify_independent_namespace) {
	.admin = true, .opcode = NVME_ADMIN_IDENTIFY, .cdw10 = 8, .who = EVERYBODY,
};

FIXTURE_VARIANT_ADD(class, identify_namespace_list) {
	.admin = true, .opcode = NVME_ADMIN_IDENTIFY, .cdw10 = 2, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, get_log_page) {
	.admin = true, .opcode = NVME_ADMIN_GET_LOG_PAGE, .cdw10 = 2, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, get_features) {
	.admin = true, .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7, .who = THE_CAPABLE,
};

/* Volatile write cache. */
FIXTURE_VARIANT_ADD(class, set_features) {
	.admin = true, .opcode = 0x09, .cdw10 = 6, .who = THE_CAPABLE,
};

/* Number of queues: state of the controller that the driver manages itself. */
FIXTURE_VARIANT_ADD(class, set_features_of_the_driver) {
	.admin = true, .opcode = 0x09, .cdw10 = 7, .who = NOBODY_AT_ALL,
};

FIXTURE_VARIANT_ADD(class, format) {
	.admin = true, .opcode = 0x80, .who = THE_CAPABLE,
};

FIXTURE_VARIANT_ADD(class, admin_vendor) {
	.admin = true, .opcode = NVME_OP_VENDOR, .who = THE_CAPABLE,
};

FIXTURE_SETUP(class)
{
	char path[64];

	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 variant->admin ? self->dev.ctrl : self->dev.ns);
	self->fd = open(path, (variant->readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	ASSERT_LE(0, self->fd);

	self->op = variant->admin ? NVME_URING_CMD_ADMIN : NVME_URING_CMD_IO;
	self->cmd.opcode = variant->opcode;
	self->cmd.nsid = variant->admin ? 0 : self->dev.nsid;
	self->cmd.cdw10 = variant->cdw10;
	self->cmd.addr = UNMAPPED;
	self->cmd.data_len = UNMAPPED;
	self->who = nvme_fine_grained() ? variant->who : THE_CAPABLE;
	ASSERT_EQ(0, count_start());
}

FIXTURE_TEARDOWN(class)
{
	count_stop();
	close(self->fd);
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

static int want(enum who who, bool capable)
{
	return who == EVERYBODY || (who == THE_CAPABLE && capable) ? ALLOWED : REFUSED;
}

static long calls(enum who who, long commands)
{
	return who == THE_CAPABLE ? commands : 0;
}

static int by_ring(FIXTURE_DATA(class) * self, unsigned int sqe_flags)
{
	struct io_uring_sqe *sqe = ring_sqe(&self->ring);
	int res, ret;

	prep_cmd(sqe, self->fd, self->op, &self->cmd);
	sqe->flags = sqe_flags;
	ret = ring_run(&self->ring, &res);
	return ret ?: res;
}

static int by_ioctl(FIXTURE_DATA(class) * self, bool admin)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = self->cmd.opcode, .nsid = self->cmd.nsid, .cdw10 = self->cmd.cdw10,
		.addr = self->cmd.addr, .data_len = self->cmd.data_len,
	};
	unsigned long nr = admin ? NVME_IOCTL_ADMIN_CMD : NVME_IOCTL_IO_CMD;

	return ioctl(self->fd, nr, &cmd) < 0 ? -errno : 0;
}

TEST_F(class, drop_and_raise)
{
	int i;

	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		EXPECT_EQ(want(self->who, !(i & 1)), by_ring(self, 0));
	}
}

/* What the ring of its creator saves. */
TEST_F(class, hot_ring_never_asks)
{
	int i;

	for (i = 0; i < COMMANDS; i++)
		ASSERT_EQ(want(self->who, true), by_ring(self, 0));
	EXPECT_EQ(0, count_self());
}

TEST_F(class, uncached_asks)
{
	int i;

	ASSERT_EQ(0, cap_sys_admin(false));
	for (i = 0; i < COMMANDS; i++)
		ASSERT_EQ(want(self->who, false), by_ring(self, 0));
	EXPECT_EQ(calls(self->who, COMMANDS), count_self());
}

/* A worker has no cache: that shows what each class asks on every kernel. */
TEST_F(class, worker_asks)
{
	int i, round;

	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, cap_sys_admin(!round));
		for (i = 0; i < COMMANDS; i++)
			ASSERT_EQ(want(self->who, !round), by_ring(self, IOSQE_ASYNC));
		EXPECT_EQ(calls(self->who, COMMANDS * (round + 1)), count_named("iou-wrk-"));
	}
	EXPECT_EQ(0, count_self());
}

/* Nor has ioctl(2). */
TEST_F(class, ioctl_asks)
{
	int i, round;

	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, cap_sys_admin(!round));
		for (i = 0; i < COMMANDS; i++)
			ASSERT_EQ(want(self->who, !round), by_ioctl(self, variant->admin));
		EXPECT_EQ(calls(self->who, COMMANDS * (round + 1)), count_self());
	}
}

TEST_HARNESS_MAIN
