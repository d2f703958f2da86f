#!/bin/bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Runs the base's own perf_events kselftests on the stock kernel and on ours and
# compares the verdict of every case. A test that fails on both is in agreement:
# remove_on_exec wants a hardware counter, which this machine does not have.
#
#	kselftests.sh [--debug] [--self-test]
#
# --debug	compare the debug kernel instead of ours
# --self-test	only show that the comparison can fail
#
# Environment: BASE (kernel source), STOCK_IMAGE, OURS_IMAGE, DEBUG_IMAGE, VM,
# RESULTS (folder), PATIENCE (factor for all time limits on a busy machine).
# Exit status: 0 all agree, 1 differences, 2 wrong use, 4 cannot run here.

set -u
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
for part in common verdicts verdicts_self_test; do
	# shellcheck source=/dev/null # each part is checked by itself
	. "$here/$part.sh" || exit
done

# Limits are for what hangs. The base's, 120 for a program and 30 for a test in it,
# are too short for a debug kernel under emulation.
program_seconds=900
test_seconds=300
programs=(mmap remove_on_exec sigtrap_threads watermark_signal)

# Outside of the source tree, unoptimised like the base does it (a plain store must
# stay where it is), with the base's own header before the system's.
build_programs() {
	local bin=$results/bin program
	local selftests=$base/tools/testing/selftests tests_folder=$bin/source/perf_events
	fresh_folder "$bin"
	mkdir -p "$bin/include/linux" "$tests_folder"
	cp "$base/include/uapi/linux/perf_event.h" "$bin/include/linux/" || return
	cp "$selftests"/kselftest*.h "$bin/source/" || return
	cp "$selftests"/perf_events/*.c "$tests_folder/" || return
	sed -i "s/^\(#define TEST_TIMEOUT_DEFAULT\) .*/\1 $test_seconds/" "$bin/source/kselftest_harness.h"
	grep -q "TEST_TIMEOUT_DEFAULT $test_seconds\$" "$bin/source/kselftest_harness.h" ||
		usage_error "the base's kselftest_harness.h has no TEST_TIMEOUT_DEFAULT any more"
	for program in "${programs[@]}"; do
		gcc -static -pthread -I"$bin/include" -o "$bin/$program" \
			"$tests_folder/$program.c" >"$bin/$program.log" 2>&1 ||
			usage_error "cannot build the base's $program.c: see $bin/$program.log"
	done
}

# Without hardware the base has no PMU with an AUX area, and skips what needs one.
build_aux_pmu() {
	local module
	module=$("$here/../../scripts/module" stock kernel/events/aux_test) ||
		usage_error "the test PMU does not build for the stock kernel"
	cp "$module" "$results/bin/perf_aux_test.ko"
}

report_aux_cases() { # VERDICTS...
	local ran
	ran=$(grep -h aux "$@" | grep -vc SKIP)
	if ((ran > 0)) && ! grep -h aux "$@" | grep -q SKIP; then
		ok "kselftest: the cases with an AUX area run"
	else
		not_ok "kselftest: cases with an AUX area are skipped, or there are none"
	fi
}

# A program's TAP as verdict lines, with its exit status as one more.
parse_tap() { # PROGRAM FOLDER
	local status
	status=$(cat "$2/$1.status" 2>/dev/null) || status=
	sed -nE -e '/^(not )?ok [0-9]+ /!d' \
		-e "s,^(not ok|ok) [0-9]+ (- )?([^#]*[^# ]) *# *SKIP.*,$1 / \\3\tSKIP,p;t" \
		-e "s,^(not ok|ok) [0-9]+ (- )?([^#]*[^# ]).*,$1 / \\3\t\\1,p" "$2/$1.tap"
	case $status in
	124 | 137) printf '%s / end\tTIMEOUT\n' "$1" ;;
	'') printf '%s / end\tMISSING\n' "$1" ;;
	*) printf '%s / end\tstatus %s\n' "$1" "$status" ;;
	esac
}

run_programs() { # KERNEL FOLDER ROUND PROGRAM...
	local kernel=$1 folder=$2 limit=$((program_seconds * patience)) program
	shift 3
	cp "$here/kselftests-guest.sh" "$results/bin/perf_aux_test.ko" "${@/#/$results/bin/}" "$folder/"
	boot "$kernel" "$folder" $((program_seconds * $# + 30)) --smp 2 -- \
		bash /tmp/share/kselftests-guest.sh "$limit" "$@" || return
	for program; do
		parse_tap "$program" "$folder"
	done >"$folder/verdicts"
}

self_test() {
	work=$(mktemp -d) || exit
	trap 'rm -rf -- "$work"' EXIT
	test_verdicts
	printf 'ok 1 a.b\nnot ok 2 a.c\nok 3 a.d # SKIP why\n# ok 4 x\n' >"$work/some.tap"
	echo 1 >"$work/some.status"
	parse_tap some "$work" >"$work/parsed"
	printf 'some / a.b\tok\nsome / a.c\tnot ok\nsome / a.d\tSKIP\nsome / end\tstatus 1\n' >"$work/expected"
	if cmp -s "$work/parsed" "$work/expected"; then
		ok "self-test: TAP is read as it is meant"
	else
		not_ok "self-test: TAP is misread: $(tr '\n\t' ';,' <"$work/parsed")"
	fi
	conclude
}

main() {
	local kernel=ours
	while (($#)); do
		case $1 in
		--debug) kernel=debug ;;
		--self-test)
			self_test
			exit
			;;
		*) usage_error "unknown option '$1': there are --debug and --self-test" ;;
		esac
		shift
	done
	need_command gcc
	need_base
	need_image stock "$kernel"
	results=$results/kselftests-$kernel
	build_programs
	build_aux_pmu
	if settle run_programs "$results" "$kernel" "${programs[@]}"; then
		report_verdicts kselftest "$results/stock" "$results/$kernel" "$kernel"
		report_aux_cases "$results"/{stock,"$kernel"}
		report_warnings kselftest "$results" "$kernel"
	else
		not_ok "kselftest: a kernel did not come to the end"
	fi
	conclude
}

main "$@"
