#!/bin/bash
# shellcheck disable=SC2154 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Parity with the stock kernel, as TAP: the base's kselftests and the ring's bytes
# on both kernels. First each comparison shows that it can fail, that of perf test
# too, which perf-test.sh runs. The last line says "N passed, N failed".
#
#	run.sh [--debug] [--self-test]
#
# --debug	the debug kernel instead of ours: only kselftests
# --self-test	only show that the comparisons can fail
#
# The environment of the parts holds here too: BASE, STOCK_IMAGE, OURS_IMAGE,
# DEBUG_IMAGE, VM, RESULTS, PATIENCE.

set -u
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
# shellcheck source=/dev/null # each part is checked by itself
. "$here/common.sh" || exit

debug=
only_self_test=

# A part's tests under numbers of our own; everything else becomes a comment.
take_line() { # LINE
	local name=${1#* - }
	case $1 in
	"ok "*) ok "$name" ;;
	"not ok "*) not_ok "$name" ;;
	1..0*) ok "$part: ${1#1..0 }" && skipped=1 ;;
	1..* | *" passed, "*" failed") ;;
	"#"*) echo "$1" ;;
	*) note "$1" ;;
	esac
}

# A part that breaks off has not succeeded, whatever it said before.
run_part() { # PART OPTION...
	local part=$1 line before=$failures skipped='' status
	note "$*"
	while IFS= read -r line; do
		take_line "$line"
	done < <("$here/$part.sh" "${@:2}" 2>&1; echo "status=$?" >"$status_file")
	status=$(sed -n 's/^status=//p' "$status_file")
	case ${status:-none} in
	0) ;;
	1) ((failures > before)) || not_ok "$part: failed without saying what" ;;
	4) [[ $skipped ]] || not_ok "$part: was skipped without a reason" ;;
	*) not_ok "$part: ended with status ${status:-none}" ;;
	esac
}

take_options() {
	while (($#)); do
		case $1 in
		--debug) debug=--debug ;;
		--self-test) only_self_test=1 ;;
		*) usage_error "unknown option '$1': there are --debug and --self-test" ;;
		esac
		shift
	done
}

main() {
	local part
	take_options "$@"
	status_file=$(mktemp) || exit
	trap 'rm -f -- "$status_file"' EXIT
	for part in kselftests perf-test records; do
		run_part "$part" --self-test
	done
	if [[ ! $only_self_test ]]; then
		run_part kselftests ${debug:+"$debug"}
		[[ $debug ]] || run_part records
	fi
	conclude
}

main "$@"
