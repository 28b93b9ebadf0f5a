/* SPDX-License-Identifier: GPL-2.0 */
/* Requests drawn at random on a ring: what was sent, and what of it has not come back yet. */
#ifndef EVFD_TRAFFIC_H
#define EVFD_TRAFFIC_H

#include "evfd.h"
#include "rng.h"

/* The requests: user_data of their CQEs. */
enum traffic_kind {
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

struct traffic {
	struct rng rng;
	struct io_uring ring;
	int own[2];
	const int *poked;	/* EVFD_POKED of them */
	int peer;
	unsigned int inflight[NR_KINDS];
	unsigned int armed;	/* MULTISHOT: 1 */

	bool solo;		/* nobody but this thread posts and signals */
	unsigned int foreign;	/* requests that others may complete */
	unsigned long queued;	/* work that signals when it is queued */

	unsigned long batches, cqes;
	char trace[160];	/* what the present round did */
	const char *fault;
	int err;
};

void traffic_note(struct traffic *t, const char *what);
/* The first one counts. Returns -1. */
int traffic_fault(struct traffic *t, const char *what, int err);

/* All that was sent before belongs to another ring. */
int traffic_new_ring(struct traffic *t, unsigned int flags);

/* Sends some requests, and lets polls among them complete: 0 or -1. */
int traffic_send(struct traffic *t);
/* Runs what the kernel deferred to the thread, and takes the CQEs: how many. */
unsigned int traffic_reap(struct traffic *t, unsigned int wait_for);
/* Requests in flight, and those of them that end without being cancelled. */
unsigned int traffic_inflight(const struct traffic *t);
unsigned int traffic_will_complete(const struct traffic *t);
/* Reaps until none of those is left. */
void traffic_wait(struct traffic *t);
/* Leaves nothing in flight: 0 or -1. */
int traffic_drain(struct traffic *t);

#endif
