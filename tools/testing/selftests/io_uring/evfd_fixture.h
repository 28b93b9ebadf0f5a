/* SPDX-License-Identifier: GPL-2.0 */
/* The setup of the fixtures whose variants are kinds of rings. */
#ifndef EVFD_FIXTURE_H
#define EVFD_FIXTURE_H

#include <errno.h>

#include "../kselftest_harness.h"
#include "evfd.h"

/*
 * Makes a ring with @flags and returns them. A kernel without such rings skips the
 * test, but harnesses of before 6.8 run it even so: then it has a plain ring, and 0.
 */
static inline unsigned int evfd_setup_ring(struct __test_metadata *const _metadata,
					   struct io_uring *ring, unsigned int flags)
{
	int ret = evfd_ring(ring, flags);

	if (ret == -EINVAL && flags) {
		SKIP(ret = evfd_ring(ring, 0), "this kernel has no rings with flags %#x", flags);
		flags = 0;
	}
	ASSERT_EQ(0, ret);
	return flags;
}

#endif
