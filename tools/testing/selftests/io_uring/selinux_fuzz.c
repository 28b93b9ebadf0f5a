// SPDX-License-Identifier: GPL-2.0
/*
 * The random walks of priv_fuzz under SELinux: actors enter domains, and policies
 * are loaded, booleans committed, enforcing switched while rings are hot.
 *
 * This test will check that each command is answered as the credentials, the domain
 * and the policy that is in force demand.
 */
#include "fuzz.h"
#include "fuzz_actor.h"
#include "selinux_policy.h"

enum state { ALLOW, REFUSE, DOMAIN_PERMISSIVE, BOOLEAN_ON, BOOLEAN_OFF, NOT_ENFORCING, STATES };
enum domain { SYSTEM, SUBJECT, OUTCAST, DOMAINS };

static int set(unsigned int state)
{
	static const enum selinux_policy policy[STATES] = {
		[ALLOW] = SELINUX_ALLOW,
		[REFUSE] = SELINUX_REFUSE,
		[DOMAIN_PERMISSIVE] = SELINUX_PERMISSIVE,
		[BOOLEAN_ON] = SELINUX_BOOLEAN,
		[BOOLEAN_OFF] = SELINUX_BOOLEAN,
		[NOT_ENFORCING] = SELINUX_REFUSE,
	};
	static int loaded = -1, enforcing = -1;
	int ret = 0, enforce = state != NOT_ENFORCING;

	/* Only what differs: each kind of change must be enough by itself. */
	if (loaded != (int)policy[state])
		ret = selinux_load(policy[state]);
	loaded = policy[state];
	if (!ret && loaded == SELINUX_BOOLEAN)
		ret = selinux_set_boolean(state == BOOLEAN_ON);
	if (!ret && enforcing != enforce)
		ret = selinux_set_enforce(enforce);
	enforcing = enforce;
	return ret;
}

static int enter(unsigned int domain)
{
	return selinux_enter(domain == SUBJECT ? SELINUX_SUBJECT : SELINUX_OUTCAST);
}

static bool allows(unsigned int state, unsigned int domain)
{
	if (domain == SYSTEM || state == NOT_ENFORCING)
		return true;
	return domain == SUBJECT && state != REFUSE && state != BOOLEAN_OFF;
}

static const struct fuzz_policy policy = {
	.states = STATES, .domains = DOMAINS, .set = set, .enter = enter, .allows = allows,
};

static void __attribute__((constructor)) needs(int argc, char **argv)
{
	fuzz_actor_main(argc, argv, &policy);
	selinux_need();
}

FIXTURE(fuzz) {
};

FIXTURE_SETUP(fuzz)
{
	ASSERT_EQ(0, selinux_start());
	ASSERT_EQ(0, fuzz_open(&policy));
}

FIXTURE_TEARDOWN(fuzz)
{
	fuzz_close();
	selinux_stop();
}

TEST_F_TIMEOUT(fuzz, policy, FUZZ_TIMEOUT)
{
	fuzz_test(_metadata, rounds(10));
}

TEST_HARNESS_MAIN
