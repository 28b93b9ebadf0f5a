/* SPDX-License-Identifier: GPL-2.0 */
/* The security module of a random walk: its policy is always in one of some states. */
#ifndef FUZZ_POLICY_H
#define FUZZ_POLICY_H

#include <stdbool.h>

struct fuzz_policy {
	unsigned int states;	/* 0 is where every walk begins */
	unsigned int domains;	/* 0 is where every actor begins, which is always allowed */
	/* Both return 0 or -errno; an actor may be unable to enter a domain. */
	int (*set)(unsigned int state);
	int (*enter)(unsigned int domain);
	/* Has the domain CAP_SYS_ADMIN? */
	bool (*allows)(unsigned int state, unsigned int domain);
};

#endif
