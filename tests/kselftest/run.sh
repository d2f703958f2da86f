#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [VM-OPTION...]: builds this tree's perf_events selftests and runs each
# in one guest; prints their TAP with the kernel's and the program's name in
# front. On --stock the known defects of the base are not failures.
set -uo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
name=kselftest${1:+ $*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/programs"
make -s -C "$repo/tools/testing/selftests/perf_events" OUT="$work/programs" >"$work/make.log" 2>&1 || {
	sed 's/^/# /' "$work/make.log"
	echo "not ok - $name: the programs do not build"
	exit 1
}

cat >"$work/all" <<'GUEST'
#!/bin/bash
export PERF_RING_STOCK=$1
# The base has no test PMU of its own; elsewhere a test loads a second one.
export PERF_AUX_TEST_MODULE=/tmp/share/perf_aux_test_module.ko
[ "$1" = 0 ] || busybox insmod $PERF_AUX_TEST_MODULE || exit 98
if [ "$3" = 1 ]; then
	echo on >/sys/kernel/debug/kcsan
	grep -q 'enabled: 1' /sys/kernel/debug/kcsan || exit 99
fi
for program in /tmp/share/programs/*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	echo "PROGRAM $(basename "$program")"
	timeout "$2" "$program" 2>&1
	echo "STATUS $?"
done
GUEST
chmod +x "$work/all"

stock=0 limit=120 kcsan=0 kernel=x86_64 options=("$@")
case " $* " in
*" --stock "*) stock=1 kernel=stock ;;
*" --debug "*) limit=400 kernel=debug ;;
*" --kcsan "*)
	# The base has races of its own all over; those that we are part of count.
	limit=400 kcsan=1 kernel=kcsan
	options+=(--allow-warnings KCSAN)
	;;
esac

module=$("$repo/scripts/module" $kernel kernel/events/aux_test 2>"$work/module.log") || {
	sed 's/^/# /' "$work/module.log"
	echo "not ok - $name: the test PMU's module does not build"
	exit 1
}
cp "$module" "$work/"

"$repo/vm" "${options[@]}" --smp 2 --timeout 3000 --share "$work" --console "$work/console" -- \
	/tmp/share/all $stock $limit $kcsan >"$work/output" 2>"$work/errors"
status=$?

# shellcheck source=/dev/null # it is checked by itself
. "$repo/tests/kselftest/races.sh"

awk -v name="$name" '
	$1 == "PROGRAM" { program = $2; plan = -1; lines = 0; next }
	/^1\.\.[0-9]+/ { split($1, range, "."); plan = range[3] }
	/^(ok|not ok) / {
		lines++
		sub(/^ok [0-9]*( -)?/, "ok - " name ": " program ":")
		sub(/^not ok [0-9]*( -)?/, "not ok - " name ": " program ":")
		print
		next
	}
	$1 == "STATUS" {
		if (plan != lines)
			print "not ok - " name ": " program ": ended after " lines " of " plan " cases, status " $2
		next
	}
	{ print "# " program ": " $0 }' "$work/output" | tee "$work/tap"
if [ $kcsan = 1 ]; then
	seen=$(grep -ac 'BUG: KCSAN' "$work/console")
	races=$(our_races "$work/console")
	if [ -z "$races" ]; then
		echo "ok - $name: no data race in this tree's functions (of $seen reports)" | tee -a "$work/tap"
	else
		printf '# %s\n' "${races//$'\n'/$'\n'# }"
		echo "not ok - $name: data races in this tree's functions" | tee -a "$work/tap"
	fi
fi
if [ $status != 0 ]; then
	sed 's/^/# /' "$work/errors" | tail -n 60
	echo "not ok - $name: the guest ended with status $status"
	exit 1
fi
grep -q '^ok' "$work/tap" && ! grep -q '^not ok' "$work/tap"
