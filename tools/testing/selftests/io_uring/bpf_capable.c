// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf_capable.h"
#include "lsm_file.h"

#define CGROUPS	"/sys/fs/cgroup/"

static const char *const names[] = {
	[BPF_BY_LSM] = "by_lsm",
	[BPF_BY_MODIFY_RETURN] = "by_modify_return",
	[BPF_BY_CGROUP_LINK] = "by_cgroup",
	[BPF_BY_CGROUP] = "by_cgroup",
};

struct bpf_object *bpf_open_object(const char *name)
{
	char exe[PATH_MAX], path[PATH_MAX + 32];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len < 0)
		return NULL;
	exe[len] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dirname(exe), name);
	return bpf_object__open_file(path, NULL);
}

static int map_state(struct bpf_rig *rig)
{
	int fd = bpf_object__find_map_fd_by_name(rig->object, "state");
	void *page = mmap(NULL, STATE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	rig->state = page;
	rig->state->tgid = getpid();
	return 0;
}

static int enter_cgroup(struct bpf_rig *rig)
{
	snprintf(rig->cgroup_path, sizeof(rig->cgroup_path), CGROUPS "ringcap.%d", getpid());
	rig->cgroup = bpf_new_cgroup(rig->cgroup_path);
	if (rig->cgroup < 0)
		return rig->cgroup;
	return bpf_enter_cgroup(rig->cgroup_path);
}

/*
 * QEMU's emulator can miss that one virtual processor patches the code that another one is running,
 * as attaching does, and then runs stale code for ever: there all threads share a processor.
 */
static void avoid_stale_code(void)
{
	char line[256];
	cpu_set_t set;
	FILE *f = fopen("/proc/cpuinfo", "re");

	if (!f)
		return;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "QEMU TCG"))
			sched_setaffinity(0, sizeof(set), &set);
	fclose(f);
}

int bpf_rig_open(struct bpf_rig *rig)
{
	int ret;

	avoid_stale_code();
	memset(rig, 0, sizeof(*rig));
	rig->object = bpf_open_object("bpf_capable.bpf.o");
	if (!rig->object)
		return -errno;
	ret = bpf_object__load(rig->object);
	return ret ?: map_state(rig) ?: enter_cgroup(rig);
}

void bpf_rig_close(struct bpf_rig *rig)
{
	if (rig->state)
		bpf_set_refuse(rig, false);
	bpf_object__close(rig->object);
	if (rig->cgroup <= 0)
		return;
	bpf_enter_cgroup(CGROUPS);
	close(rig->cgroup);
	rmdir(rig->cgroup_path);
}

/* The programs run on other processors, too. */
void bpf_set_refuse(struct bpf_rig *rig, bool refuse)
{
	__atomic_store_n(&rig->state->refuse, refuse, __ATOMIC_SEQ_CST);
}

long bpf_asked(struct bpf_rig *rig)
{
	return __atomic_load_n(&rig->state->asked, __ATOMIC_SEQ_CST);
}

static int prog_fd(struct bpf_rig *rig, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(rig->object, name);

	return prog ? bpf_program__fd(prog) : -ENOENT;
}

int bpf_rig_prog(struct bpf_rig *rig, enum bpf_how how)
{
	return prog_fd(rig, names[how]);
}

int bpf_rig_nod(struct bpf_rig *rig)
{
	return prog_fd(rig, "by_cgroup_nod");
}

int bpf_attach_to(int cgroup, enum bpf_how how, int prog)
{
	if (how == BPF_BY_CGROUP)
		return bpf_prog_attach(prog, cgroup, BPF_LSM_CGROUP, BPF_F_ALLOW_MULTI);
	if (how == BPF_BY_CGROUP_LINK)
		return bpf_link_create(prog, cgroup, BPF_LSM_CGROUP, NULL);
	/* Both kinds of tracing know their target since they were loaded. */
	return bpf_raw_tracepoint_open(NULL, prog);
}

int bpf_attach(struct bpf_rig *rig, enum bpf_how how, int prog)
{
	return bpf_attach_to(rig->cgroup, how, prog);
}

int bpf_detach(struct bpf_rig *rig, enum bpf_how how, int prog, int link)
{
	if (how == BPF_BY_CGROUP)
		return bpf_prog_detach2(prog, rig->cgroup, BPF_LSM_CGROUP);
	return close(link) ? -errno : 0;
}

int bpf_replace(struct bpf_rig *rig, enum bpf_how how, int link, int old, int new)
{
	LIBBPF_OPTS(bpf_prog_attach_opts, opts);

	opts.flags = BPF_F_ALLOW_MULTI | BPF_F_REPLACE;
	opts.replace_prog_fd = old;
	if (how == BPF_BY_CGROUP)
		return bpf_prog_attach_opts(new, rig->cgroup, BPF_LSM_CGROUP, &opts);
	return bpf_link_update(link, new, NULL);
}

/* Slow: reads all type information of the kernel. */
int bpf_find_function(const char *name)
{
	return libbpf_find_vmlinux_btf_id(name, BPF_TRACE_FENTRY);
}

int bpf_attach_watcher(int function, int *prog)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);

	opts.expected_attach_type = BPF_TRACE_FENTRY;
	opts.attach_btf_id = function;
	*prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "watcher", "GPL", insns, 2, &opts);
	return *prog < 0 ? *prog : bpf_raw_tracepoint_open(NULL, *prog);
}

int bpf_new_cgroup(const char *path)
{
	int fd;

	if (mkdir(path, 0755) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int bpf_enter_cgroup(const char *path)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	return file_write_text(file, "0");
}
