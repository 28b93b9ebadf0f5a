// SPDX-License-Identifier: GPL-2.0
/*
 * cmdcost - what one io_uring command costs when no device does any work.
 *
 *	check	the driver ends the command right after its permission check
 *	turns	the same, two privileged credentials taking turns on the ring
 *	unpriv	refused for lack of privilege, which was dropped after setup
 *	nop	IORING_OP_NOP on an ordinary ring, which must not pay for others
 *	socket	a command that asks for no privilege: bytes to read on a UDP socket
 *
 * Commands go in batches, the SQEs are written once and reused, the file is a
 * registered one. Every result is compared with the expected one: a benchmark of
 * the wrong path is worse than none. A command of these ends while it is being
 * submitted, so no more of them are in flight than a batch has; what -q leaves
 * pending are reads on an empty pipe.
 *
 * Unit: nanoseconds of CLOCK_MONOTONIC per command. Under QEMU's
 * "-icount shift=0" that clock advances by 1 ns per guest instruction, so there
 * the unit is instructions per command, user space (about 20) included.
 * Source: the clock around BATCHES * BATCH commands, once per sample.
 * Errors: timer ticks fall into the samples (below 0.1 % of them), caches and
 * branch prediction do not exist under TCG. Compare medians between kernels. With
 * IORING_SETUP_SQPOLL the kernel's thread shares the clock, its idle turns included.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/capability.h>
#include <linux/nvme_ioctl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* From 6.7 on; the headers of Debian 12 are older. */
#define SOCKET_SIOCINQ	0

static const char usage[] =
	"usage: cmdcost [options] check|turns|unpriv|nop|socket\n"
	"  -d DEV     NVMe generic character device (/dev/ng0n1)\n"
	"  -o OPCODE  NVMe opcode (0x02, a read)\n"
	"  -f FLAGS   NVMe command flags (1, which 6.1 refuses right after the check)\n"
	"  -u         take the data from an unregistered fixed buffer\n"
	"  -e RESULT  expected result of a permitted command (-22)\n"
	"  -a         IOSQE_ASYNC: issued by an io-wq worker, not inline\n"
	"  -b BATCH   commands per submission, a power of two up to 1024 (32)\n"
	"  -r RINGS   rings that take turns, a batch each (1)\n"
	"  -q DEPTH   other requests pending on each ring meanwhile (0)\n"
	"  -S SETUP   more IORING_SETUP_ flags, 0x3000 for SINGLE_ISSUER and DEFER_TASKRUN (0)\n"
	"  -n N       batches per sample (1000)\n"
	"  -s N       samples (15)\n";

static const char *dev = "/dev/ng0n1";
static unsigned int opcode = 0x02;
static unsigned int flags = 1;
static bool unregistered;
static int expected = -EINVAL;
static bool async;
static unsigned int batch = 32;
static unsigned int rings = 1;
static unsigned int depth;
static unsigned int setup;
static unsigned long batches = 1000;
static unsigned long samples = 15;

static void init_ring(struct io_uring *ring, unsigned int flags)
{
	int ret = io_uring_queue_init(batch, ring, flags | setup);

	if (ret)
		errx(1, "io_uring_queue_init: %s", strerror(-ret));
}

/* Before the SQEs are written for good: each batch takes all of them, wherever it starts. */
static void setup_pending(struct io_uring *ring)
{
	static char byte;
	int fds[2], ret;

	if (!depth)
		return;
	if (pipe(fds))
		err(1, "pipe");
	for (unsigned int i = 0; i < depth; i++) {
		io_uring_prep_read(io_uring_get_sqe(ring), fds[0], &byte, 1, 0);
		ret = io_uring_submit(ring);
		if (ret != 1)
			errx(1, "submitted %d of 1 read", ret);
	}
}

static void setup_nop(struct io_uring *ring)
{
	init_ring(ring, 0);
	setup_pending(ring);
	for (unsigned int i = 0; i < batch; i++)
		io_uring_prep_nop(&ring->sq.sqes[i]);
	expected = 0;
}

static void setup_socket(struct io_uring *ring)
{
	struct io_uring_sqe *sqe;
	int fd, ret;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		err(1, "socket");
	init_ring(ring, 0);
	setup_pending(ring);
	ret = io_uring_register_files(ring, &fd, 1);
	if (ret)
		errx(1, "io_uring_register_files: %s", strerror(-ret));
	for (unsigned int i = 0; i < batch; i++) {
		sqe = memset(&ring->sq.sqes[i], 0, sizeof(*sqe));
		sqe->opcode = IORING_OP_URING_CMD;
		sqe->flags = IOSQE_FIXED_FILE;
		sqe->cmd_op = SOCKET_SIOCINQ;
	}
	expected = 0;
}

