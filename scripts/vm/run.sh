# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# One run: its folder, its processes, and how they end. Everything that lives
# next to QEMU is started with a parent-death signal, so that even a SIGKILL of
# this script leaves no process behind.

run=         # temporary folder: initramfs, console, ctl/, share/
children=()  # everything to kill at the end
readers=()   # pass the guest's output on
outcome=     # why vm ended the run: no-boot, timeout, closed
qemu_pid=
qemu_status= # set once QEMU has ended
saved_terminal=

make_run_folder() {
	run=$(mktemp -d "${TMPDIR:-/tmp}/vm.XXXXXX") ||
		fail 244 "cannot create a temporary folder: set TMPDIR to one that is writable"
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	run=$(realpath -- "$run")
	mkdir "$run/ctl" "$run/share"
	: >"$run/ctl/stdout"
	: >"$run/ctl/stderr"
}

clean_up() {
	trap '' INT TERM HUP WINCH
	{
		((${#children[@]} == 0)) || kill -KILL "${children[@]}"
		wait
	} 2>/dev/null
	[[ -z $saved_terminal ]] || stty "$saved_terminal"
	rm -rf -- "$run" 2>/dev/null && return
	# The guest may have left folders without permissions in the share.
	chmod -R u+rwX -- "$run"
	rm -rf -- "$run"
}

alive() { # PID...
	local pid
	for pid; do
		kill -0 "$pid" 2>/dev/null || return
	done
}

start_qemu() {
	local terminal
	if [[ ${opt[tty]} ]]; then
		# A fresh opening: QEMU makes its own non-blocking, and the caller shares ours.
		terminal=$(tty)
		setpriv --pdeathsig KILL "${qemu_command[@]}" 0<>"$terminal" >&0 2>"$run/qemu.log" &
	else
		setpriv --pdeathsig KILL "${qemu_command[@]}" </dev/null >"$run/qemu.log" 2>&1 &
	fi
	qemu_pid=$!
	children+=("$qemu_pid")
}

# Output arrives in two growing files. Reading them through FIFOs would make a
# slow reader here hold back data inside QEMU, where it is lost at the end.
start_readers() {
	local follow=(setpriv --pdeathsig KILL tail -c +1 -f -s 0.05 --pid="$qemu_pid")
	"${follow[@]}" "$run/ctl/stdout" &
	readers=("$!")
	"${follow[@]}" "$run/ctl/stderr" >&2 &
	readers+=("$!")
	children+=("${readers[@]}")
}

start_feeder() {
	setpriv --pdeathsig KILL "$parts/feed-stdin" "$run/ctl" <&"$1" &
	children+=("$!")
}

tell_window_size() {
	stty size >"$run/winsize" 2>/dev/null && mv "$run/winsize" "$run/ctl/winsize"
}

prepare_terminal() {
	saved_terminal=$(stty -g)
	tell_window_size
	trap tell_window_size WINCH
	say "booting a shell in the guest; exit or Ctrl-D leaves it"
}

stop_qemu() { # OUTCOME
	outcome=$1
	kill -KILL "$qemu_pid" 2>/dev/null
}

await_start() {
	local deadline=
	[[ -z ${opt[boot-timeout]} ]] || deadline=$((SECONDS + opt[boot-timeout]))
	until [[ -e $run/ctl/started ]]; do
		alive "$qemu_pid" || return
		if [[ $deadline ]] && ((SECONDS > deadline)); then
			stop_qemu no-boot
			return
		fi
		sleep 0.1
	done
}

start_timer() {
	setpriv --pdeathsig KILL sleep "${opt[timeout]}" &
	timer=$!
	children+=("$timer")
}

# Readers follow QEMU's end, so one that ends earlier has lost its own reader.
# Hence the order: QEMU is asked after them.
await_end() {
	local timer="" ended closed status
	[[ -z ${opt[timeout]} ]] || start_timer
	while :; do
		closed=1
		if alive "${readers[@]}"; then closed=; fi
		if [[ $qemu_status ]] || ! alive "$qemu_pid"; then break; fi
		if [[ $closed ]]; then
			stop_qemu closed
			break
		elif [[ $timer ]] && ! alive "$timer"; then
			stop_qemu timeout
			break
		fi
		ended=
		wait -n -p ended "$qemu_pid" "${readers[@]}" ${timer:+"$timer"}
		status=$?
		[[ $ended != "$qemu_pid" ]] || qemu_status=$status
	done
}

# All output is passed on, however long the reader takes.
drain() {
	if [[ -z $qemu_status ]]; then
		wait "$qemu_pid"
		qemu_status=$?
	fi
	[[ $outcome == closed ]] || wait "${readers[@]}"
}
