# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034,SC2016 # shared globals; $ is for the guest
# SPDX-License-Identifier: GPL-2.0
#
# What goes in and out: arguments, standard streams, exit status.

every_byte() {
	local code
	for ((code = 1; code < 256; code++)); do
		printf '%b' "\\x$(printf %02x "$code")"
	done
}

passes_arguments() {
	local arguments=('a  b' '' "it's" $'"$HOME" `id` \\' $'two\nlines\n' '*' -n -- '~' "$(every_byte)" '' 'last ')
	vm -- sh -c 'printf "%s\0" "$@"' zero "${arguments[@]}"
	printf '%s\0' "${arguments[@]}" >"$work/expected"
	expect_status 0
	expect_quiet
	expect_same "$work/expected" "$work/out"
}
declare_boot_test passes_arguments "arguments arrive byte for byte"

passes_output() {
	head -c 1048576 /dev/urandom >"$work/random"
	{
		printf '\0'
		every_byte
	} >>"$work/random"
	cp -- "$work/random" "$clone/random"
	vm -- sh -c 'cat random; cat random >&2; exit 1'
	expect_status 1
	expect_same "$work/random" "$work/out"
	expect_same "$work/random" "$work/err"
	echo "(binary)" >"$work/err"
}
declare_boot_test passes_output "1 MiB and all byte values pass both outputs unharmed, apart, with status 1"

# Another kernel may lack virtio-console; taking the driver away must change nothing.
passes_output_without_ports() {
	vm --append initcall_blacklist=virtio_console_init --console "$work/console" -- sh -c 'cat random; cat random >&2; exit 7'
	expect_status 7
	expect_same "$work/random" "$work/out"
	expect_same "$work/random" "$work/err"
	echo "(binary)" >"$work/err"
	grep -qa 'output through shared files' "$work/console" || problem "the shared files were not used"
}
declare_boot_test passes_output_without_ports "the same without virtio-console, with status 7"

uses_ports() {
	need_config VIRTIO_CONSOLE || return
	vm --console "$work/console" -- true
	expect_status 0
	grep -qa 'output through virtio ports' "$work/console" || problem "the virtio ports were not used"
}
declare_boot_test uses_ports "output goes through virtio ports where the kernel has them"

streams_live() {
	mkdir "$work/share"
	mkfifo "$work/live"
	"$vm" "${settings[@]}" --share "$work/share" -- \
		sh -c 'echo ready; echo ready >&2; until [ -e /tmp/share/go ]; do sleep 0.1; done; echo done >/tmp/share/back' \
		>"$work/live" 2>"$work/err" </dev/null &
	local pid=$! line=
	exec 5<"$work/live"
	read -r -t "$patience" line <&5
	[[ $line == ready ]] || problem "the line did not come while COMMAND ran"
	await grep -q ready "$work/err" || problem "the line on standard error did not come"
	touch "$work/share/go"
	wait "$pid"
	status=$?
	exec 5<&-
	expect_status 0
	[[ $(cat "$work/share/back" 2>/dev/null) == "done" ]] || problem "the guest's file is not in the share"
}
declare_boot_test streams_live "output is live, and the share works both ways while COMMAND runs"

no_qemu() {
	! pgrep -f -- "qemu-system.*$TMPDIR/vm\." >/dev/null
}

# The reader takes its first byte when the guest has gone.
waits_for_slow_readers() {
	local sum
	: >"$work/console"
	sum=$(yes 'a line of some length' | head -c 4000000 | sha256sum)
	"$vm" "${settings[@]}" --console "$work/console" -- \
		sh -c 'yes "a line of some length" | head -c 4000000' 2>"$work/err" |
		(
			await grep -qa 'reboot: machine restart' "$work/console"
			await no_qemu || echo "QEMU is still there"
			sha256sum
		) >"$work/out"
	status=${PIPESTATUS[0]}
	expect_status 0
	expect_out "$sum"$'\n'
}
declare_boot_test waits_for_slow_readers "a reader slower than the guest loses nothing"

stops_without_reader() {
	"$vm" "${settings[@]}" -- yes 2>"$work/err" | head -n 1 >"$work/out"
	status=${PIPESTATUS[0]}
	expect_status 141
	expect_out $'y\n'
	expect_quiet
}
declare_boot_test stops_without_reader "a closed output ends the run with 141"

passes_stdin() {
	head -c 3000000 /dev/urandom >"$work/input"
	{
		head -c 1000000 "$work/input"
		sleep 2
		tail -c +1000001 "$work/input"
	} | "$vm" "${settings[@]}" --stdin -- sha256sum >"$work/out" 2>"$work/err"
	status=$?
	expect_status 0
	expect_out "$(sha256sum <"$work/input")"$'\n'
}
declare_boot_test passes_stdin "--stdin passes standard input on, to its end"

reports_death_by_signal() {
	vm -- sh -c 'cat; (sleep 1000) & kill -KILL $$'
	expect_status 137
	expect_out ''
	expect_quiet
}
declare_boot_test reports_death_by_signal "death by SIGKILL is 137, input is empty, leftover processes do not hold the run"

reports_missing_command() {
	vm -- no-such-command
	expect_status 127
	expect_err 'no-such-command'
}
declare_boot_test reports_missing_command "a command that does not exist is 127"
