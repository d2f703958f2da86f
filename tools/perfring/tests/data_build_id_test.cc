// SPDX-License-Identifier: GPL-2.0
/* Build ids: of files, of notes, and of what only looks like them. */
#include "data_support.hh"

#include <elf.h>

#include "data/build_id.hh"

namespace perfring::data {
namespace {

std::string hex(ByteView bytes)
{
	std::string text;

	for (const std::byte byte : bytes) {
		char digits[3];

		std::snprintf(digits, sizeof(digits), "%02x", std::to_integer<unsigned>(byte));
		text += digits;
	}
	return text;
}

Bytes note(std::uint32_t type, const std::string &name, std::size_t size)
{
	Builder out;

	out.put(Elf64_Nhdr{static_cast<std::uint32_t>(name.size() + 1),
			   static_cast<std::uint32_t>(size), type});
	out.append(name);
	out.zeros(align_up(name.size() + 1, 4) - name.size());
	for (std::size_t i = 0; i < size; i++)
		out.put(static_cast<std::uint8_t>(0xa0 + i));
	out.align(4);
	return out.take();
}

TEST(BuildId, IsTheOneThatPerfFinds)
{
	const std::string self = std::filesystem::read_symlink("/proc/self/exe");

	for (const std::string &path : {self, std::string("/bin/ls")})
		EXPECT_EQ(hex(build_id_of_file(path)) + "\n",
			  run("perf buildid-list -i " + path).text)
			<< path;
	EXPECT_EQ(hex(build_id_of_kernel()) + "\n", run("perf buildid-list -k").text);
	EXPECT_EQ(build_id_of_vdso().size(), 20U);
}

TEST(BuildId, IsFoundBehindOtherNotes)
{
	Builder notes;

	notes.append(note(1, "GNU", 16));
	notes.append(note(NT_GNU_BUILD_ID, "Xen", 5));
	notes.append(note(NT_GNU_BUILD_ID, "GNU", 20));
	EXPECT_EQ(hex(build_id_of_notes(notes.take())), "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
}

TEST(BuildId, CutOrAbsurdNotesHaveNone)
{
	const Bytes good = note(NT_GNU_BUILD_ID, "GNU", 20);

	for (std::size_t size = 0; size < good.size(); size++)
		EXPECT_TRUE(build_id_of_notes(ByteView(good).first(size)).empty()) << size;
	for (const std::size_t at : {0UL, 4UL}) {
		Bytes wrong = good;

		std::fill_n(wrong.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{0xff});
		EXPECT_TRUE(build_id_of_notes(wrong).empty());
	}
	EXPECT_TRUE(build_id_of_notes(note(NT_GNU_BUILD_ID, "GNU", 1000)).empty());
}

TEST(BuildId, WhatIsNoElfHasNone)
{
	EXPECT_TRUE(build_id_of_file("/proc/self/maps").empty());
	EXPECT_TRUE(build_id_of_file("/dev/null").empty());
	EXPECT_TRUE(build_id_of_file("/").empty());
	EXPECT_TRUE(build_id_of_file("/nowhere").empty());
}

/* Our own image, with each byte of its headers damaged: nothing but that it ends. */
TEST(BuildId, DamagedImagesEnd)
{
	Bytes image = load_file("/proc/self/exe");

	ASSERT_FALSE(build_id_of_image(image).empty());
	image.resize(8192);
	for (std::size_t i = 0; i < 1024; i++) {
		const std::byte was = image[i];

		for (const unsigned value : {0U, 1U, 0x7fU, 0xffU}) {
			image[i] = std::byte(value);
			EXPECT_LE(build_id_of_image(image).size(), 64U);
		}
		image[i] = was;
	}
}

} /* namespace */
} /* namespace perfring::data */
