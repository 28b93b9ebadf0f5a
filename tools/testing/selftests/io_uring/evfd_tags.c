// SPDX-License-Identifier: GPL-2.0
/*
 * CQEs that no request posts: the tag of a registered file, once nobody uses it.
 * The kernel posts it from a worker that holds nothing of the ring.
 *
 * This test will check that such CQEs signal, and that the eventfd may be
 * unregistered in the very moment, for which only KASAN has an eye.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>

#include "../kselftest_harness.h"
#include "evfd.h"

#define FILES	512
#define ROUNDS	100

FIXTURE(tags) {
	struct io_uring ring;
	int files[FILES];
	__u64 tags[FILES];
	int fd;
};

static int register_files(struct io_uring *ring, int *files, __u64 *tags, unsigned int n)
{
	struct io_uring_rsrc_register reg = {
		.nr = n, .data = (unsigned long)files, .tags = (unsigned long)tags,
	};

	return io_uring_register(ring->ring_fd, IORING_REGISTER_FILES2, &reg, sizeof(reg));
}

/* Not every kernel posts the tags of files that are there when all are unregistered. */
static int drop_files(struct io_uring *ring, unsigned int n)
{
	static int none[FILES];
	struct io_uring_rsrc_update2 update = { .nr = n, .data = (unsigned long)none };
	int ret;

	memset(none, 0xff, sizeof(none));
	ret = io_uring_register(ring->ring_fd, IORING_REGISTER_FILES_UPDATE2, &update,
				sizeof(update));
	return ret < 0 ? ret : io_uring_unregister_files(ring);
}

FIXTURE_SETUP(tags)
{
	int i;

	ASSERT_EQ(0, evfd_ring(&self->ring, 0));
	self->fd = evfd_new();
	ASSERT_LE(0, self->fd);
	for (i = 0; i < FILES; i++) {
		self->files[i] = STDERR_FILENO;
		self->tags[i] = i + 1;
	}
}

FIXTURE_TEARDOWN(tags)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
}

TEST_F(tags, signal)
{
	int i;

	ASSERT_EQ(0, io_uring_register_eventfd(&self->ring, self->fd));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, register_files(&self->ring, self->files, self->tags, 4));
		ASSERT_EQ(0, drop_files(&self->ring, 4));
		EXPECT_LE(1, evfd_wait(self->fd));
		EXPECT_EQ(4, evfd_reap_n(&self->ring, 4));
	}
	ASSERT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	evfd_take(self->fd);
	ASSERT_EQ(0, register_files(&self->ring, self->files, self->tags, 4));
	ASSERT_EQ(0, drop_files(&self->ring, 4));
	EXPECT_EQ(4, evfd_reap_n(&self->ring, 4));
	EXPECT_EQ(0, evfd_take(self->fd));
}

static bool has_kasan(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, " kasan_report\n");
	if (f)
		fclose(f);
	return found;
}

struct files {
	pthread_t thread;
	struct io_uring *ring;
	int *files;
	__u64 *tags;
	int stop;
	int err;
};

static void *keep_unregistering_files(void *arg)
{
	struct files *f = arg;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED) && !f->err) {
		f->err = register_files(f->ring, f->files, f->tags, FILES);
		if (!f->err)
			f->err = drop_files(f->ring, FILES);
		/* The ring was just dying, which a kernel may say while it registers. */
		if (f->err == -ENXIO)
			f->err = 0;
		if (f->err == -EBUSY)
			f->err = io_uring_unregister_files(f->ring);
		evfd_reap(f->ring);
	}
	return NULL;
}

TEST_F_TIMEOUT(tags, eventfd_unregistered_meanwhile, EVFD_TIMEOUT)
{
	struct files f = { .ring = &self->ring, .files = self->files, .tags = self->tags };
	int i, fd;

	if (!has_kasan())
		SKIP(return, "only a kernel with CONFIG_KASAN sees what may go wrong");
	ASSERT_EQ(0, pthread_create(&f.thread, NULL, keep_unregistering_files, &f));
	for (i = 0; i < ROUNDS; i++) {
		/* The registration is the last to hold it. */
		fd = evfd_new();
		EXPECT_EQ(0, io_uring_register_eventfd(&self->ring, fd));
		close(fd);
		EXPECT_EQ(0, io_uring_unregister_eventfd(&self->ring));
	}
	__atomic_store_n(&f.stop, 1, __ATOMIC_RELAXED);
	pthread_join(f.thread, NULL);
	EXPECT_EQ(0, f.err);
}

TEST_HARNESS_MAIN
