#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: stock perf at work on our kernel (TAP): the main job of `make run`, the modes
# of perf record, and AUX areas.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
if scripts/run; then
	echo "ok 1 - job: stock perf records and reports through our ring"
else
	echo "not ok 1 - job: stock perf records and reports through our ring"
fi

gcc -O2 -Wall -Wextra -Werror -pthread -o build/out/fault-tree tests/jobs/fault-tree.c || exit
./vm --smp 2 --timeout 900 -- tests/jobs/modes build/out/fault-tree
status=$?
# The guest prints a line for each mode; a guest that dies early prints none.
if [ $status != 0 ]; then
	echo "not ok - modes: the guest ended with status $status"
fi

gcc -O2 -Wall -Wextra -Werror -o build/out/check-auxtrace tests/jobs/check-auxtrace.c || exit
./vm --smp 2 --timeout 900 --append "intel_pt.emulate=off perf_aux_test.alias=intel_pt" -- \
	tests/jobs/aux-record build/out/check-auxtrace
status=$?
if [ $status != 0 ]; then
	echo "not ok - aux: the guest ended with status $status"
fi
