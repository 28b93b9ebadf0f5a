// SPDX-License-Identifier: GPL-2.0
/*
 * Test what a ring remembers under AppArmor: this test will look at the ring's fdinfo around
 * policy changes and expect it to forget at once and to remember after one command.
 */
#include "apparmor_fixture.h"

FIXTURE(apparmor_cached)
{
	struct apparmor_rig rig;
};

FIXTURE_SETUP(apparmor_cached)
{
	apparmor_rig_open(_metadata, &self->rig, true, "subject");
}

FIXTURE_TEARDOWN(apparmor_cached)
{
	apparmor_rig_close(&self->rig);
}

TEST_F_TIMEOUT(apparmor_cached, replace, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_SUBJECT_ALLOW, AA_SUBJECT_REFUSE };

	lsm_expect_recache(_metadata, self->rig.rig, apparmor_set, &set);
}

TEST_F_TIMEOUT(apparmor_cached, mode, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_MODE_COMPLAIN, AA_MODE_ENFORCE };

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_REFUSE));
	lsm_expect_recache(_metadata, self->rig.rig, apparmor_set, &set);
}

TEST_F_TIMEOUT(apparmor_cached, audit, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_AUDIT_NOQUIET, AA_AUDIT_NORMAL };

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_DENY));
	lsm_expect_recache(_metadata, self->rig.rig, apparmor_set, &set);
}

/* Complain mode then answers by what was asked before, so no answer may last. */
TEST_F_TIMEOUT(apparmor_cached, quiet, LSM_TIMEOUT)
{
	struct ring *ring = &self->rig.rig->first.ring;
	int i;

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_COMPLAIN));
	lsm_heat(_metadata, self->rig.rig, ALLOWED);
	ASSERT_EQ(1, ring_priv_cached(ring));
	/* Twice quiet is not more than once. */
	for (i = 0; i < 100; i++) {
		if (i % 50 == 0)
			ASSERT_EQ(0, apparmor_change(&self->rig, AA_AUDIT_QUIET));
		lsm_ask(self->rig.rig, &self->rig.rig->first, 0);
		ASSERT_EQ(0, ring_priv_cached(ring));
	}
	ASSERT_EQ(0, apparmor_change(&self->rig, AA_AUDIT_NORMAL));
	ASSERT_EQ(ALLOWED, lsm_ask(self->rig.rig, &self->rig.rig->first, 0));
	ASSERT_EQ(1, ring_priv_cached(ring));
}

TEST_F_TIMEOUT(apparmor_cached, remove, LSM_TIMEOUT)
{
	struct ring *ring = &self->rig.rig->first.ring;

	lsm_heat(_metadata, self->rig.rig, ALLOWED);
	ASSERT_EQ(1, ring_priv_cached(ring));
	ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_REMOVE));
	ASSERT_EQ(0, ring_priv_cached(ring));
	ASSERT_EQ(ALLOWED, lsm_ask(self->rig.rig, &self->rig.rig->first, 0));
	ASSERT_EQ(1, ring_priv_cached(ring));
}

TEST_F_TIMEOUT(apparmor_cached, stacked, LSM_TIMEOUT)
{
	struct ring *ring = &self->rig.rig->first.ring;

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_STACK + 9999));
	ASSERT_EQ(0, apparmor_stack("stack9999"));
	lsm_heat(_metadata, self->rig.rig, ALLOWED);
	ASSERT_EQ(1, ring_priv_cached(ring));
	ASSERT_EQ(0, apparmor_change(&self->rig, AA_UNSTACK + 9999));
	ASSERT_EQ(0, ring_priv_cached(ring));
	ASSERT_EQ(REFUSED, lsm_ask(self->rig.rig, &self->rig.rig->first, 0));
	ASSERT_EQ(0, ring_priv_cached(ring));
}

int main(int argc, char **argv)
{
	apparmor_need();
	return test_harness_run(argc, argv);
}
