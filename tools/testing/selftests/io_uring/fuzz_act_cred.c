// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <unistd.h>

#include "creds.h"
#include "fuzz_act.h"

/* Not by capget(2), where AppArmor leaves out what the profile does not allow. */
int fuzz_read_sets(struct fuzz_sets *sets)
{
	FILE *f = fopen("/proc/thread-self/status", "re");
	unsigned long long set;
	char line[128];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "CapInh: %llx", &set) == 1)
			sets->inheritable = set;
		else if (sscanf(line, "CapPrm: %llx", &set) == 1)
			sets->permitted = set;
		else if (sscanf(line, "CapEff: %llx", &set) == 1)
			sets->effective = set;
	}
	fclose(f);
	return 0;
}

static int change_sets(enum fuzz_capset what)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	struct fuzz_sets sets;
	int i, ret = fuzz_read_sets(&sets);

	if (ret)
		return ret;
	fuzz_capset(&sets, what);
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].effective = sets.effective >> 32 * i;
		data[i].permitted = sets.permitted >> 32 * i;
		data[i].inheritable = sets.inheritable >> 32 * i;
	}
	return result(syscall(SYS_capset, &hdr, data));
}

static int session_to_parent(void)
{
	pid_t pid = fork();

	if (pid)
		return child_result(pid);
	if (new_keyring())
		_exit(errno);
	_exit(syscall(SYS_keyctl, KEYCTL_SESSION_TO_PARENT) ? errno : 0);
}

static int setns_user(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), ret;

	if (pidfd < 0)
		return -errno;
	ret = result(setns(pidfd, CLONE_NEWUSER));
	close(pidfd);
	return ret;
}

static int set_uids(__u32 arg)
{
	return thread_setresuid(fuzz_uids[arg & 3], fuzz_uids[arg >> 2 & 3],
				fuzz_uids[arg >> 4 & 3]);
}

static int set_ambient(__u32 arg)
{
	return result(arg & 1 ? prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0) :
				prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
}

int fuzz_act_cred(const struct fuzz_order *order)
{
	const struct fuzz_op *op = &order->op;

	switch (op->type) {
	case OP_CAPSET:
		return change_sets(op->arg % CAPSETS);
	case OP_SETRESUID:
		return set_uids(op->arg);
	case OP_KEEPCAPS:
		return result(prctl(PR_SET_KEEPCAPS, op->arg & 1));
	case OP_SECUREBITS:
		return result(prctl(PR_SET_SECUREBITS, fuzz_securebits[op->arg & 3]));
	case OP_BOUNDING:
		return result(prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN));
	case OP_NO_NEW_PRIVS:
		return result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	case OP_AMBIENT:
		return set_ambient(op->arg);
	case OP_JOIN_SESSION:
		return new_keyring();
	case OP_REQUEST_KEYRING:
		return result(syscall(SYS_keyctl, KEYCTL_SET_REQKEY_KEYRING,
				      op->arg & 1 ? KEY_REQKEY_DEFL_THREAD_KEYRING :
						    KEY_REQKEY_DEFL_PROCESS_KEYRING));
	case OP_SESSION_TO_PARENT:
		return session_to_parent();
	case OP_UNSHARE_USER:
		return result(unshare(CLONE_NEWUSER));
	case OP_SETNS_USER:
		return setns_user(order->other_pid);
	default:
		return -EINVAL;
	}
}
