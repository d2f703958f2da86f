# shellcheck shell=bash
# shellcheck disable=SC2154 # globals are shared between the parts
# SPDX-License-Identifier: GPL-2.0
#
# Verdict files and their comparison. A line is "PROGRAM / CASE<tab>VERDICT";
# a program is what can be run again by itself.

# No verdict is no agreement, even if both kernels are alike in that.
no_verdict='TIMEOUT|DIED.*|MISSING'

# Names whose verdicts differ or are none, in order of the stock file.
differences() { # STOCK OURS
	awk -F'\t' -v none="^($no_verdict)$" '
		FNR == 1 { file++ }
		{ seen[$1] = 1; verdict[file, $1] = $2; if (!($1 in place)) { place[$1] = ++count; name[count] = $1 } }
		END {
			for (i = 1; i <= count; i++) {
				stock = verdict[1, name[i]]; ours = verdict[2, name[i]]
				if (stock != ours || stock == "" || stock ~ none) print name[i]
			}
		}' file=0 "$1" "$2"
}

verdict_of() { # FILE NAME
	awk -F'\t' -v name="$2" '$1 == name { verdict = $2 } END { print verdict == "" ? "MISSING" : verdict }' "$1"
}

names_of() { # FILE...
	cut -f 1 "$@" | awk '!seen[$0]++'
}

# Both files must say something, or there is nothing to agree on.
both_filled() { # STOCK OURS
	[[ -s $1 && -s $2 ]]
}

# Takes the lines of PROGRAMS from NEW, all others from OLD.
merge_verdicts() { # OLD NEW PROGRAM...
	local old=$1 new=$2
	shift 2
	printf '%s\n' "$@" | awk -F'\t' '
		function program(name) { sub(/ \/ .*/, "", name); return name }
		FILENAME == "-" { again[$0] = 1; next }
		FILENAME == ARGV[2] && program($1) in again { next }
		FILENAME == ARGV[3] && !(program($1) in again) { next }
		{ print }' - "$old" "$new"
}

programs_of() { # NAME...
	printf '%s\n' "$@" | sed 's, / .*,,' | awk 'NF && !seen[$0]++'
}

print_table() { # STOCK OURS COLUMN-NAME
	local name stock ours
	printf '# %-64s %-22s %-22s\n' test stock "$3"
	while IFS= read -r name; do
		stock=$(verdict_of "$1" "$name")
		ours=$(verdict_of "$2" "$name")
		printf '# %-64s %-22s %-22s%s\n' "$name" "$stock" "$ours" "${differing[$name]:+ DIFFERENT}"
	done < <(names_of "$1" "$2")
}

# The judgement: a TAP line for each name in either file.
report_verdicts() { # TITLE STOCK OURS COLUMN-NAME
	local name
	local -A differing=()
	if ! both_filled "$2" "$3"; then
		not_ok "$1: there are no verdicts to compare"
		return
	fi
	while IFS= read -r name; do
		differing[$name]=1
	done < <(differences "$2" "$3")
	print_table "$2" "$3" "$4"
	while IFS= read -r name; do
		if [[ ${differing[$name]:-} ]]; then
			not_ok "$1: $name: stock $(verdict_of "$2" "$name"), $4 $(verdict_of "$3" "$name")"
		else
			ok "$1: $name: $(verdict_of "$3" "$name")"
		fi
	done < <(names_of "$2" "$3")
}

# A kernel that warns where the stock one does not is worse, however the tests end.
report_warnings() { # TITLE FOLDER KERNEL
	local stock ours
	stock=$(warnings_in "$2"/stock.*)
	ours=$(warnings_in "$2/$3".*)
	if [[ $ours == some && $stock == none ]]; then
		not_ok "$1: kernel warnings: stock none, $3 some: see $2/$3.*/output"
	else
		ok "$1: kernel warnings: stock $stock, $3 $ours"
	fi
}

# Runs all PROGRAMS on both kernels, and again those that differ, twice at most.
# RUN KERNEL FOLDER ROUND PROGRAM... writes FOLDER/verdicts and calls boot.
settle() { # RUN FOLDER KERNEL PROGRAM...
	local run=$1 folder=$2 kernel=$3 round names programs side
	shift 3
	programs=("$@")
	for round in 1 2 3; do
		for side in stock "$kernel"; do
			fresh_folder "$folder/$side.$round"
			"$run" "$side" "$folder/$side.$round" "$round" "${programs[@]}" || return
			if ((round == 1)); then
				cp "$folder/$side.1/verdicts" "$folder/$side"
			else
				merge_verdicts "$folder/$side" "$folder/$side.$round/verdicts" \
					"${programs[@]}" >"$folder/$side.merged"
				mv "$folder/$side.merged" "$folder/$side"
			fi
		done
		mapfile -t names < <(differences "$folder/stock" "$folder/$kernel")
		if ((round > 1)); then
			note "round $round of ${programs[*]}: ${#names[@]} names still differ"
		fi
		((${#names[@]})) || return 0
		((round == 3)) || note "differ in round $round, run again on both kernels:" "${names[@]/#/  }"
		mapfile -t programs < <(programs_of "${names[@]}")
	done
	return 0
}
