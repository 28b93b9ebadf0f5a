// SPDX-License-Identifier: GPL-2.0
/*
 * Test SELinux domain changes under a hot ring: this test will move its process between a domain
 * that has CAP_SYS_ADMIN and one that never has, with setcon or exec, and expect the very next
 * privileged command to be judged by the new domain, also while a process of the old one keeps the
 * ring hot.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lsm_rounds.h"
#include "selinux_policy.h"

FIXTURE(selinux_domain)
{
	struct lsm_rig *rig;
};

FIXTURE_VARIANT(selinux_domain)
{
	bool hammered;
};

FIXTURE_VARIANT_ADD(selinux_domain, alone)
{
	.hammered = false,
};

FIXTURE_VARIANT_ADD(selinux_domain, hammered_by_the_old_domain)
{
	.hammered = true,
};

FIXTURE_SETUP(selinux_domain)
{
	self->rig = NULL;
	ASSERT_EQ(0, selinux_start());
	ASSERT_EQ(0, selinux_enter(SELINUX_SUBJECT));
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
	lsm_heat(_metadata, self->rig, ALLOWED);
	/* A second thread, of ours or of io-wq, would keep the process from changing its domain. */
	self->rig->answer = ALLOWED;
	if (variant->hammered)
		ASSERT_EQ(0, lsm_rig_hammer(self->rig, LSM_PROCESS_SAME_RING));
}

FIXTURE_TEARDOWN(selinux_domain)
{
	lsm_rig_close(self->rig);
	selinux_stop();
}

TEST_F_TIMEOUT(selinux_domain, setcon, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(200);

	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, selinux_enter(SELINUX_OUTCAST));
		lsm_expect_inline(_metadata, self->rig, REFUSED);
		ASSERT_EQ(0, selinux_enter(SELINUX_SUBJECT));
		lsm_expect_inline(_metadata, self->rig, ALLOWED);
	}
	EXPECT_EQ(0, self->rig->wrong);
}

/* The domain loses the capability while another domain keeps it. */
TEST_F_TIMEOUT(selinux_domain, setcon_and_reload, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(20);

	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, selinux_enter(SELINUX_OUTCAST));
		lsm_expect_inline(_metadata, self->rig, REFUSED);
		self->rig->phase++;
		ASSERT_EQ(0, selinux_load(SELINUX_REFUSE));
		self->rig->answer = REFUSED;
		self->rig->phase++;
		lsm_expect_inline(_metadata, self->rig, REFUSED);
		ASSERT_EQ(0, selinux_enter(SELINUX_SUBJECT));
		lsm_expect_inline(_metadata, self->rig, REFUSED);
		self->rig->phase++;
		ASSERT_EQ(0, selinux_load(SELINUX_ALLOW));
		self->rig->answer = ALLOWED;
		self->rig->phase++;
		lsm_expect_inline(_metadata, self->rig, ALLOWED);
	}
	EXPECT_EQ(0, self->rig->wrong);
}

static void exec_with_ring(struct lsm_rig *rig, const char *context)
{
	struct ring *ring = &rig->first.ring;
	char path[PATH_MAX] = "", args[4][12];
	int params = memfd_create("params", 0);

	snprintf(args[0], sizeof(args[0]), "%d", ring->fd);
	snprintf(args[1], sizeof(args[1]), "%d", params);
	snprintf(args[2], sizeof(args[2]), "%d", rig->dev.ns);
	snprintf(args[3], sizeof(args[3]), "%u", rig->dev.nsid);
	fcntl(ring->fd, F_SETFD, 0);
	fcntl(rig->dev.ns, F_SETFD, 0);
	if (write(params, &ring->p, sizeof(ring->p)) != sizeof(ring->p) ||
	    readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 || chdir(dirname(path)) ||
	    selinux_enter_on_exec(context))
		return;
	execl("priv_exec_child", "priv_exec_child", args[0], args[1], args[2], args[3], NULL);
}

/* The answer that a program gets which is executed in that domain and inherits the ring. */
static int ask_after_exec(struct lsm_rig *rig, const char *context)
{
	pid_t child = fork();
	int status;

	if (!child) {
		exec_with_ring(rig, context);
		_exit(0);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return RING_BROKEN;
	return -WEXITSTATUS(status);
}

/* No hammer here: the executed program knows nothing of the lock. */
TEST_F_TIMEOUT(selinux_domain, exec, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(20);

	if (variant->hammered)
		SKIP(return, "the executed program needs the ring for itself");
	for (i = 0; i < turns; i++) {
		lsm_expect_inline(_metadata, self->rig, ALLOWED);
		ASSERT_EQ(REFUSED, ask_after_exec(self->rig, SELINUX_OUTCAST));
		lsm_expect_inline(_metadata, self->rig, ALLOWED);
		ASSERT_EQ(ALLOWED, ask_after_exec(self->rig, SELINUX_SUBJECT));
	}
}

int main(int argc, char **argv)
{
	selinux_need();
	return test_harness_run(argc, argv);
}
