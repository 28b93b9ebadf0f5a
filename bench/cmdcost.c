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
 * Commands go in batches of 32, the SQEs are written once and reused, the file
 * is a registered one. Every result is compared with the expected one: a
 * benchmark of the wrong path is worse than none.
 *
 * Unit: nanoseconds of CLOCK_MONOTONIC per command. Under QEMU's
 * "-icount shift=0" that clock advances by 1 ns per guest instruction, so there
 * the unit is instructions per command, user space (about 20) included.
 * Source: the clock around BATCHES * 32 commands, once per sample.
 * Errors: timer ticks fall into the samples (below 0.1 % of them), caches and
 * branch prediction do not exist under TCG. Compare medians between kernels.
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

#define BATCH		32

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
	"  -n N       batches of 32 per sample (1000)\n"
	"  -s N       samples (15)\n";

static const char *dev = "/dev/ng0n1";
static unsigned int opcode = 0x02;
static unsigned int flags = 1;
static bool unregistered;
static int expected = -EINVAL;
static bool async;
static unsigned long batches = 1000;
static unsigned long samples = 15;

static void setup_nop(struct io_uring *ring)
{
	int ret = io_uring_queue_init(BATCH, ring, 0);

	if (ret)
		errx(1, "io_uring_queue_init: %s", strerror(-ret));
	for (int i = 0; i < BATCH; i++)
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
	ret = io_uring_queue_init(BATCH, ring, 0);
	if (ret)
		errx(1, "io_uring_queue_init: %s", strerror(-ret));
	ret = io_uring_register_files(ring, &fd, 1);
	if (ret)
		errx(1, "io_uring_register_files: %s", strerror(-ret));
	for (int i = 0; i < BATCH; i++) {
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

	ret = io_uring_queue_init(BATCH, ring, IORING_SETUP_SQE128 | IORING_SETUP_CQE32);
	if (ret)
		errx(1, "io_uring_queue_init: %s", strerror(-ret));
	ret = io_uring_register_files(ring, &fd, 1);
	if (ret)
		errx(1, "io_uring_register_files: %s", strerror(-ret));
	if (unregistered) {
		ret = io_uring_register_buffers_sparse(ring, 1);
		if (ret)
			errx(1, "io_uring_register_buffers_sparse: %s", strerror(-ret));
	}

	for (int i = 0; i < BATCH; i++) {
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

static void take_turns(struct io_uring *ring)
{
	int id = io_uring_register_personality(ring);

	if (id < 0)
		errx(1, "io_uring_register_personality: %s", strerror(-id));
	new_creds(false);
	for (int i = 1; i < BATCH; i += 2)
		ring->sq.sqes[2 * i].personality = id;
}

static void run_batch(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0;
	int ret;

	for (int i = 0; i < BATCH; i++)
		io_uring_get_sqe(ring);
	ret = io_uring_submit_and_wait(ring, BATCH);
	if (ret != BATCH)
		errx(1, "submitted %d of %d", ret, BATCH);
	io_uring_for_each_cqe(ring, head, cqe) {
		if (cqe->res != expected)
			errx(1, "result %d, expected %d", cqe->res, expected);
		seen++;
	}
	if (seen != BATCH)
		errx(1, "%u of %d completed", seen, BATCH);
	io_uring_cq_advance(ring, seen);
}

static double sample(struct io_uring *ring)
{
	struct timespec t0, t1;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (unsigned long i = 0; i < batches; i++)
		run_batch(ring);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	return ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)) / (batches * BATCH);
}

int main(int argc, char **argv)
{
	struct io_uring ring;
	const char *mode;
	int opt;

	while ((opt = getopt(argc, argv, "d:o:f:ue:an:s:")) != -1) {
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
	if (optind != argc - 1 || !batches || !samples)
		errx(2, "%s", usage);
	mode = argv[optind];

	if (!strcmp(mode, "nop")) {
		setup_nop(&ring);
	} else if (!strcmp(mode, "socket")) {
		setup_socket(&ring);
	} else if (!strcmp(mode, "check")) {
		setup_cmd(&ring);
	} else if (!strcmp(mode, "turns")) {
		setup_cmd(&ring);
		take_turns(&ring);
	} else if (!strcmp(mode, "unpriv")) {
		setup_cmd(&ring);
		new_creds(true);
		expected = -EACCES;
	} else {
		errx(2, "%s", usage);
	}

	for (int i = 0; i < 10; i++)
		run_batch(&ring);
	printf("{\"mode\": \"%s\", \"batch\": %d, \"commands\": %lu, \"result\": %d, \"ns\": [",
	       mode, BATCH, (batches * samples + 10) * BATCH, expected);
	for (unsigned long i = 0; i < samples; i++)
		printf("%s%.3f", i ? ", " : "", sample(&ring));
	puts("]}");
	return 0;
}
