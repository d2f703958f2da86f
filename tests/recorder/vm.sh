#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# vm.sh PERFRING: the recorder in guests that have AUX areas and Intel PT (TAP). What it
# has traced there, the stock perf decodes here.
set -uo pipefail

perfring=$(realpath "${1:?the recorder}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$here/../..
# shellcheck source=tests/recorder/support.sh
. "$here/support.sh"
share=$(realpath -m "$tree/build/recorder/guest")
rm -rf "$share"
mkdir -p "$share"
gcc -O2 -Wall -Wextra -Werror -o "$share/check-auxtrace" "$tree/tests/jobs/check-auxtrace.c" || exit 2
gcc -O1 -g -Wall -Wextra -Werror -pthread -o "$share/faults" "$here/faults.c" || exit 2
gcc -nostdlib -static -I"$tree/tests/pt/programs" -o "$share/branches" \
	"$tree/tests/pt/programs/branches.S" || exit 2

# guest TEST OPTION...: its lines of TAP are this suite's.
guest() {
	local test=$1 status line

	shift
	"$tree/vm" --share "$share" --timeout 400 "$@" -- "$here/$test" "$perfring" "$share" >"$share/$test.tap" 2>&1
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			n=$((n + 1))
			[[ $line == ok* ]] || failed=$((failed + 1))
			echo "${line%%ok *}ok $n - recorder: in a guest:${line#*recorder:}"
			;;
		*) echo "# ${line#\# }" ;;
		esac
	done <"$share/$test.tap"
	check "$test ended well" [ $status = 0 ]
}

# steps NAME: each instruction of the program as perf decodes it, into NAME.steps.
steps() {
	perf script -i "$share/$1.data" --itrace=i1ie --comm branches -F ip 2>"$work/$1.errors" |
		tr -d ' ' >"$work/$1.steps"
	! grep 'instruction trace error\|failed' "$work/$1.errors"
}

# decoded NAME: as many, and the same, as in the file that perf has recorded.
decoded() {
	[ "$(wc -l <"$work/stock.steps")" -gt 4000 ] || {
		echo "perf's own file has $(wc -l <"$work/stock.steps") instructions"
		return 1
	}
	steps "$1" && cmp "$work/stock.steps" "$work/$1.steps"
}

# The same in a trace of all CPUs. The guest's vDSO, which others run, is not here.
decoded_among_others() {
	steps wide >/dev/null
	cmp "$work/stock.steps" <(grep -v error "$work/wide.steps")
}

# Whatever a snapshot has not got any more, what it has ends as the whole trace does.
ends_as_the_whole() {
	steps snapshot && [ "$(wc -l <"$work/snapshot.steps")" -gt 1000 ] &&
		cmp <(tail -n 1000 "$work/stock.steps") <(tail -n 1000 "$work/snapshot.steps")
}

dumped() {
	perf report -D -i "$share/$1.data" 2>/dev/null >"$work/dump"
	grep -q PERF_RECORD_AUXTRACE_INFO "$work/dump" && grep -q 'PERF_RECORD_AUXTRACE size' "$work/dump" &&
		grep -q 'PSBEND' "$work/dump"
}

guest guest-aux.sh
check "perf decodes its own trace" steps stock
for way in plain thread aio uring one; do
	check "perf decodes the trace: $way" decoded $way
done
check "perf decodes the trace: wide" decoded_among_others
check "perf report -D shows its packets" dumped plain
check "a snapshot ends as the whole trace does" ends_as_the_whole
guest guest-small.sh --mem 160
finish
