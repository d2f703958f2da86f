#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The mutants of the interpreter of x86 instructions, for mutants.sh, which reads this.

# --- interpreter: what is the CPU's ---
mutant x86_conditional_branch_goes_anywhere x86_branch_test run.cc \
	's/return direct && .*;/return direct \&\& false;/'
mutant x86_rex_hides_gs x86_branch_test operands.hh \
	's/ || (byte & 0xf0) == 0x40;/;/'
mutant x86_vzeroupper_of_32_bits x86_branch_test vector_operands.hh \
	's/return long_mode && vex/return vex/'
mutant x86_any_repeat_prefix_counts x86_branch_test operands.hh \
	's/(d.prefixes & repeats) == repeats/false/'
mutant x86_goes_beyond_4_gib x86_branch_test translate.cc \
	's/return run.mode != 2 &&/return false \&\&/'
mutant x86_third_register_is_ignored x86_branch_test vector_operands.hh \
	's/return !other;/return true;/'
mutant x86_division_overflows x86_branch_test native.hh \
	's/if (high >= by)/if (!by)/'
mutant x86_lowest_number_is_divided x86_branch_test native.hh \
	's/(by == static_cast<T>(~T(0)) && low == top)/false/'

# --- interpreter: memory ---
mutant x86_access_of_two_pages x86_branch_test memory.hh \
	's/((address + n - 1) & page_mask) | memory/(address \& page_mask) | memory/'
mutant x86_store_where_a_load_was x86_branch_test memory.hh \
	's/page.store = store ? page.load : 0;/page.store = page.load;/'
mutant x86_operands_need_no_alignment x86_branch_test execute_vector.hh \
	's/ && where % 16))$/ \&\& false))/'
mutant x86_moves_need_no_alignment x86_branch_test execute_vector.hh \
	's/ || (op.immediate & vector_aligned && where % bytes)//'
mutant x86_relative_to_the_instruction x86_branch_test operands.hh \
	's/ + offset + d.length;/ + offset;/'
mutant x86_pushes_before_it_stores x86_branch_test execute_general.hh \
	's/if (!store_at<u64>(where, value))/put<u64>(sp, where); &/'

# --- interpreter: registers and flags ---
mutant x86_rotation_by_an_immediate_sets_of x86_branch_test execute_general.hh \
	's/now = (now & ~overflow) | (before & overflow);/;/'
mutant x86_pending_flags_are_not_asked x86_branch_test flags.hh \
	'/All flags;/,/return/s/settle();/;/'
mutant x86_narrow_operands_have_no_sign x86_branch_test flags.hh \
	's/return 64 - (8u << size);/return 0u;/'
mutant x86_upper_half_stays x86_branch_test executor.hh \
	's/if constexpr (sizeof(T) == 4)/if constexpr (sizeof(T) == 16)/'
mutant x86_vex_leaves_what_is_above x86_branch_test execute_vector.hh \
	's/else if (op.immediate & vector_vex)/else if (false)/'
mutant x86_step_forgets_carry x86_branch_test flags.hh \
	's/^\t\tkeep_carry();$/;/'
mutant x86_shift_by_0_sets_flags x86_branch_test execute_general.hh \
	's/^\tif (!count)$/\tif (false)/'
mutant x86_carry_of_a_step x86_branch_test flags.hh \
	's/(of > of_logic && (which == 1 || which == 3)))/false)/'

# --- interpreter: sessions ---
mutant x86_session_settles_no_flags x86_branch_test session.cc \
	's/^\t\tinterpreter.finish();/;/'
mutant x86_session_tells_no_rest x86_branch_test session.cc \
	'/interpreter.finish/,/return retired/s/tell_rest();/;/'
mutant x86_memory_is_never_forgotten x86_branch_test session.cc \
	's/memory->generation += 2;/;/'

# --- interpreter: vectors ---
mutant x86_all_comparisons_are_for_equality x86_branch_test execute_float.hh \
	's/compare_floats(static_cast<u8>(op.immediate), kind/compare_floats(0, kind/'
mutant x86_unordered_is_unknown x86_branch_test floats.hh \
	's/return flags >> 8 & (zero | parity | carry);/return flags >> 8 \& (zero | carry);/'
mutant x86_count_of_a_wide_shift x86_branch_test vector_operands.hh \
	's/return !wide && binary(d.opcode);/return binary(d.opcode);/'
mutant x86_string_index x86_branch_test strings.hh \
	's/return static_cast<unsigned>(index);/return static_cast<unsigned>(index) \& 15;/'
mutant x86_inserts_anywhere x86_branch_test execute_vector.hh \
	's/((16u >> log) - 1)/15u/'
