// SPDX-License-Identifier: GPL-2.0
#include "decoder.hh"

#include <cinttypes>
#include <cstdio>
#include <intel-pt.h>
#include <stdexcept>

namespace pt_oracle {

namespace {

void require(int status, const std::string &what)
{
	if (status < 0)
		throw std::runtime_error(what + ": " + pt_errstr(pt_errcode(status)));
}

std::string at(const char *name, std::uint64_t ip)
{
	char text[64];

	std::snprintf(text, sizeof(text), "%s %" PRIx64, name, ip);
	return text;
}

std::string from_to(const char *name, std::uint64_t from, std::uint64_t to)
{
	return at(name, from) + at(" to", to);
}

std::string describe(const pt_event &event)
{
	switch (event.type) {
	case ptev_enabled:
		return at("enabled", event.variant.enabled.ip);
	case ptev_disabled:
		return at("disabled", event.variant.disabled.ip);
	case ptev_async_disabled:
		return from_to("async disabled", event.variant.async_disabled.at,
			       event.variant.async_disabled.ip);
	case ptev_async_branch:
		return from_to("async branch", event.variant.async_branch.from,
			       event.variant.async_branch.to);
	case ptev_overflow:
		return at("overflow", event.variant.overflow.ip);
	case ptev_paging:
	case ptev_async_paging:
		return at("paging", event.variant.paging.cr3);
	case ptev_exec_mode:
		return "mode " + std::to_string(event.variant.exec_mode.mode);
	case ptev_stop:
		return "stop";
	case ptev_ptwrite:
		return at("ptwrite", event.variant.ptwrite.payload);
	default:
		return "event " + std::to_string(event.type);
	}
}

class StreamDecoder {
    public:
	StreamDecoder(std::span<const std::uint8_t> stream, const DecoderImages &decoder_images,
		      const std::vector<Span> &stream_spans)
		: images(decoder_images),
		  spans(stream_spans)
	{
		pt_config config;

		pt_config_init(&config);
		/* libipt only reads. */
		config.begin = const_cast<std::uint8_t *>(stream.data());
		config.end = config.begin + stream.size();
		decoder = pt_insn_alloc_decoder(&config);
		if (!decoder)
			throw std::runtime_error("libipt makes no decoder");
		require(pt_insn_set_image(decoder, images[spans.at(0).image]), "image");
	}

	~StreamDecoder()
	{
		pt_insn_free_decoder(decoder);
	}

	StreamDecoder(const StreamDecoder &) = delete;
	StreamDecoder &operator=(const StreamDecoder &) = delete;

	Decoded run()
	{
		for (;;) {
			int status = pt_insn_sync_forward(decoder);

			if (status == -pte_eos)
				return std::move(result);
			while (status >= 0 && !(status & pts_eos))
				status = step(status);
			if (status >= 0 || status == -pte_eos)
				return std::move(result);
			result.errors.push_back(remark(last_ip, pt_errstr(pt_errcode(status))));
		}
	}

    private:
	Remark remark(std::uint64_t ip, const std::string &text)
	{
		Remark made;

		made.before = result.ips.size();
		made.ip = ip;
		made.text = text;
		pt_insn_get_offset(decoder, &made.offset);
		return made;
	}

	/*
	 * A span's code ends while the task does not run. The next that the stream tells
	 * is an enabling, and only that is beyond the span's end.
	 */
	void choose_image()
	{
		std::uint64_t offset = 0;
		const std::size_t before = span;

		if (pt_insn_get_offset(decoder, &offset) < 0)
			return;
		while (span + 1 < spans.size() && offset > spans[span].aux_end)
			span++;
		if (span != before)
			require(pt_insn_set_image(decoder, images[spans[span].image]), "image");
	}

	int step(int status)
	{
		pt_insn instruction;

		while (status & pts_event_pending) {
			pt_event event;

			status = pt_insn_event(decoder, &event, sizeof(event));
			if (status < 0)
				return status;
			if (event.type == ptev_enabled)
				choose_image();
			if (event.type == ptev_enabled || event.type == ptev_overflow)
				result.seams.push_back(result.ips.size());
			result.overflows += event.type == ptev_overflow;
			result.events.push_back(remark(last_ip, describe(event)));
		}
		if (status & pts_eos)
			return status;
		instruction.iclass = ptic_error;
		status = pt_insn_next(decoder, &instruction, sizeof(instruction));
		last_ip = instruction.ip;
		/* An error may belong to what comes after a good instruction. */
		if (instruction.iclass != ptic_error)
			result.ips.push_back(instruction.ip);
		return status;
	}

	const DecoderImages &images;
	const std::vector<Span> &spans;
	std::size_t span = 0;
	pt_insn_decoder *decoder = nullptr;
	std::uint64_t last_ip = 0;
	Decoded result;
};

} // namespace

DecoderImages::DecoderImages(const std::filesystem::path &folder, const Manifest &manifest)
{
	const std::string code = (folder / "code").string();

	for (const Image &regions : manifest.images) {
		pt_image *image = pt_image_alloc(nullptr);

		if (!image)
			throw std::runtime_error("libipt makes no image");
		images.push_back(image);
		for (const Region &region : regions)
			require(pt_image_add_file(image, code.c_str(), region.offset, region.size,
						  nullptr, region.start),
				"image of " + region.name);
	}
}

DecoderImages::~DecoderImages()
{
	for (pt_image *image : images)
		pt_image_free(image);
}

Decoded decode(std::span<const std::uint8_t> stream, const DecoderImages &images,
	       const std::vector<Span> &spans)
{
	if (stream.empty())
		return {};
	return StreamDecoder(stream, images, spans).run();
}

} // namespace pt_oracle
