#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# guest-small.sh PERFRING PROGRAMS: in a guest with little memory (TAP).
set -uo pipefail

perfring=$1
programs=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/recorder/support.sh
. "$here/support.sh"
cd "$work" || exit 2

defaults() {
	timeout -k 5 60 "$perfring" record -a -e aux_test/rate=1000000/ -o aux.data -- sleep 0.5 2>summary
	local status=$?

	cat summary
	[ $status = 0 ] && "$programs/check-auxtrace" aux.data
}
check "the defaults fit" defaults

# worst_wait COMMAND...: while it succeeds, the longest that 50 ms took, in us: in $worst.
worst_wait() {
	local before after

	worst=0
	while "$@"; do
		before=${EPOCHREALTIME/./}
		read -r -t 0.05 <>idle
		after=${EPOCHREALTIME/./}
		((after - before > worst)) && worst=$((after - before))
	done
}

again() {
	((rounds++ < 40))
}

# Until it is gone; the most memory it had, in KiB: in $peak.
watched() {
	[ -d "/proc/$pid" ] || return
	now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null)
	((${now:-0} > peak)) && peak=$now
	return 0
}

# Twice, 10 MB a second to a reader that takes 2: no more waits
# than it may, whoever else runs is not held up, and all that is missing is told.
bounded() {
	local ours pid peak=0 now worst usual rounds=0

	mkfifo slow idle
	worst_wait again
	usual=$worst
	{
		while [ "$(head -c 200000 | wc -c)" -gt 0 ]; do
			read -r -t 0.1 <>idle
		done
	} <slow &
	started+=("$!")
	timeout -k 5 60 "$perfring" record -a -e aux_test/rate=5000000/ -m,1M --memory 16M \
		-o - -- sleep 5 2>summary >slow &
	ours=$!
	wait_for 20 pgrep -P $ours perfring && pid=$(pgrep -P $ours perfring) || return
	wait_for 20 has_events "$pid" || return
	worst_wait watched
	wait $ours
	cat summary
	echo "peak $peak KiB, to wait for 50 ms took $worst us at most, before $usual"
	rm -f slow idle
	[ "$peak" -gt 0 ] && [ "$peak" -lt 65536 ] && [ "$worst" -lt $((usual + 1000000)) ] &&
		grep -q 'bytes lost, as the kernel says' summary
}
check "a slow reader: memory is bounded, the machine answers" bounded
check "and once more" bounded
finish
