// SPDX-License-Identifier: GPL-2.0
/*
 * One namespace behind two controllers, used through the character device of
 * its multipath head.
 *
 * This test will check privileges on the head, then take one path away under
 * load: commands go on along the other one, and a drop is obeyed as before. The
 * path comes back by a rescan of the bus.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sys/stat.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

/* Up to two controllers of @dev's subsystem: how many there are. */
static int find_paths(const struct nvme_dev *dev, char path[2][32])
{
	char want[256], nqn[256];
	const char *name;
	int n = 0;
	glob_t g;
	size_t i;

	nvme_attr(dev->name, "subsysnqn", want);
	if (glob("/sys/class/nvme/nvme*", 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc && n < 2; i++) {
		name = strrchr(g.gl_pathv[i], '/') + 1;
		nvme_attr(name, "subsysnqn", nqn);
		if (!strcmp(nqn, want))
			snprintf(path[n++], 32, "%s", name);
	}
	globfree(&g);
	return n;
}

static void __attribute__((constructor)) needs(void)
{
	struct nvme_dev dev;
	char path[2][32];

	need_nvme(SERIAL_MULTI);
	if (nvme_open(&dev, SERIAL_MULTI))
		return;
	if (find_paths(&dev, path) < 2)
		ksft_exit_skip("the namespace of %s has one path only\n", dev.name);
	nvme_close(&dev);
}

FIXTURE(head) {
	struct nvme_dev dev;
	struct ring ring;
	char path[2][32];
	int nobody;
};

FIXTURE_SETUP(head)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_MULTI));
	ASSERT_EQ(2, find_paths(&self->dev, self->path));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	self->nobody = register_personality(self->ring.fd, true);
	ASSERT_LT(0, self->nobody);
}

FIXTURE_TEARDOWN(head)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

static int head_read(struct ring *ring, const struct nvme_dev *dev)
{
	/* The device wants its buffer aligned to four bytes. */
	__u32 buf[512 / sizeof(__u32)];
	const struct nvme_uring_cmd cmd = {
		.opcode = NVME_OP_READ, .nsid = dev->nsid,
		.addr = (uintptr_t)buf, .data_len = sizeof(buf),
	};

	return ring_cmd(ring, dev->ns, NVME_URING_CMD_IO, &cmd);
}

TEST_F(head, drop_and_raise)
{
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 5, ALLOWED));
		ASSERT_EQ(0, head_read(&self->ring, &self->dev));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, ring_probe_all(&self->ring, &self->dev, 5, REFUSED));
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_F(head, async_and_personality)
{
	EXPECT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, 0));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, 0, self->nobody));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, self->nobody));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, 0));
}

/* One ring, both controllers' own devices: the privilege belongs to the ring's user. */
TEST_F(head, admin_on_each_controller)
{
	struct nvme_uring_cmd cmd = { .opcode = NVME_ADMIN_GET_FEATURES, .cdw10 = 7 };
	char path[64];
	int i, fd;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/dev/%s", self->path[i]);
		fd = open(path, O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, cap_sys_admin(true));
		EXPECT_EQ(0, ring_cmd(&self->ring, fd, NVME_URING_CMD_ADMIN, &cmd));
		ASSERT_EQ(0, cap_sys_admin(false));
		EXPECT_EQ(REFUSED, ring_cmd(&self->ring, fd, NVME_URING_CMD_ADMIN, &cmd));
		close(fd);
	}
}

FIXTURE(removal) {
	struct nvme_dev dev;
	struct ring ring;
	char path[2][32];
	int nobody;
};

FIXTURE_VARIANT(removal) {
	/* Which of the two carries the commands is the kernel's choice: remove each. */
	int victim;
};

FIXTURE_VARIANT_ADD(removal, of_the_first_path) {
	.victim = 0,
};

FIXTURE_VARIANT_ADD(removal, of_the_second_path) {
	.victim = 1,
};

FIXTURE_SETUP(removal)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_MULTI));
	ASSERT_EQ(2, find_paths(&self->dev, self->path));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	self->nobody = register_personality(self->ring.fd, true);
	ASSERT_LT(0, self->nobody);
}

static int write_one(const char *path)
{
	int fd = open(path, O_WRONLY);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) != 1)
		ret = -errno;
	close(fd);
	return ret;
}

/* A path returns once its controller is live and its namespace scanned. */
static bool path_is_back(const struct nvme_dev *dev)
{
	char path[2][32], state[256];
	int i;

	if (find_paths(dev, path) != 2)
		return false;
	for (i = 0; i < 2; i++) {
		nvme_attr(path[i], "state", state);
		if (strcmp(state, "live"))
			return false;
	}
	return true;
}

FIXTURE_TEARDOWN(removal)
{
	struct nvme_dev left;
	int i;

	ring_exit(&self->ring);
	nvme_close(&self->dev);
	EXPECT_EQ(0, write_one("/sys/bus/pci/rescan"));
	ASSERT_EQ(0, nvme_open(&left, SERIAL_MULTI));
	for (i = 0; i < 200 && !path_is_back(&left); i++)
		usleep(50000);
	EXPECT_TRUE(path_is_back(&left));
	nvme_close(&left);
}

/* Reads on its own ring until told to stop; remembers any answer about privilege. */
struct load {
	pthread_t thread;
	const struct nvme_dev *dev;
	int stop;
	int broken;
	unsigned int refused;
	unsigned int reads;
};

static void *load(void *arg)
{
	struct load *l = arg;
	struct ring ring;
	int ret;

	l->broken = ring_init(&ring, 0);
	while (!l->broken && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		ret = head_read(&ring, l->dev);
		l->refused += ret == REFUSED;
		l->broken = ret == RING_BROKEN;
		__atomic_add_fetch(&l->reads, !ret, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F(removal, under_load)
{
	struct load l = { .dev = &self->dev };
	char remove[128];
	int i;

	snprintf(remove, sizeof(remove), "/sys/class/nvme/%s/device/remove",
		 self->path[variant->victim]);
	ASSERT_EQ(0, pthread_create(&l.thread, NULL, load, &l));
	while (!__atomic_load_n(&l.reads, __ATOMIC_RELAXED) && !l.broken)
		usleep(1000);
	EXPECT_EQ(0, write_one(remove));
	for (i = 0; i < 50; i++) {
		EXPECT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
		EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, 0, self->nobody));
	}
	__atomic_store_n(&l.stop, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(l.thread, NULL));
	EXPECT_EQ(0, l.broken);
	EXPECT_EQ(0, l.refused);

	EXPECT_EQ(0, head_read(&self->ring, &self->dev));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe_all(&self->ring, &self->dev, 10, REFUSED));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 10, ALLOWED));
}

TEST_HARNESS_MAIN
