# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# The QEMU command line, as the list qemu_command[].

# QEMU splits option values at commas; a doubled comma stands for itself.
path_value() { # PATH
	printf '%s' "${1//,/,,}"
}

# The last one of two equal kernel arguments wins, so the user's come last.
# printk must reach the console in full even if COMMAND lowers the log level.
# A busy host lets the guest's CPUs and timers wait for seconds while the TSC
# runs on. The kernel would take that for broken interrupts, for a bad clock or
# for a stall, and panic, change clocks or warn.
kernel_arguments() {
	local arguments="console=ttyS0 panic=-1 printk.time=1 ignore_loglevel"
	arguments+=" no_timer_check tsc=reliable rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60"
	[[ ${tsc_khz} ]] && arguments+=" tsc_early_khz=$tsc_khz"
	[[ ${opt[gdb]} ]] && arguments+=" nokaslr"
	printf '%s' "$arguments${append[*]:+ ${append[*]}}"
}

add_folder() { # TAG PATH [OPTIONS]
	qemu_command+=(-virtfs "local,mount_tag=$1,path=$(path_value "$2"),security_model=none,multidevs=remap${3-}")
}

add_stream() { # NAME
	qemu_command+=(
		-chardev "file,id=$1,path=$(path_value "$run/ctl/$1")"
		-device "virtserialport,chardev=$1,name=vm.$1"
	)
}

add_accelerator() {
	if [[ ${opt[icount]} ]]; then
		qemu_command+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off,align=off")
	elif [[ ${opt[accel]} == tcg ]]; then
		qemu_command+=(-accel "tcg,thread=multi")
	else
		qemu_command+=(-accel "${opt[accel]}")
	fi
}

set_qemu_command() {
	qemu_command=(
		"$qemu" -machine "q35,hpet=off" -nodefaults -no-user-config -display none -no-reboot
		-cpu "${opt[cpu]}" -smp "${opt[smp]}" -m "${opt[mem]}"
		-kernel "${opt[kernel]}" -initrd "$run/initramfs" -append "$(kernel_arguments)"
		-chardev "file,id=console,path=$(path_value "$console")" -serial chardev:console
	)
	add_accelerator
	add_folder vmroot / ,readonly=on
	add_folder vmctl "$run/ctl"
	add_folder vmshare "${opt[share]:-$run/share}"
	if [[ ${opt[tty]} ]]; then
		qemu_command+=(-chardev "stdio,id=terminal,signal=off" -serial chardev:terminal)
	else
		qemu_command+=(-device virtio-serial-pci)
		add_stream stdout
		add_stream stderr
	fi
	if [[ ${opt[gdb]} ]]; then
		qemu_command+=(-gdb "tcp:127.0.0.1:${opt[gdb]}" -S)
	fi
	if [[ ${opt[monitor]} ]]; then
		qemu_command+=(-monitor "unix:$(path_value "${opt[monitor]}"),server=on,wait=off")
	fi
}
