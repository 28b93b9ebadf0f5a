/* SPDX-License-Identifier: GPL-2.0 */
/* Random walks: each in processes of its own, which end with it. */
#ifndef FUZZ_WALK_H
#define FUZZ_WALK_H

#include "fuzz_op.h"
#include "fuzz_policy.h"

struct fuzz_outcome {
	bool failed;
	unsigned int step;	/* of the trace; what went wrong there is in @text */
	char text[200];
	unsigned long commands, operations;
	/* Probes that were allowed, and that a policy decided about. */
	unsigned long allowed, by_policy;
};

/* Opens what all walks need; 0 or -errno. */
int fuzz_open(const struct fuzz_policy *policy);
void fuzz_close(void);

/* Draws a trace while walking it. */
struct fuzz_outcome fuzz_walk_new(struct rng rng, struct fuzz_trace *trace);
/* Walks a trace again. */
struct fuzz_outcome fuzz_walk(const struct fuzz_trace *trace);

#endif
