# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by run.sh and torture.sh, which set $repo.

# our_races CONSOLE: KCSAN's reports that name a function of this tree, and how many
# there are of each. The base has races of its own all over.
our_races() {
	local objects=$repo/build/kcsan/kernel/events file functions

	functions=$(for file in "$repo"/kernel/events/*.c "$repo"/kernel/events/{ring,aux_test}/*.c*; do
		file=${file#"$repo"/kernel/events/}
		[[ $file = *_@(test|fixture).c && $file != aux_test/* ]] || nm "$objects/${file%.*}.o"
	done | awk 'NF == 3 && $2 ~ /^[tT]$/ { print $3 }' | sort -u)
	[ -n "$functions" ] || echo "no function is known to be this tree's"
	grep -a 'BUG: KCSAN: data-race in' "$1" | sed 's/.*data-race in //' |
		grep -wF -f <(echo "$functions") | sort | uniq -c
}
