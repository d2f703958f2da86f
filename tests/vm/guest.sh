# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034,SC2016 # shared globals; $ is for the guest
# SPDX-License-Identifier: GPL-2.0
#
# What COMMAND finds: root, folders, environment, devices, a terminal.

# Prints nothing if all is well.
inspect_guest() {
	cat <<'GUEST'
want() { # WHAT EXPECTED FOUND
	[ "$2" = "$3" ] || echo "$1: expected '$2', found '$3'"
}
mounted() { # FOLDER TYPE
	grep -q "^[^ ]* $1 $2 " /proc/mounts || echo "$1 is no $2"
}
want user root "$(id -un)"
want HOME /root "$HOME"
want hostname vm "$(uname -n)"
want folder "$1" "$(pwd)"
want cpus 2 "$(nproc)"
want loopback yes "$(grep -q '^127.0.0.1' /etc/hosts && grep -q 1 /sys/class/net/lo/carrier && echo yes)"
case $PATH in */usr/sbin*) ;; *) echo "PATH is $PATH" ;; esac
case $LANG in C*) ;; *) echo "LANG is $LANG" ;; esac
mounted / overlay
mounted /tmp tmpfs
mounted /dev/shm tmpfs
mounted /dev devtmpfs
mounted /proc proc
mounted /sys sysfs
mounted /tmp/share 9p
! grep -q tracefs /proc/filesystems || mounted /sys/kernel/tracing tracefs
! grep -q debugfs /proc/filesystems || mounted /sys/kernel/debug debugfs
! grep -q 'bpf$' /proc/filesystems || mounted /sys/fs/bpf bpf
echo x | cat /dev/fd/0 | grep -q x || echo "/dev/fd does not work"
echo x >/dev/stdout 2>/tmp/e | cat >/dev/null || echo "/dev/stdout does not work"
./local-program || echo "a program of the current folder does not run"
[ -x "$2/vm" ] || echo "the repository is not there"
touch /etc/vm-test "$1/vm-test" /usr/bin/vm-test || echo "the root is not writable"
rm "$1/doomed" || echo "cannot remove a file"
mkdir /tmp/new /dev/shm/new || echo "no fresh folders"
chmod 700 /tmp/share && mkdir -m 0 /tmp/share/locked || echo "no folder in the share"
GUEST
}

furnishes_guest() {
	local directory="$clone/a, folder"
	mkdir "$directory"
	printf '#!/bin/sh\nexit 0\n' >"$directory/local-program"
	chmod +x "$directory/local-program"
	touch "$directory/doomed"
	ln -sf "$clone/vm" "$work/link"
	pushd "$directory" >/dev/null || return
	"$work/link" "${settings[@]}" -- sh -c "$(inspect_guest)" sh "$directory" "$clone" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
	popd >/dev/null || return
	expect_status 0
	expect_out ''
	expect_quiet
	[[ ! -e /etc/vm-test && ! -e /usr/bin/vm-test && ! -e $directory/vm-test ]] || problem "a write reached the host"
	[[ -e $directory/doomed ]] || problem "a removal reached the host"
}
declare_boot_test furnishes_guest "from a clone in /tmp, by symlink: folders, environment, writable root, host untouched"

# Overlayfs marks a removed folder in an extended attribute of the tmpfs.
replaces_folders() {
	need_config TMPFS_XATTR || return
	mkdir -p folder/inner
	vm -- sh -c 'rm -r folder && mkdir folder && ls -A folder && mv folder moved'
	expect_status 0
	expect_out ''
	expect_quiet
	[[ -d folder/inner ]] || problem "a removal reached the host"
}
declare_boot_test replaces_folders "host folders can be removed and replaced in the guest"

counts_instructions() {
	vm --icount --console "$work/console" -- nproc
	expect_status 0
	expect_out $'1\n'
	grep -qa 'COMMAND starts' "$work/console" || problem "--console has no console"
	[[ ! -e $clone/build/vm-logs/console ]] || problem "console kept twice"
}
declare_boot_test counts_instructions "--icount runs on one CPU, --console has the kernel's console"

