// SPDX-License-Identifier: GPL-2.0
/*
 * Processes and threads that share rings walk at random through the system calls which
 * change credentials (capset, setresuid, prctl, exec of plain and setuid-root files, fork, user
 * namespaces, keyrings), use rings of all kinds, personalities, chains and io-wq, pass
 * rings on and close them, while the sysctl changes.
 *
 * This test will check that each command is answered as a model in the program
 * predicts from the credentials that it believes to judge it.
 *
 * $RINGCAP_ROUNDS walks, $RINGCAP_SEED to repeat them. On a wrong answer the trace is
 * shrunk and printed.
 */
#include "fuzz.h"
#include "fuzz_actor.h"

static void __attribute__((constructor)) needs(int argc, char **argv)
{
	fuzz_actor_main(argc, argv, NULL);
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(fuzz) {
};

FIXTURE_SETUP(fuzz)
{
	ASSERT_EQ(0, fuzz_open(NULL));
}

FIXTURE_TEARDOWN(fuzz)
{
	fuzz_close();
}

TEST_F_TIMEOUT(fuzz, credentials, FUZZ_TIMEOUT)
{
	fuzz_test(_metadata, rounds(20));
}

TEST_HARNESS_MAIN
