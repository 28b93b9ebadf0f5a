// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "fuzz_model.h"

void fuzz_model_init(struct fuzz_model *m, const struct fuzz_policy *policy,
		     const struct fuzz_cred *cred)
{
	memset(m, 0, sizeof(*m));
	m->policy = policy;
	m->task[0].alive = true;
	m->task[0].cred = *cred;
}

static bool cred_allows(const struct fuzz_model *m, const struct fuzz_cred *c)
{
	return fuzz_cred_admin(c) && (!m->policy || m->policy->allows(m->state, c->domain));
}

bool fuzz_model_thread_differs(const struct fuzz_model *m, unsigned int ring)
{
	const struct fuzz_ring_model *r = &m->ring[ring];

	return ring_is_sqpoll(r->kind) &&
	       cred_allows(m, &r->cred) != cred_allows(m, &r->thread_cred);
}

bool fuzz_model_allows(const struct fuzz_model *m, const struct fuzz_op *op, unsigned int i)
{
	const struct fuzz_task *t = &m->task[op->actor];
	const struct fuzz_ring_model *r = &m->ring[op->ring];
	unsigned int p = probe_personality(op->arg, i);

	if (op->type == OP_TRIGGER)
		return cred_allows(m, t->deferred_by_personality ? &t->deferred_cred : &t->cred);
	if (p < PERSONALITIES)
		return cred_allows(m, &r->personality[p].cred);
	return cred_allows(m, ring_is_sqpoll(r->kind) ? &r->cred : &t->cred);
}

/* The process has ended or become another program: what lived in it is gone. */
static void process_ends(struct fuzz_model *m, unsigned int process)
{
	struct fuzz_ring_model *r;
	struct fuzz_task *t;

	for (r = m->ring; r < m->ring + RINGS; r++)
		if (r->made && r->process == process && ring_is_sqpoll(r->kind))
			r->dead = true;
	for (t = m->task; t < m->task + ACTORS; t++)
		if (t->alive && t->process == process)
			t->alive = false;
	/* The place may be taken by somebody else. */
	for (r = m->ring; r < m->ring + RINGS; r++)
		if (r->made && ring_is_single(r->kind) && !m->task[r->maker].alive)
			r->dead = true;
}

static void share_rings(struct fuzz_model *m, const struct fuzz_task *t)
{
	struct fuzz_task *o;

	for (o = m->task; o < m->task + ACTORS; o++)
		if (o->alive && o->files == t->files)
			o->rings = t->rings;
}

/* A refusal is in order where the module gives the domain fewer capabilities. */
static bool change_cred(struct fuzz_task *t, const struct fuzz_op *op, int ret)
{
	struct fuzz_cred new = t->cred;
	int want = fuzz_cred_change(&new, op);

	if (ret == -EPERM && t->cred.domain)
		return true;
	if (t->cred.userns)
		return true;
	t->cred = new;
	return ret == want;
}

/* Not everybody may do these, nor at all times: then nothing has changed. */
static bool may_fail(const struct fuzz_task *t, const struct fuzz_op *op)
{
	switch (op->type) {
	case OP_UNSHARE_USER:
	case OP_SETNS_USER:
	case OP_DOMAIN:
	case OP_RING_TAKE:
	case OP_JOIN_SESSION:
	case OP_REQUEST_KEYRING:
	case OP_SESSION_TO_PARENT:
		return true;
	default:
		return t->cred.domain;
	}
}

static void defer(struct fuzz_model *m, const struct fuzz_op *op)
{
	struct fuzz_task *t = &m->task[op->actor];
	unsigned int p = probe_personality(op->arg, 0);

	t->deferred = true;
	t->deferred_ring = op->ring;
	t->deferred_by_personality = p < PERSONALITIES;
	if (t->deferred_by_personality)
		t->deferred_cred = m->ring[op->ring].personality[p].cred;
}

