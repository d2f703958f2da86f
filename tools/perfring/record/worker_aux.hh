/* SPDX-License-Identifier: GPL-2.0 */
/* The inside of a worker that its AUX side shares: a ring, and writes of AUX data. */
#ifndef PERFRING_RECORD_WORKER_AUX_HH
#define PERFRING_RECORD_WORKER_AUX_HH

#include "worker.hh"

namespace perfring::record {

struct Worker::Ring {
	Ring(RingMap &ring_map, const EventFacts &facts, data::Observations &observed);

	RingMap &map;
	std::size_t number = 0;		/* in this worker */
	std::size_t watched = 0;	/* index of the file descriptor that epoll has */
	std::optional<RingReader> data; /* not for backward rings */
	std::optional<AuxReader> aux;	/* not for snapshots */
	Tally tally;
	std::uint64_t samples_told = 0;
	std::uint64_t lost_told = 0;
	std::uint64_t backward_since = 0; /* the head at the last look */
	std::uint64_t snapshot_bytes = 0; /* in all snapshots so far */
	std::uint64_t truncated_seen = 0; /* times that the area was full, and dealt with */
	bool lapped = false;		  /* the AUX area of snapshots was full once */
};

/* The record AUXTRACE and data where they are, in the AUX area. */
class Worker::AuxWrite final : public Job {
    public:
	void send(Mover &mover, std::shared_ptr<Output> to, Ring &from, std::size_t bytes);
	void ended(int error) override;

	bool is_free() const
	{
		return !ring;
	}

    private:
	Ring *ring = nullptr;
	std::shared_ptr<Output> output;
	data::Bytes record;
	std::uint64_t place = 0;
	std::uint64_t end = 0;
	std::size_t size = 0;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_WORKER_AUX_HH */
