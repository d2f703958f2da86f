#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [BUILD_DIR]: visits every state of the models, then shows for each mutant
# (a model with one step damaged) that the checker finds what is wrong with it.
# TAP, the number of states behind each name. All that is made lands in BUILD_DIR,
# build/models of this repository by default; what failed stays there.
#
# A search that was cut short, by memory or by time, proves nothing and fails.
# JOBS searches run at a time (2), each within MEMORY megabytes (2900). ONLY is a
# regular expression: tests with another name are left out.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
events=$here/../../kernel/events
build=$(realpath -m "${1:-$here/../../build/models}")
at_a_time=${JOBS:-2}
memory=${MEMORY:-2900}
time_limit=1800 # seconds, for machines that have much else to do

fail() {
	echo "run.sh: $1" >&2
	exit 2
}

(($# <= 1)) || fail "give at most one argument, the build directory"
for tool in spin gcc awk; do
	command -v "$tool" >/dev/null || fail "$tool is not installed: 'make deps' installs it"
done
mkdir -p "$build" || fail "$build cannot be made: name another build directory"
rm -rf "$build"/case.[0-9]*

# ---- searching ----

# search KIND MODEL OPTION...: the checker's report, made in the current folder.
# Kinds: states (assertions and deadlocks), assertions, cycles (states that come again).
search() {
	local kind=$1 model=$2 compile=(-DSAFETY -DCOLLAPSE) run=()
	shift 2
	if [ "$kind" = cycles ]; then
		compile=(-DNP) run=(-l)
	elif [ "$kind" = assertions ]; then
		run=(-E)
	fi
	spin -a "$@" "$here/$model.pml" &&
		gcc -w "${optimise:--O1}" "${compile[@]}" "-DMEMLIM=$memory" -o pan pan.c &&
		timeout "$time_limit" ./pan -m100000 "${run[@]}"
}

states() { # REPORT
	sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' "$1" | head -n 1
}

# The way to the error: for each step its number, process, line of the model, and
# the first of what it does.
trail() { # MODEL OPTION...
	local model=$1
	shift
	spin -t -p -k "$model.pml.trail" "$@" "$here/$model.pml" 2>&1 |
		sed -nE "s|$here/||; /^ *[0-9]+:.proc|^spin:/p" | awk '!told[$1]++' | tail -n 120
}

# ---- the three kinds of test; each prints why it fails ----

# holds KIND MODEL OPTION...: all states are visited and none is bad.
holds() {
	search "$@" >report 2>&1
	if [ -e "$2.pml.trail" ]; then
		grep '^pan:1:' report
		trail "${@:2}"
		return 1
	fi
	if ! grep -q 'errors: 0$' report || grep -qE 'not completed|too small' report; then
		tail -n 20 report
		return 1
	fi
}

# rejects WHY KIND MODEL OPTION...: the checker finds an error, and it is WHY.
rejects() {
	local why=$1
	shift
	optimise=-O0 search "$@" >report 2>&1
	grep '^pan:1:' report | grep -qF -- "$why" && return
	echo "expected '$why' and got:"
	grep -E '^pan:|errors:|^spin|: error' report
	return 1
}

# quotes MODEL: the lines of the code that the model quotes are still there.
quotes() {
	awk -v sources="$events/ring/data_ring.hh $events/ring/primitives.hh $events/output.c
		$events/mmap.c $events/redirect.c $events/ring_buffer.c $events/aux_area.c
		$events/aux.h $events/aux_output.c $events/wakeup.c $events/ring/aux_ring.hh" \
		-f "$here/steps.awk" "$here/$1"*.pml
}

# The same, with two lines of the code changed over.
notices_order() {
	sed '/handle.wakeup = P::load/d
		s/P::store(ring.nest, P::load(ring.nest) + 1);/& handle.wakeup = P::load(ring.wakeup);/' \
		"$events/ring/data_ring.hh" >data_ring.hh
	! awk -v sources="data_ring.hh $events/output.c" -f "$here/steps.awk" \
		"$here"/nesting*.pml >report && grep -q '^R3: ' report
}

# ---- two at a time, told in order ----

names=() commands=()
plan() { # NAME COMMAND...
	local IFS='|'

	[[ $1 =~ ${ONLY-} ]] || return
	names+=("$1")
	commands+=("${*:2}")
}

run_one() { # NUMBER
	local folder=$build/case.$1 command

	mkdir -p "$folder" && cd "$folder" || exit
	IFS='|' read -ra command <<<"${commands[$1]}"
	"${command[@]}" >output 2>&1
	echo $? >status.new
	mv status.new status
}

told=0 failed=0
tell() {
	local folder=$build/case.$told found=""

	while [ -e "$folder/status" ]; do
		[ ! -e "$folder/report" ] || found=$(states "$folder/report")
		if [ "$(<"$folder/status")" = 0 ]; then
			echo "ok $((told + 1)) - models: ${names[told]}${found:+ # $found states}"
			rm -rf "$folder"
		else
			echo "not ok $((told + 1)) - models: ${names[told]}${found:+ # $found states}"
			sed 's/^/# /' "$folder/output"
			failed=$((failed + 1))
		fi
		told=$((told + 1)) folder=$build/case.$told found=""
	done
}

run_all() {
	local number

	for number in "${!names[@]}"; do
		while (($(jobs -rp | wc -l) >= at_a_time)); do
			wait -n
			tell
		done
		run_one "$number" &
	done
	wait
	tell
}

# ---- what is run; the long ones first ----

proof() { # WHAT KIND MODEL OPTION...
	plan "${*:3}: $1" holds "${@:2}"
}

planned=()
mutant() { # NAME WHY KIND MODEL OPTION...
	planned+=("$1")
	plan "$4: $1 is found out" rejects "$2" "${@:3}" "-D$1"
}

all_mutants_planned() {
	diff <(grep -ohE '\b(MUT|NO)_[A-Z_]+' "$here"/*.pml | sort -u) \
		<(printf '%s\n' "$@" | sort -u)
}

alone=(-DREDIRECTERS=0) moving=(-DNMIS=0)
twice=(-DFOLD -DTASKS=2 -DIRQS=2)
proof "two records at each level" states nesting "${twice[@]}" -DNMIS=2
proof "every run ends" cycles nesting "${twice[@]}"
proof "wake-ups by count and by watermark" states nesting "${twice[@]}" -DEVERY=2
proof "the reader between any two steps" states nesting -DTASKS=2
proof "all four edges" states order
proof "every run ends" cycles order
proof "two mappers, an AUX mapper, a redirecter" states mapping
proof "one of the mappers copies its mapping" states mapping -DMAPPERS=1 -DMOVERS=1
proof "two AUX mappers" states mapping -DMAPPERS=1 -DAUX_MAPPERS=2
proof "redirected both ways" states mapping -DMAPPERS=1 -DMOVERS=1 -DAUX_MAPPERS=0 -DOPPOSITES=1
proof "AUX, redirected both ways" states mapping -DMAPPERS=1 -DOPPOSITES=1
proof "every run ends" cycles mapping -DMAPPERS=2 -DREDIRECTERS=0
proof "every run ends" cycles mapping -DMAPPERS=1 -DOPPOSITES=1
proof "two mappers, the CPU and its NMI" states aux "${alone[@]}" -DNMIS=2
proof "redirected, begun and mapped again" states aux "${moving[@]}" -DBEGINS_0=0
proof "redirected, both events on" states aux "${moving[@]}" -DMAPPERS=1 -DBEGINS=1
proof "redirected, with an NMI" states aux -DMAPPERS=1 -DBEGINS_0=0 -DBEGINS=1
proof "redirected to an area that goes" states aux "${moving[@]}" \
	-DMAPPERS=1 -DBEGINS_0=0 -DOTHERS=1
proof "the reader gets it all" states aux_full
proof "the reader gets it all from two CPUs" states aux_full -DCPUS=2
proof "no disable is lost on two CPUs" assertions aux_full -DCPUS=2 -DSWITCHES=1

for model in nesting order mapping aux; do
	plan "$model: quotes the code as it is" quotes "$model"
done
plan "nesting: notices two lines of the code that have changed places" notices_order

# What the checker says when a property does not hold.
published='(data_head==head)'
forward='((seen-data_head)&255)<128'
whole='assertion violated ((w>='
vacant='assertion violated (word[((from+done)'
counted='(untold==(told+lost))'
woken='!(owed)'
behind='-wakeup)&255)<128'

one=(states nesting -DFOLD -DTASKS=2)
mutant MUT_NO_RECHECK "$published" "${one[@]}"
mutant MUT_RECHECK_FIRST_HEAD "non-progress cycle" cycles nesting -DFOLD -DTASKS=2
mutant MUT_NESTED_PUBLISH "$whole" "${one[@]}"
mutant MUT_NEST_FALLS_FIRST "$forward" "${one[@]}"
mutant MUT_NEST_ONE_ONCE "$forward" "${one[@]}"
mutant MUT_HEAD_STORE "$vacant" "${one[@]}"
mutant MUT_ROOM_ONCE "$vacant" "${one[@]}"
mutant MUT_LOST_NEEDS_NO_ROOM "$vacant" "${one[@]}"
mutant MUT_LOST_NOT_RETURNED "$counted" "${one[@]}"
mutant MUT_LOST_TWO_STEPS "$counted" "${one[@]}"
mutant MUT_PAUSE_UNCOUNTED "$counted" "${one[@]}"
mutant MUT_REFUSE_SKIPS_COMMIT "$published" "${one[@]}"
mutant MUT_REFUSE_SKIPS_WAKE "$woken" "${one[@]}"
mutant MUT_STAMP_AFTER_NEST "$woken" "${one[@]}"
mutant MUT_WAKE_FIRST "$woken" "${one[@]}"
mutant MUT_STAMP_OF_NOW "$behind" "${one[@]}"
mutant MUT_ADD_WATERMARK "$behind" "${one[@]}"
mutant MUT_COUNT_TWO_STEPS "(events==samples)" "${one[@]}" -DEVERY=2

for edge in A B C D; do
	mutant "NO_$edge" "assertion violated (found[" states order
done

paid='assertion violated ( !(charged[r])&& !(aux_charged[r]))'
paid_once='assertion violated charged[r]'
mutant MUT_CLOSE_SKIPS_UNCHARGE "$paid" states mapping
mutant MUT_CLOSE_TWO_STEPS "$paid_once" states mapping
mutant MUT_EVENT_COUNT_UNLOCKED "$paid" states mapping
mutant MUT_DETACH_DYING "!(event_freed[found])" states mapping
mutant MUT_DETACH_UNCHECKED "(r==mine)" states mapping
mutant MUT_MAP_REVIVES "$paid_once" states mapping
mutant MUT_AUX_REVIVES "$paid_once" states mapping
mutant MUT_AUX_FAILS_WITHOUT_REFERENCE "$paid" states mapping
mutant MUT_AUX_FAILS_WITHOUT_CLEANUP "$paid" states mapping
mutant MUT_AUX_COUNT_UNLOCKED "(aux_mmap_count[r]>0)" states mapping \
	-DMAPPERS=1 -DAUX_MAPPERS=2 -DREDIRECTERS=0
mutant MUT_REDIRECT_LOCKS_ONE "freed[made]" states mapping
mutant MUT_REDIRECT_LOCKS_UNSORTED "invalid end state" states mapping \
	-DMAPPERS=1 -DAUX_MAPPERS=0 -DOPPOSITES=1
free='handle_area[0]!=a'
set_up='(sized[r]==a)'
stopped='!(on_cpu[0])'
restarted='(handle_ring[((2*1)+0)]!=1)'
closed='!(open[old])'
mutant MUT_NO_RECHECK "$set_up" states aux "${moving[@]}" -DBEGINS=1 -DBEGINS_0=0
mutant MUT_OPEN_WRITTEN_BACK "$closed" states aux "${moving[@]}" -DBEGINS=1
mutant MUT_AREA_REVIVED '!(freed[a])' states aux "${moving[@]}" -DBEGINS=1 -DBEGINS_0=0
mutant MUT_STRUCT_AT_ONCE 'area_waits[a])' states aux "${moving[@]}" \
	-DBEGINS=1 -DBEGINS_0=0
mutant MUT_MOVED_FIRST "$restarted" states aux "${moving[@]}" -DBEGINS=1 -DBEGINS_0=0
mutant MUT_SETUP_UNLOCKED '(inside[1]==0)' states aux -DBEGINS=1 -DBEGINS_0=0
mutant MUT_BEGIN_WITHOUT_REFERENCE "$free" states aux "${alone[@]}"
mutant MUT_FREED_UNCOUNTED "$free" states aux "${alone[@]}"
mutant MUT_AREA_READ_LATE '(refs[a]>0)' states aux "${alone[@]}"
mutant MUT_MAP_WHILE_OPEN "$set_up" states aux "${alone[@]}"
mutant MUT_STOP_FIRST "$stopped" states aux "${alone[@]}"
mutant MUT_NO_STOP "$stopped" states aux "${alone[@]}"
mutant MUT_AREA_WITHOUT_RING "$closed" states aux "${alone[@]}"

starves='invalid end state'
mutant MUT_DISABLE_WITHOUT_IRQ_WORK "violated 0" states aux_full
mutant MUT_DISABLE_STAYS_BEHIND "violated 0" assertions aux_full -DCPUS=2 -DSWITCHES=1
mutant MUT_SCHED_OUT_FORGETS "!(must_be_off)" states aux_full
mutant MUT_NOTE_FORGOTTEN "$starves" states aux_full
mutant MUT_NOTE_NOT_RENEWED "$starves" states aux_full
mutant MUT_NOTE_BEFORE_QUEUE "$starves" states aux_full
mutant MUT_WAKE_BEFORE_HEAD "$starves" states aux_full
plan "aux_full: who waits to be told twice starves" rejects "$starves" states aux_full -DTOLD_ONLY

plan "every mutant that the models know is run" all_mutants_planned "${planned[@]}"

run_all
echo "1..${#names[@]}"
echo "$((${#names[@]} - failed)) passed, $failed failed"
((failed == 0))
