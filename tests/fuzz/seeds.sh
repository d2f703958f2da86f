#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Makes the first inputs for data_ring_fuzz: a few rings, and lives of a ring
# that a fuzzer would take long to come upon.
#
#	seeds.sh DIR
#
# The bytes are the choices of tests/host/ring_duel.hh, in the order in which it
# makes them.

set -euo pipefail

(($# == 1)) || { echo "Give a directory to fill; usage: ${0##*/} DIR" >&2; exit 2; }
mkdir -p "$1"

# Setting: log2(piece) - 3, no data area if 0, log2(pieces), overwrite if 0,
# watermark, forward if 1, start.
declare -A rings=(
	[one_piece]='03 01 00 01 00 01 00'
	[many_pieces]='00 01 03 01 10 01 01'
	[backward]='02 01 02 01 00 00 02'
	[overwritten]='02 01 02 00 20 00 01'
	[no_data]='03 00 01 00 01 00'
)

# A record of 1 + N words: begin, short size, no loss told of.
record() { # N
	printf '00 01 %02x ' "$1"
}
# A sample of 1 + N words, written at once; the second also counts, for an interval of 3.
at_once() { # N
	printf '10 %02x 00 ' "$1"
}
counted_at_once() { # N
	printf '10 %02x 01 02 ' "$1"
}
commit='08 '
write='05 10 '
sample='0c 01 '
read_one='0d '
read_all='0e 01 '
pause='0f 00 '
resume='0f 01 '

times() { # N WORDS
	local i
	for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done
}

declare -A lives=(
	[fill_and_drain]="$(times 12 "$(record 3)$commit")$read_all$(times 12 "$(record 1)$commit")"
	[nested]="$(times 6 "$(record 2)$write$(record 0)$sample$(record 1)$commit$commit$commit$read_one")"
	[lossy]="$(times 20 "$(record 3)$commit")$read_all$(times 8 "00 01 03 01 $commit")"
	[paused]="$(record 1)$pause$(record 0)$commit$(record 1)$resume$(times 4 "00 01 02 01 $commit")"
	[counted]="$(times 20 "$(record 0)$sample$commit$read_all")"
	[at_once]="$(times 12 "$(at_once 3)$(counted_at_once 1)")$read_all$(times 12 "$(record 0)$(counted_at_once 0)$commit$read_one")"
)

emit() { # HEX WORDS...
	local byte
	for byte; do printf '%b' "\\x$byte"; done
}

for ring in "${!rings[@]}"; do
	for life in "${!lives[@]}"; do
		# shellcheck disable=SC2086 # words are bytes
		emit ${rings[$ring]} ${lives[$life]} >"$1/$ring-$life"
	done
done
