#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [BUILD_DIR]: builds the recorder and tests it (TAP): its parts alone, with
# sanitizers; the whole of it against the stock perf, on this machine and in a guest
# that has AUX areas.
#
# BUILD_DIR	default: build/recorder of this tree
#
# Exit status: 0 all passed, 1 a test failed.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
build=${1:-build/recorder}
mkdir -p "$build"
failed=0

# built NAME COMMAND...: what it says goes to a log.
built() {
	local name=$1

	shift
	if "$@" >"$build/$name.build.log" 2>&1; then
		echo "ok - recorder: build $name"
		return
	fi
	echo "not ok - recorder: build $name"
	grep -E 'error|FAILED' "$build/$name.build.log" | head -n 20 | sed 's/^/# /'
	failed=1
	return 1
}

sanitized() {
	cmake -G Ninja -S tools/perfring -B "$build/asan" -DPERFRING_UNITY=ON \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-g1 \
		-DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
		-DPERFRING_SANITIZE=address,undefined -DPERFRING_FUZZ=ON &&
		cmake --build "$build/asan"
}

# The program as it is used, and all of it under sanitizers.
built plain scripts/recorder "$build/plain"
built asan sanitized || exit 1

# parts: each GoogleTest is a line. One that ends the program ends them all.
parts() {
	local log=$build/parts.log status=0

	timeout 900 "$build/asan/perfring_tests" >"$log" 2>&1 || status=1
	sed -nE 's/^\[ +OK \] ([^ ,]+).*/ok - recorder: \1/p
		s/^\[ +SKIPPED \] ([^ ,]+) .*/ok - recorder: \1 # SKIP it says so/p
		s/^\[ +FAILED +\] ([^ ,]+),? .*ms\)$/not ok - recorder: \1/p' "$log"
	[ $status = 0 ] && grep -q '^\[  PASSED  \]' "$log" && return
	echo "not ok - recorder: all parts"
	grep -E 'Failure|Expected|actual|Which is|: error|ERROR|SUMMARY|runtime' "$log" | head -n 40 | cut -c 1-200 | sed 's/^/# /'
	tail -n 5 "$log" | sed 's/^/# /'
	failed=1
}

# fuzz NAME: hours are for finding; here it only has to hold what it held.
fuzz() {
	if timeout 120 "$build/asan/$1" -max_total_time=10 >"$build/$1.log" 2>&1; then
		echo "ok - recorder: $1"
	else
		echo "not ok - recorder: $1"
		tail -n 20 "$build/$1.log" | sed 's/^/# /'
		failed=1
	fi
}

parts
for source in tools/perfring/tests/*_fuzz.cc; do
	fuzz "$(basename "$source" .cc)"
done
tests/recorder/record.sh "$build/plain/perfring" || failed=1
tests/recorder/vm.sh "$build/plain/perfring" || failed=1
[ $failed = 0 ]
