#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# perf-own-test.sh: the base's own test of Intel PT (tools/perf/tests/shell), with the
# stock perf, over the emulated unit (TAP, a line for each of its parts). A part that
# fails for want of a hardware counter, which the VM has not, is a skip; what it is about
# is tried with a software event instead.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
script=build/base/tools/perf/tests/shell/test_intel_pt.sh
[ -f "$script" ] || {
	echo "$script is missing: 'make base' unpacks it" >&2
	exit 2
}
./vm --smp 2 --cpu max,vendor=GenuineIntel --timeout 900 -- tests/pt/perf-own-guest.sh "$script"
status=$?
[ $status = 0 ] || [ $status = 1 ] || echo "not ok - perf's own: the guest ended with status $status"
exit $status
