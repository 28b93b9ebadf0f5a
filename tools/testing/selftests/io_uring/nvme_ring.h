/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of big SQEs and CQEs to send commands to an NVMe passthrough device.
 *
 * The ring is mapped by hand and keeps no state of its own outside the shared
 * memory, so processes and threads may take turns on one ring.
 */
#ifndef NVME_RING_H
#define NVME_RING_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <linux/io_uring.h>
#include <linux/nvme_ioctl.h>

#include "nvme_dev.h"

/*
 * The probe is a vendor command whose buffer is not mapped. Every kernel asks
 * for privilege first, and then fails to map the buffer before it involves the
 * device, so one result means "allowed" and the other "refused".
 */
#define ALLOWED		(-EFAULT)
#define REFUSED		(-EACCES)

/* The ring itself could not be used: neither answer. */
#define RING_BROKEN	INT_MIN

#define NVME_OP_FLUSH		0x00
#define NVME_OP_READ		0x02
#define NVME_OP_VENDOR		0xc0
#define NVME_ADMIN_GET_LOG_PAGE	0x02
#define NVME_ADMIN_IDENTIFY	0x06
#define NVME_ADMIN_GET_FEATURES	0x0a

/* Ends the program with a skip and its reason unless it can test NVMe passthrough. */
void need_nvme(const char *serial);

struct ring {
	int fd;
	int enter_fd;			/* fd or its registered index */
	unsigned int enter_flags;
	unsigned int taken;		/* SQEs taken since the last submit */
	struct io_uring_params p;
	void *rings;
	struct io_uring_sqe *sqes;
};

int ring_init(struct ring *r, unsigned int flags);
int ring_init_attach(struct ring *r, unsigned int flags, int wq_fd);
/* Without the big SQEs and CQEs that passthrough needs, unless @flags asks for them. */
int ring_init_small(struct ring *r, unsigned int flags);
int ring_map(struct ring *r, int fd, const struct io_uring_params *p);
void ring_exit(struct ring *r);
int ring_register(struct ring *r, unsigned int op, void *arg, unsigned int n);

/* The next SQE, zeroed, its user_data counting from 0 in each batch. */
struct io_uring_sqe *ring_sqe(struct ring *r);
/* Submits the batch: 0, RING_BROKEN or what io_uring_enter(2) refuses it with. */
int ring_submit(struct ring *r);
/* Waits for the CQEs of a batch of @n, puts each result where its SQE stood. */
int ring_reap(struct ring *r, unsigned int n, int *res);
/* Both at once, for the whole batch. */
int ring_run(struct ring *r, int *res);

void prep_cmd(struct io_uring_sqe *sqe, int fd, unsigned int op,
	      const struct nvme_uring_cmd *cmd);
void prep_probe(struct io_uring_sqe *sqe, const struct nvme_dev *dev);
void prep_nop(struct io_uring_sqe *sqe);

/* One command, its CQE's res. */
int ring_cmd(struct ring *r, int fd, unsigned int op, const struct nvme_uring_cmd *cmd);
int ring_probe(struct ring *r, const struct nvme_dev *dev);
/* The same with bits of sqe->flags and a personality. */
int ring_probe_as(struct ring *r, const struct nvme_dev *dev, unsigned int sqe_flags,
		  unsigned int personality);
/* @n probes one by one: @want, or the first result that differs. */
int ring_probe_all(struct ring *r, const struct nvme_dev *dev, unsigned int n, int want);

/* The value of the CmdPrivCached line in the ring's fdinfo, or -ENOENT. */
int ring_priv_cached(const struct ring *r);

/* How often a loop turns: $RINGCAP_ROUNDS or the default. */
unsigned int rounds(unsigned int dflt);

#endif
