#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-own-guest.sh SCRIPT: in the guest, run perf's test_intel_pt.sh and turn what it
# says into TAP. It names each part in a line "--- Test NAME ---" and ends it with "OK",
# with a line of "SKIP" or "skipping", or with its complaint.
set -u

script=$(realpath "$1")
work=$(mktemp -d) && cd "$work" || exit 2
n=0 failed=0

tap() { # VERDICT NAME [SKIP_REASON]
	n=$((n + 1))
	echo "$1 $n - perf's own: $2${3:+ # SKIP $3}"
	[ "$1" = ok ] || failed=$((failed + 1))
}

# A part's lines are in the file `part`.
judge() { # NAME
	local name=$1
	sed 's/^/# /' part
	if tail -n 3 part | grep -qx OK; then
		tap ok "$name"
	elif grep -qE '(branch-misses|cycles|br_misp_retired).*(not supported|[Uu]nknown|failed)|event is not supported|No supported events|No such device' part &&
		grep -qE 'sample mode|virtual LBR' <<<"$name"; then
		tap ok "$name" "needs a hardware counter"
	elif grep -qE 'SKIP|skipping' part; then
		tap ok "$name" "$(grep -m 1 -E 'SKIP|skipping' part | sed 's/^SKIP: *//')"
	else
		tap "not ok" "$name"
	fi
}

# The same parts that want a counter, with an event that needs none.
samples_aux() {
	perf record -q -B -N -o aux.data --aux-sample=8192 -e '{intel_pt//u,page-faults:u}' -c 1 uname &&
		perf script -i aux.data --itrace=i100ie -F event,ip >aux.script 2>&1 &&
		! grep -q error aux.script && [ "$(grep -c 'page-faults' aux.script)" -gt 0 ] &&
		[ "$(grep -c instructions aux.script)" -gt 10 ]
}

virtual_lbr() {
	perf record -q -o lbr.data --aux-sample -e '{intel_pt//,page-faults}:u' -c 1 uname &&
		perf script -i lbr.data --itrace=L -F event,brstack >lbr.script 2>&1 &&
		[ "$(awk '/page-faults/ && NF > most { most = NF } END { print most - 1 }' lbr.script)" -ge 2 ]
}

instead() { # NAME COMMAND
	if "$2" >part 2>&1; then
		tap ok "$1, with a software event"
	else
		sed 's/^/# /' part | tail -n 10
		tap "not ok" "$1, with a software event"
	fi
}

[ -d /sys/bus/event_source/devices/intel_pt ] || {
	tap "not ok" "this kernel has no intel_pt"
	exit 1
}

sh "$script" >output 2>&1
status=$?
name=
: >part
while IFS= read -r line; do
	if [[ $line =~ ^---\ (Test.*[^ ])\ +---$ || $line == "--- Cleaning up ---" ]]; then
		[ -z "$name" ] || judge "$name"
		name=${BASH_REMATCH[1]:-}
		: >part
	else
		echo "$line" >>part
	fi
done <output
[ -z "$name" ] || judge "$name"
[ "$n" -ge 14 ] || tap "not ok" "only $n parts of 14 have been run, status $status"
instead "Test recording with sample mode" samples_aux
instead "Test virtual LBR" virtual_lbr
echo "1..$n"
[ $failed = 0 ]
