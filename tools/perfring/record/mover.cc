// SPDX-License-Identifier: GPL-2.0
#include "mover.hh"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

namespace perfring::record {
namespace {

/* A write that is refused so often in a row, with pauses, will not succeed. */
constexpr unsigned most_tries = 500;
constexpr std::chrono::milliseconds pause{10};

bool worth_another_try(long result)
{
	return result == -EINTR || result == -EAGAIN || result == -ENOMEM || result == -ENOBUFS;
}

} /* namespace */

Mover::Mover(std::unique_ptr<WriteQueue> write_queue, std::function<bool()> gate)
	: writes(std::move(write_queue)),
	  may_send(std::move(gate))
{
}

Mover::~Mover()
{
	finish();
}

bool Mover::submit(Job &job)
{
	if (!finishing && may_send && !may_send())
		return false;
	if (!writes->submit(job.write))
		return false;
	flying++;
	return true;
}

void Mover::send(Job &job)
{
	job.write.job = &job;
	job.tries = 0;
	/* Those that wait go first: the file grows in order, near enough. */
	if (!held.empty() || !submit(job))
		held.push_back(&job);
}

void Mover::send_held()
{
	/* Each once: what comes back at once is for the next time. */
	for (std::size_t n = held.size(); n && submit(*held.front()); n--)
		held.pop_front();
}

/* Looks at how a write ended. */
void Mover::take(Job &job)
{
	Write &write = job.write;
	const std::size_t left = write.left();

	if (write.result > 0 && std::cmp_less(write.result, left)) {
		write.advance(static_cast<std::size_t>(write.result));
		write.buffer = write.count == 1 ? write.buffer : -1;
		job.tries = 0;
		held.push_front(&job);
	} else if (worth_another_try(write.result) && ++job.tries < most_tries) {
		held.push_back(&job);
	} else if (write.result < 0) {
		job.ended(static_cast<int>(-write.result));
	} else {
		/* Nothing written, and no reason given. */
		job.ended(write.result == 0 && left ? EIO : 0);
	}
}

void Mover::poll()
{
	ended.clear();
	writes->reap(ended);
	flying -= ended.size();
	/* ended() may send; reap() is not called again meanwhile. */
	for (std::size_t i = 0; i < ended.size(); i++)
		take(*ended[i]->job);
	if (!held.empty())
		send_held();
}

void Mover::wait(std::chrono::milliseconds most)
{
	/* With writes held back for another reason than the queue, time has to pass. */
	if (flying)
		writes->wait(held.empty() ? most : std::min(most, pause));
	else if (!held.empty())
		std::this_thread::sleep_for(std::min(most, pause));
	poll();
	if (!held.empty() && held.front()->tries)
		std::this_thread::sleep_for(std::min(most, pause));
}

void Mover::finish()
{
	finishing = true;
	poll();
	while (!idle())
		wait(std::chrono::milliseconds(100));
	finishing = false;
}

} /* namespace perfring::record */
