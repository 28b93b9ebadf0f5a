#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# PID 1 in the guest: mount what tests expect, run CMD (or a shell) on the second serial port,
# leave its status in /run/out/status, power off.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH HOME=/tmp TERM=linux

mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts none /dev/pts 2>/dev/null
mount -t tmpfs none /dev/shm
mount -t tmpfs none /run
mkdir /run/out /run/host
mount --bind / /run/host
mount -t tmpfs none /tmp
chmod 1777 /tmp /dev/shm
# The host's /tmp stays visible, read-only, so that a script or a build there can be named.
ln -s /run/host/tmp/* /tmp/ 2>/dev/null
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
mount -t bpf none /sys/fs/bpf 2>/dev/null
mount -t debugfs none /sys/kernel/debug 2>/dev/null
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
mount -t securityfs none /sys/kernel/security 2>/dev/null
mount -t selinuxfs none /sys/fs/selinux 2>/dev/null
mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 out /run/out
ip link set lo up 2>/dev/null
hostname ringcap

. /run/out/guest.env
stty -F /dev/ttyS1 raw -echo 2>/dev/null
if [ -n "$CMD" ]; then
	(cd / && exec setsid "$CMD") </dev/null >/dev/ttyS1 2>&1
	status=$?
else
	stty -F /dev/ttyS1 sane 2>/dev/null
	(cd / && exec setsid -c /bin/sh -i) </dev/ttyS1 >/dev/ttyS1 2>&1
	status=$?
fi
echo $status >/run/out/status.new
mv /run/out/status.new /run/out/status
sync
echo o >/proc/sysrq-trigger
# The host's root may be gone before the power is: run nothing from it.
while :; do :; done
