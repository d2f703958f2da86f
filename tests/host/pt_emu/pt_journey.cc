// SPDX-License-Identifier: GPL-2.0
#include "pt_journey.hh"

#include <ostream>
#include <sstream>

#ifdef PERFRING_PERF_DECODER
#include "perf_bridge.h"
#endif

namespace pt_test {

namespace {

constexpr std::uint64_t status_halted = status::error | status::stopped;
constexpr unsigned int offset_shift = 32;
constexpr unsigned int entry_shift = 7;
constexpr std::uint64_t entry_bits = 0x1ffffff;
constexpr unsigned int topa_size_shift = 6;

} // namespace

std::function<void()> nested_point;

} // namespace pt_test

/* See EMU_NESTED_POINT. */
void nested_point_of_unit();

void nested_point_of_unit()
{
	if (pt_test::nested_point)
		pt_test::nested_point();
}

namespace pt_test {

std::ostream &operator<<(std::ostream &out, const Setting &setting)
{
	out << "ctl 0x" << std::hex << setting.ctl << std::dec << ", regions";
	for (const unsigned int size : setting.entries)
		out << " " << size;
	out << (setting.stop_at_end ? ", STOP" : "") << ", single range "
	    << setting.single_range_pages << ", time step " << setting.time_step << ", addresses"
	    << std::hex;
	for (const std::uint64_t address : setting.addr)
		out << " 0x" << address;
	return out << std::dec << ", an NMI every " << setting.nmi_every << ", crystal "
		   << setting.features.tsc_numerator << "/" << setting.features.tsc_denominator;
}

Journey::Journey(ring_test::Choices &from, std::vector<Program> &all, const Setting &with)
	: choices(from),
	  programs(all),
	  setting(with),
	  machine(with.features),
	  program(&all[0])
{
	machine.time_step = setting.time_step;
	if (setting.entries.empty()) {
		capacity = page_size * setting.single_range_pages;
		regions.push_back(machine.allocate(capacity, capacity));
	} else {
		table = machine.allocate(page_size);
		for (std::size_t i = 0; i < setting.entries.size(); i++) {
			const std::uint64_t size = page_size << setting.entries[i];
			const bool last = i + 1 == setting.entries.size();
			std::uint64_t entry = machine.allocate(size, size);

			regions.push_back(entry);
			capacity += size;
			entry |= static_cast<std::uint64_t>(setting.entries[i]) << topa_size_shift;
			if (choose(2))
				entry |= topa_int;
			if (last && setting.stop_at_end)
				entry |= topa_stop;
			machine.put(table + 8 * i, entry);
		}
		machine.put(table + 8 * setting.entries.size(), table | topa_end);
	}
	for (unsigned int i = 0; i < 8; i++)
		machine.write(msr::addr0_a + i, setting.addr[i]);
	machine.write(msr::cr3_match, setting.cr3_match);
	program_output();
	start_tracing();
	if (setting.nmi_every)
		nested_point = [this] { nmi(); };
}

Journey::~Journey()
{
	nested_point = nullptr;
}

/* What the driver may do in an NMI: look, stop, stop and start. */
void Journey::nmi()
{
	if (in_nmi || choose(setting.nmi_every))
		return;
	in_nmi = true;
	nmis++;

	const bool tracing = machine.read(msr::ctl) & ctl::trace_en;
	const unsigned int kind = choose(4);

	if (tracing && kind) {
		const bool halted = machine.read(msr::status) & status_halted;

		stop_tracing();
		if (kind == 3 || halted)
			program_output();
		if (halted)
			machine.write(msr::status, machine.read(msr::status) & ~status_halted);
		if (kind != 1)
			start_tracing();
		nmi_hit = true;
	}
	in_nmi = false;
}

void Journey::begin_segment(bool cut)
{
	const auto counts = machine.counts();

	segments.push_back({truth.size(), counts.overflows - losses_seen, cut});
	losses_seen = counts.overflows;
}

/* The unit has done something: has there been an NMI meanwhile? */
void Journey::settle()
{
	if (!nmi_hit)
		return;
	nmi_hit = false;
	begin_segment(true);
	open = false;
	on = false;
	stopped = false;
	following = false;
	enter_again = true;
}

std::uint64_t Journey::cr3() const
{
	return 0x1000000 + 0x1000 * static_cast<std::uint64_t>(program - programs.data());
}

void Journey::program_output()
{
	machine.write(msr::output_base, setting.entries.empty() ? regions[0] : table);
	machine.write(msr::output_mask, setting.entries.empty() ? capacity - 1 : 0);
	fetched = 0;
}

void Journey::start_tracing()
{
	machine.write(msr::ctl, setting.ctl | ctl::trace_en);
}

/* As the kernel does it: what is open is closed, and the bytes can be had. */
void Journey::stop_tracing()
{
	machine.write(msr::ctl, setting.ctl);
	fetch();
}

/* Position in the buffer, from the registers. */
void Journey::fetch()
{
	const std::uint64_t mask = machine.read(msr::output_mask);
	std::uint64_t head = mask >> offset_shift;
	const bool full = !stopped && (machine.read(msr::status) & status::stopped);

	if (!setting.entries.empty()) {
		const std::uint64_t entry = mask >> entry_shift & entry_bits;

		for (std::uint64_t i = 0; i < entry; i++)
			head += page_size << setting.entries[i];
	}
	/* A stop stays at the region's end; what it leaves behind may be the whole buffer. */
	if (!full)
		head %= capacity;
	while (fetched % capacity != head % capacity || (head == capacity && fetched != head)) {
		std::uint64_t offset = fetched;
		std::size_t region = 0;

		while (!setting.entries.empty() && offset >= page_size << setting.entries[region])
			offset -= page_size << setting.entries[region++];
		trace.push_back(*machine.at(regions[region] + offset));
		fetched = (fetched + 1) % (capacity + (head == capacity));
	}
}

void Journey::restart()
{
	stop_tracing();
	open = false;
	on = false;
	nmi_hit = false;
	begin_segment(nmis != 0);
	const bool halted = machine.read(msr::status) & status_halted;

	if (halted || choose(3) == 0)
		program_output();
	if (halted || choose(4) == 0) {
		/* The first is what the driver does at first. */
		const std::uint64_t keep = machine.read(msr::status) & ~status_halted;

		machine.write(msr::status, choose(3) ? keep : 0);
	}
	stopped = false;
	start_tracing();
	/* What an NMI may have done to that, is in front of what comes. */
	if (nmi_hit) {
		nmi_hit = false;
		begin_segment(true);
	}
}

bool Journey::in(unsigned int use, std::uint64_t ip) const
{
	bool any = false;

	for (unsigned int i = 0; i < 4; i++) {
		if (ctl::field(setting.ctl, ctl::addr0_cfg_shift + 4 * i) != use)
			continue;
		any = true;
		if (ip >= setting.addr[2 * i] && ip <= setting.addr[2 * i + 1])
			return true;
	}
	return !any && use == pt_emu::range_filter;
}

/* The next instruction is here: is it in the trace? */
void Journey::arrive()
{
	const std::uint64_t ip = here().ip;
	const bool was_on = on;

	if (!open || stopped)
		return;
	if (in(pt_emu::range_stop, ip)) {
		truth.push_back({Item::stop, 0, 0, PT_UNIT_64, 0});
		stopped = true;
		open = false;
		on = false;
		return;
	}
	on = in(pt_emu::range_filter, ip);
	if (on && !was_on && (setting.ctl & ctl::branch_en))
		truth.push_back({Item::enabled, ip, 0, PT_UNIT_64, 0});
}

void Journey::go(std::size_t to)
{
	at = to;
	run_begin = here().ip;
	run_length = 0;
	arrive();
}

void Journey::enter(std::size_t to)
{
	const std::uint64_t ip = program->code[to].ip;

	following = pt_unit_follows(machine.unit(), cr3()) != 0;
	if (following) {
		pt_unit_enter(machine.unit(), ip, cr3(), program->mode);
		open = true;
	}
	go(to);
	if (!nmi_hit)
		return;
	/* It may have begun here once more. */
	settle();
	enter_again = !(machine.read(msr::status) & status::context_en);
	if (enter_again)
		return;
	following = true;
	open = true;
	go(to);
}

/* An interrupt, or a page fault at any address. */
void Journey::note_event()
{
	const unsigned long long address = choose(2) ? here().ip : choose(1U << 30);

	if (!pt_unit_tells_events(machine.unit()))
		return;
	if (choose(2))
		pt_unit_event(machine.unit(), 14, &address);
	else
		pt_unit_event(machine.unit(), choose(256), nullptr);
}

void Journey::leave(pt_unit_end end)
{
	if (following) {
		if (end == PT_UNIT_ASYNC)
			note_event();
		pt_unit_leave(machine.unit(), end, here().ip,
			      run_length + (end == PT_UNIT_SYSCALL));
	}
	if (choose(8) == 0 && pt_unit_tells_power(machine.unit())) {
		pt_unit_sleep(machine.unit(), 1 + choose(15));
		if (choose(4))
			pt_unit_wake(machine.unit());
	}
	open = false;
	on = false;
	run_length = 0;
	following = false;
	settle();
}

void Journey::report_run()
{
	const pt_unit_retired retired = {PT_UNIT_SEQUENTIAL, run_length, run_begin, here().ip,
					 here().ip,	     0,		 0,	    program->mode};

	if (following && run_length)
		pt_unit_retire(machine.unit(), &retired);
	run_begin = here().ip;
	run_length = 0;
	settle();
}

void Journey::retire(pt_unit_class kind, std::size_t to)
{
	const Instruction &now = here();
	const std::uint64_t payload = now.op == Op::ptwrite ? 0x1111111100000000 + truth.size() : 0;
	const pt_unit_retired retired = {
		kind,	 run_length + 1,   now.ip,	 now.ip + now.size, program->code[to].ip,
		payload, now.payload_size, program->mode};

	if (now.op == Op::ptwrite && on && (setting.ctl & ctl::ptw_en)) {
		const std::uint64_t shown = now.payload_size == 4 ? payload & 0xffffffff : payload;

		truth.push_back({Item::ptwrite, now.ip, shown, PT_UNIT_64, 0});
	}
	if (following)
		pt_unit_retire(machine.unit(), &retired);
	go(to);
	settle();
}

std::size_t Journey::anywhere()
{
	return choices.choose(static_cast<unsigned int>(program->code.size()));
}

void Journey::interrupt_sometimes()
{
	const unsigned int kind = choose(300);

	if (kind >= 12)
		return;
	if (kind < 5)
		leave(PT_UNIT_ASYNC);
	else
		report_run();
	if (kind == 0 || kind == 5)
		restart();

	/* A signal, another task, or back to where it was. */
	const Program *const before = program;
	const std::uint64_t ip = here().ip;
	std::size_t to = at;

	if (kind == 1 || kind == 6)
		to = anywhere();
	if (kind == 2 || kind == 7) {
		program = &programs[choose(static_cast<unsigned int>(programs.size()))];
		to = anywhere();
		calls.clear();
	}
	if (to != at || program != before) {
		/* Nobody would tell that the open context ends. */
		if (kind >= 5 && !pt_unit_follows(machine.unit(), cr3()) && following)
			pt_unit_leave(machine.unit(), PT_UNIT_ASYNC, ip, 0);
		open = false;
		on = false;
	}
	enter(to);
}

void Journey::step()
{
	const Instruction &now = here();
	const std::size_t next = at + 1;

	if (on && now.op != Op::trap)
		truth.push_back({Item::instruction, now.ip, 0, program->mode, 0});

	switch (now.op) {
	case Op::straight:
		run_length++;
		at = next;
		arrive();
		if (here().ip >= pt_unit_boundary(machine.unit(), run_begin) || choose(20) == 0)
			report_run();
		break;
	case Op::cond:
	case Op::jump:
	case Op::call:
	case Op::call_next:
		retire_direct(now);
		break;
	case Op::indirect_jump:
		retire(PT_UNIT_INDIRECT_JUMP, anywhere());
		break;
	case Op::indirect_call:
		calls.push_back(next);
		retire(PT_UNIT_INDIRECT_CALL, anywhere());
		break;
	case Op::ret: {
		std::size_t to = anywhere();

		if (!calls.empty() && choose(5)) {
			to = calls.back();
			calls.pop_back();
		}
		retire(PT_UNIT_RETURN, to);
		break;
	}
	case Op::far:
		retire(PT_UNIT_FAR, anywhere());
		break;
	case Op::ptwrite:
		retire(PT_UNIT_PTWRITE, next);
		break;
	case Op::syscall:
		leave(PT_UNIT_SYSCALL);
		enter(choose(8) ? next : anywhere());
		break;
	case Op::trap:
		leave(PT_UNIT_ASYNC);
		enter(choose(8) ? next : anywhere());
		break;
	}
}

void Journey::retire_direct(const Instruction &now)
{
	const std::size_t next = at + 1;

	switch (now.op) {
	case Op::cond:
		if (choose(2))
			retire(PT_UNIT_COND_TAKEN, now.target);
		else
			retire(PT_UNIT_COND_NOT_TAKEN, next);
		break;
	case Op::jump:
		retire(PT_UNIT_JUMP, now.target);
		break;
	case Op::call_next:
		retire(PT_UNIT_CALL, next);
		break;
	default:
		calls.push_back(next);
		retire(PT_UNIT_CALL, now.target);
		break;
	}
}

void Journey::execute(unsigned int steps)
{
	std::uint64_t unread_steps = 0;
	/* A circular buffer has to be read before it has gone round. */
	const std::uint64_t patience = capacity / 256;

	enter(0);
	while (steps--) {
		interrupt_sometimes();
		if (enter_again) {
			enter_again = false;
			enter(at);
		}
		step();
		unread_steps++;

		const bool halted = machine.read(msr::status) & status_halted;

		if (halted ? choose(50) == 0 : unread_steps > patience && !setting.stop_at_end) {
			leave(PT_UNIT_ASYNC);
			restart();
			enter(at);
			unread_steps = 0;
		}
	}
	leave(PT_UNIT_ASYNC);
	nested_point = nullptr;
	restart();
	stop_tracing();
}

/* Is an address one that perf's filters end tracing at? */
bool Journey::ends(std::uint64_t ip) const
{
	return in(pt_emu::range_stop, ip) || !in(pt_emu::range_filter, ip);
}

std::string Journey::judge(const Decoded &decoded)
{
	Judge judge(truth, segments, decoded.by_perf);
	std::ostringstream wrong;

	for (std::size_t i = 0; i < decoded.items.size(); i++) {
		if (judge.see(decoded.items[i]))
			continue;
		wrong << "item " << i << ": " << describe(decoded.items[i]) << ", after";
		for (std::size_t j = i < 8 ? 0 : i - 8; j < i; j++)
			wrong << "\n  " << describe(decoded.items[j]);
		if (!decoded.error.empty())
			wrong << "\n" << decoded.error;
		judge.tell(wrong);
		return wrong.str();
	}
	gaps = judge.gaps;
	if (!decoded.error.empty()) {
		wrong << decoded.error << " after item " << decoded.items.size();
		judge.tell(wrong);
		return wrong.str();
	}
	if (judge.finish())
		return "";
	wrong << "the trace ends too early";
	judge.tell(wrong);
	return wrong.str();
}

std::string Journey::compare()
{
	const ReadCode code = [this](std::uint64_t ip, std::uint8_t *to, unsigned int size) {
		for (const Program &each : programs) {
			const unsigned int got = each.read(ip, to, size);

			if (got)
				return got;
		}
		return 0U;
	};

	instructions = truth.size();
	/* libipt knows no event trace before 2.1. */
	if (setting.ctl & ctl::event_en)
		return "";
	return judge(decode(trace, code));
}

#ifdef PERFRING_PERF_DECODER
namespace {

struct PerfSession {
	const std::vector<Program> &programs;
	std::function<bool(std::uint64_t)> ends;
	Decoded decoded;
	std::map<std::uint64_t, const Instruction *> by_ip;
	std::map<std::uint64_t, pt_unit_mode> mode_at;
	std::uint64_t last_time = 0;
	bool time_went_back = false;
};

PerfSession &session_of(void *context)
{
	return *static_cast<PerfSession *>(context);
}

int look_up(void *context, std::uint64_t ip, perf_bridge_instruction *found)
{
	static const std::map<Op, perf_bridge_class> classes = {
		{Op::straight, PERF_BRIDGE_STRAIGHT},
		{Op::cond, PERF_BRIDGE_COND},
		{Op::jump, PERF_BRIDGE_JUMP},
		{Op::call, PERF_BRIDGE_CALL},
		{Op::call_next, PERF_BRIDGE_CALL},
		{Op::indirect_jump, PERF_BRIDGE_INDIRECT_JUMP},
		{Op::indirect_call, PERF_BRIDGE_INDIRECT_CALL},
		{Op::ret, PERF_BRIDGE_RETURN},
		{Op::far, PERF_BRIDGE_IRET},
		{Op::ptwrite, PERF_BRIDGE_STRAIGHT},
		{Op::syscall, PERF_BRIDGE_SYSCALL},
		{Op::trap, PERF_BRIDGE_INT},
	};
	PerfSession &session = session_of(context);
	const auto at = session.by_ip.find(ip);

	if (at == session.by_ip.end())
		return -1;

	const Instruction &instruction = *at->second;

	found->kind = classes.at(instruction.op);
	/* A far return is a return to perf. */
	if (instruction.op == Op::far && instruction.code[0] == 0xcb)
		found->kind = PERF_BRIDGE_RETURN;
	found->size = static_cast<int>(instruction.size);
	found->displacement = 0;
	if (found->kind == PERF_BRIDGE_COND || found->kind == PERF_BRIDGE_JUMP ||
	    found->kind == PERF_BRIDGE_CALL) {
		std::int32_t displacement = 0;

		std::copy_n(instruction.code.end() - sizeof(displacement), sizeof(displacement),
			    reinterpret_cast<std::uint8_t *>(&displacement));
		found->displacement = displacement;
	}
	return 0;
}

} // namespace

bool Journey::has_perf()
{
	return true;
}

std::string Journey::compare_perf()
{
	PerfSession session{programs, [this](std::uint64_t ip) { return ends(ip); }, {}, {}, {}, 0,
			    false};
	perf_bridge bridge{};
	char text[200] = "";

	for (const Program &each : programs) {
		for (const Instruction &instruction : each.code) {
			session.by_ip[instruction.ip] = &instruction;
			session.mode_at[instruction.ip] = each.mode;
		}
	}
	session.decoded.by_perf = true;
	bridge.trace = trace.data();
	bridge.size = trace.size();
	bridge.ctl = setting.ctl;
	bridge.numerator = setting.features.tsc_numerator;
	bridge.denominator = setting.features.tsc_denominator;
	bridge.ratio = setting.features.bus_ratio;
	bridge.context = &session;
	bridge.look_up = look_up;
	bridge.ends = [](void *context, std::uint64_t ip) -> int {
		return session_of(context).ends(ip);
	};
	bridge.instruction = [](void *context, std::uint64_t ip) {
		PerfSession &self = session_of(context);

		self.decoded.items.push_back({Item::instruction, ip, 0, self.mode_at[ip], 0});
	};
	bridge.ptwrite = [](void *context, std::uint64_t ip, std::uint64_t payload) {
		session_of(context).decoded.items.push_back(
			{Item::ptwrite, ip, payload, PT_UNIT_64, 0});
	};
	bridge.gap = [](void *context) {
		session_of(context).decoded.items.push_back({Item::gap, 0, 0, PT_UNIT_64, 0});
	};
	bridge.enabled = [](void *context, std::uint64_t ip) {
		session_of(context).decoded.items.push_back({Item::enabled, ip, 0, PT_UNIT_64, 0});
	};
	bridge.time = [](void *context, std::uint64_t tsc) {
		PerfSession &self = session_of(context);

		self.time_went_back |= tsc < self.last_time;
		self.last_time = tsc;
	};
	if (perf_bridge_decode(&bridge, text, sizeof(text)))
		session.decoded.error = text;

	const std::string wrong = judge(session.decoded);

	if (wrong.empty() && session.time_went_back)
		return "time goes back";
	return wrong;
}
#else
bool Journey::has_perf()
{
	return false;
}

std::string Journey::compare_perf()
{
	return "";
}
#endif

} // namespace pt_test
