// SPDX-License-Identifier: GPL-2.0
#include "steps.hh"

#include <algorithm>
#include <unordered_map>

namespace pt_oracle {

Code::Code(const std::filesystem::path &folder, const Manifest &code_manifest)
	: manifest(code_manifest),
	  bytes(read_bytes(folder / "code"))
{
}

const Region *Code::find(std::size_t image, std::uint64_t ip) const
{
	for (const Region &region : manifest.images[image])
		if (ip - region.start < region.size)
			return &region;
	return nullptr;
}

std::span<const std::uint8_t> Code::at(std::size_t image, std::uint64_t ip) const
{
	const Region *region = find(image, ip);

	if (!region)
		return {};
	const std::uint64_t inside = ip - region->start;
	return std::span(bytes).subspan(region->offset + inside, region->size - inside);
}

const std::string &Code::name(std::size_t image, std::uint64_t ip) const
{
	static const std::string none;
	const Region *region = find(image, ip);

	return region ? region->name : none;
}

namespace {

enum class Kind {
	plain,
	repeated,
	interrupt,
	holds_off, /* the next instruction's step */
};

struct Shape {
	Kind kind = Kind::plain;
	unsigned int length = 0; /* where kind is holds_off */
};

bool is_legacy_prefix(unsigned int byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

bool is_string_operation(unsigned int opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
	       (opcode >= 0x6c && opcode <= 0x6f);
}

/* SDM volume 2, chapter "Instruction Format". */
Shape shape_of(std::span<const std::uint8_t> code)
{
	unsigned int at = 0;
	bool repeats = false;

	while (at < code.size() && is_legacy_prefix(code[at])) {
		repeats = repeats || code[at] == 0xf2 || code[at] == 0xf3;
		at++;
	}
	if (at < code.size() && (code[at] & 0xf0) == 0x40)
		at++; /* REX; a whole instruction in 32-bit code, of none of the kinds below */
	if (at + 1 >= code.size())
		return {};
	const unsigned int opcode = code[at], operand = code[at + 1];
	if (repeats && is_string_operation(opcode))
		return {Kind::repeated, 0};
	if (at == 0 && (opcode == 0xcd || opcode == 0xcc || opcode == 0xf1))
		return {Kind::interrupt, 0};
	/* MOV SS, register: mod is 3, reg is SS. */
	if (opcode == 0x8e && (operand & 0xf8) == 0xd0)
		return {Kind::holds_off, at + 2};
	if (opcode == 0x17)
		return {Kind::holds_off, at + 1};
	return {};
}

} // namespace

std::vector<std::uint64_t> retirements(const std::vector<std::uint64_t> &steps,
				       const std::vector<Span> &spans, const Code &code)
{
	std::vector<std::uint64_t> all;
	std::size_t at = 0;

	all.reserve(steps.size());
	for (const Span &span : spans) {
		std::unordered_map<std::uint64_t, Shape> known;

		for (; at < std::min<std::uint64_t>(span.steps_end, steps.size()); at++) {
			const std::uint64_t ip = steps[at];
			auto found = known.find(ip);

			if (found == known.end())
				found = known.emplace(ip, shape_of(code.at(span.image, ip))).first;
			const Shape shape = found->second;
			if (shape.kind == Kind::interrupt)
				continue;
			if (shape.kind == Kind::repeated && at + 1 < steps.size() &&
			    steps[at + 1] == ip)
				continue; /* counts with its last iteration */
			all.push_back(ip);
			if (shape.kind == Kind::holds_off)
				all.push_back(ip + shape.length);
		}
	}
	return all;
}

} // namespace pt_oracle
