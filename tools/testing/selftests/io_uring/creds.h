/* SPDX-License-Identifier: GPL-2.0 */
/* Credentials of the calling thread alone: libc would change those of all threads. */
#ifndef CREDS_H
#define CREDS_H

#include <stdbool.h>
#include <sys/types.h>

#define NOBODY	65534

/* Puts CAP_SYS_ADMIN into or out of the effective set. */
int cap_sys_admin(bool on);
/* Empties the permitted set as well: nothing to raise again. */
int cap_drop_all(void);
/* setresuid() of this thread. */
int thread_setresuid(uid_t ruid, uid_t euid, uid_t suid);
int become_nobody(void);

/* The result of fn(arg) in a forked child; fn returns 0 or -errno. */
int in_child(int (*fn)(void *arg), void *arg);
/* The second half, for a child that was forked by hand and ends with _exit(-result). */
int child_result(pid_t pid);

/* Registers the credentials of nobody or of the caller as a personality of the ring. */
int register_personality(int ring_fd, bool nobody);

/* New credentials with a session keyring that nobody else has: they keep it alive. */
int new_keyring(void);
/* The number of keys that root owns, or -errno. */
int root_keys(void);
/* Whether there are @most or fewer, after some seconds if need be: workers free them. */
bool keys_are_back(int most);

#endif
