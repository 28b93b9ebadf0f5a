/* SPDX-License-Identifier: GPL-2.0 */
/* The test of the programs that walk at random, each under the policy of one module or none. */
#ifndef FUZZ_H
#define FUZZ_H

#include "../kselftest_harness.h"
#include "fuzz_shrink.h"
#include "nvme_ring.h"

#define FUZZ_TIMEOUT	7200	/* s, for a million commands under emulation */

static inline void fuzz_print(struct __test_metadata *const _metadata,
			      const struct fuzz_trace *trace)
{
	char text[120];
	unsigned int i;

	for (i = 0; i < trace->n; i++) {
		fuzz_op_text(&trace->op[i], text, sizeof(text));
		TH_LOG("  %3u %s", i, text);
	}
}

static inline void fuzz_explain(struct __test_metadata *const _metadata,
				struct fuzz_outcome outcome, struct fuzz_trace *trace)
{
	TH_LOG("operation %u of %u: %s", outcome.step, trace->n, outcome.text);
	outcome = fuzz_shrink(trace);
	if (outcome.failed)
		TH_LOG("shrunk: operation %u: %s", outcome.step, outcome.text);
	else
		TH_LOG("it does not come back when the trace is walked again:");
	fuzz_print(_metadata, trace);
}

static inline void fuzz_test(struct __test_metadata *const _metadata, unsigned int walks)
{
	unsigned long commands = 0, operations = 0, allowed = 0, by_policy = 0;
	__u64 seed = rng_seed();
	struct fuzz_outcome outcome;
	struct fuzz_trace trace;
	unsigned int i;

	TH_LOG("RINGCAP_SEED=%#llx", (unsigned long long)seed);
	for (i = 0; i < walks; i++) {
		/* A walk of its own for each seed: the one that fails can be walked first. */
		outcome = fuzz_walk_new((struct rng){ .state = seed + i }, &trace);
		commands += outcome.commands;
		operations += outcome.operations;
		allowed += outcome.allowed;
		by_policy += outcome.by_policy;
		if (outcome.failed)
			break;
	}
	TH_LOG("%u walks, %lu operations (%lu allowed to send, %lu in a domain), %lu commands", i,
	       operations, allowed, by_policy, commands);
	ASSERT_FALSE(outcome.failed) {
		TH_LOG("to repeat: RINGCAP_SEED=%#llx RINGCAP_ROUNDS=1",
		       (unsigned long long)seed + i);
		fuzz_explain(_metadata, outcome, &trace);
	}
	EXPECT_LT(0, allowed);
}

#endif
