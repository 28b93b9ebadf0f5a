// SPDX-License-Identifier: GPL-2.0
/*
 * claim BLOCKDEV COMMAND... - run COMMAND while nobody else can use the device.
 *
 * Opens BLOCKDEV with O_EXCL and keeps it open in COMMAND. The kernel refuses that if
 * the device or a partition of it is mounted, is swap space, or belongs to device
 * mapper or md; and as long as it is open, it refuses those.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: claim BLOCKDEV COMMAND...");
	if (open(argv[1], O_RDONLY | O_EXCL) < 0) {
		if (errno == EBUSY)
			errx(1, "%s is in use: stop what uses it, or name another namespace",
			     argv[1]);
		err(1, "%s", argv[1]);
	}
	execvp(argv[2], argv + 2);
	err(1, "%s", argv[2]);
}
