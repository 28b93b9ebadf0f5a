/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs that decide about CAP_SYS_ADMIN, and the ways to attach them. */
#ifndef BPF_CAPABLE_H
#define BPF_CAPABLE_H

#include <linux/types.h>
#include <stdbool.h>

#include "bpf_state.h"

enum bpf_how {
	BPF_BY_LSM,		/* link to the LSM hook */
	BPF_BY_MODIFY_RETURN,	/* link to security_capable() itself */
	BPF_BY_CGROUP_LINK,
	BPF_BY_CGROUP,		/* attached to the control group without a link */
};

struct bpf_object;
struct bpf_link;

struct bpf_rig {
	struct bpf_object *object;
	struct bpf_state *state;	/* in the map that the programs read */
	char cgroup_path[64];
	int cgroup;
};

/* An object file that lies beside the program, or NULL with errno. */
struct bpf_object *bpf_open_object(const char *name);

/* Loads the programs and moves the process into a control group of its own; 0 or -errno. */
int bpf_rig_open(struct bpf_rig *rig);
void bpf_rig_close(struct bpf_rig *rig);

/* What the programs answer from now on; how often they were asked. */
void bpf_set_refuse(struct bpf_rig *rig, bool refuse);
long bpf_asked(struct bpf_rig *rig);

/* The program behind a way to attach, and a second one for control groups: file descriptors. */
int bpf_rig_prog(struct bpf_rig *rig, enum bpf_how how);
int bpf_rig_nod(struct bpf_rig *rig);

/* A link's file descriptor, 0 for an attachment without one, or -errno. */
int bpf_attach(struct bpf_rig *rig, enum bpf_how how, int prog);
int bpf_attach_to(int cgroup, enum bpf_how how, int prog);
int bpf_detach(struct bpf_rig *rig, enum bpf_how how, int prog, int link);

/* Another program in the place of the old one, under the same attachment; 0 or -errno. */
int bpf_replace(struct bpf_rig *rig, enum bpf_how how, int link, int old, int new);

/* Attaches a tracing program that decides nothing to a function of the kernel. */
int bpf_attach_watcher(int function, int *prog);
int bpf_find_function(const char *name);

/* A new control group beside ours, an open file descriptor. */
int bpf_new_cgroup(const char *path);
/* Moves the calling process. */
int bpf_enter_cgroup(const char *path);

#endif
