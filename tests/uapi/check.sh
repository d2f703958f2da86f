#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Proves that our linux/perf_event.h is the base's ABI in our own words: same
# names, values, types and layouts in both directions, no shared sentences.
# The base's header is read at run time and never kept. Prints TAP.
#
#	check.sh [--self-test] BASE_HEADER_DIR [OUR_HEADER]
#
# BASE_HEADER_DIR	include/uapi of an unpacked linux-source (all targets,
#			both byte orders), or the include directory that "make
#			headers_install" filled (x86 only)
# OUR_HEADER		default: include/uapi/linux/perf_event.h of this tree
# --self-test		only damage the header on purpose, and see each damage
#			reported; a full run does this last
#
# Exit status: 0 good, 1 difference found, 2 wrong use, 4 cannot run here.
# Needs gcc, binutils and python3; g++ and clang for all there is to see.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
	echo "$1; usage: ${0##*/} [--self-test] BASE_HEADER_DIR [OUR_HEADER]" >&2
	exit 2
}

mode=()
if [[ ${1-} == --self-test ]]; then
	mode=(--self-test)
	shift
fi
(($# == 1 || $# == 2)) || usage "Give the base's header directory"
[[ $1 != -* ]] || usage "Unknown option $1"

base=$1
ours=${2-$here/../../include/uapi/linux/perf_event.h}
[[ -d $base ]] || usage "$base is not a directory"
[[ -r $ours ]] || usage "$ours is not a readable file"

for tool in gcc readelf python3; do
	if ! command -v "$tool" >/dev/null; then
		echo "1..0 # SKIP $tool is not installed"
		exit 4
	fi
done

exec python3 -B "$here/abi_check.py" "${mode[@]}" "$base" "$ours"
