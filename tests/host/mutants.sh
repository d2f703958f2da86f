#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Proof that the tests test: each mutant is a core, that of the rings, that of
# aux_test beside it or the interpreter of x86 instructions, with one line damaged, and
# the test that is responsible has to turn red.
#
#	mutants.sh list plain|tsan
#	mutants.sh run BUILD_DIR MUTANT
#
# BUILD_DIR	built by tests/host, with the preset that lists MUTANT
#
# Only what the damage is in is compiled; everything else comes from BUILD_DIR.
# Exit status: 0 the mutant was found out, 1 it was not, 2 wrong use.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# From BUILD_DIR/mutants/settings.
core=
uapi=
compile=()
flags=()

names=()
declare -A test_of file_of change_of

# What a test is linked with besides, and which of its cases are run.
libraries=()
cases='*'

# A mutant: NAME, the TEST that has to find it out, FILE as seen from the core (the rings',
# or the interpreter's), SED script.
mutant() {
	names+=("$1")
	test_of[$1]=$2
	file_of[$1]=$3
	change_of[$1]=$4
}

# --- nesting: publishing ---
mutant no_recheck_of_head nesting_test data_ring.hh \
	's/while (__builtin_expect(P::load(ring.head) != head, 0))/while (false)/'
mutant nested_writers_publish nesting_test data_ring.hh \
	's/__builtin_expect(depth > 1, 0)/__builtin_expect(depth > 9, 0)/'
mutant nested_commit_keeps_nest nesting_test data_ring.hh \
	's/P::store(ring.nest, depth - 1)/P::store(ring.nest, depth)/'
mutant nest_falls_before_publishing nesting_test data_ring.hh \
	's/P::store(ring.nest, 1U);/P::store(ring.nest, 0U);/'
mutant commit_leaves_nest nesting_test data_ring.hh \
	's/P::store(ring.nest, 0U);/P::store(ring.nest, 1U);/'
mutant head_is_stored_not_exchanged nesting_test data_ring.hh \
	's/!P::exchange_if(ring.head, from, to)/(P::store(ring.head, to), false)/'

# --- nesting: wake-ups ---
mutant stamp_read_after_nest nesting_test data_ring.hh \
	'/handle.wakeup = P::load(ring.wakeup);/d; s/handle.ring = &ring;/& handle.wakeup = P::load(ring.wakeup);/'
mutant stamp_added_not_exchanged nesting_test data_ring.hh \
	's/P::exchange_if(ring.wakeup, stamp, stamp + ring.watermark)/P::add(ring.wakeup, ring.watermark)/'
mutant stamp_of_now_not_of_before nesting_test data_ring.hh \
	's/unsigned long stamp = handle.wakeup;/unsigned long stamp = P::load(ring.wakeup);/'
mutant wakeup_on_refusal_dropped nesting_test data_ring.hh \
	's/commit(handle) ? PERF_RING_FULL_WAKE : PERF_RING_FULL/commit(handle) ? PERF_RING_FULL : PERF_RING_FULL/'
mutant samples_are_stored_not_exchanged nesting_test data_ring.hh \
	's/!P::exchange_if(ring.events, seen, \(.*\)))/(P::store(ring.events, \1), false))/'

# --- nesting: loss ---
mutant lost_not_given_back nesting_test data_ring.hh \
	's/P::add(ring.lost, lost + 1);/P::add(ring.lost, 1);/'
mutant lost_loaded_not_taken nesting_test data_ring.hh \
	's/P::exchange(ring.lost, 0UL);/P::load(ring.lost);/'
mutant refusal_without_commit nesting_test data_ring.hh \
	's/return commit(handle) ? PERF_RING_FULL_WAKE : PERF_RING_FULL;/return PERF_RING_FULL;/'

# --- space ---
mutant one_word_too_much_room data_ring_test data_ring.hh \
	's/return (ahead - 1) & (size - 1)/return ((ahead - 1) \& (size - 1)) + 8/'
mutant one_word_too_little_room data_ring_test data_ring.hh \
	's/return (ahead - 1) & (size - 1)/return ((ahead - 1) \& (size - 1)) - 8/'
