// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, their eventfds, restrictions and personalities while the kernel runs out of
 * memory, or cannot copy from or to the user's, at one place after the other.
 *
 * This test will check that each failure has an error that says so, that it leaves
 * behind neither half a state nor any object, and that the next attempt works.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"
#include "fault.h"

#define ENTRIES		128
/* Personalities enough to fill the array's first node. */
#define MANY		63

static void __attribute__((constructor)) needs(void)
{
	const char *missing = fault_missing();

	if (missing)
		ksft_exit_skip("%s\n", missing);
}

/* The number that the next file gets. */
static int next_fd(void)
{
	int fd = evfd_new();

	close(fd);
	return fd;
}

/* Threads of this process, with those that the kernel has made for its rings, or -errno. */
static int threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) ? -errno : (int)st.st_nlink - 2;
}

/* Those that end do so behind our back. */
static bool threads_are_back(int before)
{
	int ms;

	for (ms = 0; ms < EVFD_GIVE_UP && threads() > before; ms++)
		usleep(1000);
	return threads() <= before;
}

static int register_op(struct io_uring *ring, unsigned int op, void *arg, unsigned int n)
{
	return io_uring_register(ring->ring_fd, op, arg, n);
}

/* One nop goes through the ring and nothing else comes back: 0 or -errno. */
static int nop_works(struct io_uring *ring)
{
	int ret = evfd_nops(ring, 1, 0) ?: evfd_reap_n(ring, 1);

	return ret < 0 ? ret : ret == 1 && !evfd_reap(ring) ? 0 : -EIO;
}

/* One nop gives one or more signals: 0 or -errno. */
static int nop_signals(struct io_uring *ring, int fd, bool async)
{
	int ret;

	evfd_take(fd);
	ret = evfd_nops(ring, 1, async ? IOSQE_ASYNC : 0);
	if (ret)
		return ret;
	ret = evfd_wait(fd) ? 0 : -ETIME;
	return evfd_reap_n(ring, 1) == 1 ? ret : -EIO;
}

FIXTURE(create) {
	struct fault fault;
	struct io_uring_params p;
};

FIXTURE_VARIANT(create) {
	unsigned int flags;
	bool thread;	/* each by a thread that has no ring yet */
};

