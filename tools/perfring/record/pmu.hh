/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PMU as sysfs describes it (ABI/testing/sysfs-bus-event_source-devices-format and
 * -events): which bits of the attributes its terms stand for.
 */
#ifndef PERFRING_RECORD_PMU_HH
#define PERFRING_RECORD_PMU_HH

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfring::record {

/* Bits of attr.config, config1 ... that hold a term's value, lowest first. */
struct TermFormat {
	unsigned word = 0; /* 0: config, 1: config1, 2: config2, 3: config3 */
	std::uint64_t mask = 0;
};

/* "config1:0-7,16": nothing if it cannot be read. */
std::optional<TermFormat> parse_format(std::string_view text);

/* Spreads a value over the bits of mask, lowest first. Nothing if it does not fit. */
std::optional<std::uint64_t> spread(std::uint64_t value, std::uint64_t mask);

/* The word of the attributes that a format names. */
__u64 &config_word(perf_event_attr &attr, unsigned word);

class Pmu {
    public:
	/* devices: the folder of all PMUs. Nothing if there is none of this name. */
	static std::optional<Pmu> find(const std::string &devices, std::string_view name);

	/*
	 * Sets what a term says. Throws UserError with the terms that there are, if this is
	 * none. value: 1 if none was given.
	 */
	void apply_term(perf_event_attr &attr, std::string_view term,
			std::optional<std::uint64_t> value) const;

	/* The terms of one of the PMU's named events ("event=0x3c,umask=1"), or nothing. */
	std::optional<std::string> event_terms(std::string_view event) const;
	std::optional<std::string> event_attribute(std::string_view event,
						   std::string_view attribute) const;

	/* CPUs that its events are opened on; empty: all. */
	std::vector<int> cpus() const;

	/* Whether its events fill AUX areas. */
	bool has_aux() const;

	/* A setting that makes its trace decodable, for PMUs that have one. */
	void apply_defaults(perf_event_attr &attr) const;

	std::uint32_t type = 0;
	std::string name;

    private:
	std::string path;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_PMU_HH */
