// SPDX-License-Identifier: GPL-2.0
/*
 * Encoded reads and writes of a file on a real btrfs, by io_uring and ioctl(2).
 *
 * This test will check that they work with CAP_SYS_ADMIN and are refused
 * without, whoever made the ring, and count how often they ask for it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/btrfs.h>

#include "../kselftest_harness.h"
#include "capable_count.h"
#include "creds.h"
#include "nvme_ring.h"

#define MOUNT	"/tmp/priv_btrfs"
#define TAKES	4096		/* bytes of an encoded extent ... */
#define STANDS	65536		/* ... and of the file that it stands for */
#define BYTE	0x5a

static pid_t mounted_by;

static bool btrfs_in_kernel(void)
{
	bool ret = false;
	char line[64];
	FILE *f;

	f = fopen("/proc/filesystems", "r");
	while (f && !ret && fgets(line, sizeof(line), f))
		ret = strstr(line, "\tbtrfs\n");
	if (f)
		fclose(f);
	return ret;
}

static int block_device(char path[64])
{
	struct nvme_dev dev;
	char pattern[64];
	glob_t g;

	if (nvme_open(&dev, SERIAL_PLAIN))
		return -ENODEV;
	nvme_close(&dev);
	snprintf(pattern, sizeof(pattern), "/sys/class/nvme/%s/nvme*n*", dev.name);
	if (glob(pattern, 0, NULL, &g))
		return -ENODEV;
	snprintf(path, 64, "/dev/%s", strrchr(g.gl_pathv[0], '/') + 1);
	globfree(&g);
	return 0;
}

static void prep_encoded(struct io_uring_sqe *sqe, int fd, unsigned int op,
			 const struct btrfs_ioctl_encoded_io_args *args)
{
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = op;
	sqe->addr = (uintptr_t)args;
}

static void __attribute__((constructor)) needs(void)
{
	struct btrfs_ioctl_encoded_io_args args = { .flags = 1 };
	char path[64], cmd[128];
	struct ring ring;
	int fd, res = 0;

	need_nvme(SERIAL_PLAIN);
	need_counting();
	if (!btrfs_in_kernel())
		ksft_exit_skip("this kernel has no btrfs\n");
	if (block_device(path))
		ksft_exit_skip("no block device for a file system\n");
	snprintf(cmd, sizeof(cmd), "mkfs.btrfs -q -f %s >&2", path);
	if (system(cmd))
		ksft_exit_skip("mkfs.btrfs does not work here (package btrfs-progs?)\n");
	mkdir(MOUNT, 0700);
	if (mount(path, MOUNT, "btrfs", 0, NULL))
		ksft_exit_skip("cannot mount a btrfs: %s\n", strerror(errno));
	mounted_by = getpid();

	fd = open(MOUNT "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (!ring_init_small(&ring, 0)) {
		prep_encoded(ring_sqe(&ring), fd, BTRFS_IOC_ENCODED_READ, &args);
		if (ring_run(&ring, &res))
			res = RING_BROKEN;
		ring_exit(&ring);
	}
	close(fd);
	/* Who knows the command has something to say about the flags. */
	if (res == -EOPNOTSUPP || res == -ENOTTY || res == RING_BROKEN)
		ksft_exit_skip("this kernel's btrfs has no encoded I/O by io_uring\n");
}

static void __attribute__((destructor)) unmount(void)
{
	if (mounted_by != getpid())
		return;
	umount(MOUNT);
	rmdir(MOUNT);
}

struct encoded {
	struct btrfs_ioctl_encoded_io_args args;
	struct iovec iov;
	struct ring ring;
	unsigned char buf[STANDS];
	bool reading;
	int fd;
};

FIXTURE(encoded) {
	struct encoded e;
};

FIXTURE_VARIANT(encoded) {
	unsigned long op;
};

FIXTURE_VARIANT_ADD(encoded, read) {
	.op = BTRFS_IOC_ENCODED_READ,
};

FIXTURE_VARIANT_ADD(encoded, write) {
	.op = BTRFS_IOC_ENCODED_WRITE,
};

/* The file's only extent. What it holds is looked at by who wants it decoded. */
static void as_written(struct btrfs_ioctl_encoded_io_args *args, struct iovec *iov, void *buf)
{
	memset(args, 0, sizeof(*args));
	iov->iov_base = buf;
	iov->iov_len = TAKES;
	args->iov = iov;
	args->iovcnt = 1;
	args->len = STANDS;
	args->unencoded_len = STANDS;
	args->compression = BTRFS_ENCODED_IO_COMPRESSION_ZLIB;
}

