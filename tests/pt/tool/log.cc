// SPDX-License-Identifier: GPL-2.0
#include "log.hh"

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace pt_oracle {

void write_bytes(const std::filesystem::path &file, const void *data, std::size_t size)
{
	std::ofstream out(file, std::ios::binary);

	out.write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
	out.close();
	if (!out)
		throw std::runtime_error("cannot write " + file.string());
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path &file)
{
	std::ifstream in(file, std::ios::binary);
	std::vector<std::uint8_t> bytes;

	if (in)
		bytes.resize(std::filesystem::file_size(file));
	in.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	if (!in)
		throw std::runtime_error("cannot read " + file.string());
	return bytes;
}

std::vector<std::uint64_t> read_words(const std::filesystem::path &file)
{
	const std::vector<std::uint8_t> bytes = read_bytes(file);
	std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));

	std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint64_t));
	return words;
}

void write_manifest(const std::filesystem::path &folder, const Manifest &manifest)
{
	std::ostringstream out;

	out << "exit " << manifest.exit_status << '\n';
	for (const Image &image : manifest.images) {
		out << "image\n";
		for (const Region &region : image)
			out << "region " << region.start << ' ' << region.size << ' '
			    << region.offset << ' ' << region.name << '\n';
	}
	for (const TaskLog &task : manifest.tasks) {
		out << "task " << task.name << ' ' << task.tid << ' ' << task.traced << ' '
		    << task.stepped << '\n';
		out << "losses " << task.losses.truncated << ' ' << task.losses.partial << ' '
		    << task.losses.collisions << ' ' << task.losses.records << '\n';
		for (const Span &span : task.spans)
			out << "span " << span.image << ' ' << span.aux_end << ' ' << span.steps_end
			    << '\n';
	}
	const std::string text = out.str();
	write_bytes(folder / "manifest", text.data(), text.size());
}

namespace {

/* Takes one line; false if it is none of a manifest. */
bool read_line(std::istringstream &line, Manifest &manifest)
{
	std::string what;

	line >> what;
	if (what == "exit") {
		line >> manifest.exit_status;
	} else if (what == "image") {
		manifest.images.emplace_back();
		return true;
	} else if (what == "region" && !manifest.images.empty()) {
		Region region;

		line >> region.start >> region.size >> region.offset;
		if (!line)
			return false;
		std::getline(line >> std::ws, region.name);
		manifest.images.back().push_back(region);
		return true;
	} else if (what == "task") {
		TaskLog task;

		line >> task.name >> task.tid >> task.traced >> task.stepped;
		manifest.tasks.push_back(task);
	} else if (what == "losses" && !manifest.tasks.empty()) {
		Losses &losses = manifest.tasks.back().losses;

		line >> losses.truncated >> losses.partial >> losses.collisions >> losses.records;
	} else if (what == "span" && !manifest.tasks.empty()) {
		Span span;

		line >> span.image >> span.aux_end >> span.steps_end;
		if (span.image >= manifest.images.size())
			return false;
		manifest.tasks.back().spans.push_back(span);
	} else {
		return false;
	}
	return static_cast<bool>(line);
}

} // namespace

Manifest read_manifest(const std::filesystem::path &folder)
{
	std::ifstream in(folder / "manifest");
	Manifest manifest;
	std::string text;

	while (std::getline(in, text)) {
		std::istringstream line(text);

		if (!read_line(line, manifest))
			throw std::runtime_error("not a line of a manifest: " + text);
	}
	if (manifest.tasks.empty())
		throw std::runtime_error("no recording in " + folder.string());
	return manifest;
}

} // namespace pt_oracle
