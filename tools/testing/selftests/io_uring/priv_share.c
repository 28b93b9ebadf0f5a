// SPDX-License-Identifier: GPL-2.0
/*
 * A ring is made as root and then used by somebody else: a forked child, a
 * process that takes its descriptor, the program that exec(2) puts in place of the
 * maker.
 *
 * This test will check that each user is judged by its own credentials,
 * whoever made the ring and whoever used it last.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <linux/capability.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

static int keep_all(void)
{
	return 0;
}

static int drop_effective(void)
{
	return cap_sys_admin(false);
}

static int drop_userns(void)
{
	return unshare(CLONE_NEWUSER) ? -errno : 0;
}

/* Takes effect at exec only. */
static int drop_bounding(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) ? -errno : 0;
}

/* What a child gets. */
struct shared {
	struct nvme_dev dev;
	struct ring ring;
	int (*become)(void);
};

FIXTURE(share) {
	struct shared s;
};

FIXTURE_VARIANT(share) {
	int (*become)(void);
	int want;
	/* Root gets its capabilities back at exec, unless they left the bounding set. */
	int after_exec;
};

FIXTURE_VARIANT_ADD(share, privileged) {
	.become = keep_all, .want = ALLOWED, .after_exec = ALLOWED,
};

FIXTURE_VARIANT_ADD(share, capset) {
	.become = drop_effective, .want = REFUSED, .after_exec = ALLOWED,
};

FIXTURE_VARIANT_ADD(share, setuid) {
	.become = become_nobody, .want = REFUSED, .after_exec = REFUSED,
};

FIXTURE_VARIANT_ADD(share, userns) {
	.become = drop_userns, .want = REFUSED, .after_exec = REFUSED,
};

FIXTURE_VARIANT_ADD(share, bounding_set) {
	.become = drop_bounding, .want = ALLOWED, .after_exec = REFUSED,
};

FIXTURE_SETUP(share)
{
	self->s.become = variant->become;
	ASSERT_EQ(0, nvme_open(&self->s.dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->s.ring, 0));
}

FIXTURE_TEARDOWN(share)
{
	ring_exit(&self->s.ring);
	nvme_close(&self->s.dev);
}

static int probe_after_change(void *arg)
{
	struct shared *s = arg;
	int ret = s->become();

	return ret ?: ring_probe_all(&s->ring, &s->dev, 10, ALLOWED);
}

TEST_F(share, forked_child)
{
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->s.ring, &self->s.dev, 10, ALLOWED));
	ASSERT_EQ(variant->want, in_child(probe_after_change, &self->s));
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->s.ring, &self->s.dev, 10, ALLOWED));
}

TEST_F(share, parent_and_child_take_turns)
{
	unsigned int i, n = rounds(20);

	for (i = 0; i < n; i++) {
		ASSERT_EQ(ALLOWED, ring_probe(&self->s.ring, &self->s.dev));
		ASSERT_EQ(variant->want, in_child(probe_after_change, &self->s));
	}
}

/* The parent gives up, the child, forked before, has not. */
TEST_F(share, parent_drops_child_keeps)
{
	int sync[2];
	char c = 0;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sync));
	ASSERT_EQ(ALLOWED, ring_probe(&self->s.ring, &self->s.dev));
	pid = fork();
	if (!pid) {
		if (read(sync[1], &c, 1) != 1)
			_exit(1);
		_exit(-ring_probe_all(&self->s.ring, &self->s.dev, 10, ALLOWED));
	}
	ASSERT_EQ(0, variant->become());
	EXPECT_EQ(variant->want, ring_probe(&self->s.ring, &self->s.dev));
	EXPECT_EQ(1, write(sync[0], &c, 1));
	EXPECT_EQ(ALLOWED, child_result(pid));
	EXPECT_EQ(variant->want, ring_probe(&self->s.ring, &self->s.dev));
}

/* What takes a ring from its owner: by descriptor, as sockets no longer carry rings. */
struct owner {
	struct io_uring_params p;
	int ring_fd;
	int dev_fd;
	unsigned int nsid;
	pid_t pid;
};

static int tell_ring(int sock, const struct ring *r, const struct nvme_dev *dev)
{
	const struct owner owner = {
		.p = r->p, .ring_fd = r->fd, .dev_fd = dev->ns, .nsid = dev->nsid,
		.pid = getpid(),
	};

	return write(sock, &owner, sizeof(owner)) == sizeof(owner) ? 0 : -EIO;
}

