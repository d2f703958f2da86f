# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# The comparison of verdicts must see each way in which two files can disagree.

good_verdicts() {
	printf 'one / a\tok\none / b\tSKIP\ntwo / a: b\tnot ok\ntwo\tFAILED\n'
}

# Runs the judgement apart from the real count.
judged_red() { # STOCK OURS
	(
		tests=0 failures=0
		report_verdicts doctored "$1" "$2" ours
		((failures > 0))
	) >/dev/null
}

expect_red() { # WHAT STOCK OURS
	if judged_red "$2" "$3"; then
		ok "self-test: $1 is red"
	else
		not_ok "self-test: $1 is taken for agreement"
	fi
}

expect_green() { # WHAT STOCK OURS
	if judged_red "$2" "$3"; then
		not_ok "self-test: $1 is taken for a difference"
	else
		ok "self-test: $1 is green"
	fi
}

# A stand-in for two kernels: round 1 of ours is wrong, later ones as told.
stand_in() { # KERNEL FOLDER ROUND PROGRAM...
	local verdict=ok
	[[ $1 == stock ]] || ((${3} > wrong_rounds)) || verdict="not ok"
	printf '%s\n' "${@:4}" >>"$work/runs.$1"
	good_verdicts | sed "s/^one . a\tok/one \/ a\t$verdict/" |
		grep -E "^($(IFS='|' && echo "${*:4}"))" >"$2/verdicts"
}

settles_to() { # WRONG-ROUNDS EXPECTED-RUNS
	local wrong_rounds=$1
	rm -f "$work"/runs.*
	fresh_folder "$work/settle"
	settle stand_in "$work/settle" ours one two >/dev/null || return
	(($(wc -l <"$work/runs.ours") == $2 && $(wc -l <"$work/runs.stock") == $2))
}

test_settling() {
	settles_to 1 3 || not_ok "self-test: the repetition runs other programs than those that differ"
	expect_green "a verdict that agrees in round 2" "$work/settle/stock" "$work/settle/ours"
	settles_to 9 4 || not_ok "self-test: a lasting difference is not run three times"
	expect_red "a difference that lasts for three rounds" "$work/settle/stock" "$work/settle/ours"
}

warned_red() { # WHICH
	fresh_folder "$work/warn/stock.1"
	fresh_folder "$work/warn/ours.1"
	fresh_folder "$work/warn/ours.2"
	[[ ! $1 ]] || : >"$work/warn/$1/warned"
	(
		tests=0 failures=0
		report_warnings doctored "$work/warn" ours
		((failures > 0))
	) >/dev/null
}

test_warnings() {
	if warned_red ours.2 && ! warned_red '' && ! warned_red stock.1; then
		ok "self-test: a warning of our kernel alone is red"
	else
		not_ok "self-test: a warning of our kernel alone is red"
	fi
}

test_verdicts() {
	local stock=$work/stock ours=$work/ours
	good_verdicts >"$stock"
	good_verdicts >"$ours"
	expect_green "the same twice" "$stock" "$ours"
	sed '2s/SKIP/ok/' "$stock" >"$ours"
	expect_red "a test that was skipped and now runs" "$stock" "$ours"
	sed '3s/not ok/ok/' "$stock" >"$ours"
	expect_red "a failure that is gone" "$stock" "$ours"
	sed '4s/FAILED/Ok/' "$stock" >"$ours"
	expect_red "a changed last line" "$stock" "$ours"
	sed 2d "$stock" >"$ours"
	expect_red "a missing line" "$stock" "$ours"
	expect_red "a line more" "$ours" "$stock"
	: >"$ours"
	expect_red "an empty file" "$stock" "$ours"
	expect_red "an empty stock file" "$ours" "$stock"
	expect_red "two empty files" "$ours" "$ours"
	rm "$ours"
	expect_red "no file" "$stock" "$ours"
	sed '1s/ok/TIMEOUT/' "$stock" >"$ours"
	expect_red "a test that hangs on both" "$ours" "$ours"
	sed '1s/ok/DIED (139)/' "$stock" >"$ours"
	expect_red "a test that dies on both" "$ours" "$ours"
	test_settling
	test_warnings
}
