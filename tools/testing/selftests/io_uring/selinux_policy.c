// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "../kselftest.h"
#include "lsm_file.h"
#include "lsm_rig.h"
#include "selinux_policy.h"

#define FS "/sys/fs/selinux/"

/* What is not declared here is unknown to the policy, and so allowed. */
static const char base[] =
	"class process\n"
	"class capability\n"
	"sid kernel\n"
	"sid security\n"
	"sid unlabeled\n"
	"class process { transition dyntransition }\n"
	"class capability { sys_admin }\n"
	"bool subject_admin true;\n"
	"type system_t;\n"
	"type subject_t;\n"
	"type outcast_t;\n"
	"allow { system_t subject_t outcast_t } { system_t subject_t outcast_t }:process *;\n"
	"allow system_t self:capability sys_admin;\n"
	/* Thousands of refusals: keep them out of the log. */
	"dontaudit { subject_t outcast_t } self:capability sys_admin;\n"
	"%s\n"
	"role r;\n"
	"role r types { system_t subject_t outcast_t };\n"
	"user u roles r;\n"
	"sid kernel u:r:system_t\n"
	"sid security u:r:system_t\n"
	"sid unlabeled u:r:system_t\n"
	/* 6.12 fails to load a policy that has no label for its booleans. */
	"genfscon selinuxfs / u:r:system_t\n";

static const char *const rule[SELINUX_POLICIES] = {
	[SELINUX_ALLOW] = "allow subject_t self:capability sys_admin;",
	[SELINUX_REFUSE] = "",
	[SELINUX_PERMISSIVE] = "permissive subject_t;",
	[SELINUX_BOOLEAN] =
		"if (subject_admin) { allow subject_t self:capability sys_admin; }",
};

static struct blob policies[SELINUX_POLICIES];

static int build(enum selinux_policy policy)
{
	char source[] = "/tmp/ringcap.conf", binary[] = "/tmp/ringcap.policy";
	char *const argv[] = {
		"checkpolicy", "-U", "allow", "-c", "31", "-o", binary, source, NULL
	};
	char text[sizeof(base) + 128];

	snprintf(text, sizeof(text), base, rule[policy]);
	return compile(argv, source, text, binary, &policies[policy]);
}

void selinux_need(void)
{
	int i, ret = 0;

	lsm_need("selinux");
	for (i = 0; i < SELINUX_POLICIES && !ret; i++)
		ret = build(i);
	if (ret)
		ksft_exit_skip("checkpolicy makes no policy: %s\n", strerror(-ret));
}

int selinux_start(void)
{
	/* Each load lists the classes that it does not know: not on the console. */
	klogctl(8, NULL, 4);
	return selinux_load(SELINUX_ALLOW) ?: selinux_set_enforce(true);
}

void selinux_stop(void)
{
	selinux_set_enforce(false);
	klogctl(7, NULL, 0);
}

int selinux_load(enum selinux_policy policy)
{
	return file_write(FS "load", policies[policy].data, policies[policy].size);
}

int selinux_set_enforce(bool on)
{
	return file_write_text(FS "enforce", on ? "1" : "0");
}

int selinux_set_boolean(bool on)
{
	return file_write_text(FS "booleans/subject_admin", on ? "1" : "0") ?:
	       file_write_text(FS "commit_pending_bools", "1");
}

int selinux_enter(const char *context)
{
	return file_write_text("/proc/thread-self/attr/current", context);
}

int selinux_enter_on_exec(const char *context)
{
	return file_write_text("/proc/thread-self/attr/exec", context);
}
