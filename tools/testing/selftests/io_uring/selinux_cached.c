// SPDX-License-Identifier: GPL-2.0
/*
 * Test what a ring remembers under SELinux: this test will look at the ring's fdinfo around
 * policy changes and expect it to forget at once and to remember after one command.
 */
#include "lsm_rounds.h"
#include "selinux_policy.h"

FIXTURE(selinux_cached)
{
	struct lsm_rig *rig;
};

FIXTURE_SETUP(selinux_cached)
{
	self->rig = NULL;
	ASSERT_EQ(0, selinux_start());
	ASSERT_EQ(0, selinux_enter(SELINUX_SUBJECT));
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
}

FIXTURE_TEARDOWN(selinux_cached)
{
	lsm_rig_close(self->rig);
	selinux_stop();
}

static int set_rule(void *arg, bool allow)
{
	return selinux_load(allow ? SELINUX_ALLOW : SELINUX_REFUSE);
}

static int set_enforce(void *arg, bool allow)
{
	return selinux_set_enforce(!allow);
}

static int set_boolean(void *arg, bool allow)
{
	return selinux_set_boolean(allow);
}

TEST_F_TIMEOUT(selinux_cached, reload, LSM_TIMEOUT)
{
	lsm_expect_recache(_metadata, self->rig, set_rule, NULL);
}

TEST_F_TIMEOUT(selinux_cached, setenforce, LSM_TIMEOUT)
{
	ASSERT_EQ(0, selinux_load(SELINUX_REFUSE));
	lsm_expect_recache(_metadata, self->rig, set_enforce, NULL);
}

TEST_F_TIMEOUT(selinux_cached, boolean, LSM_TIMEOUT)
{
	ASSERT_EQ(0, selinux_load(SELINUX_BOOLEAN));
	lsm_expect_recache(_metadata, self->rig, set_boolean, NULL);
}

/* Enforcing what the policy allows anyway: forgotten in both directions. */
TEST_F_TIMEOUT(selinux_cached, forgets_either_way, LSM_TIMEOUT)
{
	struct ring *ring = &self->rig->first.ring;
	int i;

	lsm_heat(_metadata, self->rig, ALLOWED);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(1, ring_priv_cached(ring));
		ASSERT_EQ(0, selinux_set_enforce(i % 2));
		ASSERT_EQ(0, selinux_set_enforce((i + 1) % 2));
		ASSERT_EQ(0, ring_priv_cached(ring));
		ASSERT_EQ(ALLOWED, lsm_ask(self->rig, &self->rig->first, 0));
	}
}

int main(int argc, char **argv)
{
	selinux_need();
	return test_harness_run(argc, argv);
}
