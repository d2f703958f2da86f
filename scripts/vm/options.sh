# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# The command line: fills opt[] and the lists command[], append[], allowed[].

declare -A opt=(
	[kernel]="" [target]=""
	[smp]="" [mem]=2048 [cpu]=max,vendor=GenuineIntel [accel]=tcg [icount]="" [gdb]="" [monitor]=""
	[share]="" [stdin]="" [console]="" [timeout]="" [boot-timeout]=""
	[keep-warnings]="" [dry-run]="" [tty]=""
)
command=()
append=()
allowed=()

usage_error() {
	fail 2 "$* ('vm --help' lists the options)"
}

built_kernel() { # FOLDER TARGET
	opt[kernel]=$repository/build/$1/arch/x86/boot/bzImage
	opt[target]=$2
}

need_number() { # OPTION VALUE
	[[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || usage_error "$1 needs a positive whole number, not '$2'"
}

is_regex() { # WORD
	[[ $1 ]] || return
	[[ '' =~ $1 ]] 2>/dev/null
	(($? < 2))
}

# Each option with a value: checks it and puts it where it belongs.
take_value() { # OPTION VALUE
	case $1 in
	--smp | --mem | --timeout | --boot-timeout)
		need_number "$1" "$2"
		opt[${1#--}]=$2
		;;
	--kernel)
		opt[kernel]=$2
		opt[target]=""
		;;
	--accel)
		[[ $2 == tcg || $2 == kvm || $2 == auto ]] || usage_error "--accel is tcg, kvm or auto, not '$2'"
		opt[accel]=$2
		;;
	--share)
		[[ -d $2 ]] || usage_error "--share needs an existing folder, and '$2' is none"
		opt[share]=$(realpath -- "$2")
		;;
	--console)
		[[ -f $2 || (! -e $2 && -d $(dirname -- "$2")) ]] || usage_error "--console needs a file name in an existing folder, not '$2'"
		opt[console]=$(realpath -- "$2")
		;;
	--monitor)
		[[ ! -e $2 && -d $(dirname -- "$2") ]] || usage_error "--monitor needs a new name in an existing folder, not '$2'"
		opt[monitor]=$(realpath -- "$2")
		((${#opt[monitor]} < 108)) || usage_error "--monitor needs a shorter path than '${opt[monitor]}', sockets take 107 bytes"
		;;
	--allow-warnings)
		is_regex "$2" || usage_error "--allow-warnings needs an extended regular expression, not '$2'"
		allowed+=("$2")
		;;
	--append) append+=("$2") ;;
	--cpu) opt[cpu]=$2 ;;
	esac
}

parse_options() {
	while (($#)); do
		case $1 in
		--)
			shift
			command=("$@")
			break
			;;
		--help)
			cat "$parts/help.txt"
			exit 0
			;;
		--stock) built_kernel stock stock ;;
		--debug) built_kernel debug debug-kernel ;;
		--kcsan) built_kernel kcsan kcsan-kernel ;;
		--icount | --stdin | --keep-warnings | --dry-run) opt[${1#--}]=1 ;;
		--gdb)
			opt[gdb]=1234
			if [[ ${2-} =~ ^[0-9]+$ ]]; then
				need_number "--gdb" "$2"
				opt[gdb]=$2
				shift
			fi
			;;
		--smp | --mem | --cpu | --accel | --kernel | --append | --share | --console | --timeout | \
			--boot-timeout | --allow-warnings | --monitor)
			(($# > 1)) || usage_error "$1 needs a value"
			take_value "$1" "$2"
			shift
			;;
		--?*=*)
			set -- "${1%%=*}" "${1#*=}" "${@:2}"
			continue
			;;
		-*) usage_error "unknown option '$1'" ;;
		*) usage_error "COMMAND goes after '--', which is missing before '$1'" ;;
		esac
		shift
	done
}

# What can only be judged when all options are known.
check_options() {
	if [[ ${opt[icount]} ]]; then
		opt[smp]=${opt[smp]:-1}
		((opt[smp] == 1)) || usage_error "--icount counts on one CPU only: leave out --smp ${opt[smp]}"
		[[ ${opt[accel]} != kvm ]] || usage_error "--icount needs TCG: leave out --accel kvm"
		opt[accel]=tcg
	fi
	opt[smp]=${opt[smp]:-2}

	if ((${#command[@]} == 0)); then
		[[ ${opt[dry-run]} || (-t 0 && -t 1) ]] ||
			usage_error "there is no COMMAND, and no terminal for a shell: add '-- COMMAND'"
		opt[tty]=1
		# The caller's own start-up files may take half a minute under TCG.
		command=(env 'PS1=\u@\h:\w\$ ' bash --norc)
	fi
	[[ ! -t 0 ]] || opt[stdin]=
	[[ ${opt[gdb]} ]] || opt[boot-timeout]=${opt[boot-timeout]:-180}
	[[ ${opt[gdb]} || ${opt[tty]} ]] || opt[timeout]=${opt[timeout]:-600}

	[[ ${opt[kernel]} ]] || built_kernel x86_64 kernel
	if [[ ! -f ${opt[kernel]} ]]; then
		[[ ${opt[target]} ]] || fail 2 "--kernel needs an existing file, and '${opt[kernel]}' is none"
		fail 2 "there is no kernel at ${opt[kernel]}: 'make ${opt[target]}' builds it"
	fi
	[[ -r ${opt[kernel]} ]] || fail 2 "the kernel ${opt[kernel]} is not readable: check its permissions"
	opt[kernel]=$(realpath -- "${opt[kernel]}")
}
