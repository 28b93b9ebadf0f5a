// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that do not go straight from the submission to the driver: linked,
 * drained, waiting for another request, through registered files and rings.
 *
 * This test will check that the credentials in force at issue decide, however
 * and whenever the command gets there.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(submit) {
	struct nvme_dev dev;
	struct ring ring;
	int pipe[2];
	int nobody;
	char byte;
};

FIXTURE_VARIANT(submit) {
	unsigned int setup;
};

FIXTURE_VARIANT_ADD(submit, plain) {
};

FIXTURE_VARIANT_ADD(submit, defer_taskrun) {
	.setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(submit)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, variant->setup));
	ASSERT_EQ(0, pipe(self->pipe));
	self->nobody = register_personality(self->ring.fd, true);
	ASSERT_LT(0, self->nobody);
}

FIXTURE_TEARDOWN(submit)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
	close(self->pipe[0]);
	close(self->pipe[1]);
}

static void prep_pipe_read(struct io_uring_sqe *sqe, int fd, void *buf)
{
	sqe->opcode = IORING_OP_READ;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buf;
	sqe->len = 1;
	sqe->off = -1;
	sqe->flags = IOSQE_IO_LINK;
}

TEST_F(submit, after_a_linked_nop)
{
	const int want[] = { ALLOWED, REFUSED, ALLOWED };
	struct io_uring_sqe *sqe;
	int i, res[2];

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, cap_sys_admin(want[i] == ALLOWED));
		sqe = ring_sqe(&self->ring);
		prep_nop(sqe);
		sqe->flags = IOSQE_IO_LINK;
		prep_probe(ring_sqe(&self->ring), &self->dev);
		ASSERT_EQ(0, ring_run(&self->ring, res));
		EXPECT_EQ(0, res[0]);
		EXPECT_EQ(want[i], res[1]);
	}
}

/* What is refused breaks the chain, and what stands before it has been done. */
TEST_F(submit, chain_refused_in_the_middle)
{
	struct nvme_uring_cmd flush = { .opcode = NVME_OP_FLUSH, .nsid = self->dev.nsid };
	struct io_uring_sqe *sqe;
	int i, res[4];

	for (i = 0; i < 4; i++) {
		sqe = ring_sqe(&self->ring);
		if (i == 2)
			prep_probe(sqe, &self->dev);
		else
			prep_cmd(sqe, self->dev.ns, NVME_URING_CMD_IO, &flush);
		sqe->personality = i == 2 ? self->nobody : 0;
		sqe->flags = i < 3 ? IOSQE_IO_LINK : 0;
	}
	ASSERT_EQ(0, ring_run(&self->ring, res));
	EXPECT_EQ(0, res[0]);
	EXPECT_EQ(0, res[1]);
	EXPECT_EQ(REFUSED, res[2]);
	EXPECT_EQ(-ECANCELED, res[3]);
}

TEST_F(submit, hard_chain_refused_in_the_middle)
{
	struct io_uring_sqe *sqe;
	int i, res[3];

	for (i = 0; i < 3; i++) {
		sqe = ring_sqe(&self->ring);
		prep_probe(sqe, &self->dev);
		sqe->personality = i == 1 ? self->nobody : 0;
		sqe->flags = i < 2 ? IOSQE_IO_HARDLINK : 0;
	}
	ASSERT_EQ(0, ring_run(&self->ring, res));
	EXPECT_EQ(ALLOWED, res[0]);
	EXPECT_EQ(REFUSED, res[1]);
	EXPECT_EQ(ALLOWED, res[2]);
}

/* Prepared by a privileged task, issued once that has dropped its privilege. */
TEST_F(submit, waiting_while_dropped)
{
	int res[2];

	ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
	prep_pipe_read(ring_sqe(&self->ring), self->pipe[0], &self->byte);
	prep_probe(ring_sqe(&self->ring), &self->dev);
	ASSERT_EQ(0, ring_submit(&self->ring));
	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(1, write(self->pipe[1], "x", 1));
	ASSERT_EQ(0, ring_reap(&self->ring, 2, res));
	EXPECT_EQ(1, res[0]);
	EXPECT_EQ(REFUSED, res[1]);
}

