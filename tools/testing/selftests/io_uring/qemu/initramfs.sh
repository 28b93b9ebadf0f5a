#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# From the initramfs to the host's root over 9p: not every kernel can mount 9p as root itself.
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=131072 root /root &&
	exec /bin/busybox switch_root /root /bin/sh @INIT@
echo "initramfs: cannot reach the host's root over 9p" >/dev/console
/bin/busybox poweroff -f
