// SPDX-License-Identifier: GPL-2.0
/*
 * Test BPF programs that are changed while they are attached: this test will let an extension
 * program take the place of a function of a program on CAP_SYS_ADMIN, and take it away again, and
 * expect the very next command to follow, also where the operator has promised (with 2) that
 * programs only count, so that privileges are cached.
 */
#include <bpf/libbpf.h>

#include "bpf_capable.h"
#include "lsm_rounds.h"

#define TURNS	25

struct extended {
	struct bpf_rig bpf;
	enum bpf_how how;
	int prog, link;
	struct bpf_object *object;
	struct bpf_program *extension;
	struct bpf_link *extension_link;
};

FIXTURE(bpf_extension)
{
	struct lsm_rig *rig;
	struct extended e;
};

FIXTURE_VARIANT(bpf_extension)
{
	enum bpf_how how;
};

FIXTURE_VARIANT_ADD(bpf_extension, lsm)
{
	.how = BPF_BY_LSM,
};

FIXTURE_VARIANT_ADD(bpf_extension, modify_return)
{
	.how = BPF_BY_MODIFY_RETURN,
};

FIXTURE_VARIANT_ADD(bpf_extension, cgroup_link)
{
	.how = BPF_BY_CGROUP_LINK,
};

FIXTURE_VARIANT_ADD(bpf_extension, cgroup)
{
	.how = BPF_BY_CGROUP,
};

static int set_attached(struct extended *e, bool attached)
{
	int link = e->link;

	if (attached) {
		e->link = bpf_attach(&e->bpf, e->how, e->prog);
		return e->link < 0 ? e->link : 0;
	}
	e->link = -1;
	return link < 0 ? 0 : bpf_detach(&e->bpf, e->how, e->prog, link);
}

/* The extension refuses, whatever the map says. */
static int set_extended(void *arg, bool allow)
{
	struct extended *e = arg;
	struct bpf_link *link = e->extension_link;

	if (!allow) {
		e->extension_link = bpf_program__attach_freplace(e->extension, e->prog, "verdict");
		return e->extension_link ? 0 : -errno;
	}
	e->extension_link = NULL;
	return bpf_link__destroy(link);
}

/* An extension is verified against the program that it extends. */
static int load_extension(struct extended *e)
{
	e->object = bpf_open_object("bpf_extension.bpf.o");
	if (!e->object)
		return -errno;
	e->extension = bpf_object__find_program_by_name(e->object, "always_refuse");
	return bpf_program__set_attach_target(e->extension, e->prog, "verdict") ?:
	       bpf_object__load(e->object);
}

FIXTURE_SETUP(bpf_extension)
{
	struct extended *e = &self->e;

	self->rig = NULL;
	e->object = NULL;
	e->extension_link = NULL;
	e->how = variant->how;
	e->link = -1;
	ASSERT_EQ(0, bpf_rig_open(&e->bpf));
	e->prog = bpf_rig_prog(&e->bpf, variant->how);
	ASSERT_LT(0, e->prog);
	ASSERT_EQ(0, load_extension(e));
	self->rig = lsm_rig_open();
	ASSERT_NE(NULL, self->rig);
}

FIXTURE_TEARDOWN(bpf_extension)
{
	set_extended(&self->e, true);
	set_attached(&self->e, false);
	bpf_object__close(self->e.object);
	lsm_set_priv_cache("1");
	lsm_rig_close(self->rig);
	bpf_rig_close(&self->e.bpf);
}

TEST_F_TIMEOUT(bpf_extension, followed, LSM_TIMEOUT)
{
	ASSERT_EQ(0, set_attached(&self->e, true));
	lsm_alternate(_metadata, self->rig, LSM_ALONE, TURNS, set_extended, &self->e);
	ASSERT_EQ(0, set_attached(&self->e, false));
	lsm_expect_next(_metadata, self->rig, ALLOWED);
}

TEST_F_TIMEOUT(bpf_extension, followed_while_cached, LSM_TIMEOUT)
{
	int i;

	ASSERT_EQ(0, lsm_set_priv_cache("2"));
	ASSERT_EQ(0, set_attached(&self->e, true));
	lsm_alternate(_metadata, self->rig, LSM_ALONE, TURNS, set_extended, &self->e);
	for (i = 0; i < TURNS; i++)
		lsm_expect_recache(_metadata, self->rig, set_extended, &self->e);
}

/* Extended first, attached then: it refuses from the start. */
TEST_F_TIMEOUT(bpf_extension, attached_when_extended, LSM_TIMEOUT)
{
	int i;

	ASSERT_EQ(0, lsm_set_priv_cache("2"));
	lsm_heat(_metadata, self->rig, ALLOWED);
	for (i = 0; i < TURNS; i++) {
		ASSERT_EQ(0, set_extended(&self->e, false));
		lsm_expect_next(_metadata, self->rig, ALLOWED);
		ASSERT_EQ(0, set_attached(&self->e, true));
		lsm_expect_next(_metadata, self->rig, REFUSED);
		ASSERT_EQ(0, set_extended(&self->e, true));
		lsm_expect_next(_metadata, self->rig, ALLOWED);
		ASSERT_EQ(0, set_attached(&self->e, false));
		lsm_expect_next(_metadata, self->rig, ALLOWED);
		ASSERT_EQ(1, ring_priv_cached(&self->rig->first.ring));
	}
}

int main(int argc, char **argv)
{
	lsm_need("bpf");
	return test_harness_run(argc, argv);
}
