/* SPDX-License-Identifier: GPL-2.0 */
/* What the actors of a random walk do. A trace can be walked again, with some left out, too. */
#ifndef FUZZ_OP_H
#define FUZZ_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "rng.h"

#define ACTORS		6	/* at a time: threads and processes */
#define RINGS		12	/* in one trace: numbers are not used again */
#define PERSONALITIES	3	/* of each ring at a time */
#define TRACE_MAX	160	/* operations */

enum fuzz_type {
	OP_PROBE,		/* commands, judged at once */
	OP_TRIGGER,		/* the one of OP_DEFER is issued, and judged now */
	OP_CAPSET,
	OP_SETRESUID,
	OP_KEEPCAPS,
	OP_SECUREBITS,
	OP_BOUNDING,
	OP_NO_NEW_PRIVS,
	OP_AMBIENT,
	OP_JOIN_SESSION,
	OP_REQUEST_KEYRING,
	OP_SESSION_TO_PARENT,
	OP_UNSHARE_USER,
	OP_DOMAIN,		/* of the security module */
	/* From here on nobody else may do anything meanwhile. */
	OP_DEFER,		/* one that waits behind a poll request */
	OP_SETNS_USER,
	OP_FORK,
	OP_THREAD,
	OP_EXEC,
	OP_EXIT,
	OP_RING_NEW,
	OP_RING_TAKE,
	OP_RING_CLOSE,
	OP_PERSONALITY,
	OP_PERSONALITY_END,
	OP_SYSCTL,
	OP_POLICY,
	OP_TYPES,
};

/* The actor, another one or an index, a ring, and what the type makes of @arg. */
struct fuzz_op {
	__u8 type, actor, other, ring;
	__u32 arg;
};

struct fuzz_trace {
	unsigned int n;
	struct fuzz_op op[TRACE_MAX];
};

/* OP_PROBE, OP_DEFER: fields of @arg. */
enum fuzz_mode { MODE_INLINE, MODE_ASYNC, MODE_CHAIN, MODE_DRAIN, MODES };

#define PROBES_MAX	32

static inline unsigned int probe_count(__u32 arg)
{
	return (arg & (PROBES_MAX - 1)) + 1;
}

/* Between batches others get at the ring. */
static inline unsigned int probe_batches(__u32 arg)
{
	return (arg >> 24 & 7) + 1;
}

static inline enum fuzz_mode probe_mode(__u32 arg)
{
	return (arg >> 8) % MODES;
}

/* Every other command takes another personality. PERSONALITIES or more: none. */
static inline unsigned int probe_personality(__u32 arg, unsigned int i)
{
	return arg >> (i & 1 ? 20 : 16) & 7;
}

/* OP_CAPSET */
enum fuzz_capset {
	CAPS_DROP_EFFECTIVE,	/* of CAP_SYS_ADMIN, from here ... */
	CAPS_RAISE_EFFECTIVE,
	CAPS_INHERIT,
	CAPS_DISINHERIT,
	CAPS_DROP_PERMITTED,	/* ... to here; for good */
	CAPS_SAME,		/* new credentials, same sets */
	CAPS_EFFECTIVE_NONE,
	CAPS_EFFECTIVE_ALL,
	CAPS_DROP_SETPCAP,
	CAPSETS,
};

/* OP_RING_NEW */
enum fuzz_ring {
	RING_PLAIN,
	RING_ATTACHED,		/* shares io-wq with ring @other */
	RING_COOP,
	RING_SINGLE_ISSUER,
	RING_DEFER_TASKRUN,
	RING_SQPOLL,
	RING_SQPOLL_ATTACHED,	/* shares the thread of ring @other */
	RING_KINDS,
};

static inline bool ring_is_sqpoll(enum fuzz_ring kind)
{
	return kind == RING_SQPOLL || kind == RING_SQPOLL_ATTACHED;
}

static inline bool ring_is_single(enum fuzz_ring kind)
{
	return kind == RING_SINGLE_ISSUER || kind == RING_DEFER_TASKRUN;
}

static inline bool fuzz_op_alone(const struct fuzz_op *op)
{
	return op->type >= OP_SETNS_USER;
}

/* User IDs that OP_SETRESUID takes, by two bits each of its @arg; the first keeps. */
extern const unsigned int fuzz_uids[4];

enum fuzz_type fuzz_op_type(struct rng *rng);
struct fuzz_op fuzz_op_random(struct rng *rng, enum fuzz_type type);
void fuzz_op_text(const struct fuzz_op *op, char *text, size_t size);

#endif