static void setup_cmd(struct io_uring *ring)
{
	struct nvme_uring_cmd *cmd;
	struct io_uring_sqe *sqe;
	int fd, nsid, ret;

	fd = open(dev, O_RDONLY);
	if (fd < 0)
		err(1, "%s", dev);
	nsid = ioctl(fd, NVME_IOCTL_ID);
	if (nsid < 0)
		err(1, "%s: NVME_IOCTL_ID", dev);

	init_ring(ring, IORING_SETUP_SQE128 | IORING_SETUP_CQE32);
	setup_pending(ring);
	ret = io_uring_register_files(ring, &fd, 1);
	if (ret)
		errx(1, "io_uring_register_files: %s", strerror(-ret));
	if (unregistered) {
		ret = io_uring_register_buffers_sparse(ring, 1);
		if (ret)
			errx(1, "io_uring_register_buffers_sparse: %s", strerror(-ret));
	}

	for (unsigned int i = 0; i < batch; i++) {
		/* An SQE128 entry takes two slots. */
		sqe = memset(&ring->sq.sqes[2 * i], 0, 2 * sizeof(*sqe));
		sqe->opcode = IORING_OP_URING_CMD;
		sqe->flags = IOSQE_FIXED_FILE | (async ? IOSQE_ASYNC : 0);
		sqe->cmd_op = NVME_URING_CMD_IO;
		cmd = (struct nvme_uring_cmd *)sqe->cmd;
		cmd->opcode = opcode;
		cmd->flags = flags;
		cmd->nsid = nsid;
		if (unregistered) {
			sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
			cmd->addr = 4096;
			cmd->data_len = 512;
		}
	}
}

/* Installs a new credential: even an unchanged capset() makes a new object. */
static void new_creds(bool drop_sys_admin)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &hdr, data))
		err(1, "capget");
	if (drop_sys_admin)
		data[0].effective &= ~(1U << CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &hdr, data))
		err(1, "capset");
}

/* The rest of the turns is the credential that main() installs when all rings are set up. */
static void take_turns(struct io_uring *ring)
{
	int id = io_uring_register_personality(ring);

	if (id < 0)
		errx(1, "io_uring_register_personality: %s", strerror(-id));
	for (unsigned int i = 1; i < batch; i += 2)
		ring->sq.sqes[2 * i].personality = id;
}

static void run_batch(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0, n = batch;
	int ret;

	/* SQPOLL's thread posts the CQEs before it gives the SQEs back. */
	while (setup & IORING_SETUP_SQPOLL && io_uring_sq_space_left(ring) < n)
		io_uring_sqring_wait(ring);
	for (unsigned int i = 0; i < n; i++)
		io_uring_get_sqe(ring);
	ret = io_uring_submit_and_wait(ring, n);
	if (ret != (int)n)
		errx(1, "submitted %d of %u", ret, n);
	io_uring_for_each_cqe(ring, head, cqe) {
		if (cqe->res != expected)
			errx(1, "result %d, expected %d", cqe->res, expected);
		seen++;
	}
	if (seen != n)
		errx(1, "%u of %u completed", seen, n);
	io_uring_cq_advance(ring, seen);
}

static double sample(struct io_uring *ring)
{
	struct timespec t0, t1;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (unsigned long i = 0; i < batches; i++)
		run_batch(&ring[i % rings]);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	return ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)) / (batches * batch);
}

int main(int argc, char **argv)
{
	struct io_uring *ring;
	const char *mode;
	int opt;

	while ((opt = getopt(argc, argv, "d:o:f:ue:ab:r:q:S:n:s:")) != -1) {
		switch (opt) {
		case 'd':
			dev = optarg;
			break;
		case 'o':
			opcode = strtoul(optarg, NULL, 0);
			break;
		case 'f':
			flags = strtoul(optarg, NULL, 0);
			break;
		case 'u':
			unregistered = true;
			break;
		case 'e':
			expected = strtol(optarg, NULL, 0);
			break;
		case 'a':
			async = true;
			break;
		case 'b':
			batch = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			rings = strtoul(optarg, NULL, 0);
			break;
		case 'q':
			depth = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			setup = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			batches = strtoul(optarg, NULL, 0);
			break;
		case 's':
			samples = strtoul(optarg, NULL, 0);
			break;
		default:
			errx(2, "%s", usage);
		}
	}
	if (optind != argc - 1 || !batches || !samples || !rings)
		errx(2, "%s", usage);
	if (!batch || batch > 1024 || batch & (batch - 1))
		errx(2, "-b %u: give a power of two up to 1024", batch);
	if (rings > batches)
		errx(2, "-r %u: every ring needs a batch, give -n %u or more", rings, rings);
	mode = argv[optind];
	ring = calloc(rings, sizeof(*ring));
	if (!ring)
		err(1, "calloc");

	for (unsigned int i = 0; i < rings; i++) {
		if (!strcmp(mode, "nop")) {
			setup_nop(&ring[i]);
		} else if (!strcmp(mode, "socket")) {
			setup_socket(&ring[i]);
		} else if (!strcmp(mode, "check") || !strcmp(mode, "unpriv")) {
			setup_cmd(&ring[i]);
		} else if (!strcmp(mode, "turns")) {
			setup_cmd(&ring[i]);
			take_turns(&ring[i]);
		} else {
			errx(2, "%s", usage);
		}
	}
	if (!strcmp(mode, "turns")) {
		new_creds(false);
	} else if (!strcmp(mode, "unpriv")) {
		new_creds(true);
		expected = -EACCES;
	}

	for (unsigned int i = 0; i < 10 * rings; i++)
		run_batch(&ring[i % rings]);
	printf("{\"mode\": \"%s\", \"batch\": %u, \"rings\": %u, \"pending\": %u, \"setup\": %u, ",
	       mode, batch, rings, depth, setup);
	printf("\"commands\": %lu, \"result\": %d, \"ns\": [",
	       (batches * samples + 10 * rings) * batch, expected);
	for (unsigned long i = 0; i < samples; i++)
		printf("%s%.3f", i ? ", " : "", sample(ring));
	puts("]}");
	return 0;
}
