/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A mutex and a condition between threads of different priorities. Who holds the mutex
 * runs as urgently as who waits for it: a recording thread must not wait for an
 * ordinary one that others keep off the CPU.
 */
#ifndef PERFRING_RECORD_MUTEX_HH
#define PERFRING_RECORD_MUTEX_HH

#include <pthread.h>

#include <mutex>

namespace perfring::record {

class Mutex {
    public:
	Mutex()
	{
		pthread_mutexattr_t how;

		pthread_mutexattr_init(&how);
		pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&mutex, &how);
		pthread_mutexattr_destroy(&how);
	}
	~Mutex()
	{
		pthread_mutex_destroy(&mutex);
	}
	Mutex(const Mutex &) = delete;
	Mutex &operator=(const Mutex &) = delete;

	void lock()
	{
		pthread_mutex_lock(&mutex);
	}
	bool try_lock()
	{
		return pthread_mutex_trylock(&mutex) == 0;
	}
	void unlock()
	{
		pthread_mutex_unlock(&mutex);
	}

    private:
	friend class Condition;
	pthread_mutex_t mutex;
};

class Condition {
    public:
	Condition() = default;
	~Condition()
	{
		pthread_cond_destroy(&condition);
	}
	Condition(const Condition &) = delete;
	Condition &operator=(const Condition &) = delete;

	/* The lock is held, before and after. */
	template <class Holds> void wait(std::unique_lock<Mutex> &lock, Holds &&holds)
	{
		while (!holds())
			pthread_cond_wait(&condition, &lock.mutex()->mutex);
	}
	void notify()
	{
		pthread_cond_broadcast(&condition);
	}

    private:
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_MUTEX_HH */
