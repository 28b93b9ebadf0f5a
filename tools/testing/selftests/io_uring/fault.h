/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the Nth allocation or copy of user memory fail that a task does inside one step.
 *
 * Counted are slab objects, pages and copies from and to user memory alike, in the order
 * in which the task gets to them, and those of the kernel's own debugging as well. So a
 * fault need not make the step fail. Interrupts and other tasks never see one.
 *
 *	for (nth = 1; nth <= FAULT_MAX; nth++) {
 *		ret = fault_run(&fault, nth, step, arg);
 *		...
 *		if (!fault.hit)
 *			break;
 *	}
 */
#ifndef FAULT_H
#define FAULT_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../kselftest.h"

/* No step has so many places: one that does not come to its end tries something for ever. */
#define FAULT_MAX	5000

/* Neither armed nor disarmed: no result of the step. */
#define FAULT_BROKEN	INT_MIN

#define FAULT_DIR	"/sys/kernel/debug/"
#define FAULT_KNOBS	8
#define FAULT_STACK	131072	/* bytes */

struct fault {
	int nth;		/* fail-nth of the task that calls */
	bool hit;		/* whether the step got as far as the fault */
	void *stack;		/* of fault_run_thread(), pinned like all that is mapped */
	char before[FAULT_KNOBS][16];
};

/* What to set, below FAULT_DIR. */
static inline const char *fault_knob(unsigned int i, const char **value)
{
	static const char * const knobs[FAULT_KNOBS][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/cache-filter", "N" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		/* A backtrace for each fault would bury what the log is read for. */
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/verbose", "0" },
		{ "fail_usercopy/verbose", "0" },
	};

	*value = knobs[i][1];
	return knobs[i][0];
}

/* NULL, or why this kernel cannot do it. */
static inline const char *fault_missing(void)
{
	if (access("/proc/thread-self/fail-nth", F_OK))
		return "this kernel has no CONFIG_FAULT_INJECTION";
	if (geteuid())
		return "needs root, to say what shall fail";
	if (access(FAULT_DIR "failslab/ignore-gfp-wait", W_OK))
		return "no CONFIG_FAILSLAB with CONFIG_FAULT_INJECTION_DEBUG_FS, or no debugfs";
	if (access(FAULT_DIR "fail_page_alloc/min-order", W_OK))
		return "this kernel has no CONFIG_FAIL_PAGE_ALLOC";
	if (access(FAULT_DIR "fail_usercopy/verbose", W_OK))
		return "this kernel has no CONFIG_FAULT_INJECTION_USERCOPY";
	return NULL;
}

/* Ends the program with a skip and its reason where faults cannot be had. */
static inline void fault_need(void)
{
	const char *missing = fault_missing();

	if (missing)
		ksft_exit_skip("%s\n", missing);
}

/* A knob cannot be seeked everywhere: open it for each way. 0 or -errno. */
static inline int fault_get_knob(const char *name, char *value, size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), FAULT_DIR "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, value, size - 1);
	close(fd);
	value[len > 0 ? len : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return len > 0 ? 0 : -EIO;
}

static inline int fault_set_knob(const char *name, const char *value)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), FAULT_DIR "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/*
 * For the calling thread; in a child of fork(2) once more. Sets the knobs and pins what
 * is mapped, so that no page fault of the program itself takes part: 0 or -errno.
 */
static inline int fault_open(struct fault *f)
{
	const char *name, *value;
	unsigned int i;
	int ret = 0;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < FAULT_KNOBS && !ret; i++) {
		name = fault_knob(i, &value);
		ret = fault_get_knob(name, f->before[i], sizeof(f->before[i])) ?:
		      fault_set_knob(name, value);
	}
	f->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	f->stack = mmap(NULL, FAULT_STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (!ret && (f->nth < 0 || f->stack == MAP_FAILED || mlockall(MCL_CURRENT)))
		ret = -errno;
	return ret;
}

/* Puts the knobs back: 0 or -errno. */
static inline int fault_close(struct fault *f)
{
	const char *name, *value;
	int err, ret = 0;
	unsigned int i;

	close(f->nth);
	munmap(f->stack, FAULT_STACK);
	for (i = 0; i < FAULT_KNOBS; i++) {
		name = fault_knob(i, &value);
		err = fault_set_knob(name, f->before[i]);
		ret = ret ?: err;
	}
	return ret;
}

static inline int fault_arm(struct fault *f, unsigned int nth)
{
	char number[16];
	int len = snprintf(number, sizeof(number), "%u", nth);

	return pwrite(f->nth, number, len, 0) == len ? 0 : -errno;
}

/* 1: the fault has come, 0: it has not, or -errno. Nothing is armed afterwards. */
static inline int fault_disarm(struct fault *f)
{
	char rest[16] = "";
	ssize_t len = pread(f->nth, rest, sizeof(rest) - 1, 0);

	/* To tell and to be told are copies, too, and may get what was meant for the step. */
	if (len < 0)
		return errno == EFAULT ? 0 : -errno;
	if (rest[0] == '0')
		return 1;
	while (pwrite(f->nth, "0", 1, 0) < 0) {
		if (errno != EFAULT)
			return -errno;
	}
	return 0;
}

/*
 * Calls step(@arg) with a fault at its @nth place, counted from 1, or with none if that is 0:
 * what it returns, or FAULT_BROKEN. The step must touch no memory for the first time.
 */
static inline int fault_run(struct fault *f, unsigned int nth, int (*step)(void *arg), void *arg)
{
	int ret, hit;

	f->hit = false;
	if (!nth)
		return step(arg);
	if (fault_arm(f, nth))
		return FAULT_BROKEN;
	ret = step(arg);
	hit = fault_disarm(f);
	f->hit = hit > 0;
	return hit < 0 ? FAULT_BROKEN : ret;
}

struct fault_thread {
	struct fault fault;
	unsigned int nth;
	int (*step)(void *arg);
	void *arg;
	int ret;
};

static inline void *fault_thread(void *arg)
{
	struct fault_thread *t = arg;

	t->fault.nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	t->ret = fault_run(&t->fault, t->nth, t->step, t->arg);
	close(t->fault.nth);
	return NULL;
}

/* The same in a thread that has never used io_uring, and ends before this returns. */
static inline int fault_run_thread(struct fault *f, unsigned int nth, int (*step)(void *arg),
				   void *arg)
{
	struct fault_thread t = { .nth = nth, .step = step, .arg = arg };
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attr);
	ret = pthread_attr_setstack(&attr, f->stack, FAULT_STACK);
	if (!ret)
		ret = pthread_create(&thread, &attr, fault_thread, &t);
	pthread_attr_destroy(&attr);
	if (ret)
		return FAULT_BROKEN;
	pthread_join(thread, NULL);
	f->hit = t.fault.hit;
	return t.ret;
}

/* Whether a step may end so for a fault: no memory, or no copy. */
static inline bool fault_errno(int ret)
{
	return ret == -ENOMEM || ret == -EFAULT;
}

/*
 * Whether io_uring_setup(2) may: kernels before 6.8 make a socket for each ring, which has
 * an error of its own for want of memory.
 */
static inline bool fault_ring_errno(int ret)
{
	return fault_errno(ret) || ret == -ENFILE;
}

#endif
