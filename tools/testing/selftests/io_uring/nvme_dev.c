// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <linux/nvme_ioctl.h>

#include "nvme_dev.h"

void nvme_attr(const char *name, const char *attr, char value[256])
{
	char path[128];
	FILE *f;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/nvme/%s/%s", name, attr);
	f = fopen(path, "r");
	if (!f)
		return;
	if (!fgets(value, 256, f))
		value[0] = '\0';
	fclose(f);
	value[strcspn(value, "\n ")] = '\0';
}

static int find_ctrl(char name[32], const char *serial)
{
	int ret = -ENODEV;
	char value[256];
	glob_t g;
	size_t i;

	if (glob("/sys/class/nvme/nvme*", 0, NULL, &g))
		return ret;
	for (i = 0; i < g.gl_pathc && ret; i++) {
		snprintf(name, 32, "%s", strrchr(g.gl_pathv[i], '/') + 1);
		nvme_attr(name, "serial", value);
		if (!strcmp(value, serial))
			ret = 0;
	}
	globfree(&g);
	return ret;
}

static int open_first(const char *pattern)
{
	char path[64] = "";
	glob_t g;

	if (glob(pattern, 0, NULL, &g))
		return -ENODEV;
	snprintf(path, sizeof(path), "/dev/%s", strrchr(g.gl_pathv[0], '/') + 1);
	globfree(&g);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* The head's character device hangs off the subsystem that links to the controller. */
static int open_head(const char *ctrl)
{
	char pattern[128];
	glob_t g;

	snprintf(pattern, sizeof(pattern), "/sys/class/nvme-subsystem/*/%s", ctrl);
	if (glob(pattern, 0, NULL, &g))
		return -ENODEV;
	*strrchr(g.gl_pathv[0], '/') = '\0';
	snprintf(pattern, sizeof(pattern), "%.100s/ng*n*", g.gl_pathv[0]);
	globfree(&g);
	return open_first(pattern);
}

int nvme_open(struct nvme_dev *dev, const char *serial)
{
	char path[64];
	int ret;

	ret = find_ctrl(dev->name, serial);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/dev/%s", dev->name);
	dev->ctrl = open(path, O_RDWR | O_CLOEXEC);
	snprintf(path, sizeof(path), "/sys/class/nvme/%s/ng*n*", dev->name);
	dev->ns = open_first(path);
	if (dev->ns < 0)
		dev->ns = open_head(dev->name);
	if (dev->ctrl < 0 || dev->ns < 0)
		return -ENODEV;
	ret = ioctl(dev->ns, NVME_IOCTL_ID);
	dev->nsid = ret;
	return ret < 0 ? -errno : 0;
}

void nvme_close(struct nvme_dev *dev)
{
	close(dev->ctrl);
	close(dev->ns);
}

bool nvme_fine_grained(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	if (sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return true;
	return major > 6 || (major == 6 && minor >= 2);
}
