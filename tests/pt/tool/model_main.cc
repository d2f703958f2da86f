// SPDX-License-Identifier: GPL-2.0
/*
 * pt-model [-d N] FOLDER: make the traces that hardware would have written of the
 * stepped tasks in FOLDER, and put them there.
 *
 * This is how the tools that judge traces are tested without anything to trace: what
 * they find in such a trace has to be what has been stepped. With -d, the N-th outcome
 * of a conditional branch is turned round, and they have to notice. Knows what programs
 * without signals do: branches, calls, returns and system calls.
 */
#include "steps.hh"

#include <Zydis/Zydis.h>
#include <cinttypes>
#include <cstdio>
#include <intel-pt.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

using namespace pt_oracle; // NOLINT(google-build-using-namespace): the tool is its own

class Model {
    public:
	explicit Model(std::size_t most) : bytes(most)
	{
		pt_config config;

		pt_config_init(&config);
		config.begin = bytes.data();
		config.end = bytes.data() + bytes.size();
		encoder = pt_alloc_encoder(&config);
		if (!encoder)
			throw std::runtime_error("libipt makes no encoder");
	}

	~Model()
	{
		pt_free_encoder(encoder);
	}

	Model(const Model &) = delete;
	Model &operator=(const Model &) = delete;

	std::uint64_t size() const
	{
		std::uint64_t offset = 0;

		pt_enc_get_offset(encoder, &offset);
		return offset;
	}

	void start()
	{
		emit(ppt_psb);
		mode();
		emit(ppt_psbend);
	}

	void enable(std::uint64_t ip)
	{
		mode();
		target(ppt_tip_pge, ip);
	}

	void disable()
	{
		flush();
		emit(ppt_tip_pgd);
	}

	void branch(bool taken)
	{
		if (++branches == damaged)
			taken = !taken;
		outcomes = outcomes << 1 | (taken ? 1 : 0);
		if (++outcome_count == 6)
			flush();
	}

	void target(pt_packet_type type, std::uint64_t ip)
	{
		pt_packet packet{};

		flush();
		packet.type = type;
		packet.payload.ip.ipc = pt_ipc_sext_48;
		packet.payload.ip.ip = ip & 0xffffffffffff;
		put(packet);
	}

	std::vector<std::uint8_t> bytes;
	std::size_t damaged = 0;

    private:
	void flush()
	{
		pt_packet packet{};

		if (!outcome_count)
			return;
		packet.type = ppt_tnt_8;
		packet.payload.tnt.bit_size = outcome_count;
		packet.payload.tnt.payload = outcomes;
		outcome_count = 0;
		outcomes = 0;
		put(packet);
	}

	void mode()
	{
		pt_packet packet{};

		packet.type = ppt_mode;
		packet.payload.mode.leaf = pt_mol_exec;
		packet.payload.mode.bits.exec.csl = 1;
		put(packet);
	}

	void emit(pt_packet_type type)
	{
		pt_packet packet{};

		packet.type = type;
		put(packet);
	}

	void put(const pt_packet &packet)
	{
		const int status = pt_enc_next(encoder, &packet);

		if (status < 0)
			throw std::runtime_error(pt_errstr(pt_errcode(status)));
	}

	pt_encoder *encoder = nullptr;
	std::size_t branches = 0;
	std::uint64_t outcomes = 0;
	std::uint8_t outcome_count = 0;
};

/* One instruction, and what came next; 0: nothing. */
void retire(Model &model, std::span<const std::uint8_t> code, std::uint64_t ip, std::uint64_t next)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, code.data(), code.size(),
							&instruction)))
		throw std::runtime_error("not an instruction");
	switch (instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR: {
		const std::uint64_t behind = ip + instruction.length;
		const std::uint64_t there =
			behind + static_cast<std::uint64_t>(instruction.raw.imm[0].value.s);

		/* Both ways lead to the same where the displacement is 0. */
		if (next != behind && next != there)
			throw std::runtime_error("a conditional branch to elsewhere");
		model.branch(next == there);
		break;
	}
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (!instruction.raw.imm[0].is_relative)
			model.target(ppt_tip, next);
		break;
	case ZYDIS_CATEGORY_RET:
		model.target(ppt_tip, next);
		break;
	case ZYDIS_CATEGORY_SYSCALL:
		model.disable();
		if (next)
			model.enable(next);
		break;
	default:
		if (next != ip + instruction.length)
			throw std::runtime_error("straight on to elsewhere");
		break;
	}
}

void make_trace(const std::filesystem::path &folder, const Code &code, TaskLog &task,
		std::size_t damaged)
{
	const auto steps = read_words(folder / (task.name + ".steps"));
	const auto ips = retirements(steps, task.spans, code);
	Model model(16 * ips.size() + 4096);
	std::size_t span = 0;

	if (task.spans.size() != 1)
		throw std::runtime_error("code that changes is beyond this model");
	model.damaged = damaged;
	model.start();
	model.enable(ips.at(0));
	for (std::size_t i = 0; i < ips.size(); i++)
		retire(model, code.at(task.spans[span].image, ips[i]), ips[i],
		       i + 1 < ips.size() ? ips[i + 1] : 0);
	task.spans[span].aux_end = model.size();
	task.traced = true;
	write_bytes(folder / (task.name + ".aux"), model.bytes.data(), model.size());
}

} // namespace

int main(int argc, char **argv)
{
	try {
		std::size_t damaged = 0;
		int option;

		while ((option = getopt(argc, argv, "d:")) != -1)
			if (option == 'd')
				damaged = std::stoul(optarg);
		if (optind + 1 != argc)
			throw std::runtime_error("which recording?");
		const std::filesystem::path folder = argv[optind];
		Manifest manifest = read_manifest(folder);
		const Code code(folder, manifest);

		for (TaskLog &task : manifest.tasks)
			make_trace(folder, code, task, damaged);
		write_manifest(folder, manifest);
		return 0;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "pt-model: %s\n", error.what());
		return 2;
	}
}
