// SPDX-License-Identifier: GPL-2.0
/*
 * Test SELinux policy changes in the middle of a question: this test will allow and refuse
 * CAP_SYS_ADMIN in quick succession while another thread issues privileged commands, and expect
 * that no answer from before a change is still given after it.
 */
#include "lsm_rounds.h"
#include "selinux_policy.h"

FIXTURE(overtake)
{
	struct lsm_rig *rig;
};

FIXTURE_SETUP(overtake)
{
	self->rig = NULL;
	ASSERT_EQ(0, selinux_start());
	ASSERT_EQ(0, selinux_enter(SELINUX_SUBJECT));
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
}

FIXTURE_TEARDOWN(overtake)
{
	lsm_rig_close(self->rig);
	selinux_stop();
}

static int set_enforce(void *arg, bool allow)
{
	return selinux_set_enforce(!allow);
}

TEST_F_TIMEOUT(overtake, setenforce, LSM_TIMEOUT)
{
	ASSERT_EQ(0, selinux_load(SELINUX_REFUSE));
	lsm_overtake(_metadata, self->rig, rounds(200), set_enforce, NULL);
}

int main(int argc, char **argv)
{
	selinux_need();
	return test_harness_run(argc, argv);
}
