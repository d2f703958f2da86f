/* SPDX-License-Identifier: GPL-2.0 */
/* Takes pictures of the executable memory of processes, each content once. */
#ifndef TESTS_PT_CODE_STORE_HH
#define TESTS_PT_CODE_STORE_HH

#include "log.hh"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace pt_oracle {

class CodeStore {
    public:
	/* The file "code" in @folder. */
	explicit CodeStore(const std::filesystem::path &folder);

	/* The code of a process whose tasks are stopped, or of which only one runs. */
	Image picture(pid_t pid);

	/* Throws if something could not be written. */
	void close();

    private:
	std::uint64_t keep(const std::string &bytes);

	std::ofstream file;
	std::uint64_t written = 0;
	/* By hash and size. */
	std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> known;
};

} // namespace pt_oracle

#endif
