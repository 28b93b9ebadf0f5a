// SPDX-License-Identifier: GPL-2.0
/*
 * fdpwrite - what an NVMe write with a placement handle (FDP) costs, and where it went.
 *
 * Writes go in batches of 32 through the generic character device, each with directive
 * type 2 and a placement identifier of the namespace, the handles one after the other.
 * Before a sample its handle gets an empty reclaim unit; after it the controller's own
 * status must say that exactly what was written is gone from that handle's reclaim unit,
 * and nothing from any other: a write that landed elsewhere ends the run. The namespace's
 * first 32 blocks are overwritten.
 *
 * Unit: nanoseconds of CLOCK_MONOTONIC per write, submission to completion; bytes placed
 * with each handle. Under QEMU's "-icount shift=0" nanoseconds are instructions, user
 * space included.
 * Source: the clock around each batch, of a sample's batches the median; the reclaim unit
 * handle status before and after.
 * Errors: the emulated device answers in the host's time, so that a mean would vary by
 * some per cent. The median repeats to 0.1, except in a sample whose device was slow in
 * most batches. What earlier work left of the slab allocator's lists shows as well (up to
 * 2 %): compare runs with the same past. Status and update commands are in no sample and
 * not among "commands".
 */
#include <endian.h>
#include <err.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/nvme_ioctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH		32
#define WARMUP		10
#define MAX_HANDLES	64

#define OP_WRITE	0x01
#define OP_IDENTIFY	0x06
#define OP_MGMT_RECEIVE	0x12	/* with operation 1: reclaim unit handle status */
#define OP_MGMT_SEND	0x1d	/* with operation 1: reclaim unit handle update */
#define DATA_PLACEMENT	2	/* the directive's type */

static const char usage[] =
	"usage: fdpwrite [options]\n"
	"  -d DEV  NVMe generic character device of a namespace with FDP, whose data are lost\n"
	"  -r      open it read-only: writes are then allowed to the privileged alone\n"
	"  -n N    batches of 32 writes of one block per sample (300)\n"
	"  -s N    samples per handle (2)\n";

struct handle_status {
	uint16_t pid;
	uint16_t ruhid;
	uint32_t time_left;
	uint64_t media_left;	/* in blocks */
	uint8_t reserved[16];
};

struct status {
	uint8_t reserved[14];
	uint16_t handles;
	struct handle_status handle[MAX_HANDLES];
};

static const char *dev;
static bool read_only;
static unsigned long batches = 300;
static unsigned long samples = 2;

static int fd;
static int nsid;
static unsigned int block_size;
static struct io_uring ring;
static uint64_t *batch_ns;
static uint64_t placed[MAX_HANDLES];	/* in blocks, by the controller's account */
/* A page that the children which send management commands share with us. */
static void *shared;

/*
 * In a child: capcount.sh, which counts this process, is to see the writes alone.
 */
static void manage(bool admin, unsigned int opcode, uint32_t cdw10, uint32_t cdw11, uint32_t len)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = opcode,
		.nsid = nsid,
		.addr = (uintptr_t)shared,
		.data_len = len,
		.cdw10 = cdw10,
		.cdw11 = cdw11,
	};
	int ret, status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		ret = ioctl(fd, admin ? NVME_IOCTL_ADMIN_CMD : NVME_IOCTL_IO_CMD, &cmd);
		if (ret < 0)
			warn("%s: opcode 0x%x", dev, opcode);
		else if (ret)
			warnx("%s: opcode 0x%x: NVMe status 0x%x: give a namespace with FDP", dev, opcode, ret);
		_exit(!!ret);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void get_status(struct status *status)
{
	manage(false, OP_MGMT_RECEIVE, 1, sizeof(*status) / 4 - 1, sizeof(*status));
	memcpy(status, shared, sizeof(*status));
	status->handles = le16toh(status->handles);
	if (!status->handles || status->handles > MAX_HANDLES)
		errx(1, "%s: %u placement handles: give a namespace with 1 to %d", dev, status->handles, MAX_HANDLES);
}

static void new_reclaim_unit(uint16_t pid)
{
	memcpy(shared, &pid, sizeof(pid));
	manage(false, OP_MGMT_SEND, 1, 0, sizeof(pid));
}

static void setup_device(void)
{
	const uint8_t *id;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	fd = open(dev, read_only ? O_RDONLY : O_RDWR);
	if (fd < 0)
		err(1, "%s", dev);
	nsid = ioctl(fd, NVME_IOCTL_ID);
	if (nsid < 0)
		err(1, "%s: NVME_IOCTL_ID", dev);
	manage(true, OP_IDENTIFY, 0, 0, 4096);
	id = shared;
	/* The format in use, and its exponent of the block size. */
	block_size = 1U << id[128 + 4 * (id[26] & 0xf) + 2];
}

