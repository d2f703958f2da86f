#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: the main job of `make run` as a test (TAP).
set -uo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if "$repo/scripts/run"; then
	echo "ok 1 - job: stock perf records and reports through our ring"
else
	echo "not ok 1 - job: stock perf records and reports through our ring"
fi
echo "1..1"
