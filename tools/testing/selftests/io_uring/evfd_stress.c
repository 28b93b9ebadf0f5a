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
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"
#include "evfd_ledger.h"
#include "rng.h"

#define ROUNDS		2400	/* of all threads and kinds of rings */
#define KINDS		4	/* of rings */
#define WALKERS		3
#define ACCOUNTS	48	/* registrations of a thread until the sums are drawn */
#define BATCHES		3	/* at most, in one registration */
#define BATCH		5	/* requests at most in one of them */
#define STRESS_TIMEOUT	7200	/* s: a million rounds under emulation */
#define STUCK		(3 * EVFD_GIVE_UP / 1000)	/* s without a step: this is a hang */

/* The requests: user_data of their CQEs. */
enum kind {
	NOP,		/* the task */
	POLL_OWN,	/* an eventfd that only this thread writes to */
	MULTISHOT,	/* the same, until it is cancelled */
	SOLO_KINDS,
	/* From here on other contexts than the thread post the CQE or signal. */
	IO_WQ = SOLO_KINDS,
	IO_WQ_WRITE,	/* to the thread's own eventfd */
	TIMEOUT,
	POLL_POKED,	/* an eventfd that somebody writes to all the time */
	POLL_PEER,	/* the registered eventfd of another thread */
	CANCEL,		/* of one of these */
	NR_KINDS,
};

static const char kind_letter[NR_KINDS + 1] = "npmawtPRc";

struct walker {
	pthread_t thread;
	struct rng rng;
	unsigned int flags;
	unsigned int rounds;
	unsigned int done;	/* rounds, read by the main thread */
	struct evfd_poker *poker;
	struct walker *peer;

	struct io_uring ring;
	int own[2];
	unsigned int inflight[NR_KINDS];
	unsigned int armed;	/* MULTISHOT: 1 */
	struct evfd_account account[ACCOUNTS];
	unsigned int used;

	/* Since the sums were drawn. */
	bool solo;		/* nobody but this thread posts and signals */
	unsigned int foreign;	/* requests that others may complete */
	/* In this registration. */
	unsigned long queued;	/* work that signals when it is queued */

	unsigned long batches, cqes, signals;
	char trace[160];	/* what the present round did */
	const char *fault;
	int err;
};

static void note(struct walker *w, const char *what)
{
	size_t len = strlen(w->trace);

	snprintf(w->trace + len, sizeof(w->trace) - len, "%s", what);
}

static int fault(struct walker *w, const char *what, int err)
{
	if (!w->fault) {
		w->fault = what;
		w->err = err;
	}
	return -1;
}

static bool defers(struct walker *w)
{
	return w->flags & IORING_SETUP_DEFER_TASKRUN;
}

static unsigned int tail(struct walker *w)
{
	return __atomic_load_n(w->ring.cq.ktail, __ATOMIC_ACQUIRE);
}

static unsigned int inflight(struct walker *w, enum kind from, enum kind to)
{
	unsigned int sum = 0;

	while (from < to)
		sum += w->inflight[from++];
	return sum;
}

/* Those that end without being cancelled. */
static unsigned int will_complete(struct walker *w)
{
	return inflight(w, NOP, NR_KINDS) - w->armed - w->inflight[POLL_POKED] -
	       w->inflight[POLL_PEER];
}

/* Runs what the kernel deferred to the thread, and takes the CQEs: how many. */
static unsigned int reap(struct walker *w, unsigned int wait_for)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;

	io_uring_enter(w->ring.ring_fd, 0, wait_for, IORING_ENTER_GETEVENTS, NULL);
	io_uring_for_each_cqe(&w->ring, head, cqe) {
		n++;
		if (cqe->flags & IORING_CQE_F_MORE)
			continue;
		w->inflight[cqe->user_data]--;
		if (cqe->user_data == MULTISHOT)
			w->armed = 0;
	}
	io_uring_cq_advance(&w->ring, n);
	w->cqes += n;
	return n;
}

