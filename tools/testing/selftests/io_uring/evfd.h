/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings, eventfds and the waiting for RCU that the eventfd registration tests share.
 *
 * Nothing here is timed: a step that waits gives up after EVFD_GIVE_UP, which is
 * far more than any kernel needs.
 */
#ifndef EVFD_H
#define EVFD_H

#include <liburing.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>

#define EVFD_GIVE_UP	10000	/* ms */

/* Seconds for one test: a debug kernel under emulation takes its time. */
#define EVFD_TIMEOUT	300

/*
 * How often a loop turns: $RINGCAP_ROUNDS or the default, which several tests share;
 * less often on a kernel whose rings go quiet for each registration.
 */
unsigned int evfd_rounds(unsigned int dflt, unsigned int tests);

/* A ring with setup flags: 0, -EINVAL where the kernel has no such flags, or -errno. */
int evfd_ring(struct io_uring *ring, unsigned int flags);
/* Lets the kernel do what it deferred, then takes all CQEs: how many there were. */
int evfd_reap(struct io_uring *ring);
/* The same until there were @n or more, or -ETIME after giving up. */
int evfd_reap_n(struct io_uring *ring, unsigned int n);

/* An SQE, if need be after submitting. */
struct io_uring_sqe *evfd_sqe(struct io_uring *ring);
/* Each submits at once: 0 or -errno. */
int evfd_nops(struct io_uring *ring, unsigned int n, unsigned int sqe_flags);
int evfd_poll(struct io_uring *ring, int fd, bool multishot);
int evfd_poll_cancel(struct io_uring *ring);

/* IORING_REGISTER_EVENTFD, or IORING_REGISTER_EVENTFD_ASYNC. */
int evfd_register(struct io_uring *ring, int fd, bool async);

/*
 * Registers while a request is pending: 0 or -errno. Where that waits for the request,
 * SIGALRM ends the test, which would never get any further.
 */
int evfd_register_with_a_poll(void);

int evfd_new(void);
/* Adds one to the count, from inside of an eventfd wakeup for whoever polls it. */
int evfd_add(int fd);
/* The count, which is 0 afterwards. */
eventfd_t evfd_take(int fd);
/* The same when what is still on its way through RCU has arrived. */
eventfd_t evfd_take_late(int fd);
/* The same once there is one; 0 after giving up. */
eventfd_t evfd_wait(int fd);
/* The same once there were @n, and with any that come after them. */
eventfd_t evfd_wait_all(int fd, eventfd_t n);

/* A thread that adds to and takes from some eventfds all the time: for rings that poll them. */
#define EVFD_POKED	2

struct evfd_poker {
	pthread_t thread;
	int stop;
	int fd[EVFD_POKED];
};

int evfd_poker_start(struct evfd_poker *p);
/* It writes no more, but what it writes to stays open. */
void evfd_poker_halt(struct evfd_poker *p);
void evfd_poker_stop(struct evfd_poker *p);

/*
 * Waits for a grace period, and for the callbacks that were queued before: surely so
 * where root may ask for it (newer kernels), else most likely.
 */
void evfd_settle(void);

/* The kernel's number for an eventfd: the lowest that no eventfd has. */
int evfd_id(int fd);
/* The number that an eventfd would get after a few more. */
int evfd_next_id(void);
/*
 * Waits until it is @id or lower again: the eventfds made since have been freed.
 * Other programs that make eventfds meanwhile look like a leak.
 */
bool evfd_freed(int id);

/* A line of /proc/meminfo, in KiB. */
long evfd_meminfo(const char *name);

#endif
