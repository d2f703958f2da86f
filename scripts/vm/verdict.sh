# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# What became of a run: kernel warnings, kept console, one sentence, exit status.

# Headlines of the kernel's own reports.
warning_patterns=(
	'BUG:' 'WARNING:' 'Oops' 'KASAN:' 'KCSAN:' 'UBSAN:' 'KFENCE:' 'ODEBUG:' 'DEBUG_LOCKS_WARN_ON'
	'possible circular locking' 'possible recursive locking' 'possible irq lock inversion'
	'inconsistent lock state' 'suspicious RCU usage' 'bad unlock balance' 'held lock freed'
	'lock held when returning to user space' 'Invalid wait context'
	'INFO: trying to register non-static key' 'INFO: task .* blocked for more than'
	'self-detected stall' 'detected stalls' 'detected expedited stalls' 'soft lockup' 'hard LOCKUP'
	'refcount_t:' 'scheduling while atomic' 'sleeping function called from invalid context'
	'unreferenced object' 'kmemleak: .* new suspected' 'list_add corruption' 'list_del corruption'
	'general protection fault' 'double fault' 'unable to handle' 'stack-protector:' 'Kernel panic'
)

# The echo of the kernel arguments, and faults of user programs.
harmless='[Cc]ommand line( parameters)?:|traps: .*\[[0-9]+\] general protection fault'

context=40   # lines of a report that are shown
most_shown=8 # reports that are shown
kept=        # where the console was kept

# Prints the line numbers of headlines that are not allowed.
find_warnings() { # LOG
	local IFS='|' number line ignored=$harmless
	((${#allowed[@]} == 0)) || ignored+="|${allowed[*]}"
	grep -anE "${warning_patterns[*]}" "$1" | while IFS=: read -r number line; do
		[[ $line =~ $ignored ]] || echo "$number"
	done
}

show_warnings() { # LOG LINE...
	local log=$1 line end=0 shown=0
	shift
	for line; do
		((line > end)) || continue
		if ((shown++ == most_shown)); then
			say "more reports follow in the console"
			break
		fi
		awk -v from="$line" -v to="$((line + context))" \
			'NR >= from { print } NR >= to || (NR > from && /---\[ end trace/) { exit }' "$log" >&2
		end=$((line + context))
	done
}

keep_console() {
	local folder name
	if [[ ${opt[console]} ]]; then
		kept=$console
		return
	fi
	name=$(date +%Y%m%d-%H%M%S)-$$.log
	for folder in "$repository/build/vm-logs" "${TMPDIR:-/tmp}/vm-logs"; do
		if mkdir -p "$folder" 2>/dev/null && cp "$console" "$folder/$name" 2>/dev/null; then
			kept=$folder/$name
			return
		fi
	done
}

# Ends a run that went wrong: the console's end, then the sentence.
conclude() { # STATUS SENTENCE
	keep_console
	tail -n 25 "$run/log" >&2
	fail "$1" "$2; the console is in ${kept:-no file, for want of a writable folder}"
}

judge_without_status() {
	local reason
	if grep -aq 'Kernel panic - not syncing' "$run/log"; then
		conclude 242 "the kernel panicked"
	elif reason=$(grep -a 'terminating on signal' "$run/qemu.log"); then
		conclude 244 "QEMU was stopped by somebody else: $reason"
	elif ((qemu_status != 0)); then
		reason=$(tail -n 1 "$run/qemu.log")
		conclude 244 "QEMU failed with status $qemu_status${reason:+: $reason}"
	elif [[ ! -e $run/ctl/started ]]; then
		reason=$(sed -n 's/^.*vm: init: //p' "$run/log" | head -n 1)
		conclude 243 "the kernel did not boot as far as COMMAND: ${reason:-the machine reset itself}"
	fi
	conclude 242 "the guest went down before COMMAND ended"
}

judge_status() { # COMMAND'S-STATUS WARNINGS
	if (($1 == 0)) && grep -aq 'Kernel panic - not syncing' "$run/log"; then
		conclude 242 "COMMAND returned 0, but the kernel panicked afterwards"
	elif (($2)); then
		keep_console
		if (($1 == 0)) && [[ -z ${opt[keep-warnings]} ]]; then
			fail 240 "COMMAND returned 0, but the kernel printed warnings; the console is in $kept"
		fi
		say "the kernel printed warnings; the console is in $kept"
	fi
	(($1 < 240)) || say "status $1 is COMMAND's own"
	exit "$1"
}

judge() {
	local status warnings
	tr -d '\r' <"$console" >"$run/log"
	mapfile -t warnings < <(find_warnings "$run/log")
	show_warnings "$run/log" "${warnings[@]}"
	case $outcome in
	closed) exit 141 ;;
	timeout) conclude 241 "COMMAND took longer than ${opt[timeout]} s (--timeout) and was stopped" ;;
	no-boot) conclude 243 "the kernel did not boot as far as COMMAND within ${opt[boot-timeout]} s (--boot-timeout)" ;;
	esac
	status=$(cat "$run/ctl/status" 2>/dev/null)
	[[ $status ]] || judge_without_status
	judge_status "$status" "${#warnings[@]}"
}
