#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Proof that the tests test: each mutant is the core with one line damaged, and
# the test that is responsible has to turn red.
#
#	mutants.sh list plain|tsan
#	mutants.sh run BUILD_DIR MUTANT
#
# BUILD_DIR	built by tests/host, with the preset that lists MUTANT
#
# Only the damaged file is compiled; the test's objects come from BUILD_DIR.
# Exit status: 0 the mutant was found out, 1 it was not, 2 wrong use.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# From BUILD_DIR/mutants/settings.
core=
compile=()
flags=()

names=()
declare -A test_of file_of change_of

# A mutant: NAME, the TEST that has to find it out, FILE of the core, SED script.
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

# --- memory order ---
mutant edge_a_relaxed thread_test primitives.hh \
	's/__atomic_load_n(&tail, __ATOMIC_ACQUIRE)/__atomic_load_n(\&tail, __ATOMIC_RELAXED)/'
mutant edge_b_relaxed thread_test primitives.hh \
	's/__ATOMIC_RELEASE);/__ATOMIC_RELAXED);/'

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
		if [[ ${test_of[$name]} == thread_test ]]; then
			[[ $1 != tsan ]] || echo "$name"
		else
			[[ $1 != plain ]] || echo "$name"
		fi
	done
}

damage() { # NAME
	local file=$scratch/core/${file_of[$1]}
	cp -r "$core" "$scratch/core"
	sed -i -e "${change_of[$1]}" "$file"
	! cmp -s "$file" "$core/${file_of[$1]}" ||
		fail "$1 changes nothing in ${file_of[$1]}: adapt its sed script to the code"
}

build() { # TEST
	local sources=("$scratch"/core/*.cc) source objects
	[[ $1 != nesting_test ]] || sources+=("$here/interruptible_ring.cc")
	for source in "${sources[@]}"; do
		"${compile[@]}" "${flags[@]}" -I"$scratch/core" -I"$here" -c "$source" \
			-o "$scratch/$(basename "$source").o" || return 1
	done
	mapfile -t objects <"$build_dir/mutants/$1.objects"
	"${compile[@]}" "${flags[@]}" "${objects[@]}" "$scratch"/*.o -lgtest -lgtest_main \
		-pthread -o "$scratch/test" || return 1
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
	trap 'rm -rf "$scratch"' EXIT
	damage "$name"
	build "$test" || fail "$name does not compile: adapt its sed script to the code"

	TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS-}" timeout 300 \
		"$scratch/test" --gtest_brief=1 --gtest_fail_fast >"$scratch/log" 2>&1 || status=$?
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
