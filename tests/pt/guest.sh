#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh BUILD CPUS OUT [CASE...]: in the guest, run the cases for so many CPUs, all or
# those named, and leave in OUT/CASE/WAY what was recorded, and beside it
#
#	WAY.status	the program's exit status
#	WAY.printed	what it printed
#	WAY.retired	how many instructions the emulated unit has seen meanwhile, if it
#			says so
#
# Everything is written to memory first: what goes to the host's files runs in the
# guest, too.
set -u

build=$(realpath "$1") cpus=$2 out=$3
shift 3
only=$*
here=$(dirname -- "$(realpath -- "$0")")
unit=/sys/bus/event_source/devices/intel_pt
counter=/sys/kernel/debug/intel_pt_emu
seconds=400

work=$(mktemp -d) && cd "$work" || exit
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
[ -d "$unit" ] || {
	echo "# this kernel has no intel_pt"
	exit 3
}

record() { # FOLDER OPTION...
	local folder=$1
	shift
	timeout -k 5 $seconds "$build/tool/pt-record" -E environment -o "$folder" "$@" -- "${program[@]}"
}

recorded_by_perf() { # FILE OPTION...
	local file=$1
	shift
	timeout -k 5 $seconds setarch -R perf record -q -B -N -m,8M -e intel_pt//u -o "$file" "$@" -- "${program[@]}"
}

# Without the counter there is no file that says what it has counted.
retired() {
	sed -n 's/^instructions //p' $counter 2>/dev/null
}

# One run; its name is that of what it leaves.
run() { # NAME COMMAND...
	local name=$1 before after status
	shift
	before=$(retired)
	"$@" >"$case/$name.printed" 2>"$case/$name.errors"
	status=$?
	echo $status >"$case/$name.status"
	after=$(retired) && echo $((after - before)) >"$case/$name.retired"
}

run_way() { # WAY
	case $1 in
	pair | files)
		run "$1-steps" record "$case/$1-steps" -s
		run "$1" record "$case/$1" -t
		;;
	both) run both record "$case/both" -s -t -m 16384 ;;
	gaps) run gaps record "$case/gaps" -t -m 4 ;;
	trace) run trace record "$case/trace" -t ;;
	perf) run perf recorded_by_perf "$case/perf.data" --per-thread ;;
	inherit) run inherit recorded_by_perf "$case/inherit.data" ;;
	esac
}

# What the program finds on its stack decides what it does in the beginning. perf adds
# to its environment, so all runs get that of perf.
# shellcheck disable=SC2016 # for the shell inside
program=(/bin/sh -c 'cat /proc/$$/environ')
recorded_by_perf dummy.data --per-thread >environment

while read -r name wanted ways words; do
	[[ $name && $name != \#* && $wanted == "$cpus" ]] || continue
	[[ ! $only || " $only " == *" $name "* ]] || continue
	eval "program=($words)" # quoted as in a shell
	[[ ${program[0]} == /* ]] || program[0]=$build/programs/${program[0]}
	case=$work/$name
	mkdir "$case"
	start=$EPOCHREALTIME
	for way in ${ways//,/ }; do
		run_way "$way"
	done
	echo "# $name: $(((${EPOCHREALTIME/./} - ${start/./}) / 1000)) ms"
	cp -r "$case" "$out/" && rm -rf "$case"
done <"$here/cases"
