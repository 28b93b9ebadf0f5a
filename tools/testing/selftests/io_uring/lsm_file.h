/* SPDX-License-Identifier: GPL-2.0 */
/* Policy on its way from text through a compiler to a file of the kernel. */
#ifndef LSM_FILE_H
#define LSM_FILE_H

#include <stddef.h>

struct blob {
	void *data;
	size_t size;
};

/* One write() of everything; 0 or -errno. */
int file_write(const char *path, const void *data, size_t size);
int file_write_text(const char *path, const char *text);

/* The output file of a compiler that reads its input from a file; 0 or -errno. */
int compile(char *const argv[], const char *input, const char *text, const char *output,
	    struct blob *blob);

#endif