/* What follows where the operation has not failed. */
static void succeed(struct fuzz_model *m, const struct fuzz_op *op, int ret)
{
	struct fuzz_task *t = &m->task[op->actor], *o = &m->task[op->other];
	struct fuzz_ring_model *r = &m->ring[op->ring];
	unsigned int i;

	switch (op->type) {
	case OP_UNSHARE_USER:
		fuzz_cred_enter_userns(&t->cred, ++m->numbers);
		break;
	case OP_SETNS_USER:
		fuzz_cred_enter_userns(&t->cred, o->cred.userns);
		break;
	case OP_DOMAIN:
		t->cred.domain = 1 + op->arg % (m->policy->domains - 1);
		break;
	case OP_FORK:
	case OP_THREAD:
		*o = *t;
		o->deferred = false;
		o->thread = op->type == OP_THREAD;
		if (op->type == OP_FORK)
			o->process = ++m->numbers;
		if (op->type == OP_FORK && !(op->arg & 1))
			o->files = ++m->numbers;
		break;
	case OP_EXEC:
		process_ends(m, t->process);
		t->alive = true;
		t->thread = false;
		t->files = ++m->numbers;
		fuzz_cred_exec(&t->cred, t->no_new_privs, op->arg & 1);
		break;
	case OP_EXIT:
		if (t->thread)
			t->alive = false;
		else
			process_ends(m, t->process);
		for (i = 0; i < RINGS; i++)
			if (ring_is_single(m->ring[i].kind) && m->ring[i].maker == op->actor)
				m->ring[i].dead = true;
		break;
	case OP_RING_NEW:
		r->made = true;
		r->kind = op->arg % RING_KINDS;
		r->process = t->process;
		r->maker = op->actor;
		r->cred = t->cred;
		/* Attached in another process it gets a thread of its own, there. */
		r->thread_cred = t->cred;
		if (r->kind == RING_SQPOLL_ATTACHED && m->ring[op->other].process == t->process)
			r->thread_cred = m->ring[op->other].thread_cred;
		t->rings |= 1U << op->ring;
		share_rings(m, t);
		break;
	case OP_RING_TAKE:
		t->rings |= 1U << op->ring;
		share_rings(m, t);
		break;
	case OP_RING_CLOSE:
		t->rings &= ~(1U << op->ring);
		share_rings(m, t);
		break;
	case OP_PERSONALITY:
		r->personality[op->arg % PERSONALITIES].id = ret;
		r->personality[op->arg % PERSONALITIES].cred = t->cred;
		break;
	case OP_PERSONALITY_END:
		r->personality[op->arg % PERSONALITIES].id = 0;
		break;
	case OP_POLICY:
		m->state = op->arg % m->policy->states;
		break;
	default:
		break;
	}
}

bool fuzz_model_done(struct fuzz_model *m, const struct fuzz_op *op, int ret)
{
	struct fuzz_task *t = &m->task[op->actor];

	switch (op->type) {
	case OP_PROBE:
		m->ring[op->ring].drained |= probe_mode(op->arg) == MODE_DRAIN;
		return !ret;
	case OP_CAPSET:
	case OP_SETRESUID:
	case OP_KEEPCAPS:
	case OP_SECUREBITS:
	case OP_BOUNDING:
	case OP_AMBIENT:
		return change_cred(t, op, ret);
	case OP_NO_NEW_PRIVS:
		t->no_new_privs = true;
		return !ret;
	case OP_TRIGGER:
		t->deferred = false;
		return true;
	case OP_DEFER:
		defer(m, op);
		return !ret;
	default:
		if (ret < 0)
			return may_fail(t, op);
		succeed(m, op, ret);
		return true;
	}
}

void fuzz_model_forked(struct fuzz_model *m, const struct fuzz_op *op, int ret)
{
	unsigned int domain = fork_domain(op, m->policy);

	if (!ret && domain)
		m->task[op->other].cred.domain = domain;
}
