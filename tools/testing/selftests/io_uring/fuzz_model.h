/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the program believes: the credentials of each actor, who has which ring, and so
 * whether a command must be allowed. Nothing here asks the kernel.
 */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "fuzz_cred.h"
#include "fuzz_policy.h"

struct fuzz_task {
	bool alive;
	bool thread;		/* not the first one of its process */
	bool no_new_privs;
	unsigned int process;	/* not used again */
	unsigned int files;	/* tasks with the same number share descriptors */
	__u32 rings;		/* that it has a descriptor of */
	struct fuzz_cred cred;
	bool deferred;
	__u8 deferred_ring;
	bool deferred_by_personality;
	struct fuzz_cred deferred_cred;
};

struct fuzz_ring_model {
	bool made;
	enum fuzz_ring kind;
	unsigned int process;	/* of its maker: the SQPOLL thread lives in it */
	unsigned int maker;
	bool dead;
	bool drained;		/* a drained command was sent */
	struct fuzz_cred cred;	/* SQPOLL acts with these */
	struct fuzz_cred thread_cred;	/* its thread was made with these */
	struct {
		int id;		/* 0: none */
		struct fuzz_cred cred;
	} personality[PERSONALITIES];
};

struct fuzz_model {
	const struct fuzz_policy *policy;
	unsigned int state;	/* of the policy */
	bool have_sysctl;
	bool have_setuid_file;
	unsigned int numbers;	/* for processes, files, user namespaces */
	struct fuzz_task task[ACTORS];
	struct fuzz_ring_model ring[RINGS];
};

/* Begins with actor 0, who has what the caller has. */
void fuzz_model_init(struct fuzz_model *m, const struct fuzz_policy *policy,
		     const struct fuzz_cred *cred);

/* Does the operation make sense now? If not, it is left out. */
bool fuzz_model_possible(const struct fuzz_model *m, const struct fuzz_op *op);

/* Are the thread of the ring and the ring itself answered differently? */
bool fuzz_model_thread_differs(const struct fuzz_model *m, unsigned int ring);

/* Must a command of an OP_PROBE or OP_TRIGGER be allowed? */
bool fuzz_model_allows(const struct fuzz_model *m, const struct fuzz_op *op, unsigned int i);

/*
 * What follows from an operation that returned @ret (the number of a personality, 0 or
 * -errno). False if @ret is not what must be returned.
 */
bool fuzz_model_done(struct fuzz_model *m, const struct fuzz_op *op, int ret);
/* The same for the first thing that an actor does after OP_FORK. */
void fuzz_model_forked(struct fuzz_model *m, const struct fuzz_op *op, int ret);

/* The domain that a forked actor enters at once, 0 for none. */
static inline unsigned int fork_domain(const struct fuzz_op *op, const struct fuzz_policy *p)
{
	return p && p->domains > 1 && op->arg & 2 ? 1 + (op->arg >> 2) % (p->domains - 1) : 0;
}

#endif
