/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs share that let privileged rings meet a fault at one place after the other. */
#ifndef PRIV_FAULT_H
#define PRIV_FAULT_H

#include "../kselftest_harness.h"
#include "fault.h"
#include "nvme_ring.h"

/* Seconds for one test: a debug kernel under emulation takes its time. */
#define FAULT_TIMEOUT	300

static void __attribute__((constructor)) needs(void)
{
	fault_need();
	need_nvme(SERIAL_PLAIN);
}

#endif
