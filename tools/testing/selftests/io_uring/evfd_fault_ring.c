// SPDX-License-Identifier: GPL-2.0
/*
 * Rings are created and mapped while the kernel runs out of memory,
 * or cannot copy from or to the user's, at one place after the other.
 *
 * This test will check that each failure has an error that says so, that it leaves
 * behind neither half a state nor any object, and that the next attempt works.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evfd_fault.h"

#define ENTRIES		128

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

TEST_HARNESS_MAIN
