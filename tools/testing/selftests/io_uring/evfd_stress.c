// SPDX-License-Identifier: GPL-2.0
/*
 * Threads, each with a ring, walk at random: they register an eventfd, plainly or
 * for io-wq only, send requests that complete in the task, in io-wq, in a timer or
 * in the wakeup of another eventfd, wait for them or do not, unregister, close the
 * ring or let another thread do it.
 *
 * This test will check by a ledger of each registration that CQEs posted after it
 * returned are signalled, that no more was signalled than could be, that after
 * unregistering at most the deferred signal comes, and that no eventfd leaks.
 *
 * $RINGCAP_ROUNDS registrations, $RINGCAP_SEED to repeat what one thread does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"
#include "evfd_walker.h"

#define ROUNDS		2400	/* of all threads and kinds of rings */
#define KINDS		4	/* of rings */
#define WALKERS		3
#define STRESS_TIMEOUT	7200	/* s: a million rounds under emulation */
#define STUCK		(3 * EVFD_GIVE_UP / 1000)	/* s without a step: this is a hang */

FIXTURE(stress) {
	unsigned int flags;
	unsigned long long seed;
	int first;
};

FIXTURE_VARIANT(stress) {
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(stress, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(stress, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(stress, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(stress, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_SETUP(stress)
{
	struct io_uring ring;

	self->flags = evfd_setup_ring(_metadata, &ring, variant->flags);
	io_uring_queue_exit(&ring);
	self->seed = rng_seed();
	self->first = evfd_next_id();
}

FIXTURE_TEARDOWN(stress)
{
	EXPECT_TRUE(evfd_freed(self->first));
}

static unsigned int rounds_done(struct walker *w)
{
	unsigned int i, sum = 0;

	for (i = 0; i < WALKERS; i++)
		sum += __atomic_load_n(&w[i].done, __ATOMIC_ACQUIRE);
	return sum;
}

/* Joins the walkers, or returns false when none of them moves any more. */
static bool join(struct walker *w)
{
	unsigned int joined = 0, seen = 0, now;
	time_t moved = time(NULL);
	struct timespec tick;

	while (joined < WALKERS) {
		clock_gettime(CLOCK_REALTIME, &tick);
		tick.tv_sec++;
		if (!pthread_timedjoin_np(w[joined].thread, NULL, &tick)) {
			joined++;
			continue;
		}
		now = rounds_done(w);
		if (now != seen)
			moved = time(NULL);
		seen = now;
		if (time(NULL) - moved > STUCK)
			return false;
	}
	return true;
}

TEST_F_TIMEOUT(stress, own_rings, STRESS_TIMEOUT)
{
	struct walker w[WALKERS] = { };
	struct evfd_poker poker;
	unsigned int i;

	ASSERT_EQ(0, evfd_register_with_a_poll());
	ASSERT_EQ(0, evfd_poker_start(&poker));
	for (i = 0; i < WALKERS; i++) {
		w[i].flags = self->flags;
		w[i].rounds = evfd_rounds(ROUNDS, KINDS * WALKERS);
		if (w[i].rounds < 2 * WALKER_ACCOUNTS)
			w[i].rounds = 2 * WALKER_ACCOUNTS;
		w[i].traffic.rng = rng_fork(self->seed, i);
		w[i].traffic.poked = poker.fd;
		walker_init(&w[i]);
	}
	for (i = 0; i < WALKERS; i++)
		w[i].traffic.peer = w[(i + 1) % WALKERS].account[0].fd;
	TH_LOG("RINGCAP_SEED=%llu", self->seed);
	for (i = 0; i < WALKERS; i++)
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, walk, &w[i]));
	ASSERT_TRUE(join(w)) {
		for (i = 0; i < WALKERS; i++)
			TH_LOG("walker %u hangs in round %u: %s", i, w[i].done,
			       w[i].traffic.trace);
	}
	evfd_poker_stop(&poker);
	for (i = 0; i < WALKERS; i++) {
		const struct traffic *t = &w[i].traffic;

		EXPECT_EQ(NULL, t->fault) {
			TH_LOG("walker %u, round %u: %s (%d): %s", i, w[i].done, t->fault, t->err,
			       t->trace);
		}
		TH_LOG("walker %u: %u registrations, %lu batches, %lu CQEs, %lu signals", i,
		       w[i].done, t->batches, t->cqes, w[i].signals);
		walker_close(&w[i]);
	}
}

/* A thread that ends while its ring has work and a signal to deliver. */
struct leaver {
	struct io_uring ring;
	struct evfd_poker *poker;
	unsigned int flags;
	struct rng rng;
	int fd, own;
	int err;
};

static void *leave(void *arg)
{
	struct leaver *l = arg;
	unsigned int i, n = 1 + rng_below(&l->rng, 4);

	l->err = evfd_ring(&l->ring, l->flags);
	if (l->err)
		return NULL;
	l->err = evfd_register(&l->ring, l->fd, rng_one_in(&l->rng, 4));
	for (i = 0; i < n && !l->err; i++)
		l->err = evfd_poll(&l->ring, l->own, i) ?:
			 evfd_poll(&l->ring, l->poker->fd[i % EVFD_POKED], i) ?:
			 evfd_nops(&l->ring, i, rng_one_in(&l->rng, 2) ? IOSQE_ASYNC : 0);
	if (!l->err)
		l->err = evfd_add(l->own);
	return NULL;
}

TEST_F_TIMEOUT(stress, threads_that_leave_their_ring, STRESS_TIMEOUT)
{
	unsigned int i, rounds = evfd_rounds(ROUNDS, 64 * KINDS);
	struct leaver l = { .flags = self->flags, .rng = rng_fork(self->seed, 0) };
	struct evfd_poker poker;
	pthread_t thread;
	bool first;
	int ret;

	ASSERT_EQ(0, evfd_register_with_a_poll());
	TH_LOG("RINGCAP_SEED=%llu", self->seed);
	ASSERT_EQ(0, evfd_poker_start(&poker));
	l.poker = &poker;
	l.own = evfd_new();
	for (i = 0; i < rounds; i++) {
		l.fd = evfd_new();
		ASSERT_EQ(0, pthread_create(&thread, NULL, leave, &l));
		pthread_join(thread, NULL);
		ASSERT_EQ(0, l.err);
		if (rng_one_in(&l.rng, 2)) {
			ret = io_uring_unregister_eventfd(&l.ring);
			/* A ring of a single issuer is not ours. */
			ASSERT_TRUE(ret == 0 || ret == -EEXIST);
		}
		first = rng_one_in(&l.rng, 2);
		if (first)
			close(l.fd);
		io_uring_queue_exit(&l.ring);
		if (!first)
			close(l.fd);
		evfd_take(l.own);
	}
	close(l.own);
	evfd_poker_stop(&poker);
}

TEST_HARNESS_MAIN
