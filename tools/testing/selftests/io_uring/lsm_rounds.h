/* SPDX-License-Identifier: GPL-2.0 */
/* The core of every test: one policy change, and the very next command must follow it. */
#ifndef LSM_ROUNDS_H
#define LSM_ROUNDS_H

#include <sched.h>

#include "../kselftest_harness.h"
#include "lsm_rig.h"

/* Seconds for one test: a debug kernel under emulation takes its time. */
#define LSM_TIMEOUT 600

/* Two that take turns on few processors are slow: fewer of them, unless told otherwise. */
static inline unsigned int lsm_turns(enum lsm_hammer hammer, unsigned int dflt)
{
	return rounds(hammer == LSM_ALONE ? dflt : dflt / 20 + 1);
}

/* Changes the policy; 0 or -errno. */
typedef int (*lsm_set_t)(void *arg, bool allow);

static inline void lsm_expect_inline(struct __test_metadata *const _metadata, struct lsm_rig *rig,
				     int want)
{
	/* First the hot ring, before anything else can notice the change. */
	ASSERT_EQ(want, lsm_ask(rig, &rig->first, 0));
	ASSERT_EQ(want, lsm_capable());
	ASSERT_EQ(want, lsm_ask(rig, &rig->first, 0));
	ASSERT_EQ(want, lsm_ask(rig, &rig->second, 0));
}

static inline void lsm_expect_next(struct __test_metadata *const _metadata, struct lsm_rig *rig,
				   int want)
{
	lsm_expect_inline(_metadata, rig, want);
	/* io-wq asks each time, and what it learns must not reach the ring. */
	ASSERT_EQ(want, lsm_ask(rig, &rig->first, IOSQE_ASYNC));
	ASSERT_EQ(want, lsm_ask(rig, &rig->first, 0));
}

static inline void lsm_heat(struct __test_metadata *const _metadata, struct lsm_rig *rig, int want)
{
	int i;

	for (i = 0; i < 300; i++) {
		ASSERT_EQ(want, lsm_ask(rig, &rig->first, 0));
		ASSERT_EQ(want, lsm_ask(rig, &rig->second, 0));
	}
}

static inline void lsm_change(struct __test_metadata *const _metadata, struct lsm_rig *rig,
			      lsm_set_t set, void *arg, bool allow)
{
	rig->phase++;
	ASSERT_EQ(0, set(arg, allow));
	rig->answer = allow ? ALLOWED : REFUSED;
	rig->phase++;
}

/* From allowed to refused and back, each time on a ring that is hot; ends allowed. */
static inline void lsm_alternate(struct __test_metadata *const _metadata, struct lsm_rig *rig,
				 enum lsm_hammer hammer, int turns, lsm_set_t set, void *arg)
{
	int i;

	lsm_change(_metadata, rig, set, arg, true);
	lsm_heat(_metadata, rig, ALLOWED);
	ASSERT_EQ(0, lsm_rig_hammer(rig, hammer));
	while (hammer != LSM_ALONE && !rig->hammered)
		sched_yield();
	for (i = 0; i < turns; i++) {
		lsm_change(_metadata, rig, set, arg, false);
		lsm_expect_next(_metadata, rig, REFUSED);
		lsm_change(_metadata, rig, set, arg, true);
		lsm_expect_next(_metadata, rig, ALLOWED);
	}
	EXPECT_EQ(0, rig->wrong);
}

/*
 * The policy changes while another thread is being asked, which must ask, as it has just changed:
 * what that thread is told then must not be kept as an answer of the new policy.
 */
static inline void lsm_overtake(struct __test_metadata *const _metadata, struct lsm_rig *rig,
				int turns, lsm_set_t set, void *arg)
{
	int i;

	lsm_change(_metadata, rig, set, arg, true);
	ASSERT_EQ(0, lsm_rig_hammer(rig, LSM_THREAD_OWN_RING));
	while (!rig->hammered)
		sched_yield();
	for (i = 0; i < turns; i++) {
		lsm_change(_metadata, rig, set, arg, false);
		ASSERT_EQ(REFUSED, lsm_ask(rig, &rig->second, 0));
		lsm_change(_metadata, rig, set, arg, true);
		/* From at once to well after the other thread's next command. */
		usleep(i % 16 * 50);
	}
	lsm_rig_rest(rig);
	EXPECT_EQ(0, rig->wrong);
}

/* Forgets at the change, and remembers after the first command that is allowed. */
static inline void lsm_expect_recache(struct __test_metadata *const _metadata, struct lsm_rig *rig,
				      lsm_set_t set, void *arg)
{
	struct ring *ring = &rig->first.ring;

	lsm_change(_metadata, rig, set, arg, true);
	lsm_heat(_metadata, rig, ALLOWED);
	ASSERT_EQ(1, ring_priv_cached(ring));
	lsm_change(_metadata, rig, set, arg, false);
	ASSERT_EQ(0, ring_priv_cached(ring));
	ASSERT_EQ(REFUSED, lsm_ask(rig, &rig->first, 0));
	ASSERT_EQ(0, ring_priv_cached(ring));
	lsm_change(_metadata, rig, set, arg, true);
	ASSERT_EQ(0, ring_priv_cached(ring));
	ASSERT_EQ(ALLOWED, lsm_ask(rig, &rig->first, 0));
	ASSERT_EQ(1, ring_priv_cached(ring));
}

#endif
