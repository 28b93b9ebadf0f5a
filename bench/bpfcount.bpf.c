// SPDX-License-Identifier: GPL-2.0
/* Counts how often CAP_SYS_ADMIN is asked for, at a price, and refuses nothing: what an auditing fleet runs. */
#include <linux/bpf.h>
#include <linux/capability.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct cred;
struct user_namespace;

const volatile __u32 price;	/* turns of the loop, known when the program is loaded */
__u64 calls;

SEC("lsm/capable")
int BPF_PROG(count, const struct cred *cred, struct user_namespace *ns, int cap,
	     unsigned int opts, int ret)
{
	if (cap != CAP_SYS_ADMIN)
		return ret;
	__sync_fetch_and_add(&calls, 1);
	for (__u32 i = 0; i < price; i++)
		/* Nothing to do, and not to be optimised away. */
		asm volatile("" : "+r"(i));
	return ret;
}

char _license[] SEC("license") = "GPL";
