// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>

#include "creds.h"

static int change_caps(__u32 clear, __u32 set, bool permitted)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &hdr, data))
		return -errno;
	data[0].effective = (data[0].effective & ~clear) | set;
	if (permitted) {
		data[0].permitted &= ~clear;
		data[0].inheritable &= ~clear;
	}
	return syscall(SYS_capset, &hdr, data) ? -errno : 0;
}

int cap_sys_admin(bool on)
{
	const __u32 bit = 1U << CAP_SYS_ADMIN;

	return change_caps(on ? 0 : bit, on ? bit : 0, false);
}

int cap_drop_all(void)
{
	return change_caps(~0U, 0, true);
}

int thread_setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	return syscall(SYS_setresuid, ruid, euid, suid) ? -errno : 0;
}

int become_nobody(void)
{
	return thread_setresuid(NOBODY, NOBODY, NOBODY);
}

int child_result(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -ECHILD;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

int in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	if (!pid)
		_exit(-fn(arg));
	return child_result(pid);
}

int register_personality(int ring_fd, bool nobody)
{
	int id, ret;

	/* The saved ID stays root: the way back. */
	ret = nobody ? thread_setresuid(-1, NOBODY, -1) : 0;
	if (ret)
		return ret;
	id = syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_PERSONALITY, NULL, 0);
	if (id < 0)
		id = -errno;
	ret = nobody ? thread_setresuid(-1, 0, -1) : 0;
	return ret ?: id;
}

int new_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ? -errno : 0;
}

int root_keys(void)
{
	int uid, usage, keys, ret = -ENOENT;
	char line[128];
	FILE *f;

	f = fopen("/proc/key-users", "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%d: %d %d/", &uid, &usage, &keys) == 3 && !uid)
			ret = keys;
	}
	fclose(f);
	return ret;
}

bool keys_are_back(int most)
{
	int i;

	for (i = 0; i < 200 && root_keys() > most; i++)
		usleep(50000);
	return root_keys() <= most;
}
