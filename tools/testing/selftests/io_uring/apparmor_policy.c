// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kselftest.h"
#include "apparmor_policy.h"
#include "lsm_file.h"
#include "lsm_rig.h"

#define FS	"/sys/kernel/security/apparmor/"
#define NS	FS "policy/namespaces/ringcap"
/* To be overwritten with another number. */
#define STACK	"stack0000"
#define MODE	"/sys/module/apparmor/parameters/mode"
#define AUDIT	"/sys/module/apparmor/parameters/audit"

/* Everything that the tests do under the profile, policy changes included. */
static const char base[] =
	"profile %s %s {\n"
	"  file,\n"
	"  network,\n"
	"  unix,\n"
	"  signal,\n"
	"  ptrace,\n"
	"  mount,\n"
	"  umount,\n"
	"  change_profile,\n"
	"  capability dac_override,\n"
	"  capability ipc_lock,\n"
	"  capability mac_admin,\n"
	"  %s\n"
	"}\n";

/* An explicit denial keeps thousands of refusals out of the log; it beats complain mode, though. */
static const struct {
	const char *name, *flags, *rule;
} profiles[AA_PROFILES] = {
	[AA_SUBJECT_ALLOW] = { "subject", "", "capability sys_admin," },
	[AA_SUBJECT_REFUSE] = { "subject", "", "" },
	[AA_SUBJECT_COMPLAIN] = { "subject", "flags=(complain)", "" },
	[AA_SUBJECT_DENY] = { "subject", "flags=(complain)", "deny capability sys_admin," },
	[AA_OTHER_ALLOW] = { "other", "", "capability sys_admin," },
	[AA_OTHER_REFUSE] = { "other", "", "deny capability sys_admin," },
	[AA_STACK_ALLOW] = { STACK, "", "capability sys_admin," },
	[AA_STACK_REFUSE] = { STACK, "", "deny capability sys_admin," },
};

static struct blob blobs[AA_PROFILES];

static int build(int profile)
{
	char source[] = "/tmp/ringcap.profile", binary[] = "/tmp/ringcap.binary";
	char *const argv[] = {
		"apparmor_parser", "-q", "-Q", "-K", "-o", binary, source, NULL
	};
	char text[sizeof(base) + 128];

	snprintf(text, sizeof(text), base, profiles[profile].name, profiles[profile].flags,
		 profiles[profile].rule);
	return compile(argv, source, text, binary, &blobs[profile]);
}

static int load(const char *path, int profile)
{
	return file_write(path, blobs[profile].data, blobs[profile].size);
}

static int load_stack(int number, int profile)
{
	struct blob *blob = &blobs[profile];
	char *at = blob->data, *end = at + blob->size, name[16];

	snprintf(name, sizeof(name), "stack%04d", number % 10000);
	while ((at = memmem(at, end - at, "stack", 5))) {
		memcpy(at, name, sizeof(STACK) - 1);
		at += sizeof(STACK) - 1;
	}
	return load(FS ".replace", profile);
}

int apparmor_do(int op)
{
	if (op >= AA_STACK)
		return load_stack(op, op < AA_UNSTACK ? AA_STACK_ALLOW : AA_STACK_REFUSE);

	switch (op) {
	case AA_SUBJECT_REMOVE:
		/* The terminating 0 belongs to it. */
		return file_write(FS ".remove", "subject", sizeof("subject"));
	case AA_MODE_ENFORCE:
		return file_write_text(MODE, "enforce");
	case AA_MODE_COMPLAIN:
		return file_write_text(MODE, "complain");
	case AA_MODE_UNCONFINED:
		return file_write_text(MODE, "unconfined");
	case AA_AUDIT_NORMAL:
		return file_write_text(AUDIT, "normal");
	case AA_AUDIT_NOQUIET:
		return file_write_text(AUDIT, "noquiet");
	case AA_AUDIT_QUIET:
		return file_write_text(AUDIT, "quiet");
	case AA_NS_CREATE:
		return mkdir(NS, 0755) ? -errno : 0;
	case AA_NS_REMOVE:
		return rmdir(NS) ? -errno : 0;
	case AA_NS_SUBJECT_ALLOW:
		return load(NS "/.replace", AA_SUBJECT_ALLOW);
	case AA_NS_SUBJECT_REFUSE:
		return load(NS "/.replace", AA_SUBJECT_REFUSE);
	default:
		return load(FS ".replace", op);
	}
}

void apparmor_need(void)
{
	int i, ret = 0;

	lsm_need("apparmor");
	for (i = 0; i < AA_PROFILES && !ret; i++)
		ret = build(i);
	if (ret)
		ksft_exit_skip("apparmor_parser makes no profile: %s\n", strerror(-ret));
}

int apparmor_start(void)
{
	/* Each load and each refusal is audited: not on the console. */
	klogctl(8, NULL, 4);
	return apparmor_do(AA_MODE_ENFORCE) ?: apparmor_do(AA_SUBJECT_ALLOW) ?:
	       apparmor_do(AA_OTHER_ALLOW);
}

void apparmor_stop(void)
{
	apparmor_do(AA_AUDIT_NORMAL);
	apparmor_do(AA_MODE_ENFORCE);
	rmdir(NS);
	klogctl(7, NULL, 0);
}

static int ask(const char *command, const char *profile)
{
	char text[128];

	snprintf(text, sizeof(text), "%s %s", command, profile);
	return file_write_text("/proc/thread-self/attr/current", text);
}

int apparmor_enter(const char *profile)
{
	return ask("changeprofile", profile);
}

int apparmor_stack(const char *profile)
{
	return ask("stack", profile);
}
