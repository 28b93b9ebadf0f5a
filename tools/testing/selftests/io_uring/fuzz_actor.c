// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz_act.h"

#define COPY	"/tmp/ringcap-fuzz"

static void actor_loop(struct actor *a);

struct fuzz_shared *fuzz_shared_map(void)
{
	struct fuzz_shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED,
				     FD_MEMORY, 0);

	return s == MAP_FAILED ? NULL : s;
}

static void reply(struct actor *a, struct fuzz_report *report)
{
	struct fuzz_box *box = &a->shared->box[a->number];

	fuzz_read_sets(&report->sets);
	box->report = *report;
	sem_post(&box->reply);
}

static int fork_actor(struct actor *a, const struct fuzz_op *op)
{
	struct fuzz_report report = {};
	pid_t pid;

	/* With CLONE_FILES it shares descriptors, and rings that are made later. */
	pid = op->arg & 1 ? syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) : fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		a->number = op->other;
		/* Now it is alone in its process: later a module may refuse the domain. */
		report.ret = fork_domain(op, a->policy) ?
			     a->policy->enter(fork_domain(op, a->policy)) : 0;
		reply(a, &report);
		actor_loop(a);
	}
	a->shared->box[op->other].pid = pid;
	return 0;
}

static void *thread_main(void *arg)
{
	actor_loop(arg);
	return NULL;
}

static int thread_actor(struct actor *a, const struct fuzz_op *op)
{
	struct actor *new = calloc(1, sizeof(*new));
	pthread_t thread;

	if (!new)
		return -ENOMEM;
	new->number = op->other;
	new->shared = a->shared;
	new->policy = a->policy;
	new->dev = a->dev;
	a->shared->box[op->other].pid = getpid();
	return -pthread_create(&thread, NULL, thread_main, new);
}

static int exec_actor(struct actor *a, bool setuid_file)
{
	char number[8], option[] = ACTOR_ARG;
	char *const argv[] = { option, option, number, NULL };
	char *const envp[] = { NULL };

	snprintf(number, sizeof(number), "%u", a->number);
	return result(fexecve(setuid_file ? FD_SETUID_PROGRAM : FD_PROGRAM, argv, envp));
}

static int act(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	const struct fuzz_op *op = &order->op;

	switch (op->type) {
	case OP_FORK:
		return fork_actor(a, op);
	case OP_THREAD:
		return thread_actor(a, op);
	case OP_EXEC:
		return exec_actor(a, op->arg & 1);
	case OP_DOMAIN:
		return a->policy->enter(1 + op->arg % (a->policy->domains - 1));
	case OP_PROBE:
	case OP_DEFER:
	case OP_TRIGGER:
	case OP_RING_NEW:
	case OP_RING_TAKE:
	case OP_RING_CLOSE:
	case OP_PERSONALITY:
	case OP_PERSONALITY_END:
		return fuzz_act_ring(a, order, report);
	default:
		return fuzz_act_cred(order);
	}
}

static void actor_loop(struct actor *a)
{
	struct fuzz_report report;
	struct fuzz_order order;
	struct fuzz_box *box;

	for (;;) {
		box = &a->shared->box[a->number];
		if (sem_wait(&box->request))
			continue;
		order = box->order;
		memset(&report, 0, sizeof(report));
		if (order.op.type != OP_EXIT) {
			report.ret = act(a, &order, &report);
			reply(a, &report);
			continue;
		}
		reply(a, &report);
		if (getpid() == gettid())
			_exit(0);
		pthread_exit(NULL);
	}
}

static struct actor first;

static void start(unsigned int number, const struct fuzz_policy *policy)
{
	first.number = number;
	first.policy = policy;
	first.shared = fuzz_shared_map();
	if (!first.shared)
		_exit(1);
	first.dev.ns = FD_DEVICE;
	first.dev.nsid = first.shared->nsid;
}

void fuzz_actor_run(const struct fuzz_policy *policy)
{
	start(0, policy);
	actor_loop(&first);
}

void fuzz_actor_main(int argc, char **argv, const struct fuzz_policy *policy)
{
	struct fuzz_report report = {};

	if (argc != 3 || strcmp(argv[1], ACTOR_ARG))
		return;
	start(strtoul(argv[2], NULL, 10), policy);
	/* The answer to OP_EXEC. */
	reply(&first, &report);
	actor_loop(&first);
}

int fuzz_actor_copy(int number, mode_t mode)
{
	int in, out, fd, ret = 0;

	in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	out = open(COPY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (in < 0 || out < 0 || fchmod(out, mode))
		ret = -errno;
	while (!ret && (ret = sendfile(out, in, NULL, 1 << 20)) > 0)
		ret = 0;
	if (ret < 0)
		ret = -errno;
	/* Writing takes the bit away. */
	if (!ret && fchmod(out, mode))
		ret = -errno;
	close(in);
	close(out);
	fd = ret ? -1 : open(COPY, O_RDONLY);
	if (!ret && (fd < 0 || dup2(fd, number) < 0))
		ret = -errno;
	close(fd);
	unlink(COPY);
	return ret;
}
