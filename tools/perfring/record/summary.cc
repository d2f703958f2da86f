// SPDX-License-Identifier: GPL-2.0
#include "summary.hh"

#include "text.hh"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace perfring::record {
namespace {

std::string place_of(const RingMap &ring)
{
	return ring.cpu >= 0 ? fmt::format("CPU {}", ring.cpu) : fmt::format("task {}", ring.tid);
}

void print_samples(std::FILE *to, const Summary &all)
{
	constexpr const char *why[causes] = {"no room in the kernel's ring",
					     "lost by the kernel or the PMU", "not in the file"};
	const Ledger &ledger = all.ledger;

	for (std::size_t event = 0; event < ledger.events(); event++)
		for (std::size_t ring = 0; ring < ledger.rings(); ring++)
			for (std::size_t cause = 0; cause < causes; cause++) {
				const auto lost =
					ledger.lost(static_cast<Cause>(cause), ring, event);

				if (lost)
					fmt::print(to,
						   "  {:<24} {:<10} lost {:>10} of {:>10}: {}\n",
						   all.events.events()[event].name,
						   place_of(*all.events.rings()[ring]), lost,
						   lost + ledger.kept(ring, event), why[cause]);
			}
}

void print_aux(std::FILE *to, const std::string &place, const AuxLoss &aux)
{
	if (aux.truncated || aux.partial || aux.collisions)
		fmt::print(to, "  {:<24} {:<10} {} times truncated, {} with a gap, {} collisions\n",
			   "AUX area", place, aux.truncated, aux.partial, aux.collisions);
	if (aux.bytes)
		fmt::print(to, "  {:<24} {:<10} {} bytes lost, as the kernel says\n", "AUX area",
			   place, aux.bytes);
	if (aux.output_bytes)
		fmt::print(to, "  {:<24} {:<10} {} bytes read, but not in the file\n", "AUX area",
			   place, aux.output_bytes);
}

void print_rings(std::FILE *to, const Summary &all)
{
	for (std::size_t ring = 0; ring < all.ledger.rings(); ring++) {
		const RingLoss loss = all.ledger.ring(ring);
		const std::string place = place_of(*all.events.rings()[ring]);

		print_aux(to, place, loss.aux);
		if (loss.damage_times)
			fmt::print(to, "  {:<24} {:<10} damaged {} times, {} bytes passed over\n",
				   "ring", place, loss.damage_times, loss.damage_bytes);
		if (loss.throttled)
			fmt::print(
				to,
				"  {:<24} {:<10} throttled {} times: the kernel took no samples\n",
				"ring", place, loss.throttled);
	}
}

} /* namespace */

void print_summary(std::FILE *to, const Summary &all)
{
	const std::string place = all.to_stdout	      ? "stdout"
				  : all.files.empty() ? ""
						      : all.files.back();

	if (all.output_error)
		fmt::print(to, "perfring record: {}: {}\n", place, error_text(all.output_error));
	for (std::size_t i = 0; i + 1 < all.files.size(); i++)
		fmt::print(to, "perfring record: {}\n", all.files[i]);
	fmt::print(to, "perfring record: {} samples, {} in {}, lost {}\n", all.ledger.kept_total(),
		   human_bytes(static_cast<double>(all.bytes)), place, all.ledger.lost_total());
	/* Who maps an area decides this, and it is nowhere else to be seen. */
	if (const auto aux = all.events.aux())
		fmt::print(to, "perfring record: AUX areas of {}, {}\n",
			   human_bytes(static_cast<double>(aux->aux_bytes)),
			   aux->snapshot ? "overwriting: what snapshots have taken" : "in full");
	print_samples(to, all);
	print_rings(to, all);
}

} /* namespace perfring::record */