static int take_ring(int sock, struct ring *r, struct nvme_dev *dev)
{
	struct owner owner;
	int pidfd, fd;

	if (read(sock, &owner, sizeof(owner)) != sizeof(owner))
		return -EIO;
	pidfd = syscall(SYS_pidfd_open, owner.pid, 0);
	fd = syscall(SYS_pidfd_getfd, pidfd, owner.ring_fd, 0);
	dev->ns = syscall(SYS_pidfd_getfd, pidfd, owner.dev_fd, 0);
	dev->nsid = owner.nsid;
	close(pidfd);
	return fd < 0 || dev->ns < 0 ? -EIO : ring_map(r, fd, &owner.p);
}

/* The receiver never had the ring by inheritance. */
TEST_F(share, taken_by_descriptor)
{
	struct ring ring, hot;
	struct nvme_dev dev;
	int sock[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock));
	pid = fork();
	if (!pid) {
		close(sock[0]);
		if (take_ring(sock[1], &ring, &dev) || variant->become())
			_exit(1);
		_exit(-ring_probe_all(&ring, &dev, 10, ALLOWED));
	}
	ASSERT_EQ(0, ring_init(&hot, 0));
	ASSERT_EQ(ALLOWED, ring_probe_all(&hot, &self->s.dev, 10, ALLOWED));
	ASSERT_EQ(0, tell_ring(sock[0], &hot, &self->s.dev));
	EXPECT_EQ(variant->want, child_result(pid));
	EXPECT_EQ(ALLOWED, ring_probe(&hot, &self->s.dev));
	ring_exit(&hot);
}

static int set_inheritable(int fd)
{
	return fcntl(fd, F_SETFD, 0);
}

/* A file on the descriptors' table with what the new program needs to map the ring. */
static int params_file(const struct ring *r)
{
	int fd = memfd_create("ring", 0);

	if (fd < 0 || write(fd, &r->p, sizeof(r->p)) != sizeof(r->p))
		return -EIO;
	return fd;
}

static int exec_after_change(void *arg)
{
	struct shared *s = arg;
	char path[PATH_MAX] = "", args[4][16];
	int dir, params = params_file(&s->ring);

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return -EIO;
	/* Opened with root's rights, used without. */
	dir = open(dirname(path), O_PATH);
	set_inheritable(s->ring.fd);
	set_inheritable(s->dev.ns);
	if (params < 0 || dir < 0 || s->become())
		return -EIO;
	snprintf(args[0], sizeof(args[0]), "%d", s->ring.fd);
	snprintf(args[1], sizeof(args[1]), "%d", params);
	snprintf(args[2], sizeof(args[2]), "%d", s->dev.ns);
	snprintf(args[3], sizeof(args[3]), "%u", s->dev.nsid);
	if (fchdir(dir))
		return -errno;
	execl("priv_exec_child", "priv_exec_child", args[0], args[1], args[2], args[3], NULL);
	return -errno;
}

TEST_F(share, kept_over_exec)
{
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->s.ring, &self->s.dev, 10, ALLOWED));
	ASSERT_EQ(variant->after_exec, in_child(exec_after_change, &self->s));
	ASSERT_EQ(ALLOWED, ring_probe(&self->s.ring, &self->s.dev));
}

/*
 * The maker has exited, so its credentials are gone as well. New ones are
 * allocated all the time and must not be taken for them.
 */
TEST(ring_outlives_its_maker)
{
	unsigned int i, n = rounds(500);
	struct nvme_dev dev;
	struct ring ring;
	int sock[2];
	pid_t pid;
	char c = 0;

	ASSERT_EQ(0, nvme_open(&dev, SERIAL_PLAIN));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock));
	pid = fork();
	if (!pid) {
		close(sock[1]);
		if (ring_init(&ring, 0) || ring_probe(&ring, &dev) != ALLOWED)
			_exit(1);
		_exit(tell_ring(sock[0], &ring, &dev) || read(sock[0], &c, 1) != 1);
	}
	close(sock[0]);
	ASSERT_EQ(0, take_ring(sock[1], &ring, &dev));
	ASSERT_EQ(1, write(sock[1], &c, 1));
	ASSERT_EQ(0, child_result(pid));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, ring_probe(&ring, &dev));
	}
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(ALLOWED, ring_probe(&ring, &dev));
	ring_exit(&ring);
}

TEST_HARNESS_MAIN
