/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interpreter's way to user memory. One access is one access, as the CPU makes it: others
 * may be looking. In assembler, since they may be writing as well, which is no race of ours.
 */
#ifndef X86_EVENTS_EMU_MEMORY_HH
#define X86_EVENTS_EMU_MEMORY_HH

#include "interpret.h"

namespace x86_emu {

constexpr unsigned long page_size = 4096, page_mask = ~(page_size - 1);

class Memory {
    public:
	explicit Memory(x86_memory &memory) : memory(memory)
	{
	}

	/*
	 * Where n bytes can be read, and written if `store`; null: the CPU has to do it. The
	 * entry's pointer is only there if it is the right one, by data and not by a branch: a
	 * CPU that guesses wrong must not go on with the memory of another task.
	 */
	[[gnu::always_inline]] unsigned char *at(unsigned long address, unsigned long n, bool store)
	{
		x86_memory_page &page = memory.pages[address / page_size % X86_MEMORY_PAGES];
		/* What reaches into the next page is not in this entry. */
		const unsigned long tag = ((address + n - 1) & page_mask) | memory.generation;
		unsigned char *found = page.at;

		asm("cmp %2, %1\n\tcmovne %3, %0"
		    : "+r"(found)
		    : "m"(store ? page.store : page.load), "r"(tag), "r"(0ul)
		    : "cc");
		if (__builtin_expect(!found, 0))
			return miss(page, address, n, store);
		return found + (address & ~page_mask);
	}

    private:
	[[gnu::noinline]] unsigned char *miss(x86_memory_page &page, unsigned long address,
					      unsigned long n, bool store)
	{
		const unsigned long begin = address & page_mask;
		if (((address + n - 1) & page_mask) != begin)
			return nullptr;
		void *const found = memory.find(memory.context, begin, store);
		if (!found)
			return nullptr;
		page.load = begin | memory.generation;
		page.store = store ? page.load : 0;
		page.at = static_cast<unsigned char *>(found);
		return page.at + (address - begin);
	}

	x86_memory &memory;
};

template <class T> [[gnu::always_inline]] inline T load_once(const unsigned char *from)
{
	T value;

	if constexpr (sizeof(T) == 1)
		asm volatile("mov %1, %0" : "=q"(value) : "m"(*from) : "memory");
	else
		asm volatile("mov %1, %0"
			     : "=r"(value)
			     : "m"(*reinterpret_cast<const T *>(from))
			     : "memory");
	return value;
}

template <class T> [[gnu::always_inline]] inline void store_once(unsigned char *to, T value)
{
	asm volatile("mov %1, %0" : "=m"(*reinterpret_cast<T *>(to)) : "r"(value) : "memory");
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_MEMORY_HH */
