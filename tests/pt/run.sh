#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [CASE...]: Intel PT traces of the emulated unit are what was executed (TAP).
# The programs that `cases` lists run in the VM, and leave bytes there that are judged
# here. The ways:
#
#	pair	single-stepped once, and once traced without stepping: the same
#		instructions, one by one
#	files	the same, in the program's own file only: what threads do in the library
#		depends on how they meet
#	both	stepped and traced in the same run
#	trace	traced; the counts that the program tells of are right
#	gaps	with an AUX area that is too small: what is missing has been told, and the
#		rest is right
#	perf	recorded by the stock perf: perf, libipt and the unit's count agree
#	inherit	the same with all that the program starts, without libipt
#
# Wherever a program has closed-form counts, they are checked as well, and nowhere may
# there be an error, an overflow or lost data. The recordings stay in build/pt/out.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
build=build/pt
out=$build/out
tools=$build/tool
n=0 failed=0
only=("$@")

report() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - pt: $2"
	else
		echo "not ok $n - pt: $2"
		failed=$((failed + 1))
	fi
}

# judged NAME COMMAND...: what it prints is said beside the verdict.
judged() {
	local name=$1 status
	shift
	"$@" >"$build/said" 2>&1
	status=$?
	sed 's/^\(# \)\?/# /' "$build/said"
	report $status "$name"
}

build() {
	cmake -G Ninja -S tests/pt -B "$build" >"$build.log" 2>&1 &&
		ninja -C "$build" >>"$build.log" 2>&1 && return
	tail -n 30 "$build.log" | sed 's/^/# /'
	return 1
}

# The judges themselves: a trace made from steps is right, one with a single branch
# turned round is not.
self_test() { # STEPS
	local model=$build/model
	rm -rf "$model"
	cp -r "$1" "$model"
	judged "self-test: a model of the trace is right" sh -c "$tools/pt-model $model && $tools/pt-check $model $model"
	"$tools/pt-model" -d 500 "$model" && ! "$tools/pt-check" "$model" "$model" >/dev/null 2>&1
	report $? "self-test: one wrong branch is noticed"
	"$tools/pt-model" "$model"
	"$tools/pt-decode" "$model" | sed '/^\[/d; s/^/7 /' >"$build/script"
	sed 700d "$build/script" >"$build/script.damaged"
	"$tools/pt-perf" -s "$build/script" "$model" >/dev/null 2>&1 &&
		! "$tools/pt-perf" -s "$build/script.damaged" "$model" >/dev/null 2>&1
	report $? "self-test: one instruction that perf leaves out is noticed"
}

# ended_well CASE WAY: the program itself was content.
ended_well() {
	local status
	status=$(cat "$out/$1/$2.status" 2>/dev/null || echo "none")
	[ "$status" = 0 ] && return
	echo "# $1, $2: ended with status $status"
	sed 's/^/# /' "$out/$1/$2.errors" 2>/dev/null | tail -n 5
	return 1
}

# counts CASE WAY PROGRAM: options for pt-check.
counts() {
	local section=$build/counts/$3
	mkdir -p "$build/counts"
	[ "$3" = /none ] || [ ! -s "$out/$1/$2.printed" ] || echo "-C $out/$1/$2.printed"
	case $3 in
	/*) ;;
	*)
		rm -f "$section"
		objcopy --dump-section ".pt_counts=$section" "$build/programs/$3" /dev/null 2>/dev/null
		[ ! -s "$section" ] || echo "-c $section"
		;;
	esac
}

# unit_agrees CASE WAY DECODED: the emulated unit has counted the same.
unit_agrees() {
	local counted
	[ -f "$out/$1/$2.retired" ] || return 0 # told once, by unit_counts
	counted=$(cat "$out/$1/$2.retired")
	[ "$counted" = "$3" ] && return
	echo "# the unit counts $counted instructions, $3 were decoded"
	return 1
}

unit_counts() {
	local counts=("$out"/*/*.retired)
	[ -f "${counts[0]}" ]
}

number() { # NAME ; of what a judge has said last
	sed -n "s/.*\b$1 \([0-9]*\).*/\1/p" "$build/judged" | tail -n 1
}

