// SPDX-License-Identifier: GPL-2.0
/* Programs that decide about CAP_SYS_ADMIN as the state map says, for one process. */
#include <linux/bpf.h>
#include <linux/capability.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf_state.h"

#define EPERM	1

struct cred;
struct user_namespace;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_state);
} state SEC(".maps");

/* A function of its own, so that an extension program can take its place. */
__noinline int verdict(int refuse)
{
	/* Keeps the compiler from knowing that this is its argument. */
	asm volatile("" : "+r"(refuse));
	return refuse;
}

static __always_inline int refused(int cap)
{
	struct bpf_state *s;
	__u32 zero = 0;

	if (cap != CAP_SYS_ADMIN)
		return 0;
	s = bpf_map_lookup_elem(&state, &zero);
	if (!s || s->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	__sync_fetch_and_add(&s->asked, 1);
	return verdict(s->refuse);
}

SEC("lsm/capable")
int BPF_PROG(by_lsm, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts, int ret)
{
	return refused(cap) ? -EPERM : ret;
}

/* In a control group 1 means yes. */
SEC("lsm_cgroup/capable")
int BPF_PROG(by_cgroup, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts)
{
	return refused(cap) ? 0 : 1;
}

/* Another program for the same hook, which never refuses. */
SEC("lsm_cgroup/capable")
int BPF_PROG(by_cgroup_nod, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts)
{
	return 1;
}

/* What is not 0 is the function's result; with 0 the function runs. */
SEC("fmod_ret/security_capable")
int BPF_PROG(by_modify_return, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts, int ret)
{
	return refused(cap) ? -EPERM : 0;
}

char _license[] SEC("license") = "GPL";
