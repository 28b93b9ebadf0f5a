// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz_act.h"

#define SQ_THREAD_IDLE	1	/* ms */

static struct ring *actor_ring(struct actor *a, unsigned int number)
{
	struct ring *r = &a->ring[number];

	if (a->mapped & 1U << number)
		return r;
	if (ring_map(r, FD_RING + number, &a->shared->ring[number].p))
		return NULL;
	a->mapped |= 1U << number;
	return r;
}

/* The numbers stay what they are wherever the descriptor goes. */
static int place_fd(int fd, int number)
{
	if (fd < 0)
		return -errno;
	if (dup2(fd, number) < 0)
		return -errno;
	close(fd);
	return 0;
}

static int new_ring(struct actor *a, const struct fuzz_op *op)
{
	static const unsigned int flags[RING_KINDS] = {
		[RING_ATTACHED] = IORING_SETUP_ATTACH_WQ,
		[RING_COOP] = IORING_SETUP_COOP_TASKRUN,
		[RING_SINGLE_ISSUER] = IORING_SETUP_SINGLE_ISSUER,
		[RING_DEFER_TASKRUN] = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		[RING_SQPOLL] = IORING_SETUP_SQPOLL,
		[RING_SQPOLL_ATTACHED] = IORING_SETUP_SQPOLL | IORING_SETUP_ATTACH_WQ,
	};
	struct io_uring_params p = {
		.flags = flags[op->arg % RING_KINDS] | IORING_SETUP_SQE128 | IORING_SETUP_CQE32,
		.sq_thread_idle = SQ_THREAD_IDLE,
	};
	int ret;

	if (p.flags & IORING_SETUP_ATTACH_WQ)
		p.wq_fd = FD_RING + op->other;
	ret = place_fd(syscall(SYS_io_uring_setup, PROBES_MAX, &p), FD_RING + op->ring);
	a->shared->ring[op->ring].p = p;
	return ret;
}

static int take_ring(struct actor *a, const struct fuzz_order *order)
{
	int fd = FD_RING + order->op.ring, pidfd, ret;

	pidfd = syscall(SYS_pidfd_open, order->other_pid, 0);
	if (pidfd < 0)
		return -errno;
	ret = place_fd(syscall(SYS_pidfd_getfd, pidfd, fd, 0), fd);
	close(pidfd);
	return ret;
}

static int close_ring(struct actor *a, unsigned int number)
{
	struct ring *r = &a->ring[number];

	if (!(a->mapped & 1U << number))
		return result(close(FD_RING + number));
	a->mapped &= ~(1U << number);
	ring_exit(r);
	return 0;
}

/* What was asked and is not answered as it must: the first of them. */
static void judge(struct fuzz_report *report, const struct fuzz_order *order, const int *res,
		  unsigned int n)
{
	unsigned int i;

	report->commands += n;
	for (i = 0; i < n; i++) {
		if (res[i] == order->want[i & 1])
			continue;
		report->at = i;
		report->got = res[i];
		return;
	}
}

static int probe_batch(struct actor *a, struct ring *r, const struct fuzz_order *order,
		       struct fuzz_report *report)
{
	static const unsigned int flags[MODES] = {
		[MODE_ASYNC] = IOSQE_ASYNC,
		/* Refused or not, the next one follows. */
		[MODE_CHAIN] = IOSQE_IO_HARDLINK,
		[MODE_DRAIN] = IOSQE_IO_DRAIN,
	};
	unsigned int i, n = probe_count(order->op.arg);
	int ret, res[PROBES_MAX];
	struct io_uring_sqe *sqe;

	for (i = 0; i < n; i++) {
		sqe = ring_sqe(r);
		prep_probe(sqe, &a->dev);
		sqe->personality = order->personality[i & 1];
		sqe->flags = flags[probe_mode(order->op.arg)];
		if (i == n - 1)
			sqe->flags &= ~IOSQE_IO_HARDLINK;
	}
	ret = ring_run(r, res);
	if (!ret)
		judge(report, order, res, n);
	return ret;
}

static int probe(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	pthread_mutex_t *lock = &a->shared->ring[order->op.ring].lock;
	struct ring *r = actor_ring(a, order->op.ring);
	int ret = r ? 0 : -EBADF;
	unsigned int i;

	for (i = 0; i < probe_batches(order->op.arg) && !ret && !report->got; i++) {
		pthread_mutex_lock(lock);
		ret = probe_batch(a, r, order, report);
		pthread_mutex_unlock(lock);
	}
	return ret;
}

/* The command is linked behind a poll request, and issued when that completes. */
static int defer(struct actor *a, const struct fuzz_order *order)
{
	pthread_mutex_t *lock = &a->shared->ring[order->op.ring].lock;
	int ret, event = FD_EVENT + a->number;
	struct io_uring_sqe *sqe;
	struct ring *r;

	ret = place_fd(eventfd(0, 0), event);
	r = actor_ring(a, order->op.ring);
	if (ret || !r)
		return ret ?: -EBADF;
	pthread_mutex_lock(lock);
	sqe = ring_sqe(r);
	sqe->opcode = IORING_OP_POLL_ADD;
	sqe->fd = event;
	sqe->poll32_events = POLLIN;
	sqe->flags = IOSQE_IO_LINK;
	sqe = ring_sqe(r);
	prep_probe(sqe, &a->dev);
	sqe->personality = order->personality[0];
	if (probe_mode(order->op.arg) == MODE_ASYNC)
		sqe->flags = IOSQE_ASYNC;
	ret = ring_submit(r);
	pthread_mutex_unlock(lock);
	return ret;
}

static int trigger(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	pthread_mutex_t *lock = &a->shared->ring[order->op.ring].lock;
	struct ring *r = actor_ring(a, order->op.ring);
	int ret, res[2];

	if (!r)
		return -EBADF;
	pthread_mutex_lock(lock);
	ret = eventfd_write(FD_EVENT + a->number, 1) ? -errno : ring_reap(r, 2, res);
	pthread_mutex_unlock(lock);
	if (!ret)
		judge(report, order, &res[1], 1);
	return ret;
}

int fuzz_act_ring(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	const struct fuzz_op *op = &order->op;
	int fd = FD_RING + op->ring;

	switch (op->type) {
	case OP_PROBE:
		return probe(a, order, report);
	case OP_DEFER:
		return defer(a, order);
	case OP_TRIGGER:
		return trigger(a, order, report);
	case OP_RING_NEW:
		return new_ring(a, op);
	case OP_RING_TAKE:
		return take_ring(a, order);
	case OP_RING_CLOSE:
		return close_ring(a, op->ring);
	case OP_PERSONALITY:
		return result(syscall(SYS_io_uring_register, fd, IORING_REGISTER_PERSONALITY,
				      NULL, 0));
	case OP_PERSONALITY_END:
		return result(syscall(SYS_io_uring_register, fd, IORING_UNREGISTER_PERSONALITY,
				      NULL, order->personality[0]));
	default:
		return -EINVAL;
	}
}
