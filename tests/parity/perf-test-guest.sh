#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: perf-test-guest.sh PERF SECONDS quiet|verbose runs the tests whose
# numbers are in the share, each with its own time limit, and leaves N.out,
# N.status and N.seconds there (and N.verbose if asked to).

set -u
perf=$1 seconds=$2 verbose=$3
cd /tmp || exit

run() { # NUMBER OUTPUT [OPTION]
	timeout -k 5 "$seconds" "$perf" test ${3:+"$3"} "$1" >"$2" 2>&1 </dev/null
}

while read -r n; do
	start=$EPOCHREALTIME
	run "$n" "$n.out"
	echo $? >"$n.status"
	echo "$start $EPOCHREALTIME" | awk '{ print $2 - $1 }' >"$n.seconds"
	[[ $verbose == quiet ]] || run "$n" "$n.verbose" -v
	cp "$n".* /tmp/share/
done </tmp/share/numbers
exit 0
