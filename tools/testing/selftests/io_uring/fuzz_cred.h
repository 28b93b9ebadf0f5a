/* SPDX-License-Identifier: GPL-2.0 */
/* Credentials, and what the rules of the kernel make of them. Nothing here asks the kernel. */
#ifndef FUZZ_CRED_H
#define FUZZ_CRED_H

#include <sys/types.h>

#include "fuzz_op.h"

/* As capget(2) shows them. */
struct fuzz_sets {
	__u64 effective, permitted, inheritable;
};

struct fuzz_cred {
	struct fuzz_sets sets;
	__u64 ambient, bounding;
	uid_t ruid, euid, suid;
	unsigned int securebits;
	unsigned int userns;	/* 0: the initial one */
	unsigned int domain;
};

/* CAP_SYS_ADMIN, as far as no module has a say. */
bool fuzz_cred_admin(const struct fuzz_cred *c);

/* By one of OP_CAPSET to OP_AMBIENT, which must return what this does: 0 or -errno. */
int fuzz_cred_change(struct fuzz_cred *c, const struct fuzz_op *op);
void fuzz_cred_enter_userns(struct fuzz_cred *c, unsigned int userns);
void fuzz_cred_exec(struct fuzz_cred *c, bool no_new_privs, bool setuid_file);

/* What an OP_SECUREBITS and an OP_CAPSET ask for. */
extern const unsigned int fuzz_securebits[4];
void fuzz_capset(struct fuzz_sets *sets, enum fuzz_capset what);

#endif
