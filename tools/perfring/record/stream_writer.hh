/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing to a pipe: one thread, strictly in the order of places, because there is no
 * going back. Each recording thread has a queue that leads to it.
 */
#ifndef PERFRING_RECORD_STREAM_WRITER_HH
#define PERFRING_RECORD_STREAM_WRITER_HH

#include "mutex.hh"
#include "write_queue.hh"

#include <map>
#include <thread>

namespace perfring::record {

class StreamQueue;

/* What a stream is written to. For tests to put something else there. */
class Stream {
    public:
	virtual ~Stream() = default;

	/* As writev(2): a count, or -1 and errno. May block. */
	virtual ssize_t write(const iovec *parts, int count) = 0;
};

std::unique_ptr<Stream> make_fd_stream(int fd); /* not owned */

class StreamWriter {
    public:
	/* start: the first place. A reader that is gone ends all writes with EPIPE. */
	StreamWriter(std::unique_ptr<Stream> to, std::uint64_t start);
	~StreamWriter(); /* nothing may be in flight */

	StreamWriter(const StreamWriter &) = delete;
	StreamWriter &operator=(const StreamWriter &) = delete;

	/* A queue for one thread; must be gone before the writer. */
	std::unique_ptr<WriteQueue> queue();

    private:
	friend class StreamQueue;
	struct Pending {
		Write *write;
		StreamQueue *from;
	};

	void loop();
	long write_all(Write &write);

	std::unique_ptr<Stream> stream;
	Mutex lock;
	Condition more;
	std::map<std::uint64_t, Pending> pending;
	std::uint64_t next;
	int broken = 0;
	bool stopping = false;
	std::thread thread;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_STREAM_WRITER_HH */