mutant full_looks_empty data_ring_test data_ring.hh \
	's/return (ahead - 1) & (size - 1)/return ahead \& (size - 1)/'
mutant exactly_fitting_is_refused data_ring_test data_ring.hh \
	's/free_space<D>(from, tail, ring.size) < wanted/free_space<D>(from, tail, ring.size) <= wanted + 7/'
mutant backward_room_measured_forward data_ring_test data_ring.hh \
	's/? tail - head : head - tail/? tail - head : tail - head/'
mutant backward_writes_below data_ring_test data_ring.hh \
	's/place(ring, handle, D == Direction::forward ? from : to)/place(ring, handle, from)/'
mutant overwrite_obeys_the_tail data_ring_test data_ring.hh \
	's/if (!ring.overwrite)/if (true)/'
mutant pieces_wrap_too_late data_ring_test data_ring.hh \
	's/(ring.size >> ring.piece_shift) - 1;/(ring.size >> ring.piece_shift);/'
mutant next_piece_is_the_same data_ring_test data_ring.hh \
	's/(handle.piece) + 1,/(handle.piece),/'
mutant room_runs_out data_ring_test data_ring.hh \
	's/handle.room > len, 1/handle.room >= len, 1/'
mutant room_ignores_the_offset data_ring_test data_ring.hh \
	's/handle.room = piece_size - offset/handle.room = piece_size/'
mutant source_does_not_move_on data_ring_test data_ring.hh \
	's/next += now;/next += 0;/'

# --- loss and pause, without nesting ---
mutant lost_beyond_the_return_value data_ring_test data_ring.hh \
	's/P::add(ring.lost, lost - most);/P::add(ring.lost, 0);/'
mutant lost_room_not_reserved data_ring_test data_ring.hh \
	's/lost ? size + lost_size : size;/size;/'
mutant lost_not_told data_ring_test data_ring.hh \
	's/return static_cast<long>(lost);/return 0;/'
mutant pause_not_counted data_ring_test data_ring.hh \
	's/P::add(ring.lost, 1);/P::add(ring.lost, 0);/'
mutant no_data_is_counted data_ring_test data_ring.hh \
	's/if (!ring.size)/if (false)/'
mutant empty_ring_resumes data_ring_test data_ring.cc \
	's/paused != 0 || ring->size == 0/paused != 0/'
mutant pause_takes_one_only data_ring_test data_ring.cc \
	's/static_cast<unsigned int>(paused != 0 ||/static_cast<unsigned int>(paused == 1 ||/'

# --- wake-ups, without nesting ---
mutant wakes_at_the_watermark data_ring_test data_ring.hh \
	's/progress - stamp > ring.watermark/progress - stamp >= ring.watermark/'
mutant backward_progress_is_the_position data_ring_test data_ring.hh \
	's/D == Direction::forward ? to : 0 - to/to/'
mutant count_starts_over data_ring_test data_ring.hh \
	's/due ? seen + 1 - every : seen + 1/due ? 0 : seen + 1/'
mutant count_wakes_one_late data_ring_test data_ring.hh \
	's/seen + 1 >= every/seen + 1 > every/'
mutant commit_never_wakes model_test data_ring.hh \
	's/return P::load(ring.wakeup) != handle.wakeup;/return false;/'
mutant no_default_watermark data_ring_test data_ring.cc \
	's|ring->watermark = ring->size / 2;|ring->watermark = ring->size;|'
mutant watermark_not_capped data_ring_test data_ring.cc \
	's/watermark < ring->size ? watermark : ring->size/watermark/'

# --- mapping rules ---
mutant any_number_of_data_pages map_rules_test map_rules.cc \
	's/data_pages != 0 && !power_of_two(data_pages)/false/'
mutant any_cpu_meets_none map_rules_test map_rules.cc \
	's/cpu == other || cpu == -1 || other == -1/cpu == other || cpu == -1/'
mutant length_between_pages map_rules_test map_rules.cc \
	's/pages == 0 || pages << page_shift != length/pages == 0/'
