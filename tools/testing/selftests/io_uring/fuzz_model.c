// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <linux/capability.h>
#include <linux/securebits.h>

#include "fuzz_model.h"

#define CAP(name)	(1ULL << CAP_##name)

static bool issecure(const struct fuzz_cred *c, unsigned int bit)
{
	return c->securebits & issecure_mask(bit);
}

void fuzz_capset(struct fuzz_sets *sets, enum fuzz_capset what)
{
	switch (what) {
	case CAPS_DROP_EFFECTIVE:
		sets->effective &= ~CAP(SYS_ADMIN);
		break;
	case CAPS_RAISE_EFFECTIVE:
		sets->effective |= CAP(SYS_ADMIN);
		break;
	case CAPS_INHERIT:
		sets->inheritable |= CAP(SYS_ADMIN);
		break;
	case CAPS_DISINHERIT:
		sets->inheritable &= ~CAP(SYS_ADMIN);
		break;
	case CAPS_DROP_PERMITTED:
		sets->effective &= ~CAP(SYS_ADMIN);
		sets->permitted &= ~CAP(SYS_ADMIN);
		break;
	case CAPS_EFFECTIVE_NONE:
		sets->effective = 0;
		break;
	case CAPS_EFFECTIVE_ALL:
		sets->effective = sets->permitted;
		break;
	case CAPS_DROP_SETPCAP:
		sets->effective &= ~CAP(SETPCAP);
		break;
	default:
		break;
	}
}

static int capset_model(struct fuzz_cred *c, enum fuzz_capset what)
{
	struct fuzz_sets *old = &c->sets, new = *old;
	__u64 most = old->inheritable | c->bounding;

	fuzz_capset(&new, what);
	if (!(old->effective & CAP(SETPCAP)))
		most &= old->inheritable | old->permitted;
	if (new.inheritable & ~most || new.permitted & ~old->permitted ||
	    new.effective & ~new.permitted)
		return -EPERM;
	*old = new;
	c->ambient &= new.permitted & new.inheritable;
	return 0;
}

static bool has_uid(const struct fuzz_cred *c, uid_t uid)
{
	return c->ruid == uid || c->euid == uid || c->suid == uid;
}

static int setresuid_model(struct fuzz_cred *c, __u32 arg)
{
	struct fuzz_cred old = *c;
	uid_t *id[3] = { &c->ruid, &c->euid, &c->suid }, uid;
	int i;

	for (i = 0; i < 3; i++) {
		uid = fuzz_uids[arg >> 2 * i & 3];
		if (uid == (uid_t)-1)
			continue;
		if (!has_uid(&old, uid) && !(old.sets.effective & CAP(SETUID))) {
			*c = old;
			return -EPERM;
		}
		*id[i] = uid;
	}
	if (issecure(&old, SECURE_NO_SETUID_FIXUP))
		return 0;
	if (has_uid(&old, 0) && !has_uid(c, 0)) {
		if (!issecure(&old, SECURE_KEEP_CAPS))
			c->sets = (struct fuzz_sets){ .inheritable = c->sets.inheritable };
		c->ambient = 0;
	}
	if (!old.euid && c->euid)
		c->sets.effective = 0;
	if (old.euid && !c->euid)
		c->sets.effective = c->sets.permitted;
	return 0;
}

const unsigned int fuzz_securebits[4] = {
	0, issecure_mask(SECURE_NOROOT), issecure_mask(SECURE_NO_SETUID_FIXUP),
	issecure_mask(SECURE_KEEP_CAPS),
};

static int securebits_model(struct fuzz_cred *c, __u32 arg)
{
	if (!(c->sets.effective & CAP(SETPCAP)))
		return -EPERM;
	c->securebits = fuzz_securebits[arg & 3];
	return 0;
}

static int bounding_model(struct fuzz_cred *c)
{
	if (!(c->sets.effective & CAP(SETPCAP)))
		return -EPERM;
	c->bounding &= ~CAP(SYS_ADMIN);
	return 0;
}

static int ambient_model(struct fuzz_cred *c, __u32 arg)
{
	if (!(arg & 1))
		c->ambient = 0;
	else if (c->sets.permitted & c->sets.inheritable & CAP(SYS_ADMIN))
		c->ambient |= CAP(SYS_ADMIN);
	else
		return -EPERM;
	return 0;
}

static void enter_userns(struct fuzz_cred *c, unsigned int userns)
{
	c->userns = userns;
	c->sets = (struct fuzz_sets){ .effective = ~0ULL, .permitted = ~0ULL };
	c->ambient = 0;
	c->bounding = ~0ULL;
	c->securebits = 0;
}

static void exec_model(struct fuzz_task *t, bool setuid_file)
{
	struct fuzz_cred *c = &t->cred, old = *c;
	bool set_id, effective = false;

	/* Root of the initial namespace is nobody in another one. */
	if (old.userns)
		return;
	if (setuid_file && !t->no_new_privs)
		c->euid = 0;
	c->sets.permitted = 0;
	if (!issecure(c, SECURE_NOROOT)) {
		if (!c->euid || !c->ruid)
			c->sets.permitted = old.bounding | old.sets.inheritable;
		effective = !c->euid;
	}
	if (t->no_new_privs)
		c->sets.permitted &= old.sets.permitted;
	set_id = c->euid != old.ruid;
	c->suid = c->euid;
	if (set_id)
		c->ambient = 0;
	c->sets.permitted |= c->ambient;
	c->sets.effective = effective ? c->sets.permitted : c->ambient;
	c->securebits &= ~issecure_mask(SECURE_KEEP_CAPS);
}

