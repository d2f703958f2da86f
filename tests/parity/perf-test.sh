#!/bin/bash
# shellcheck disable=SC2154 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Runs the distribution's `perf test` on the stock kernel and on ours, one boot
# each, and compares the verdict of every test and subtest.
#
#	perf-test.sh [--debug] [--all] [--self-test] [NAME...]
#
# --debug	the debug kernel instead of ours, and only the tests that are
#		about the kernel (perf-test.kernel)
# --all		also the tests that perf-test.exclude leaves out as slow
# --self-test	only show that the comparison can fail
# NAME		only the tests of these names, as `perf test list` has them
#
# Environment: STOCK_IMAGE, OURS_IMAGE, DEBUG_IMAGE, VM, RESULTS (folder),
# PATIENCE (factor for all time limits on a busy machine).
# Exit status: 0 all agree, 1 differences, 2 wrong use, 4 cannot run here.

set -u
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
for part in common verdicts verdicts_self_test; do
	# shellcheck source=/dev/null # each part is checked by itself
	. "$here/$part.sh" || exit
done

test_seconds=60
all=
declare -A number=() # of a test, by name
names=()             # in perf's order

# Sections of the exclude list: [slow] has tests for --all, [never] has not.
list_section() { # SECTION
	sed -n "/^\\[$1\\]/,/^\\[/{/^\\[/d;s/ *#.*//;/./p}" "$here/perf-test.exclude"
}

# Debian's perf is a plain program; where it is a wrapper that looks for the
# running kernel's version, the newest versioned one does.
find_perf() {
	local candidate
	for candidate in "$(command -v perf)" /usr/bin/perf_*; do
		if "$candidate" --version >/dev/null 2>&1; then
			perf=$candidate
		fi
	done
	[[ ${perf:-} ]] || skip_all "no perf that runs is installed: 'make deps' installs it (linux-perf)"
}

read_test_list() {
	local line
	while IFS= read -r line; do
		# The positive match last: its parts are what is kept.
		[[ ! $line =~ ^\ *[0-9]+:[0-9]+: && $line =~ ^\ *([0-9]+):\ (.*[^ ])\ *$ ]] || continue
		number[${BASH_REMATCH[2]}]=${BASH_REMATCH[1]}
		names+=("${BASH_REMATCH[2]}")
	done < <("$perf" test list 2>&1)
	((${#names[@]})) || usage_error "'$perf test list' lists no tests: install a complete linux-perf"
}

without() { # NAME... ; the names to leave out come from standard input
	local name
	local -A out=()
	while IFS= read -r name; do
		out[$name]=1
		[[ ${number[$name]:-} ]] || note "this perf has no test '$name', which perf-test.exclude leaves out"
	done
	chosen=()
	for name; do
		[[ ${out[$name]:-} ]] || chosen+=("$name")
	done
}

choose_tests() { # KERNEL NAME...
	local kernel=$1 name
	shift
	if (($#)); then
		chosen=("$@")
	elif [[ $kernel == debug ]]; then
		mapfile -t chosen < <(sed 's/ *#.*//;/./!d' "$here/perf-test.kernel")
	elif [[ $all ]]; then
		without "${names[@]}" < <(list_section never)
	else
		without "${names[@]}" < <(list_section never && list_section slow)
	fi
	for name in "${chosen[@]}"; do
		[[ ${number[$name]:-} ]] || usage_error "this perf has no test '$name': '$perf test list' shows all"
	done
}

# "12.3: subtest name   : Verdict" becomes "TEST / SUBTEST<tab>Verdict"; the
# heading of a test with subtests has no verdict. A long name leaves no space.
parse_output() { # TEST FILE
	local end='(.*[^ ]) *: (Ok|FAILED!|Skip)( \(.*\))? *$'
	sed -nE -e "s/^ *[0-9]+\\.[0-9]+: $end/\\1\\t\\2\\3/p" -e "s/^ *[0-9]+: $end/=\\t\\2\\3/p" "$2" |
		awk -F'\t' -v test="$1" '{ print test ($1 == "=" ? "" : " / " $1) "\t" $2 }'
}

# The exit status tells if the test came to an end.
parse_test() { # TEST FOLDER
	local n=${number[$1]} status
	status=$(cat "$2/$n.status" 2>/dev/null) || status=
	parse_output "$1" "$2/$n.out" 2>/dev/null >"$2/$n.parsed"
	cat "$2/$n.parsed"
	case $status in
	124 | 137) printf '%s\tTIMEOUT\n' "$1" ;;
	'') printf '%s\tMISSING\n' "$1" ;;
	*)
		((status <= 128)) || printf '%s\tDIED (%s)\n' "$1" "$status"
		[[ -s $2/$n.parsed ]] || printf '%s\tDIED (no verdict, status %s)\n' "$1" "$status"
		;;
	esac
}

# A second and third round have more time, and keep what perf says when verbose.
run_tests() { # KERNEL FOLDER ROUND TEST...
	local kernel=$1 folder=$2 round=$3 test verbose=quiet limit
	limit=$((test_seconds * round * patience * (all ? 10 : 1)))
	shift 3
	((round == 1)) || verbose=verbose
	cp "$here/perf-test-guest.sh" "$folder/"
	for test; do
		echo "${number[$test]}"
	done >"$folder/numbers"
	boot "$kernel" "$folder" $((limit * $# + 60)) --smp 2 -- \
		bash /tmp/share/perf-test-guest.sh "$perf" "$limit" "$verbose" || return
	for test; do
		parse_test "$test" "$folder"
	done >"$folder/verdicts"
}

self_test() {
	work=$(mktemp -d) || exit
	trap 'rm -rf -- "$work"' EXIT
	test_verdicts
	number=([a: b]=4 [c]=5 [d]=6)
	printf '  4: a: b     :\n  4.1: first: x   : Skip (permissions)\n 4.2: second  : FAILED!\n' >"$work/4.out"
	printf '  5: c: Ok\n' >"$work/5.out"
	printf '  6: d   :' >"$work/6.out"
	printf '1\n' >"$work/4.status"
	printf '0\n' >"$work/5.status"
	printf '124\n' >"$work/6.status"
	{ parse_test "a: b" "$work" && parse_test c "$work" && parse_test d "$work"; } >"$work/parsed"
	printf 'a: b / first: x\tSkip (permissions)\na: b / second\tFAILED!\nc\tOk\nd\tTIMEOUT\n' >"$work/expected"
	if cmp -s "$work/parsed" "$work/expected"; then
		ok "self-test: perf's output is read as it is meant"
	else
		not_ok "self-test: perf's output is misread: $(tr '\n\t' ';,' <"$work/parsed")"
	fi
	conclude
}

main() {
	local kernel=ours
	while (($#)); do
		case $1 in
		--debug) kernel=debug ;;
		--all) all=1 ;;
		--self-test)
			self_test
			exit
			;;
		-*) usage_error "unknown option '$1': there are --debug, --all and --self-test" ;;
		*) break ;;
		esac
		shift
	done
	find_perf
	need_image stock "$kernel"
	read_test_list
	choose_tests "$kernel" "$@"
	results=$results/perf-test-$kernel
	if settle run_tests "$results" "$kernel" "${chosen[@]}"; then
		report_verdicts "perf test" "$results/stock" "$results/$kernel" "$kernel"
		report_warnings "perf test" "$results" "$kernel"
	else
		not_ok "perf test: a kernel did not come to the end"
	fi
	conclude
}

main "$@"
