// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <unistd.h>

#include "creds.h"
#include "fuzz_actor.h"

#define SQ_THREAD_IDLE	1	/* ms */

struct actor {
	unsigned int number;
	struct fuzz_shared *shared;
	const struct fuzz_policy *policy;
	struct nvme_dev dev;
	__u32 mapped;
	struct ring ring[RINGS];
};

static void actor_loop(struct actor *a);

static int result(long ret)
{
	return ret < 0 ? -errno : ret;
}

struct fuzz_shared *fuzz_shared_map(void)
{
	struct fuzz_shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED,
				     FD_MEMORY, 0);

	return s == MAP_FAILED ? NULL : s;
}

/* capget() shows what a security module leaves of the sets, and these are asked apart from them. */
int fuzz_read_sets(struct fuzz_sets *sets)
{
	struct {
		const char *name;
		__u64 *set;
	} wanted[] = {
		{ "CapInh:", &sets->inheritable },
		{ "CapPrm:", &sets->permitted },
		{ "CapEff:", &sets->effective },
	};
	char status[4096], *at;
	unsigned int i;
	ssize_t n;
	int fd;

	fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	status[n] = 0;
	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		at = strstr(status, wanted[i].name);
		if (!at)
			return -EIO;
		*wanted[i].set = strtoull(at + strlen(wanted[i].name), NULL, 16);
	}
	return 0;
}

static int change_sets(enum fuzz_capset what)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	struct fuzz_sets sets;
	int i, ret = fuzz_read_sets(&sets);

	if (ret)
		return ret;
	fuzz_capset(&sets, what);
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].effective = sets.effective >> 32 * i;
		data[i].permitted = sets.permitted >> 32 * i;
		data[i].inheritable = sets.inheritable >> 32 * i;
	}
	return result(syscall(SYS_capset, &hdr, data));
}

static struct ring *actor_ring(struct actor *a, unsigned int number)
{
	struct ring *r = &a->ring[number];

	if (a->mapped & 1U << number)
		return r;
	if (ring_map(r, FD_RING + number, &a->shared->ring[number].p))
		return NULL;
	a->mapped |= 1U << number;
	return r;
}

/* The numbers stay what they are wherever the descriptor goes. */
static int place_fd(int fd, int number)
{
	if (fd < 0)
		return -errno;
	if (dup2(fd, number) < 0)
		return -errno;
	close(fd);
	return 0;
}

static int new_ring(struct actor *a, const struct fuzz_op *op)
{
	static const unsigned int flags[RING_KINDS] = {
		[RING_ATTACHED] = IORING_SETUP_ATTACH_WQ,
		[RING_COOP] = IORING_SETUP_COOP_TASKRUN,
		[RING_SINGLE_ISSUER] = IORING_SETUP_SINGLE_ISSUER,
		[RING_DEFER_TASKRUN] = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		[RING_SQPOLL] = IORING_SETUP_SQPOLL,
		[RING_SQPOLL_ATTACHED] = IORING_SETUP_SQPOLL | IORING_SETUP_ATTACH_WQ,
	};
	struct io_uring_params p = {
		.flags = flags[op->arg % RING_KINDS] | IORING_SETUP_SQE128 | IORING_SETUP_CQE32,
		.sq_thread_idle = SQ_THREAD_IDLE,
	};
	int ret;

	if (p.flags & IORING_SETUP_ATTACH_WQ)
		p.wq_fd = FD_RING + op->other;
	ret = place_fd(syscall(SYS_io_uring_setup, PROBES_MAX, &p), FD_RING + op->ring);
	a->shared->ring[op->ring].p = p;
	return ret;
}

static int take_ring(struct actor *a, const struct fuzz_order *order)
{
	int fd = FD_RING + order->op.ring, pidfd, ret;

	pidfd = syscall(SYS_pidfd_open, order->other_pid, 0);
	if (pidfd < 0)
		return -errno;
	ret = place_fd(syscall(SYS_pidfd_getfd, pidfd, fd, 0), fd);
	close(pidfd);
	return ret;
}

static int close_ring(struct actor *a, unsigned int number)
{
	struct ring *r = &a->ring[number];

	if (!(a->mapped & 1U << number))
		return result(close(FD_RING + number));
	a->mapped &= ~(1U << number);
	ring_exit(r);
	return 0;
}

/* What was asked and is not answered as it must: the first of them. */
static void judge(struct fuzz_report *report, const struct fuzz_order *order, const int *res,
		  unsigned int n)
{
	unsigned int i;

	report->commands += n;
	for (i = 0; i < n; i++) {
		if (res[i] == order->want[i & 1])
			continue;
		report->at = i;
		report->got = res[i];
		return;
	}
}

static int probe_batch(struct actor *a, struct ring *r, const struct fuzz_order *order,
		       struct fuzz_report *report)
{
	static const unsigned int flags[MODES] = {
		[MODE_ASYNC] = IOSQE_ASYNC,
		/* Refused or not, the next one follows. */
		[MODE_CHAIN] = IOSQE_IO_HARDLINK,
		[MODE_DRAIN] = IOSQE_IO_DRAIN,
	};
	unsigned int i, n = probe_count(order->op.arg);
	int ret, res[PROBES_MAX];
	struct io_uring_sqe *sqe;

	for (i = 0; i < n; i++) {
		sqe = ring_sqe(r);
		prep_probe(sqe, &a->dev);
		sqe->personality = order->personality[i & 1];
		sqe->flags = flags[probe_mode(order->op.arg)];
		if (i == n - 1)
			sqe->flags &= ~IOSQE_IO_HARDLINK;
	}
	ret = ring_run(r, res);
	if (!ret)
		judge(report, order, res, n);
	return ret;
}