mutant data_pages_beyond_an_int map_rules_test map_rules.cc \
	's/if (data_pages > INT_MAX)/if (data_pages > UINT_MAX)/'
mutant aux_over_the_user_page map_rules_test map_rules.cc \
	's/if (asked->offset < data_end)/if (false)/'
mutant aux_offset_wraps map_rules_test map_rules.cc \
	's/asked->offset >> have->page_shift != first ||/false ||/'
mutant aux_anywhere map_rules_test map_rules.cc \
	's/have->aux_first != first || //'
mutant aux_page_after_the_last map_rules_test map_rules.cc \
	's/if (index < have->aux_pages)/if (index <= have->aux_pages)/'
mutant data_page_after_the_last map_rules_test map_rules.cc \
	's/if (offset <= have->data_pages)/if (offset <= have->data_pages + 1)/'
mutant allowance_wraps map_rules_test map_rules.cc \
	's/used < allowance ? allowance - used : 0/allowance - used/'
mutant any_task map_rules_test map_rules.cc \
	's/(to->cpu != -1 || from->task == to->task)/true/'
mutant direction_compared_as_a_number map_rules_test map_rules.cc \
	's/!from->backward == !to->backward/from->backward == to->backward/'

# --- samples: what a plan says ---
mutant identifier_is_second sample_plan_test sample_plan.hh \
	's/{ *Field::identifier, *Field::ip,/{Field::ip, Field::identifier,/'
mutant id_before_addr sample_plan_test sample_plan.hh \
	's/Field::addr, *Field::id,/Field::id, Field::addr,/'
mutant cpu_after_period sample_plan_test sample_plan.hh \
	's/Field::cpu, *Field::period *}/Field::period, Field::cpu}/'
mutant data_src_before_weight sample_plan_test sample_plan.hh \
	's/Field::weight, Field::data_src,/Field::data_src, Field::weight,/'
mutant cgroup_before_phys_addr sample_plan_test sample_plan.hh \
	's/Field::phys_addr, Field::cgroup,/Field::cgroup, Field::phys_addr,/'
mutant trailer_as_in_a_sample sample_plan_test sample_plan.hh \
	's/Field::stream_id, *Field::cpu, *Field::identifier *}/Field::identifier, Field::stream_id, Field::cpu}/'
mutant run_ends_one_early sample_plan_test sample_plan.hh \
	's/plan.end\[which\] = used;/plan.end[which] = used - 1;/'
mutant size_without_header sample_plan_test sample_plan.hh \
	's/header_size + in_sample \* word_size/in_sample * word_size/'
mutant sample_ends_with_a_trailer sample_plan_test sample_plan.hh \
	's/in_sample = plan.end\[PERF_SAMPLE_RUN_TAIL\]/in_sample = plan.end[PERF_SAMPLE_RUN_ID]/'
mutant trailer_as_long_as_all sample_plan_test sample_plan.hh \
	's/plan.end\[PERF_SAMPLE_RUN_ID\] - in_sample/plan.end[PERF_SAMPLE_RUN_ID]/'
mutant weight_struct_has_no_word sample_plan_test sample_plan.hh \
	's/sample_type |= bit(Field::weight);/;/'
mutant code_page_of_no_ip sample_plan_test sample_plan.hh \
	's/sample_type |= bit(Field::ip);/;/'
mutant data_page_of_no_addr sample_plan_test sample_plan.hh \
	's/bits(Field::data_page_size, Field::phys_addr)/bit(Field::phys_addr)/'
mutant phys_addr_of_no_addr sample_plan_test sample_plan.hh \
	's/bits(Field::data_page_size, Field::phys_addr)/bit(Field::data_page_size)/'
mutant stack_of_no_registers sample_plan_test sample_plan.hh \
	's/sample_type |= bit(Field::regs_user);/;/'
mutant aux_has_a_fixed_size sample_plan_test sample_plan.hh \
	's/Field::regs_intr, Field::aux)/Field::regs_intr)/'
