// SPDX-License-Identifier: GPL-2.0
/*
 * Test SELinux policy changes under a hot ring: this test will load policies with and without
 * CAP_SYS_ADMIN, set booleans and switch enforcing, and expect the very next privileged command
 * to get what capable() says.
 */
#include "lsm_rounds.h"
#include "selinux_policy.h"

FIXTURE(selinux)
{
	struct lsm_rig *rig;
};

FIXTURE_VARIANT(selinux)
{
	enum lsm_hammer hammer;
};

FIXTURE_VARIANT_ADD(selinux, alone)
{
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(selinux, thread_same_ring)
{
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_VARIANT_ADD(selinux, thread_own_ring)
{
	.hammer = LSM_THREAD_OWN_RING,
};

FIXTURE_VARIANT_ADD(selinux, process_same_ring)
{
	.hammer = LSM_PROCESS_SAME_RING,
};

FIXTURE_SETUP(selinux)
{
	self->rig = NULL;
	ASSERT_EQ(0, selinux_start());
	ASSERT_EQ(0, selinux_enter(SELINUX_SUBJECT));
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
}

FIXTURE_TEARDOWN(selinux)
{
	lsm_rig_close(self->rig);
	selinux_stop();
}

static int set_rule(void *arg, bool allow)
{
	return selinux_load(allow ? SELINUX_ALLOW : SELINUX_REFUSE);
}

static int set_permissive_domain(void *arg, bool allow)
{
	return selinux_load(allow ? SELINUX_PERMISSIVE : SELINUX_REFUSE);
}

static int set_enforce(void *arg, bool allow)
{
	return selinux_set_enforce(!allow);
}

static int set_boolean(void *arg, bool allow)
{
	return selinux_set_boolean(allow);
}

TEST_F_TIMEOUT(selinux, reload, LSM_TIMEOUT)
{
	lsm_alternate(_metadata, self->rig, variant->hammer,
		      lsm_turns(variant->hammer, 50), set_rule, NULL);
}

TEST_F_TIMEOUT(selinux, permissive_domain, LSM_TIMEOUT)
{
	lsm_alternate(_metadata, self->rig, variant->hammer,
		      lsm_turns(variant->hammer, 25), set_permissive_domain, NULL);
}

TEST_F_TIMEOUT(selinux, setenforce, LSM_TIMEOUT)
{
	ASSERT_EQ(0, selinux_load(SELINUX_REFUSE));
	lsm_alternate(_metadata, self->rig, variant->hammer,
		      lsm_turns(variant->hammer, 300), set_enforce, NULL);
}

TEST_F_TIMEOUT(selinux, boolean, LSM_TIMEOUT)
{
	ASSERT_EQ(0, selinux_load(SELINUX_BOOLEAN));
	lsm_alternate(_metadata, self->rig, variant->hammer,
		      lsm_turns(variant->hammer, 100), set_boolean, NULL);
}

/* A reload that changes nothing for the subject must not change its answer either. */
TEST_F_TIMEOUT(selinux, reload_same, LSM_TIMEOUT)
{
	unsigned int i, turns = lsm_turns(variant->hammer, 25);

	self->rig->answer = ALLOWED;
	lsm_heat(_metadata, self->rig, ALLOWED);
	ASSERT_EQ(0, lsm_rig_hammer(self->rig, variant->hammer));
	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, selinux_load(SELINUX_ALLOW));
		lsm_expect_next(_metadata, self->rig, ALLOWED);
	}
	EXPECT_EQ(0, self->rig->wrong);
}

int main(int argc, char **argv)
{
	selinux_need();
	return test_harness_run(argc, argv);
}
