# SPDX-License-Identifier: GPL-2.0
#
# The x86 side of the emulated trace hardware.

set(x86_emu ${CMAKE_CURRENT_SOURCE_DIR}/../../arch/x86/events/intel/emu)

find_path(ZYDIS_HEADERS Zydis/Zydis.h)
find_library(ZYDIS Zydis)
if(NOT ZYDIS_HEADERS OR NOT ZYDIS)
	message(FATAL_ERROR "Zydis is missing: install libzydis-dev.")
endif()

add_library(x86_branch STATIC ${x86_emu}/decode.cc ${x86_emu}/branch.cc
	${x86_emu}/run.cc ${x86_emu}/translate.cc ${x86_emu}/interpret.cc ${x86_emu}/session.cc
	${x86_emu}/entries.cc)
# As in the kernel: the vector registers are the task's.
target_compile_options(x86_branch PRIVATE -mgeneral-regs-only -fno-strict-aliasing)
target_include_directories(x86_branch PUBLIC ${x86_emu})

if(NOT PERFRING_SANITIZE STREQUAL "thread")
	host_test(x86_branch_test x86_branch/classify_test.cc x86_branch/execute_test.cc
		x86_branch/run_test.cc x86_branch/interpret_test.cc x86_branch/entries_test.cc
		x86_branch/interpret_cases_test.cc x86_branch/interpret_memory_test.cc
		x86_branch/duel_test.cc x86_branch/guest.cc)
	target_include_directories(x86_branch_test_objects PRIVATE ${x86_emu})
	target_link_libraries(x86_branch_test x86_branch ${ZYDIS})
endif()
