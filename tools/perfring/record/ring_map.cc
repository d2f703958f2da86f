// SPDX-License-Identifier: GPL-2.0
#include "ring_map.hh"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace perfring::record {

int RingMap::map(std::size_t data_pages, std::size_t aux_bytes)
{
	const auto page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
	const std::size_t bytes = (data_pages + 1) * page_size;
	const int rights = backward ? PROT_READ : PROT_READ | PROT_WRITE;
	void *memory = mmap(nullptr, bytes, rights, MAP_SHARED, fds.front(), 0);

	if (memory == MAP_FAILED)
		return errno;
	page = static_cast<perf_event_mmap_page *>(memory);
	data = static_cast<std::byte *>(memory) + page_size;
	data_size = data_pages * page_size;
	if (!aux_bytes)
		return 0;

	/* Writable or not is how the kernel is told: in full, or overwriting. */
	page->aux_offset = bytes;
	page->aux_size = aux_bytes;
	memory = mmap(nullptr, aux_bytes, aux_snapshot ? PROT_READ : PROT_READ | PROT_WRITE,
		      MAP_SHARED, fds.front(), static_cast<off_t>(bytes));
	if (memory == MAP_FAILED) {
		const int error = errno;

		unmap();
		return error;
	}
	aux = static_cast<std::byte *>(memory);
	aux_size = aux_bytes;
	return 0;
}

void RingMap::unmap()
{
	if (aux)
		munmap(aux, aux_size);
	if (page)
		munmap(page, data_size + static_cast<std::size_t>(
						 data - reinterpret_cast<std::byte *>(page)));
	aux = nullptr;
	page = nullptr;
}

} /* namespace perfring::record */
