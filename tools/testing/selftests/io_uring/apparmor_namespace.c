// SPDX-License-Identifier: GPL-2.0
/*
 * Test the end of AppArmor profiles under a hot ring: this test will remove the profile or the
 * policy namespace that confines it, and replace a profile inside a namespace, and expect the very
 * next privileged command to get what capable() says.
 */
#include "apparmor_fixture.h"

#define IN_NS	":ringcap:subject"

FIXTURE(apparmor_end)
{
	struct apparmor_rig rig;
};

FIXTURE_VARIANT(apparmor_end)
{
	bool hammered;
};

FIXTURE_VARIANT_ADD(apparmor_end, alone)
{
	.hammered = false,
};

FIXTURE_VARIANT_ADD(apparmor_end, hammered)
{
	.hammered = true,
};

FIXTURE_SETUP(apparmor_end)
{
	apparmor_rig_open(_metadata, &self->rig, true, NULL);
	self->rig.rig->answer = ALLOWED;
	if (variant->hammered)
		/* Unconfined throughout: keeps the shared ring hot with its own credentials. */
		ASSERT_EQ(0, lsm_rig_hammer(self->rig.rig, LSM_PROCESS_SAME_RING));
}

FIXTURE_TEARDOWN(apparmor_end)
{
	EXPECT_EQ(0, self->rig.rig->wrong);
	apparmor_rig_close(&self->rig);
}

/* Who loses its profile is unconfined. */
TEST_F_TIMEOUT(apparmor_end, remove, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(30);
	bool allowed;

	for (i = 0; i < turns; i++) {
		allowed = i % 2;
		ASSERT_EQ(0, apparmor_change(&self->rig,
					     allowed ? AA_SUBJECT_ALLOW : AA_SUBJECT_REFUSE));
		ASSERT_EQ(0, apparmor_enter("subject"));
		lsm_expect_next(_metadata, self->rig.rig, allowed ? ALLOWED : REFUSED);
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_REMOVE));
		lsm_expect_next(_metadata, self->rig.rig, ALLOWED);
	}
}

TEST_F_TIMEOUT(apparmor_end, change_profile, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(100);

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_OTHER_REFUSE));
	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, apparmor_enter("subject"));
		lsm_expect_next(_metadata, self->rig.rig, ALLOWED);
		ASSERT_EQ(0, apparmor_enter("other"));
		lsm_expect_next(_metadata, self->rig.rig, REFUSED);
	}
}

TEST_F_TIMEOUT(apparmor_end, namespace, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(20);
	int answer;

	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_NS_CREATE));
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_NS_SUBJECT_ALLOW));
		ASSERT_EQ(0, apparmor_enter(IN_NS));
		lsm_expect_next(_metadata, self->rig.rig, ALLOWED);
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_NS_SUBJECT_REFUSE));
		lsm_expect_next(_metadata, self->rig.rig, REFUSED);
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_NS_SUBJECT_ALLOW));
		lsm_expect_next(_metadata, self->rig.rig, ALLOWED);
		if (i % 2)
			ASSERT_EQ(0, apparmor_change(&self->rig, AA_NS_SUBJECT_REFUSE));
		/* The profile is gone: what is left of the label decides, whatever it is. */
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_NS_REMOVE));
		answer = lsm_ask(self->rig.rig, &self->rig.rig->first, 0);
		ASSERT_EQ(lsm_capable(), answer);
		lsm_expect_next(_metadata, self->rig.rig, answer);
	}
}

int main(int argc, char **argv)
{
	apparmor_need();
	return test_harness_run(argc, argv);
}
