#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [VM-OPTION...]: boots a kernel with KUnit on and prints the results of
# the perf suites as TAP, a line for each case. VM options choose the kernel.
set -uo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
name=kunit${1:+ $*}

results=$("$repo/vm" "$@" --timeout 300 --append "kunit.enable=1 kunit.filter_glob=perf_*" -- \
	sh -c 'cat /sys/kernel/debug/kunit/perf_*/results')
status=$?

# Cases are indented in the report, suites are not.
cases=$(sed -nE "s/^ +(ok|not ok) ([0-9]+) /\1 \2 - $name: /p" <<<"$results")
printf '%s\n' "$cases"
if [ "$status" != 0 ] || [ -z "$cases" ]; then
	echo "not ok - $name: the guest ended with status $status"
	exit 1
fi
! grep -q '^not ok' <<<"$cases"
