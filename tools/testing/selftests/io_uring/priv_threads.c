// SPDX-License-Identifier: GPL-2.0
/*
 * Threads share a ring, each with credentials of its own (the system calls
 * change one thread's, libc would change all).
 *
 * This test will check that a thread is neither refused because another one
 * has dropped its privilege nor allowed because another one has kept it, while
 * all of them hammer one ring.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

/* Takes part in the hammering until it sees one wrong answer. */
struct worker {
	pthread_t thread;
	pthread_mutex_t *lock;
	struct ring *ring;
	const struct nvme_dev *dev;
	int (*become)(void);
	bool toggle;
	int want;
	unsigned int sqe_flags;
	unsigned int rounds;
	int got;
};

static int probe_locked(struct worker *w)
{
	int ret;

	pthread_mutex_lock(w->lock);
	ret = ring_probe_as(w->ring, w->dev, w->sqe_flags, 0);
	pthread_mutex_unlock(w->lock);
	return ret;
}

static void *hammer(void *arg)
{
	struct worker *w = arg;
	unsigned int i;

	w->got = w->become ? w->become() : 0;
	if (w->got)
		return NULL;
	for (i = 0; i < w->rounds; i++) {
		if (w->toggle) {
			cap_sys_admin(i & 1);
			w->want = i & 1 ? ALLOWED : REFUSED;
		}
		w->got = probe_locked(w);
		if (w->got != w->want)
			break;
	}
	return NULL;
}

static int drop_effective(void)
{
	return cap_sys_admin(false);
}

#define WORKERS 3

FIXTURE(threads) {
	struct nvme_dev dev;
	struct ring ring;
	pthread_mutex_t lock;
	struct worker worker[WORKERS];
};

FIXTURE_VARIANT(threads) {
	unsigned int kept_flags;
	unsigned int dropped_flags;
};

FIXTURE_VARIANT_ADD(threads, inline_issue) {
};

FIXTURE_VARIANT_ADD(threads, async) {
	.kept_flags = IOSQE_ASYNC, .dropped_flags = IOSQE_ASYNC,
};

FIXTURE_VARIANT_ADD(threads, kept_async) {
	.kept_flags = IOSQE_ASYNC,
};

FIXTURE_VARIANT_ADD(threads, dropped_async) {
	.dropped_flags = IOSQE_ASYNC,
};

FIXTURE_SETUP(threads)
{
	int i;

	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
	ASSERT_EQ(0, pthread_mutex_init(&self->lock, NULL));
	for (i = 0; i < WORKERS; i++) {
		self->worker[i].lock = &self->lock;
		self->worker[i].ring = &self->ring;
		self->worker[i].dev = &self->dev;
		self->worker[i].rounds = rounds(300);
	}
	self->worker[0].sqe_flags = variant->kept_flags;
	self->worker[0].want = ALLOWED;
	self->worker[1].sqe_flags = variant->dropped_flags;
	self->worker[1].want = REFUSED;
	self->worker[2].toggle = true;
}

FIXTURE_TEARDOWN(threads)
{
	pthread_mutex_destroy(&self->lock);
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

/* The first @n workers at the same time; true if each saw only what it wanted. */
static bool hammer_all(struct worker *w, int n)
{
	bool right = true;
	int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&w[i].thread, NULL, hammer, &w[i]))
			return false;
	for (i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		right = right && w[i].got == w[i].want;
		if (w[i].got != w[i].want)
			fprintf(stderr, "# worker %d: wanted %d, got %d\n", i, w[i].want,
				w[i].got);
	}
	return right;
}

TEST_F(threads, one_drops_by_capset)
{
	self->worker[1].become = drop_effective;
	EXPECT_TRUE(hammer_all(self->worker, 2));
	EXPECT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
}

TEST_F(threads, one_drops_by_setresuid)
{
	self->worker[1].become = become_nobody;
	EXPECT_TRUE(hammer_all(self->worker, 2));
	EXPECT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
}

TEST_F(threads, one_keeps_one_dropped_one_toggles)
{
	self->worker[1].become = drop_effective;
	EXPECT_TRUE(hammer_all(self->worker, 3));
}

