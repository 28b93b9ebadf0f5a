// SPDX-License-Identifier: GPL-2.0
/*
 * Threads register and unregister eventfds as fast as they can, while their rings
 * complete requests.
 *
 * This test will check that a batch of CQEs between the two always signals, that
 * nothing signals any more when a grace period has passed after the unregistration,
 * and that all of it ends with as much memory and as many eventfds as before.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"

#define ROUNDS	100000	/* of all threads and tests */
#define SHARES	14	/* two threads: four kinds of rings of their own, three shared */
#define CHECKS	4	/* for silence, in each thread's share */
#define SLACK	8192	/* KiB */
#define POKED	0	/* which of two storms polls eventfds that are written to */

struct storm {
	pthread_t thread;
	unsigned int flags;
	unsigned int rounds;
	int polled;		/* an eventfd that is written to all the time, or -1 */
	int inflight;		/* requests whose CQE has not been seen */
	/* The ledger. */
	unsigned int lost;	/* batches without a signal */
	unsigned int late;	/* signals when there should be silence */
	int err;		/* of whatever should not have failed */
};

static int send_nops(struct storm *s, struct io_uring *ring, unsigned int n)
{
	s->inflight += n;
	return evfd_nops(ring, n, 0);
}

/* One at a time: too many CQEs overflow, and those are not posted yet. */
static int send_poll(struct storm *s, struct io_uring *ring)
{
	if (s->polled < 0 || s->inflight)
		return 0;
	s->inflight++;
	return evfd_poll(ring, s->polled, false);
}

/* Until none is left but one that may be the poll. */
static int receive(struct storm *s, struct io_uring *ring)
{
	int keep = s->polled >= 0, ret;

	while (s->inflight > keep) {
		ret = evfd_reap_n(ring, 1);
		if (ret < 0)
			return ret;
		s->inflight -= ret;
	}
	return 0;
}

/* Counts the signals that arrive although nothing is registered. */
static int listen_late(struct storm *s, struct io_uring *ring, int fd)
{
	/* The last one of before may still be on its way through RCU. */
	eventfd_t n, late = s->polled >= 0;
	int ret;

	evfd_take_late(fd);
	ret = send_nops(s, ring, 8) ?: receive(s, ring);
	n = evfd_take_late(fd);
	s->late += n > late ? n - late : 0;
	return ret;
}

static int one_round(struct storm *s, struct io_uring *ring, int fd)
{
	int ret = io_uring_register_eventfd(ring, fd);

	ret = ret ?: send_poll(s, ring) ?: send_nops(s, ring, 1);
	if (ret)
		return ret;
	if (!evfd_wait(fd))
		s->lost++;
	ret = receive(s, ring);
	return ret ?: io_uring_unregister_eventfd(ring);
}

static void *storm(void *arg)
{
	struct storm *s = arg;
	unsigned int i, check = s->rounds / CHECKS ?: 1;
	struct io_uring ring;
	int fd = evfd_new();

	s->err = evfd_ring(&ring, s->flags);
	if (s->err) {
		close(fd);
		return NULL;
	}
	for (i = 0; i < s->rounds && !s->err && !s->lost; i++) {
		s->err = one_round(s, &ring, fd);
		if (i % check == check - 1 && !s->err)
			s->err = listen_late(s, &ring, fd);
	}
	io_uring_queue_exit(&ring);
	close(fd);
	return NULL;
}

FIXTURE(storm) {
	unsigned int flags;
	long slab, available;
	int first;
};

FIXTURE_VARIANT(storm) {
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(storm, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(storm, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(storm, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(storm, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_SETUP(storm)
{
	struct io_uring ring;

	self->flags = evfd_setup_ring(_metadata, &ring, variant->flags);
	io_uring_queue_exit(&ring);
	self->first = evfd_next_id();
	self->slab = evfd_meminfo("SUnreclaim");
	self->available = evfd_meminfo("MemAvailable");
}

/* Everything that the storm left to RCU must come back. */
FIXTURE_TEARDOWN(storm)
{
	int i;

	EXPECT_TRUE(evfd_freed(self->first));
	for (i = 0; i < 25 && evfd_meminfo("SUnreclaim") > self->slab + SLACK; i++)
		evfd_settle();
	EXPECT_GE(self->slab + SLACK, evfd_meminfo("SUnreclaim"));
	/* This one also sees what other programs do. */
	TH_LOG("SUnreclaim %+ld KiB, MemAvailable %+ld KiB", evfd_meminfo("SUnreclaim") -
	       self->slab, evfd_meminfo("MemAvailable") - self->available);
}

TEST_F_TIMEOUT(storm, own_rings, EVFD_TIMEOUT)
{
	struct evfd_poker poker;
	struct storm s[2] = { };
	int i;

	ASSERT_EQ(0, evfd_poker_start(&poker));
	for (i = 0; i < 2; i++) {
		s[i].flags = self->flags;
		s[i].rounds = evfd_rounds(ROUNDS, SHARES);
		s[i].polled = i == POKED ? poker.fd[0] : -1;
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, storm, &s[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(s[i].thread, NULL);
		EXPECT_EQ(0, s[i].err);
		EXPECT_EQ(0, s[i].lost);
		EXPECT_EQ(0, s[i].late);
	}
	evfd_poker_stop(&poker);
}

/* Threads that want the same ring: each time one of them wins. */
struct rival {
	pthread_t thread;
	struct io_uring *ring;
	unsigned int rounds;
	int balance;
	int err;
};

static void *rival(void *arg)
{
	struct rival *r = arg;
	int ret, fd = evfd_new();
	unsigned int i;

	for (i = 0; i < r->rounds && !r->err; i++) {
		ret = io_uring_register_eventfd(r->ring, fd);
		if (!ret)
			r->balance++;
		else if (ret != -EBUSY)
			r->err = ret;
		ret = io_uring_unregister_eventfd(r->ring);
		if (!ret)
			r->balance--;
		else if (ret != -ENXIO)
			r->err = ret;
	}
	close(fd);
	return NULL;
}

TEST_F_TIMEOUT(storm, one_ring, EVFD_TIMEOUT)
{
	struct rival r[2] = { };
	struct io_uring ring;
	int i, fd;

	if (self->flags & IORING_SETUP_DEFER_TASKRUN)
		SKIP(return, "such a ring belongs to one thread");
	ASSERT_EQ(0, evfd_ring(&ring, self->flags));
	fd = evfd_new();
	for (i = 0; i < 2; i++) {
		r[i].ring = &ring;
		r[i].rounds = evfd_rounds(ROUNDS, SHARES);
		ASSERT_EQ(0, pthread_create(&r[i].thread, NULL, rival, &r[i]));
	}
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, evfd_nops(&ring, 4, i % 2 ? IOSQE_ASYNC : 0));
		ASSERT_EQ(4, evfd_reap_n(&ring, 4));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(r[i].thread, NULL);
		EXPECT_EQ(0, r[i].err);
	}
	/* Each ends with unregistering, whosever it was. */
	EXPECT_EQ(0, r[0].balance + r[1].balance);
	ASSERT_EQ(0, io_uring_register_eventfd(&ring, fd));
	ASSERT_EQ(0, evfd_nops(&ring, 1, 0));
	EXPECT_LE(1, evfd_wait(fd));
	io_uring_queue_exit(&ring);
	close(fd);
}

TEST_HARNESS_MAIN
