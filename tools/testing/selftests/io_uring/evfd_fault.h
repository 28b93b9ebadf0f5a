/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs share that let rings meet a fault at one place after the other. */
#ifndef EVFD_FAULT_H
#define EVFD_FAULT_H

#include <errno.h>

#include "../kselftest_harness.h"
#include "evfd.h"
#include "evfd_fixture.h"
#include "fault.h"

static void __attribute__((constructor)) needs(void)
{
	fault_need();
}

static inline int register_op(struct io_uring *ring, unsigned int op, void *arg, unsigned int n)
{
	return io_uring_register(ring->ring_fd, op, arg, n);
}

/* One nop goes through the ring and nothing else comes back: 0 or -errno. */
static inline int nop_works(struct io_uring *ring)
{
	int ret = evfd_nops(ring, 1, 0) ?: evfd_reap_n(ring, 1);

	return ret < 0 ? ret : ret == 1 && !evfd_reap(ring) ? 0 : -EIO;
}

#endif
