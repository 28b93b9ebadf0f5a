// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kselftest.h"
#include "capable_count.h"

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCE	TRACEFS "/instances/ringcap"
#define EVENT		INSTANCE "/events/ringcap/asked"

/* 21 is CAP_SYS_ADMIN; a thread may ask for others on the way. */
#define PROBE		"p:ringcap/asked capable cap=$arg1:s32"
#define HISTOGRAM	"hist:keys=common_pid if cap==21"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

void count_stop(void)
{
	/* The instance first: its trigger holds the event. */
	rmdir(INSTANCE);
	write_file(TRACEFS "/kprobe_events", "-:ringcap/asked");
}

int count_start(void)
{
	int ret;

	count_stop();
	ret = write_file(TRACEFS "/kprobe_events", PROBE);
	if (!ret && mkdir(INSTANCE, 0700))
		ret = -errno;
	if (!ret)
		ret = write_file(EVENT "/trigger", HISTOGRAM);
	if (ret)
		count_stop();
	return ret;
}

void need_counting(void)
{
	int ret = count_start();

	if (ret)
		ksft_exit_skip("cannot count: %s (needs KPROBE_EVENTS and HIST_TRIGGERS)\n",
			       strerror(-ret));
	count_stop();
}

long count_thread(pid_t tid)
{
	long hits, ret = 0;
	char line[256];
	FILE *f;
	int pid;

	f = fopen(EVENT "/hist", "r");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "{ common_pid: %d } hitcount: %ld", &pid, &hits) == 2 &&
		    pid == tid)
			ret += hits;
	fclose(f);
	return ret;
}

long count_self(void)
{
	return count_thread(syscall(SYS_gettid));
}

long count_probes(struct ring *ring, const struct nvme_dev *dev, unsigned int n, int want)
{
	long before = count_self();

	if (before < 0 || ring_probe_all(ring, dev, n, want) != want)
		return -1;
	return count_self() - before;
}

static bool comm_starts(const char *tid, const char *prefix)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/comm", tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(comm, sizeof(comm), f))
		comm[0] = '\0';
	fclose(f);
	return !strncmp(comm, prefix, strlen(prefix));
}

long count_named(const char *prefix)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;
	long ret = 0;

	if (!dir)
		return -errno;
	while ((d = readdir(dir)))
		if (comm_starts(d->d_name, prefix))
			ret += count_thread(atoi(d->d_name));
	closedir(dir);
	return ret;
}
