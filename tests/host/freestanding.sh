#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compiles the core as the kernel does and looks at the objects: they call
# nothing but what the allow-list names, run nothing before main and keep no
# writable data.
#
#	freestanding.sh COMPILER [CORE_DIR...]
#
# COMPILER	g++ or clang++, for x86-64
# CORE_DIR	default: kernel/events/ring and kernel/events/aux_test of this tree
#
# Exit status: 0 good, 1 an object is not as it has to be, 2 wrong use,
# 77 cannot run here.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
allowed=$here/../../overlay/add/scripts/cxx-undefined.allow

flags=(
	-std=c++20 -O2 -ffreestanding -nostdlib -fno-exceptions -fno-rtti
	-fno-threadsafe-statics -fno-asynchronous-unwind-tables -fno-pic -g0
	-mno-sse -mgeneral-regs-only -mcmodel=kernel -mno-red-zone
	-fno-strict-aliasing -fno-common
	-Wall -Wextra -Wconversion -Werror
)

compile() { # SOURCE OBJECT
	"$compiler" "${flags[@]}" -c -o "$2" "$1"
}

# Prints what is wrong with an object, one line each.
faults_of() { # OBJECT
	nm -u "$1" | awk '{ print $2 }' | grep -vxE -f "$allowed" |
		sed 's/^/calls /' || true
	nm -C "$1" | awk '$2 ~ /^[bBdDC]$/ { $1 = $2 = ""; print "writable data:" $0 }'
	# Sizes are the sixth field, in hex; sections of size 0 are harmless.
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '
		$5 ~ /^0+$/ { next }
		$1 ~ /^\.(init_array|ctors|preinit_array|fini_array|dtors)/ { print "runs code on its own: " $1 }
		$1 ~ /^\.(data|bss|tdata|tbss|tm_clone_table)/ && $1 !~ /^\.data\.rel\.ro/ { print "writable section: " $1 }
		$1 ~ /^\.(eh_frame|gcc_except_table)/ { print "unwind tables: " $1 }'
}

# A source that does all that is forbidden has to be found out.
check_the_check() {
	cat >"$scratch/bad.cc" <<'EOF'
extern "C" int getpid();
extern int elsewhere();
int counter = 3;
static int at_start = getpid();
int uses() { return counter + at_start + elsewhere(); }
EOF
	compile "$scratch/bad.cc" "$scratch/bad.o"
	local found expected
	found=$(faults_of "$scratch/bad.o")
	for expected in 'calls getpid' 'calls _Z9elsewherev' 'writable data:.* counter' \
		'writable section: \.data' 'writable section: \.bss' 'runs code on its own'; do
		if ! grep -q "$expected" <<<"$found"; then
			echo "the check itself is broken, it does not report: $expected" >&2
			exit 1
		fi
	done
}

check() { # SOURCE
	local object faults
	object=$scratch/$(basename "$1").o
	compile "$1" "$object" || return 1
	faults=$(faults_of "$object")
	[[ -n $faults ]] || return 0
	printf '%s: %s\n' "$(basename "$1")" "$faults" >&2
	return 1
}

if (($# == 0)); then
	echo "Give a compiler; usage: ${0##*/} COMPILER [CORE_DIR...]" >&2
	exit 2
fi
compiler=$1
shift
(($#)) || set -- "$here"/../../kernel/events/{ring,aux_test}

if ! command -v "$compiler" >/dev/null; then
	echo "SKIP: $compiler is not installed"
	exit 77
fi
if [[ $("$compiler" -dumpmachine) != x86_64-* ]]; then
	echo "SKIP: $compiler does not compile for x86-64"
	exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check_the_check
status=0
for core; do
	sources=("$core"/*.cc)
	[[ -e ${sources[0]} ]] || { echo "No sources in $core" >&2; exit 1; }
	for source in "${sources[@]}"; do
		check "$source" || status=1
	done
done
exit "$status"
