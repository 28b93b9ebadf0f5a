// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kselftest.h"
#include "nvme_ring.h"

#define ENTRIES		64
/* Below any mmap_min_addr, and aligned as the device wants its buffers. */
#define UNMAPPED	4096

static int ring_setup(struct ring *r, unsigned int flags, int wq_fd)
{
	struct io_uring_params p = { .flags = flags, .wq_fd = wq_fd };
	int fd, ret;

	fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (fd < 0)
		return -errno;
	ret = ring_map(r, fd, &p);
	if (ret)
		close(fd);
	return ret;
}

int ring_init_attach(struct ring *r, unsigned int flags, int wq_fd)
{
	return ring_setup(r, flags | IORING_SETUP_SQE128 | IORING_SETUP_CQE32, wq_fd);
}

int ring_init_small(struct ring *r, unsigned int flags)
{
	return ring_setup(r, flags, 0);
}

int ring_init(struct ring *r, unsigned int flags)
{
	return ring_init_attach(r, flags, 0);
}

/* An SQE or a CQE may take two places. */
static __u32 sqe_places(const struct io_uring_params *p)
{
	return p->flags & IORING_SETUP_SQE128 ? 2 : 1;
}

static __u32 cqe_places(const struct io_uring_params *p)
{
	return p->flags & IORING_SETUP_CQE32 ? 2 : 1;
}

static size_t rings_size(const struct io_uring_params *p)
{
	size_t sq = p->sq_off.array + p->sq_entries * sizeof(__u32);
	size_t cq = p->cq_off.cqes + p->cq_entries * cqe_places(p) *
					 sizeof(struct io_uring_cqe);

	return sq > cq ? sq : cq;
}

static size_t sqes_size(const struct io_uring_params *p)
{
	return p->sq_entries * sqe_places(p) * sizeof(struct io_uring_sqe);
}

int ring_map(struct ring *r, int fd, const struct io_uring_params *p)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->enter_fd = fd;
	r->p = *p;
	r->rings = mmap(NULL, rings_size(p), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, sqes_size(p), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       IORING_OFF_SQES);
	return r->rings == MAP_FAILED || r->sqes == MAP_FAILED ? -errno : 0;
}

void ring_exit(struct ring *r)
{
	munmap(r->rings, rings_size(&r->p));
	munmap(r->sqes, sqes_size(&r->p));
	close(r->fd);
}

int ring_register(struct ring *r, unsigned int op, void *arg, unsigned int n)
{
	int ret = syscall(SYS_io_uring_register, r->fd, op, arg, n);

	return ret < 0 ? -errno : ret;
}

static __u32 *ring_word(struct ring *r, __u32 offset)
{
	return (__u32 *)((char *)r->rings + offset);
}

struct io_uring_sqe *ring_sqe(struct ring *r)
{
	__u32 tail = *ring_word(r, r->p.sq_off.tail);
	__u32 mask = r->p.sq_entries - 1;
	__u32 index = tail + r->taken;
	struct io_uring_sqe *sqe = &r->sqes[(index & mask) * sqe_places(&r->p)];

	memset(sqe, 0, sqe_places(&r->p) * sizeof(*sqe));
	sqe->user_data = r->taken++;
	ring_word(r, r->p.sq_off.array)[index & mask] = index & mask;
	return sqe;
}

