#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh: what can be said of the sources without running them (TAP): shellcheck,
# clang-format, clang-tidy, the base's checkpatch, sparse on the laid tree, and
# that every source file names its licence.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0

check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/output" 2>&1; then
		echo "ok $n - lint: $name"
	else
		echo "not ok $n - lint: $name"
		sed 's/^/# /' "$work/output" | tail -n 40
		failed=$((failed + 1))
	fi
}

git ls-files -co --exclude-standard >"$work/files"
while read -r file; do
	[ -f "$file" ] && head -n 1 "$file" | grep -qE '^#!.*\b(ba)?sh\b' && echo "$file"
done <"$work/files" >"$work/shell"
grep -E '\.(cc|hh)$' "$work/files" >"$work/cxx"
grep -E '\.[ch]$' "$work/files" >"$work/c"
# The kernel's own rules are for what goes into the kernel.
grep -E '^(kernel|arch|drivers|include)/.*\.[ch]$' "$work/files" >"$work/kernel-c"

licensed() {
	local bad=0 file

	while read -r file; do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier:' || {
			echo "$file: no SPDX-License-Identifier in the first three lines"
			bad=1
		}
	done < <(cat "$work/shell" "$work/cxx" "$work/c"; grep -E '(\.py|\.pml|\.rst|\.cocci|Makefile|Kconfig)$' "$work/files" |
		grep -v '^overlay/append/')
	return $bad
}

checkpatch() {
	# Rules about patches, not files; names that the ABI and the seam prescribe.
	xargs -a "$work/kernel-c" perl build/base/scripts/checkpatch.pl --no-tree --file --terse \
		--no-summary --max-line-length=100 --strict \
		--ignore SPDX_LICENSE_TAG,FILE_PATH_CHANGES,CAMELCASE,MACRO_ARG_REUSE,AVOID_EXTERNS,MULTISTATEMENT_MACRO_USE_DO_WHILE,PREFER_KERNEL_TYPES,NEW_TYPEDEFS,BIT_MACRO,CONST_STRUCT
}

sparse_clean() {
	local folders=(kernel/events/ arch/x86/events/intel/pt/ arch/x86/events/intel/emu/)
	local ours=() file pattern

	while read -r file; do
		ours+=("${file%.c}")
		rm -f "build/tree/out-x86_64/${file%.c}.o"
	done < <(grep -E "^($(tr ' ' '|' <<<"${folders[*]}"))[^/]*\.c$" "$work/kernel-c")
	make -s -C build/tree O=out-x86_64 C=1 "${folders[@]}" >"$work/sparse" 2>&1 || {
		cat "$work/sparse"
		return 1
	}
	# The base's files are not ours to mend.
	pattern=$(printf '%s\\.c|' "${ours[@]}")
	! grep -E "(${pattern}kernel/events/internal\.h|kernel/events/ring/)" "$work/sparse"
}

tidy() {
	xargs -a <(grep -E '^(kernel|arch|drivers)/.*\.cc$' "$work/cxx") -P "$(nproc)" -I{} \
		clang-tidy --quiet --warnings-as-errors='*' {} -- \
		-std=c++20 -ffreestanding -fno-exceptions -fno-rtti -Ikernel/events/ring
}

check "every source file names its licence" licensed
check "shellcheck" xargs -a "$work/shell" shellcheck -x -P SCRIPTDIR
check "clang-format" xargs -a "$work/cxx" clang-format --dry-run -Werror
check "clang-tidy on the core" tidy
check "checkpatch on the kernel's C" checkpatch
check "sparse on the kernel's C" sparse_clean
echo "1..$n"
[ $failed = 0 ]
