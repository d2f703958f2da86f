#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# record.sh PERFRING: the recorder on this machine (TAP), with software events, and
# what the stock perf makes of its files.
set -uo pipefail

perfring=$(realpath "${1:?the recorder}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/recorder/support.sh
. "$here/support.sh"
gcc -O1 -g -no-pie -Wall -Wextra -Werror -pthread -o "$work/faults" "$here/faults.c" || exit 2
cd "$work" || exit 2

# perf on stderr says nothing of interest to us, perfring does.
record() {
	"$perfring" record "$@" 2>"$work/summary"
}

# report FILE OPTION...: without the tips, which come at random, and without the order of
# equals, which is that of perf's memory.
report() {
	perf report -i "$1" --stdio "${@:2}" 2>/dev/null | grep -v '^# (Tip:' |
		sed 's/^[-| ]*//; /^$/d' | LC_ALL=C sort
}

# script FILE: sample by sample. In what order they are is only fixed within a thread: of
# two CPUs' faults one may come first for one recorder and second for the other.
script() {
	perf script -i "$1" -F comm,pid,tid,event,ip,sym,dso,period 2>&1 |
		awk 'match($0, "[0-9]+/[0-9]+ ") { thread = substr($0, RSTART, RLENGTH) }
			{ print thread "\t" $0 }' | sort -s -t $'\t' -k 1,1
}

# annotated FILE: where in a function the samples are.
annotated() {
	perf annotate -i "$1" --stdio -s touch_forwards 2>/dev/null
}

# same_as_perf LEAST OPTION...: both recorders at one run of one process. What perf says
# of both files is the same, and about so many samples at least.
same_as_perf() {
	local perf_pid ours_pid least=$1

	shift
	start_generator 2000 2
	perf record -q -e page-faults:u -c 1 "$@" -o stock.data -p "$generator" >/dev/null 2>&1 &
	perf_pid=$!
	"$perfring" record -q -e page-faults:u -c 1 "$@" -o ours.data -p "$generator" &
	ours_pid=$!
	started+=("$perf_pid" "$ours_pid")
	wait_for 20 has_events "$perf_pid" && wait_for 20 has_events "$ours_pid" || return
	sleep 2
	go
	wait "$generator"
	wait "$perf_pid" "$ours_pid"
	[ "$(samples stock.data)" -ge "$least" ] || {
		echo "perf has $(samples stock.data) samples only"
		return 1
	}
	equal "$(script stock.data)" "$(script ours.data)" &&
		equal "$(report stock.data)" "$(report ours.data)" &&
		equal "$(report stock.data -s sym,dso,comm --children)" \
			"$(report ours.data -s sym,dso,comm --children)" &&
		equal "$(annotated stock.data)" "$(annotated ours.data)"
}
check "perf script and report say the same of both files" same_as_perf 8000
check "with call chains as well" same_as_perf 8000 -g
check "and by thread" same_as_perf 2000 --per-thread

# Once in each of two threads, the first one, and the child.
breakpoints() {
	local place

	place=$(nm faults | awk '$3 == "touch_forwards" { print $1 }')
	record -e "mem:0x$place:x:u" -o mem.data -- ./faults 10 2 >made &&
		[ "$(samples mem.data "mem:0x$place:x:u")" = 4 ]
}
check "breakpoints" breakpoints

# The generator knows how many faults it made, and the kernel has counted them; the
# recorder is stopped for a while, so that its ring overflows for certain.
all_accounted_for() {
	local ours made kept gone counted

	start_generator "$1" 0
	"$perfring" record -v "${@:3}" -e page-faults:u -c 1 -m 4 -o loss.data -p "$generator" \
		2>"$work/summary" &
	ours=$!
	started+=("$ours")
	wait_for 20 has_events "$ours" || return
	sleep 0.5
	kill -STOP "$ours"
	go
	wait "$generator"
	kill -CONT "$ours"
	wait "$ours"
	made=$(<made)
	kept=$(samples loss.data)
	gone=$(lost loss.data page-faults:u)
	counted=$(sed -n 's/.*page-faults:u counted //p' summary)
	echo "made $made, counted $counted, kept $kept, lost $gone, said $(said_lost summary)"
	[ "$gone" -ge "$2" ] && [ "$(lost loss.data)" = "$(said_lost summary)" ] || return
	[ $((kept + gone)) = "$counted" ] || return
	# A few faults are before and behind those that the generator counts; those that the
	# kernel takes for it are not in :u.
	((counted >= made - 50 && counted <= made + 50))
}
check "kept + lost = produced when the ring overflows" all_accounted_for 20000 1000
check "by POSIX AIO as well" all_accounted_for 20000 1000 --aio=2
check "and in one thread" all_accounted_for 20000 1000 --threads=one

nothing_lost() {
	local status

	record "$@" -e page-faults:u -c 1 -o whole.data --fail-on-loss -- ./faults 3000 2 >made
	status=$?
	[ $status = 0 ] && [ "$(samples whole.data)" -ge 12000 ] && [ "$(lost whole.data)" = 0 ]
}
check "all of it, by io_uring" nothing_lost --io-uring
check "all of it, by POSIX AIO" nothing_lost --aio
check "all of it, compressed" nothing_lost -z
check "all of it, by a thread for each node" nothing_lost --threads=node

fails_on_loss() {
	local ours

	start_generator 20000 0
	"$perfring" record -q -e page-faults:u -c 1 -m 1 --fail-on-loss -o loss.data -p "$generator" &
	ours=$!
	started+=("$ours")
	wait_for 20 has_events "$ours" || return
	sleep 0.5
	kill -STOP "$ours"
	go
	wait "$generator"
	kill -CONT "$ours"
	wait "$ours"
	[ $? = 3 ]
}
check "--fail-on-loss exits with 3" fails_on_loss

# Who is recorded is named; the command only says how long.
as_long_as_a_command() {
	local ours

	start_generator 2000 0
	"$perfring" record -q -e page-faults:u -c 1 -o long.data -p "$generator" -- sleep 3 &
	ours=$!
	started+=("$ours")
	wait_for 20 has_events "$ours" || return
	go
	wait "$generator" "$ours"
	[ "$(samples long.data)" -ge 2000 ] || {
		echo "$(samples long.data) samples"
		return 1
	}
}
check "-p, for as long as a command takes" as_long_as_a_command

exit_statuses() {
	record -e page-faults -o x.data -- sh -c 'exit 7'
	[ $? = 7 ] || return
	record -e page-faults -o x.data -- sh -c 'kill -SEGV $$'
	[ $? = 139 ] || return
	[ "$(samples x.data)" -gt 0 ] || return
	record -e page-faults -o x.data -- /no/such/program
	[ $? = 1 ] && grep -q "/no/such/program: No such file" summary
}
check "the command's exit status, also of one that crashes or is not there" exit_statuses

through_a_pipe() {
	record -e page-faults:u -c 1 -o - -- ./faults 1000 1 | perf script -i - -F comm,ip,sym >piped 2>/dev/null
	[ "$(grep -c touch_ piped)" -ge 2900 ]
}
check "-o - into perf script" through_a_pipe

reader_goes_away() {
	local status

	timeout -s KILL 20 "$perfring" record -a -e page-faults -c 1 -o - -- ./faults 100000 2 2>summary | head -c 100 >/dev/null
	status=${PIPESTATUS[0]}
	[ "$status" != 137 ]
}
check "a reader that goes away ends the recording" reader_goes_away

no_event_idle() {
	local ours

	# One record and then nothing: it must be there when the recorder is asked to end.
	"$perfring" record -q -e page-faults:u -c 1 -m 1024 -o rare.data -- sh -c 'exec sleep 30' &
	ours=$!
	started+=("$ours")
	sleep 2
	kill -TERM "$ours"
	wait "$ours"
	[ "$(samples rare.data)" -gt 10 ]
}
check "rare events are in the file when it ends by SIGTERM" no_event_idle

killed() {
	local ours

	"$perfring" record -q -e page-faults:u -c 1 -o killed.data -- sh -c './faults 3000 1; exec sleep 30' >made &
	ours=$!
	started+=("$ours")
	sleep 6
	kill -KILL "$ours"
	wait "$ours" 2>/dev/null
	[ "$(samples killed.data)" -ge 8000 ]
}
check "what a killed recorder leaves can be read" killed

switches() {
	local ours file

	"$perfring" record -q -m 4 --overwrite --switch-output -e cpu-clock -o sw.data -- \
		sh -c 'while :; do :; done' &
	ours=$!
	started+=("$ours")
	sleep 2
	kill -USR2 "$ours"
	sleep 1
	kill -TERM "$ours"
	wait "$ours"
	set -- sw.data.*
	[ $# = 2 ] || return
	for file; do
		perf script -i "$file" -F comm 2>/dev/null | sort | uniq -c
		perf script -i "$file" -F comm 2>/dev/null | grep -cw sh >/dev/null || return
	done
}
check "each file of --overwrite --switch-output knows its tasks" switches

max_size() {
	record -a -e page-faults -c 1 --max-size 1M -o max.data -- ./faults 200000 2 >made
	set -- "$(stat -c %s max.data)" "$(samples max.data)"
	echo "$1 bytes, $2 samples"
	[ "$1" -ge 1000000 ] && [ "$1" -le 6000000 ] && [ "$2" -gt 1000 ] || return
	record -e cpu-clock --overwrite --max-size 1K -a -o max.data -- sleep 1 &&
		perf report -i max.data --stdio >/dev/null 2>&1
}
check "--max-size ends it near the size, also with --overwrite" max_size

controlled() {
	local ours

	mkfifo ctl ack
	exec 7<>ctl 8<>ack
	"$perfring" record -q -e page-faults:u -c 1 -D -1 --control fifo:ctl,ack -o ctl.data -- \
		sh -c './faults 500 0 >/dev/null; read -r line <ready; ./faults 700 0 >/dev/null; exec sleep 30' &
	ours=$!
	started+=("$ours")
	for command in ping enable disable enable snapshot snapshot stop; do
		[ "$command" = enable ] && sleep 0.5
		obeyed 10 "$command" || return
	done
	wait "$ours"
	perf report -i ctl.data --stdio >/dev/null 2>&1
}
check "--control: each command is acknowledged" controlled

# disk_full SIZE OPTION...: what the disk takes is in the file, and all is accounted for.
disk_full() {
	local size=$1 kept

	mkdir -p small
	mount -t tmpfs -o size="$size" tmpfs small || return
	record -v -e page-faults:u -c 1 "${@:2}" -m 1024 -o small/full.data -- ./faults 60000 1 >made
	[ $? = 1 ] || return
	cat summary
	kept=$(samples small/full.data)
	echo "$kept samples, $(lost small/full.data page-faults:u) lost; $(df --output=avail -k small | tail -n 1)K free"
	grep -q "No space left" summary && [ "$kept" -ge 1000 ] || return
	[ "$(df --output=avail -k small | tail -n 1)" -le 32 ] || return
	[ $((kept + $(lost small/full.data page-faults:u))) = \
		"$(sed -n 's/.*page-faults:u counted //p' summary)" ] || return
	perf report -i small/full.data --stdio >/dev/null 2>&1 || return
	"$perfring" check small/full.data >judged
	grep -q "full.data: incomplete" judged || return
	umount small
}
check "a full disk leaves a file that perf opens, and the loss is counted" disk_full 4m -g
check "a disk that is nearly none is filled as well" disk_full 200k
check "in one thread, by POSIX AIO" disk_full 300k --aio --threads=one
check "and with compressed records" disk_full 512k -z --call-graph dwarf,2048

groups() {
	record -e '{cpu-clock,page-faults}:S' -c 100000 -o group.data -- ./faults 20000 1 >made &&
		perf report -i group.data --stdio --group 2>/dev/null | grep -c "anon group { cpu-clock, page-faults }" >/dev/null &&
		record -e '{page-faults,context-switches}' -c 1 -o group.data -- ./faults 2000 1 >made &&
		perf evlist -g -i group.data | grep -cF "{page-faults,context-switches}" >/dev/null
}
check "groups" groups

tracepoints() {
	record -e sched:sched_process_fork --filter 'child_pid > 0' -o trace.data -- ./faults 10 3 >made &&
		[ "$(perf script -i trace.data 2>/dev/null | grep -c 'child_comm=faults')" = 4 ]
}
if [ ! -d /sys/kernel/tracing/events ] && mount -t tracefs tracefs /sys/kernel/tracing; then
	check "tracepoints with a filter" tracepoints
	umount /sys/kernel/tracing
else
	check "tracepoints with a filter" tracepoints
fi

dwarf_stacks() {
	record -z --call-graph dwarf -e task-clock -e page-faults -c 100000 -o dwarf.data -- ./faults 30000 1 >made &&
		perf script -i dwarf.data -F comm,ip,sym 2>/dev/null | grep -c touch_forwards >/dev/null
}
check "stacks for DWARF, compressed" dwarf_stacks

limits() {
	local said

	# A user without rights, and nearly no locked memory.
	said=$(setpriv --reuid 65534 --clear-groups --bounding-set -all sh -c \
		"ulimit -n 20; $perfring record -e '{cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs}:u' -o /dev/null -- true" 2>&1)
	echo "$said"
	grep -q "RLIMIT_NOFILE" <<<"$said" || return
	said=$(setpriv --reuid 65534 --clear-groups --bounding-set -all \
		"$perfring" record -a -e page-faults -o /dev/null -- true 2>&1)
	echo "$said"
	grep -q "perf_event_paranoid" <<<"$said" || return
	said=$(setpriv --reuid 65534 --clear-groups --bounding-set -all sh -c \
		"ulimit -l 0; $perfring record -e page-faults:u -m 4096 -o /dev/null -- true" 2>&1)
	echo "$said"
	grep -q "kernel.perf_event_mlock_kb" <<<"$said" && grep -q "in place of 4096" <<<"$said"
}
chmod 755 "$work"
check "a limit is named, with what it would have to be" limits

finish