FIXTURE_SETUP(encoded)
{
	ASSERT_EQ(0, ring_init_small(&self->e.ring, 0));
	self->e.fd = open(MOUNT "/file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->e.fd);
	memset(self->e.buf, BYTE, sizeof(self->e.buf));
	as_written(&self->e.args, &self->e.iov, self->e.buf);
	ASSERT_EQ(TAKES, ioctl(self->e.fd, BTRFS_IOC_ENCODED_WRITE, &self->e.args));
	ASSERT_EQ(0, fsync(self->e.fd));
	self->e.reading = variant->op == BTRFS_IOC_ENCODED_READ;
	if (self->e.reading) {
		memset(self->e.buf, 0, sizeof(self->e.buf));
		self->e.iov.iov_len = sizeof(self->e.buf);
	}
	ASSERT_EQ(0, count_start());
}

FIXTURE_TEARDOWN(encoded)
{
	count_stop();
	ring_exit(&self->e.ring);
	close(self->e.fd);
}

static int run_as(struct encoded *e, unsigned int sqe_flags, unsigned int personality)
{
	struct io_uring_sqe *sqe = ring_sqe(&e->ring);
	int res;

	/* A read leaves there what it found. */
	if (e->reading)
		e->args = (struct btrfs_ioctl_encoded_io_args){ .iov = &e->iov, .iovcnt = 1 };
	prep_encoded(sqe, e->fd, e->reading ? BTRFS_IOC_ENCODED_READ : BTRFS_IOC_ENCODED_WRITE,
		     &e->args);
	sqe->flags = sqe_flags;
	sqe->personality = personality;
	return ring_run(&e->ring, &res) ? RING_BROKEN : res;
}

TEST_F(encoded, drop_and_raise)
{
	int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(TAKES, run_as(&self->e, 0, 0));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(-EPERM, run_as(&self->e, 0, 0));
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_F(encoded, async)
{
	int i;

	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, cap_sys_admin(!(i & 1)));
		EXPECT_EQ(i & 1 ? -EPERM : TAKES, run_as(&self->e, IOSQE_ASYNC, 0));
	}
}

TEST_F(encoded, personality_of_nobody)
{
	int nobody = register_personality(self->e.ring.fd, true);
	int i;

	ASSERT_LT(0, nobody);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(TAKES, run_as(&self->e, 0, 0));
		EXPECT_EQ(-EPERM, run_as(&self->e, 0, nobody));
	}
}

/* A refused command changes neither the buffer nor the file. */
TEST_F(encoded, content)
{
	struct btrfs_ioctl_encoded_io_args args = { .iovcnt = 1 };
	unsigned char got[STANDS];
	const struct iovec iov = { .iov_base = got, .iov_len = sizeof(got) };
	bool reading = self->e.reading;
	int i;

	if (!reading)
		memset(self->e.buf, BYTE + 1, sizeof(self->e.buf));
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(-EPERM, run_as(&self->e, 0, 0));
	for (i = 0; i < TAKES; i++)
		ASSERT_EQ(reading ? 0 : BYTE + 1, self->e.buf[i]);

	ASSERT_EQ(0, cap_sys_admin(true));
	args.iov = &iov;
	ASSERT_EQ(TAKES, ioctl(self->e.fd, BTRFS_IOC_ENCODED_READ, &args));
	ASSERT_EQ(BTRFS_ENCODED_IO_COMPRESSION_ZLIB, args.compression);
	for (i = 0; i < TAKES; i++)
		ASSERT_EQ(BYTE, got[i]);

	ASSERT_EQ(TAKES, run_as(&self->e, 0, 0));
	ASSERT_EQ(TAKES, ioctl(self->e.fd, BTRFS_IOC_ENCODED_READ, &args));
	for (i = 0; i < TAKES; i++) {
		ASSERT_EQ(reading ? BYTE : BYTE + 1, got[i]);
		ASSERT_EQ(got[i], self->e.buf[i]);
	}
}

TEST_F(encoded, cached_never_asks)
{
	unsigned int i, n = rounds(100);
	long before = count_self();

	for (i = 0; i < n; i++)
		ASSERT_EQ(TAKES, run_as(&self->e, 0, 0));
	EXPECT_EQ(0, count_self() - before);
}

/* A write may not block where it is submitted, so it is io-wq that writes. */
TEST_F(encoded, in_io_wq_asks)
{
	bool reading = self->e.reading;
	unsigned int i, n = rounds(20);
	long before = count_self();

	for (i = 0; i < n; i++)
		ASSERT_EQ(TAKES, run_as(&self->e, reading ? IOSQE_ASYNC : 0, 0));
	EXPECT_EQ(n, count_named("iou-wrk-"));
	if (reading)
		EXPECT_EQ(0, count_self() - before);
}

TEST_F(encoded, refused_asks)
{
	unsigned int i, n = rounds(100);
	long before = count_self();

	ASSERT_EQ(0, cap_sys_admin(false));
	for (i = 0; i < n; i++)
		ASSERT_EQ(-EPERM, run_as(&self->e, 0, 0));
	EXPECT_EQ(n, count_self() - before);
}

TEST_F(encoded, ioctl)
{
	int i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(TAKES, run_as(&self->e, 0, 0));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(-1, ioctl(self->e.fd, variant->op, &self->e.args));
		ASSERT_EQ(EPERM, errno);
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_HARNESS_MAIN
