# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# How fast is the TSC that the guest reads? The guest's kernel finds out by a timer, while
# a busy host lets the guest wait: it has believed in a sixteenth of the rate, and its
# seconds, and all time limits in it, were as much too short. The host can tell.

# Under TCG the TSC is the host's own. Prints nothing where that cannot be measured.
tsc_khz() { # FOLDER
	local cache=$repository/build/vm-tsc boot khz
	[[ ${opt[accel]} == tcg && -z ${opt[icount]} && $(uname -m) == x86_64 ]] || return
	boot=$(cat /proc/sys/kernel/random/boot_id)
	if [[ $(cat "$cache" 2>/dev/null) == "$boot "* ]]; then
		khz=$(cat "$cache")
		printf '%s' "${khz#* }"
		return
	fi
	command -v cc >/dev/null && cc -O2 -o "$1/tsc-khz" "$parts/tsc-khz.c" 2>/dev/null || return
	khz=$("$1/tsc-khz") && [[ $khz =~ ^[0-9]{5,8}$ ]] || return
	printf '%s' "$khz"
	if mkdir -p "${cache%/*}" 2>/dev/null && echo "$boot $khz" >"$1/vm-tsc"; then
		mv "$1/vm-tsc" "$cache" 2>/dev/null
	fi
}
