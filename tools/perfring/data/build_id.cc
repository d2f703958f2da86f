// SPDX-License-Identifier: GPL-2.0
#include "build_id.hh"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <functional>
#include <optional>
#include <string_view>

#include "system_files.hh"

namespace perfring::data {
namespace {

constexpr std::size_t most_notes = 1 << 20; /* bytes; far more than any file has */
constexpr std::size_t longest_id = 64;

/* @size bytes at @offset of a file or an image; nothing if it has not as many. */
using Source = std::function<std::optional<Bytes>(std::uint64_t offset, std::uint64_t size)>;

template <class T> std::optional<T> read_value(const Source &source, std::uint64_t offset)
{
	const auto bytes = source(offset, sizeof(T));

	return bytes ? load<T>(*bytes, 0) : std::nullopt;
}

Bytes notes_at(const Source &source, std::uint64_t offset, std::uint64_t size)
{
	if (size > most_notes)
		return {};

	const auto notes = source(offset, size);

	return notes ? build_id_of_notes(*notes) : Bytes{};
}

/* Segments first; what is not linked yet, as modules are, has only sections. */
template <class Header, class Segment, class Part> Bytes search(const Source &source)
{
	const auto header = read_value<Header>(source, 0);

	if (!header)
		return {};
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const auto segment =
			read_value<Segment>(source, header->e_phoff + i * sizeof(Segment));

		if (!segment)
			break;
		if (segment->p_type != PT_NOTE)
			continue;
		if (Bytes id = notes_at(source, segment->p_offset, segment->p_filesz); !id.empty())
			return id;
	}
	for (unsigned i = 0; i < header->e_shnum; i++) {
		const auto part = read_value<Part>(source, header->e_shoff + i * sizeof(Part));

		if (!part)
			break;
		if (part->sh_type != SHT_NOTE)
			continue;
		if (Bytes id = notes_at(source, part->sh_offset, part->sh_size); !id.empty())
			return id;
	}
	return {};
}

Bytes build_id_of(const Source &source)
{
	constexpr auto native =
		std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
	const auto start = source(0, EI_NIDENT);

	if (!start)
		return {};

	const std::string_view ident(reinterpret_cast<const char *>(start->data()), start->size());

	if (!ident.starts_with(ELFMAG) || ident[EI_DATA] != native)
		return {};
	if (ident[EI_CLASS] == ELFCLASS64)
		return search<Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr>(source);
	return search<Elf32_Ehdr, Elf32_Phdr, Elf32_Shdr>(source);
}

std::optional<Bytes> read_at(int fd, std::uint64_t offset, std::uint64_t size)
{
	Bytes bytes(size);
	std::size_t have = 0;

	while (have < size) {
		const ssize_t got = pread(fd, bytes.data() + have, size - have,
					  static_cast<off_t>(offset + have));

		if (got <= 0)
			return std::nullopt;
		have += static_cast<std::size_t>(got);
	}
	return bytes;
}

Bytes notes_file(const std::string &path)
{
	const auto notes = read_file(path);

	return notes ? build_id_of_notes(std::as_bytes(std::span(*notes))) : Bytes{};
}

} /* namespace */

Bytes build_id_of_notes(ByteView notes)
{
	Cursor cursor(notes);

	while (const auto note = cursor.take<Elf64_Nhdr>()) { /* the same with 32 bits */
		const auto name = cursor.take_bytes(align_up(note->n_namesz, 4));
		const auto content = cursor.take_bytes(note->n_descsz);

		if (!name || !content)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && Cursor::text(*name) == "GNU" &&
		    content->size() <= longest_id)
			return {content->begin(), content->end()};
		cursor.take_bytes(align_up(note->n_descsz, 4) - note->n_descsz);
	}
	return {};
}

Bytes build_id_of_image(ByteView image)
{
	return build_id_of([image](std::uint64_t offset, std::uint64_t size) {
		if (offset > image.size() || size > image.size() - offset)
			return std::optional<Bytes>();

		const ByteView part = image.subspan(offset, size);

		return std::optional(Bytes(part.begin(), part.end()));
	});
}

Bytes build_id_of_file(const std::string &path)
{
	/* Mapped devices and pipes: not to be waited for, and nothing to be found. */
	const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status {};
	Bytes id;

	if (fd < 0)
		return {};
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		id = build_id_of([fd](std::uint64_t offset, std::uint64_t size) {
			return read_at(fd, offset, size);
		});
	close(fd);
	return id;
}

Bytes build_id_of_kernel(const std::string &root)
{
	return notes_file(root + "/sys/kernel/notes");
}

Bytes build_id_of_module(const std::string &name, const std::string &root)
{
	return notes_file(root + "/sys/module/" + name + "/notes/.note.gnu.build-id");
}

Bytes build_id_of_vdso()
{
	const auto address = getauxval(AT_SYSINFO_EHDR);
	const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

	if (!address)
		return {};
	/* Its tables and notes are in its first page; more may not be mapped. */
	return build_id_of_image({std::bit_cast<const std::byte *>(address), page});
}

} /* namespace perfring::data */
