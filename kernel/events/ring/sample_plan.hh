/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gather plans: from attr.sample_type to the order of words, and from that to
 * bytes in the ring.
 */
#ifndef PERF_EVENTS_RING_SAMPLE_PLAN_HH
#define PERF_EVENTS_RING_SAMPLE_PLAN_HH

#include "data_ring.hh"
#include "sample_plan.h"

namespace perf_ring {

/* Bit numbers in attr.sample_type; the shell asserts them against the ABI. */
enum class Field : unsigned char {
	ip,
	tid,
	time,
	addr,
	read,
	callchain,
	id,
	cpu,
	period,
	stream_id,
	raw,
	branch_stack,
	regs_user,
	stack_user,
	weight,
	data_src,
	identifier,
	transaction,
	regs_intr,
	phys_addr,
	aux,
	cgroup,
	data_page_size,
	code_page_size,
	weight_struct,
};

constexpr unsigned long long bit(Field field)
{
	return 1ULL << static_cast<unsigned int>(field);
}

template <class... Fields> constexpr unsigned long long bits(Fields... fields)
{
	return (bit(fields) | ...);
}

/* The fields of each run in the order in which the ABI puts them. */
constexpr Field run_head[] = { Field::identifier, Field::ip, Field::tid,
			       Field::time,	  Field::addr, Field::id,
			       Field::stream_id,  Field::cpu, Field::period };
constexpr Field run_middle[] = { Field::weight, Field::data_src, Field::transaction };
constexpr Field run_tail[] = { Field::phys_addr, Field::cgroup, Field::data_page_size,
			       Field::code_page_size };
constexpr Field run_id[] = { Field::tid, Field::time, Field::id,
			     Field::stream_id, Field::cpu, Field::identifier };

constexpr unsigned long long variable_fields =
	bits(Field::read, Field::callchain, Field::raw, Field::branch_stack, Field::regs_user,
	     Field::stack_user, Field::regs_intr, Field::aux);
constexpr unsigned long long known_fields = bit(Field::weight_struct) * 2 - 1;
constexpr unsigned int word_size = sizeof(unsigned long long);
constexpr unsigned int header_size = word_size;

static_assert(bit(Field::weight_struct) == 1ULL << (PERF_SAMPLE_BITS - 1));

/* Two ways to ask for the one word that says what the sample weighs. */
constexpr unsigned long long one_weight(unsigned long long sample_type)
{
	if (sample_type & bit(Field::weight_struct))
		sample_type |= bit(Field::weight);
	return sample_type;
}

/* Values that are not written themselves, and needed for those that are. */
constexpr unsigned long long with_ingredients(unsigned long long sample_type)
{
	if (sample_type & bit(Field::code_page_size))
		sample_type |= bit(Field::ip);
	if (sample_type & bits(Field::data_page_size, Field::phys_addr))
		sample_type |= bit(Field::addr);
	if (sample_type & bit(Field::stack_user))
		sample_type |= bit(Field::regs_user);
	return sample_type;
}

class PlanCompiler {
    public:
	PlanCompiler(perf_sample_plan &compiled, const perf_sample_sources &of,
		     unsigned long long type)
		: plan(compiled), sources(of), fields(one_weight(type))
	{
	}

	template <unsigned long N> void run(perf_sample_run which, const Field (&order)[N])
	{
		for (const Field field : order)
			if (fields & bit(field))
				plan.from[used++] = sources.word[static_cast<unsigned int>(field)];
		plan.end[which] = used;
	}

    private:
	perf_sample_plan &plan;
	const perf_sample_sources &sources;
	unsigned long long fields;
	unsigned char used = 0;
};

static inline void compile(perf_sample_plan &plan, const perf_sample_sources &sources,
			   unsigned long long sample_type, unsigned int every)
{
	sample_type &= known_fields;

	PlanCompiler compiler(plan, sources, sample_type);

	compiler.run(PERF_SAMPLE_RUN_HEAD, run_head);
	compiler.run(PERF_SAMPLE_RUN_MIDDLE, run_middle);
	compiler.run(PERF_SAMPLE_RUN_TAIL, run_tail);
	compiler.run(PERF_SAMPLE_RUN_ID, run_id);

	const unsigned int in_sample = plan.end[PERF_SAMPLE_RUN_TAIL];
	const unsigned int in_trailer = plan.end[PERF_SAMPLE_RUN_ID] - in_sample;

	plan.wanted = with_ingredients(sample_type);
	plan.variable = sample_type & variable_fields;
	plan.every = every;
	plan.size = static_cast<unsigned short>(header_size + in_sample * word_size);
	plan.id_size = static_cast<unsigned short>(in_trailer * word_size);
}

template <class P> class SampleWriter {
    public:
	using Ring = DataRing<P>;

	template <Direction D>
	static long emit(perf_data_ring &ring, const perf_sample_plan &plan,
			 unsigned long long header, const unsigned long long *words)
	{
		perf_ring_handle handle;
		const long refused = Ring::template reserve<D>(ring, handle, plan.size, 0);

		if (__builtin_expect(refused != 0, 0))
			return refused;
		if (__builtin_expect(handle.room >= plan.size, 1)) {
			auto *to = static_cast<unsigned long long *>(handle.addr);

			*to = header;
			gather(to + 1, plan, 0, plan.end[PERF_SAMPLE_RUN_TAIL], words);
		} else {
			/* A copy: whose address nobody takes stays in registers. */
			perf_ring_handle place = handle;

			copy_sample(place, plan, header, words);
		}
		if (plan.every)
			Ring::count_sample(ring, plan.every);
		return Ring::commit(handle) ? PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN;
	}

	static void write_run(perf_ring_handle &handle, const perf_sample_plan &plan,
			      perf_sample_run run, const unsigned long long *words)
	{
		const unsigned int first = run == PERF_SAMPLE_RUN_HEAD ? 0 : plan.end[run - 1];
		const unsigned int end = plan.end[run];
		const unsigned long len = (end - first) * word_size;

		if (!len)
			return;
		if (unsigned long long *to = perf_ring_words(&handle, len)) {
			gather(to, plan, first, end, words);
			Ring::advance(handle, len);
		} else {
			copy(handle, plan, first, end, words);
		}
	}

    private:
	static void gather(unsigned long long *to, const perf_sample_plan &plan,
			   unsigned int first, unsigned int end, const unsigned long long *words)
	{
		for (unsigned int i = first; i < end; ++i)
			P::copy_word(to++, &words[plan.from[i]]);
	}

	/* Over the end of a piece. */
	[[gnu::noinline]] static void copy_sample(perf_ring_handle &handle,
						  const perf_sample_plan &plan,
						  unsigned long long header,
						  const unsigned long long *words)
	{
		Ring::copy(handle, &header, sizeof(header));
		copy(handle, plan, 0, plan.end[PERF_SAMPLE_RUN_TAIL], words);
	}

	static void copy(perf_ring_handle &handle, const perf_sample_plan &plan,
					   unsigned int first, unsigned int end,
					   const unsigned long long *words)
	{
		for (unsigned int i = first; i < end; ++i)
			Ring::copy(handle, &words[plan.from[i]], word_size);
	}
};

} // namespace perf_ring

#endif
