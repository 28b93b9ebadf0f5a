// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest.h"
#include "lsm_file.h"
#include "lsm_rig.h"

static bool active(const char *name)
{
	char list[256] = "", *save = NULL, *entry;
	FILE *f = fopen("/sys/kernel/security/lsm", "re");

	if (!f)
		return false;
	if (!fgets(list, sizeof(list), f))
		list[0] = '\0';
	fclose(f);

	entry = strtok_r(list, ",\n", &save);
	while (entry && strcmp(entry, name))
		entry = strtok_r(NULL, ",\n", &save);
	return entry;
}

void lsm_need(const char *name)
{
	if (!active(name))
		ksft_exit_skip("%s is not active: boot with lsm=%s\n", name, name);
	need_nvme(SERIAL_PLAIN);
}

int lsm_capable(void)
{
	/* The permission is asked first, then comes the impossible length. */
	return syscall(SYS_sethostname, NULL, -1) && errno == EINVAL ? ALLOWED : REFUSED;
}

int lsm_set_priv_cache(const char *value)
{
	return file_write_text("/proc/sys/kernel/io_uring_cmd_priv_cache", value);
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int lsm_ring_init(struct lsm_ring *ring)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&ring->lock, &attr);
	return ring_init(&ring->ring, 0);
}

struct lsm_rig *lsm_rig_open(void)
{
	struct lsm_rig *rig = shared(sizeof(*rig));
	int ret;

	if (!rig)
		return NULL;
	ret = nvme_open(&rig->dev, SERIAL_PLAIN) ?: lsm_ring_init(&rig->first) ?:
	      lsm_ring_init(&rig->second);
	if (!ret)
		return rig;
	ksft_print_msg("cannot open rings and the NVMe device: %s\n", strerror(-ret));
	munmap(rig, sizeof(*rig));
	return NULL;
}

int lsm_ask(struct lsm_rig *rig, struct lsm_ring *ring, unsigned int sqe_flags)
{
	int ret;

	ring->wanted++;
	pthread_mutex_lock(&ring->lock);
	ring->wanted--;
	ret = ring_probe_as(&ring->ring, &rig->dev, sqe_flags, 0);
	pthread_mutex_unlock(&ring->lock);
	return ret;
}

/* What is answered within one phase must be that phase's answer. */
static void *hammer_loop(void *arg)
{
	struct lsm_rig *rig = arg;
	struct lsm_ring *target = rig->target;
	unsigned int phase;
	int want, got;

	while (!rig->stop) {
		while (target->wanted && !rig->stop)
			sched_yield();
		phase = rig->phase;
		want = rig->answer;
		pthread_mutex_lock(&target->lock);
		got = ring_probe(&target->ring, &rig->dev);
		pthread_mutex_unlock(&target->lock);
		rig->hammered++;
		if (got != ALLOWED && got != REFUSED)
			rig->wrong++;
		else if (phase % 2 == 0 && phase == rig->phase && got != want)
			rig->wrong++;
	}
	return NULL;
}

int lsm_rig_hammer(struct lsm_rig *rig, enum lsm_hammer hammer)
{
	rig->stop = false;
	rig->target = hammer == LSM_THREAD_OWN_RING ? &rig->second : &rig->first;

	if (hammer == LSM_THREAD_SAME_RING || hammer == LSM_THREAD_OWN_RING)
		return -pthread_create(&rig->thread, NULL, hammer_loop, rig);
	if (hammer != LSM_PROCESS_SAME_RING)
		return 0;

	rig->process = fork();
	if (rig->process < 0)
		return -errno;
	if (!rig->process) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hammer_loop(rig);
		_exit(0);
	}
	return 0;
}

void lsm_rig_rest(struct lsm_rig *rig)
{
	rig->stop = true;
	if (rig->thread)
		pthread_join(rig->thread, NULL);
	if (rig->process > 0)
		waitpid(rig->process, NULL, 0);
	rig->thread = 0;
	rig->process = 0;
}

void lsm_rig_close(struct lsm_rig *rig)
{
	if (!rig)
		return;
	lsm_rig_rest(rig);
	ring_exit(&rig->first.ring);
	ring_exit(&rig->second.ring);
	nvme_close(&rig->dev);
	munmap(rig, sizeof(*rig));
}

static void agent_loop(struct lsm_agent *agent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (sem_wait(&agent->request))
			continue;
		agent->result = agent->act(agent->operation);
		sem_post(&agent->reply);
	}
}

struct lsm_agent *lsm_agent_start(int (*act)(int operation))
{
	struct lsm_agent *agent = shared(sizeof(*agent));

	if (!agent)
		return NULL;
	agent->act = act;
	sem_init(&agent->request, 1, 0);
	sem_init(&agent->reply, 1, 0);
	agent->process = fork();
	if (!agent->process)
		agent_loop(agent);
	return agent;
}

/* Futexes only: the caller meets no hook on the way that might refresh its credentials. */
int lsm_agent_call(struct lsm_agent *agent, int operation)
{
	agent->operation = operation;
	sem_post(&agent->request);
	while (sem_wait(&agent->reply))
		;
	return agent->result;
}

void lsm_agent_stop(struct lsm_agent *agent)
{
	if (!agent)
		return;
	if (agent->process > 0) {
		kill(agent->process, SIGKILL);
		waitpid(agent->process, NULL, 0);
	}
	munmap(agent, sizeof(*agent));
}
