// SPDX-License-Identifier: GPL-2.0
#include "pt_event.hh"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <sstream>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pt_oracle {

namespace {

const std::string pmu = "/sys/bus/event_source/devices/intel_pt/";
constexpr std::size_t page_size = 4096;
constexpr std::size_t data_size = 256 * page_size;

std::string read_text(const std::string &path)
{
	std::ifstream in(path);
	std::string text;

	if (!std::getline(in, text))
		throw std::runtime_error("this kernel has no " + path);
	return text;
}

std::runtime_error system_failure(const std::string &what)
{
	return std::runtime_error(what + ": " + std::strerror(errno));
}

/* The bits of one term: "config:14-17" takes 4, "config:10" one. */
std::uint64_t term_bits(const std::string &term)
{
	const std::size_t equals = term.find('=');
	const std::string format = read_text(pmu + "format/" + term.substr(0, equals));
	const std::uint64_t value =
		equals == std::string::npos ? 1 : std::stoull(term.substr(equals + 1), nullptr, 0);
	std::istringstream in(format.substr(format.find(':') + 1));
	unsigned int first = 0, last = 0;
	char dash = 0;

	in >> first;
	last = first;
	if (in >> dash)
		in >> last;
	if (last - first < 63 && value >> (last - first + 1))
		throw std::runtime_error("too big for its field: " + term);
	return value << first;
}

std::uint64_t load_head(const __u64 &head)
{
	return std::atomic_ref<__u64>(const_cast<__u64 &>(head)).load(std::memory_order_acquire);
}

void store_tail(__u64 &tail, std::uint64_t value)
{
	std::atomic_ref<__u64>(tail).store(value, std::memory_order_release);
}

} // namespace

std::uint64_t pt_config(const std::string &terms)
{
	std::istringstream in(terms);
	std::string term;
	std::uint64_t config = 0;

	while (std::getline(in, term, ','))
		config |= term_bits(term);
	return config;
}

PtEvent::PtEvent(pid_t tid, std::uint64_t config, std::size_t size)
	: mapped_size(page_size + data_size),
	  aux_size(size)
{
	perf_event_attr attr{};

	attr.size = sizeof(attr);
	attr.type = static_cast<__u32>(std::stoul(read_text(pmu + "type")));
	attr.config = config;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = static_cast<int>(
		syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
	if (fd < 0)
		throw system_failure("perf_event_open of intel_pt");
	void *memory = mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		throw system_failure("mapping the ring of intel_pt");
	page = static_cast<perf_event_mmap_page *>(memory);
	page->aux_offset = mapped_size;
	page->aux_size = aux_size;
	memory = mmap(nullptr, aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      static_cast<off_t>(mapped_size));
	if (memory == MAP_FAILED)
		throw system_failure("mapping the AUX area of intel_pt");
	aux = static_cast<std::uint8_t *>(memory);
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		throw system_failure("enabling intel_pt");
}

PtEvent::~PtEvent()
{
	if (aux)
		munmap(aux, aux_size);
	if (page)
		munmap(page, mapped_size);
	if (fd >= 0)
		close(fd);
}

std::uint64_t PtEvent::head() const
{
	return load_head(page->aux_head);
}

void PtEvent::take_record(std::uint64_t position)
{
	const std::uint8_t *data = reinterpret_cast<std::uint8_t *>(page) + page->data_offset;
	std::array<std::uint8_t, 32> bytes{};
	perf_event_header header;
	std::uint64_t word;

	for (std::size_t i = 0; i < bytes.size(); i++)
		bytes[i] = data[(position + i) % data_size];
	std::memcpy(&header, bytes.data(), sizeof(header));
	switch (header.type) {
	case PERF_RECORD_AUX: /* header, offset, size, flags */
		std::memcpy(&word, &bytes[24], sizeof(word));
		losses.truncated += (word & PERF_AUX_FLAG_TRUNCATED) != 0;
		losses.partial += (word & PERF_AUX_FLAG_PARTIAL) != 0;
		losses.collisions += (word & PERF_AUX_FLAG_COLLISION) != 0;
		break;
	case PERF_RECORD_LOST: /* header, id, lost */
		std::memcpy(&word, &bytes[16], sizeof(word));
		losses.records += word;
		break;
	default:
		break;
	}
}

void PtEvent::drain_records()
{
	const std::uint8_t *data = reinterpret_cast<std::uint8_t *>(page) + page->data_offset;
	const std::uint64_t end = load_head(page->data_head);
	std::uint64_t tail = page->data_tail;

	while (tail < end) {
		perf_event_header header;

		/* Records are multiples of 8, so a header does not wrap. */
		std::memcpy(&header, data + tail % data_size, sizeof(header));
		if (header.size < sizeof(header))
			throw std::runtime_error("a record of size 0 in the ring");
		take_record(tail);
		tail += header.size;
	}
	store_tail(page->data_tail, tail);
}

void PtEvent::drain()
{
	const std::uint64_t end = head();

	for (std::uint64_t at = page->aux_tail; at < end;) {
		const std::uint64_t begin = at % aux_size;
		const std::uint64_t size = std::min<std::uint64_t>(end - at, aux_size - begin);

		stream.insert(stream.end(), aux + begin, aux + begin + size);
		at += size;
	}
	store_tail(page->aux_tail, end);
	drain_records();
}

void PtEvent::drain_if_needed()
{
	if (load_head(page->data_head) - page->data_tail > data_size / 2 ||
	    head() - page->aux_tail > aux_size / 2)
		drain();
}

} // namespace pt_oracle
