#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: kselftests-guest.sh SECONDS PROGRAM... runs programs of the share
# and leaves PROGRAM.tap and PROGRAM.status there.

set -u
seconds=$1
shift
cd /tmp || exit
[ -d /sys/bus/event_source/devices/aux_test ] || busybox insmod /tmp/share/perf_aux_test.ko || exit
for program; do
	timeout -k 5 "$seconds" "/tmp/share/$program" >"$program.tap" 2>&1
	echo $? >"$program.status"
	cp "$program.tap" "$program.status" /tmp/share/
done
