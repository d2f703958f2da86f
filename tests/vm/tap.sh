# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Test Anything Protocol, and checks that name what they missed.

names=()     # what a test says, in order of definition
functions=() # what it runs
boots=()     # "boots" if it needs a kernel
problems=()  # of the test that runs

declare_test() { # FUNCTION NAME
	functions+=("$1")
	names+=("$2")
	boots+=("")
}

declare_boot_test() { # FUNCTION NAME
	declare_test "$@"
	boots[-1]=boots
}

problem() {
	problems+=("$*")
}

# A test calls this and returns.
skip() { # REASON
	skipped=$1
}

need_config() { # OPTION
	local config=${kernel%/arch/*}/.config
	if [[ ! -f $config ]]; then
		skip "no .config beside the kernel says whether it has CONFIG_$1"
	elif ! grep -q "^CONFIG_$1=y" "$config"; then
		skip "the kernel has no CONFIG_$1"
	fi
	[[ -z $skipped ]]
}

report() { # NUMBER NAME
	local line
	if [[ $skipped ]]; then
		echo "ok $1 - $2 # SKIP $skipped"
	elif ((${#problems[@]} == 0)); then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		printf '%s\n' "${problems[@]}" "exit status: ${status-}" "stderr:" | sed 's/^/# /'
		[[ ! -f $work/err ]] || tail -n 40 "$work/err" | sed 's/^/#   /'
		failures=$((failures + 1))
	fi
}

run_tests() { # PATTERN
	local i number=0 failures=0 skipped
	for i in "${!functions[@]}"; do
		[[ ${names[i]} == *"$1"* ]] || continue
		number=$((number + 1))
		problems=()
		skipped=
		if [[ ${boots[i]} && -z $kernel ]]; then
			skip "no kernel: 'make kernel' builds one"
		else
			"${functions[i]}"
			[[ $skipped ]] || expect_nothing_left
		fi
		report "$number" "${names[i]}"
	done
	echo "1..$number"
	((failures == 0))
}

# Runs vm with what the test gives; out, err and $status hold the result.
vm() {
	"$vm" "${settings[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

expect_status() { # STATUS
	[[ $status == "$1" ]] || problem "expected exit status $1"
}

expect_out() { # TEXT
	[[ $(cat "$work/out"; echo .) == "$1." ]] || problem "expected output '$1', got '$(head -c 500 "$work/out")'"
}

expect_err() { # REGEX
	grep -qaE -e "$1" "$work/err" || problem "expected '$1' on standard error"
}

expect_quiet() {
	[[ ! -s $work/err ]] || problem "expected nothing on standard error"
}

expect_same() { # FILE FILE
	cmp -s -- "$1" "$2" || problem "${1##*/} and ${2##*/} differ"
}

our_processes() {
	pgrep -f -- "$TMPDIR/vm\."
}

# Temporary folders and processes; what dies on a signal gets a moment to do so.
expect_nothing_left() {
	local tries=50
	while our_processes >/dev/null && ((tries--)); do
		sleep 0.1
	done
	! our_processes >/dev/null || problem "processes are left: $(our_processes | tr '\n' ' ')"
	[[ -z $(ls -A "$TMPDIR") ]] || problem "left in TMPDIR: $(ls -A "$TMPDIR")"
	rm -rf -- "${TMPDIR:?}"/*
	! grep -qaE ': line [0-9]+: ' "$work/err" || problem "the shell itself complains on standard error"
}

await() { # CONDITION...
	local end=$((SECONDS + patience))
	until "$@"; do
		((SECONDS < end)) || return
		sleep 0.1
	done
}
