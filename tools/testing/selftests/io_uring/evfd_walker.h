/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that walks at random: it registers an eventfd, sends requests, waits for them
 * or does not, unregisters or closes the ring, and keeps a ledger of each registration.
 */
#ifndef EVFD_WALKER_H
#define EVFD_WALKER_H

#include "evfd_ledger.h"
#include "evfd_traffic.h"

#define WALKER_ACCOUNTS	48	/* registrations of a thread until the sums are drawn */

struct walker {
	pthread_t thread;
	unsigned int flags;	/* of its rings */
	unsigned int rounds;
	unsigned int done;	/* rounds, read by the main thread */
	struct traffic traffic;
	struct evfd_account account[WALKER_ACCOUNTS];
	unsigned int used;
	unsigned long signals;
};

/* Opens and closes its eventfds. */
void walker_init(struct walker *w);
void walker_close(struct walker *w);
/* The thread: goes on for .rounds, or until .traffic.fault. */
void *walk(void *arg);

#endif
