// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.io_uring_cmd_priv_cache switches the cached privilege of rings off (0)
 * and on (1, or 2 to keep it while BPF programs are attached) at run time.
 *
 * This test will check that a change reaches a hot ring at its next command, that
 * answers stay right throughout, and that only CAP_SYS_ADMIN in the initial
 * user namespace may write, and only these values.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

#include "../kselftest_harness.h"
#include "capable_count.h"
#include "creds.h"
#include "nvme_ring.h"

#define SYSCTL	"/proc/sys/kernel/io_uring_cmd_priv_cache"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
	need_counting();
}

static int sysctl_get(int fd)
{
	char buf[16] = "";

	return pread(fd, buf, sizeof(buf) - 1, 0) < 0 ? -errno : atoi(buf);
}

static int sysctl_set(int fd, const char *value)
{
	return pwrite(fd, value, strlen(value), 0) < 0 ? -errno : 0;
}

static int sysctl_set_int(int fd, int value)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%d", value);
	return sysctl_set(fd, buf);
}

FIXTURE(sysctl) {
	struct nvme_dev dev;
	struct ring ring;
	unsigned int n;
	int found;
	int fd;
};

FIXTURE_SETUP(sysctl)
{
	self->fd = open(SYSCTL, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->found = sysctl_get(self->fd);
	ASSERT_EQ(0, sysctl_set(self->fd, "1"));
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	ASSERT_EQ(0, count_start());
	self->n = rounds(1000);
}

FIXTURE_TEARDOWN(sysctl)
{
	count_stop();
	cap_sys_admin(true);
	EXPECT_EQ(0, sysctl_set_int(self->fd, self->found));
	ring_exit(&self->ring);
	nvme_close(&self->dev);
	close(self->fd);
}

TEST_F(sysctl, is_on_by_default)
{
	EXPECT_EQ(1, self->found);
}

TEST_F(sysctl, off_on_a_hot_ring)
{
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
	ASSERT_EQ(0, sysctl_set(self->fd, "0"));
	EXPECT_EQ(self->n, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

TEST_F(sysctl, on_again_asks_once)
{
	ASSERT_EQ(0, sysctl_set(self->fd, "0"));
	EXPECT_EQ(10, count_probes(&self->ring, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, sysctl_set(self->fd, "1"));
	EXPECT_EQ(1, count_probes(&self->ring, &self->dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

/* Without a BPF program 2 is as good as 1. */
TEST_F(sysctl, two_caches)
{
	ASSERT_EQ(0, sysctl_set(self->fd, "2"));
	EXPECT_GE(1, count_probes(&self->ring, &self->dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
	ASSERT_EQ(0, sysctl_set(self->fd, "0"));
	EXPECT_EQ(10, count_probes(&self->ring, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, sysctl_set(self->fd, "2"));
	EXPECT_EQ(1, count_probes(&self->ring, &self->dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

TEST_F(sysctl, off_when_the_ring_is_made)
{
	ASSERT_EQ(0, sysctl_set(self->fd, "0"));
	ring_exit(&self->ring);
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	EXPECT_EQ(0, ring_priv_cached(&self->ring));
	EXPECT_EQ(10, count_probes(&self->ring, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, sysctl_set(self->fd, "1"));
	EXPECT_EQ(1, count_probes(&self->ring, &self->dev, 1, ALLOWED));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, self->n, ALLOWED));
}

/* What has been cached before is not believed afterwards. */
TEST_F(sysctl, drop_while_off)
{
	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, sysctl_set(self->fd, "0"));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(0, sysctl_set(self->fd, "1"));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
}

TEST_F(sysctl, fdinfo)
{
	EXPECT_EQ(1, ring_priv_cached(&self->ring));
	ASSERT_EQ(0, sysctl_set(self->fd, "0"));
	EXPECT_EQ(0, ring_priv_cached(&self->ring));
	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	EXPECT_EQ(0, ring_priv_cached(&self->ring));
	ASSERT_EQ(0, sysctl_set(self->fd, "1"));
	EXPECT_EQ(0, ring_priv_cached(&self->ring));
	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	EXPECT_EQ(1, ring_priv_cached(&self->ring));
}

struct flipper {
	pthread_t thread;
	int fd;
	int stop;
	int failed;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;
	int value = 0;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		f->failed = f->failed ?: sysctl_set_int(f->fd, value);
		value = (value + 1) % 3;
	}
	return NULL;
}

/* The thread that flips keeps its privilege, the one that sends commands does not. */
TEST_F(sysctl, flipped_under_load)
{
	int nobody = register_personality(self->ring.fd, true);
	struct flipper f = { .fd = self->fd };
	unsigned int i;

	ASSERT_LT(0, nobody);
	ASSERT_EQ(0, pthread_create(&f.thread, NULL, flip, &f));
	for (i = 0; i < self->n; i++) {
		EXPECT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
		EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, 0, nobody));
		EXPECT_EQ(0, cap_sys_admin(false));
		EXPECT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
		EXPECT_EQ(0, cap_sys_admin(true));
	}
	__atomic_store_n(&f.stop, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(f.thread, NULL));
	EXPECT_EQ(0, f.failed);
}

TEST_F(sysctl, write_without_capability)
{
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(-EPERM, sysctl_set(self->fd, "0"));
	EXPECT_EQ(1, sysctl_get(self->fd));
	ASSERT_EQ(0, cap_sys_admin(true));
	/* Nor has the attempt switched anything off. */
	EXPECT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	EXPECT_EQ(0, count_probes(&self->ring, &self->dev, 10, ALLOWED));
	EXPECT_EQ(0, sysctl_set(self->fd, "0"));
	EXPECT_EQ(0, sysctl_get(self->fd));
}

static int write_in_userns(void *arg)
{
	int map, ret, fd = *(int *)arg;

	if (unshare(CLONE_NEWUSER))
		return -errno;
	map = open("/proc/self/uid_map", O_WRONLY);
	if (map < 0 || write(map, "0 0 1", 5) != 5)
		return -EIO;
	/* Through the inherited descriptor, then through one of its own. */
	ret = sysctl_set(fd, "0");
	if (ret != -EPERM)
		return -EPROTO;
	fd = open(SYSCTL, O_RDWR);
	return fd < 0 ? -EBADF : sysctl_set(fd, "0");
}

TEST_F(sysctl, write_as_root_of_a_user_namespace)
{
	EXPECT_EQ(-EPERM, in_child(write_in_userns, &self->fd));
	EXPECT_EQ(1, sysctl_get(self->fd));
}

FIXTURE(value) {
	int found;
	int fd;
};

FIXTURE_VARIANT(value) {
	const char *text;
	int want;
};

FIXTURE_VARIANT_ADD(value, zero) {
	.text = "0",
};

FIXTURE_VARIANT_ADD(value, one) {
	.text = "1",
};

FIXTURE_VARIANT_ADD(value, two) {
	.text = "2",
};

FIXTURE_VARIANT_ADD(value, minus_one) {
	.text = "-1", .want = -EINVAL,
};

FIXTURE_VARIANT_ADD(value, three) {
	.text = "3", .want = -EINVAL,
};

FIXTURE_VARIANT_ADD(value, huge) {
	.text = "4294967297", .want = -EINVAL,
};

FIXTURE_VARIANT_ADD(value, word) {
	.text = "on", .want = -EINVAL,
};

FIXTURE_SETUP(value)
{
	self->fd = open(SYSCTL, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->found = sysctl_get(self->fd);
}

FIXTURE_TEARDOWN(value)
{
	EXPECT_EQ(0, sysctl_set_int(self->fd, self->found));
	close(self->fd);
}

TEST_F(value, write)
{
	ASSERT_EQ(variant->want, sysctl_set(self->fd, variant->text));
	EXPECT_EQ(variant->want ? self->found : atoi(variant->text), sysctl_get(self->fd));
}

TEST_HARNESS_MAIN