void fuzz_model_init(struct fuzz_model *m, const struct fuzz_policy *policy,
		     const struct fuzz_cred *cred)
{
	memset(m, 0, sizeof(*m));
	m->policy = policy;
	m->task[0].alive = true;
	m->task[0].cred = *cred;
}

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
 * Drained commands and those further on in a chain are issued by task work, which an SQ
 * thread runs with the credentials of the ring it was made for, also for a ring that was
 * attached to it with others: so it is without the series.
 */
static bool by_task_work(const struct fuzz_op *op)
{
	return probe_mode(op->arg) == MODE_CHAIN || probe_mode(op->arg) == MODE_DRAIN;
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
		       !(r->kind == RING_SQPOLL_ATTACHED && by_task_work(op));
	case OP_DEFER:
		return !t->deferred && usable(m, op->actor, op->ring) &&
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

static bool cred_allows(const struct fuzz_model *m, const struct fuzz_cred *c)
{
	return !c->userns && c->sets.effective & CAP(SYS_ADMIN) &&
	       (!m->policy || m->policy->allows(m->state, c->domain));
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
static bool as_predicted(const struct fuzz_task *t, const struct fuzz_cred *new, int want, int ret,
			 struct fuzz_cred *cred)
{
	if (ret == -EPERM && t->cred.domain)
		return true;
	if (t->cred.userns)
		return true;
	*cred = *new;
	return ret == want;
}

bool fuzz_model_done(struct fuzz_model *m, const struct fuzz_op *op, int ret)
{
	struct fuzz_task *t = &m->task[op->actor], *o = &m->task[op->other];
	struct fuzz_ring_model *r = &m->ring[op->ring];
	struct fuzz_cred new = t->cred;
	unsigned int p;
	int want;

	switch (op->type) {
	case OP_CAPSET:
		want = capset_model(&new, op->arg % CAPSETS);
		return as_predicted(t, &new, want, ret, &t->cred);
	case OP_SETRESUID:
		want = setresuid_model(&new, op->arg);
		return as_predicted(t, &new, want, ret, &t->cred);
	case OP_KEEPCAPS:
		new.securebits &= ~issecure_mask(SECURE_KEEP_CAPS);
		if (op->arg & 1)
			new.securebits |= issecure_mask(SECURE_KEEP_CAPS);
		return as_predicted(t, &new, 0, ret, &t->cred);
	case OP_SECUREBITS:
		want = securebits_model(&new, op->arg);
		return as_predicted(t, &new, want, ret, &t->cred);
	case OP_BOUNDING:
		want = bounding_model(&new);
		return as_predicted(t, &new, want, ret, &t->cred);
	case OP_AMBIENT:
		want = ambient_model(&new, op->arg);
		return as_predicted(t, &new, want, ret, &t->cred);
	case OP_NO_NEW_PRIVS:
		t->no_new_privs = true;
		return !ret;
	case OP_TRIGGER:
		t->deferred = false;
		return true;
	case OP_DEFER:
		p = probe_personality(op->arg, 0);
		t->deferred = true;
		t->deferred_ring = op->ring;
		t->deferred_by_personality = p < PERSONALITIES;
		if (t->deferred_by_personality)
			t->deferred_cred = r->personality[p].cred;
		return !ret;
	default:
		break;
	}

	if (ret < 0)
		/* Not everybody may do these, nor at all times: then nothing has changed. */
		return op->type == OP_UNSHARE_USER || op->type == OP_SETNS_USER ||
		       op->type == OP_DOMAIN || op->type == OP_RING_TAKE ||
		       op->type == OP_JOIN_SESSION || op->type == OP_REQUEST_KEYRING ||
		       op->type == OP_SESSION_TO_PARENT || t->cred.domain;

	switch (op->type) {
	case OP_UNSHARE_USER:
		enter_userns(&t->cred, ++m->numbers);
		break;
	case OP_SETNS_USER:
		enter_userns(&t->cred, o->cred.userns);
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
		exec_model(t, op->arg & 1);
		break;
	case OP_EXIT:
		if (t->thread)
			t->alive = false;
		else
			process_ends(m, t->process);
		for (p = 0; p < RINGS; p++)
			if (ring_is_single(m->ring[p].kind) && m->ring[p].maker == op->actor)
				m->ring[p].dead = true;
		break;
	case OP_RING_NEW:
		r->made = true;
		r->kind = op->arg % RING_KINDS;
		/* Attached in another process it gets a thread of its own, there. */
		r->process = t->process;
		r->maker = op->actor;
		r->cred = t->cred;
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
	return true;
}

void fuzz_model_forked(struct fuzz_model *m, const struct fuzz_op *op, int ret)
{
	unsigned int domain = fork_domain(op, m->policy);

	if (!ret && domain)
		m->task[op->other].cred.domain = domain;
}
