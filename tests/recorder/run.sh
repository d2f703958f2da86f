#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [BUILD_DIR]: builds the recorder, runs its tests with and without sanitizers,
# and the whole of it against the stock perf on this machine (TAP).
#
# BUILD_DIR	default: build/recorder of this tree
#
# Exit status: 0 all passed, 1 a test failed.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
build=${1:-build/recorder}
mkdir -p "$build"
failed=0

# variant NAME CMAKE_OPTION...: a line for the build, then one for each test.
variant() {
	local dir=$build/$1 name=$1

	shift
	if ! { cmake -G Ninja -S tools/perfring -B "$dir" "$@" && cmake --build "$dir"; } \
		>"$dir.build.log" 2>&1; then
		echo "not ok - recorder: build $name"
		grep -E 'error|FAILED' "$dir.build.log" | head -n 20 | sed 's/^/# /'
		failed=1
		return
	fi
	echo "ok - recorder: build $name"
	ctest --test-dir "$dir" --output-on-failure --timeout 300 >"$dir.test.log" 2>&1 || failed=1
	sed -nE "s,^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) \.+ +Passed.*,ok - recorder: $name: \1,p
		s,^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) \.+ *\*.*,not ok - recorder: $name: \1,p" \
		"$dir.test.log"
	[ $failed = 0 ] || grep -E 'Failure|Expected|Which is|: error' "$dir.test.log" | head -n 40 | sed 's/^/# /'
}

variant plain -DCMAKE_BUILD_TYPE=RelWithDebInfo
variant asan -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
	-DPERFRING_SANITIZE=address,undefined -DPERFRING_FUZZ=ON

# fuzz NAME: a minute is for finding; here it only has to hold what it held.
fuzz() {
	if timeout 120 "$build/asan/$1" -max_total_time=20 >"$build/$1.log" 2>&1; then
		echo "ok - recorder: $1"
	else
		echo "not ok - recorder: $1"
		tail -n 20 "$build/$1.log" | sed 's/^/# /'
		failed=1
	fi
}
for source in tools/perfring/tests/*_fuzz.cc; do
	fuzz "$(basename "$source" .cc)"
done

tests/recorder/record.sh "$build/plain/perfring" || failed=1
[ $failed = 0 ]
