#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the host tests in all variants and runs them: TAP on stdout, a line a
# test, and a plain count as the last line. What failed says why in lines of
# "# "; everything else is in BUILD_DIR/VARIANT/*.log.
#
#	run.sh [BUILD_DIR]
#
# BUILD_DIR	default: build/host of this tree
#
# Variants: plain (g++ -O2), asan (clang++, AddressSanitizer and
# UndefinedBehaviorSanitizer), tsan (clang++, ThreadSanitizer).
#
# Environment: PERFRING_SEED and PERFRING_ITERATIONS for the randomised tests,
# PERFRING_CORE for another kernel/events/ring, in a tree that has include/ and
# kernel/events/aux_test too.
#
# Exit status: 0 all passed, 1 a test failed, 2 wrong use, 4 cannot run here.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
variants=(plain asan tsan)

passed=0
failed=0
skipped=0

ok() { # NAME
	echo "ok $((++passed + failed)) - $1"
}

skip() { # NAME
	((++skipped))
	echo "ok $((++passed + failed)) - $1 # SKIP"
}

not_ok() { # NAME
	echo "not ok $((passed + ++failed)) - $1"
}

# As TAP diagnostics.
quote() {
	sed 's/^/# /'
}

build() { # VARIANT
	local dir=$build_dir/$1 options=()
	mkdir -p "$dir"
	[[ -z ${PERFRING_CORE-} ]] || options+=("-DPERFRING_CORE=$(realpath "$PERFRING_CORE")")
	if cmake --preset "$1" -S "$here" -B "$dir" "${options[@]}" >"$dir/configure.log" 2>&1 &&
		cmake --build "$dir" --parallel >"$dir/build.log" 2>&1; then
		ok "$1: build"
		return 0
	fi
	not_ok "$1: build"
	cat "$dir"/{configure,build}.log 2>/dev/null | tail -n 40 | quote
	return 1
}

# One line of ctest's for each test that ended: "3/9 Test #3: NAME ... STATUS".
report() { # VARIANT
	local line name
	while IFS= read -r line; do
		[[ $line =~ ^\ *[0-9]+/[0-9]+\ +Test\ +#[0-9]+:\ (.*[^ .])\ \.+(.*)$ ]] || continue
		# Values behind a # repeat the name, and TAP would take them for a directive.
		name="$1: ${BASH_REMATCH[1]%%  \#*}"
		case ${BASH_REMATCH[2]} in
		*Skipped*) skip "$name" ;;
		*Passed*) ok "$name" ;;
		*) not_ok "$name" ;;
		esac
	done
}

run() { # VARIANT
	local dir=$build_dir/$1 status=0
	ctest --test-dir "$dir" --parallel "$(nproc)" --output-on-failure \
		>"$dir/test.log" 2>&1 || status=$?
	report "$1" <"$dir/test.log"
	((status == 0)) && return
	# ctest puts the output of what failed in front of the next result.
	grep -vE '^ *Start |  Passed  ' "$dir/test.log" | head -n 400 | quote
	# Also what no line of its own tells, such as a program that is missing.
	((failed)) || not_ok "$1: ctest"
}

if (($# > 1)) || [[ ${1-} == -* ]]; then
	echo "Give a build directory or nothing; usage: ${0##*/} [BUILD_DIR]" >&2
	exit 2
fi
build_dir=${1-$root/build/host}
mkdir -p "$build_dir"
build_dir=$(realpath "$build_dir")

for tool in cmake ctest ninja g++ clang++; do
	command -v "$tool" >/dev/null || {
		echo "$tool is missing: install cmake, ninja-build, g++, clang and libgtest-dev" >&2
		exit 4
	}
done

for variant in "${variants[@]}"; do
	build "$variant" && run "$variant"
done

echo "1..$((passed + failed))"
((skipped == 0)) || echo "# $skipped skipped"
echo "$passed passed, $failed failed"
((failed == 0))
