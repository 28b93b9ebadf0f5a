// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of all kinds, and a maker that drops CAP_SYS_ADMIN and raises it again.
 *
 * This test will check that the set-up flags of a ring do not change whose
 * credentials count: the submitter's, except for SQPOLL, which acts for the
 * maker of the ring.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(setup) {
	struct nvme_dev dev;
	struct ring ring;
	struct ring first;
	int dropped;
};

FIXTURE_VARIANT(setup) {
	unsigned int flags;
	bool attach;
};

FIXTURE_VARIANT_ADD(setup, plain) {
};

FIXTURE_VARIANT_ADD(setup, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(setup, iopoll) {
	.flags = IORING_SETUP_IOPOLL,
};

FIXTURE_VARIANT_ADD(setup, iopoll_sqpoll) {
	.flags = IORING_SETUP_IOPOLL | IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(setup, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
};

FIXTURE_VARIANT_ADD(setup, single_issuer) {
	.flags = IORING_SETUP_SINGLE_ISSUER,
};

FIXTURE_VARIANT_ADD(setup, defer_taskrun) {
	.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(setup, iopoll_defer_taskrun) {
	.flags = IORING_SETUP_IOPOLL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(setup, disabled) {
	.flags = IORING_SETUP_R_DISABLED,
};

FIXTURE_VARIANT_ADD(setup, disabled_sqpoll) {
	.flags = IORING_SETUP_R_DISABLED | IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(setup, disabled_defer_taskrun) {
	.flags = IORING_SETUP_R_DISABLED | IORING_SETUP_SINGLE_ISSUER |
		 IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(setup, attach_wq) {
	.attach = true,
};

FIXTURE_VARIANT_ADD(setup, attach_wq_sqpoll) {
	.flags = IORING_SETUP_SQPOLL, .attach = true,
};

FIXTURE_VARIANT_ADD(setup, submit_all) {
	.flags = IORING_SETUP_SUBMIT_ALL,
};

static int make_ring(struct ring *ring, struct ring *first, unsigned int flags, bool attach)
{
	if (attach)
		return ring_init_attach(ring, flags | IORING_SETUP_ATTACH_WQ, first->fd);
	return ring_init(ring, flags);
}

static int enable_ring(struct ring *ring, unsigned int flags)
{
	if (flags & IORING_SETUP_R_DISABLED)
		return ring_register(ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
	return 0;
}

FIXTURE_SETUP(setup)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	/* What attach_wq shares workers or the SQPOLL thread with. */
	ASSERT_EQ(0, ring_init(&self->first, variant->flags & IORING_SETUP_SQPOLL));
	ASSERT_EQ(0, make_ring(&self->ring, &self->first, variant->flags, variant->attach));
	self->dropped = variant->flags & IORING_SETUP_SQPOLL ? ALLOWED : REFUSED;
}

FIXTURE_TEARDOWN(setup)
{
	ring_exit(&self->ring);
	ring_exit(&self->first);
	nvme_close(&self->dev);
}

TEST_F(setup, drop_and_raise)
{
	ASSERT_EQ(0, enable_ring(&self->ring, variant->flags));
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 50, ALLOWED));
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(self->dropped, ring_probe_all(&self->ring, &self->dev, 50, self->dropped));
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 50, ALLOWED));
}

/* io-wq judges as the submitter does. */
TEST_F(setup, drop_and_raise_async)
{
	int i;

	ASSERT_EQ(0, enable_ring(&self->ring, variant->flags));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, cap_sys_admin(true));
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, 0));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(self->dropped,
			  ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, 0));
	}
}

/* Made with privilege, enabled (if that was left to do) and used without. */
TEST_F(setup, dropped_before_first_use)
{
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, enable_ring(&self->ring, variant->flags));
	ASSERT_EQ(self->dropped, ring_probe_all(&self->ring, &self->dev, 10, self->dropped));
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 10, ALLOWED));
}

/* SQPOLL remembers that its maker had no privilege, too. */
TEST_F(setup, made_without_privilege)
{
	int raised = variant->flags & IORING_SETUP_SQPOLL ? REFUSED : ALLOWED;
	struct ring late;

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, make_ring(&late, &self->first, variant->flags, variant->attach));
	ASSERT_EQ(0, enable_ring(&late, variant->flags));
	ASSERT_EQ(REFUSED, ring_probe_all(&late, &self->dev, 10, REFUSED));
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(raised, ring_probe_all(&late, &self->dev, 10, raised));
	ring_exit(&late);
}

/* One thread, two rings with makers of different privilege, shared when attached. */
TEST_F(setup, beside_a_ring_made_without_privilege)
{
	int raised = variant->flags & IORING_SETUP_SQPOLL ? REFUSED : ALLOWED;
	unsigned int i, n = rounds(50);
	struct ring late;

	ASSERT_EQ(0, enable_ring(&self->ring, variant->flags));
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(0, make_ring(&late, &self->ring, variant->flags, variant->attach));
	ASSERT_EQ(0, enable_ring(&late, variant->flags));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(REFUSED, ring_probe(&late, &self->dev));
		ASSERT_EQ(self->dropped, ring_probe(&self->ring, &self->dev));
	}
	ASSERT_EQ(0, cap_sys_admin(true));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(raised, ring_probe(&late, &self->dev));
		ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	}
	ring_exit(&late);
}

/* A real read comes back through each kind of ring. */
TEST_F(setup, real_read)
{
	struct nvme_uring_cmd cmd = {
		.opcode = NVME_OP_READ, .nsid = self->dev.nsid, .data_len = 512,
	};
	void *buf;

	ASSERT_EQ(0, posix_memalign(&buf, 4096, 4096));
	cmd.addr = (uintptr_t)buf;
	ASSERT_EQ(0, enable_ring(&self->ring, variant->flags));
	ASSERT_EQ(0, ring_cmd(&self->ring, self->dev.ns, NVME_URING_CMD_IO, &cmd));
	ASSERT_EQ(0, cap_sys_admin(false));
	/* Since 6.2 reading needs no privilege. */
	ASSERT_EQ(nvme_fine_grained() || self->dropped == ALLOWED ? 0 : REFUSED,
		  ring_cmd(&self->ring, self->dev.ns, NVME_URING_CMD_IO, &cmd));
}

TEST_HARNESS_MAIN
