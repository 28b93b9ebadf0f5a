// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>

#include "fuzz_cred.h"

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

static int change_capset(struct fuzz_cred *c, enum fuzz_capset what)
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

static int change_setresuid(struct fuzz_cred *c, __u32 arg)
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

static int change_securebits(struct fuzz_cred *c, __u32 arg)
{
	if (!(c->sets.effective & CAP(SETPCAP)))
		return -EPERM;
	c->securebits = fuzz_securebits[arg & 3];
	return 0;
}

static int change_keepcaps(struct fuzz_cred *c, __u32 arg)
{
	c->securebits &= ~issecure_mask(SECURE_KEEP_CAPS);
	if (arg & 1)
		c->securebits |= issecure_mask(SECURE_KEEP_CAPS);
	return 0;
}

static int change_bounding(struct fuzz_cred *c)
{
	if (!(c->sets.effective & CAP(SETPCAP)))
		return -EPERM;
	c->bounding &= ~CAP(SYS_ADMIN);
	return 0;
}

static int change_ambient(struct fuzz_cred *c, __u32 arg)
{
	if (!(arg & 1))
		c->ambient = 0;
	else if (c->sets.permitted & c->sets.inheritable & CAP(SYS_ADMIN))
		c->ambient |= CAP(SYS_ADMIN);
	else
		return -EPERM;
	return 0;
}

int fuzz_cred_change(struct fuzz_cred *c, const struct fuzz_op *op)
{
	switch (op->type) {
	case OP_CAPSET:
		return change_capset(c, op->arg % CAPSETS);
	case OP_SETRESUID:
		return change_setresuid(c, op->arg);
	case OP_KEEPCAPS:
		return change_keepcaps(c, op->arg);
	case OP_SECUREBITS:
		return change_securebits(c, op->arg);
	case OP_BOUNDING:
		return change_bounding(c);
	default:
		return change_ambient(c, op->arg);
	}
}

void fuzz_cred_enter_userns(struct fuzz_cred *c, unsigned int userns)
{
	c->userns = userns;
	c->sets = (struct fuzz_sets){ .effective = ~0ULL, .permitted = ~0ULL };
	c->ambient = 0;
	c->bounding = ~0ULL;
	c->securebits = 0;
}

void fuzz_cred_exec(struct fuzz_cred *c, bool no_new_privs, bool setuid_file)
{
	struct fuzz_cred old = *c;
	bool set_id, effective = false;

	/* Root of the initial namespace is nobody in another one. */
	if (old.userns)
		return;
	if (setuid_file && !no_new_privs)
		c->euid = 0;
	c->sets.permitted = 0;
	if (!issecure(c, SECURE_NOROOT)) {
		if (!c->euid || !c->ruid)
			c->sets.permitted = old.bounding | old.sets.inheritable;
		effective = !c->euid;
	}
	if (no_new_privs)
		c->sets.permitted &= old.sets.permitted;
	set_id = c->euid != old.ruid;
	c->suid = c->euid;
	if (set_id)
		c->ambient = 0;
	c->sets.permitted |= c->ambient;
	c->sets.effective = effective ? c->sets.permitted : c->ambient;
	c->securebits &= ~issecure_mask(SECURE_KEEP_CAPS);
}

bool fuzz_cred_admin(const struct fuzz_cred *c)
{
	return !c->userns && c->sets.effective & CAP(SYS_ADMIN);
}
