#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pt-speed.sh PT: in the guest, real programs under trace, for bench/pt.
set -eu

pt=$1
mount -t debugfs none /sys/kernel/debug 2>/dev/null || true
cd /tmp
head -c 20000 /usr/bin/perf >input

# Once before, so that nothing is read from the host under trace.
speed() { # NAME COMMAND...
	name=$1
	shift
	"$@" >/dev/null
	"$pt" speed "$name" "$@"
}

# shellcheck disable=SC2016 # for the other shell
speed "sh, a loop" sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done'
speed "gzip, 20 kB" gzip -k -f -c input
speed "sha256sum, 20 kB" sha256sum input
if command -v python3 >/dev/null; then
	speed "python3, a sum" python3 -c 'print(sum(i * i for i in range(1000)))'
fi
