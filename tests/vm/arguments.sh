# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Command line: what vm refuses, and with which words. Nothing boots here.

expect_refusal() { # STATUS REGEX ARGUMENT...
	PATH=${search:-$PATH} "$vm" "${@:3}" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	[[ $status == "$1" ]] || problem "vm ${*:3}: exit status $status instead of $1"
	grep -qaE -e "$2" "$work/err" || problem "vm ${*:3}: no '$2' in '$(cat "$work/err")'"
	[[ $(wc -l <"$work/err") == 1 ]] || problem "vm ${*:3}: more than one line on standard error"
}

refuses_wrong_arguments() {
	local bad option
	for option in --smp --mem --timeout --boot-timeout; do
		for bad in 0 -1 1.5 x '' 99999999999; do
			expect_refusal 2 "$option needs a positive whole number" "$option" "$bad" -- true
		done
		expect_refusal 2 "$option needs a value" "$option"
	done
	expect_refusal 2 "positive whole number" --smp=0 -- true
	expect_refusal 2 "positive whole number" --gdb 0 -- true
	expect_refusal 2 "unknown option '--frob'" --frob -- true
	expect_refusal 2 "unknown option '-x'" -x -- true
	expect_refusal 2 "COMMAND goes after '--'" true
	expect_refusal 2 "tcg, kvm or auto" --accel xen -- true
	expect_refusal 2 "one CPU" --icount --smp 2 -- true
	expect_refusal 2 "needs TCG" --accel kvm --icount -- true
	expect_refusal 2 "existing folder" --share "$work/none" -- true
	expect_refusal 2 "existing folder" --console "$work/none/console" -- true
	expect_refusal 2 "existing folder" --monitor "$work/none/socket" -- true
	expect_refusal 2 "regular expression" --allow-warnings '(' -- true
	expect_refusal 2 "regular expression" --allow-warnings '' -- true
}
declare_test refuses_wrong_arguments "wrong arguments are refused, each with its reason"

names_the_missing_image() {
	expect_refusal 2 "'make kernel' builds it" -- true
	expect_refusal 2 "'make stock' builds it" --stock -- true
	expect_refusal 2 "'make debug-kernel' builds it" --debug -- true
	expect_refusal 2 "'make kcsan-kernel' builds it" --kcsan -- true
	expect_refusal 2 "none" --kernel "$work/none" -- true
	expect_refusal 2 "none" --kernel "$work" -- true
}
declare_test names_the_missing_image "a missing kernel image is named with the target that builds it"

refuses_to_guess_a_command() {
	: >"$work/image"
	expect_refusal 2 "no COMMAND" --kernel "$work/image"
	expect_refusal 2 "no COMMAND" --kernel "$work/image" --
}
declare_test refuses_to_guess_a_command "without COMMAND and without a terminal there is a clear error"

# A PATH with all that vm needs, but for one program.
path_without() { # PROGRAM
	local program
	rm -rf -- "${work:?}/bin"
	mkdir "$work/bin"
	for program in bash dirname realpath cat mktemp rm mkdir ldd qemu-system-x86_64 busybox; do
		[[ $program == "$1" ]] || ln -s "$(command -v "$program")" "$work/bin/$program"
	done
	echo "$work/bin"
}

names_missing_programs() {
	: >"$work/image"
	search=$(path_without qemu-system-x86_64) expect_refusal 244 "qemu.*'make deps'" --kernel "$work/image" -- true
	search=$(path_without busybox) expect_refusal 244 "busybox.*'make deps'" --kernel "$work/image" -- true
	ln -s "$(command -v ls)" "$work/bin/busybox"
	search=$work/bin expect_refusal 244 "shared libraries.*busybox-static" --kernel "$work/image" -- true
}
declare_test names_missing_programs "missing QEMU and busybox are named with what installs them"

dry_run() {
	: >"$work/image"
	"$vm" --kernel "$work/image" --smp 3 --mem 333 --append 'a b' --gdb 4321 --dry-run -- true >"$work/out" 2>"$work/err"
	status=$?
	expect_status 0
	expect_quiet
	local word
	for word in "'-smp' '3'" "'-m' '333'" "a b'" "tcp:127.0.0.1:4321' '-S'" "'-no-reboot'" "'$work/image'"; do
		grep -qF -e "$word" "$work/out" || problem "no $word in $(cat "$work/out")"
	done
}
declare_test dry_run "--dry-run prints the QEMU command line"

help_is_complete() {
	local option
	"$vm" --help >"$work/out" 2>"$work/err"
	status=$?
	expect_status 0
	while read -r option; do
		grep -q -e "^  $option" "$work/out" || problem "--help does not explain $option"
	done < <(grep -oE -e '^\s+\|?\s*--[a-z-]+[^)]*\)' -- "$repository/scripts/vm/options.sh" | grep -oE -e '--[a-z-]+')
	grep -q -e '--smp' "$work/out" || problem "no options found"
}
declare_test help_is_complete "--help explains every option"

tells_working_accelerators() {
	(
		set +u
		qemu=$(command -v qemu-system-x86_64) || exit 3
		# shellcheck source=/dev/null
		. "$clone/scripts/vm/accel.sh"
		accelerator_runs tcg "$work" || exit 1
		! accelerator_runs nonsense "$work" || exit 2
	)
	case $? in
	1) problem "TCG does not pass the probe" ;;
	2) problem "an accelerator that does not exist passes the probe" ;;
	3) skip "qemu-system-x86_64 is not installed" ;;
	esac
}
declare_test tells_working_accelerators "the accelerator probe needs an answer from guest code"
