#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [BUILD_DIR]: builds the host tests of the core in each variant (plain
# g++, clang++ with AddressSanitizer and UndefinedBehaviorSanitizer, clang++ with
# ThreadSanitizer), runs them and prints a TAP line for each with the variant's
# name in front. BUILD_DIR is build/host of this repository by default.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath -m "${1:-$here/../../build/host}")
passed=0 failed=0

# run_variant PRESET: configure, build, test.
run_variant() {
	local variant=$1 dir=$build/$1 log=$build/$1.log line name

	mkdir -p "$build"
	if ! (cd "$here" && cmake --preset "$variant" -B "$dir" && cmake --build "$dir") >"$log" 2>&1; then
		tail -n 30 "$log" | sed 's/^/# /'
		echo "not ok - host: $variant: does not build"
		failed=$((failed + 1))
		return
	fi
	ctest --test-dir "$dir" -j2 --output-on-failure >>"$log" 2>&1
	while IFS= read -r line; do
		name=$(sed -E 's/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: +//; s/ \.*[ *]*(Passed|Failed|Skipped|Timeout|Exception|Not Run).*//' <<<"$line")
		case $line in
		*" Passed "*)
			echo "ok - host: $variant: $name"
			passed=$((passed + 1))
			;;
		*"***Skipped"*) echo "ok - host: $variant: $name # SKIP $(tail -n 1 <<<"$line")" ;;
		*)
			echo "not ok - host: $variant: $name"
			failed=$((failed + 1))
			;;
		esac
	done < <(grep -E '^ *[0-9]+/[0-9]+ +Test +#' "$log")
	[ "$failed" = 0 ] || sed 's/^/# /' "$log" | tail -n 60
}

for variant in plain asan tsan; do
	run_variant "$variant"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
