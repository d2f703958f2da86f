#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Style and static checks of all C++ in the tree, by .clang-format and
# .clang-tidy at its root.
#
#	lint.sh format
#	lint.sh tidy BUILD_DIR
#
# BUILD_DIR	built by tests/host: its compile_commands.json says what to check
#
# Exit status: 0 clean, 1 not, 2 wrong use, 77 cannot run here.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

need() { # TOOL
	command -v "$1" >/dev/null && return
	echo "SKIP: $1 is not installed"
	exit 77
}

check_format() {
	need clang-format
	local sources
	mapfile -t sources < <(find "$root" \( -name build -o -name .git \) -prune -o \
		-type f \( -name '*.cc' -o -name '*.hh' \) -print)
	((${#sources[@]})) || { echo "No C++ found in $root" >&2; exit 1; }
	clang-format --dry-run --Werror "${sources[@]}"
}

check_tidy() { # BUILD_DIR
	need clang-tidy
	local sources
	[[ -r $1/compile_commands.json ]] ||
		{ echo "No compile_commands.json in $1: build tests/host there first" >&2; exit 2; }
	mapfile -t sources < <(sed -n 's/^ *"file": "\(.*\.cc\)",\{0,1\}$/\1/p' \
		"$1/compile_commands.json" | sort -u)
	((${#sources[@]})) || { echo "No C++ found in $1/compile_commands.json" >&2; exit 1; }
	printf '%s\0' "${sources[@]}" |
		xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$1" --warnings-as-errors='*'
}

case ${1-}/$# in
format/*) check_format ;;
tidy/2) check_tidy "$2" ;;
*)
	echo "Say what to check; usage: ${0##*/} format, or tidy BUILD_DIR" >&2
	exit 2
	;;
esac
