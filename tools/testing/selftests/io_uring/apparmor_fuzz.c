// SPDX-License-Identifier: GPL-2.0
/*
 * The random walks of priv_fuzz under AppArmor: actors enter profiles, and profiles
 * are replaced while rings are hot.
 *
 * This test will check that each command is answered as the credentials and the
 * profile that is in force demand.
 */
#include "apparmor_policy.h"
#include "fuzz.h"
#include "fuzz_actor.h"

/* A state says what each of two profiles does. */
enum { SUBJECT_ALLOW, SUBJECT_REFUSE, SUBJECT_COMPLAIN, SUBJECTS };
#define STATES	(2 * SUBJECTS)
enum { UNCONFINED, SUBJECT, OTHER, DOMAINS };

static bool other_allows(unsigned int state)
{
	return state < SUBJECTS;
}

static int set(unsigned int state)
{
	static const enum apparmor_op subject[SUBJECTS] = {
		AA_SUBJECT_ALLOW, AA_SUBJECT_REFUSE, AA_SUBJECT_COMPLAIN,
	};
	static unsigned int last = STATES;
	int ret = 0;

	if (last == STATES || last % SUBJECTS != state % SUBJECTS)
		ret = apparmor_do(subject[state % SUBJECTS]);
	if (!ret && (last == STATES || other_allows(last) != other_allows(state)))
		ret = apparmor_do(other_allows(state) ? AA_OTHER_ALLOW : AA_OTHER_REFUSE);
	last = state;
	return ret;
}

static int enter(unsigned int domain)
{
	return apparmor_enter(domain == SUBJECT ? "subject" : "other");
}

static bool allows(unsigned int state, unsigned int domain)
{
	if (domain == OTHER)
		return other_allows(state);
	return domain == UNCONFINED || state % SUBJECTS != SUBJECT_REFUSE;
}

static const struct fuzz_policy policy = {
	.states = STATES, .domains = DOMAINS, .set = set, .enter = enter, .allows = allows,
};

static void __attribute__((constructor)) needs(int argc, char **argv)
{
	fuzz_actor_main(argc, argv, &policy);
	apparmor_need();
}

FIXTURE(fuzz) {
};

FIXTURE_SETUP(fuzz)
{
	ASSERT_EQ(0, apparmor_start());
	ASSERT_EQ(0, fuzz_open(&policy));
}

FIXTURE_TEARDOWN(fuzz)
{
	fuzz_close();
	apparmor_stop();
}

TEST_F_TIMEOUT(fuzz, policy, FUZZ_TIMEOUT)
{
	fuzz_test(_metadata, rounds(10));
}

TEST_HARNESS_MAIN
