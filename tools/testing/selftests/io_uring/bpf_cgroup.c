// SPDX-License-Identifier: GPL-2.0
/*
 * Test BPF programs on control groups: this test will attach several of them, in several groups,
 * take them away one by one, and expect the ones that remain to be asked for each command.
 */
#include <unistd.h>

#include "bpf_capable.h"
#include "lsm_rounds.h"

#define COMMANDS	100

FIXTURE(bpf_cgroup)
{
	struct lsm_rig *rig;
	struct bpf_rig bpf;
	int prog, nod;
};

FIXTURE_SETUP(bpf_cgroup)
{
	self->rig = NULL;
	ASSERT_EQ(0, bpf_rig_open(&self->bpf));
	self->prog = bpf_rig_prog(&self->bpf, BPF_BY_CGROUP);
	self->nod = bpf_rig_nod(&self->bpf);
	ASSERT_LT(0, self->prog);
	ASSERT_LT(0, self->nod);
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
	lsm_heat(_metadata, self->rig, ALLOWED);
}

FIXTURE_TEARDOWN(bpf_cgroup)
{
	lsm_rig_close(self->rig);
	bpf_rig_close(&self->bpf);
}

/* Asked each time, and right each time. */
static void expect_followed(struct __test_metadata *const _metadata, struct lsm_rig *rig,
			    struct bpf_rig *bpf)
{
	long before = bpf_asked(bpf);
	int i;

	for (i = 0; i < COMMANDS; i++) {
		bpf_set_refuse(bpf, i % 2);
		ASSERT_EQ(i % 2 ? REFUSED : ALLOWED, lsm_ask(rig, &rig->first, 0));
	}
	bpf_set_refuse(bpf, false);
	ASSERT_LE(before + COMMANDS, bpf_asked(bpf));
}

/* Two programs share what the kernel puts on the hook: the first to go must not take it along. */
TEST_F_TIMEOUT(bpf_cgroup, one_of_two_goes, LSM_TIMEOUT)
{
	int nod = bpf_attach(&self->bpf, BPF_BY_CGROUP_LINK, self->nod);

	ASSERT_LT(0, nod);
	ASSERT_EQ(0, bpf_attach(&self->bpf, BPF_BY_CGROUP, self->prog));
	expect_followed(_metadata, self->rig, &self->bpf);
	ASSERT_EQ(0, bpf_detach(&self->bpf, BPF_BY_CGROUP_LINK, self->nod, nod));
	expect_followed(_metadata, self->rig, &self->bpf);
	ASSERT_EQ(0, bpf_detach(&self->bpf, BPF_BY_CGROUP, self->prog, 0));
	lsm_expect_next(_metadata, self->rig, ALLOWED);
}

/* A program that never refuses gives way to one that does, under the same attachment. */
TEST_F_TIMEOUT(bpf_cgroup, replaced, LSM_TIMEOUT)
{
	static const enum bpf_how hows[] = { BPF_BY_CGROUP, BPF_BY_CGROUP_LINK };
	struct bpf_rig *bpf = &self->bpf;
	unsigned int i;
	int link, j;

	for (i = 0; i < 2; i++) {
		link = bpf_attach(bpf, hows[i], self->nod);
		ASSERT_LE(0, link);
		bpf_set_refuse(bpf, true);
		for (j = 0; j < 20; j++) {
			lsm_expect_next(_metadata, self->rig, ALLOWED);
			ASSERT_EQ(0, bpf_replace(bpf, hows[i], link, self->nod, self->prog));
			lsm_expect_next(_metadata, self->rig, REFUSED);
			ASSERT_EQ(0, bpf_replace(bpf, hows[i], link, self->prog, self->nod));
		}
		ASSERT_EQ(0, bpf_detach(bpf, hows[i], self->nod, link));
	}
}

/* The process enters and leaves the control group that refuses. */
TEST_F_TIMEOUT(bpf_cgroup, migrates, LSM_TIMEOUT)
{
	unsigned int i, turns = rounds(50);

	ASSERT_EQ(0, bpf_attach(&self->bpf, BPF_BY_CGROUP, self->prog));
	bpf_set_refuse(&self->bpf, true);
	for (i = 0; i < turns; i++) {
		lsm_expect_next(_metadata, self->rig, REFUSED);
		ASSERT_EQ(0, bpf_enter_cgroup("/sys/fs/cgroup"));
		lsm_expect_next(_metadata, self->rig, ALLOWED);
		ASSERT_EQ(0, bpf_enter_cgroup(self->bpf.cgroup_path));
	}
}

int main(int argc, char **argv)
{
	lsm_need("bpf");
	return test_harness_run(argc, argv);
}