static int ring_enter(struct ring *r, unsigned int submit, unsigned int wait,
		      unsigned int flags)
{
	int ret;

	do {
		ret = syscall(SYS_io_uring_enter, r->enter_fd, submit, wait,
			      flags | r->enter_flags, NULL, 0);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

int ring_submit(struct ring *r)
{
	__u32 *tail = ring_word(r, r->p.sq_off.tail);
	unsigned int left = r->taken;
	int ret;

	r->taken = 0;
	__atomic_store_n(tail, *tail + left, __ATOMIC_SEQ_CST);
	if (r->p.flags & IORING_SETUP_SQPOLL) {
		ret = ring_enter(r, left, 0, IORING_ENTER_SQ_WAKEUP);
		return ret < 0 ? ret : 0;
	}
	/* A failing SQE ends the call, not the batch. */
	while (left) {
		ret = ring_enter(r, left, 0, 0);
		if (ret < 0)
			return ret;
		if (!ret)
			return RING_BROKEN;
		left -= ret;
	}
	return 0;
}

int ring_reap(struct ring *r, unsigned int n, int *res)
{
	struct io_uring_cqe *cqes = (void *)ring_word(r, r->p.cq_off.cqes), *cqe;
	__u32 *head = ring_word(r, r->p.cq_off.head);
	__u32 *tail = ring_word(r, r->p.cq_off.tail);
	__u32 mask = r->p.cq_entries - 1;
	unsigned int got = 0;
	int ret;

	while (got < n) {
		if (*head == __atomic_load_n(tail, __ATOMIC_ACQUIRE)) {
			ret = ring_enter(r, 0, n - got, IORING_ENTER_GETEVENTS);
			if (ret < 0)
				return ret;
			continue;
		}
		cqe = &cqes[(*head & mask) * cqe_places(&r->p)];
		if (cqe->user_data >= n)
			return RING_BROKEN;
		res[cqe->user_data] = cqe->res;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		got++;
	}
	return 0;
}

int ring_run(struct ring *r, int *res)
{
	unsigned int n = r->taken;

	return ring_submit(r) ?: ring_reap(r, n, res);
}

void prep_cmd(struct io_uring_sqe *sqe, int fd, unsigned int op,
	      const struct nvme_uring_cmd *cmd)
{
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = op;
	/* On a small ring its end lies in the next SQE, which ring_sqe() will clear. */
	memcpy(sqe->cmd, cmd, sizeof(*cmd));
}

void prep_probe(struct io_uring_sqe *sqe, const struct nvme_dev *dev)
{
	const struct nvme_uring_cmd cmd = {
		.opcode = NVME_OP_VENDOR,
		.nsid = dev->nsid,
		.addr = UNMAPPED,
		.data_len = UNMAPPED,
	};

	prep_cmd(sqe, dev->ns, NVME_URING_CMD_IO, &cmd);
}

void prep_nop(struct io_uring_sqe *sqe)
{
	sqe->opcode = IORING_OP_NOP;
}

static int ring_run_one(struct ring *r)
{
	int res, ret = ring_run(r, &res);

	if (!ret)
		return res;
	fprintf(stderr, "# io_uring_enter: %d\n", ret);
	return RING_BROKEN;
}

int ring_cmd(struct ring *r, int fd, unsigned int op, const struct nvme_uring_cmd *cmd)
{
	prep_cmd(ring_sqe(r), fd, op, cmd);
	return ring_run_one(r);
}

int ring_probe_as(struct ring *r, const struct nvme_dev *dev, unsigned int sqe_flags,
		  unsigned int personality)
{
	struct io_uring_sqe *sqe = ring_sqe(r);

	prep_probe(sqe, dev);
	sqe->flags = sqe_flags;
	sqe->personality = personality;
	return ring_run_one(r);
}

int ring_probe(struct ring *r, const struct nvme_dev *dev)
{
	return ring_probe_as(r, dev, 0, 0);
}

int ring_probe_all(struct ring *r, const struct nvme_dev *dev, unsigned int n, int want)
{
	int ret = want;

	while (n-- && ret == want)
		ret = ring_probe(r, dev);
	return ret;
}

int ring_priv_cached(const struct ring *r)
{
	int value = -ENOENT;
	char line[128];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", r->fd);
	f = fopen(line, "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f) && value < 0)
		sscanf(line, "CmdPrivCached:\t%d", &value);
	fclose(f);
	return value;
}

void need_nvme(const char *serial)
{
	struct nvme_dev dev;
	struct ring r;
	int ret;

	if (geteuid())
		ksft_exit_skip("needs root: it drops capabilities and opens NVMe devices\n");
	if (nvme_open(&dev, serial))
		ksft_exit_skip("no NVMe controller with serial %s\n", serial);
	if (ring_init(&r, 0))
		ksft_exit_skip("no rings with 128 byte SQEs: this kernel has no uring_cmd\n");
	ret = ring_probe(&r, &dev);
	if (ret == -EINVAL || ret == -EOPNOTSUPP)
		ksft_exit_skip("this kernel's NVMe driver has no io_uring passthrough\n");
	ring_exit(&r);
	nvme_close(&dev);
}

unsigned int rounds(unsigned int dflt)
{
	const char *env = getenv("RINGCAP_ROUNDS");
	unsigned int n = env ? strtoul(env, NULL, 10) : 0;

	return n ?: dflt;
}