static void prep(struct walker *w, struct io_uring_sqe *sqe, enum kind kind)
{
	static const struct __kernel_timespec soon[] = {
		{ .tv_nsec = 1 }, { .tv_nsec = 20000 }, { .tv_nsec = 300000 },
	};
	static const eventfd_t one = 1;

	switch (kind) {
	case NOP:
	case IO_WQ:
		io_uring_prep_nop(sqe);
		break;
	case POLL_OWN:
		io_uring_prep_poll_add(sqe, w->own[0], POLLIN);
		break;
	case MULTISHOT:
		io_uring_prep_poll_multishot(sqe, w->own[1], POLLIN);
		break;
	case IO_WQ_WRITE:
		io_uring_prep_write(sqe, w->own[rng_below(&w->rng, 2)], &one, sizeof(one), 0);
		break;
	case TIMEOUT:
		io_uring_prep_timeout(sqe, (struct __kernel_timespec *)
				      &soon[rng_below(&w->rng, ARRAY_SIZE(soon))],
				      rng_below(&w->rng, 3), 0);
		break;
	case POLL_POKED:
		io_uring_prep_poll_add(sqe, w->poker->fd[rng_below(&w->rng, EVFD_POKED)], POLLIN);
		break;
	case POLL_PEER:
		io_uring_prep_poll_add(sqe, w->peer->account[0].fd, POLLIN);
		break;
	default:
		break;
	}
	if (kind == IO_WQ || kind == IO_WQ_WRITE)
		sqe->flags |= IOSQE_ASYNC;
	sqe->user_data = kind;
}

static struct io_uring_sqe *next_sqe(struct walker *w)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&w->ring);

	/* Full: the thread of an SQPOLL ring lets entries lie. */
	while (!sqe) {
		io_uring_submit(&w->ring);
		sqe = io_uring_get_sqe(&w->ring);
	}
	return sqe;
}

static void add(struct walker *w, enum kind which, bool chained)
{
	struct io_uring_sqe *sqe = next_sqe(w);
	char letter[2] = { kind_letter[which] };

	prep(w, sqe, which);
	if (chained)
		sqe->flags |= IOSQE_IO_LINK;
	w->inflight[which]++;
	w->queued += 2;
	if (which == MULTISHOT)
		w->armed = 1;
	w->foreign += !w->solo;
	note(w, letter);
	if (chained)
		note(w, "-");
}

static void cancel(struct walker *w, enum kind which)
{
	struct io_uring_sqe *sqe = next_sqe(w);

	io_uring_prep_poll_remove(sqe, which);
	sqe->user_data = CANCEL;
	w->inflight[CANCEL]++;
	w->queued += 2;
	w->foreign += !w->solo;
}

static int submit(struct walker *w)
{
	int ret = io_uring_submit(&w->ring);

	return ret < 0 ? fault(w, "io_uring_enter", ret) : 0;
}

static enum kind choose(struct walker *w)
{
	enum kind kind = rng_below(&w->rng, w->solo ? SOLO_KINDS : CANCEL);

	/* One at a time: others write to these eventfds as often as they like. */
	if (((kind == POLL_POKED || kind == POLL_PEER) && w->inflight[kind]) ||
	    (kind == MULTISHOT && w->armed))
		kind = NOP;
	return kind;
}

/* Writes to the eventfds that are polled, so that those polls complete. */
static void hit(struct walker *w)
{
	unsigned int i, n = 1 + rng_below(&w->rng, 3);

	for (i = 0; i < n; i++) {
		if (w->inflight[POLL_OWN])
			evfd_add(w->own[0]);
		if (w->armed)
			evfd_add(w->own[1]);
		w->queued += 2;
	}
	note(w, "!");
}

static int send_batch(struct walker *w)
{
	unsigned int i, n = 1 + rng_below(&w->rng, BATCH);

	if (!w->inflight[POLL_OWN])
		evfd_take(w->own[0]);
	evfd_take(w->own[1]);
	note(w, " ");
	for (i = 0; i < n; i++) {
		enum kind kind = choose(w);
		/* What may never complete would hold the others up. */
		bool link = kind != POLL_POKED && kind != POLL_PEER && kind != MULTISHOT &&
			    i + 1 < n && rng_one_in(&w->rng, 4);

		add(w, kind, link);
	}
	if (w->armed && rng_one_in(&w->rng, 3))
		cancel(w, MULTISHOT);
	w->batches++;
	return submit(w);
}

