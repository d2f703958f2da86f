// SPDX-License-Identifier: GPL-2.0
#include "control.hh"

#include "text.hh"

#include <fmt/core.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace perfring::record {
namespace {

/* A line without an end is not a command. */
constexpr std::size_t longest = 4096;

int open_fifo(std::string_view path, int flags)
{
	const std::string name(path);
	const int fd = open(name.c_str(), flags | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		throw UserError(fmt::format("--control: {}: {}", name, error_text(errno)));
	return fd;
}

int given_fd(std::string_view text)
{
	const auto fd = number(text);

	if (!fd || *fd > 1 << 20 || fcntl(static_cast<int>(*fd), F_GETFD) < 0)
		throw UserError(fmt::format("--control: {} is no open file descriptor", text));
	return static_cast<int>(*fd);
}

} /* namespace */

ControlCommand parse_control(std::string_view line)
{
	using Kind = ControlCommand::Kind;
	const std::size_t space = line.find(' ');
	const std::string_view word = line.substr(0, space);
	const std::string_view rest =
		space == std::string_view::npos ? "" : trim(line.substr(space));

	if (word == "enable")
		return {Kind::enable, std::string(rest)};
	if (word == "disable")
		return {Kind::disable, std::string(rest)};
	if (!rest.empty())
		return {Kind::unknown, {}};
	if (word == "snapshot")
		return {Kind::snapshot, {}};
	if (word == "stop")
		return {Kind::stop, {}};
	if (word == "ping")
		return {Kind::ping, {}};
	return {Kind::unknown, {}};
}

Control::Control(std::string_view where)
{
	const std::size_t colon = where.find(':');
	const std::string_view kind = where.substr(0, colon);
	const std::string_view ends =
		colon == std::string_view::npos ? "" : where.substr(colon + 1);
	const std::size_t comma = ends.find(',');
	const std::string_view in = ends.substr(0, comma);
	const std::string_view out = comma == std::string_view::npos ? "" : ends.substr(comma + 1);

	if ((kind != "fd" && kind != "fifo") || in.empty())
		throw UserError("--control takes fd:CTL[,ACK] or fifo:CTL[,ACK]");
	owned = kind == "fifo";
	/* Opened for both, so that it does not end when a writer closes it. */
	commands = owned ? open_fifo(in, O_RDWR) : given_fd(in);
	if (!owned)
		fcntl(commands, F_SETFL, fcntl(commands, F_GETFL) | O_NONBLOCK);
	if (!out.empty())
		answers = owned ? open_fifo(out, O_RDWR) : given_fd(out);
}

Control::~Control()
{
	if (owned) {
		close(commands);
		if (answers >= 0)
			close(answers);
	}
}

void Control::receive()
{
	std::array<char, 512> some;

	for (;;) {
		const ssize_t got = read(commands, some.data(), some.size());

		if (got > 0) {
			text.append(some.data(), static_cast<std::size_t>(got));
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
			if (owned)
				close(commands);
			commands = -1;
		}
		break;
	}
	if (text.size() > longest && text.find('\n') == std::string::npos)
		text.clear();
}

std::optional<ControlCommand> Control::next()
{
	const std::size_t end = text.find('\n');

	if (end == std::string::npos)
		return std::nullopt;
	const std::string line(trim(std::string_view(text).substr(0, end)));

	text.erase(0, end + 1);
	/* The other side may send strings with the zero that ends them. */
	return parse_control(std::string_view(line).substr(
		line.find_first_not_of('\0') == std::string::npos ? line.size()
								  : line.find_first_not_of('\0')));
}

void Control::acknowledge()
{
	constexpr std::string_view answer = "ack\n";

	if (answers >= 0) [[maybe_unused]]
		const ssize_t told = write(answers, answer.data(), answer.size());
}

} /* namespace perfring::record */
