/* SPDX-License-Identifier: GPL-2.0 */
/* What a test and its BPF programs share. */
#ifndef BPF_STATE_H
#define BPF_STATE_H

#define STATE_PAGE	4096

struct bpf_state {
	__u32 tgid;	/* the only process that the programs look at */
	__u32 refuse;	/* CAP_SYS_ADMIN, at once */
	__u64 asked;	/* how often CAP_SYS_ADMIN was asked for */
};

#endif
