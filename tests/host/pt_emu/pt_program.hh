/* SPDX-License-Identifier: GPL-2.0 */
/* Random programs of real instructions, for an interpreter that flips coins. */
#ifndef TESTS_PT_EMU_PT_PROGRAM_HH
#define TESTS_PT_EMU_PT_PROGRAM_HH

#include <cstdint>
#include <map>
#include <vector>

#include "choices.hh"
#include "pt_unit.h"

namespace pt_test {

enum class Op {
	straight,
	cond,
	jump,
	call,
	call_next,
	indirect_jump,
	indirect_call,
	ret,
	far,
	ptwrite,
	syscall,
	trap,
};

struct Instruction {
	Op op;
	std::uint64_t ip;
	unsigned int size;
	std::size_t target; /* index, of direct branches */
	unsigned int payload_size;
	std::vector<std::uint8_t> code;
};

/*
 * Some modules of code, far apart. Direct jumps and calls lead forwards: a loop without
 * a packet cannot be told from its first round, by hardware's trace neither.
 */
class Program {
    public:
	Program(ring_test::Choices &choices, pt_unit_mode mode, unsigned int modules,
		unsigned int length);

	std::vector<Instruction> code;
	pt_unit_mode mode;

	/* Up to @size bytes of memory at @address; how many there are. */
	unsigned int read(std::uint64_t address, std::uint8_t *to, unsigned int size) const;

    private:
	void shape(ring_test::Choices &choices, Instruction &instruction);
	void fill_in(std::size_t index);

	std::map<std::uint64_t, std::vector<std::uint8_t>> memory;
};

} // namespace pt_test

#endif
