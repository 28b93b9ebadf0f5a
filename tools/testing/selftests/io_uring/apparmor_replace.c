// SPDX-License-Identifier: GPL-2.0
/*
 * Test AppArmor policy changes under a hot ring: this test will replace profiles with and without
 * CAP_SYS_ADMIN and flip the global modes, and expect the very next privileged command to get what
 * capable() says.
 */
#include "apparmor_fixture.h"

FIXTURE(apparmor)
{
	struct apparmor_rig rig;
};

FIXTURE_VARIANT(apparmor)
{
	bool by_agent;
	enum lsm_hammer hammer;
};

FIXTURE_VARIANT_ADD(apparmor, by_itself)
{
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(apparmor, by_itself_thread_same_ring)
{
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_VARIANT_ADD(apparmor, by_agent)
{
	.by_agent = true,
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(apparmor, by_agent_thread_same_ring)
{
	.by_agent = true,
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_VARIANT_ADD(apparmor, by_agent_thread_own_ring)
{
	.by_agent = true,
	.hammer = LSM_THREAD_OWN_RING,
};

FIXTURE_VARIANT_ADD(apparmor, by_agent_process_same_ring)
{
	.by_agent = true,
	.hammer = LSM_PROCESS_SAME_RING,
};

FIXTURE_SETUP(apparmor)
{
	apparmor_rig_open(_metadata, &self->rig, variant->by_agent, "subject");
}

FIXTURE_TEARDOWN(apparmor)
{
	apparmor_rig_close(&self->rig);
}

TEST_F_TIMEOUT(apparmor, replace, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_SUBJECT_ALLOW, AA_SUBJECT_REFUSE };

	lsm_alternate(_metadata, self->rig.rig, variant->hammer,
		      lsm_turns(variant->hammer, 100), apparmor_set, &set);
}

/* A profile that confines somebody else. */
TEST_F_TIMEOUT(apparmor, replace_other, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_OTHER_ALLOW, AA_OTHER_REFUSE };
	int i;

	lsm_heat(_metadata, self->rig.rig, ALLOWED);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, apparmor_set(&set, i % 2));
		lsm_expect_next(_metadata, self->rig.rig, ALLOWED);
	}
}

TEST_F_TIMEOUT(apparmor, complain_flag, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_SUBJECT_COMPLAIN, AA_SUBJECT_REFUSE };

	lsm_alternate(_metadata, self->rig.rig, variant->hammer,
		      lsm_turns(variant->hammer, 50), apparmor_set, &set);
}

TEST_F_TIMEOUT(apparmor, mode, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_MODE_COMPLAIN, AA_MODE_ENFORCE };

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_REFUSE));
	lsm_alternate(_metadata, self->rig.rig, variant->hammer,
		      lsm_turns(variant->hammer, 300), apparmor_set, &set);
	set.refuse = AA_MODE_UNCONFINED;
	lsm_rig_rest(self->rig.rig);
	lsm_change(_metadata, self->rig.rig, apparmor_set, &set, false);
	lsm_expect_next(_metadata, self->rig.rig, REFUSED);
}

/* Whether complain mode allows what is denied depends on what is audited. */
TEST_F_TIMEOUT(apparmor, audit, LSM_TIMEOUT)
{
	struct apparmor_set set = { &self->rig, AA_AUDIT_NOQUIET, AA_AUDIT_NORMAL };

	ASSERT_EQ(0, apparmor_change(&self->rig, AA_SUBJECT_DENY));
	lsm_alternate(_metadata, self->rig.rig, variant->hammer,
		      lsm_turns(variant->hammer, 50), apparmor_set, &set);
}

int main(int argc, char **argv)
{
	apparmor_need();
	return test_harness_run(argc, argv);
}