TEST_F(submit, waiting_while_raised)
{
	int res[2];

	ASSERT_EQ(0, cap_sys_admin(false));
	ASSERT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
	prep_pipe_read(ring_sqe(&self->ring), self->pipe[0], &self->byte);
	prep_probe(ring_sqe(&self->ring), &self->dev);
	ASSERT_EQ(0, ring_submit(&self->ring));
	ASSERT_EQ(0, cap_sys_admin(true));
	ASSERT_EQ(1, write(self->pipe[1], "x", 1));
	ASSERT_EQ(0, ring_reap(&self->ring, 2, res));
	EXPECT_EQ(1, res[0]);
	EXPECT_EQ(ALLOWED, res[1]);
}

/* A drained command keeps the credentials that it was submitted with, both ways. */
TEST_F(submit, drained_meanwhile)
{
	struct io_uring_sqe *sqe;
	int i, res[2];

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, cap_sys_admin(i));
		ASSERT_EQ(i ? ALLOWED : REFUSED, ring_probe(&self->ring, &self->dev));
		sqe = ring_sqe(&self->ring);
		prep_pipe_read(sqe, self->pipe[0], &self->byte);
		sqe->flags = 0;
		sqe = ring_sqe(&self->ring);
		prep_probe(sqe, &self->dev);
		sqe->flags = IOSQE_IO_DRAIN;
		ASSERT_EQ(0, ring_submit(&self->ring));
		ASSERT_EQ(0, cap_sys_admin(!i));
		ASSERT_EQ(1, write(self->pipe[1], "x", 1));
		ASSERT_EQ(0, ring_reap(&self->ring, 2, res));
		EXPECT_EQ(1, res[0]);
		EXPECT_EQ(i ? ALLOWED : REFUSED, res[1]);
	}
}

/* Inline and io-wq in turns: neither may spoil the other's answer. */
TEST_F(submit, async_and_inline_in_turns)
{
	unsigned int i, n = rounds(100);

	for (i = 0; i < n; i++) {
		ASSERT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, 0));
		ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
		ASSERT_EQ(0, cap_sys_admin(false));
		ASSERT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, IOSQE_ASYNC, 0));
		ASSERT_EQ(REFUSED, ring_probe(&self->ring, &self->dev));
		ASSERT_EQ(0, cap_sys_admin(true));
	}
}

TEST_F(submit, through_a_registered_file)
{
	int fds[] = { self->dev.ns };

	ASSERT_EQ(0, ring_register(&self->ring, IORING_REGISTER_FILES, fds, 1));
	self->dev.ns = 0;
	EXPECT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, IOSQE_FIXED_FILE, 0));
	EXPECT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev,
					 IOSQE_FIXED_FILE | IOSQE_ASYNC, 0));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, IOSQE_FIXED_FILE,
					 self->nobody));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev, IOSQE_FIXED_FILE, 0));
	EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev,
					 IOSQE_FIXED_FILE | IOSQE_ASYNC, 0));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(ALLOWED, ring_probe_as(&self->ring, &self->dev, IOSQE_FIXED_FILE, 0));
	self->dev.ns = fds[0];
}

TEST_F(submit, through_a_registered_ring)
{
	struct io_uring_rsrc_update up = { .offset = -1U, .data = self->ring.fd };

	ASSERT_EQ(1, ring_register(&self->ring, IORING_REGISTER_RING_FDS, &up, 1));
	self->ring.enter_fd = up.offset;
	self->ring.enter_flags = IORING_ENTER_REGISTERED_RING;
	EXPECT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe_all(&self->ring, &self->dev, 10, REFUSED));
	ASSERT_EQ(0, cap_sys_admin(true));
	EXPECT_EQ(ALLOWED, ring_probe_all(&self->ring, &self->dev, 10, ALLOWED));
}

TEST_HARNESS_MAIN
