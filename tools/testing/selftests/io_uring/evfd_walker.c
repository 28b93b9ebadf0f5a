// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "evfd_walker.h"

#define BATCHES	3	/* at most, in one registration */

static bool defers(struct walker *w)
{
	return w->flags & IORING_SETUP_DEFER_TASKRUN;
}

static unsigned int tail(struct walker *w)
{
	return __atomic_load_n(w->traffic.ring.cq.ktail, __ATOMIC_ACQUIRE);
}

/* Reads CQEs only when the eventfd says so: a signal that is missing stops it. */
static int wait_for_signals(struct walker *w, struct evfd_account *a)
{
	struct traffic *t = &w->traffic;

	traffic_note(t, "?");
	while (traffic_will_complete(t)) {
		eventfd_t n = evfd_wait(a->fd);

		a->got += n;
		if (!n)
			return traffic_fault(t, traffic_reap(t, 0) ? "CQEs and no signal" :
							     "no CQEs", -ETIME);
		traffic_reap(t, 0);
	}
	return 0;
}

static int batch(struct walker *w, struct evfd_account *a, bool listening)
{
	struct traffic *t = &w->traffic;
	/* A deferred signal takes as long as RCU does. */
	unsigned int rarely = defers(w) ? 12 : 2;

	if (traffic_send(t))
		return -1;
	if (listening && rng_one_in(&t->rng, rarely))
		return wait_for_signals(w, a);
	if (rng_one_in(&t->rng, 3))
		traffic_wait(t);
	return 0;
}

/* The ring goes with all that it is doing, and may signal for a while. */
static int exit_ring(struct walker *w, struct evfd_account *a)
{
	struct traffic *t = &w->traffic;

	traffic_note(t, " exit");
	io_uring_queue_exit(&t->ring);
	if (evfd_account_renew(a))
		return traffic_fault(t, "eventfd", -EMFILE);
	a->got = 0;
	return traffic_new_ring(t, w->flags);
}

static int refused_again(struct walker *w, struct evfd_account *a)
{
	struct traffic *t = &w->traffic;
	int ret = evfd_register(&t->ring, a->fd, rng_one_in(&t->rng, 2));

	return ret == -EBUSY ? 0 : traffic_fault(t, "second registration", ret);
}

static int registration(struct walker *w, struct evfd_account *a)
{
	struct traffic *t = &w->traffic;
	unsigned int i, n = rng_below(&t->rng, BATCHES + 1);
	unsigned int start = tail(w), registered, posted, ended;
	bool async = rng_one_in(&t->rng, 4), quiet = rng_one_in(&t->rng, 12);
	bool listening = !async && !quiet;
	int ret;

	t->trace[0] = '\0';
	traffic_note(t, t->solo ? "solo " : "");
	traffic_note(t, async ? "async" : quiet ? "disabled" : "plain");
	t->queued = 2 * traffic_inflight(t);
	ret = evfd_register(&t->ring, a->fd, async);
	if (ret)
		return traffic_fault(t, "registration", ret);
	registered = tail(w);
	/* What was posted or queued before owes no signal. */
	traffic_reap(t, 0);
	if (quiet)
		io_uring_cq_eventfd_toggle(&t->ring, false);
	for (i = 0; i < n; i++) {
		if (batch(w, a, listening))
			return -1;
	}
	if (rng_one_in(&t->rng, 16) && refused_again(w, a))
		return -1;
	if (quiet)
		io_uring_cq_eventfd_toggle(&t->ring, true);
	posted = tail(w);
	if (a != w->account && rng_one_in(&t->rng, 200))
		return exit_ring(w, a);
	ret = io_uring_unregister_eventfd(&t->ring);
	if (ret)
		return traffic_fault(t, "unregistering", ret);
	ended = tail(w);
	a->got += evfd_take(a->fd);

	w->signals += a->got;
	a->most = ended - start;
	a->most_late = 0;
	if (defers(w)) {
		a->most += t->queued;
		a->most_late = 1;
	}
	/* A context that posted earlier may signal now, for what it posted then. */
	a->most += t->foreign;
	a->most_late += t->foreign;
	/* With others about, one of them may have had to signal, and came too late. */
	a->least = listening && t->solo && posted != registered;
	return 0;
}

static int draw_sums(struct walker *w)
{
	struct traffic *t = &w->traffic;
	enum evfd_verdict v;
	unsigned int i;

	if (traffic_drain(t))
		return -1;
	evfd_settle();
	for (i = 0; i < w->used; i++) {
		struct evfd_account *a = &w->account[i];
		eventfd_t before = a->got;

		v = evfd_account_close(a);
		if (v != EVFD_BALANCED) {
			snprintf(t->trace, sizeof(t->trace),
				 "%u of %u, %s: %llu then %llu, least %lu, most %lu, late %lu",
				 i, w->used, t->solo ? "solo" : "mixed",
				 (unsigned long long)before,
				 (unsigned long long)evfd_take(a->fd), a->least, a->most,
				 a->most_late);
			return traffic_fault(t, evfd_verdict_name(v), 0);
		}
	}
	w->used = 0;
	t->foreign = 0;
	t->solo = !(w->flags & IORING_SETUP_SQPOLL) && rng_one_in(&t->rng, 2);
	return 0;
}

void walker_init(struct walker *w)
{
	unsigned int i;

	w->traffic.own[0] = evfd_new();
	w->traffic.own[1] = evfd_new();
	for (i = 0; i < WALKER_ACCOUNTS; i++)
		w->account[i].fd = evfd_new();
}

void walker_close(struct walker *w)
{
	unsigned int i;

	close(w->traffic.own[0]);
	close(w->traffic.own[1]);
	for (i = 0; i < WALKER_ACCOUNTS; i++)
		close(w->account[i].fd);
}

void *walk(void *arg)
{
	struct walker *w = arg;
	struct traffic *t = &w->traffic;

	if (traffic_new_ring(t, w->flags))
		return NULL;
	t->solo = false;
	while (w->done < w->rounds) {
		if (w->used == WALKER_ACCOUNTS && draw_sums(w))
			break;
		if (registration(w, &w->account[w->used++]))
			break;
		__atomic_store_n(&w->done, w->done + 1, __ATOMIC_RELEASE);
	}
	if (!t->fault)
		draw_sums(w);
	io_uring_queue_exit(&t->ring);
	return NULL;
}
