/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Brings writes to their end: sends on what was written in part or interrupted, holds
 * back what the queue has no room for, and tells the owner of each how it ended,
 * exactly once.
 */
#ifndef PERFRING_RECORD_MOVER_HH
#define PERFRING_RECORD_MOVER_HH

#include "write_queue.hh"

#include <deque>
#include <functional>

namespace perfring::record {

/* Something to be written. The owner keeps it until ended(). */
class Job {
    public:
	virtual ~Job() = default;

	/* error: 0 if all of it is written, else an errno. May free or reuse the job. */
	virtual void ended(int error) = 0;

	Write write;
	unsigned tries = 0; /* in a row without a byte written: the mover's */
};

/* Used by one thread. */
class Mover {
    public:
	/*
	 * may_send: asked before each write; while it says no, writes are held back (the
	 * bound on data that the disk has not taken yet).
	 */
	Mover(std::unique_ptr<WriteQueue> write_queue, std::function<bool()> may_send);
	~Mover(); /* finishes */

	Mover(const Mover &) = delete;
	Mover &operator=(const Mover &) = delete;

	/* In any order with others. ended() is never called from inside. */
	void send(Job &job);

	/* Calls ended() for what has ended, and sends what was held back. Does not wait. */
	void poll();

	/* Waits until something may have changed, then polls. At most so long. */
	void wait(std::chrono::milliseconds most);

	/* Until nothing is left; what cannot be written ends with an error. */
	void finish();

	bool idle() const
	{
		return flying == 0 && held.empty();
	}
	std::size_t in_flight() const
	{
		return flying;
	}

	WriteQueue &queue()
	{
		return *writes;
	}

    private:
	bool submit(Job &job);
	void take(Job &job);
	void send_held();

	std::unique_ptr<WriteQueue> writes;
	std::function<bool()> may_send;
	std::deque<Job *> held;
	std::vector<Write *> ended; /* kept for its memory */
	std::size_t flying = 0;
	bool finishing = false;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_MOVER_HH */
