/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that a seed brings back. */
#ifndef RNG_H
#define RNG_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct rng {
	unsigned long long state;
};

/* $RINGCAP_SEED, or a new one each time. */
static inline unsigned long long rng_seed(void)
{
	const char *env = getenv("RINGCAP_SEED");
	struct timespec now;

	if (env)
		return strtoull(env, NULL, 0);
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static inline unsigned long long rng_next(struct rng *r)
{
	unsigned long long x;

	/* Weyl sequence, mixed: any state will do, and neighbouring seeds differ. */
	r->state += 0x9e3779b97f4a7c15;
	x = r->state;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* From 0 to @n - 1. */
static inline unsigned int rng_below(struct rng *r, unsigned int n)
{
	return rng_next(r) % n;
}

static inline bool rng_one_in(struct rng *r, unsigned int n)
{
	return !rng_below(r, n);
}

/* The sequence of one thread of several with a common seed. */
static inline struct rng rng_fork(unsigned long long seed, unsigned int index)
{
	struct rng r = { .state = seed };

	while (index--)
		r.state = rng_next(&r);
	r.state = rng_next(&r);
	return r;
}

#endif
