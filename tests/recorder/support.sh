# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# support.sh: sourced by the tests of the recorder. TAP, and a place to work in.

n=0 failed=0
work=$(mktemp -d)
started=()

cleanup() {
	local pid

	for pid in "${started[@]}"; do
		kill -KILL "$pid" 2>/dev/null
	done
	while mountpoint -q "$work/small"; do
		umount "$work/small" || break
	done
	rm -rf "$work"
}
trap cleanup EXIT

# check NAME COMMAND...: one line of TAP. What the command says is told if it fails.
check() {
	local name=$1

	shift
	n=$((n + 1))
	if "$@" >"$work/said" 2>&1; then
		echo "ok $n - recorder: $name"
	else
		echo "not ok $n - recorder: $name"
		sed 's/^/# /' "$work/said" | tail -n 30
		failed=$((failed + 1))
	fi
}

finish() {
	echo "1..$n"
	[ $failed = 0 ]
}

# equal A B: two texts, and what differs.
equal() {
	[ "$1" = "$2" ] || {
		diff <(echo "$1") <(echo "$2") | head -n 20
		return 1
	}
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local until=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < until)) || return 1
		sleep 0.05
	done
}

# samples FILE [EVENT]: how many perf sees in it.
samples() {
	perf script -i "$1" -F event 2>/dev/null | grep -c "${2:-.}"
}

# lost FILE [EVENT]: how many records of all events, or of one, perf knows to be lost.
lost() {
	perf report -i "$1" --stats 2>/dev/null | awk -v event="${2-}" '
		/ stats:$/ { counts = $1 != "Aggregated" && (event == "" || $1 == event) }
		/LOST_SAMPLES events:/ && counts { sum += $3 }
		END { print sum + 0 }'
}

# said_lost FILE: the same as the recorder has said it.
said_lost() {
	sed -n 's/.* samples, .* lost \([0-9]*\)$/\1/p' "$1"
}

# start_generator PAGES THREADS: waits for go(); its pid is in $generator.
start_generator() {
	rm -f "$work/go" "$work/made"
	mkfifo "$work/go"
	"$work/faults" "$1" "$2" go <"$work/go" >"$work/made" &
	generator=$!
	started+=("$generator")
	exec 9>"$work/go"
}

go() {
	echo go >&9
	exec 9>&-
}

# Whether a recorder has its events: it is the only one that opens them.
has_events() {
	find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | grep -q .
}
