// SPDX-License-Identifier: GPL-2.0
/*
 * Test caching beside SafeSetID: this test will expect a ring to remember its privilege although
 * that module has a hook on capable(), since the hook has no say in CAP_SYS_ADMIN, whatever
 * its policy.
 */
#include "lsm_file.h"
#include "lsm_rounds.h"

#define UID_POLICY	"/sys/kernel/security/safesetid/uid_allowlist_policy"

FIXTURE(safesetid)
{
	struct lsm_rig *rig;
};

FIXTURE_SETUP(safesetid)
{
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
}

FIXTURE_TEARDOWN(safesetid)
{
	lsm_rig_close(self->rig);
}

TEST_F_TIMEOUT(safesetid, remembers, LSM_TIMEOUT)
{
	lsm_heat(_metadata, self->rig, ALLOWED);
	EXPECT_EQ(1, ring_priv_cached(&self->rig->first.ring));
}

TEST_F_TIMEOUT(safesetid, remembers_with_a_policy, LSM_TIMEOUT)
{
	lsm_heat(_metadata, self->rig, ALLOWED);
	ASSERT_EQ(0, file_write_text(UID_POLICY, "12345:12346\n"));
	lsm_expect_next(_metadata, self->rig, ALLOWED);
	EXPECT_EQ(1, ring_priv_cached(&self->rig->first.ring));
}

int main(int argc, char **argv)
{
	lsm_need("safesetid");
	return test_harness_run(argc, argv);
}