/* The maker itself has dropped: only the others' privilege is left to mistake. */
TEST_F(threads, maker_drops_meanwhile)
{
	struct worker *w = self->worker;
	unsigned int i;

	ASSERT_EQ(0, pthread_create(&w->thread, NULL, hammer, w));
	for (i = 0; i < w->rounds; i++) {
		EXPECT_EQ(0, cap_sys_admin(false));
		pthread_mutex_lock(&self->lock);
		EXPECT_EQ(REFUSED, ring_probe_as(&self->ring, &self->dev,
						 variant->dropped_flags, 0));
		pthread_mutex_unlock(&self->lock);
		EXPECT_EQ(0, cap_sys_admin(true));
	}
	pthread_join(w->thread, NULL);
	EXPECT_EQ(ALLOWED, w->got);
}

/* As above, but the other one only changes credentials and never touches the ring. */
static void *toggle_without_ring(void *arg)
{
	struct worker *w = arg;

	while (!__atomic_load_n(&w->got, __ATOMIC_RELAXED)) {
		cap_sys_admin(false);
		cap_sys_admin(true);
	}
	return NULL;
}

TEST_F(threads, others_credentials_change)
{
	struct worker *w = &self->worker[2];

	ASSERT_EQ(0, pthread_create(&w->thread, NULL, toggle_without_ring, w));
	EXPECT_TRUE(hammer_all(self->worker, 1));
	__atomic_store_n(&w->got, 1, __ATOMIC_RELAXED);
	pthread_join(w->thread, NULL);
}

static void *make_ring(void *arg)
{
	struct worker *w = arg;

	w->got = w->become ? w->become() : 0;
	w->got = w->got ?: ring_init(w->ring, 0);
	if (!w->got)
		w->got = ring_probe_as(w->ring, w->dev, w->sqe_flags, 0);
	return NULL;
}

TEST_F(threads, made_by_a_thread_that_has_ended)
{
	struct worker *w = self->worker;
	struct ring ring;

	w->ring = &ring;
	ASSERT_EQ(0, pthread_create(&w->thread, NULL, make_ring, w));
	pthread_join(w->thread, NULL);
	ASSERT_EQ(ALLOWED, w->got);
	EXPECT_EQ(ALLOWED, ring_probe_all(&ring, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe_as(&ring, &self->dev, variant->dropped_flags, 0));
	EXPECT_EQ(REFUSED, ring_probe_all(&ring, &self->dev, 10, REFUSED));
	ring_exit(&ring);
}

TEST_F(threads, made_by_a_dropped_thread)
{
	struct worker *w = self->worker;
	struct ring ring;

	w->ring = &ring;
	w->become = become_nobody;
	ASSERT_EQ(0, pthread_create(&w->thread, NULL, make_ring, w));
	pthread_join(w->thread, NULL);
	ASSERT_EQ(REFUSED, w->got);
	EXPECT_EQ(ALLOWED, ring_probe_all(&ring, &self->dev, 10, ALLOWED));
	ASSERT_EQ(0, cap_sys_admin(false));
	EXPECT_EQ(REFUSED, ring_probe_all(&ring, &self->dev, 10, REFUSED));
	ring_exit(&ring);
}

/*
 * Workers ask for root while the same submission issues for nobody: what one
 * learns without the ring's lock must not reach the other.
 */
TEST_F(threads, workers_beside_inline_commands)
{
	int nobody = register_personality(self->ring.fd, true);
	unsigned int round, n = rounds(50);
	struct io_uring_sqe *sqe;
	int i, res[32];

	ASSERT_LT(0, nobody);
	for (round = 0; round < n; round++) {
		for (i = 0; i < 32; i++) {
			sqe = ring_sqe(&self->ring);
			prep_probe(sqe, &self->dev);
			sqe->flags = i & 1 ? variant->dropped_flags : variant->kept_flags;
			sqe->personality = i & 1 ? nobody : 0;
		}
		ASSERT_EQ(0, ring_run(&self->ring, res));
		for (i = 0; i < 32; i++)
			ASSERT_EQ(i & 1 ? REFUSED : ALLOWED, res[i]);
	}
}

TEST_HARNESS_MAIN
