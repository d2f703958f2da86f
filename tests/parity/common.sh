# shellcheck shell=bash
# shellcheck disable=SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# What the comparisons share: where things are, booting, TAP.

parity=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
repository=$(realpath -- "$parity/../..")
base=${BASE:-$repository/build/base}
vm=${VM:-$repository/vm}
results=${RESULTS:-$repository/build/parity}
patience=${PATIENCE:-1}

declare -A image=(
	[stock]=${STOCK_IMAGE:-$repository/build/stock/arch/x86/boot/bzImage}
	[ours]=${OURS_IMAGE:-$repository/build/x86_64/arch/x86/boot/bzImage}
	[debug]=${DEBUG_IMAGE:-$repository/build/debug/arch/x86/boot/bzImage}
)
declare -A target=([stock]=stock [ours]=kernel [debug]=debug-kernel)

tests=0
failures=0

note() {
	printf '# %s\n' "$@"
}

usage_error() { # SENTENCE
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	exit 2
}

ok() { # NAME [DIRECTIVE]
	tests=$((tests + 1))
	printf 'ok %d - %s%s\n' "$tests" "$1" "${2:+ # $2}"
}

not_ok() { # NAME
	tests=$((tests + 1))
	failures=$((failures + 1))
	printf 'not ok %d - %s\n' "$tests" "$1"
}

# The end of every script: plan, sum, exit status.
conclude() {
	echo "1..$tests"
	echo "$((tests - failures)) passed, $failures failed"
	((failures == 0))
}

# What cannot run here says why, and is no success.
skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 4
}

need_command() { # COMMAND...
	local command
	for command; do
		command -v "$command" >/dev/null || skip_all "$command is not installed: 'make deps' installs it"
	done
}

need_image() { # KERNEL...
	local kernel
	for kernel; do
		[[ -r ${image[$kernel]} ]] ||
			skip_all "there is no kernel at ${image[$kernel]}: 'make ${target[$kernel]}' builds it"
	done
}

need_base() {
	[[ -d $base/tools/testing/selftests ]] ||
		skip_all "there is no kernel source in $base: 'make base' unpacks it, or set BASE"
}

fresh_folder() { # PATH
	{ rm -rf -- "$1" && mkdir -p -- "$1"; } || usage_error "cannot create the folder $1: set RESULTS to another one"
}

start_machine() { # KERNEL FOLDER SECONDS [VM OPTION...] -- COMMAND...
	"$vm" --kernel "${image[$1]}" --share "$2" --timeout $(($3 * patience)) \
		--boot-timeout $((180 * patience)) "${@:4}" >"$2/output" 2>&1 </dev/null
}

# Boots a kernel and runs COMMAND in it, with FOLDER at /tmp/share. The guest's
# output is in FOLDER/output. Status 240 (the kernel warned) becomes the file
# FOLDER/warned, because it is one more thing to compare. False if the machine
# did not get as far as COMMAND's end. Under emulation on a busy host a boot may
# fail, so there is a second try before any test has run.
boot() { # KERNEL FOLDER SECONDS [VM OPTION...] -- COMMAND...
	local kernel=$1 folder=$2 status
	start_machine "$@"
	status=$?
	if ((status == 243)); then
		note "$kernel: did not boot, once more"
		start_machine "$@"
		status=$?
	fi
	case $status in
	0) ;;
	240) : >"$folder/warned" ;;
	*)
		note "$kernel: vm ended with status $status"
		tail -n 15 "$folder/output" | sed 's/^/#   /'
		return 1
		;;
	esac
}

warnings_in() { # FOLDER...
	local folder
	for folder; do
		[[ ! -e $folder/warned ]] || { echo some && return; }
	done
	echo none
}
