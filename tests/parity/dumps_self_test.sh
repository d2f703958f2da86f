# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# The comparison of dumps must see each way in which two kernels can disagree,
# and a dump must show each byte of a record that is not told by name.

good_dump() {
	cat <<'DUMP'
ring size=0x1000 head=96 tail=0
SAMPLE misc=0x2 size=48 ip=0x401234 pid=T0 tid=T0 time=ok addr=0x20000000
SAMPLE misc=0x2 size=48 ip=0x401234 pid=T0 tid=T0 time=ok addr=0x20001000
2 records
DUMP
}

dumps_are_red() {
	(
		tests=0 failures=0
		report_dumps "$work/stock" "$work/ours"
		((failures > 0))
	) >/dev/null
}

expect_dumps() { # red|green WHAT
	local judged=green
	! dumps_are_red || judged=red
	if [[ $judged == "$1" ]]; then
		ok "self-test: $2 is $1"
	else
		not_ok "self-test: $2 is $judged"
	fi
}

start_dumps() {
	fresh_folder "$work/stock"
	fresh_folder "$work/ours"
	good_dump | tee "$work/stock/one.txt" "$work/stock/two.txt" "$work/ours/one.txt" >"$work/ours/two.txt"
}

# doctor SED-COMMAND: the second dump of ours, damaged.
doctor() {
	start_dumps
	sed -i "$1" "$work/ours/two.txt"
}

test_decoder() {
	build_program "$work/records"
	if "$work/records" --self-test >"$work/log"; then
		ok "self-test: every damaged byte of a record shows"
	else
		grep 'does not' "$work/log" | sed 's/^#* */# /'
		not_ok "self-test: every damaged byte of a record shows"
	fi
}

test_dumps() {
	start_dumps
	expect_dumps green "the same twice"
	doctor '3s/0x20001000/0x20001008/'
	expect_dumps red "one changed digit of an address"
	doctor '2s/time=ok/time=DISORDER/'
	expect_dumps red "a time out of order"
	doctor '3s/tid=T0/tid=T1/'
	expect_dumps red "another task"
	doctor 3d
	expect_dumps red "a record less"
	doctor '2p'
	expect_dumps red "a record twice"
	doctor '1s/head=96/head=104/'
	expect_dumps red "another position of the head"
	doctor d
	expect_dumps red "an empty dump"
	start_dumps
	rm "$work/ours/two.txt"
	expect_dumps red "a missing dump"
	start_dumps
	good_dump >"$work/ours/three.txt"
	expect_dumps red "a dump more"
	start_dumps
	echo "SKIP: because" >"$work/ours/two.txt"
	expect_dumps red "a case that only stock can run"
	fresh_folder "$work/stock"
	fresh_folder "$work/ours"
	expect_dumps red "no dumps at all"
	test_decoder
}
