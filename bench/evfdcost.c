// SPDX-License-Identifier: GPL-2.0
/*
 * evfdcost - what a ring's registered eventfd costs.
 *
 *	plain		IORING_OP_NOP, one per submission, no eventfd registered
 *	signalled	the same with an eventfd: every CQE is signalled by itself
 *	cycle		register and unregister an eventfd
 *	run PROGRAM	a whole program, which must succeed
 *
 * "signalled" compares the eventfd's count with the number of NOPs, "cycle" demands
 * that the requests which were pending still are: a benchmark of the wrong path is
 * worse than none. Nothing here needs more than a 5.10 kernel.
 *
 * Unit: nanoseconds of CLOCK_MONOTONIC per NOP, cycle or program. Under QEMU's
 * "-icount shift=0" that is instructions, user space included, as long as nothing
 * sleeps.
 * Source: the clock around each sample.
 * Errors: timer ticks and RCU callbacks fall into the samples. A sample that the time
 * limit cuts short counts what it completed, up to one cycle too little. When not
 * even one cycle ends within the limit, "ns" is empty.
 */
#include <err.h>
#include <errno.h>
#include <liburing.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES		128

static const char usage[] =
	"usage: evfdcost [options] plain|signalled|cycle|run PROGRAM\n"
	"  -p N  requests pending meanwhile, reads on an empty pipe (0)\n"
	"  -n N  NOPs or cycles per sample (1000)\n"
	"  -s N  samples (5)\n"
	"  -l N  seconds after which cycles are given up (5)\n";

static unsigned long pending;
static unsigned long count = 1000;
static unsigned long samples = 5;
static unsigned int limit = 5;

static struct io_uring ring;
static int evfd;
static uint64_t nops;
static volatile sig_atomic_t expired;

static void on_alarm(int sig)
{
	(void)sig;
	expired = 1;
}

static void setup_ring(void)
{
	int ret = io_uring_queue_init(ENTRIES, &ring, 0);

	if (ret)
		errx(1, "io_uring_queue_init: %s", strerror(-ret));
	evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (evfd < 0)
		err(1, "eventfd");
}

static void setup_pending(void)
{
	struct io_uring_sqe *sqe;
	static char byte;
	int fds[2];

	if (pipe(fds))
		err(1, "pipe");
	for (unsigned long i = 0; i < pending; i++) {
		sqe = io_uring_get_sqe(&ring);
		if (!sqe) {
			io_uring_submit(&ring);
			sqe = io_uring_get_sqe(&ring);
		}
		io_uring_prep_read(sqe, fds[0], &byte, 1, 0);
	}
	io_uring_submit(&ring);
}

static void nop(void)
{
	struct io_uring_cqe *cqe;
	int ret;

	io_uring_prep_nop(io_uring_get_sqe(&ring));
	ret = io_uring_submit(&ring);
	if (ret != 1)
		errx(1, "submitted %d of 1", ret);
	if (io_uring_peek_cqe(&ring, &cqe) || cqe->res)
		errx(1, "the NOP did not complete at once");
	io_uring_cqe_seen(&ring, cqe);
	nops++;
}

static bool succeeded(int ret, const char *what)
{
	if (ret && !(ret == -EINTR && expired))
		errx(1, "%s: %s", what, strerror(-ret));
	return !ret;
}

static bool cycle(void)
{
	return succeeded(io_uring_register_eventfd(&ring, evfd), "register") &&
	       succeeded(io_uring_unregister_eventfd(&ring), "unregister");
}

static void run(const char *program)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execl(program, program, NULL);
		err(127, "%s", program);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "%s: wait status %d", program, status);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Nanoseconds per cycle; 0 when the limit left no complete sample. */
static double sample_cycles(bool first)
{
	double t0 = now(), t1;
	unsigned long done = 0;

	while (done < count && !expired && cycle())
		done++;
	t1 = now();
	return done == count || (first && done) ? (t1 - t0) / done : 0;
}

static double sample_nops(void)
{
	double t0 = now();

	for (unsigned long i = 0; i < count; i++)
		nop();
	return (now() - t0) / count;
}

static double sample_run(const char *program)
{
	double t0 = now();

	run(program);
	return now() - t0;
}

static void verify_signals(void)
{
	uint64_t signals = 0;

	if (read(evfd, &signals, sizeof(signals)) < 0 && errno != EAGAIN)
		err(1, "read of the eventfd");
	if (signals != nops)
		errx(1, "%ju signals for %ju CQEs", (uintmax_t)signals, (uintmax_t)nops);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	const char *mode, *program = NULL;
	bool cycles, nop_mode;
	double ns;
	int opt;

	while ((opt = getopt(argc, argv, "p:n:s:l:")) != -1) {
		switch (opt) {
		case 'p':
			pending = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			count = strtoul(optarg, NULL, 0);
			break;
		case 's':
			samples = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			limit = strtoul(optarg, NULL, 0);
			break;
		default:
			errx(2, "%s", usage);
		}
	}
	mode = optind < argc ? argv[optind] : "";
	if (!strcmp(mode, "run"))
		program = argv[++optind];
	cycles = !strcmp(mode, "cycle");
	nop_mode = !strcmp(mode, "plain") || !strcmp(mode, "signalled");
	if (optind != argc - 1 || !(cycles || nop_mode || program) || !count || !samples)
		errx(2, "%s", usage);

	setup_ring();
	setup_pending();
	if (!strcmp(mode, "signalled"))
		succeeded(io_uring_register_eventfd(&ring, evfd), "register");
	for (int i = 0; nop_mode && i < 100; i++)
		nop();
	if (cycles) {
		/* Without SA_RESTART: a waiting io_uring_register() ends. */
		sigaction(SIGALRM, &sa, NULL);
		alarm(limit);
	}

	printf("{\"mode\": \"%s\", \"pending\": %lu, \"count\": %lu, \"limit\": %u, \"ns\": [",
	       mode, pending, count, limit);
	for (unsigned long i = 0; i < samples && !expired; i++) {
		ns = cycles ? sample_cycles(!i) : program ? sample_run(program) : sample_nops();
		if (ns)
			printf("%s%.3f", i ? ", " : "", ns);
	}
	puts("]}");

	if (!strcmp(mode, "signalled"))
		verify_signals();
	if (io_uring_cq_ready(&ring))
		errx(1, "pending requests have completed");
	return 0;
}
