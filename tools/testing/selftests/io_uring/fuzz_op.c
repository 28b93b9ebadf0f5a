// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "creds.h"
#include "fuzz_op.h"

const unsigned int fuzz_uids[4] = { -1, 0, NOBODY, 1000 };

/* How often each is drawn. What cannot be taken back is rare, else all are soon unprivileged. */
static const struct {
	const char *name;
	unsigned int weight;
} types[OP_TYPES] = {
	[OP_PROBE] = { "probe", 400 },
	[OP_DEFER] = { "defer", 30 },
	[OP_TRIGGER] = { "trigger", 60 },
	[OP_CAPSET] = { "capset", 100 },
	[OP_SETRESUID] = { "setresuid", 60 },
	[OP_KEEPCAPS] = { "keepcaps", 15 },
	[OP_SECUREBITS] = { "securebits", 15 },
	[OP_BOUNDING] = { "bounding-drop", 4 },
	[OP_NO_NEW_PRIVS] = { "no-new-privs", 4 },
	[OP_AMBIENT] = { "ambient", 10 },
	[OP_JOIN_SESSION] = { "join-session", 10 },
	[OP_REQUEST_KEYRING] = { "request-keyring", 10 },
	[OP_SESSION_TO_PARENT] = { "session-to-parent", 8 },
	[OP_UNSHARE_USER] = { "unshare-user", 6 },
	[OP_DOMAIN] = { "domain", 30 },
	[OP_SETNS_USER] = { "setns-user", 6 },
	[OP_FORK] = { "fork", 40 },
	[OP_THREAD] = { "thread", 30 },
	[OP_EXEC] = { "exec", 10 },
	[OP_EXIT] = { "exit", 15 },
	[OP_RING_NEW] = { "ring", 30 },
	[OP_RING_TAKE] = { "take-ring", 20 },
	[OP_RING_CLOSE] = { "close-ring", 10 },
	[OP_PERSONALITY] = { "personality", 30 },
	[OP_PERSONALITY_END] = { "personality-end", 8 },
	[OP_SYSCTL] = { "sysctl", 15 },
	[OP_POLICY] = { "policy", 100 },
};

enum fuzz_type fuzz_op_type(struct rng *rng)
{
	unsigned int i, at, sum = 0;

	for (i = 0; i < OP_TYPES; i++)
		sum += types[i].weight;
	at = rng_below(rng, sum);
	for (i = 0; at >= types[i].weight; i++)
		at -= types[i].weight;
	return i;
}

struct fuzz_op fuzz_op_random(struct rng *rng, enum fuzz_type type)
{
	return (struct fuzz_op){
		.type = type,
		.actor = rng_below(rng, ACTORS),
		.other = rng_below(rng, ACTORS),
		.ring = rng_below(rng, RINGS),
		.arg = rng_next(rng),
	};
}

void fuzz_op_text(const struct fuzz_op *op, char *text, size_t size)
{
	static const char *const mode[MODES] = { "inline", "async", "chain", "drain" };
	int n = snprintf(text, size, "%-17s actor %u other %u ring %u arg %#x",
			 types[op->type].name, op->actor, op->other, op->ring, op->arg);

	if (op->type == OP_PROBE && n > 0 && (size_t)n < size)
		snprintf(text + n, size - n, " (%s, %u times %u)", mode[probe_mode(op->arg)],
			 probe_batches(op->arg), probe_count(op->arg));
}