check() { # CASE WAY PROGRAM [ARGUMENT...]
	local case=$1 way=$2 program=$3
	shift 3
	ended_well "$case" "$way" || return
	# shellcheck disable=SC2046 # options are words
	"$tools/pt-check" $(counts "$case" "$way" "$program") "$@" >"$build/judged" 2>&1
	local status=$?
	cat "$build/judged"
	[ "$way" = both ] || [ "$way" = gaps ] || [ $status != 0 ] || unit_agrees "$case" "$way" "$(number decoded)" || status=1
	return $status
}

script_of() { # CASE WAY
	perf script -i "$out/$1/$2.data" --itrace=i1ie -F tid,ip >"$out/$1/$2.script" 2>"$out/$1/$2.script.errors"
}

check_perf() { # CASE WAY STEPS [OPTION...]
	local case=$1 way=$2 steps=$3 status
	shift 3
	ended_well "$case" "$way" && script_of "$case" "$way" || return
	"$tools/pt-perf" "$@" "$out/$case/$way.script" "$steps" >"$build/judged" 2>&1
	status=$?
	cat "$build/judged"
	[ $status = 0 ] && unit_agrees "$case" "$way" "$(number perf)"
}

# Without a recording by steps, perf is still not to fail, and to count like the unit.
check_perf_alone() { # CASE WAY
	local decoded errors
	ended_well "$1" "$2" && script_of "$1" "$2" || return
	errors=$(grep -c error "$out/$1/$2.script")
	decoded=$(grep -vc error "$out/$1/$2.script")
	echo "perf $decoded errors $errors"
	[ "$errors" = 0 ] && [ "$decoded" -gt 0 ] && unit_agrees "$1" "$2" "$decoded"
}

judge_way() { # CASE WAY PROGRAM
	local case=$1 way=$2 program=$3 folder=$out/$1
	case $way in
	pair)
		judged "$case: steps and trace agree" check "$case" pair "$program" "$folder/pair" "$folder/pair-steps"
		;;
	files)
		judged "$case: steps and trace of its own file agree" check "$case" files "$program" \
			-n "/$program" "$folder/files" "$folder/files-steps"
		;;
	both)
		judged "$case: traced while stepped" check "$case" both "$program" "$folder/both" "$folder/both"
		;;
	gaps)
		judged "$case: what is lost is told, what is left is right" check "$case" gaps /none -l "$folder/gaps" \
			"$folder/pair-steps"
		;;
	trace)
		judged "$case: the trace has what the program counts" check "$case" trace "$program" "$folder/trace"
		;;
	perf)
		if [ -d "$folder/pair-steps" ]; then
			judged "$case: perf, libipt and the steps agree" check_perf "$case" perf "$folder/pair-steps" \
				-s -d "$folder/perf.data"
		else
			judged "$case: perf and libipt agree" check_perf "$case" perf "$folder/trace" -d "$folder/perf.data"
		fi
		;;
	inherit)
		if [ -d "$folder/pair-steps" ]; then
			judged "$case: perf and the steps of all tasks agree" check_perf "$case" inherit "$folder/pair-steps" -s
		else
			judged "$case: perf decodes all tasks" check_perf_alone "$case" inherit
		fi
		;;
	esac
}

# QEMU 7.2 makes far calls push in kernel mode, which SMAP forbids.
boot() { # CPUS
	mkdir -p "$out"
	./vm --smp "$1" --cpu max,vendor=GenuineIntel,smap=off --timeout 1800 --share "$out" -- \
		bash tests/pt/guest.sh "$build" "$1" /tmp/share "${only[@]}"
	report $? "guest with $1 CPUs came to its end"
}

build
report $? "the tools and programs can be built"
[ $failed = 0 ] || exit 1
rm -rf "$out"
for cpus in 1 2; do
	boot $cpus
done
unit_counts
report $? "the unit tells how many instructions it has traced"
[ ! -d "$out/branches/pair-steps" ] || self_test "$out/branches/pair-steps"
while read -r name _ ways program _; do
	[[ $name && $name != \#* ]] || continue
	[[ ! ${only[*]} || " ${only[*]} " == *" $name "* ]] || continue
	for way in ${ways//,/ }; do
		judge_way "$name" "$way" "$program"
	done
done <tests/pt/cases
echo "1..$n"
[ $failed = 0 ]
