#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [BASE]: tests of the overlay's own machinery (TAP). BASE is an unpacked
# kernel source, build/base by default; it is only read. The work is done beside
# it, since a laid tree has hard links to its base.
set -uo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
base=$(realpath "${1:-$repo/build/base}")
work=$(mktemp -d "$base-overlay-test.XXXXXX") || exit
trap 'rm -rf "$work"' EXIT
export LAY_CACHE=$work/cache
n=0 failed=0

check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/output" 2>&1; then
		echo "ok $n - overlay: $name"
	else
		echo "not ok $n - overlay: $name"
		sed 's/^/# /' "$work/output" | tail -n 15
		failed=$((failed + 1))
	fi
}

# The files of the base that the overlay reads, and one that it leaves alone, as a
# base of their own.
untouched=kernel/events/uprobes.c
removed=arch/x86/events/intel/pt.c
small_base() {
	rm -rf "$1"
	mkdir -p "$1"
	{
		sed -n 's/^from_base //p' "$repo/overlay/lay"
		find "$repo/overlay/append" -type f -printf '%P\n'
		sed -e '/^#/d' -e '/^$/d' "$repo/overlay/remove"
		echo "$untouched"
	} | (cd "$base" && xargs cp --parents -t "$1")
}

lay() {
	"$repo/overlay/lay" "$1" "$2"
}

# refuses MESSAGE BASE: lay fails, says MESSAGE and writes no tree.
refuses() {
	if lay "$2" "$work/refused" >"$work/said" 2>&1; then
		echo "lay takes it"
		return 1
	fi
	cat "$work/said"
	grep -qF "$1" "$work/said" && [ ! -e "$work/refused" ]
}

lays_and_shares() {
	lay "$work/base" "$work/tree" || return
	[ "$work/base/$untouched" -ef "$work/tree/$untouched" ] || return
	cmp "$repo/kernel/events/ring_buffer.c" "$work/tree/kernel/events/ring_buffer.c" || return
	diff -r "$work/base" "$work/pristine"
}

# A second run must leave every file's time alone, or the next build is a long one.
lays_nothing_twice() {
	find "$work/tree" -printf '%P %T@ %i\n' | grep -v '^.laid' | sort >"$work/first"
	lay "$work/base" "$work/tree" || return
	find "$work/tree" -printf '%P %T@ %i\n' | grep -v '^.laid' | sort >"$work/second"
	# Folders that are looked into keep their times too.
	diff "$work/first" "$work/second"
}

takes_back() {
	echo stray >"$work/tree/kernel/events/stray.c"
	echo kernel/events/stray.c >>"$work/tree/.laid"
	echo changed >"$work/tree/$untouched.new"
	mv "$work/tree/$untouched.new" "$work/tree/$untouched"
	echo $untouched >>"$work/tree/.laid"
	sort -o "$work/tree/.laid" "$work/tree/.laid"
	lay "$work/base" "$work/tree" || return
	[ ! -e "$work/tree/kernel/events/stray.c" ] || return
	cmp "$work/base/$untouched" "$work/tree/$untouched"
}

# Gone from the tree, not from the base; back when it is no longer to be removed.
removes() {
	local path

	while read -r path; do
		[ -f "$work/base/$path" ] || return
		[ ! -e "$work/tree/$path" ] || return
	done < <(sed -e '/^#/d' -e '/^$/d' "$repo/overlay/remove")
	grep -qx "$removed" "$work/tree/.laid"
}

gives_back_what_was_removed() {
	ln "$work/base/$untouched" "$work/tree/$untouched.kept" || return
	rm "$work/tree/$untouched"
	echo "$untouched" >>"$work/tree/.laid"
	sort -o "$work/tree/.laid" "$work/tree/.laid"
	lay "$work/base" "$work/tree" || return
	[ "$work/base/$untouched" -ef "$work/tree/$untouched" ] || return
	[ ! -e "$work/tree/$removed" ]
}

# Another base: files that the overlay does not touch must be the new one's.
changes_the_base() {
	small_base "$work/next"
	echo '/* newer */' >>"$work/next/$untouched"
	cp -r "$work/tree" "$work/moved-on"
	lay "$work/next" "$work/moved-on" || return
	cmp "$work/next/$untouched" "$work/moved-on/$untouched"
}

