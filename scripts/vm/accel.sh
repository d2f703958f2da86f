# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Does an accelerator really run guest code? /dev/kvm may exist and open, and
# yet no guest instruction ever be executed (nested virtualisation switched
# off half-way, sandboxes). Only an answer from inside a guest counts.

# 512 bytes that a BIOS starts: mov al, 0x31; out 0xf4, al; hlt; jmp to the hlt.
write_boot_sector() {
	printf '\xb0\x31\xe6\xf4\xf4\xeb\xfd'
	head -c 503 /dev/zero
	printf '\x55\xaa'
}

# QEMU's isa-debug-exit turns the byte B that the guest wrote into status 2B+1.
accelerator_runs() { # ACCELERATOR FOLDER
	local disk=$2/boot-sector
	write_boot_sector >"$disk"
	timeout 10 "$qemu" -accel "$1" -machine pc -cpu max -m 16 -nodefaults -no-user-config -display none \
		-device isa-debug-exit,iobase=0xf4,iosize=1 \
		-drive "file=${disk//,/,,},format=raw,if=floppy,snapshot=on" </dev/null >/dev/null 2>&1
	(($? == 2 * 0x31 + 1))
}

# The answer holds until the host boots again; the file may also have come with
# the tree from another machine.
kvm_runs() { # FOLDER
	local cache=$repository/build/vm-kvm boot answer=no
	[[ -r /dev/kvm && -w /dev/kvm ]] || return 1
	boot=$(cat /proc/sys/kernel/random/boot_id)
	if [[ $(cat "$cache" 2>/dev/null) == "$boot "* ]]; then
		[[ $(cat "$cache") == *" yes" ]]
		return
	fi
	accelerator_runs kvm "$1" && answer=yes
	if mkdir -p "${cache%/*}" 2>/dev/null && echo "$boot $answer" >"$1/vm-kvm"; then
		mv "$1/vm-kvm" "$cache" 2>/dev/null
	fi
	[[ $answer == yes ]]
}

# Replaces auto by what it stands for here.
settle_accelerator() { # FOLDER
	case ${opt[accel]} in
	auto) if kvm_runs "$1"; then opt[accel]=kvm; else opt[accel]=tcg; fi ;;
	kvm) kvm_runs "$1" || fail 244 "KVM runs no guest code here: leave out --accel kvm, TCG works everywhere" ;;
	esac
}
