# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# What the guest is given: an initramfs (the same in every run) and a control
# folder with the job, which also takes the guest's answers:
#
#   job             shell text: settings, exposed folders, COMMAND
#   winsize         the terminal's size, "ROWS COLS"
#   stdin.N, .end   chunks of standard input
#   stdout, stderr  COMMAND's output
#   started         COMMAND is about to start
#   status          COMMAND's exit status

write_initramfs() { # FOLDER OUTPUT
	mkdir -p "$1/bin"
	cp -- "$busybox" "$1/bin/busybox"
	cp -- "$parts/init" "$1/init"
	chmod 755 "$1/bin/busybox" "$1/init"
	(cd "$1" && printf '%s\n' init bin bin/busybox | "$busybox" cpio -o -H newc) >"$2" 2>/dev/null ||
		fail 244 "cannot build the initramfs at $2: check the free space there"
}

# One word of shell text that any POSIX shell reads back byte for byte.
quote() { # WORD
	local quote="'\\''"
	printf "'%s' " "${1//\'/$quote}"
}

# The guest has fresh mounts over these; whatever lies below needs a way through.
is_hidden() { # FOLDER
	[[ $1 == /tmp/* || $1 == /dev/shm/* ]]
}

write_exposed() { # FOLDER...
	local folder
	for folder; do
		is_hidden "$folder" || continue
		printf 'expose '
		quote "$folder"
		echo
	done
}

write_job() { # FILE
	local word directory terminal=dumb
	directory=$(pwd -P 2>/dev/null) || directory=/
	[[ ${opt[tty]} ]] && terminal=${TERM:-dumb}
	{
		echo "job_tty=${opt[tty]}"
		echo "job_stdin=${opt[stdin]}"
		echo "job_term=$(quote "$terminal")"
		echo "job_dir=$(quote "$directory")"
		write_exposed "$repository" "$directory" "${opt[kernel]%/*}"
		printf 'set -- '
		for word in "${command[@]}"; do
			quote "$word"
		done
		echo
	} >"$1"
}
