// SPDX-License-Identifier: GPL-2.0
/*
 * Test what a ring remembers beside BPF programs: this test will attach, fail to attach and detach
 * programs on CAP_SYS_ADMIN and expect nothing to be cached while one of them can decide, and
 * caching to resume after the last one.
 */
#include <errno.h>
#include <unistd.h>

#include "bpf_capable.h"
#include "lsm_rounds.h"

/* More than one trampoline takes. */
#define TOO_MANY	64

struct watched {
	struct lsm_rig *rig;
	struct bpf_rig bpf;
	int prog;
};

static void watched_open(struct __test_metadata *const _metadata, struct watched *w,
			 enum bpf_how how)
{
	w->rig = NULL;
	ASSERT_EQ(0, bpf_rig_open(&w->bpf));
	w->prog = bpf_rig_prog(&w->bpf, how);
	ASSERT_LT(0, w->prog);
	w->rig = lsm_rig_open();
	ASSERT_NE(NULL, w->rig);
	lsm_heat(_metadata, w->rig, ALLOWED);
	ASSERT_EQ(1, ring_priv_cached(&w->rig->first.ring));
}

static void watched_close(struct watched *w)
{
	lsm_set_priv_cache("1");
	lsm_rig_close(w->rig);
	bpf_rig_close(&w->bpf);
}

static int cached_after_command(struct lsm_rig *rig)
{
	int ret = lsm_ask(rig, &rig->first, 0);

	return ret == ALLOWED ? ring_priv_cached(&rig->first.ring) : ret;
}

/* The kernel may take a cgroup's program off the hook in its own time. */
static int cached_again(struct lsm_rig *rig)
{
	int i, ret = cached_after_command(rig);

	for (i = 0; i < 3000 && !ret; i++) {
		usleep(10000);
		ret = cached_after_command(rig);
	}
	return ret;
}

FIXTURE(bpf_cached)
{
	struct watched w;
};

FIXTURE_VARIANT(bpf_cached)
{
	enum bpf_how how;
	const char *function;
};

FIXTURE_VARIANT_ADD(bpf_cached, lsm)
{
	.how = BPF_BY_LSM,
	.function = "bpf_lsm_capable",
};

FIXTURE_VARIANT_ADD(bpf_cached, modify_return)
{
	.how = BPF_BY_MODIFY_RETURN,
	.function = "security_capable",
};

FIXTURE_VARIANT_ADD(bpf_cached, cgroup_link)
{
	.how = BPF_BY_CGROUP_LINK,
	.function = "bpf_lsm_capable",
};

FIXTURE_VARIANT_ADD(bpf_cached, cgroup)
{
	.how = BPF_BY_CGROUP,
	.function = "bpf_lsm_capable",
};

FIXTURE_SETUP(bpf_cached)
{
	watched_open(_metadata, &self->w, variant->how);
}

FIXTURE_TEARDOWN(bpf_cached)
{
	watched_close(&self->w);
}

TEST_F_TIMEOUT(bpf_cached, resumes_after_detach, LSM_TIMEOUT)
{
	int i, link;

	for (i = 0; i < 10; i++) {
		link = bpf_attach(&self->w.bpf, variant->how, self->w.prog);
		ASSERT_LE(0, link);
		ASSERT_EQ(0, ring_priv_cached(&self->w.rig->first.ring));
		ASSERT_EQ(0, cached_after_command(self->w.rig));
		ASSERT_EQ(0, bpf_detach(&self->w.bpf, variant->how, self->w.prog, link));
		ASSERT_EQ(0, ring_priv_cached(&self->w.rig->first.ring));
		ASSERT_EQ(1, cached_again(self->w.rig));
	}
}

/* The second attempt fails, or takes the place of the first: either way one detach is enough. */
TEST_F_TIMEOUT(bpf_cached, attached_twice, LSM_TIMEOUT)
{
	int link, again;

	link = bpf_attach(&self->w.bpf, variant->how, self->w.prog);
	ASSERT_LE(0, link);
	again = bpf_attach(&self->w.bpf, variant->how, self->w.prog);
	if (variant->how == BPF_BY_CGROUP_LINK) {
		/* Each link counts. */
		ASSERT_LE(0, again);
		ASSERT_EQ(0, close(again));
	} else {
		ASSERT_GT(0, again);
	}
	ASSERT_EQ(0, cached_after_command(self->w.rig));
	ASSERT_EQ(0, bpf_detach(&self->w.bpf, variant->how, self->w.prog, link));
	ASSERT_EQ(1, cached_again(self->w.rig));
}

/* What fails for want of room must leave caching as it was. */
TEST_F_TIMEOUT(bpf_cached, no_room, LSM_TIMEOUT)
{
	int links[TOO_MANY], progs[TOO_MANY], n, i;
	int function = bpf_find_function(variant->function);

	ASSERT_LT(0, function);
	for (n = 0; n < TOO_MANY; n++) {
		links[n] = bpf_attach_watcher(function, &progs[n]);
		if (links[n] < 0)
			break;
	}
	ASSERT_LT(1, n);
	ASSERT_EQ(-E2BIG, links[n]);
	close(progs[n]);

	/* Watchers decide nothing. */
	ASSERT_EQ(1, cached_after_command(self->w.rig));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(-E2BIG, bpf_attach(&self->w.bpf, variant->how, self->w.prog));
		ASSERT_EQ(1, cached_after_command(self->w.rig));
	}
	while (n--) {
		close(links[n]);
		close(progs[n]);
	}
	ASSERT_EQ(1, cached_after_command(self->w.rig));
}

