#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# guest-aux.sh PERFRING PROGRAMS: in the guest, records AUX areas (TAP): aux_test's, whose bytes
# prove themselves, and Intel PT's, which stay in /tmp/share for perf outside.
set -uo pipefail

perfring=$1
programs=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/recorder/support.sh
. "$here/support.sh"
share=/tmp/share
cd "$work" || exit 2

record() {
	timeout -k 5 60 "$perfring" record "$@" 2>summary || {
		cat summary
		return 1
	}
}

# said WORD: the number that check-auxtrace has put behind it.
said() {
	sed -n "s/.*\b$1 \([0-9]*\).*/\1/p" judged
}

# proven [-S] FILE: every byte of the trace is in its place.
proven() {
	"$programs/check-auxtrace" "$@" >judged 2>&1 || {
		cat judged
		return 1
	}
	cat judged summary
	[ "$(said bytes)" -gt 0 ]
}

# opened OURS: whether the recorder, a child of that, has its events.
opened() {
	local pid

	pid=$(pgrep -P "$1" perfring) && has_events "$pid"
}

# Busy and asleep by turns, in two processes.
program=(sh -c 'cat /proc/stat >/dev/null & sleep 0.2; cat /proc/stat >/dev/null; sleep 0.2; wait')

whole() {
	record -e aux_test/rate=500000/ -o aux.data "$@" -- "${program[@]}" && proven aux.data &&
		[ "$(said gaps)" = 0 ] && [ "$(said lost)" = 0 ] && grep -q 'in full' summary &&
		"$perfring" check -q aux.data
}
check "a command's AUX data" whole -m,4M
check "by thread" whole --per-thread -m,4M
check "of all CPUs" whole -a -m,4M
check "by POSIX AIO" whole -a -m,1M --aio
check "by io_uring, in one thread" whole -a -m,1M --io-uring --threads=one

# What the ring had no room for is missing, and told of; then the trace goes on.
counted() {
	record -e aux_test/rate=40000000/ --threads=one --no-realtime -m,16K -a -o aux.data \
		-- "${program[@]}" && proven aux.data &&
		[ "$(said bytes)" -gt 100000 ] && [ "$(said lost)" -ge "$(said missing)" ] && [ "$(said truncated)" -gt 0 ] &&
		grep -q 'bytes lost, as the kernel says' summary
}
check "too fast for its area: what is missing is told" counted

snapshots() {
	# shellcheck disable=SC2016 # for the shell inside
	record -e aux_test/rate=4000000/ -S -m,256K -o aux.data "$@" -- \
		sh -c 'for i in 1 2; do sleep 0.3; kill -USR2 $PPID; sleep 0.3; done' &&
		proven -S aux.data && [ "$(said gaps)" = 0 ] && [ "$(said traces)" -ge 2 ] &&
		grep -q 'overwriting' summary
}
check "snapshots by SIGUSR2" snapshots
check "snapshots by thread" snapshots --per-thread

# All that stock refuses to combine: AUX, snapshots by command, samples, threads.
at_once() {
	local ours answer

	mkfifo ctl ack
	exec 7<>ctl 8<>ack
	timeout -k 5 60 "$perfring" record -a -e aux_test/rate=4000000/ -e page-faults -c 1 -S -m 128,256K \
		--control fifo:ctl,ack -o aux.data "$@" -- sh -c "$programs/faults 20000 2; exec sleep 30" 2>summary >made &
	ours=$!
	wait_for 20 opened $ours || return
	sleep 0.5
	# The second one at once: what it is about may be in the first one's answer.
	for command in snapshot snapshot stop; do
		echo "$command" >&7
		read -r -t 20 -u 8 answer || {
			echo "no answer to $command"
			return 1
		}
		[ "$answer" = ack ] || return
	done
	wait $ours
	exec 7>&- 8>&-
	rm -f ctl ack
	proven -S aux.data && [ "$(said traces)" -ge 2 ] && grep -Eq '[1-9][0-9]* samples' summary
}
check "AUX, samples, snapshots and threads at once" at_once
check "and with POSIX AIO" at_once --aio

# A CPU that goes and comes back. The other one's samples are all there.
unplugged() {
	local ours cpu1=/sys/devices/system/cpu/cpu1/online

	[ -w $cpu1 ] || return
	timeout -k 5 60 "$perfring" record -a -e page-faults -c 1 "$@" -o cpu.data -- \
		sh -c "sleep 1; taskset -c 0 $programs/faults 3000 0 >made; sleep 0.3" 2>summary &
	ours=$!
	wait_for 20 opened $ours || return
	sleep 0.3
	echo 0 >$cpu1 || return
	sleep 0.5
	echo 1 >$cpu1
	wait $ours || {
		cat summary
		return 1
	}
	cat summary
	[ "$(perf script --no-itrace -i cpu.data --comm faults -F comm 2>/dev/null | wc -l)" -ge 3000 ]
}
check "a CPU goes offline during -a" unplugged -e cpu-clock
check "with an AUX area on it" unplugged -e aux_test/rate=2000000/

# Rings that overwrite, and a file for each SIGUSR2.
switched() {
	# shellcheck disable=SC2016 # for the shell inside
	record -a -e cpu-clock -m 16 --overwrite --switch-output -o sw.data -- \
		sh -c 'for i in 1 2; do sleep 0.4; kill -USR2 $PPID; sleep 0.4; done' || return
	set -- sw.data.*
	[ $# = 3 ] || return
	for file; do
		[ "$(samples "$file")" -gt 0 ] || return
	done
}
check "--overwrite --switch-output of all CPUs" switched

# Intel PT: perf's own file first, then ours in all ways.
trace() {
	setarch -R timeout -k 5 120 "$@" -- "$programs/branches" 2>summary >printed || {
		cat summary
		return 1
	}
}
stock() {
	trace perf record -q -B -N -m,8M -e intel_pt//u --per-thread -o stock.data && cp stock.data "$share"
}
traced() {
	local name=$1

	shift
	trace "$perfring" record -e intel_pt//u --fail-on-loss -o "$name.data" "$@" &&
		"$perfring" check -q "$name.data" && cp "$name.data" "$share"
}
check "perf traces a program by Intel PT" stock
check "so does the recorder" traced plain -m,8M
check "by thread" traced thread -m,8M --per-thread
check "of all CPUs" traced wide -m,8M -a
check "by POSIX AIO" traced aio -m,8M --aio
check "by io_uring" traced uring -m,8M --io-uring
check "in one thread" traced one -m,8M --threads=one
check "a snapshot at the end" traced snapshot -m,8M -S e --per-thread
finish
