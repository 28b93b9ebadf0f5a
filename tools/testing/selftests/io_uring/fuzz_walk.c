// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz_actor.h"
#include "fuzz_walk.h"

#define SYSCTL		"/proc/sys/kernel/io_uring_cmd_priv_cache"
#define GIVE_UP		60	/* s without an answer: it hangs */
#define DRAWS		200	/* of a type, and for it, until the operation makes sense */

/* The process that tells the actors what to do, and what it gives back. */
struct walk {
	struct fuzz_trace trace;
	struct fuzz_outcome outcome;
	struct fuzz_model model;
	struct fuzz_shared *shared;
	bool busy[ACTORS];
	unsigned int step[ACTORS];
	struct fuzz_order order[ACTORS];
};

static const struct fuzz_policy *policy;
static struct walk *walk;	/* in shared memory */
static struct nvme_dev dev;
static bool have_sysctl, have_setuid_file;

/* The first failure counts. */
#define fail(number, ...) do {							\
	struct fuzz_outcome *_o = &walk->outcome;				\
										\
	if (!_o->failed) {							\
		snprintf(_o->text, sizeof(_o->text), __VA_ARGS__);		\
		_o->step = (number);						\
		_o->failed = true;						\
	}									\
} while (0)

static int set_sysctl(char digit)
{
	int fd = open(SYSCTL, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, &digit, 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

static bool answered(struct fuzz_box *box, unsigned int step)
{
	struct timespec until;
	int ret;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GIVE_UP;
	do {
		ret = sem_timedwait(&box->reply, &until);
	} while (ret && errno == EINTR);
	if (ret)
		fail(step, "no answer: it hangs or has died");
	return !ret;
}

/* Waits for the answer of an actor and draws the consequences. */
static void finish(unsigned int actor)
{
	struct fuzz_box *box = &walk->shared->box[actor];
	struct fuzz_report *report = &box->report;
	struct fuzz_order *order = &walk->order[actor];
	unsigned int step = walk->step[actor];
	struct fuzz_task *t;

	if (!walk->busy[actor])
		return;
	walk->busy[actor] = false;
	if (!answered(box, step))
		return;

	walk->outcome.commands += report->commands;
	if (report->got)
		fail(step, "command %u: %s instead of %s", report->at,
		     report->got == ALLOWED ? "allowed" :
		     report->got == REFUSED ? "refused" : strerror(-report->got),
		     order->want[report->at & 1] == ALLOWED ? "allowed" : "refused");
	else if (order->op.type == OP_PROBE && report->ret)
		fail(step, "the ring does not work: %d", report->ret);
	if (!fuzz_model_done(&walk->model, &order->op, report->ret))
		fail(step, "returned %d, which the model does not expect", report->ret);
	box = &walk->shared->box[order->op.other];
	if (order->op.type == OP_FORK && !report->ret && answered(box, step))
		fuzz_model_forked(&walk->model, &order->op, box->report.ret);
	t = &walk->model.task[actor];
	if (t->alive && !t->cred.userns &&
	    memcmp(&t->cred.sets, &report->sets, sizeof(report->sets)))
		fail(step, "capabilities are %#llx %#llx %#llx, not %#llx %#llx %#llx as believed",
		     (long long)report->sets.effective, (long long)report->sets.permitted,
		     (long long)report->sets.inheritable, (long long)t->cred.sets.effective,
		     (long long)t->cred.sets.permitted, (long long)t->cred.sets.inheritable);
}

static void finish_all(void)
{
	unsigned int i;

	for (i = 0; i < ACTORS; i++)
		finish(i);
}

static void box_init(struct fuzz_box *box)
{
	sem_init(&box->request, 1, 0);
	sem_init(&box->reply, 1, 0);
}

/* Lets an actor begin; others go on with what they do, unless it must be alone. */
static void begin(unsigned int step, const struct fuzz_op *op)
{
	struct fuzz_order *order = &walk->order[op->actor];
	struct fuzz_model *m = &walk->model;
	unsigned int i, p;

	memset(order, 0, sizeof(*order));
	order->op = *op;
	if (op->type == OP_TRIGGER)
		order->op.ring = m->task[op->actor].deferred_ring;
	for (i = 0; i < 2; i++) {
		p = op->type == OP_PERSONALITY_END ? op->arg % PERSONALITIES :
						     probe_personality(op->arg, i);
		if (p < PERSONALITIES)
			order->personality[i] = m->ring[op->ring].personality[p].id;
		order->want[i] = fuzz_model_allows(m, op, i) ? ALLOWED : REFUSED;
	}
	if (op->type == OP_PROBE) {
		walk->outcome.allowed += order->want[0] == ALLOWED;
		walk->outcome.by_policy += m->task[op->actor].cred.domain > 0;
	}
	order->other_pid = walk->shared->box[op->other].pid;
	if (op->type == OP_FORK || op->type == OP_THREAD)
		box_init(&walk->shared->box[op->other]);

	walk->shared->box[op->actor].order = *order;
	walk->busy[op->actor] = true;
	walk->step[op->actor] = step;
	sem_post(&walk->shared->box[op->actor].request);
}

/* What the world does by itself. */
static bool world_does(unsigned int step, const struct fuzz_op *op)
{
	int ret = 0;

	if (op->type == OP_SYSCTL)
		ret = set_sysctl('0' + op->arg % 3);
	else if (op->type == OP_POLICY)
		ret = policy->set(op->arg % policy->states);
	else
		return false;
	if (ret)
		fail(step, "cannot be done: %s", strerror(-ret));
	else
		fuzz_model_done(&walk->model, op, 0);
	return true;
}

static void take_step(unsigned int step, const struct fuzz_op *op)
{
	/* A sysctl changes no answer, so it may come at any time. */
	if (fuzz_op_alone(op) && op->type != OP_SYSCTL)
		finish_all();
	else if (op->type != OP_SYSCTL)
		finish(op->actor);
	if (walk->outcome.failed || !fuzz_model_possible(&walk->model, op))
		return;
	walk->outcome.operations++;
	if (world_does(step, op))
		return;
	begin(step, op);
	if (fuzz_op_alone(op))
		finish(op->actor);
}

/*
 * First the type, so that those which seldom make sense keep their share. Every other
 * operation is on the last sender, and its commands on the same ring: what it was
 * allowed there may be remembered.
 */
static bool draw(struct rng *rng, struct fuzz_op *last, struct fuzz_op *op)
{
	enum fuzz_type type;
	bool same;
	int i, k;

	for (i = 0; i < DRAWS; i++) {
		type = fuzz_op_type(rng);
		same = rng_one_in(rng, 2);
		for (k = 0; k < DRAWS; k++) {
			*op = fuzz_op_random(rng, type);
			if (same && k < DRAWS / 2)
				op->actor = last->actor;
			if (same && k < DRAWS / 2 && type == OP_PROBE)
				op->ring = last->ring;
			if (!fuzz_model_possible(&walk->model, op))
				continue;
			if (type == OP_PROBE)
				*last = *op;
			return true;
		}
	}
	return false;
}

static int start_world(void)
{
	struct fuzz_cred cred = {};
	pthread_mutexattr_t attr;
	int i, ret, fd = memfd_create("ringcap", 0);

	if (fd < 0 || ftruncate(fd, sizeof(struct fuzz_shared)) || dup2(fd, FD_MEMORY) < 0)
		return -errno;
	walk->shared = fuzz_shared_map();
	if (!walk->shared)
		return -errno;
	walk->shared->nsid = dev.nsid;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	for (i = 0; i < RINGS; i++)
		pthread_mutex_init(&walk->shared->ring[i].lock, &attr);

	ret = (have_sysctl ? set_sysctl('1') : 0) ?: (policy ? policy->set(0) : 0) ?:
	      fuzz_read_sets(&cred.sets);
	for (i = 0; i < 64; i++)
		if (prctl(PR_CAPBSET_READ, i) == 1)
			cred.bounding |= 1ULL << i;
	fuzz_model_init(&walk->model, policy, &cred);
	walk->model.have_sysctl = have_sysctl;
	walk->model.have_setuid_file = have_setuid_file;

	box_init(&walk->shared->box[0]);
	walk->shared->box[0].pid = fork();
	if (!walk->shared->box[0].pid)
		fuzz_actor_run(policy);
	return walk->shared->box[0].pid < 0 ? -errno : ret;
}

static void world(struct rng *rng)
{
	struct fuzz_op last = {};
	unsigned int i;
	int ret = start_world();

	if (ret)
		fail(0, "cannot start: %s", strerror(-ret));
	for (i = 0; i < (rng ? TRACE_MAX : walk->trace.n) && !walk->outcome.failed; i++) {
		if (rng && !draw(rng, &last, &walk->trace.op[i]))
			break;
		if (rng)
			walk->trace.n = i + 1;
		take_step(i, &walk->trace.op[i]);
	}
	finish_all();
}

/* Everybody, also those whose parent has ended. */
static void end_world(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		fail(0, "ended with %#x", status);
	kill(-pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (have_sysctl)
		set_sysctl('1');
}

static void run(struct rng *rng)
{
	pid_t pid;

	memset(&walk->outcome, 0, sizeof(walk->outcome));
	memset(walk->busy, 0, sizeof(walk->busy));
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		world(rng);
		_exit(0);
	}
	end_world(pid);
}

struct fuzz_outcome fuzz_walk_new(struct rng rng, struct fuzz_trace *trace)
{
	walk->trace.n = 0;
	run(&rng);
	*trace = walk->trace;
	return walk->outcome;
}

struct fuzz_outcome fuzz_walk(const struct fuzz_trace *trace)
{
	walk->trace = *trace;
	run(NULL);
	return walk->outcome;
}

int fuzz_open(const struct fuzz_policy *p)
{
	struct statvfs fs;
	int ret;

	policy = p;
	walk = mmap(NULL, sizeof(*walk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (walk == MAP_FAILED)
		return -errno;
	have_sysctl = !access(SYSCTL, W_OK);
	have_setuid_file = !statvfs("/tmp", &fs) && !(fs.f_flag & ST_NOSUID);
	ret = nvme_open(&dev, SERIAL_PLAIN) ?: fuzz_actor_copy(FD_PROGRAM, 0755) ?:
	      fuzz_actor_copy(FD_SETUID_PROGRAM, 04755);
	if (!ret && (dup2(dev.ns, FD_DEVICE) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1)))
		ret = -errno;
	return ret;
}

void fuzz_close(void)
{
	nvme_close(&dev);
	close(FD_DEVICE);
	close(FD_PROGRAM);
	close(FD_SETUID_PROGRAM);
	munmap(walk, sizeof(*walk));
}
