// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lsm_file.h"

static int write_to(int fd, const void *data, size_t size)
{
	ssize_t written;
	int ret;

	if (fd < 0)
		return -errno;
	written = write(fd, data, size);
	ret = written < 0 ? -errno : (size_t)written == size ? 0 : -EIO;
	close(fd);
	return ret;
}

int file_write(const char *path, const void *data, size_t size)
{
	return write_to(open(path, O_WRONLY | O_CLOEXEC), data, size);
}

int file_write_text(const char *path, const char *text)
{
	return file_write(path, text, strlen(text));
}

static int file_read(const char *path, struct blob *blob)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int ret = -EIO;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_size) {
		blob->size = st.st_size;
		blob->data = malloc(blob->size);
		if (blob->data && read(fd, blob->data, blob->size) == st.st_size)
			ret = 0;
	}
	close(fd);
	return ret;
}

static int run(char *const argv[])
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (!child) {
		/* It reports progress on its standard output. */
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	if (!WIFEXITED(status))
		return -EINTR;
	if (WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WEXITSTATUS(status) ? -EINVAL : 0;
}

int compile(char *const argv[], const char *input, const char *text, const char *output,
	    struct blob *blob)
{
	int fd = open(input, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret = write_to(fd, text, strlen(text)) ?: run(argv) ?: file_read(output, blob);

	unlink(input);
	unlink(output);
	return ret;
}
