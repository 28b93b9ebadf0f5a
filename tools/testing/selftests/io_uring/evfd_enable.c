// SPDX-License-Identifier: GPL-2.0
/*
 * Restrictions and the enabling of a ring, while other threads submit to it.
 *
 * This test will check that whoever calls io_uring_enter() gets -EBADFD before the
 * ring is enabled, and afterwards has every request judged by all the restrictions;
 * that nothing which an SQPOLL ring was given earlier is forgotten; and that neither
 * call is disturbed by signals.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"

#define ROUNDS	100
#define SQPOLL_ROUNDS	20
#define PAIRS	32	/* of an allowed and a forbidden request */

/* Threads that submit one request after the other, from before the ring is enabled. */
struct submitter {
	pthread_t thread;
	struct io_uring *ring;
	unsigned int submitted;
	int err;
};

static void *submitter(void *arg)
{
	struct submitter *s = arg;
	int ret;

	do {
		ret = io_uring_enter(s->ring->ring_fd, 1, 0, 0, NULL);
		if (ret > 0)
			s->submitted += ret;
	} while (ret > 0 || ret == -EBADFD);
	/* 0: the other one has taken the last. */
	s->err = ret;
	return NULL;
}

/* Which requests the kernel may see is decided before the ring is enabled. */
static void fill(struct io_uring *ring)
{
	struct io_uring_sqe *sqe;
	int i;

	for (i = 0; i < PAIRS; i++) {
		sqe = io_uring_get_sqe(ring);
		io_uring_prep_nop(sqe);
		sqe->user_data = 0;
		sqe = io_uring_get_sqe(ring);
		io_uring_prep_close(sqe, -1);
		sqe->user_data = -EACCES;
	}
	__atomic_store_n(ring->sq.ktail, ring->sq.sqe_tail, __ATOMIC_RELEASE);
}

/* Takes @n CQEs; how many of them had another result than the one they name. */
static int wrong_results(struct io_uring *ring, unsigned int n)
{
	time_t end = time(NULL) + EVFD_GIVE_UP / 1000;
	struct io_uring_cqe *cqe;
	int wrong = 0;

	while (n && time(NULL) <= end) {
		if (io_uring_peek_cqe(ring, &cqe)) {
			usleep(100);
			continue;
		}
		wrong += cqe->res != (int)cqe->user_data;
		io_uring_cqe_seen(ring, cqe);
		n--;
	}
	return wrong + n;
}

/* Newer kernels restrict only that of requests and registrations which is named at all. */
static int restrict_to_nops(struct io_uring *ring)
{
	struct io_uring_restriction res[] = {
		{ .opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_NOP },
		{ .opcode = IORING_RESTRICTION_REGISTER_OP, .register_op = IORING_REGISTER_PROBE },
	};

	return io_uring_register(ring->ring_fd, IORING_REGISTER_RESTRICTIONS, res, 2);
}

static int enable(struct io_uring *ring)
{
	return io_uring_register(ring->ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}

static void tick(int sig)
{
}

/* A signal each millisecond, for this thread. */
static int start_ticking(timer_t *timer)
{
	const struct itimerspec ms = { { 0, 1000000 }, { 0, 1000000 } };
	const struct sigaction act = { .sa_handler = tick };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };

	event._sigev_un._tid = gettid();
	if (sigaction(SIGUSR1, &act, NULL) || timer_create(CLOCK_MONOTONIC, &event, timer) ||
	    timer_settime(*timer, 0, &ms, NULL))
		return -errno;
	return 0;
}

static int ring_disabled(struct io_uring *ring)
{
	int ret;

	do {
		ret = evfd_ring(ring, IORING_SETUP_R_DISABLED);
	} while (ret == -EINTR);
	return ret;
}

FIXTURE(enable) {
	struct io_uring ring;
	bool ticking;
	timer_t timer;
};

FIXTURE_VARIANT(enable) {
	bool ticking;
};

FIXTURE_VARIANT_ADD(enable, quiet) { .ticking = false, };
FIXTURE_VARIANT_ADD(enable, timer) { .ticking = true, };

FIXTURE_SETUP(enable)
{
	self->ticking = variant->ticking;
	if (self->ticking)
		ASSERT_EQ(0, start_ticking(&self->timer));
}

