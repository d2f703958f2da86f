// SPDX-License-Identifier: GPL-2.0
#include "pt_oracle.hh"

#include <intel-pt.h>

#include <memory>
#include <sstream>

namespace pt_test {

namespace {

int read_memory(std::uint8_t *buffer, std::size_t size, const pt_asid * /*asid*/, std::uint64_t ip,
		void *context)
{
	const ReadCode &code = *static_cast<const ReadCode *>(context);
	const unsigned int got = code(ip, buffer, static_cast<unsigned int>(size));

	return got ? static_cast<int>(got) : -pte_nomap;
}

pt_config config_of(std::vector<std::uint8_t> &trace)
{
	pt_config config;

	pt_config_init(&config);
	config.begin = trace.data();
	config.end = trace.data() + trace.size();
	config.cpuid_0x15_eax = 1;
	config.cpuid_0x15_ebx = 1;
	config.mtc_freq = 3;
	config.nom_freq = 30;
	return config;
}

pt_unit_mode mode_of(pt_exec_mode mode)
{
	return mode == ptem_64bit ? PT_UNIT_64 : mode == ptem_32bit ? PT_UNIT_32 : PT_UNIT_16;
}

class InstructionDecoder {
    public:
	InstructionDecoder(std::vector<std::uint8_t> &trace, const ReadCode &code)
		: config(config_of(trace)),
		  reader(code),
		  image(pt_image_alloc("code"), pt_image_free),
		  decoder(pt_insn_alloc_decoder(&config), pt_insn_free_decoder)
	{
		pt_image_set_callback(image.get(), read_memory, &reader);
		pt_insn_set_image(decoder.get(), image.get());
	}

	Decoded run()
	{
		int status = pt_insn_sync_forward(decoder.get());

		if (status < 0)
			return fail("synchronise", status);
		for (;;) {
			while (status & pts_event_pending) {
				pt_event event;

				status = pt_insn_event(decoder.get(), &event, sizeof(event));
				if (status < 0)
					return fail("event", status);
				note(event);
			}
			if (status & pts_eos)
				return result;

			pt_insn instruction;

			status = pt_insn_next(decoder.get(), &instruction, sizeof(instruction));
			if (instruction.iclass != ptic_error)
				result.items.push_back({Item::instruction, instruction.ip, 0,
							mode_of(instruction.mode), offset()});
			if (status == -pte_eos)
				return result;
			if (status < 0)
				return fail("instruction", status);
		}
	}

    private:
	std::uint64_t offset() const
	{
		std::uint64_t now = 0;

		pt_insn_get_offset(decoder.get(), &now);
		return now;
	}

	void note(const pt_event &event)
	{
		switch (event.type) {
		case ptev_enabled:
			result.items.push_back(
				{Item::enabled, event.variant.enabled.ip, 0, PT_UNIT_64, offset()});
			break;
		case ptev_overflow:
			result.items.push_back({Item::gap, 0, 0, PT_UNIT_64, offset()});
			break;
		case ptev_stop:
			result.items.push_back({Item::stop, 0, 0, PT_UNIT_64, offset()});
			break;
		case ptev_ptwrite:
			result.items.push_back({Item::ptwrite, event.variant.ptwrite.ip,
						event.variant.ptwrite.payload, PT_UNIT_64,
						offset()});
			break;
		default:
			break;
		}
	}

	Decoded fail(const char *at, int status)
	{
		std::uint64_t offset = 0;
		std::ostringstream text;

		if (status == -pte_eos)
			return result;
		pt_insn_get_offset(decoder.get(), &offset);
		text << at << " at offset 0x" << std::hex << offset << ": "
		     << pt_errstr(pt_errcode(status));
		result.error = text.str();
		return result;
	}

	pt_config config;
	ReadCode reader;
	std::unique_ptr<pt_image, decltype(&pt_image_free)> image;
	std::unique_ptr<pt_insn_decoder, decltype(&pt_insn_free_decoder)> decoder;
	Decoded result;
};

} // namespace

std::string describe(const Item &item)
{
	static const char *const names[] = {"instruction", "ptwrite", "gap", "enabled", "stop"};
	std::ostringstream text;

	text << names[item.kind] << " 0x" << std::hex << item.ip;
	if (item.kind == Item::ptwrite)
		text << " payload 0x" << item.payload;
	if (item.kind == Item::instruction)
		text << " mode " << item.mode;
	text << " (offset 0x" << item.offset << ")";
	return text.str();
}

Decoded decode(std::vector<std::uint8_t> trace, const ReadCode &code)
{
	if (trace.empty())
		return {};
	return InstructionDecoder(trace, code).run();
}

} // namespace pt_test
