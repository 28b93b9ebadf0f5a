/* SPDX-License-Identifier: GPL-2.0 */
/* Profiles, each with and without CAP_SYS_ADMIN, compiled once. */
#ifndef APPARMOR_POLICY_H
#define APPARMOR_POLICY_H

enum apparmor_op {
	AA_SUBJECT_ALLOW,
	AA_SUBJECT_REFUSE,
	AA_SUBJECT_COMPLAIN,	/* without the capability, but in complain mode */
	AA_SUBJECT_DENY,	/* in complain mode, which the denial beats unless all is audited */
	AA_OTHER_ALLOW,
	AA_OTHER_REFUSE,
	AA_STACK_ALLOW,
	AA_STACK_REFUSE,
	AA_PROFILES,
	AA_SUBJECT_REMOVE = AA_PROFILES,
	AA_MODE_ENFORCE,
	AA_MODE_COMPLAIN,
	AA_MODE_UNCONFINED,	/* a name that the parameter takes; still enforces */
	AA_AUDIT_NORMAL,
	AA_AUDIT_NOQUIET,	/* denials are audited, too */
	AA_AUDIT_QUIET,
	AA_NS_CREATE,
	AA_NS_REMOVE,
	AA_NS_SUBJECT_ALLOW,
	AA_NS_SUBJECT_REFUSE,
	/* Plus a number: loads the profile "stack" and 4 digits with or without the capability. */
	AA_STACK = 10000,
	AA_UNSTACK = 20000,
};

/* Compiles all profiles; ends the program with a skip and its reason where that is no use. */
void apparmor_need(void);

/* Loads "subject" and "other" with the capability, enforces them; 0 or -errno. */
int apparmor_start(void);
void apparmor_stop(void);

/* Does what enum apparmor_op names; 0 or -errno. */
int apparmor_do(int op);

/* Moves the calling thread into a profile; stacks one on its label. */
int apparmor_enter(const char *profile);
int apparmor_stack(const char *profile);

#endif
