/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A perf.data file from its beginning to its end. Whatever happens on the way, a full
 * disk or the end of the recorder, what is there can be read.
 */
#ifndef PERFRING_RECORD_OUTPUT_FILE_HH
#define PERFRING_RECORD_OUTPUT_FILE_HH

#include "data/writer.hh"
#include "output.hh"

#include <functional>
#include <memory>
#include <string>

namespace perfring::record {

/* A part of an event's loss, to be told in the file. */
struct LossNote {
	std::size_t event;
	std::size_t ring;
	std::uint64_t count;
	std::uint64_t time;
};

class OutputFile {
    public:
	/*
	 * Creates it; one that is there becomes path.old. "-": stdout. Throws UserError. Then
	 * start() writes what stands in front.
	 */
	OutputFile(std::string path, const data::Writer &writer, std::uint64_t dirty_limit,
		   Ledger &ledger, Recount recount);

	/* Records of the beginning. Returns 0 or an errno. */
	int start();

	/* From time to time: makes what is there so far readable, should we be killed. */
	void checkpoint();

	/*
	 * With nothing in flight. Returns 0 or an errno; what is on the disk can be read in
	 * any case if start() has succeeded. losses: asked again when records have had to
	 * make room for what stands at the end. behind: goes behind everything else.
	 */
	int finish(const data::Outcome &outcome,
		   const std::function<std::vector<LossNote>()> &losses,
		   std::span<const std::byte> behind);

	const std::shared_ptr<Output> &output() const
	{
		return out;
	}
	const std::string &path() const
	{
		return file_path;
	}
	/* Size of all, after finish(). */
	std::uint64_t size() const
	{
		return file_size;
	}

    private:
	int write_losses(const std::vector<LossNote> &losses);
	int write_tail(const data::Outcome &so_far, std::uint64_t &wanted);
	void write_last_checkpoint();

	std::string file_path;
	const data::Writer &writer;
	std::shared_ptr<Output> out;
	std::uint64_t last_checkpoint = 0; /* where its record begins; 0: none */
	std::uint64_t file_size = 0;
	bool header_is_current = false;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_OUTPUT_FILE_HH */
