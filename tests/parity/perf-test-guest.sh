#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: perf-test-guest.sh PERF SECONDS quiet|verbose runs the tests whose
# numbers are in the file beside it, and leaves there
#
#	output		what perf printed
#	broken		"N STATUS" of each test that broke off: 124 if it took more
#			than SECONDS, otherwise perf's own exit status
#	seconds		"N SECONDS" of each
#	N.verbose	what `perf test -v N` says, if asked to
#
# One perf runs them all, as its start takes longer than most of the tests; where
# it breaks off, another one goes on. The watch over it starts no programs, each
# of which would take a tenth of a second under emulation.

set -u
perf=$1 seconds=$2 verbose=$3
share=$(dirname -- "$(realpath -- "$0")")
mapfile -t left <"$share/numbers"
work=$(mktemp -d) && cd "$work" || exit
mkfifo never
exec {never}<>never
: >output
: >broken
: >seconds

pause() {
	read -r -t 0.5 -u "$never"
}

# The number of the test that perf has come to.
find_current() {
	local lines=() i
	current=
	mapfile -t lines <part
	for ((i = ${#lines[@]} - 1; i >= 0; i--)); do
		[[ ! ${lines[i]} =~ ^\ *([0-9]+)(\.[0-9]+)?: ]] || { current=${BASH_REMATCH[1]} && return; }
	done
}

note_seconds() { # NUMBER START
	[[ ! $1 ]] || echo "$1 $((EPOCHSECONDS - $2))" >>seconds
}

# Shell tests clean up behind themselves if they may.
stop_group() { # PID
	local tries=10
	kill -TERM -- "-$1"
	while kill -0 -- "-$1" && ((tries--)); do
		pause
	done
	kill -KILL -- "-$1"
}

# Runs what is left until perf ends or a test takes too long; sets $status and
# $current, where it stopped.
run_left() {
	local pid watched='' start=$EPOCHSECONDS
	: >part
	status=
	setsid "$perf" test "${left[@]}" >part 2>&1 </dev/null &
	pid=$!
	{
		while kill -0 "$pid"; do
			pause
			find_current
			if [[ $current != "$watched" ]]; then
				note_seconds "$watched" "$start"
				watched=$current start=$EPOCHSECONDS
			elif ((EPOCHSECONDS - start > seconds)); then
				status=124
				stop_group "$pid"
			fi
		done
		wait "$pid"
		status=${status:-$?}
	} 2>/dev/null
	find_current
	note_seconds "$watched" "$start"
	{
		cat part
		echo
	} >>output
}

# Takes the tests up to $current off the list.
drop_done() {
	local n
	current=${current:-${left[0]}}
	while ((${#left[@]})); do
		n=${left[0]}
		left=("${left[@]:1}")
		[[ $n != "$current" ]] || break
	done
}

while ((${#left[@]})); do
	run_left
	drop_done
	((status <= 123)) || echo "$current $status" >>broken
done

if [[ $verbose == verbose ]]; then
	while read -r n; do
		timeout -k 5 "$seconds" "$perf" test -v "$n" >"$n.verbose" 2>&1 </dev/null
	done <"$share/numbers"
	cp ./*.verbose "$share/"
fi
cp output broken seconds "$share/"
cd / && rm -rf -- "$work"
