// SPDX-License-Identifier: GPL-2.0
#include "pt_program.hh"

#include <algorithm>

namespace pt_test {

namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes straight_code[] = {
	{0x90},					    /* nop */
	{0x89, 0xc8},				    /* mov eax, ecx */
	{0x83, 0xc0, 0x01},			    /* add eax, 1 */
	{0x0f, 0x1f, 0x40, 0x00},		    /* nop [eax] */
	{0xb8, 0x01, 0x02, 0x03, 0x04},		    /* mov eax, number */
	{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},	    /* nop */
	{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}, /* nop */
	{0xc5, 0xf8, 0x77},			    /* vzeroupper */
	{0xf3, 0xa4},				    /* rep movsb */
};

constexpr std::size_t rel32_size = 4;

void append(Bytes &code, const Bytes &more)
{
	code.insert(code.end(), more.begin(), more.end());
}

} // namespace

/* What it is and how long; displacements later. */
void Program::shape(ring_test::Choices &choices, Instruction &instruction)
{
	const bool wide = mode == PT_UNIT_64;
	const unsigned int kind = choices.choose(40);
	Bytes &code = instruction.code;

	if (kind < 12) {
		instruction.op = Op::straight;
		code = straight_code[choices.choose(std::size(straight_code))];
	} else if (kind < 21) {
		instruction.op = Op::cond;
		code = {0x0f, static_cast<std::uint8_t>(0x80 | choices.choose(16)), 0, 0, 0, 0};
	} else if (kind < 23) {
		instruction.op = Op::jump;
		code = {0xe9, 0, 0, 0, 0};
	} else if (kind < 27) {
		instruction.op = Op::call;
		code = {0xe8, 0, 0, 0, 0};
	} else if (kind < 28) {
		instruction.op = Op::call_next;
		code = {0xe8, 0, 0, 0, 0};
	} else if (kind < 29) {
		instruction.op = Op::indirect_jump;
		code = {0xff, 0xe0};
	} else if (kind < 31) {
		instruction.op = Op::indirect_call;
		code = choices.choose(2) ? Bytes{0xff, 0xd0} : Bytes{0xff, 0x50, 0x08};
	} else if (kind < 35) {
		instruction.op = Op::ret;
		code = choices.choose(2) ? Bytes{0xc3} : Bytes{0xc2, 0x08, 0x00};
	} else if (kind < 36) {
		instruction.op = Op::far;
		code = choices.choose(2) ? Bytes{0xcf} : Bytes{0xcb};
	} else if (kind < 38) {
		instruction.op = Op::ptwrite;
		instruction.payload_size = wide && choices.choose(2) ? 8 : 4;
		code = instruction.payload_size == 8 ? Bytes{0xf3, 0x48, 0x0f, 0xae, 0xe0}
						     : Bytes{0xf3, 0x0f, 0xae, 0xe0};
	} else if (kind < 39) {
		instruction.op = Op::syscall;
		code = wide ? Bytes{0x0f, 0x05} : Bytes{0x0f, 0x34};
	} else {
		instruction.op = Op::trap;
		code = choices.choose(2) ? Bytes{0xcd, 0x80} : Bytes{0xcc};
	}
	instruction.size = static_cast<unsigned int>(code.size());
}

void Program::fill_in(std::size_t index)
{
	Instruction &instruction = code[index];
	const bool direct = instruction.op == Op::cond || instruction.op == Op::jump ||
			    instruction.op == Op::call;

	if (!direct)
		return;

	const std::uint64_t from = instruction.ip + instruction.size;
	const auto displacement = static_cast<std::uint32_t>(code[instruction.target].ip - from);

	for (std::size_t i = 0; i < rel32_size; i++)
		instruction.code[instruction.size - rel32_size + i] =
			static_cast<std::uint8_t>(displacement >> 8 * i);
}

Program::Program(ring_test::Choices &choices, pt_unit_mode in_mode, unsigned int modules,
		 unsigned int length)
	: mode(in_mode)
{
	const std::uint64_t bases[] = {0x400000, 0x55555555e000, 0x7ffff7f00ff0, 0x7ffff7fff800};
	std::vector<std::size_t> first;

	for (unsigned int m = 0; m < modules; m++) {
		std::uint64_t ip =
			mode == PT_UNIT_64 ? bases[m % std::size(bases)] : 0x8048000 + 0xfff800 * m;

		ip += choices.choose(64);
		first.push_back(code.size());
		for (unsigned int i = 0; i < length; i++) {
			Instruction instruction{};

			if (i + 1 == length) {
				/* Nothing falls off the end. */
				instruction.op = Op::indirect_jump;
				instruction.code = {0xff, 0xe0};
				instruction.size = 2;
			} else {
				shape(choices, instruction);
			}
			instruction.ip = ip;
			ip += instruction.size;
			code.push_back(instruction);
		}
	}
	for (std::size_t i = 0; i < code.size(); i++) {
		const std::size_t begin = first[i / length];
		const auto within = static_cast<unsigned int>(i - begin);
		Instruction &instruction = code[i];

		/* Within the module, which rel32 reaches. */
		instruction.target = begin + choices.choose(length);
		if (instruction.op == Op::jump || instruction.op == Op::call) {
			const unsigned int ahead = length - within - 1;

			instruction.target = i + 1 + choices.choose(ahead < 30 ? ahead : 30);
		}
		fill_in(i);
	}
	for (const std::size_t begin : first) {
		Bytes &bytes = memory[code[begin].ip];

		for (std::size_t i = begin; i < begin + length; i++)
			append(bytes, code[i].code);
	}
}

unsigned int Program::read(std::uint64_t address, std::uint8_t *to, unsigned int size) const
{
	auto module = memory.upper_bound(address);

	if (module == memory.begin())
		return 0;
	--module;

	const std::uint64_t offset = address - module->first;

	if (offset >= module->second.size())
		return 0;

	const std::uint64_t left = module->second.size() - offset;
	const auto now = static_cast<unsigned int>(std::min<std::uint64_t>(size, left));

	std::copy_n(module->second.begin() + static_cast<std::ptrdiff_t>(offset), now, to);
	return now;
}

} // namespace pt_test
