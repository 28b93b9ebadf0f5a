/* SPDX-License-Identifier: GPL-2.0 */
/* A thread or process that carries out operations, and the memory by which it is told. */
#ifndef FUZZ_ACTOR_H
#define FUZZ_ACTOR_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

#include "fuzz_model.h"
#include "nvme_ring.h"

/* Descriptors have fixed numbers, so that they need not be passed on at exec. */
enum {
	FD_MEMORY = 100,
	FD_DEVICE,
	FD_PROGRAM,
	FD_SETUID_PROGRAM,
	FD_EVENT,		/* of the first actor */
	FD_RING = FD_EVENT + ACTORS,
};

/* The argument that makes a program an actor after exec; its number comes next. */
#define ACTOR_ARG	"--fuzz-actor"

struct fuzz_order {
	struct fuzz_op op;
	/* The two personalities and answers that the commands take in turns. */
	int personality[2];
	int want[2];
	pid_t other_pid;
};

struct fuzz_report {
	int ret;
	unsigned int commands;	/* that were judged */
	unsigned int at;	/* the one that was not answered as it must, ... */
	int got;		/* ... by this; 0: all were */
	struct fuzz_sets sets;
};

struct fuzz_shared {
	unsigned int nsid;
	struct fuzz_box {
		sem_t request, reply;
		struct fuzz_order order;
		struct fuzz_report report;
		pid_t pid;
	} box[ACTORS];
	struct {
		pthread_mutex_t lock;	/* who sends takes the CQEs */
		struct io_uring_params p;
	} ring[RINGS];
};

/* Carries out what actor 0 is told; does not return. */
void fuzz_actor_run(const struct fuzz_policy *policy);
/* The same if the arguments say that this program was executed by an actor. */
void fuzz_actor_main(int argc, char **argv, const struct fuzz_policy *policy);
/* Opens a copy of this program, for actors to execute, as descriptor @number: 0 or -errno. */
int fuzz_actor_copy(int number, mode_t mode);

struct fuzz_shared *fuzz_shared_map(void);
int fuzz_read_sets(struct fuzz_sets *sets);

#endif
