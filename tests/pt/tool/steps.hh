/* SPDX-License-Identifier: GPL-2.0 */
/* From single steps to the instructions that a trace shows. */
#ifndef TESTS_PT_STEPS_HH
#define TESTS_PT_STEPS_HH

#include "log.hh"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace pt_oracle {

/* The bytes of a recording's code. */
class Code {
    public:
	Code(const std::filesystem::path &folder, const Manifest &manifest);

	/* What is known from @ip on, nothing if that is in no region. */
	std::span<const std::uint8_t> at(std::size_t image, std::uint64_t ip) const;

	/* The region's name, or "". */
	const std::string &name(std::size_t image, std::uint64_t ip) const;

    private:
	const Region *find(std::size_t image, std::uint64_t ip) const;

	const Manifest &manifest;
	std::vector<std::uint8_t> bytes;
};

/*
 * The steps of a task, less what is a step and no retirement, plus what is a
 * retirement and no step:
 *
 *	each iteration of a repeated string instruction is a step; it retires once
 *	a software interrupt does not retire: the trace tells it like a fault
 *	the instruction after MOV SS and POP SS retires with it in one step
 */
std::vector<std::uint64_t> retirements(const std::vector<std::uint64_t> &steps,
				       const std::vector<Span> &spans, const Code &code);

} // namespace pt_oracle

#endif
