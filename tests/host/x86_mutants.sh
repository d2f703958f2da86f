#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The mutants of the interpreter of x86 instructions, for mutants.sh, which reads this.

# --- interpreter: what is the CPU's ---
mutant x86_conditional_branch_goes_anywhere x86_branch_test interpret.cc \
	's/return go(taken ? \(.*\));/to = taken ? \1; return true;/'
mutant x86_rex_hides_gs x86_branch_test operands.hh \
	's/ || (byte & 0xf0) == 0x40;/;/'
mutant x86_vzeroupper_of_32_bits x86_branch_test vector_operands.hh \
	's/return long_mode && vex/return vex/'
mutant x86_any_repeat_prefix_counts x86_branch_test translate.cc \
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
	's/((address + n - 1) & page_mask) | 1;/(address \& page_mask) | 1;/'
mutant x86_store_where_a_load_was x86_branch_test memory.hh \
	's/page.store = store ? begin | 1 : 0;/page.store = begin | 1;/'
mutant x86_operands_need_no_alignment x86_branch_test execute_vector.hh \
	's/ || (!(op.immediate & vector_vex) && where % 16)//'
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
	's/64 - (8u << machine.flags.size)/0u/'
mutant x86_upper_half_stays x86_branch_test executor.hh \
	's/if constexpr (sizeof(T) == 4)/if constexpr (sizeof(T) == 16)/'
mutant x86_vex_leaves_what_is_above x86_branch_test execute_vector.hh \
	's/else if (op.immediate & vector_vex)/else if (false)/'
