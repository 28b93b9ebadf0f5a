// SPDX-License-Identifier: GPL-2.0
/*
 * Started by priv_share: uses a ring that outlived exec(2), on the descriptors named by
 * its arguments (ring, a file with its parameters, device, namespace), and
 * exits with the negated result of one command.
 */
#include <stdlib.h>
#include <unistd.h>

#include "nvme_ring.h"

int main(int argc, char **argv)
{
	struct io_uring_params p;
	struct nvme_dev dev = {};
	struct ring ring;

	if (argc != 5 || pread(atoi(argv[2]), &p, sizeof(p), 0) != sizeof(p))
		return 1;
	dev.ns = atoi(argv[3]);
	dev.nsid = atoi(argv[4]);
	if (ring_map(&ring, atoi(argv[1]), &p))
		return 1;
	return -ring_probe_all(&ring, &dev, 10, ALLOWED);
}