FIXTURE_TEARDOWN(enable)
{
	if (self->ticking)
		timer_delete(self->timer);
}

TEST_F(enable, alone)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, ring_disabled(&self->ring));
		fill(&self->ring);
		EXPECT_EQ(-EBADFD, io_uring_enter(self->ring.ring_fd, 1, 0, 0, NULL));
		ASSERT_EQ(0, restrict_to_nops(&self->ring));
		EXPECT_EQ(-EBUSY, restrict_to_nops(&self->ring));
		EXPECT_EQ(-EBADFD, io_uring_enter(self->ring.ring_fd, 1, 0, 0, NULL));
		ASSERT_EQ(0, enable(&self->ring));
		EXPECT_EQ(1, io_uring_enter(self->ring.ring_fd, 1, 0, 0, NULL));
		EXPECT_EQ(1, io_uring_enter(self->ring.ring_fd, 1, 0, 0, NULL));
		EXPECT_EQ(0, wrong_results(&self->ring, 2));
		/* The restrictions allow no other registration either. */
		EXPECT_EQ(-EACCES, enable(&self->ring));
		io_uring_queue_exit(&self->ring);
	}
}

TEST_F(enable, without_restrictions)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, ring_disabled(&self->ring));
		ASSERT_EQ(0, enable(&self->ring));
		EXPECT_EQ(-EBADFD, enable(&self->ring));
		EXPECT_EQ(-EBADFD, restrict_to_nops(&self->ring));
		EXPECT_EQ(0, evfd_nops(&self->ring, 4, 0));
		EXPECT_EQ(4, evfd_reap_n(&self->ring, 4));
		io_uring_queue_exit(&self->ring);
	}
}

TEST_F(enable, while_others_submit)
{
	struct submitter s[2];
	int i, j, err;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, ring_disabled(&self->ring));
		fill(&self->ring);
		for (j = 0; j < 2; j++) {
			s[j] = (struct submitter) { .ring = &self->ring };
			ASSERT_EQ(0, pthread_create(&s[j].thread, NULL, submitter, &s[j]));
		}
		err = restrict_to_nops(&self->ring);
		/* In any case, or the threads do not end. */
		while (enable(&self->ring) == -EINTR)
			err = -EINTR;
		for (j = 0; j < 2; j++) {
			pthread_join(s[j].thread, NULL);
			ASSERT_EQ(0, s[j].err);
		}
		ASSERT_EQ(0, err);
		EXPECT_EQ(2 * PAIRS, s[0].submitted + s[1].submitted);
		EXPECT_EQ(0, wrong_results(&self->ring, 2 * PAIRS));
		io_uring_queue_exit(&self->ring);
	}
}

/* Its thread sleeps soon when there is nothing to do. */
static int sqpoll_disabled(struct io_uring *ring)
{
	struct io_uring_params p;
	int ret;

	do {
		memset(&p, 0, sizeof(p));
		p.flags = IORING_SETUP_SQPOLL | IORING_SETUP_R_DISABLED;
		p.sq_thread_idle = 1;
		ret = io_uring_queue_init_params(2 * PAIRS, ring, &p);
	} while (ret == -EINTR);
	return ret;
}

static bool sleeps(struct io_uring *ring)
{
	return __atomic_load_n(ring->sq.kflags, __ATOMIC_RELAXED) & IORING_SQ_NEED_WAKEUP;
}

/* Entries that are older than the enabling; nobody wakes the thread but the kernel. */
TEST_F(enable, sqpoll_finds_what_it_was_given)
{
	int i, j, ret;

	for (i = 0; i < SQPOLL_ROUNDS; i++) {
		ret = sqpoll_disabled(&self->ring);
		if (ret == -EPERM)
			SKIP(return, "SQPOLL rings are for root here");
		ASSERT_EQ(0, ret);
		if (i % 2)
			fill(&self->ring);
		ASSERT_EQ(0, restrict_to_nops(&self->ring));
		if (i % 2 == 0) {
			for (j = 0; j < EVFD_GIVE_UP && !sleeps(&self->ring); j++)
				usleep(1000);
			ASSERT_TRUE(sleeps(&self->ring));
			fill(&self->ring);
		}
		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_EQ(0, wrong_results(&self->ring, 2 * PAIRS));
		io_uring_queue_exit(&self->ring);
	}
}

TEST_HARNESS_MAIN
