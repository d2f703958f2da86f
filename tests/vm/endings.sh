# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034,SC2016 # shared globals; $ is for the guest
# SPDX-License-Identifier: GPL-2.0
#
# Runs that end badly: each has its own status and sentence, and leaves nothing.

expect_kept_console() {
	local path
	path=$(sed -n 's/^vm: .*; the console is in //p' "$work/err")
	[[ $path == "$clone/build/vm-logs/"* && -s $path ]] || problem "no console kept in '$path'"
}

times_out() {
	vm --timeout 2 -- sh -c 'echo before; sleep 1000'
	expect_status 241
	expect_out $'before\n'
	expect_err '^vm: COMMAND took longer than 2 s'
	expect_kept_console
}
declare_boot_test times_out "--timeout stops the run with 241"

panics_early() {
	vm --append rdinit=/none -- true
	expect_status 242
	expect_err '^vm: the kernel panicked'
	expect_err 'Kernel panic - not syncing'
	expect_kept_console
}
declare_boot_test panics_early "a panic before COMMAND is 242"

# Works without SysRq and debug drivers: the kernel is told to panic when memory runs out.
panics_late() {
	vm --mem 256 -- sh -c 'echo before; echo 2 >/proc/sys/vm/panic_on_oom; tail /dev/zero'
	expect_status 242
	expect_out $'before\n'
	expect_err '^vm: the kernel panicked'
}
declare_boot_test panics_late "a panic under COMMAND is 242"

goes_down() {
	vm -- sh -c 'exec busybox reboot -f'
	expect_status 242
	expect_err '^vm: the guest went down before COMMAND ended'
}
declare_boot_test goes_down "a guest that resets itself is 242"

refuses_garbage() {
	local file
	head -c 1048576 /dev/zero >"$work/zeros"
	yes 'no kernel' | head -c 100000 >"$work/text"
	for file in zeros text; do
		"$vm" --kernel "$work/$file" --boot-timeout 10 -- true >"$work/out" 2>"$work/err"
		status=$?
		[[ $status == 243 || $status == 244 ]] || problem "$file: exit status $status"
		expect_err '^vm: (QEMU failed|the kernel did not boot)'
	done
}
declare_test refuses_garbage "a file that is no kernel is 243 or 244"

misses_9p() {
	vm --append initcall_blacklist=init_v9fs -- true
	expect_status 243
	expect_err '^vm: the kernel did not boot as far as COMMAND: cannot mount .*CONFIG_9P_FS'
	expect_kept_console
}
declare_boot_test misses_9p "a kernel without 9p is 243, with the options it needs"

does_not_boot() {
	vm --gdb 47113 --boot-timeout 1 -- true
	expect_status 243
	expect_err '^vm: the kernel did not boot as far as COMMAND within 1 s'
}
declare_boot_test does_not_boot "--boot-timeout ends a machine that stands still with 243"

qemu_fails() {
	vm --cpu no-such-model -- true
	expect_status 244
	expect_err "^vm: QEMU failed with status 1.*no-such-model"
}
declare_boot_test qemu_fails "QEMU's refusal is 244, with its reason"

qemu_is_stopped() {
	local group
	start_group -- sh -c 'echo started; sleep 1000'
	kill -TERM "$(pgrep -f -- "-initrd $TMPDIR/vm\.")"
	wait "$group"
	status=$?
	expect_status 244
	expect_err '^vm: QEMU was stopped by somebody else: .*signal 15'
}
declare_boot_test qemu_is_stopped "a QEMU that somebody else stops is 244"

# In a process group of its own, like a terminal's foreground job.
start_group() { # ARGUMENT...
	: >"$work/out"
	env --default-signal setsid "$vm" "${settings[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null &
	group=$!
	await grep -q started "$work/out" || problem "COMMAND did not start"
}

stops_on() { # SIGNAL STATUS TARGET-PREFIX
	local group
	start_group -- sh -c 'echo started; sleep 1000'
	kill -"$1" -- "$3$group"
	wait "$group"
	status=$?
	expect_status "$2"
	expect_quiet
}

stops_on_interrupt() { stops_on INT 130 -; }
declare_boot_test stops_on_interrupt "Ctrl-C ends everything, with 130"

stops_on_terminate() { stops_on TERM 143 ''; }
declare_boot_test stops_on_terminate "SIGTERM to vm alone ends everything, with 143"

stops_on_hangup() { stops_on HUP 129 ''; }
declare_boot_test stops_on_hangup "SIGHUP to vm alone ends everything, with 129"

dies_without_orphans() {
	local group input
	mkfifo "$work/input.fifo"
	exec {input}<>"$work/input.fifo"
	: >"$work/out"
	"$vm" "${settings[@]}" --stdin -- sh -c 'echo started; sleep 1000' >"$work/out" 2>"$work/err" <"$work/input.fifo" &
	group=$!
	await grep -q started "$work/out" || problem "COMMAND did not start"
	(($(our_processes | wc -l) >= 4)) || problem "expected QEMU, two readers and a feeder, found $(our_processes | wc -l)"
	{
		kill -KILL "$group"
		wait "$group"
	} 2>/dev/null
	await no_processes || problem "processes outlive a SIGKILL of vm"
	exec {input}>&-
	rm -rf -- "${TMPDIR:?}"/* # nobody is left to do it
}
declare_boot_test dies_without_orphans "SIGKILL of vm leaves no QEMU and no helper"

no_processes() {
	! our_processes >/dev/null
}
