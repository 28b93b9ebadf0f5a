// SPDX-License-Identifier: GPL-2.0
/* Rings, eventfds and the waiting for RCU that the eventfd registration tests share. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "evfd.h"

#define SQ_ENTRIES	128

/* So many grace periods that free nothing: nothing more will be freed. */
#define IDLE		25

/* Eventfds that are made to learn the next number: a leak may leave lower ones free. */
#define AHEAD		16

#define POLL_TAG	0x706f6c6c

#define SLOW_ROUNDS	100

/* Whether a ring waits for RCU before it registers: the fastest of some tells. */
static bool registration_waits(void)
{
	struct timespec start, end;
	long us, best = 1000000;
	struct io_uring ring;
	int i, fd = evfd_new();

	if (evfd_ring(&ring, 0))
		return false;
	for (i = 0; i < 3; i++) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		io_uring_register_eventfd(&ring, fd);
		io_uring_unregister_eventfd(&ring);
		clock_gettime(CLOCK_MONOTONIC, &end);
		us = (end.tv_sec - start.tv_sec) * 1000000 +
		     (end.tv_nsec - start.tv_nsec) / 1000;
		best = us < best ? us : best;
	}
	io_uring_queue_exit(&ring);
	close(fd);
	return best > 4000;
}

unsigned int evfd_rounds(unsigned int dflt, unsigned int tests)
{
	const char *env = getenv("RINGCAP_ROUNDS");
	unsigned int n = env ? strtoul(env, NULL, 10) : 0;

	n = n ?: dflt;
	/* Not for hours where each round takes some thousand times as long. */
	if (n > SLOW_ROUNDS && registration_waits())
		n = SLOW_ROUNDS;
	return n / tests ?: 1;
}

int evfd_ring(struct io_uring *ring, unsigned int flags)
{
	struct io_uring_params p = { .flags = flags };

	if (flags & IORING_SETUP_DEFER_TASKRUN)
		p.flags |= IORING_SETUP_SINGLE_ISSUER;
	return io_uring_queue_init_params(SQ_ENTRIES, ring, &p);
}

int evfd_reap(struct io_uring *ring)
{
	unsigned int n;

	io_uring_enter(ring->ring_fd, 0, 0, IORING_ENTER_GETEVENTS, NULL);
	n = io_uring_cq_ready(ring);
	io_uring_cq_advance(ring, n);
	return n;
}

int evfd_reap_n(struct io_uring *ring, unsigned int n)
{
	unsigned int seen = evfd_reap(ring);
	time_t end = time(NULL) + EVFD_GIVE_UP / 1000;

	while (seen < n && time(NULL) <= end) {
		usleep(100);
		seen += evfd_reap(ring);
	}
	return seen < n ? -ETIME : (int)seen;
}

struct io_uring_sqe *evfd_sqe(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	/* Full: only the thread of an SQPOLL ring lets entries lie. */
	while (!sqe) {
		io_uring_submit(ring);
		sqe = io_uring_get_sqe(ring);
	}
	return sqe;
}

static int submit(struct io_uring *ring)
{
	int ret = io_uring_submit(ring);

	return ret < 0 ? ret : 0;
}

int evfd_nops(struct io_uring *ring, unsigned int n, unsigned int sqe_flags)
{
	while (n--) {
		struct io_uring_sqe *sqe = evfd_sqe(ring);

		io_uring_prep_nop(sqe);
		sqe->flags = sqe_flags;
	}
	return submit(ring);
}

int evfd_poll(struct io_uring *ring, int fd, bool multishot)
{
	struct io_uring_sqe *sqe = evfd_sqe(ring);

	if (multishot)
		io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->user_data = POLL_TAG;
	return submit(ring);
}

int evfd_poll_cancel(struct io_uring *ring)
{
	io_uring_prep_poll_remove(evfd_sqe(ring), POLL_TAG);
	return submit(ring);
}

int evfd_register(struct io_uring *ring, int fd, bool async)
{
	return async ? io_uring_register_eventfd_async(ring, fd) :
		       io_uring_register_eventfd(ring, fd);
}

