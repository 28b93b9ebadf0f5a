// SPDX-License-Identifier: GPL-2.0
/*
 * When credentials go, new ones may come to lie at their address.
 *
 * This test will check that a ring does not take the new ones for those that it
 * has granted a command to: it uses a ring, drops the privilege, and makes enough
 * credentials without it to get every address that has become free.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

#define ROUNDS	20
#define AGAIN	200	/* more than a slab page or two of credentials */

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
}

FIXTURE(reuse) {
	struct nvme_dev dev;
	struct ring ring;
};

FIXTURE_SETUP(reuse)
{
	cpu_set_t one;

	/* What a CPU frees it gives out again. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	ASSERT_EQ(0, ring_init(&self->ring, 0));
}

FIXTURE_TEARDOWN(reuse)
{
	ring_exit(&self->ring);
	nvme_close(&self->dev);
}

/* New credentials without privilege, again and again: REFUSED, or the first result that differs. */
static int drop_again(struct ring *ring, const struct nvme_dev *dev)
{
	int i, ret = REFUSED;

	for (i = 0; i < AGAIN && ret == REFUSED; i++) {
		ret = cap_sys_admin(false) ?: ring_probe(ring, dev);
		/* Now and then let RCU free what was dropped. */
		if (i % 20 == 0)
			usleep(20000);
	}
	return ret;
}

TEST_F(reuse, address_of_dropped_credentials)
{
	unsigned int i;

	for (i = 0; i < rounds(ROUNDS); i++) {
		ASSERT_EQ(0, cap_sys_admin(true));
		ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
		ASSERT_EQ(REFUSED, drop_again(&self->ring, &self->dev));
	}
}

/* The same for credentials that were cached before the ones in use. */
TEST_F(reuse, address_of_the_other_of_two)
{
	unsigned int i, j;

	for (i = 0; i < rounds(ROUNDS); i++) {
		for (j = 0; j < 2; j++) {
			ASSERT_EQ(0, cap_sys_admin(true));
			ASSERT_EQ(ALLOWED, ring_probe(&self->ring, &self->dev));
		}
		ASSERT_EQ(REFUSED, drop_again(&self->ring, &self->dev));
	}
}

TEST_HARNESS_MAIN
