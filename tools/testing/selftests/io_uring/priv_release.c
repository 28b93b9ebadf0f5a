// SPDX-License-Identifier: GPL-2.0
/*
 * A ring with a cached privilege holds on to somebody's credentials, and those
 * to their session keyring.
 *
 * This test will check that all of them go away with the ring, however often
 * the cache has changed hands: it makes rings under keyrings of their own
 * and waits for the number of keys to come down again.
 */
#define _GNU_SOURCE
#include "../kselftest_harness.h"
#include "creds.h"
#include "nvme_ring.h"

#define ROUNDS		20
/* The process's own keyring, and those that its idle io-wq workers were made under. */
#define STILL_USED	5

static void __attribute__((constructor)) needs(void)
{
	need_nvme(SERIAL_PLAIN);
	if (access("/proc/key-users", R_OK))
		ksft_exit_skip("no /proc/key-users: this kernel has no CONFIG_KEYS\n");
}

static int ring_alone(struct ring *ring, const struct nvme_dev *dev)
{
	return 0;
}

static int ring_used(struct ring *ring, const struct nvme_dev *dev)
{
	return ring_probe(ring, dev) != ALLOWED;
}

/* Each command finds credentials which it has to take in. */
static int ring_changing_hands(struct ring *ring, const struct nvme_dev *dev)
{
	int i, ret = 0;

	for (i = 0; i < 5 && !ret; i++)
		ret = new_keyring() || ring_probe(ring, dev) != ALLOWED;
	return ret;
}

static int ring_async(struct ring *ring, const struct nvme_dev *dev)
{
	int i, ret = 0;

	for (i = 0; i < 2 && !ret; i++)
		ret = new_keyring() ||
		      ring_probe_as(ring, dev, IOSQE_ASYNC, 0) != ALLOWED ||
		      ring_probe(ring, dev) != ALLOWED;
	return ret;
}

static int ring_refused(struct ring *ring, const struct nvme_dev *dev)
{
	return cap_sys_admin(false) || new_keyring() || ring_probe(ring, dev) != REFUSED;
}

FIXTURE(release) {
	struct nvme_dev dev;
	int before;
};

FIXTURE_VARIANT(release) {
	unsigned int setup;
	int (*use)(struct ring *ring, const struct nvme_dev *dev);
};

FIXTURE_VARIANT_ADD(release, alone) {
	.use = ring_alone,
};

FIXTURE_VARIANT_ADD(release, used) {
	.use = ring_used,
};

FIXTURE_VARIANT_ADD(release, sqpoll) {
	.setup = IORING_SETUP_SQPOLL, .use = ring_used,
};

FIXTURE_VARIANT_ADD(release, changing_hands) {
	.use = ring_changing_hands,
};

FIXTURE_VARIANT_ADD(release, async) {
	.use = ring_async,
};

FIXTURE_VARIANT_ADD(release, refused) {
	.use = ring_refused,
};

FIXTURE_SETUP(release)
{
	ASSERT_EQ(0, nvme_open(&self->dev, SERIAL_PLAIN));
	self->before = root_keys();
	ASSERT_LE(0, self->before);
}

FIXTURE_TEARDOWN(release)
{
	nvme_close(&self->dev);
}

TEST_F(release, with_the_ring)
{
	struct ring ring;
	pid_t pid;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		pid = fork();
		if (!pid) {
			if (new_keyring() || ring_init(&ring, variant->setup))
				_exit(1);
			_exit(variant->use(&ring, &self->dev));
		}
		ASSERT_EQ(0, child_result(pid));
	}
	EXPECT_TRUE(keys_are_back(self->before + STILL_USED)) {
		TH_LOG("%d keys before, %d after", self->before, root_keys());
	}
}

/* The process stays, the ring goes. */
TEST_F(release, before_the_process)
{
	struct ring ring;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, cap_sys_admin(true));
		ASSERT_EQ(0, new_keyring());
		ASSERT_EQ(0, ring_init(&ring, variant->setup));
		ASSERT_EQ(0, variant->use(&ring, &self->dev));
		ring_exit(&ring);
	}
	EXPECT_TRUE(keys_are_back(self->before + STILL_USED)) {
		TH_LOG("%d keys before, %d after", self->before, root_keys());
	}
}

TEST_HARNESS_MAIN
