// SPDX-License-Identifier: GPL-2.0
#include "fuzz_model.h"

/* A ring that the task can send commands to. */
static bool usable(const struct fuzz_model *m, unsigned int actor, unsigned int ring)
{
	const struct fuzz_ring_model *r = &m->ring[ring];

	return m->task[actor].rings & 1U << ring && !r->dead &&
	       (!ring_is_single(r->kind) || r->maker == actor);
}

/* Does a task of that process or with those files wait behind a poll request? */
static bool waits(const struct fuzz_model *m, const struct fuzz_task *t, bool files, int ring)
{
	const struct fuzz_task *o;

	for (o = m->task; o < m->task + ACTORS; o++)
		if (o->alive && o->deferred &&
		    (files ? o->files == t->files : o->process == t->process) &&
		    (ring < 0 || o->deferred_ring == ring))
			return true;
	return false;
}

/* A drained command waits for what others have sent, too: the ring must be its sender's alone. */
static bool drains(const struct fuzz_model *m, unsigned int actor, unsigned int ring)
{
	unsigned int i;

	for (i = 0; i < ACTORS; i++)
		if (m->task[i].alive && m->task[i].rings & 1U << ring &&
		    (i != actor || m->task[i].deferred))
			return false;
	return true;
}

/*
 * Whether a drained command, or one further on in a chain, is issued at once or by task
 * work is a matter of time, and an SQ thread runs task work with the credentials of the
 * ring it was made for, also for one that was attached with others: no answer is wrong.
 */
static bool either_answer(const struct fuzz_model *m, const struct fuzz_op *op)
{
	return (probe_mode(op->arg) == MODE_CHAIN || probe_mode(op->arg) == MODE_DRAIN) &&
	       fuzz_model_thread_differs(m, op->ring);
}

static bool personalities_there(const struct fuzz_model *m, const struct fuzz_op *op)
{
	unsigned int i, p;

	for (i = 0; i < 2; i++) {
		p = probe_personality(op->arg, i);
		if (p < PERSONALITIES && !m->ring[op->ring].personality[p].id)
			return false;
	}
	return true;
}

/* Actor 0 keeps a way back to privilege, so that a walk does not end in the gutter. */
static bool for_good(const struct fuzz_op *op)
{
	switch (op->type) {
	case OP_CAPSET:
		return op->arg % CAPSETS == CAPS_DROP_PERMITTED;
	case OP_SETRESUID:
	case OP_SECUREBITS:
	case OP_BOUNDING:
	case OP_NO_NEW_PRIVS:
	case OP_UNSHARE_USER:
	case OP_SETNS_USER:
	case OP_DOMAIN:
	case OP_EXIT:
		return true;
	default:
		return false;
	}
}

static bool ring_possible(const struct fuzz_model *m, const struct fuzz_op *op)
{
	const struct fuzz_ring_model *other = &m->ring[op->other];
	enum fuzz_ring kind = op->arg % RING_KINDS;
	unsigned int i;

	if (m->ring[op->ring].made)
		return false;
	if (kind == RING_ATTACHED)
		return usable(m, op->actor, op->other) && !ring_is_sqpoll(other->kind);
	if (kind == RING_SQPOLL_ATTACHED)
		return usable(m, op->actor, op->other) && ring_is_sqpoll(other->kind);
	/* A thread of the kernel for each: one is enough. */
	for (i = 0; kind == RING_SQPOLL && i < RINGS; i++)
		if (m->ring[i].made && m->ring[i].kind == RING_SQPOLL && !m->ring[i].dead)
			return false;
	return true;
}

bool fuzz_model_possible(const struct fuzz_model *m, const struct fuzz_op *op)
{
	const struct fuzz_task *t = &m->task[op->actor], *o = &m->task[op->other];
	const struct fuzz_ring_model *r = &m->ring[op->ring];
	int id = r->personality[op->arg % PERSONALITIES].id;

	if (op->type == OP_SYSCTL)
		return m->have_sysctl;
	if (op->type == OP_POLICY)
		return m->policy && op->arg % m->policy->states != m->state;
	if (!t->alive || (!op->actor && for_good(op)))
		return false;
	switch (op->type) {
	case OP_PROBE:
		return usable(m, op->actor, op->ring) && personalities_there(m, op) &&
		       (probe_mode(op->arg) != MODE_DRAIN || drains(m, op->actor, op->ring)) &&
		       !either_answer(m, op);
	case OP_DEFER:
		/* What may have to be drained keeps the credentials that it was sent with. */
		return !t->deferred && usable(m, op->actor, op->ring) && !r->drained &&
		       personalities_there(m, op) && !ring_is_sqpoll(r->kind);
	case OP_TRIGGER:
		return t->deferred && t->rings & 1U << t->deferred_ring;
	case OP_UNSHARE_USER:
		return !t->cred.userns;
	case OP_DOMAIN:
		return m->policy && m->policy->domains > 1;
	case OP_SETNS_USER:
		return o->alive && o->cred.userns != t->cred.userns;
	case OP_FORK:
	case OP_THREAD:
		return !o->alive && op->other;
	case OP_EXEC:
		/* Kernels differ in what they make of these. */
		if (t->cred.euid != t->cred.ruid && (t->no_new_privs || t->cred.ambient))
			return false;
		if (op->arg & 1 && !m->have_setuid_file)
			return false;
		return !waits(m, t, false, -1) && (!t->thread || m->task[0].process != t->process);
	case OP_EXIT:
		return !waits(m, t, false, -1) && t->process != m->task[0].process;
	case OP_RING_NEW:
		return ring_possible(m, op);
	case OP_RING_TAKE:
		return o->alive && o->rings & ~t->rings & 1U << op->ring;
	case OP_RING_CLOSE:
		return t->rings & 1U << op->ring && !waits(m, t, true, op->ring);
	case OP_PERSONALITY:
		return usable(m, op->actor, op->ring) && !id;
	case OP_PERSONALITY_END:
		return usable(m, op->actor, op->ring) && id;
	default:
		return true;
	}
}
