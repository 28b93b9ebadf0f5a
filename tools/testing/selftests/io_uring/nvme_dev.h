/* SPDX-License-Identifier: GPL-2.0 */
/* NVMe devices that take passthrough commands: found by the serial of their controller. */
#ifndef NVME_DEV_H
#define NVME_DEV_H

#include <stdbool.h>

#define SERIAL_PLAIN	"ringcap0"
#define SERIAL_MULTI	"ringcapA"	/* of a subsystem with two controllers */

struct nvme_dev {
	char name[32];		/* nvme0 */
	int ctrl;		/* /dev/nvme0 */
	int ns;			/* /dev/ng0n1, the head's one under multipath */
	unsigned int nsid;
};

/* Opens the first controller of that serial (under multipath its subsystem's). */
int nvme_open(struct nvme_dev *dev, const char *serial);
void nvme_close(struct nvme_dev *dev);

/* An attribute of controller @name, without its padding; "" when there is none. */
void nvme_attr(const char *name, const char *attr, char value[256]);

/* Since 6.2 ordinary reads and identifies need no privilege. */
bool nvme_fine_grained(void);

#endif