int evfd_register_with_a_poll(void)
{
	int fd = evfd_new(), ret = -EBADF;
	struct io_uring ring;

	if (fd < 0 || evfd_ring(&ring, 0))
		goto out;
	ret = evfd_poll(&ring, fd, false);
	/* s; the default action ends the test */
	alarm(3);
	if (!ret)
		ret = io_uring_register_eventfd(&ring, fd);
	if (!ret)
		ret = io_uring_unregister_eventfd(&ring);
	alarm(0);
	io_uring_queue_exit(&ring);
out:
	close(fd);
	return ret;
}

int evfd_new(void)
{
	return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

int evfd_add(int fd)
{
	return eventfd_write(fd, 1) ? -errno : 0;
}

eventfd_t evfd_take(int fd)
{
	eventfd_t count;

	return eventfd_read(fd, &count) ? 0 : count;
}

eventfd_t evfd_take_late(int fd)
{
	evfd_settle();
	return evfd_take(fd);
}

eventfd_t evfd_wait(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	eventfd_t count = evfd_take(fd);
	int ret;

	if (count)
		return count;
	do {
		ret = poll(&pfd, 1, EVFD_GIVE_UP);
	} while (ret < 0 && errno == EINTR);
	return evfd_take(fd);
}

eventfd_t evfd_wait_all(int fd, eventfd_t n)
{
	eventfd_t more, count = 0;

	do {
		more = evfd_wait(fd);
		count += more;
	} while (more && count < n);
	return count + evfd_take_late(fd);
}

void evfd_settle(void)
{
	int fd = open("/sys/module/rcutree/parameters/do_rcu_barrier", O_WRONLY | O_CLOEXEC);

	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	if (fd < 0 || write(fd, "1", 1) != 1)
		usleep(20000);
	if (fd >= 0)
		close(fd);
}

/* The number behind "name:" in one of proc's files, or -ENOENT. */
static long proc_value(const char *path, const char *name)
{
	FILE *f = fopen(path, "re");
	size_t len = strlen(name);
	long value = -ENOENT;
	char line[256];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, len) && line[len] == ':')
			value = strtol(line + len + 1, NULL, 10);
	}
	fclose(f);
	return value;
}

int evfd_id(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return proc_value(path, "eventfd-id");
}

int evfd_next_id(void)
{
	int fd[AHEAD], id, i;

	for (i = 0; i < AHEAD; i++)
		fd[i] = evfd_new();
	id = evfd_id(fd[AHEAD - 1]);
	for (i = 0; i < AHEAD; i++)
		close(fd[i]);
	return id;
}

bool evfd_freed(int id)
{
	int idle = 0, before, now = evfd_next_id();

	while (now > id && idle < IDLE) {
		before = now;
		evfd_settle();
		usleep(10000);
		now = evfd_next_id();
		idle = now < before ? 0 : idle + 1;
	}
	return now >= 0 && now <= id;
}

static void *poke(void *arg)
{
	struct evfd_poker *p = arg;
	int i;

	while (!__atomic_load_n(&p->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < EVFD_POKED; i++) {
			evfd_add(p->fd[i]);
			evfd_take(p->fd[i]);
		}
		sched_yield();
	}
	return NULL;
}

int evfd_poker_start(struct evfd_poker *p)
{
	int i;

	p->stop = 0;
	for (i = 0; i < EVFD_POKED; i++)
		p->fd[i] = evfd_new();
	return -pthread_create(&p->thread, NULL, poke, p);
}

void evfd_poker_halt(struct evfd_poker *p)
{
	if (p->stop)
		return;
	__atomic_store_n(&p->stop, 1, __ATOMIC_RELAXED);
	pthread_join(p->thread, NULL);
}

void evfd_poker_stop(struct evfd_poker *p)
{
	int i;

	evfd_poker_halt(p);
	for (i = 0; i < EVFD_POKED; i++)
		close(p->fd[i]);
}

long evfd_meminfo(const char *name)
{
	return proc_value("/proc/meminfo", name);
}
