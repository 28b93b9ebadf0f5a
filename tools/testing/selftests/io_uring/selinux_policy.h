/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A policy of three domains: the system keeps every permission, "subject" gains and loses
 * CAP_SYS_ADMIN, "outcast" never has it.
 */
#ifndef SELINUX_POLICY_H
#define SELINUX_POLICY_H

#include <stdbool.h>

enum selinux_policy {
	SELINUX_ALLOW,		/* a rule allows the subject */
	SELINUX_REFUSE,		/* no rule does */
	SELINUX_PERMISSIVE,	/* no rule does, but the subject's domain is permissive */
	SELINUX_BOOLEAN,	/* the boolean decides */
	SELINUX_POLICIES,
};

#define SELINUX_SUBJECT	"u:r:subject_t"
#define SELINUX_OUTCAST	"u:r:outcast_t"

/* Compiles all policies; ends the program with a skip and its reason where that is no use. */
void selinux_need(void);

/* Loads the policy that allows and enforces it; 0 or -errno. */
int selinux_start(void);
/* Stops enforcing. */
void selinux_stop(void);

int selinux_load(enum selinux_policy policy);
int selinux_set_enforce(bool on);
int selinux_set_boolean(bool on);
/* Moves the calling thread into a domain; or the next program it executes. */
int selinux_enter(const char *context);
int selinux_enter_on_exec(const char *context);

#endif
