// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <poll.h>

#include "evfd_traffic.h"

#define BATCH	5	/* requests at most in one of them */
#define DELAYS	3	/* of timeouts */

static const char kind_letter[NR_KINDS + 1] = "npmawtPRc";

void traffic_note(struct traffic *t, const char *what)
{
	size_t len = strlen(t->trace);

	snprintf(t->trace + len, sizeof(t->trace) - len, "%s", what);
}

int traffic_fault(struct traffic *t, const char *what, int err)
{
	if (!t->fault) {
		t->fault = what;
		t->err = err;
	}
	return -1;
}

unsigned int traffic_inflight(const struct traffic *t)
{
	unsigned int kind, sum = 0;

	for (kind = NOP; kind < NR_KINDS; kind++)
		sum += t->inflight[kind];
	return sum;
}

unsigned int traffic_will_complete(const struct traffic *t)
{
	return traffic_inflight(t) - t->armed - t->inflight[POLL_POKED] -
	       t->inflight[POLL_PEER];
}

int traffic_new_ring(struct traffic *t, unsigned int flags)
{
	int ret = evfd_ring(&t->ring, flags);

	memset(t->inflight, 0, sizeof(t->inflight));
	t->armed = 0;
	return ret ? traffic_fault(t, "io_uring_setup", ret) : 0;
}

unsigned int traffic_reap(struct traffic *t, unsigned int wait_for)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;

	io_uring_enter(t->ring.ring_fd, 0, wait_for, IORING_ENTER_GETEVENTS, NULL);
	io_uring_for_each_cqe(&t->ring, head, cqe) {
		n++;
		if (cqe->flags & IORING_CQE_F_MORE)
			continue;
		t->inflight[cqe->user_data]--;
		if (cqe->user_data == MULTISHOT)
			t->armed = 0;
	}
	io_uring_cq_advance(&t->ring, n);
	t->cqes += n;
	return n;
}

static void prep(struct traffic *t, struct io_uring_sqe *sqe, enum traffic_kind kind)
{
	static const struct __kernel_timespec soon[DELAYS] = {
		{ .tv_nsec = 1 }, { .tv_nsec = 20000 }, { .tv_nsec = 300000 },
	};
	static const eventfd_t one = 1;

	switch (kind) {
	case NOP:
	case IO_WQ:
		io_uring_prep_nop(sqe);
		break;
	case POLL_OWN:
		io_uring_prep_poll_add(sqe, t->own[0], POLLIN);
		break;
	case MULTISHOT:
		io_uring_prep_poll_multishot(sqe, t->own[1], POLLIN);
		break;
	case IO_WQ_WRITE:
		io_uring_prep_write(sqe, t->own[rng_below(&t->rng, 2)], &one, sizeof(one), 0);
		break;
	case TIMEOUT:
		io_uring_prep_timeout(sqe, (struct __kernel_timespec *)
				      &soon[rng_below(&t->rng, DELAYS)],
				      rng_below(&t->rng, 3), 0);
		break;
	case POLL_POKED:
		io_uring_prep_poll_add(sqe, t->poked[rng_below(&t->rng, EVFD_POKED)], POLLIN);
		break;
	case POLL_PEER:
		io_uring_prep_poll_add(sqe, t->peer, POLLIN);
		break;
	default:
		break;
	}
	if (kind == IO_WQ || kind == IO_WQ_WRITE)
		sqe->flags |= IOSQE_ASYNC;
	sqe->user_data = kind;
}

static void add(struct traffic *t, enum traffic_kind which, bool chained)
{
	struct io_uring_sqe *sqe = evfd_sqe(&t->ring);
	char letter[2] = { kind_letter[which] };

	prep(t, sqe, which);
	if (chained)
		sqe->flags |= IOSQE_IO_LINK;
	t->inflight[which]++;
	t->queued += 2;
	if (which == MULTISHOT)
		t->armed = 1;
	t->foreign += !t->solo;
	traffic_note(t, letter);
	if (chained)
		traffic_note(t, "-");
}

static void cancel(struct traffic *t, enum traffic_kind which)
{
	struct io_uring_sqe *sqe = evfd_sqe(&t->ring);

	io_uring_prep_poll_remove(sqe, which);
	sqe->user_data = CANCEL;
	t->inflight[CANCEL]++;
	t->queued += 2;
	t->foreign += !t->solo;
}

static int submit(struct traffic *t)
{
	int ret = io_uring_submit(&t->ring);

	return ret < 0 ? traffic_fault(t, "io_uring_enter", ret) : 0;
}

static enum traffic_kind choose(struct traffic *t)
{
	enum traffic_kind kind = rng_below(&t->rng, t->solo ? SOLO_KINDS : CANCEL);

	/* One at a time: others write to these eventfds as often as they like. */
	if (((kind == POLL_POKED || kind == POLL_PEER) && t->inflight[kind]) ||
	    (kind == MULTISHOT && t->armed))
		kind = NOP;
	return kind;
}

/* Writes to the eventfds that are polled, so that those polls complete. */
static void hit(struct traffic *t)
{
	unsigned int i, n = 1 + rng_below(&t->rng, 3);

	for (i = 0; i < n; i++) {
		if (t->inflight[POLL_OWN])
			evfd_add(t->own[0]);
		if (t->armed)
			evfd_add(t->own[1]);
		t->queued += 2;
	}
	traffic_note(t, "!");
}

int traffic_send(struct traffic *t)
{
	unsigned int i, n = 1 + rng_below(&t->rng, BATCH);

	if (!t->inflight[POLL_OWN])
		evfd_take(t->own[0]);
	evfd_take(t->own[1]);
	traffic_note(t, " ");
	for (i = 0; i < n; i++) {
		enum traffic_kind kind = choose(t);
		/* What may never complete would hold the others up. */
		bool link = kind != POLL_POKED && kind != POLL_PEER && kind != MULTISHOT &&
			    i + 1 < n && rng_one_in(&t->rng, 4);

		add(t, kind, link);
	}
	if (t->armed && rng_one_in(&t->rng, 3))
		cancel(t, MULTISHOT);
	t->batches++;
	if (submit(t))
		return -1;
	if (t->inflight[POLL_OWN] || t->armed)
		hit(t);
	return 0;
}

void traffic_wait(struct traffic *t)
{
	traffic_note(t, ".");
	while (traffic_will_complete(t))
		traffic_reap(t, 1);
}

int traffic_drain(struct traffic *t)
{
	while (traffic_inflight(t)) {
		if (t->inflight[POLL_OWN])
			hit(t);
		if (t->armed)
			cancel(t, MULTISHOT);
		if (t->inflight[POLL_POKED])
			cancel(t, POLL_POKED);
		if (t->inflight[POLL_PEER])
			cancel(t, POLL_PEER);
		if (submit(t))
			return -1;
		traffic_reap(t, 1);
	}
	return 0;
}
