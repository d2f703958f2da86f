/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pt-record leaves in its folder for the tools that judge it:
 *
 *	manifest	what there is, a line each, see write_manifest()
 *	code		the bytes of all executable memory, piece after piece
 *	TASK.aux	the AUX bytes of a task, one stream
 *	TASK.steps	the addresses of its retired instructions, 8 bytes each
 *
 * A task is named by its way from the first one, which is "0"; "0.2" is the third
 * that the first has made. So the same task of two runs has the same name.
 */
#ifndef TESTS_PT_LOG_HH
#define TESTS_PT_LOG_HH

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pt_oracle {

/* Executable memory of a process: `size` bytes that stand at `offset` in "code". */
struct Region {
	std::uint64_t start = 0;
	std::uint64_t size = 0;
	std::uint64_t offset = 0;
	std::string name; /* of the mapped file; may be empty */
};

using Image = std::vector<Region>;

/* A part of a task's life in which its code is that of one image. */
struct Span {
	std::size_t image = 0;	   /* index in Manifest::images */
	std::uint64_t aux_end = 0; /* in bytes of its stream */
	std::uint64_t steps_end = 0;
};

/* What AUX and LOST records tell of missing data. */
struct Losses {
	std::uint64_t truncated = 0;
	std::uint64_t partial = 0;
	std::uint64_t collisions = 0;
	std::uint64_t records = 0; /* that did not fit in the data ring */

	std::uint64_t all() const
	{
		return truncated + partial + collisions + records;
	}
};

struct TaskLog {
	std::string name;
	int tid = 0;
	bool traced = false;
	bool stepped = false;
	Losses losses;
	std::vector<Span> spans;
};

struct Manifest {
	std::vector<Image> images;
	std::vector<TaskLog> tasks;
	int exit_status = 0; /* of the first task, as wait() has it */
};

/* Throw std::runtime_error with a sentence. */
void write_manifest(const std::filesystem::path &folder, const Manifest &manifest);
Manifest read_manifest(const std::filesystem::path &folder);

std::vector<std::uint8_t> read_bytes(const std::filesystem::path &file);
std::vector<std::uint64_t> read_words(const std::filesystem::path &file);
void write_bytes(const std::filesystem::path &file, const void *data, std::size_t size);

} // namespace pt_oracle

#endif
