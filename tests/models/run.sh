#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [BUILD_DIR]: checks the models exhaustively, then shows for each mutant
# (a model with one step damaged) that the checker rejects it. TAP; the number of
# states is behind each name. BUILD_DIR is build/models of this repository by
# default. No search may be cut short: one that is counts as a failure.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath -m "${1:-$here/../../build/models}")
passed=0 failed=0

# check MODEL OPTION...: prints the checker's report, in a folder of its own.
check() {
	local model=$1 work
	shift
	mkdir -p "$build"
	work=$(mktemp -d -p "$build")
	(
		cd "$work" || exit
		spin -a "$@" "$here/$model.pml" && gcc -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -o pan pan.c &&
			timeout 600 ./pan -m400000 -w22
	) 2>&1
	rm -rf "$work"
}

verdict() { # NAME GOOD REPORT
	local states
	states=$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' <<<"$3" | head -n 1)
	if [ "$2" = yes ]; then
		echo "ok - models: $1 # ${states:-0} states"
		passed=$((passed + 1))
	else
		tail -n 20 <<<"$3" | sed 's/^/# /'
		echo "not ok - models: $1"
		failed=$((failed + 1))
	fi
}

# holds MODEL OPTION...: every state is visited and none is bad.
holds() {
	local report good=no
	report=$(check "$@")
	grep -q 'errors: 0$' <<<"$report" &&
		! grep -qE 'Search not completed|max search depth too small|out of memory' <<<"$report" && good=yes
	verdict "$*" $good "$report"
}

# rejects MODEL OPTION...: the damage leads to a bad state.
rejects() {
	local report good=no
	report=$(check "$@")
	grep -qE 'errors: [1-9]' <<<"$report" && good=yes
	verdict "rejects $*" $good "$report"
}

twice=(-DFOLD -DTASKS=2 -DIRQS=2 -DNMIS=2)

# quotes MODEL-FILE...: the lines of the code that a model quotes are still there.
quotes() {
	local events=$here/../../kernel/events report good=no
	report=$(awk -v sources="$events/ring/data_ring.hh $events/output.c $events/mmap.c $events/redirect.c $events/ring_buffer.c" \
		-f "$here/steps.awk" "$@" 2>&1) && good=yes
	verdict "$(basename "$1" .pml) quotes the code as it is" $good "$report"
}

quotes "$here"/nesting*.pml
quotes "$here"/mapping*.pml
holds order
holds nesting
holds nesting -DEVERY=2
holds mapping
holds mapping -DOPPOSITES=1 -DMAPPERS=1 -DAUX_MAPPERS=0
holds mapping -DAUX_MAPPERS=2 -DMAPPERS=1 -DREDIRECTERS=0

for edge in A B C D; do
	rejects order "-DNO_$edge"
done
# Every mutant that the models know; a few need more company to be found out.
mapfile -t mutants < <(grep -ohE 'MUT_[A-Z_]+' "$here"/nesting*.pml | sort -u)
for mutant in "${mutants[@]}"; do
	case $mutant in
	MUT_LOST_NEEDS_NO_ROOM) rejects nesting "-D$mutant" "${twice[@]}" ;;
	MUT_COUNT_*) rejects nesting "-D$mutant" -DEVERY=2 ;;
	*) rejects nesting "-D$mutant" ;;
	esac
done
mapfile -t mutants < <(grep -ohE 'MUT_[A-Z_]+' "$here/mapping.pml" | sort -u)
for mutant in "${mutants[@]}"; do
	case $mutant in
	MUT_AUX_COUNT_UNLOCKED) rejects mapping "-D$mutant" -DAUX_MAPPERS=2 -DMAPPERS=1 -DREDIRECTERS=0 ;;
	MUT_REDIRECT_LOCKS_UNSORTED) rejects mapping "-D$mutant" -DOPPOSITES=1 -DMAPPERS=1 -DAUX_MAPPERS=0 ;;
	*) rejects mapping "-D$mutant" ;;
	esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
