// SPDX-License-Identifier: GPL-2.0
/*
 * Test stacked AppArmor labels under a hot ring: this test will replace one profile of a label made
 * of two by one without CAP_SYS_ADMIN, and expect the very next privileged command to get what
 * capable() says.
 */
#include "apparmor_fixture.h"

FIXTURE(apparmor_stack)
{
	struct apparmor_rig rig;
};

FIXTURE_VARIANT(apparmor_stack)
{
	bool by_agent;
	enum lsm_hammer hammer;
};

FIXTURE_VARIANT_ADD(apparmor_stack, by_itself)
{
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(apparmor_stack, by_agent)
{
	.by_agent = true,
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(apparmor_stack, by_agent_thread_same_ring)
{
	.by_agent = true,
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_SETUP(apparmor_stack)
{
	apparmor_rig_open(_metadata, &self->rig, variant->by_agent, "subject");
}

FIXTURE_TEARDOWN(apparmor_stack)
{
	apparmor_rig_close(&self->rig);
}

/*
 * A new label each time: where AA_BUG() is compiled out (no CONFIG_SECURITY_APPARMOR_DEBUG_ASSERTS)
 * the kernel does not put an updated label back into its tree, and a second replacement of one of
 * its profiles passes unnoticed, by capable() as well.
 */
TEST_F_TIMEOUT(apparmor_stack, replace, LSM_TIMEOUT)
{
	unsigned int i, turns = lsm_turns(variant->hammer, 100);
	struct lsm_rig *rig = self->rig.rig;
	char name[16];

	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_STACK + i % 9999));
		snprintf(name, sizeof(name), "stack%04u", i % 9999);
		ASSERT_EQ(0, apparmor_stack(name));
		rig->answer = ALLOWED;
		ASSERT_EQ(0, lsm_rig_hammer(rig, variant->hammer));
		lsm_expect_next(_metadata, rig, ALLOWED);
		lsm_expect_next(_metadata, rig, ALLOWED);

		rig->phase++;
		ASSERT_EQ(0, apparmor_change(&self->rig, AA_UNSTACK + i % 9999));
		rig->answer = REFUSED;
		rig->phase++;
		lsm_expect_next(_metadata, rig, REFUSED);
		lsm_rig_rest(rig);
		ASSERT_EQ(0, apparmor_enter("subject"));
	}
	EXPECT_EQ(0, rig->wrong);
}

/* Replaced again and again: whatever the kernel makes of it, a command gets the same answer. */
TEST_F_TIMEOUT(apparmor_stack, replace_again, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_OTHER_ALLOW, AA_OTHER_REFUSE };
	unsigned int i, turns = lsm_turns(variant->hammer, 100);
	struct lsm_rig *rig = self->rig.rig;
	int answer;

	ASSERT_EQ(0, apparmor_stack("other"));
	lsm_heat(_metadata, rig, ALLOWED);
	for (i = 0; i < turns; i++) {
		ASSERT_EQ(0, apparmor_set(&set, i % 2));
		answer = lsm_ask(rig, &rig->first, 0);
		ASSERT_EQ(lsm_capable(), answer);
		lsm_expect_next(_metadata, rig, answer);
	}
}

int main(int argc, char **argv)
{
	apparmor_need();
	return test_harness_run(argc, argv);
}