mutant unknown_bits_are_wanted sample_plan_test sample_plan.hh \
	's/sample_type &= known_fields;/;/'
mutant interval_not_kept sample_plan_test sample_plan.hh \
	's/plan.every = every;/plan.every = 0;/'
mutant source_is_the_bit sample_plan_test sample_plan.hh \
	's/sources.word\[\(static_cast<unsigned int>(field)\)\]/\1/'

mutant members_without_their_number sample_size_test sample_plan.cc \
	's/times(read_format) + 1;/times(read_format);/'
mutant members_of_one_word sample_size_test sample_plan.cc \
	's/(words - fixed) \/ words_of_member(read_format)/(words - fixed)/'

# --- samples: writing them ---
mutant sample_leaves_its_piece sample_emit_test sample_plan.hh \
	's/handle.room >= plan.size/handle.room + 8 >= plan.size/'
mutant sample_without_header sample_emit_test sample_plan.hh \
	's/\*to = header;/;/'
mutant split_sample_without_header sample_emit_test sample_plan.hh \
	's/Ring::copy(handle, &header, sizeof(header));/;/'
mutant words_over_the_header sample_emit_test sample_plan.hh \
	's/gather(to + 1, plan/gather(to, plan/'
mutant sample_with_a_trailer sample_emit_test sample_plan.hh \
	's/gather(to + 1, plan, 0, plan.end\[PERF_SAMPLE_RUN_TAIL\]/gather(to + 1, plan, 0, plan.end[PERF_SAMPLE_RUN_ID]/'
mutant split_sample_without_tail sample_emit_test sample_plan.hh \
	's/copy_sample(place, plan, plan.end\[PERF_SAMPLE_RUN_TAIL\]/copy_sample(place, plan, plan.end[PERF_SAMPLE_RUN_MIDDLE]/'
mutant start_ends_with_the_piece sample_emit_test sample_plan.hh \
	's/handle.room > len/handle.room >= len/'
mutant start_stays_at_the_header sample_emit_test sample_plan.hh \
	's/handle.addr = to + 1 + end;/handle.addr = to + 1;/'
mutant start_keeps_its_room sample_emit_test sample_plan.hh \
	's/handle.room -= len;/;/'
mutant start_writes_the_tail_as_well sample_emit_test sample_plan.hh \
	's/copy_sample(handle, plan, end,/copy_sample(handle, plan, plan.end[PERF_SAMPLE_RUN_TAIL],/'
mutant sample_not_counted sample_emit_test sample_plan.hh \
	's/if (plan.every)/if (false)/'
mutant every_sample_wakes sample_emit_test sample_plan.hh \
	's/count_sample(ring, plan.every)/count_sample(ring, 1)/'
mutant sample_not_committed sample_emit_test sample_plan.hh \
	's/return Ring::commit(handle) ? .*;/return PERF_SAMPLE_WRITTEN;/'
mutant sample_never_wakes sample_emit_test sample_plan.hh \
	's/PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN;/PERF_SAMPLE_WRITTEN : PERF_SAMPLE_WRITTEN;/'
mutant sample_counted_after_commit sample_emit_test sample_plan.hh \
	's/if (plan.every)/const bool wake = Ring::commit(handle);\n&/; s/return Ring::commit(handle) ?/return wake ?/'
mutant every_refusal_is_full sample_emit_test sample_plan.hh \
	's/return refused;/return PERF_RING_FULL;/'
mutant backward_samples_go_forward sample_emit_test sample_plan.cc \
	's/emit<Direction::backward>/emit<Direction::forward>/'
mutant run_begins_with_the_last sample_emit_test sample_plan.hh \
	's/plan.end\[run - 1\]/plan.end[0]/'
mutant run_does_not_move_on sample_emit_test sample_plan.hh \
	's/Ring::advance(handle, len);/;/'
mutant run_leaves_its_piece sample_emit_test sample_plan.hh \
	's/handle.room >= len/handle.room + 8 >= len/'
mutant sample_takes_the_loss model_test sample_plan.hh \
	's/handle, plan.size, 0)/handle, plan.size, 16)/'