static int probe(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	pthread_mutex_t *lock = &a->shared->ring[order->op.ring].lock;
	struct ring *r = actor_ring(a, order->op.ring);
	int ret = r ? 0 : -EBADF;
	unsigned int i;

	for (i = 0; i < probe_batches(order->op.arg) && !ret && !report->got; i++) {
		pthread_mutex_lock(lock);
		ret = probe_batch(a, r, order, report);
		pthread_mutex_unlock(lock);
	}
	return ret;
}

/* The command is linked behind a poll request, and issued when that completes. */
static int defer(struct actor *a, const struct fuzz_order *order)
{
	pthread_mutex_t *lock = &a->shared->ring[order->op.ring].lock;
	int ret, event = FD_EVENT + a->number;
	struct io_uring_sqe *sqe;
	struct ring *r;

	ret = place_fd(eventfd(0, 0), event);
	r = actor_ring(a, order->op.ring);
	if (ret || !r)
		return ret ?: -EBADF;
	pthread_mutex_lock(lock);
	sqe = ring_sqe(r);
	sqe->opcode = IORING_OP_POLL_ADD;
	sqe->fd = event;
	sqe->poll32_events = POLLIN;
	sqe->flags = IOSQE_IO_LINK;
	sqe = ring_sqe(r);
	prep_probe(sqe, &a->dev);
	sqe->personality = order->personality[0];
	if (probe_mode(order->op.arg) == MODE_ASYNC)
		sqe->flags = IOSQE_ASYNC;
	ret = ring_submit(r);
	pthread_mutex_unlock(lock);
	return ret;
}

static int trigger(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	pthread_mutex_t *lock = &a->shared->ring[order->op.ring].lock;
	struct ring *r = actor_ring(a, order->op.ring);
	int ret, res[2];

	if (!r)
		return -EBADF;
	pthread_mutex_lock(lock);
	ret = eventfd_write(FD_EVENT + a->number, 1) ? -errno : ring_reap(r, 2, res);
	pthread_mutex_unlock(lock);
	if (!ret)
		judge(report, order, &res[1], 1);
	return ret;
}

static int session_to_parent(void)
{
	pid_t pid = fork();

	if (pid)
		return child_result(pid);
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		_exit(errno);
	_exit(syscall(SYS_keyctl, KEYCTL_SESSION_TO_PARENT) ? errno : 0);
}

static int setns_user(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), ret;

	if (pidfd < 0)
		return -errno;
	ret = result(setns(pidfd, CLONE_NEWUSER));
	close(pidfd);
	return ret;
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

static int set_uids(__u32 arg)
{
	return thread_setresuid(fuzz_uids[arg & 3], fuzz_uids[arg >> 2 & 3],
				fuzz_uids[arg >> 4 & 3]);
}

static int set_ambient(__u32 arg)
{
	return result(arg & 1 ? prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0) :
				prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
}

static int act(struct actor *a, const struct fuzz_order *order, struct fuzz_report *report)
{
	const struct fuzz_op *op = &order->op;
	int fd = FD_RING + op->ring;

	switch (op->type) {
	case OP_PROBE:
		return probe(a, order, report);
	case OP_DEFER:
		return defer(a, order);
	case OP_TRIGGER:
		return trigger(a, order, report);
	case OP_CAPSET:
		return change_sets(op->arg % CAPSETS);
	case OP_SETRESUID:
		return set_uids(op->arg);
	case OP_KEEPCAPS:
		return result(prctl(PR_SET_KEEPCAPS, op->arg & 1));
	case OP_SECUREBITS:
		return result(prctl(PR_SET_SECUREBITS, fuzz_securebits[op->arg & 3]));
	case OP_BOUNDING:
		return result(prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN));
	case OP_NO_NEW_PRIVS:
		return result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	case OP_AMBIENT:
		return set_ambient(op->arg);
	case OP_JOIN_SESSION:
		return result(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL));
	case OP_REQUEST_KEYRING:
		return result(syscall(SYS_keyctl, KEYCTL_SET_REQKEY_KEYRING,
				      op->arg & 1 ? KEY_REQKEY_DEFL_THREAD_KEYRING :
						    KEY_REQKEY_DEFL_PROCESS_KEYRING));
	case OP_SESSION_TO_PARENT:
		return session_to_parent();
	case OP_UNSHARE_USER:
		return result(unshare(CLONE_NEWUSER));
	case OP_DOMAIN:
		return a->policy->enter(1 + op->arg % (a->policy->domains - 1));
	case OP_SETNS_USER:
		return setns_user(order->other_pid);
	case OP_FORK:
		return fork_actor(a, op);
	case OP_THREAD:
		return thread_actor(a, op);
	case OP_EXEC:
		return exec_actor(a, op->arg & 1);
	case OP_RING_NEW:
		return new_ring(a, op);
	case OP_RING_TAKE:
		return take_ring(a, order);
	case OP_RING_CLOSE:
		return close_ring(a, op->ring);
	case OP_PERSONALITY:
		return result(syscall(SYS_io_uring_register, fd, IORING_REGISTER_PERSONALITY,
				      NULL, 0));
	case OP_PERSONALITY_END:
		return result(syscall(SYS_io_uring_register, fd, IORING_UNREGISTER_PERSONALITY,
				      NULL, order->personality[0]));
	default:
		return -EINVAL;
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
