# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by run.sh and torture.sh, which set $repo.

# our_races CONSOLE: KCSAN's reports that name a function of this tree, and how many
# there are of each. The base has races of its own all over.
our_races() {
	local folder file object functions

	functions=$(cd "$repo" && for folder in kernel/events{,/ring,/aux_test} \
		arch/x86/events/intel/{pt,emu} drivers/hwtracing/emu; do
		for file in "$folder"/*.c*; do
			[[ $file != *_@(test|fixture).c* || $folder = */aux_test ]] || continue
			object=build/kcsan/${file%.*}.o
			[ ! -f "$object" ] || nm "$object"
		done
	done | awk 'NF == 3 && $2 ~ /^[tT]$/ { print $3 }' | sort -u)
	[ -n "$functions" ] || echo "no function is known to be this tree's"
	grep -a 'BUG: KCSAN: data-race in' "$1" | sed 's/.*data-race in //' |
		grep -wF -f <(echo "$functions") | sort | uniq -c
}