mutant refused_sample_wakes_nobody nesting_test sample_plan.hh \
	's/return refused;/return refused == PERF_RING_FULL_WAKE ? PERF_RING_FULL : refused;/'
mutant sample_counted_before_its_place nesting_test sample_plan.hh \
	's/perf_ring_handle handle;/&\nif (plan.every) Ring::count_sample(ring, plan.every);/; s/^\t\tif (plan.every)$/if (false)/'

# --- samples: sizes ---
mutant group_has_no_number sample_size_test sample_plan.cc \
	's/words += 1 + words_of_member/words += words_of_member/'
mutant leader_not_read sample_size_test sample_plan.cc \
	's/(1 + nr_siblings)/nr_siblings/'
mutant lost_not_read sample_size_test sample_plan.cc \
	's/lost = 1 << 4/lost = 1 << 5/'
mutant stack_is_no_whole_words sample_size_test sample_size.cc \
	's/return bytes & ~(word - 1);/return bytes;/'
mutant stack_forgets_one_of_its_words sample_size_test sample_size.cc \
	's/room(used, 2 \* word)/room(used, word)/'
mutant stack_ends_one_word_early sample_size_test sample_size.cc \
	's/room(used, 2 \* word)/room(used, 3 * word)/'
mutant room_wraps sample_size_test sample_size.cc \
	's/used < most ? most - used : 0/most - used/'
mutant no_stack_has_two_words sample_size_test sample_size.cc \
	's/dump ? dump + 2 \* word : word/dump + 2 * word/'
mutant aux_forgets_its_word sample_size_test sample_size.cc \
	's/room(used, word)/room(used, 0)/'
mutant aux_last_word_cut sample_size_test sample_size.cc \
	's/smaller(most, available) + word - 1/smaller(most, available)/'
mutant aux_more_than_asked sample_size_test sample_size.cc \
	's/most = whole_words(\(.*\));/most = \1;/'

# --- periods ---
mutant due_after_the_period period_test period.cc \
	's/if (\*left < 0)/if (*left <= 0)/'
mutant last_period_not_over period_test period.cc \
	's|over / period + 1|over / period|'
mutant one_period_taken_off period_test period.cc \
	's/over - passed \* period/over - period/'
mutant timer_without_limit period_test period.cc \
	's/period < PERF_CLOCK_PERIOD_MIN ? PERF_CLOCK_PERIOD_MIN : period/period/'
mutant overdue_timer_never_fires period_test period.cc \
	's/left < 0 ? PERF_CLOCK_PERIOD_MIN : //'

# --- memory order ---
mutant edge_a_relaxed thread_test primitives.hh \
	's/__atomic_load_n(&tail, __ATOMIC_ACQUIRE)/__atomic_load_n(\&tail, __ATOMIC_RELAXED)/'
mutant edge_b_relaxed thread_test primitives.hh \
	's/^\([[:space:]]*\)__ATOMIC_RELEASE);/\1__ATOMIC_RELAXED);/'
mutant header_after_publishing thread_test sample_plan.hh \
	's/return Ring::commit(handle) ?/void *const at = handle.addr; const bool wake = Ring::commit(handle); if (handle.room >= plan.size) P::copy_word(at, \&header); return wake ?/'

# shellcheck source=/dev/null # each part is checked by itself
source "$here/aux_mutants.sh"
# shellcheck source=/dev/null
source "$here/x86_mutants.sh"

fail() {
	echo "$1" >&2
	exit "${2-1}"
}

usage() {
	fail "$1; usage: ${0##*/} list plain|tsan, or run BUILD_DIR MUTANT" 2
}

list() { # plain|tsan
	local name
	for name in "${names[@]}"; do
		if [[ ${test_of[$name]} == *thread_test ]]; then
			[[ $1 != tsan ]] || echo "$name"
		else
			[[ $1 != plain ]] || echo "$name"
		fi
	done
}

