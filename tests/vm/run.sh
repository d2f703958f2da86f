#!/bin/bash
# shellcheck disable=SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Tests of ./vm, as TAP: tests/vm/run.sh [KERNEL] [-- PATTERN]
#
# KERNEL defaults to what is built under build/; PATTERN picks tests by name.
# VM_TEST_PATIENCE is how many seconds a boot may take here.
# Everything runs from a copy of vm in a temporary folder below /tmp, as if it
# were a fresh clone there, with its own TMPDIR: what vm leaves behind shows.

set -u
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
repository=$(realpath -- "$here/../..")
patience=${VM_TEST_PATIENCE:-300}

for part in tap arguments streams endings guest warnings; do
	# shellcheck source=/dev/null # each part is checked by itself
	. "$here/$part.sh" || exit
done

default_kernel() {
	local image
	for image in "$repository"/build/{x86_64,stock}/arch/x86/boot/bzImage; do
		[[ -f $image ]] && echo "$image" && return
	done
}

kernel=
if (($#)) && [[ $1 != -- ]]; then
	kernel=$(realpath -- "$1")
	shift
fi
kernel=${kernel:-$(default_kernel)}
pattern=${2-}

work=$(mktemp -d /tmp/vm-test.XXXXXX) || exit
trap 'rm -rf -- "$work"' EXIT
clone="$work/a clone, with 'quotes'"
vm=$clone/vm
export TMPDIR=$work/tmp
mkdir -p "$TMPDIR" "$clone"
cp -r -- "$repository/vm" "$clone/"
mkdir "$clone/scripts"
cp -r -- "$repository/scripts/vm" "$clone/scripts/"
cd "$clone" || exit
settings=(--kernel "$kernel" --boot-timeout "$patience")

run_tests "$pattern"
