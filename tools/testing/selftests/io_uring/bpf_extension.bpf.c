// SPDX-License-Identifier: GPL-2.0
/* Takes the place of verdict() in the programs of bpf_capable.bpf.c, and always refuses. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("freplace/verdict")
int always_refuse(int refuse)
{
	return 1;
}

char _license[] SEC("license") = "GPL";