FIXTURE_VARIANT_ADD(create, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(create, first_of_a_thread) {
	.flags = 0, .thread = true,
};

FIXTURE_VARIANT_ADD(create, disabled) {
	.flags = IORING_SETUP_R_DISABLED,
};

FIXTURE_VARIANT_ADD(create, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(create, sqpoll_first_of_a_thread) {
	.flags = IORING_SETUP_SQPOLL, .thread = true,
};

FIXTURE_VARIANT_ADD(create, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(create, defer_taskrun) {
	.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(create, big_entries) {
	.flags = IORING_SETUP_SQE128 | IORING_SETUP_CQE32,
};

FIXTURE_SETUP(create)
{
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(create)
{
	EXPECT_EQ(0, fault_close(&self->fault));
}

static int create(void *arg)
{
	return io_uring_setup(ENTRIES, arg);
}

/* Maps the ring and uses it once. Closes it in any case: 0 or -errno. */
static int ring_works(int fd, struct io_uring_params *p)
{
	struct io_uring ring;
	int ret;

	ret = io_uring_queue_mmap(fd, p, &ring);
	if (ret) {
		close(fd);
		return ret;
	}
	if (p->flags & IORING_SETUP_R_DISABLED)
		ret = register_op(&ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
	if (!ret)
		ret = nop_works(&ring);
	io_uring_queue_exit(&ring);
	return ret;
}

TEST_F_TIMEOUT(create, each_place, EVFD_TIMEOUT)
{
	const struct io_uring_params p = { .flags = variant->flags };
	unsigned int nth, failed = 0;
	int ret, fd, before = threads();

	fd = next_fd();
	ASSERT_LE(1, before);
	self->p = p;
	ret = create(&self->p);
	if (ret == -EINVAL)
		SKIP(return, "this kernel has no rings with flags %#x", variant->flags);
	ASSERT_LE(0, ret);
	ASSERT_EQ(0, ring_works(ret, &self->p));

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->p = p;
		if (variant->thread)
			ret = fault_run_thread(&self->fault, nth, create, &self->p);
		else
			ret = fault_run(&self->fault, nth, create, &self->p);
		if (ret < 0) {
			ASSERT_TRUE(self->fault.hit && fault_ring_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			failed++;
			ASSERT_EQ(fd, next_fd());
			ASSERT_TRUE(threads_are_back(before));
			self->p = p;
			ret = create(&self->p);
		}
		ASSERT_LE(0, ret);
		ASSERT_EQ(0, ring_works(ret, &self->p)) {
			TH_LOG("place %u", nth);
		}
		ASSERT_EQ(fd, next_fd());
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_LT(0, failed);
	EXPECT_TRUE(threads_are_back(before));
	TH_LOG("%u places, %u of them fail", nth - 1, failed);
}

struct mapping {
	void *p;
	size_t size;
	off_t offset;
	int fd;
};

static int map(void *arg)
{
	struct mapping *m = arg;

	m->p = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, m->offset);
	return m->p == MAP_FAILED ? -errno : 0;
}

TEST_F_TIMEOUT(create, mapping, EVFD_TIMEOUT)
{
	static const off_t part[] = { IORING_OFF_SQ_RING, IORING_OFF_CQ_RING, IORING_OFF_SQES };
	const bool sqe128 = variant->flags & IORING_SETUP_SQE128;
	const bool cqe32 = variant->flags & IORING_SETUP_CQE32;
	struct io_uring_params p = { .flags = variant->flags };
	unsigned int nth, failed = 0, i;
	struct mapping m;
	int ret;

	if (variant->thread)
		SKIP(return, "mapping a ring is the same in every thread");
	m.fd = create(&p);
	if (m.fd == -EINVAL)
		SKIP(return, "this kernel has no rings with flags %#x", variant->flags);
	ASSERT_LE(0, m.fd);
	for (i = 0; i < 3; i++) {
		m.offset = part[i];
		/* All of it: 6.1 maps nothing less. */
		m.size = i == 2 ? p.sq_entries * sizeof(struct io_uring_sqe) << sqe128 :
			 p.cq_off.cqes + (p.cq_entries * sizeof(struct io_uring_cqe) << cqe32);
		ASSERT_EQ(0, map(&m)) {
			TH_LOG("part %u", i);
		}
		munmap(m.p, m.size);
		for (nth = 1; nth <= FAULT_MAX; nth++) {
			ret = fault_run(&self->fault, nth, map, &m);
			if (ret) {
				ASSERT_TRUE(self->fault.hit && ret == -ENOMEM) {
					TH_LOG("part %u, place %u: %d", i, nth, ret);
				}
				failed++;
				ASSERT_EQ(0, map(&m));
			}
			ASSERT_EQ(0, munmap(m.p, m.size));
			if (!self->fault.hit)
				break;
		}
		EXPECT_GE(FAULT_MAX, nth);
	}
	EXPECT_LT(0, failed);
	EXPECT_EQ(0, ring_works(m.fd, &p));
}

FIXTURE(eventfd) {
	struct fault fault;
	struct io_uring ring;
	bool async;
	int fd;		/* registered, then closed, in each attempt */
	int polled;
	int first;	/* number that an eventfd gets before the first attempt */
};

FIXTURE_VARIANT(eventfd) {
	unsigned int flags;
	bool async;	/* IORING_REGISTER_EVENTFD_ASYNC */
};

FIXTURE_VARIANT_ADD(eventfd, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(eventfd, plain_async) {
	.flags = 0, .async = true,
};

FIXTURE_VARIANT_ADD(eventfd, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(eventfd, coop_taskrun) {
	.flags = IORING_SETUP_COOP_TASKRUN,
};

FIXTURE_VARIANT_ADD(eventfd, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(eventfd, defer_taskrun_async) {
	.flags = IORING_SETUP_DEFER_TASKRUN, .async = true,
};

FIXTURE_SETUP(eventfd)
{
	ASSERT_EQ(0, fault_open(&self->fault));
	evfd_setup_ring(_metadata, &self->ring, variant->flags);
	self->async = variant->async;
	self->polled = evfd_new();
	ASSERT_LE(0, self->polled);
	/* Paths and the pages behind them that the first call of each would take. */
	self->fd = evfd_new();
	ASSERT_EQ(0, evfd_register(&self->ring, self->fd, self->async));
	ASSERT_EQ(0, nop_signals(&self->ring, self->fd, self->async));
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	close(self->fd);
	evfd_settle();
	self->first = evfd_next_id();
	ASSERT_LE(0, self->first);
}

FIXTURE_TEARDOWN(eventfd)
{
	EXPECT_EQ(0, fault_close(&self->fault));
	io_uring_queue_exit(&self->ring);
	close(self->polled);
}

static int register_eventfd(void *arg)
{
	FIXTURE_DATA(eventfd) * self = arg;

	return evfd_register(&self->ring, self->fd, self->async);
}

static int unregister_eventfd(void *arg)
{
	FIXTURE_DATA(eventfd) * self = arg;

	return io_uring_unregister_eventfd(&self->ring);
}

TEST_F_TIMEOUT(eventfd, register_each_place, EVFD_TIMEOUT)
{
	unsigned int nth, failed = 0;
	int ret;

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ret = fault_run(&self->fault, nth, register_eventfd, self);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			failed++;
			EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
			ASSERT_EQ(0, nop_works(&self->ring));
			EXPECT_EQ(0, evfd_take(self->fd));
			ASSERT_EQ(0, register_eventfd(self));
		}
		ASSERT_EQ(-EBUSY, register_eventfd(self));
		ASSERT_EQ(0, nop_signals(&self->ring, self->fd, self->async));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	/* At least the number of the file has to be copied. */
	EXPECT_LT(0, failed);
	EXPECT_TRUE(evfd_freed(self->first));
}

/* Takes nothing, and so must never fail. */
TEST_F_TIMEOUT(eventfd, unregister_each_place, EVFD_TIMEOUT)
{
	unsigned int nth;

	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ASSERT_EQ(0, register_eventfd(self));
		ASSERT_EQ(0, fault_run(&self->fault, nth, unregister_eventfd, self)) {
			TH_LOG("place %u", nth);
		}
		EXPECT_EQ(-ENXIO, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(evfd_freed(self->first));
}

static int submit(void *arg)
{
	return io_uring_submit(arg);
}

/* EAGAIN: no memory for the request, whose entry is still there. */
static bool submit_errno(int ret)
{
	return fault_errno(ret) || ret == -EAGAIN;
}

/* Whatever fails on the way, a request has one CQE and that its signal. */
TEST_F_TIMEOUT(eventfd, submit_each_place, EVFD_TIMEOUT)
{
	unsigned int nth;
	int ret;

	if (variant->async)
		SKIP(return, "completions of the submitter do not signal here");
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ASSERT_EQ(0, register_eventfd(self));
		io_uring_prep_nop(io_uring_get_sqe(&self->ring));
		ret = fault_run(&self->fault, nth, submit, &self->ring);
		if (ret < 0) {
			ASSERT_TRUE(self->fault.hit && submit_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			ASSERT_EQ(1, io_uring_submit(&self->ring));
		}
		EXPECT_LE(1, evfd_wait(self->fd)) {
			TH_LOG("place %u", nth);
		}
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		EXPECT_EQ(0, evfd_reap(&self->ring));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(evfd_freed(self->first));
}

static int add(void *arg)
{
	return evfd_add(*(int *)arg);
}

/*
 * The signal for what completes inside another eventfd's wakeup, deferred on rings where
 * it has to be, comes once the wakeup has happened.
 */
TEST_F_TIMEOUT(eventfd, wakeup_each_place, EVFD_TIMEOUT)
{
	unsigned int nth;
	int ret;

	if (variant->async)
		SKIP(return, "completions in the task do not signal here");
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		self->fd = evfd_new();
		ASSERT_EQ(0, register_eventfd(self));
		ASSERT_EQ(0, evfd_poll(&self->ring, self->polled, false));
		ret = fault_run(&self->fault, nth, add, &self->polled);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			ASSERT_EQ(0, evfd_add(self->polled));
		}
		EXPECT_LE(1, evfd_wait(self->fd)) {
			TH_LOG("place %u", nth);
		}
		/* An SQPOLL ring's thread may see the poll as late as that. */
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1));
		EXPECT_EQ(1, evfd_take(self->polled));
		ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
		close(self->fd);
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	EXPECT_TRUE(evfd_freed(self->first));
}

/* A thread's first entry makes all that the kernel keeps for it. */
TEST_F_TIMEOUT(eventfd, first_entry_of_a_thread, EVFD_TIMEOUT)
{
	unsigned int nth, failed = 0;
	int ret;

	if (variant->flags & IORING_SETUP_DEFER_TASKRUN)
		SKIP(return, "one thread alone may enter this ring");
	for (nth = 1; nth <= FAULT_MAX; nth++) {
		io_uring_prep_nop(io_uring_get_sqe(&self->ring));
		ret = fault_run_thread(&self->fault, nth, submit, &self->ring);
		if (ret < 0) {
			ASSERT_TRUE(self->fault.hit && submit_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			failed++;
			ASSERT_EQ(1, io_uring_submit(&self->ring));
		}
		ASSERT_EQ(1, evfd_reap_n(&self->ring, 1)) {
			TH_LOG("place %u", nth);
		}
		EXPECT_EQ(0, evfd_reap(&self->ring));
		if (!self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	TH_LOG("%u places, %u of them fail", nth - 1, failed);
}

FIXTURE(disabled) {
	struct fault fault;
	struct io_uring ring;
};

FIXTURE_VARIANT(disabled) {
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(disabled, plain) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(disabled, sqpoll) {
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(disabled, defer_taskrun) {
	.flags = IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_SETUP(disabled)
{
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(disabled)
{
	EXPECT_EQ(0, fault_close(&self->fault));
}

/* Nops, and the registration that enables the ring. */
static int restrict_ring(void *arg)
{
	struct io_uring_restriction res[] = {
		{ .opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_NOP },
		{ .opcode = IORING_RESTRICTION_REGISTER_OP,
		  .register_op = IORING_REGISTER_ENABLE_RINGS },
	};

	return register_op(arg, IORING_REGISTER_RESTRICTIONS, res, 2);
}

static int enable_ring(void *arg)
{
	return register_op(arg, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}

/* The result of closing a file that there is not: EACCES if the ring forbids to ask. */
static int try_close(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	int ret;

	io_uring_prep_close(sqe, -1);
	ret = io_uring_submit_and_wait(ring, 1);
	if (ret < 0)
		return ret;
	ret = io_uring_wait_cqe(ring, &cqe);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

/* Whether the restrictions hold, all of them or none, on an enabled ring: 0 or -errno. */
static int judged(struct io_uring *ring, bool restricted)
{
	int ret = nop_works(ring);

	if (ret)
		return ret;
	if (try_close(ring) != (restricted ? -EACCES : -EBADF))
		return -EPERM;
	ret = io_uring_unregister_eventfd(ring);
	return ret == (restricted ? -EACCES : -ENXIO) ? 0 : -EPERM;
}

TEST_F_TIMEOUT(disabled, restrictions_each_place, EVFD_TIMEOUT)
{
	unsigned int nth, flags = variant->flags | IORING_SETUP_R_DISABLED, failed = 0;
	bool restricted;
	int ret;

	for (nth = 0; nth <= FAULT_MAX; nth++) {
		ret = evfd_ring(&self->ring, flags);
		if (ret == -EINVAL)
			SKIP(return, "this kernel has no rings with flags %#x", flags);
		ASSERT_EQ(0, ret);
		restricted = true;
		/* The first time is without a fault. */
		ret = nth ? fault_run(&self->fault, nth, restrict_ring, &self->ring) :
			    restrict_ring(&self->ring);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			/* Once more, or without any: each in turn. */
			restricted = failed++ % 2;
			if (restricted)
				ASSERT_EQ(0, restrict_ring(&self->ring));
		}
		if (restricted)
			EXPECT_EQ(-EBUSY, restrict_ring(&self->ring));
		ASSERT_EQ(0, enable_ring(&self->ring));
		ASSERT_EQ(0, judged(&self->ring, restricted)) {
			TH_LOG("place %u", nth);
		}
		io_uring_queue_exit(&self->ring);
		if (nth && !self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	/* The restrictions are copied into memory: two places. */
	EXPECT_LT(1, failed);
}

TEST_F_TIMEOUT(disabled, enable_each_place, EVFD_TIMEOUT)
{
	unsigned int nth, flags = variant->flags | IORING_SETUP_R_DISABLED;
	int ret;

	for (nth = 0; nth <= FAULT_MAX; nth++) {
		ret = evfd_ring(&self->ring, flags);
		if (ret == -EINVAL)
			SKIP(return, "this kernel has no rings with flags %#x", flags);
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, restrict_ring(&self->ring));
		ret = nth ? fault_run(&self->fault, nth, enable_ring, &self->ring) :
			    enable_ring(&self->ring);
		if (ret) {
			ASSERT_TRUE(self->fault.hit && fault_errno(ret)) {
				TH_LOG("place %u: %d", nth, ret);
			}
			EXPECT_EQ(-EBADFD, io_uring_enter(self->ring.ring_fd, 1, 0, 0, NULL));
			ASSERT_EQ(0, enable_ring(&self->ring));
		}
		ASSERT_EQ(0, judged(&self->ring, true)) {
			TH_LOG("place %u", nth);
		}
		io_uring_queue_exit(&self->ring);
		if (nth && !self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
}

FIXTURE(personality) {
	struct fault fault;
	struct io_uring ring;
};

FIXTURE_VARIANT(personality) {
	unsigned int before;	/* how many the ring has */
};

FIXTURE_VARIANT_ADD(personality, first) { .before = 0, };
FIXTURE_VARIANT_ADD(personality, second) { .before = 1, };
FIXTURE_VARIANT_ADD(personality, next_node) { .before = MANY, };

FIXTURE_SETUP(personality)
{
	ASSERT_EQ(0, fault_open(&self->fault));
}

FIXTURE_TEARDOWN(personality)
{
	EXPECT_EQ(0, fault_close(&self->fault));
}

static int new_personality(void *arg)
{
	return register_op(arg, IORING_REGISTER_PERSONALITY, NULL, 0);
}

struct personality {
	struct io_uring *ring;
	int id;
};

static int end_personality(void *arg)
{
	const struct personality *p = arg;

	return register_op(p->ring, IORING_UNREGISTER_PERSONALITY, NULL, p->id);
}

/* The result of a nop with that personality. */
static int nop_as(struct io_uring *ring, int id)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	int ret;

	io_uring_prep_nop(sqe);
	sqe->personality = id;
	ret = io_uring_submit(ring);
	if (ret < 0)
		return ret;
	ret = io_uring_wait_cqe(ring, &cqe);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

/*
 * The array asks once more for memory, in another way, before it gives up: one fault alone
 * need not make a registration fail.
 */
TEST_F_TIMEOUT(personality, each_place, EVFD_TIMEOUT)
{
	struct personality p = { .ring = &self->ring };
	unsigned int nth, i, failed = 0;
	bool hit;
	int ret;

	for (nth = 0; nth <= FAULT_MAX; nth++) {
		/* A ring of its own each time, as its array would keep the memory. */
		ASSERT_EQ(0, evfd_ring(&self->ring, 0));
		for (i = 0; i < variant->before; i++)
			ASSERT_LT(0, new_personality(&self->ring));
		p.id = nth ? fault_run(&self->fault, nth, new_personality, &self->ring) :
			     new_personality(&self->ring);
		hit = self->fault.hit;
		if (p.id < 0) {
			ASSERT_TRUE(hit && fault_errno(p.id)) {
				TH_LOG("place %u: %d", nth, p.id);
			}
			failed++;
			EXPECT_EQ(-EINVAL, nop_as(&self->ring, variant->before + 1));
			p.id = new_personality(&self->ring);
		}
		ASSERT_EQ(variant->before + 1, p.id);
		ASSERT_EQ(0, nop_as(&self->ring, p.id));
		if (variant->before)
			EXPECT_EQ(0, nop_as(&self->ring, 1));

		ret = nth ? fault_run(&self->fault, nth, end_personality, &p) :
			    end_personality(&p);
		ASSERT_EQ(0, ret) {
			TH_LOG("place %u", nth);
		}
		EXPECT_EQ(-EINVAL, nop_as(&self->ring, p.id));
		EXPECT_EQ(-EINVAL, end_personality(&p));
		io_uring_queue_exit(&self->ring);
		if (nth && !hit && !self->fault.hit)
			break;
	}
	EXPECT_GE(FAULT_MAX, nth);
	TH_LOG("%u of the places fail", failed);
}

TEST_HARNESS_MAIN