/* With 2 the operator has promised that programs only count. */
TEST_F_TIMEOUT(bpf_cached, cached_while_attached, LSM_TIMEOUT)
{
	struct lsm_rig *rig = self->w.rig;
	long before;
	int link;

	ASSERT_EQ(0, lsm_set_priv_cache("2"));
	ASSERT_EQ(1, cached_after_command(rig));
	link = bpf_attach(&self->w.bpf, variant->how, self->w.prog);
	ASSERT_LE(0, link);
	ASSERT_EQ(0, ring_priv_cached(&rig->first.ring));
	before = bpf_asked(&self->w.bpf);
	ASSERT_EQ(1, cached_after_command(rig));
	EXPECT_EQ(before + 1, bpf_asked(&self->w.bpf));
	EXPECT_EQ(ALLOWED, ring_probe_all(&rig->first.ring, &rig->dev, 1000, ALLOWED));
	EXPECT_EQ(before + 1, bpf_asked(&self->w.bpf));

	/* Back to 1 with the program attached, and to 2 again: at once. */
	ASSERT_EQ(0, lsm_set_priv_cache("1"));
	EXPECT_EQ(0, ring_priv_cached(&rig->first.ring));
	EXPECT_EQ(0, cached_after_command(rig));
	ASSERT_EQ(0, lsm_set_priv_cache("2"));
	EXPECT_EQ(0, ring_priv_cached(&rig->first.ring));
	EXPECT_EQ(1, cached_after_command(rig));

	ASSERT_EQ(0, bpf_detach(&self->w.bpf, variant->how, self->w.prog, link));
	EXPECT_EQ(0, ring_priv_cached(&rig->first.ring));
	EXPECT_EQ(1, cached_after_command(rig));
}

FIXTURE(bpf_group)
{
	struct watched w;
};

FIXTURE_VARIANT(bpf_group)
{
	enum bpf_how how;
};

FIXTURE_VARIANT_ADD(bpf_group, link)
{
	.how = BPF_BY_CGROUP_LINK,
};

FIXTURE_VARIANT_ADD(bpf_group, no_link)
{
	.how = BPF_BY_CGROUP,
};

FIXTURE_SETUP(bpf_group)
{
	watched_open(_metadata, &self->w, variant->how);
}

FIXTURE_TEARDOWN(bpf_group)
{
	watched_close(&self->w);
}

/* Nobody is in the control group, still a program there decides; it goes when the group goes. */
TEST_F_TIMEOUT(bpf_group, group_removed, LSM_TIMEOUT)
{
	static const char path[] = "/sys/fs/cgroup/ringcap.empty";
	int cgroup, link;

	cgroup = bpf_new_cgroup(path);
	ASSERT_LT(0, cgroup);
	link = bpf_attach_to(cgroup, variant->how, self->w.prog);
	ASSERT_LE(0, link);
	ASSERT_EQ(0, cached_after_command(self->w.rig));
	close(cgroup);
	ASSERT_EQ(0, rmdir(path));
	ASSERT_EQ(1, cached_again(self->w.rig));
	if (link)
		close(link);
	ASSERT_EQ(1, cached_after_command(self->w.rig));
}

/* A program replaced under its attachment is a new one, also with 2. */
TEST_F_TIMEOUT(bpf_group, replaced_while_cached, LSM_TIMEOUT)
{
	struct bpf_rig *bpf = &self->w.bpf;
	int nod = bpf_rig_nod(bpf), link, i;

	ASSERT_EQ(0, lsm_set_priv_cache("2"));
	link = bpf_attach(bpf, variant->how, nod);
	ASSERT_LE(0, link);
	ASSERT_EQ(1, cached_after_command(self->w.rig));
	bpf_set_refuse(bpf, true);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, bpf_replace(bpf, variant->how, link, nod, self->w.prog));
		lsm_expect_next(_metadata, self->w.rig, REFUSED);
		ASSERT_EQ(0, bpf_replace(bpf, variant->how, link, self->w.prog, nod));
		lsm_expect_next(_metadata, self->w.rig, ALLOWED);
		ASSERT_EQ(1, ring_priv_cached(&self->w.rig->first.ring));
	}
	ASSERT_EQ(0, bpf_detach(bpf, variant->how, nod, link));
}

/* Two programs share what the kernel puts on the hook: caching resumes after both. */
TEST_F_TIMEOUT(bpf_group, one_of_two_goes, LSM_TIMEOUT)
{
	struct bpf_rig *bpf = &self->w.bpf;
	int nod = bpf_rig_nod(bpf), first, second;

	first = bpf_attach(bpf, variant->how, nod);
	ASSERT_LE(0, first);
	second = bpf_attach(bpf, variant->how, self->w.prog);
	ASSERT_LE(0, second);
	ASSERT_EQ(0, cached_after_command(self->w.rig));
	ASSERT_EQ(0, bpf_detach(bpf, variant->how, nod, first));
	ASSERT_EQ(0, cached_after_command(self->w.rig));
	ASSERT_EQ(0, bpf_detach(bpf, variant->how, self->w.prog, second));
	ASSERT_EQ(1, cached_again(self->w.rig));
}

int main(int argc, char **argv)
{
	lsm_need("bpf");
	return test_harness_run(argc, argv);
}
