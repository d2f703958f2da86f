// SPDX-License-Identifier: GPL-2.0
#include <linux/perf_event.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "build_id.hh"
#include "format.hh"
#include "observations_state.hh"
#include "system_files.hh"
#include "writer.hh"

namespace perfring::data {
namespace {

/* Where things are in the kernel's records; linux/perf_event.h has them in a comment. */
constexpr std::size_t mmap_name = 40;
constexpr std::size_t mmap2_id_size = 40; /* one byte, with MISC_MMAP_BUILD_ID */
constexpr std::size_t mmap2_id = 44;
constexpr std::size_t mmap2_name = 72;
constexpr std::uint16_t has_build_id = 1 << 14;

/* The id that the kernel has read from the file itself. */
Bytes recorded_id(ByteView record)
{
	const auto size = load<std::uint8_t>(record, mmap2_id_size).value_or(0);

	if (size > max_build_id || mmap2_id + size > record.size())
		return {};

	const ByteView id = record.subspan(mmap2_id, size);

	return {id.begin(), id.end()};
}

/* "/lib/modules/6.1.0/kernel/fs/ext4.ko.xz", "[ext4]": the module is ext4. */
std::string module_of(std::string_view name)
{
	if (name.starts_with('['))
		return std::string(name.substr(1, name.find(']') - 1));
	name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));

	std::string module(name.substr(0, name.find(".ko")));

	std::ranges::replace(module, '-', '_');
	return module;
}

constexpr std::string_view kernel_name = "[kernel.kallsyms]";

Bytes find_id(const std::string &name, bool kernel)
{
	if (name == kernel_name)
		return build_id_of_kernel();
	if (kernel)
		return build_id_of_module(module_of(name));
	if (name == "[vdso]")
		return build_id_of_vdso();
	return name.starts_with('/') ? build_id_of_file(name) : Bytes{};
}

} /* namespace */

Mapped &Observations::State::find(const std::string &name)
{
	const auto [entry, is_new] = mappings.try_emplace(name);

	if (is_new)
		order.push_back(name);
	return entry->second;
}

void Observations::State::note_mapping(ByteView record, const perf_event_header &header)
{
	const bool with_attributes = header.type == PERF_RECORD_MMAP2;
	const std::size_t at = with_attributes ? mmap2_name : mmap_name;

	if (header.misc & PERF_RECORD_MISC_MMAP_DATA || record.size() <= at)
		return;

	std::string name(Cursor::text(record.subspan(at)));
	const bool kernel =
		(header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;

	/* The symbol behind it says where the kernel is, not what it is. */
	if (kernel && name.starts_with(kernel_name))
		name = kernel_name;

	Mapped &mapped = find(name);

	mapped.kernel = kernel;
	if (with_attributes && header.misc & has_build_id)
		mapped.id = recorded_id(record);
}

Bytes Observations::State::build_ids() const
{
	Builder section;

	for (const auto &name : order) {
		const Mapped &mapped = mappings.at(name);
		const Bytes id = mapped.id.empty() ? find_id(name, mapped.kernel) : mapped.id;

		if (!id.empty())
			section.append(build_id(name, id, mapped.kernel));
	}
	return section.take();
}

Observations::Observations() : state(std::make_unique<State>())
{
}

Observations::~Observations() = default;
Observations::Observations(Observations &&) noexcept = default;
Observations &Observations::operator=(Observations &&) noexcept = default;

void Observations::observe(std::span<const std::byte> record)
{
	const auto header = load<perf_event_header>(record, 0);

	if (header && (header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2))
		state->note_mapping(record, *header);
}

void Observations::sample_time(std::uint64_t first, std::uint64_t last)
{
	state->first = std::min(state->first, first);
	state->last = std::max(state->last, last);
}

void Observations::merge(const Observations &other)
{
	sample_time(other.state->first, other.state->last);
	for (const auto &name : other.state->order) {
		const Mapped &mapped = other.state->mappings.at(name);
		Mapped &ours = state->find(name);

		if (ours.id.empty())
			ours = mapped;
	}
}

} /* namespace perfring::data */
