// SPDX-License-Identifier: GPL-2.0
/*
 * Test BPF programs that change their mind under a hot ring: this test will let a program on
 * CAP_SYS_ADMIN answer from a map, in every way to attach one, and expect each privileged command
 * to follow the map, and attach and detach to count at once.
 */
#include "bpf_capable.h"
#include "lsm_rounds.h"

struct attachment {
	struct bpf_rig bpf;
	enum bpf_how how;
	int prog, link;
};

FIXTURE(bpf)
{
	struct lsm_rig *rig;
	struct attachment at;
};

FIXTURE_VARIANT(bpf)
{
	enum bpf_how how;
	enum lsm_hammer hammer;
};

FIXTURE_VARIANT_ADD(bpf, lsm)
{
	.how = BPF_BY_LSM,
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(bpf, lsm_thread_same_ring)
{
	.how = BPF_BY_LSM,
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_VARIANT_ADD(bpf, lsm_thread_own_ring)
{
	.how = BPF_BY_LSM,
	.hammer = LSM_THREAD_OWN_RING,
};

FIXTURE_VARIANT_ADD(bpf, modify_return)
{
	.how = BPF_BY_MODIFY_RETURN,
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(bpf, modify_return_thread_same_ring)
{
	.how = BPF_BY_MODIFY_RETURN,
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_VARIANT_ADD(bpf, cgroup_link)
{
	.how = BPF_BY_CGROUP_LINK,
	.hammer = LSM_ALONE,
};

FIXTURE_VARIANT_ADD(bpf, cgroup_link_thread_same_ring)
{
	.how = BPF_BY_CGROUP_LINK,
	.hammer = LSM_THREAD_SAME_RING,
};

FIXTURE_VARIANT_ADD(bpf, cgroup)
{
	.how = BPF_BY_CGROUP,
	.hammer = LSM_ALONE,
};

FIXTURE_SETUP(bpf)
{
	self->rig = NULL;
	self->at.how = variant->how;
	self->at.link = -1;
	ASSERT_EQ(0, bpf_rig_open(&self->at.bpf));
	self->at.prog = bpf_rig_prog(&self->at.bpf, variant->how);
	ASSERT_LT(0, self->at.prog);
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
	lsm_heat(_metadata, self->rig, ALLOWED);
}

/* With refuse set an attached program is a refusal. */
static int set_attached(void *arg, bool allow)
{
	struct attachment *at = arg;
	int link = at->link;

	if (!allow) {
		at->link = bpf_attach(&at->bpf, at->how, at->prog);
		return at->link < 0 ? at->link : 0;
	}
	at->link = -1;
	return link < 0 ? 0 : bpf_detach(&at->bpf, at->how, at->prog, link);
}

static int set_map(void *arg, bool allow)
{
	struct attachment *at = arg;

	bpf_set_refuse(&at->bpf, !allow);
	return 0;
}

FIXTURE_TEARDOWN(bpf)
{
	bpf_set_refuse(&self->at.bpf, false);
	lsm_rig_close(self->rig);
	set_attached(&self->at, true);
	bpf_rig_close(&self->at.bpf);
}

TEST_F_TIMEOUT(bpf, follows_map, LSM_TIMEOUT)
{
	ASSERT_EQ(0, set_attached(&self->at, false));
	lsm_alternate(_metadata, self->rig, variant->hammer,
		      lsm_turns(variant->hammer, 1000), set_map, &self->at);
}

TEST_F_TIMEOUT(bpf, attach_detach, LSM_TIMEOUT)
{
	bpf_set_refuse(&self->at.bpf, true);
	lsm_alternate(_metadata, self->rig, variant->hammer,
		      lsm_turns(variant->hammer, 25), set_attached, &self->at);
}

TEST_F_TIMEOUT(bpf, asked_each_time, LSM_TIMEOUT)
{
	struct lsm_rig *rig = self->rig;
	long before;

	ASSERT_EQ(0, set_attached(&self->at, false));
	before = bpf_asked(&self->at.bpf);
	EXPECT_EQ(ALLOWED, ring_probe_all(&rig->first.ring, &rig->dev, 1000, ALLOWED));
	EXPECT_LE(before + 1000, bpf_asked(&self->at.bpf));
}

int main(int argc, char **argv)
{
	lsm_need("bpf");
	return test_harness_run(argc, argv);
}
