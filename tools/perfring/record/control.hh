/* SPDX-License-Identifier: GPL-2.0 */
/*
 * --control: commands from another program, one a line, each answered with "ack" when
 * it is done.
 */
#ifndef PERFRING_RECORD_CONTROL_HH
#define PERFRING_RECORD_CONTROL_HH

#include <optional>
#include <string>
#include <string_view>

namespace perfring::record {

struct ControlCommand {
	enum class Kind { enable, disable, snapshot, stop, ping, unknown } kind;
	std::string event; /* of enable and disable: only this one; empty: all */
};

ControlCommand parse_control(std::string_view line);

class Control {
    public:
	/* "fd:CTL[,ACK]" or "fifo:CTL[,ACK]". Throws UserError. */
	explicit Control(std::string_view where);
	~Control();

	Control(const Control &) = delete;
	Control &operator=(const Control &) = delete;

	/* Becomes readable with a command; -1 once the other end is gone for good. */
	int fd() const
	{
		return commands;
	}

	/* Reads what is there. After it, next() until there is none. */
	void receive();
	std::optional<ControlCommand> next();
	void acknowledge();

    private:
	int commands = -1;
	int answers = -1;
	bool owned = false;
	std::string text;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_CONTROL_HH */
