// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "fuzz_shrink.h"

#define TRIES	3	/* of each trace: threads may race */
#define WALKS	400	/* in all */

static unsigned int walks;

static bool fails(const struct fuzz_trace *trace, struct fuzz_outcome *outcome)
{
	struct fuzz_outcome o;
	int i;

	for (i = 0; i < TRIES && walks < WALKS; i++) {
		walks++;
		o = fuzz_walk(trace);
		if (o.failed) {
			*outcome = o;
			return true;
		}
	}
	return false;
}

static struct fuzz_trace without(const struct fuzz_trace *trace, unsigned int at, unsigned int n)
{
	struct fuzz_trace t = *trace;

	if (n > t.n - at)
		n = t.n - at;
	memmove(t.op + at, t.op + at + n, (t.n - at - n) * sizeof(*t.op));
	t.n -= n;
	return t;
}

/* Delta debugging: pieces of half the trace, then of half that, until single operations. */
struct fuzz_outcome fuzz_shrink(struct fuzz_trace *trace)
{
	struct fuzz_outcome outcome = {};
	unsigned int piece, at;
	struct fuzz_trace t;
	bool smaller;

	walks = 0;
	if (!fails(trace, &outcome))
		return outcome;
	/* What comes later has nothing to do with it. */
	t = without(trace, outcome.step + 1, trace->n);
	if (outcome.step + 1 < trace->n && fails(&t, &outcome))
		*trace = t;

	for (piece = trace->n / 2 ?: 1; ; piece = piece / 2 ?: 1) {
		smaller = false;
		for (at = 0; at < trace->n && walks < WALKS;) {
			t = without(trace, at, piece);
			if (t.n && fails(&t, &outcome)) {
				*trace = t;
				smaller = true;
			} else {
				at += piece;
			}
		}
		if ((piece == 1 && !smaller) || walks >= WALKS)
			return outcome;
	}
}