static void setup_ring(void)
{
	struct nvme_uring_cmd *cmd;
	struct io_uring_sqe *sqe;
	void *data;
	int ret;

	data = aligned_alloc(4096, BATCH * block_size);
	batch_ns = calloc(batches, sizeof(*batch_ns));
	if (!data || !batch_ns)
		err(1, "malloc");
	memset(data, 0x5a, BATCH * block_size);
	ret = io_uring_queue_init(BATCH, &ring, IORING_SETUP_SQE128 | IORING_SETUP_CQE32);
	if (ret)
		errx(1, "io_uring_queue_init: %s", strerror(-ret));
	ret = io_uring_register_files(&ring, &fd, 1);
	if (ret)
		errx(1, "io_uring_register_files: %s", strerror(-ret));

	for (int i = 0; i < BATCH; i++) {
		/* An SQE128 entry takes two slots. */
		sqe = &ring.sq.sqes[2 * i];
		*sqe = (struct io_uring_sqe){
			.opcode = IORING_OP_URING_CMD,
			.flags = IOSQE_FIXED_FILE,
			.cmd_op = NVME_URING_CMD_IO,
		};
		cmd = (struct nvme_uring_cmd *)sqe->cmd;
		*cmd = (struct nvme_uring_cmd){
			.opcode = OP_WRITE,
			.nsid = nsid,
			.addr = (uintptr_t)data + i * block_size,
			.data_len = block_size,
			.cdw10 = i,
			.cdw12 = DATA_PLACEMENT << 20,
		};
	}
}

static void set_placement(uint16_t pid)
{
	for (int i = 0; i < BATCH; i++)
		((struct nvme_uring_cmd *)ring.sq.sqes[2 * i].cmd)->cdw13 = (uint32_t)le16toh(pid) << 16;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Returns how long it took. */
static uint64_t write_batch(void)
{
	struct io_uring_cqe *cqe;
	uint64_t start = now();
	int ret;

	for (int i = 0; i < BATCH; i++)
		io_uring_get_sqe(&ring);
	ret = io_uring_submit_and_wait(&ring, BATCH);
	if (ret != BATCH)
		errx(1, "submitted %d of %d", ret, BATCH);
	for (int i = 0; i < BATCH; i++) {
		ret = io_uring_wait_cqe(&ring, &cqe);
		if (ret)
			errx(1, "io_uring_wait_cqe: %s", strerror(-ret));
		if (cqe->res)
			errx(1, "write: result %d, expected 0", cqe->res);
		io_uring_cqe_seen(&ring, cqe);
	}
	return now() - start;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* One sample with handle H, and the proof that it went there. */
static double sample(unsigned int h)
{
	struct status before, after;
	uint64_t wanted = batches * BATCH;

	get_status(&before);
	new_reclaim_unit(before.handle[h].pid);
	get_status(&before);
	/* One that is full is replaced at once, and looks untouched. */
	if (le64toh(before.handle[h].media_left) <= wanted)
		errx(1, "a sample does not fit into a reclaim unit: give -n %llu or less",
		     (unsigned long long)(le64toh(before.handle[h].media_left) - 1) / BATCH);

	set_placement(before.handle[h].pid);
	for (unsigned long i = 0; i < batches; i++)
		batch_ns[i] = write_batch();
	get_status(&after);
	for (unsigned int i = 0; i < before.handles; i++) {
		uint64_t gone = le64toh(before.handle[i].media_left) - le64toh(after.handle[i].media_left);

		if (gone != (i == h ? wanted : 0))
			errx(1, "%llu blocks written with handle %u took %lld blocks of handle %u",
			     (unsigned long long)wanted, h, (long long)gone, i);
		placed[i] += gone;
	}

	qsort(batch_ns, batches, sizeof(*batch_ns), by_value);
	return (double)batch_ns[batches / 2] / BATCH;
}

int main(int argc, char **argv)
{
	struct status status;
	unsigned long n;
	int opt;

	while ((opt = getopt(argc, argv, "d:rn:s:")) != -1) {
		switch (opt) {
		case 'd':
			dev = optarg;
			break;
		case 'r':
			read_only = true;
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
	if (optind != argc || !dev || !batches || !samples)
		errx(2, "%s", usage);

	setup_device();
	setup_ring();
	get_status(&status);
	n = samples * status.handles;
	for (int i = 0; i < WARMUP; i++)
		write_batch();
	printf("{\"batch\": %d, \"commands\": %lu, \"ns\": [", BATCH, (n * batches + WARMUP) * BATCH);
	for (unsigned long i = 0; i < n; i++)
		printf("%s%.3f", i ? ", " : "", sample(i % status.handles));
	printf("], \"placed\": [");
	for (unsigned int i = 0; i < status.handles; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)placed[i] * block_size);
	puts("]}");
	return 0;
}
