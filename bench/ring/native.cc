// SPDX-License-Identifier: GPL-2.0
/*
 * Nanoseconds for one record through a ring, on the machine that this runs on:
 * reserve, write and commit, the base's code beside ours, beside plain memcpy().
 * The reader is always up to date and costs next to nothing.
 *
 * Options are Google Benchmark's.
 */
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "writers.h"

namespace {

struct Writer {
	const char *name;
	void (*create)(bench_ring *);
	void (*destroy)(bench_ring *);
	void (*write)(bench_ring *, const uint64_t *words, unsigned int count);
};

/* A table: its first column is the limit, each other one is also set against the second. */
struct Way {
	const char *title;
	const char *key;
	std::vector<Writer> writers;
	std::vector<unsigned int> sizes;
};

const Writer limit = {"memcpy", limit_ring_create, limit_ring_destroy, limit_write};

const std::array ways = {
	Way{"word by word",
	    "fields",
	    {
		    limit,
		    {"base", base_ring_create, base_ring_destroy, base_write_fields},
		    {"ours", ours_ring_create, ours_ring_destroy, ours_write_fields},
		    {"in place", ours_ring_create, ours_ring_destroy, ours_write_in_place},
	    },
	    {16, 40, 64, 128, 1024}},
	Way{"header, then the rest in one copy",
	    "in-one",
	    {
		    limit,
		    {"base", base_ring_create, base_ring_destroy, base_write_in_one},
		    {"ours", ours_ring_create, ours_ring_destroy, ours_write_in_one},
	    },
	    {64, 128, 1024}},
	Way{"a sample's fixed part: the base word by word, ours by its gather plan",
	    "sample",
	    {
		    limit,
		    {"base", base_ring_create, base_ring_destroy, base_write_fields},
		    {"ours", ours_ring_create, ours_ring_destroy, ours_write_by_plan},
	    },
	    {8, 16, 40, 64, 128}},
};

const std::array directions = {"forward", "backward"};

std::string name_of(const Way &way, const char *direction, unsigned int size, const Writer &writer)
{
	return std::string(way.key) + '/' + direction + '/' + std::to_string(size) + '/' +
	       writer.name;
}

void measure(benchmark::State &state, const Writer &writer, bool backward, unsigned int size)
{
	static std::array<uint64_t, 128> words;
	/* The reader gives the ring back after each eighth of it. */
	constexpr unsigned int drained_after = BENCH_RING_PAGES * BENCH_PAGE / 8;
	bench_ring ring = {};
	unsigned int unread = 0;

	for (size_t i = 0; i < words.size(); i++)
		words[i] = i;
	ring.backward = backward;
	ring.size = size;
	writer.create(&ring);
	for (auto _ : state) {
		writer.write(&ring, words.data(), size / 8);
		unread += size;
		if (unread >= drained_after) {
			if (ring.data_tail)
				*ring.data_tail = *ring.data_head;
			unread = 0;
		}
	}
	const auto written = static_cast<uint64_t>(state.iterations()) * size;
	if (ring.data_head && *ring.data_head != (backward ? 0 - written : written))
		state.SkipWithError("data_head is not where the records end");
	writer.destroy(&ring);
}

void add_benchmarks()
{
	for (const Way &way : ways)
		for (const char *direction : directions)
			for (const unsigned int size : way.sizes)
				for (const Writer &writer : way.writers)
					benchmark::RegisterBenchmark(
						name_of(way, direction, size, writer).c_str(),
						[&writer, direction,
						 size](benchmark::State &state) {
							measure(state, writer,
								direction == directions[1], size);
						});
}

/* Keeps the best run of each benchmark: whatever else the machine does only adds. */
class Best final : public benchmark::BenchmarkReporter {
    public:
	bool ReportContext(const Context & /*context*/) override
	{
		return true;
	}

	void ReportRuns(const std::vector<Run> &runs) override
	{
		for (const Run &run : runs) {
			if (run.error_occurred && !failed_) {
				std::fprintf(stderr, "native: %s: %s\n",
					     run.benchmark_name().c_str(),
					     run.error_message.c_str());
				failed_ = true;
			}
			if (run.error_occurred || run.run_type != Run::RT_Iteration)
				continue;
			const double time = run.GetAdjustedCPUTime();
			const auto [at, is_new] = best_.emplace(run.run_name.function_name, time);

			if (!is_new && time < at->second)
				at->second = time;
		}
	}

	void print(const Way &way) const
	{
		const std::string prefix = std::string(way.key) + '/';
		const auto first = best_.lower_bound(prefix);

		if (first == best_.end() || first->first.compare(0, prefix.size(), prefix) != 0)
			return; /* filtered out */
		std::printf("%s\n%-10s %6s", way.title, "ring", "bytes");
		for (const Writer &writer : way.writers)
			std::printf(" %9s", writer.name);
		for (size_t i = 2; i < way.writers.size(); i++)
			std::printf(" %13s",
				    (std::string(way.writers[i].name) + '/' + way.writers[1].name)
					    .c_str());
		std::printf("\n");
		for (const char *direction : directions)
			for (const unsigned int size : way.sizes)
				print_row(way, direction, size);
		std::printf("\n");
	}

	bool failed() const
	{
		return failed_;
	}

    private:
	void print_row(const Way &way, const char *direction, unsigned int size) const
	{
		std::vector<double> times;

		for (const Writer &writer : way.writers) {
			const auto at = best_.find(name_of(way, direction, size, writer));

			if (at == best_.end())
				return; /* filtered out */
			times.push_back(at->second);
		}
		std::printf("%-10s %6u", direction, size);
		for (const double time : times)
			std::printf(" %9.2f", time);
		for (size_t i = 2; i < times.size(); i++)
			std::printf(" %13.2f", times[i] / times[1]);
		std::printf("\n");
	}

	std::map<std::string, double> best_;
	bool failed_ = false;
};

} // namespace

int main(int argc, char **argv)
{
	Best best;

	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	add_benchmarks();
	benchmark::RunSpecifiedBenchmarks(&best);
	std::printf("ns per record, natively on this machine; the best of several runs\n\n");
	for (const Way &way : ways)
		best.print(way);
	return best.failed();
}