/* Reads CQEs only when the eventfd says so: a signal that is missing stops it. */
static int wait_for_signals(struct walker *w, struct evfd_account *a)
{
	note(w, "?");
	while (will_complete(w)) {
		eventfd_t n = evfd_wait(a->fd);

		a->got += n;
		if (!n)
			return fault(w, reap(w, 0) ? "CQEs and no signal" : "no CQEs", -ETIME);
		reap(w, 0);
	}
	return 0;
}

static void wait_for_cqes(struct walker *w)
{
	note(w, ".");
	while (will_complete(w))
		reap(w, 1);
}

static int batch(struct walker *w, struct evfd_account *a, bool listening)
{
	/* A deferred signal takes as long as RCU does. */
	unsigned int rarely = defers(w) ? 12 : 2;

	if (send_batch(w))
		return -1;
	if (w->inflight[POLL_OWN] || w->armed)
		hit(w);
	if (listening && rng_one_in(&w->rng, rarely))
		return wait_for_signals(w, a);
	if (rng_one_in(&w->rng, 3))
		wait_for_cqes(w);
	return 0;
}

/* Leaves nothing in flight. */
static int drain(struct walker *w)
{
	while (inflight(w, NOP, NR_KINDS)) {
		if (w->inflight[POLL_OWN])
			hit(w);
		if (w->armed)
			cancel(w, MULTISHOT);
		if (w->inflight[POLL_POKED])
			cancel(w, POLL_POKED);
		if (w->inflight[POLL_PEER])
			cancel(w, POLL_PEER);
		if (submit(w))
			return -1;
		reap(w, 1);
	}
	return 0;
}

static int new_ring(struct walker *w)
{
	int ret = evfd_ring(&w->ring, w->flags);

	memset(w->inflight, 0, sizeof(w->inflight));
	w->armed = 0;
	return ret ? fault(w, "io_uring_setup", ret) : 0;
}

/* The ring goes with all that it is doing, and may signal for a while. */
static int exit_ring(struct walker *w, struct evfd_account *a)
{
	note(w, " exit");
	io_uring_queue_exit(&w->ring);
	if (evfd_account_renew(a))
		return fault(w, "eventfd", -EMFILE);
	a->got = 0;
	return new_ring(w);
}

static int refused_again(struct walker *w, struct evfd_account *a)
{
	int ret = evfd_register(&w->ring, a->fd, rng_one_in(&w->rng, 2));

	return ret == -EBUSY ? 0 : fault(w, "second registration", ret);
}

static int registration(struct walker *w, struct evfd_account *a)
{
	unsigned int i, n = rng_below(&w->rng, BATCHES + 1);
	unsigned int start = tail(w), registered, posted, ended;
	bool async = rng_one_in(&w->rng, 4), quiet = rng_one_in(&w->rng, 12);
	bool listening = !async && !quiet;
	int ret;

	w->trace[0] = '\0';
	note(w, w->solo ? "solo " : "");
	note(w, async ? "async" : quiet ? "disabled" : "plain");
	w->queued = 2 * inflight(w, NOP, NR_KINDS);
	ret = evfd_register(&w->ring, a->fd, async);
	if (ret)
		return fault(w, "registration", ret);
	registered = tail(w);
	/* What was posted or queued before owes no signal. */
	reap(w, 0);
	if (quiet)
		io_uring_cq_eventfd_toggle(&w->ring, false);
	for (i = 0; i < n; i++) {
		if (batch(w, a, listening))
			return -1;
	}
	if (rng_one_in(&w->rng, 16) && refused_again(w, a))
		return -1;
	if (quiet)
		io_uring_cq_eventfd_toggle(&w->ring, true);
	posted = tail(w);
	if (a != w->account && rng_one_in(&w->rng, 200))
		return exit_ring(w, a);
	ret = io_uring_unregister_eventfd(&w->ring);
	if (ret)
		return fault(w, "unregistering", ret);
	ended = tail(w);
	a->got += evfd_take(a->fd);

	w->signals += a->got;
	a->most = ended - start;
	a->most_late = 0;
	if (defers(w)) {
		a->most += w->queued;
		a->most_late = 1;
	}
	/* A context that posted earlier may signal now, for what it posted then. */
	a->most += w->foreign;
	a->most_late += w->foreign;
	/* With others about, one of them may have had to signal, and came too late. */
	a->least = listening && w->solo && posted != registered;
	return 0;
}