# The core that a test is about, and what it is compiled and linked with.
choose_core() { # TEST
	if [[ $1 != x86_* ]]; then
		damaged=$scratch/kernel/events/ring
		libraries=("$build_dir/libcore.a")
		return
	fi
	core=$here/../../arch/x86/events/intel/emu
	damaged=$scratch/arch/x86/events/intel/emu
	# As in the kernel: the vector registers are the task's.
	flags+=(-mgeneral-regs-only -fno-strict-aliasing)
	libraries=("$build_dir/libx86_branch.a" -lZydis)
	cases='Interpreter*'
}

# A tree with the damage, as deep as ours: the core includes what lies beside it.
damage() { # NAME
	local file=$damaged/${file_of[$1]}
	mkdir -p "$(dirname "$damaged")" "$scratch/include"
	cp -r "$core" "$damaged"
	if [[ ${test_of[$1]} != x86_* ]]; then
		cp -r "$core/../aux_test" "$damaged/.."
		cp -r "$core/../../../include/linux" "$scratch/include"
	else
		mkdir -p "$scratch/drivers/hwtracing/emu"
		cp "$core/../../../../../drivers/hwtracing/emu/pt_unit.h" "$scratch/drivers/hwtracing/emu/"
	fi
	sed -i -e "${change_of[$1]}" "$file"
	! cmp -s "$file" "$core/${file_of[$1]}" ||
		fail "$1 changes nothing in ${file_of[$1]}: adapt its sed script to the code"
}

# The sources that FILE is in: itself, or all that include it, however indirectly.
sources_of() { # FILE
	local source
	[[ $1 != *.cc ]] || { echo "$damaged/$1"; return; }
	for source in "$damaged"/*.cc; do
		! "${compile[@]}" "${flags[@]}" -MM "$source" | grep -qF "/$1" || echo "$source"
	done
}

build() { # TEST FILE
	local sources source objects
	mapfile -t sources < <(sources_of "$2")
	case $1 in
	nesting_test) sources+=("$here/interruptible_ring.cc") ;;
	aux_nesting_test) sources+=("$here/interruptible_aux.cc") ;;
	esac
	for source in "${sources[@]}"; do
		"${compile[@]}" "${flags[@]}" -I"$damaged" -I"$here" -I"$uapi" -c "$source" \
			-o "$scratch/$(basename "$source").o" || return 1
	done
	mapfile -t objects <"$build_dir/mutants/$1.objects"
	"${compile[@]}" "${flags[@]}" "${objects[@]}" "$scratch"/*.o \
		"${libraries[@]}" -lgtest -lgtest_main -pthread \
		-o "$scratch/test" || return 1
}

run() { # BUILD_DIR NAME
	local name=$2 test status=0
	build_dir=$1
	test=${test_of[$name]-}
	[[ -n $test ]] || usage "There is no mutant $name"
	[[ -r $build_dir/mutants/settings ]] || usage "$build_dir is not a build of tests/host"
	# shellcheck source=/dev/null # made by CMake
	source "$build_dir/mutants/settings"

	scratch=$(mktemp -d)
	choose_core "$test"
	trap 'rm -rf "$scratch"' EXIT
	damage "$name"
	build "$test" "${file_of[$name]}" || fail "$name does not compile: adapt its sed script to the code"

	TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS-}" timeout 300 \
		"$scratch/test" --gtest_brief=1 --gtest_fail_fast --gtest_filter="$cases" >"$scratch/log" 2>&1 || status=$?
	# Red is a test that failed, a report or a crash; anything else is no proof.
	if ((status > 128)) || { ((status != 0)) &&
		grep -qE '\[  FAILED  \]|WARNING: ThreadSanitizer: data race' "$scratch/log"; }; then
		grep -m 1 -B 8 -E '\[  FAILED  \]|SUMMARY' "$scratch/log" || true
		return 0
	fi
	tail -n 20 "$scratch/log" >&2
	fail "$name was not found out by $test (exit status $status)"
}

case ${1-} in
list)
	(($# == 2)) || usage "Give a kind of build"
	list "$2"
	;;
run)
	(($# == 3)) || usage "Give a build directory and a mutant"
	run "$2" "$3"
	;;
*)
	usage "Give a command"
	;;
esac
