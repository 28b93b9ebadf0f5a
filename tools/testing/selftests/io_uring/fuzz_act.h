/* SPDX-License-Identifier: GPL-2.0 */
/* What an actor is, and what it does by kind of operation: each returns 0 or more, or -errno. */
#ifndef FUZZ_ACT_H
#define FUZZ_ACT_H

#include "fuzz_actor.h"

struct actor {
	unsigned int number;
	struct fuzz_shared *shared;
	const struct fuzz_policy *policy;
	struct nvme_dev dev;
	__u32 mapped;
	struct ring ring[RINGS];
};

/* With a ring. What its commands are answered goes into @report. */
int fuzz_act_ring(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report);
/* With its own credentials. */
int fuzz_act_cred(const struct fuzz_order *order);

static inline int result(long ret)
{
	return ret < 0 ? -errno : ret;
}

#endif
