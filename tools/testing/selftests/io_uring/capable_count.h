/* SPDX-License-Identifier: GPL-2.0 */
/* How often each thread asks capable(CAP_SYS_ADMIN): a kprobe and a histogram in the kernel. */
#ifndef CAPABLE_COUNT_H
#define CAPABLE_COUNT_H

#include <sys/types.h>

#include "nvme_ring.h"

/* Ends the program with a skip and its reason unless calls can be counted. */
void need_counting(void);

/* Starting also removes what a killed run has left behind. */
int count_start(void);
void count_stop(void);

/* Calls by one thread since count_start(). */
long count_thread(pid_t tid);
long count_self(void);
/* By this one during @n probes that are to end in @want, -1 if one did not. */
long count_probes(struct ring *ring, const struct nvme_dev *dev, unsigned int n, int want);
/* Calls by this process's kernel-made threads of that name: "iou-wrk-", "iou-sqp-". */
long count_named(const char *prefix);

#endif
