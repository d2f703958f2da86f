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

test_seconds=120
all=
declare -A number=() # of a test, by name
names=()             # in perf's order

# The names in a list, without what is said about them.
list() { # FILE
	sed 's/ *#.*//;/./!d' "$here/$1"
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

# Where there is a folder tests, perf looks for its shell tests below that and
# nowhere else. There is none in this folder, nor where the guest runs it.
read_test_list() {
	local line
	while IFS= read -r line; do
		# The positive match last: its parts are what is kept.
		[[ ! $line =~ ^\ *[0-9]+:[0-9]+: && $line =~ ^\ *([0-9]+):\ (.*[^ ])\ *$ ]] || continue
		number[${BASH_REMATCH[2]}]=${BASH_REMATCH[1]}
		names+=("${BASH_REMATCH[2]}")
	done < <(cd "$here" && "$perf" test list 2>&1)
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
		mapfile -t chosen < <(list perf-test.kernel)
	elif [[ $all ]]; then
		chosen=("${names[@]}")
	else
		without "${names[@]}" < <(list perf-test.exclude)
	fi
	for name in "${chosen[@]}"; do
		[[ ${number[$name]:-} ]] || usage_error "this perf has no test '$name': '$perf test list' shows all"
	done
}

# "12.3: subtest name   : Verdict" becomes "TEST / SUBTEST<tab>Verdict"; the
# heading of a test with subtests has no verdict. A long name leaves no space.
parse_output() { # TEST FILE
	local n=${number[$1]} end='(.*[^ ]) *: (Ok|FAILED!|Skip)( \(.*\))? *$'
	sed -nE -e "s/^ *$n\\.[0-9]+: $end/\\1\\t\\2\\3/p" -e "s/^ *$n: $end/=\\t\\2\\3/p" "$2" |
		awk -F'\t' -v test="$1" '{ print test ($1 == "=" ? "" : " / " $1) "\t" $2 }'
}

# That a test broke off is one more verdict.
parse_test() { # TEST FOLDER
	local n=${number[$1]} verdicts status
	verdicts=$(parse_output "$1" "$2/output")
	status=$(awk -v n="$n" '$1 == n { print $2 }' "$2/broken")
	[[ ! $verdicts ]] || printf '%s\n' "$verdicts"
	case $status in
	'') [[ $verdicts ]] || printf '%s\tMISSING\n' "$1" ;;
	124) printf '%s\tTIMEOUT\n' "$1" ;;
	*) printf '%s\tDIED (%s)\n' "$1" "$status" ;;
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
	done | sort -n >"$folder/numbers" # as perf runs them
	boot "$kernel" "$folder" $((2 * limit * $# + 60)) --smp 2 -- \
		bash /tmp/share/perf-test-guest.sh "$perf" "$limit" "$verbose" || return
	for test; do
		parse_test "$test" "$folder"
	done >"$folder/verdicts"
}

# One test hangs, one kills perf, and the last perf leaves out.
stand_in_perf() {
	cat <<-'PERF'
		#!/bin/bash
		shift
		for n; do
			case $n in
			4) printf '  4: a: b     :\n  4.1: first: x   : Skip (permissions)\n 4.2: second  : FAILED!\n' ;;
			5) printf '  5: c: Ok\nsome warning\n' ;;
			6) printf '  6: d   :' && sleep 1000 ;;
			7) printf '  7: e   :\n 7.1: one   : Ok\n 7.2: two   :' && kill -SEGV $$ ;;
			8) printf '  8: f   : Ok\n' ;;
			esac
		done
	PERF
}

self_test() {
	local test
	work=$(mktemp -d) || exit
	trap 'rm -rf -- "$work"' EXIT
	test_verdicts
	stand_in_perf >"$work/perf"
	chmod +x "$work/perf"
	cp "$here/perf-test-guest.sh" "$work/"
	number=([a: b]=4 [c]=5 [d]=6 [e]=7 [f]=8 [g]=40)
	printf '%s\n' 4 5 6 7 8 40 >"$work/numbers"
	bash "$work/perf-test-guest.sh" "$work/perf" 1 quiet
	for test in "a: b" c d e f g; do
		parse_test "$test" "$work"
	done >"$work/parsed"
	printf '%s\t%s\n' "a: b / first: x" "Skip (permissions)" "a: b / second" FAILED! c Ok d TIMEOUT \
		"e / one" Ok e "DIED (139)" f Ok g MISSING >"$work/expected"
	if cmp -s "$work/parsed" "$work/expected"; then
		ok "self-test: perf's output is read as it is meant, with tests that hang, die and do not run"
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
