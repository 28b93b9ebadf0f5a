/* SPDX-License-Identifier: GPL-2.0 */
/* A hot ring in the profile "subject", and an unconfined agent that changes policy. */
#ifndef APPARMOR_FIXTURE_H
#define APPARMOR_FIXTURE_H

#include "apparmor_policy.h"
#include "lsm_rounds.h"

struct apparmor_rig {
	struct lsm_rig *rig;
	struct lsm_agent *agent;	/* NULL: the tester changes policy itself */
};

/* The changes to make for "allowed" and "refused". */
struct apparmor_set {
	struct apparmor_rig *rig;
	enum apparmor_op allow, refuse;
};

static inline int apparmor_change(struct apparmor_rig *rig, enum apparmor_op op)
{
	return rig->agent ? lsm_agent_call(rig->agent, op) : apparmor_do(op);
}

static inline int apparmor_set(void *arg, bool allow)
{
	struct apparmor_set *set = arg;

	return apparmor_change(set->rig, allow ? set->allow : set->refuse);
}

/* The agent is forked first: it stays unconfined. */
static inline void apparmor_rig_open(struct __test_metadata *const _metadata,
				     struct apparmor_rig *rig, bool by_agent, const char *profile)
{
	rig->rig = NULL;
	rig->agent = NULL;
	ASSERT_EQ(0, apparmor_start());
	if (by_agent) {
		rig->agent = lsm_agent_start(apparmor_do);
		ASSERT_NE(NULL, rig->agent);
	}
	if (profile)
		ASSERT_EQ(0, apparmor_enter(profile));
	rig->rig = lsm_rig_open();
	ASSERT_NE(NULL, rig->rig);
}

static inline void apparmor_rig_close(struct apparmor_rig *rig)
{
	lsm_rig_close(rig->rig);
	lsm_agent_stop(rig->agent);
	apparmor_stop();
}

#endif
