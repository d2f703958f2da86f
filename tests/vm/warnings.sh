# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034,SC2016 # shared globals; $ is for the guest
# SPDX-License-Identifier: GPL-2.0
#
# Kernel warnings: found, shown, and turned into the exit status.

# Headlines as kernels print them, and lines that only look similar.
write_reports() {
	cat <<'LOG'
WARNING: CPU: 1 PID: 77 at kernel/some/file.c:123 some_function+0x12/0x34
BUG: kernel NULL pointer dereference, address: 0000000000000010
Oops: 0000 [#1] PREEMPT SMP
Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]
BUG: KASAN: slab-use-after-free in some_function+0x12/0x34
BUG: KCSAN: data-race in some_function / other_function
UBSAN: shift-out-of-bounds in kernel/some/file.c:12:34
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
WARNING: suspicious RCU usage
WARNING: bad unlock balance detected!
WARNING: held lock freed!
[ BUG: Invalid wait context ]
INFO: trying to register non-static key.
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [task:77]
NMI watchdog: Watchdog detected hard LOCKUP on cpu 1
INFO: task reader:77 blocked for more than 120 seconds.
refcount_t: underflow; use-after-free.
BUG: scheduling while atomic: task/77/0x00000002
BUG: sleeping function called from invalid context at kernel/some/file.c:1
unreferenced object 0xffff888100000000 (size 64):
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
list_add corruption. next->prev should be prev (ffff), but was 0000.
list_del corruption, ffff->next is LIST_POISON1 (dead000000000100)
Kernel panic - not syncing: Fatal exception
LOG
}

write_harmless() {
	cat <<'LOG'
perf: interrupt took too long (2516 > 2500), lowering kernel.perf_event_max_sample_rate to 79000
Kernel command line: console=ttyS0 note="WARNING: BUG: Oops"
traps: program[77] general protection fault ip:401000 sp:7ffc00 error:0 in program[401000+1000]
program[77]: segfault at 0 ip 401000 sp 7ffc00 error 4 in program[401000+1000]
kasan: KernelAddressSanitizer initialized
kcsan: enabled early
Warning: unable to open an initial console.
[Firmware Bug]: TSC not synchronous
rcu: RCU lockdep checking is enabled.
LOG
}

found_lines() { # ALLOWED...
	(
		allowed=("$@")
		# shellcheck source=/dev/null
		. "$clone/scripts/vm/verdict.sh"
		find_warnings "$work/log" | wc -l
	)
}

knows_reports() {
	local line stamp='[   12.345678] '
	while IFS= read -r line; do
		printf '%s\n' "$stamp$line" >"$work/log"
		(($(found_lines) == 1)) || problem "not found: $line"
	done < <(write_reports)
	while IFS= read -r line; do
		printf '%s\n' "$stamp$line" >"$work/log"
		(($(found_lines) == 0)) || problem "falsely found: $line"
	done < <(write_harmless)
}
declare_test knows_reports "every kind of report is found, harmless lines are not"

allows_by_expression() {
	write_reports >"$work/log"
	local all some
	all=$(write_reports | wc -l)
	some=$(found_lines 'suspicious RCU' '^UBSAN: shift')
	((some == all - 2)) || problem "two of $all allowed, $some left"
	(($(found_lines '.') == 0)) || problem "not everything is allowed by '.'"
}
declare_test allows_by_expression "--allow-warnings takes out what matches, and no more"

fails_on_warning() {
	vm -- sh -c 'echo "WARNING: made up" >/dev/kmsg; dmesg -n 1; echo "UBSAN: made up, too" >/dev/kmsg; echo fine'
	expect_status 240
	expect_out $'fine\n'
	expect_err 'WARNING: made up'
	expect_err 'UBSAN: made up, too'
	expect_err '^vm: COMMAND returned 0, but the kernel printed warnings'
	expect_kept_console
}
declare_boot_test fails_on_warning "kernel warnings are shown and turn status 0 into 240, at any log level"

keeps_command_status() {
	vm -- sh -c 'echo "BUG: made up" >/dev/kmsg; exit 7'
	expect_status 7
	expect_err 'BUG: made up'
	expect_err '^vm: the kernel printed warnings'
}
declare_boot_test keeps_command_status "COMMAND's own status outranks warnings, which are still shown"

tolerates_warnings() {
	vm --allow-warnings 'made up$' --append quiet -- sh -c 'echo "BUG: made up" >/dev/kmsg; echo "BUG: in output"'
	expect_status 0
	expect_out $'BUG: in output\n'
	expect_quiet
}
declare_boot_test tolerates_warnings "allowed warnings and COMMAND's own output are no warnings"

keeps_warnings() {
	vm --keep-warnings --append quiet -- sh -c 'echo "<4>WARNING: made up" >/dev/kmsg'
	expect_status 0
	expect_err 'WARNING: made up'
}
declare_boot_test keeps_warnings "--keep-warnings shows them but does not fail; quiet hides nothing"
