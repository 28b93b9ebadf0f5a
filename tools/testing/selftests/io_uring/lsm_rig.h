/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the LSM revocation tests share: a hot ring, something that hammers it with the same
 * credentials, and a process that changes policy on request.
 */
#ifndef LSM_RIG_H
#define LSM_RIG_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "nvme_ring.h"

/* Submitters take turns on the ring, also from a forked process. */
struct lsm_ring {
	struct ring ring;
	pthread_mutex_t lock;
	atomic_int wanted;	/* the tester waits for the lock: the hammer lets it in */
};

enum lsm_hammer {
	LSM_ALONE,
	LSM_THREAD_SAME_RING,
	LSM_THREAD_OWN_RING,
	LSM_PROCESS_SAME_RING,
};

struct lsm_rig {
	struct nvme_dev dev;
	struct lsm_ring first;		/* the one under test */
	struct lsm_ring second;
	struct lsm_ring *target;	/* the one that is hammered */
	pthread_t thread;
	pid_t process;
	atomic_uint phase;		/* odd while the policy is being changed */
	atomic_int answer;		/* to expect while the phase is even */
	atomic_bool stop;
	atomic_ulong hammered, wrong;
};

/* Keeps the credentials of the moment it was started. */
struct lsm_agent {
	sem_t request, reply;
	int (*act)(int operation);
	int operation, result;
	pid_t process;
};

/* Ends the program with a skip and its reason unless that LSM is active and NVMe usable. */
void lsm_need(const char *name);

/* ALLOWED, REFUSED or another result. */
int lsm_ask(struct lsm_rig *rig, struct lsm_ring *ring, unsigned int sqe_flags);

/* The answer of capable(CAP_SYS_ADMIN), asked without a driver. */
int lsm_capable(void);

/* Sets kernel.io_uring_cmd_priv_cache; 0 or -errno. */
int lsm_set_priv_cache(const char *value);

/* Lives in shared memory; NULL on failure. */
struct lsm_rig *lsm_rig_open(void);
/* The hammer has the credentials of the caller, until it rests. */
int lsm_rig_hammer(struct lsm_rig *rig, enum lsm_hammer hammer);
void lsm_rig_rest(struct lsm_rig *rig);
void lsm_rig_close(struct lsm_rig *rig);

struct lsm_agent *lsm_agent_start(int (*act)(int operation));
int lsm_agent_call(struct lsm_agent *agent, int operation);
void lsm_agent_stop(struct lsm_agent *agent);

#endif