# What a point release does: lines move, comments change, a function grows.
follows_drift() {
	small_base "$work/drifted"
	local core=$work/drifted/kernel/events/core.c

	sed -i -e '1i /* A line more. */\n' \
		-e 's|^static void ring_buffer_wakeup|/* Moved. */\n\n&|' \
		-e 's|^static vm_fault_t perf_mmap_fault(struct vm_fault \*vmf)|static vm_fault_t\nperf_mmap_fault(struct vm_fault *vmf)|' "$core"
	sed -i '/^static int perf_fasync/,/^}/ s|int retval;|int retval = 0; /* new */|' "$core"
	! cmp -s "$core" "$base/kernel/events/core.c" || return
	lay "$work/drifted" "$work/drifted-tree" || return
	! grep -q 'perf_mmap_fault\|ring_buffer_wakeup\|retval = 0' "$work/drifted-tree/kernel/events/core.c"
}

# drift COMMAND...: a base with core.c changed by sed COMMAND.
drift() {
	small_base "$work/odd"
	sed -i "$@" "$work/odd/kernel/events/core.c"
}

# The whole base by links, without what has been built in it.
whole_base() {
	mkdir -p "$1"
	find "$base" -mindepth 1 -maxdepth 1 ! -name 'out-*' ! -name .unpacked -exec cp -al -t "$1" {} +
}

# git am on a repository of the whole base. Only what the patches name is in its
# index, which git needs to be files of their own; the rest has to stay as it is.
series_applies() {
	lay "$base" "$work/whole" || return
	"$repo/overlay/series" "$base" "$work/whole" "$work/series" || return
	whole_base "$work/am" || return
	sed -n 's,^--- a/,,p' "$work"/series/*.patch | sort -u >"$work/named"
	[ -s "$work/named" ] || return
	(
		cd "$work/am" || exit
		while read -r path; do
			cp --remove-destination "$base/$path" "$path" || exit
		done <"$work/named"
		git init -q . && git add -f --pathspec-from-file="$work/named" &&
			git -c user.name=t -c user.email=t@localhost commit -q -m base &&
			git -c user.name=t -c user.email=t@localhost am -q "$work"/series/*.patch
	) || return
	diff -r -x .git -x .laid -x .base "$work/am" "$work/whole"
}

series_is_stable() {
	"$repo/overlay/series" "$base" "$work/whole" "$work/series-again" &&
		diff -r "$work/series" "$work/series-again"
}

small_base "$work/base"
small_base "$work/pristine"
check "lays the tree, shares what is unchanged, leaves the base alone" lays_and_shares
check "a second run touches nothing" lays_nothing_twice
check "what is no longer laid goes back to the base's state" takes_back
check "what the overlay removes is not in the tree" removes
check "what is no longer removed is the base's again" gives_back_what_was_removed
check "another base replaces what was linked from the last one" changes_the_base
check "follows a point release whose lines have moved" follows_drift
drift 's/\bperf_mmap_close\b/perf_unmap/g'
check "names a function that the base no longer has" \
	refuses "the base does not define perf_mmap_close()" "$work/odd"
drift 's/^static void put_event/void put_event/'
check "names a function that is no longer static" \
	refuses "put_event() is not static in the base" "$work/odd"
drift 's/^#include "internal.h"/#include "inside.h"/'
check "names a statement that no rule matches any more" \
	refuses "sample.h was inserted 0 times, not 1" "$work/odd"
small_base "$work/odd" && rm "$work/odd/drivers/perf/Kconfig"
check "names a file that the base no longer has" \
	refuses "the base has no drivers/perf/Kconfig any more" "$work/odd"
small_base "$work/odd" && rm "$work/odd/$removed"
check "names a file to remove that the base no longer has" \
	refuses "the base has no $removed any more" "$work/odd"
mkdir "$work/empty"
check "a folder without a kernel is refused" refuses "is no kernel source" "$work/empty"
check "git am of the series on the whole base gives the laid tree" series_applies
check "the series is the same bytes each time" series_is_stable
echo "1..$n"
[ $failed = 0 ]