# Nothing of root's is needed on the host.
runs_unprivileged() {
	((EUID == 0)) || { skip "only root can become somebody else"; return; }
	runuser -u nobody -- test -r "$kernel" || { skip "nobody cannot read the kernel"; return; }
	chmod 755 "$work"
	mkdir -m 777 "$work/tmp/nobody"
	TMPDIR=$work/tmp/nobody runuser -u nobody -- "$vm" "${settings[@]}" -- \
		sh -c 'id -u; cd && touch file && mkdir -m 0 /tmp/share/locked && echo home' >"$work/out" 2>"$work/err" </dev/null
	status=$?
	expect_status 0
	expect_out $'0\nhome\n'
	expect_quiet
	rmdir "$work/tmp/nobody" || problem "temporary files are left"
}
declare_boot_test runs_unprivileged "an unprivileged host user can run it"

typed() { # TEXT
	(printf '%s' "$1" >&7) # a subshell, for SIGPIPE if the reader is gone
}

seen() { # REGEX
	grep -qaE -e "$1" "$work/screen" 2>/dev/null
}

opens_shell() {
	command -v script >/dev/null || { skip "script(1) is not installed"; return; }
	rm -f "$work/keys"
	mkfifo "$work/keys"
	env --default-signal VM="$vm" KERNEL="$kernel" PATIENCE="$patience" TERM=vt100 \
		script -qefc 'stty rows 33 cols 101; "$VM" --kernel "$KERNEL" --boot-timeout "$PATIENCE"; s=$?; stty -a; exit $s' "$work/screen" \
		<"$work/keys" >/dev/null 2>"$work/err" &
	local pid=$!
	exec 7>"$work/keys"
	await seen 'root@vm|# $' || problem "no prompt came"
	typed $'echo "t""ty=$(tty) size=$(stty size) term=$TERM"; set -o | grep monitor\n'
	await seen 'tty=/dev/ttyS1 size=33 101 term=vt100' || problem "no terminal of the right size"
	await seen 'monitor +.?on' || problem "no job control"
	typed $'echo sle""eping; sleep 1000\n'
	await seen 'sleeping' || problem "no sleep"
	typed $'\003'
	typed $'echo "a""live $?"\n'
	await seen 'alive 130' || problem "Ctrl-C did not reach the guest"
	typed $'exit 5\n'
	await gone "$pid" || kill "$pid"
	wait "$pid"
	status=$?
	exec 7>&-
	expect_status 5
	{ seen '[^-]icanon' && seen '[^-]echo '; } || problem "the terminal was not restored"
	[[ -z ${problems[*]} ]] || cp -- "$work/screen" "$work/err"
}
declare_boot_test opens_shell "without COMMAND: a shell on a terminal, job control, size, Ctrl-C, exit status"

gone() { # PID
	! kill -0 "$1" 2>/dev/null
}

# The guest's seconds against the host's, between two files that the guest makes.
keeps_the_hosts_time() {
	local begin end times difference
	mkdir "$work/clock"
	"$vm" "${settings[@]}" --share "$work/clock" -- sh -c '
		read -r begin idle </proc/uptime
		: >/tmp/share/begin
		sleep 5
		: >/tmp/share/end
		read -r end idle </proc/uptime
		echo "$begin $end"' >"$work/out" 2>"$work/err" </dev/null
	status=$?
	expect_status 0
	expect_quiet
	if ! begin=$(stat -c %.Y "$work/clock/begin") || ! end=$(stat -c %.Y "$work/clock/end"); then
		problem "the guest has not made both files"
		return
	fi
	read -r times <"$work/out"
	difference=$(awk '{ print ($2 - $1) - ($4 - $3) }' <<<"$begin $end $times")
	awk '{ exit !($1 < 2 && $1 > -2) }' <<<"$difference" ||
		problem "5 s of the guest's are $difference s more on the host"
}
declare_boot_test keeps_the_hosts_time "a second in the guest is a second"
