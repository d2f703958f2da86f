#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# torture.sh KERNEL-OPTION SECONDS [SEED]: runs aux_torture and pt_torture for so long
# each, in one guest, for example `torture.sh --debug 300`, and prints their TAP. A kernel
# warning fails it; on --kcsan a data race that names a function of this tree. The seed is
# printed; with the same one the threads decide the same again.
set -uo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ $# = [23] ]] || {
	echo "usage: torture.sh --debug|--kcsan SECONDS [SEED]" >&2
	exit 2
}
kernel=$1 seconds=$2 seed=${3:-$(date +%s)}
name="torture $kernel $seconds $seed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# TORTURE names the programs, where not both are wanted.
read -ra programs <<<"${TORTURE:-aux_torture pt_torture}"
make -s -C "$repo/tools/testing/selftests/perf_events" OUT="$work" \
	"${programs[@]/#/$work/}" >"$work/make.log" 2>&1 || {
	sed 's/^/# /' "$work/make.log"
	echo "not ok - $name: the programs do not build"
	exit 1
}

cat >"$work/run" <<'GUEST'
#!/bin/bash
if [ "$3" = 1 ]; then
	echo on >/sys/kernel/debug/kcsan
	grep -q 'enabled: 1' /sys/kernel/debug/kcsan || exit 99
fi
status=0
for program in aux_torture pt_torture; do
	[ -x "/tmp/share/$program" ] || continue
	"/tmp/share/$program" "$1" "$2" || status=1
done
exit $status
GUEST
chmod +x "$work/run"

options=("$kernel") kcsan=0
[ "$kernel" != --kcsan ] || {
	kcsan=1
	# The base has races of its own all over; those that we are part of count.
	options+=(--allow-warnings KCSAN)
}

"$repo/vm" "${options[@]}" --smp 2 --timeout $((4 * seconds + 500)) --share "$work" \
	--console "$work/console" -- /tmp/share/run "$seconds" "$seed" $kcsan \
	>"$work/output" 2>"$work/errors"
status=$?
sed -e "s/^ok [0-9]*/ok - $name:/" -e "s/^not ok [0-9]*/not ok - $name:/" "$work/output"

if [ $kcsan = 1 ]; then
	# shellcheck source=/dev/null # it is checked by itself
	. "$repo/tests/kselftest/races.sh"
	races=$(our_races "$work/console")
	[ -z "$races" ] || {
		printf '# %s\n' "${races//$'\n'/$'\n'# }"
		echo "not ok - $name: data races in this tree's functions"
		exit 1
	}
fi
[ $status = 0 ] || {
	sed 's/^/# /' "$work/errors" | tail -n 60
	echo "not ok - $name: the guest ended with status $status"
	exit 1
}
