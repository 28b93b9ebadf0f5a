// SPDX-License-Identifier: GPL-2.0
/*
 * A process makes a ring as root, uses it, and changes its credentials.
 *
 * This test will check that each way of dropping CAP_SYS_ADMIN is obeyed by the
 * next command, that a change which keeps it is not taken for a drop, and that
 * raising it again works.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/securebits.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

static int drop_effective(void)
{
	return cap_sys_admin(false);
}

static int raise_effective(void)
{
	return cap_sys_admin(true);
}

static int drop_euid(void)
{
	return thread_setresuid(-1, NOBODY, -1);
}

static int raise_euid(void)
{
	return thread_setresuid(-1, 0, -1);
}

/* The permitted set survives, the effective one does not. */
static int drop_keepcaps(void)
{
	return prctl(PR_SET_KEEPCAPS, 1) ? -errno : become_nobody();
}

static int drop_userns(void)
{
	return unshare(CLONE_NEWUSER) ? -errno : 0;
}

static int keep_securebits(void)
{
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP))
		return -errno;
	return become_nobody();
}

static int keep_capbset(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) ? -errno : 0;
}

static int keep_ambient(void)
{
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ? -errno : 0;
}

static int keep_fsuid(void)
{
	syscall(SYS_setfsuid, NOBODY);
	return 0;
}

static int keep_groups(void)
{
	const gid_t gid = NOBODY;

	return syscall(SYS_setgroups, 1, &gid) ? -errno : 0;
}

static int keep_rest(void)
{
	/* The effective set again, as it is. */
	return cap_sys_admin(true);
}

FIXTURE(change) {
	struct nvme_dev dev;
	struct ring ring;
};

FIXTURE_VARIANT(change) {
	int (*change)(void);
	int (*back)(void);
	int want;
};

FIXTURE_VARIANT_ADD(change, capset) {
	.change = drop_effective, .back = raise_effective, .want = REFUSED,
};

FIXTURE_VARIANT_ADD(change, capset_permitted) {
	.change = cap_drop_all, .want = REFUSED,
};

FIXTURE_VARIANT_ADD(change, seteuid) {
	.change = drop_euid, .back = raise_euid, .want = REFUSED,
};

FIXTURE_VARIANT_ADD(change, setuid) {
	.change = become_nobody, .want = REFUSED,
};

FIXTURE_VARIANT_ADD(change, prctl_keepcaps_setuid) {
	.change = drop_keepcaps, .back = raise_effective, .want = REFUSED,
};

FIXTURE_VARIANT_ADD(change, unshare_userns) {
	.change = drop_userns, .want = REFUSED,
};

FIXTURE_VARIANT_ADD(change, prctl_securebits_setuid_keeps) {
	.change = keep_securebits, .back = raise_effective, .want = ALLOWED,
};

FIXTURE_VARIANT_ADD(change, prctl_capbset_keeps) {
	.change = keep_capbset, .want = ALLOWED,
};

FIXTURE_VARIANT_ADD(change, prctl_ambient_keeps) {
	.change = keep_ambient, .want = ALLOWED,
};

FIXTURE_VARIANT_ADD(change, setfsuid_keeps) {
	.change = keep_fsuid, .want = ALLOWED,
};

FIXTURE_VARIANT_ADD(change, setgroups_keeps) {
	.change = keep_groups, .want = ALLOWED,
};

FIXTURE_VARIANT_ADD(change, session_keyring_keeps) {
	.change = new_keyring, .want = ALLOWED,
};

FIXTURE_VARIANT_ADD(change, capset_same_keeps) {
	.change = keep_rest, .want = ALLOWED,
};

FIXTURE_SETUP(change)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
}

FIXTURE_TEARDOWN(change)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

TEST_F(change, hot_ring)
{
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 100, ALLOWED));
	ASSERT_EQ(0, variant->change());
	ASSERT_EQ(variant->want, ring_probe_all(&self->ring, &self->dev, 100, variant->want));
}

TEST_F(change, unused_ring)
{
	ASSERT_EQ(0, variant->change());
	ASSERT_EQ(variant->want, ring_probe(&self->ring, &self->dev));
}

TEST_F(change, and_back)
{
	if (!variant->back)
		SKIP(return, "there is no way back from this one");
	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, variant->change());
	ASSERT_EQ(variant->want, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, variant->back());
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 100, ALLOWED));
}

TEST_F(change, ring_made_after)
{
	struct ring late;

	ASSERT_EQ(0, variant->change());
	ASSERT_EQ(0, ring_init(&late, 0));
	EXPECT_EQ(variant->want, ring_probe_all(&late, &self->dev, 10, variant->want));
	ring_exit(&late);
}

TEST_F(change, whole_batch)
{
	int i, res[32];

	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, variant->change());
	for (i = 0; i < 32; i++)
		prep_probe(ring_sqe(&self->ring), &self->dev);
	ASSERT_EQ(0, ring_run(&self->ring, res));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(variant->want, res[i]);
}

FIXTURE(ring) {
	struct nvme_dev dev;
	struct ring ring;
};

FIXTURE_SETUP(ring)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
}

FIXTURE_TEARDOWN(ring)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

TEST_F(ring, fifty_drops_and_raises)
{
	unsigned int i, n = rounds(50);

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, ring_probe_all(&self->ring, &self->dev, 3, REFUSED));
		ASSERT_EQ(0, cap_sys_admin(true));
		ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 3, ALLOWED));
	}
}

/* Each refused command meets credentials of its own. */
TEST_F(ring, always_new_credentials)
{
	unsigned int i, n = rounds(500);

	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
	}
}

TEST_F(ring, of_a_dropped_creator_allows_once_raised)
{
	struct ring late;

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, ring_init(&late, 0));
	EXPECT_EQ(REFUSED, ring_probe(&late, &self->dev));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(ALLOWED, ring_probe_all(&late, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe(&late, &self->dev));
	ring_exit(&late);
}

/* All capabilities, but in a namespace that the device does not belong to. */
TEST_F(ring, raising_inside_a_user_namespace_refused)
{
	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	ASSERT_EQ(0, unshare(CLONE_NEWUSER));
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(REFUSED, ring_probe_all(&self->ring, &self->dev, 10, REFUSED));
}

TEST_HARNESS_MAIN
