#!/bin/bash
# shellcheck disable=SC2154 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Sameness of the ring's bytes: the program in records/ fills rings under a
# matrix of attributes, on the stock kernel and on ours, with counted
# instructions on one CPU, and dumps what it finds; diff(1) decides. What may
# differ (times, pids, ids, kernel addresses) the dump tells by name or property.
#
#	records.sh [--debug] [--self-test] [NAME]
#
# --debug	compare the debug kernel instead of ours
# --self-test	only show that the comparison can fail
# NAME		only the cases with this in their names
#
# Environment: STOCK_IMAGE, OURS_IMAGE, DEBUG_IMAGE, VM, RESULTS (folder),
# PATIENCE (factor for all time limits on a busy machine).
# Exit status: 0 all agree, 1 differences, 2 wrong use, 4 cannot run here.

set -u
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
for part in common dumps_self_test; do
	# shellcheck source=/dev/null # each part is checked by itself
	. "$here/$part.sh" || exit
done

run_seconds=900

build_program() { # OUTPUT
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fno-stack-protector -fno-pie -no-pie -static \
		-pthread -I"$repository/include/uapi" -o "$1" "$here"/records/*.[cS] ||
		usage_error "cannot build records: read the compiler's first message"
}

run_cases() { # KERNEL FOLDER PATTERN
	fresh_folder "$2"
	mkdir "$2/dumps"
	cp "$results/records" "$here/records-guest.sh" "$2/"
	boot "$1" "$2" "$run_seconds" --icount -- bash /tmp/share/records-guest.sh "$3"
}

# The names of all cases on either side.
cases_of() { # FOLDER FOLDER
	find "$1" "$2" -name '*.txt' -printf '%f\n' 2>/dev/null | sort -u
}

# False where the two dumps differ, or where they say nothing.
same_dump() { # FILE FILE
	[[ -s $1 && -s $2 ]] && diff -u --label "${1##*/} stock" --label "${1##*/} here" -- "$1" "$2"
}

report_case() { # FILE STOCK OURS
	local name=${1%.txt} difference
	if ! difference=$(same_dump "$2/$1" "$3/$1"); then
		not_ok "records: $name"
		note "the dump of one kernel is missing or empty, or they differ:"
		head -n 30 <<<"$difference" | cut -c 1-400 | sed 's/^/#   /'
	elif grep -q '^SKIP: ' "$2/$1"; then
		ok "records: $name" "SKIP $(sed -n 's/^SKIP: //p' "$2/$1")"
	else
		ok "records: $name"
	fi
}

report_dumps() { # STOCK OURS
	local file files
	mapfile -t files < <(cases_of "$1" "$2")
	((${#files[@]})) || not_ok "records: there are no dumps to compare"
	for file in "${files[@]}"; do
		report_case "$file" "$1" "$2"
	done
}

self_test() {
	work=$(mktemp -d) || exit
	trap 'rm -rf -- "$work"' EXIT
	test_dumps
	conclude
}

main() {
	local kernel=ours side
	while (($#)); do
		case $1 in
		--debug) kernel=debug ;;
		--self-test)
			need_command gcc
			self_test
			exit
			;;
		-*) usage_error "unknown option '$1': there are --debug and --self-test" ;;
		*) break ;;
		esac
		shift
	done
	(($# < 2)) || usage_error "give one part of a name, not $#"
	need_command gcc
	need_image stock "$kernel"
	results=$results/records-$kernel
	mkdir -p "$results" || usage_error "cannot create the folder $results: set RESULTS to another one"
	build_program "$results/records"
	for side in stock "$kernel"; do
		run_cases "$side" "$results/$side" "${1-}" || not_ok "records: all cases run on $side"
		[[ ! -e $results/$side/warned || $side == stock ]] ||
			[[ -e $results/stock/warned ]] || not_ok "records: $side prints no kernel warnings"
	done
	report_dumps "$results/stock/dumps" "$results/$kernel/dumps"
	conclude
}

main "$@"
