// SPDX-License-Identifier: GPL-2.0
/*
 * One thread registers an eventfd while others use the ring.
 *
 * This test will check that neither a thread that waits for a completion, nor signals,
 * nor a thread that exits and leaves its requests behind, keeps the registration from
 * succeeding at once, and that the others do not notice it.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"

#define CYCLES	50
#define ALARM	3	/* s: calls that were never to wait have been waiting */

FIXTURE(threads) {
	struct io_uring ring;
	int pipe[2];
	int fd;
};

/* Ends what waits, without SA_RESTART. */
static void interrupt(int sig)
{
}

FIXTURE_SETUP(threads)
{
	const struct sigaction act = { .sa_handler = interrupt };

	ASSERT_EQ(0, evfd_ring(&self->ring, 0));
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pipe(self->pipe));
	ASSERT_EQ(0, sigaction(SIGALRM, &act, NULL));
	ASSERT_EQ(0, sigaction(SIGUSR1, &act, NULL));
	alarm(ALARM);
}

FIXTURE_TEARDOWN(threads)
{
	alarm(0);
	io_uring_queue_exit(&self->ring);
	close(self->pipe[0]);
	close(self->pipe[1]);
	close(self->fd);
}

static int cycle(struct io_uring *ring, int fd)
{
	int ret = io_uring_register_eventfd(ring, fd);

	return ret ?: io_uring_unregister_eventfd(ring);
}

/* Other threads leave SIGALRM to the one that registers. */
static int start(pthread_t *thread, void *(*func)(void *arg), void *arg)
{
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	ret = pthread_create(thread, NULL, func, arg);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return ret;
}

static int submit_read(struct io_uring *ring, int pipe)
{
	static char byte;

	io_uring_prep_read(io_uring_get_sqe(ring), pipe, &byte, 1, -1);
	return io_uring_submit(ring);
}

static void poll_and_read(int pipe)
{
	struct pollfd pfd = { .fd = pipe, .events = POLLIN };
	char byte;

	if (poll(&pfd, 1, 0) == 1 && read(pipe, &byte, 1) != 1)
		perror("read");
}

struct waiter {
	pthread_t thread;
	struct io_uring *ring;
	int pipe;
	int started;
	int ret;
};

static void *wait_for_read(void *arg)
{
	struct waiter *w = arg;

	w->ret = submit_read(w->ring, w->pipe);
	__atomic_store_n(&w->started, 1, __ATOMIC_RELEASE);
	if (w->ret == 1)
		w->ret = io_uring_enter(w->ring->ring_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL);
	return NULL;
}

TEST_F(threads, another_waits)
{
	struct waiter w = { .ring = &self->ring, .pipe = self->pipe[0] };
	int i, ret = 0;

	ASSERT_EQ(0, start(&w.thread, wait_for_read, &w));
	while (!__atomic_load_n(&w.started, __ATOMIC_ACQUIRE))
		usleep(100);
	for (i = 0; i < CYCLES && !ret; i++)
		ret = cycle(&self->ring, self->fd);
	EXPECT_EQ(0, ret);
	ASSERT_EQ(1, write(self->pipe[1], "x", 1));
	pthread_join(w.thread, NULL);
	EXPECT_EQ(0, w.ret);
	EXPECT_EQ(1, io_uring_cq_ready(&self->ring));
}

struct signaller {
	pthread_t thread;
	pthread_t target;
	int stop;
};

static void *keep_signalling(void *arg)
{
	struct signaller *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		pthread_kill(s->target, SIGUSR1);
		usleep(50);
	}
	return NULL;
}

TEST_F(threads, another_sends_signals)
{
	struct signaller s = { .target = pthread_self() };
	int i, ret = 0;

	ASSERT_EQ(1, submit_read(&self->ring, self->pipe[0]));
	ASSERT_EQ(0, start(&s.thread, keep_signalling, &s));
	for (i = 0; i < 100 * CYCLES && !ret; i++)
		ret = cycle(&self->ring, self->fd);
	__atomic_store_n(&s.stop, 1, __ATOMIC_RELAXED);
	pthread_join(s.thread, NULL);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, evfd_reap(&self->ring));
}

/* Leaves a read, a poll and a timeout behind, and one that completes in io-wq. */
static void *submit_and_exit(void *arg)
{
	static struct __kernel_timespec hour = { .tv_sec = 3600 };
	struct waiter *w = arg;

	submit_read(w->ring, w->pipe);
	io_uring_prep_timeout(io_uring_get_sqe(w->ring), &hour, 0, 0);
	io_uring_submit(w->ring);
	evfd_poll(w->ring, w->pipe, false);
	w->ret = evfd_nops(w->ring, 1, IOSQE_ASYNC);
	return NULL;
}

/* The kernel completes in a work queue what the thread cannot complete any more. */
TEST_F(threads, another_exits)
{
	struct waiter w = { .ring = &self->ring, .pipe = self->pipe[0] };
	int i, j, ret = 0;

	for (i = 0; i < 5 && !ret; i++) {
		ASSERT_EQ(0, start(&w.thread, submit_and_exit, &w));
		for (j = 0; j < CYCLES && !ret; j++)
			ret = cycle(&self->ring, self->fd);
		pthread_join(w.thread, NULL);
		EXPECT_EQ(0, w.ret);
		EXPECT_EQ(1, evfd_reap_n(&self->ring, 1));
		ret = ret ?: io_uring_register_eventfd(&self->ring, self->fd);
		ASSERT_EQ(0, ret);
		/* The request in io-wq may have found one of the cycles. */
		evfd_take(self->fd);
		ASSERT_EQ(1, write(self->pipe[1], "x", 1));
		EXPECT_LE(1, evfd_wait(self->fd));
		EXPECT_EQ(2, evfd_reap_n(&self->ring, 2));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		evfd_take(self->fd);
		/* Nobody may have been left to read it. */
		poll_and_read(self->pipe[0]);
	}
}

TEST_HARNESS_MAIN