static int draw_sums(struct walker *w)
{
	enum evfd_verdict v;
	unsigned int i;

	if (drain(w))
		return -1;
	evfd_settle();
	for (i = 0; i < w->used; i++) {
		struct evfd_account *a = &w->account[i];
		eventfd_t before = a->got;

		v = evfd_account_close(a);
		if (v != EVFD_BALANCED) {
			snprintf(w->trace, sizeof(w->trace),
				 "%u of %u, %s: %llu then %llu, least %lu, most %lu, late %lu",
				 i, w->used, w->solo ? "solo" : "mixed",
				 (unsigned long long)before,
				 (unsigned long long)evfd_take(a->fd), a->least, a->most,
				 a->most_late);
			return fault(w, evfd_verdict_name(v), 0);
		}
	}
	w->used = 0;
	w->foreign = 0;
	w->solo = !(w->flags & IORING_SETUP_SQPOLL) && rng_one_in(&w->rng, 2);
	return 0;
}

static void *walk(void *arg)
{
	struct walker *w = arg;

	if (new_ring(w))
		return NULL;
	w->solo = false;
	while (w->done < w->rounds) {
		if (w->used == ACCOUNTS && draw_sums(w))
			break;
		if (registration(w, &w->account[w->used++]))
			break;
		__atomic_store_n(&w->done, w->done + 1, __ATOMIC_RELEASE);
	}
	if (!w->fault)
		draw_sums(w);
	io_uring_queue_exit(&w->ring);
	return NULL;
}

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

static void open_eventfds(struct walker *w)
{
	unsigned int i;

	w->own[0] = evfd_new();
	w->own[1] = evfd_new();
	for (i = 0; i < ACCOUNTS; i++)
		w->account[i].fd = evfd_new();
}

static void close_eventfds(struct walker *w)
{
	unsigned int i;

	close(w->own[0]);
	close(w->own[1]);
	for (i = 0; i < ACCOUNTS; i++)
		close(w->account[i].fd);
}

TEST_F_TIMEOUT(stress, own_rings, STRESS_TIMEOUT)
{
	struct walker w[WALKERS] = { };
	struct evfd_poker poker;
	unsigned int i;

	ASSERT_EQ(0, evfd_register_with_a_poll());
	ASSERT_EQ(0, evfd_poker_start(&poker));
	for (i = 0; i < WALKERS; i++) {
		w[i].rng = rng_fork(self->seed, i);
		w[i].flags = self->flags;
		w[i].rounds = evfd_rounds(ROUNDS, KINDS * WALKERS);
		if (w[i].rounds < 2 * ACCOUNTS)
			w[i].rounds = 2 * ACCOUNTS;
		w[i].poker = &poker;
		w[i].peer = &w[(i + 1) % WALKERS];
		open_eventfds(&w[i]);
	}
	TH_LOG("RINGCAP_SEED=%llu", self->seed);
	for (i = 0; i < WALKERS; i++)
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, walk, &w[i]));
	ASSERT_TRUE(join(w)) {
		for (i = 0; i < WALKERS; i++)
			TH_LOG("walker %u hangs in round %u: %s", i, w[i].done, w[i].trace);
	}
	evfd_poker_stop(&poker);
	for (i = 0; i < WALKERS; i++) {
		EXPECT_EQ(NULL, w[i].fault) {
			TH_LOG("walker %u, round %u: %s (%d): %s", i, w[i].done, w[i].fault,
			       w[i].err, w[i].trace);
		}
		TH_LOG("walker %u: %u registrations, %lu batches, %lu CQEs, %lu signals", i,
		       w[i].done, w[i].batches, w[i].cqes, w[i].signals);
		close_eventfds(&w[i]);
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
