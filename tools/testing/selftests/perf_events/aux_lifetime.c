// SPDX-License-Identifier: GPL-2.0
/*
 * What a stream writes to goes away while it runs: the area, the ring, the file, the
 * task, the CPU, the way there. The kernel has nothing freed under the writer (KASAN
 * sees that), and the event goes on where there is something to write to again.
 *
 * Each case is tried on the own task, on one that computes elsewhere and on a CPU; with
 * sources that stop at once, slowly, and with their transaction left open.
 */
#include "perf_aux_life.h"
#include "perf_ring_task.h"

#include <fcntl.h>

#define DATA_PAGES 16
#define AUX_PAGES 512 /* a quarter of a second */
#define LATE_CHUNK 65536 /* is not over before the late end, as a rule */
#define TRACED_CPU 1
#define LATE_US 10000
#define READ_WRITE (PROT_READ | PROT_WRITE)

enum target { OWN_TASK, OTHER_TASK, A_CPU };

struct setting {
	enum target target;
	unsigned int slow_stop;
	bool late_end;
};

/* An event that writes as fast as it can, and whom it watches. */
struct stream {
	struct setting setting;
	pid_t pid;
	int cpu;
	struct aux aux;
};

static const struct setting settings[] = {
	{ OWN_TASK, 0, false },
	{ OWN_TASK, 300, false },
	{ OWN_TASK, LATE_US, true },
	{ OTHER_TASK, 0, false },
	{ OTHER_TASK, 300, false },
	{ OTHER_TASK, LATE_US, true },
	{ A_CPU, 0, false },
	{ A_CPU, 300, false },
	{ A_CPU, LATE_US, true },
};

static struct perf_event_attr stream_attr(const struct setting *setting,
					  uint64_t id)
{
	struct perf_event_attr attr =
		setting->late_end ? fast_attr_in(LATE_CHUNK) : fast_attr();

	aux_field(&attr, "slow_stop", setting->slow_stop);
	if (setting->late_end)
		aux_field(&attr, "late_end", 1);
	aux_field(&attr, "id", id);
	return attr;
}

static int open_stream(const struct stream *stream, uint64_t id)
{
	struct perf_event_attr attr = stream_attr(&stream->setting, id);

	return open_on(&attr, stream->pid, stream->cpu);
}

static void start_target(struct stream *stream, const struct setting *setting)
{
	memset(stream, 0, sizeof(*stream));
	stream->setting = *setting;
	stream->cpu = -1;
	stay_on_cpu(0);
	if (setting->target == OTHER_TASK)
		stream->pid = start_spinner(TRACED_CPU);
	if (setting->target == A_CPU) {
		stream->pid = -1;
		stream->cpu = TRACED_CPU;
	}
}

static void end_target(struct stream *stream)
{
	if (stream->setting.target == OTHER_TASK)
		end_spinner(stream->pid);
}

static void start_stream(struct stream *stream, const struct setting *setting)
{
	start_target(stream, setting);
	aux_map(&stream->aux, open_stream(stream, 0), DATA_PAGES, AUX_PAGES);
	enable(stream->aux.fd);
	await_words(&stream->aux);
}

static void end_stream(struct stream *stream)
{
	end_target(stream);
	aux_unmap(&stream->aux);
	close(stream->aux.fd);
}

/* The end that was left open has come. */
static void let_end(const struct stream *stream)
{
	if (stream->setting.late_end)
		usleep(2 * LATE_US);
}

/* A new area, once nobody writes to the old one any more. */
static void map_area_again(struct stream *stream)
{
	struct aux *aux = &stream->aux;

	for (uint64_t end = now_us() + 2000000; now_us() < end;) {
		void *words = aux_try_map(aux, AUX_PAGES, READ_WRITE);

		if (words != MAP_FAILED) {
			aux_take_area(aux, words, AUX_PAGES);
			return;
		}
		CHECK_EQ(errno, EBUSY);
		CHECK(stream->setting.late_end);
		usleep(1000);
	}
	FAIL("the old area stays busy");
}

static void for_each_setting(void (*run)(const struct setting *setting))
{
	if (sysconf(_SC_NPROCESSORS_ONLN) <= TRACED_CPU)
		SKIP("needs two CPUs");
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (!settings[i].late_end || aux_counts_lost())
			run(&settings[i]); /* the base does not survive late ends */
}

/* ---- the mappings go ---- */

static void unmap_area(const struct setting *setting)
{
	struct stream stream;

	start_stream(&stream, setting);
	for (int round = 0; round < 2; round++) {
		aux_unmap_area(&stream.aux);
		map_area_again(&stream);
		expect_goes_on(&stream.aux);
		enable(stream.aux.fd);
		await_words(&stream.aux);
	}
	end_stream(&stream);
}

static void area_is_unmapped(void)
{
	for_each_setting(unmap_area);
}

/* The area keeps the ring, and the stream does not notice. */
static void unmap_ring(const struct setting *setting)
{
	struct stream stream;
	struct aux *aux = &stream.aux;

	start_stream(&stream, setting);
	for (int round = 0; round < 5; round++) {
		ring_unmap(&aux->ring);
		spin_us(500);
		ring_map(&aux->ring, aux->fd, DATA_PAGES);
		aux_read(aux);
		aux_release(aux);
		await_words(aux);
	}
	disable(aux->fd);
	let_end(&stream);
	aux_read(aux);
	if (aux_counts_lost()) { /* this reader may be too slow on a slow kernel */
		CHECK(aux->missing <= aux_page_lost(aux));
		CHECK_EQ(aux->kept + aux_page_lost(aux), count_of(aux->fd));
	} else if (!aux->gaps) {
		CHECK_EQ(aux->kept, count_of(aux->fd));
	}
	end_stream(&stream);
}

static void ring_is_unmapped(void)
{
	for_each_setting(unmap_ring);
}

/* The stream is somebody else's as well: it goes on in what is still mapped. */
static void close_file(const struct setting *setting)
{
	struct stream stream;
	uint64_t head;

	start_stream(&stream, setting);
	close(stream.aux.fd);
	head = aux_head(&stream.aux);
	for (int ms = 0; aux_head(&stream.aux) == head; ms++) {
		CHECK(ms < 5000);
		spin_us(1000);
	}
	aux_read(&stream.aux);
	CHECK_EQ(stream.aux.gaps, 0);
	end_target(&stream);
	aux_unmap(&stream.aux);
}

static void file_is_closed(void)
{
	for_each_setting(close_file);
}

/* 'a': the area, 'd': the data ring, 'c': the file. */
static void take_away(struct stream *stream, const char *order)
{
	struct aux *aux = &stream->aux;

	for (; *order; order++) {
		if (*order == 'a')
			aux_unmap_area(aux);
		else if (*order == 'd')
			ring_unmap(&aux->ring);
		else
			close(aux->fd);
		if (*order == 'c')
			aux->fd = -1;
	}
}

static void all_orders(const struct setting *setting)
{
	static const char orders[][4] = { "adc", "acd", "dac", "dca", "cad",
					  "cda" };
	struct stream stream;

	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		start_stream(&stream, setting);
		take_away(&stream, orders[i]);
		end_target(&stream);
	}
	start_stream(&stream, setting);
	expect_goes_on(&stream.aux);
	end_stream(&stream);
}

static void everything_goes_in_each_order(void)
{
	for_each_setting(all_orders);
}

/* A new ring for the same event, whose stream goes on where it was. */
static void ring_anew(const struct setting *setting)
{
	struct stream stream;

	start_stream(&stream, setting);
	for (int round = 0; round < 2; round++) {
		take_away(&stream, round % 2 ? "ad" : "da");
		aux_map_anew(&stream.aux, DATA_PAGES, AUX_PAGES);
		expect_goes_on(&stream.aux);
		enable(stream.aux.fd);
	}
	end_stream(&stream);
}

static void ring_is_mapped_anew(void)
{
	for_each_setting(ring_anew);
}

/*
 * While the end is due, the area that was is still written to: no second one. On a CPU,
 * since a task's event ends it when it is scheduled, and in one transaction.
 */
static void late_end_keeps_the_ring_busy(void)
{
	struct perf_event_attr attr = fast_attr_in(0);
	struct stream stream = { .setting = { A_CPU, 60000, true } };
	struct aux *aux = &stream.aux;

	if (!aux_counts_lost())
		SKIP("the base does not survive a late end");
	aux_field(&attr, "slow_stop", 60000);
	aux_field(&attr, "late_end", 1);
	aux_map(aux, open_on(&attr, -1, 0), DATA_PAGES, AUX_PAGES);
	enable(aux->fd);
	spin_us(5000);
	aux_unmap_area(aux);
	CHECK(aux_try_map(aux, AUX_PAGES, READ_WRITE) == MAP_FAILED);
	CHECK_EQ(errno, EBUSY);
	map_area_again(&stream);
	disable(aux->fd);
	enable(aux->fd);
	spin_us(5000);
	disable(aux->fd);
	usleep(120000);
	aux_drain(aux);
	CHECK(aux->kept > 0);
	end_stream(&stream);
}

/* ---- the process that maps goes ---- */

static void start_and_leave(void *setting)
{
	struct stream stream;

	start_stream(&stream, setting);
	end_target(&stream);
}

static void exit_of_the_reader(const struct setting *setting)
{
	for (int round = 0; round < 2; round++)
		join_child(start_child(start_and_leave, (void *)setting));
}

static void reader_exits(void)
{
	for_each_setting(exit_of_the_reader);
}

static int after_exec(int fd, const char *next)
{
	struct aux aux = { .fd = fd, .next = strtoull(next, NULL, 10) };

	CHECK_EQ(poll_now(fd), POLLHUP); /* no ring */
	aux_map_anew(&aux, DATA_PAGES, 2 * AUX_PAGES);
	expect_goes_on(&aux);
	return 0;
}

static void exec_with_stream(void *arg)
{
	const struct setting *setting = arg;
	struct stream stream;
	char fd[12], next[24];

	start_stream(&stream, setting);
	aux_drain(&stream.aux);
	CHECK(!fcntl(stream.aux.fd, F_SETFD, 0));
	snprintf(fd, sizeof(fd), "%d", stream.aux.fd);
	snprintf(next, sizeof(next), "%" PRIu64, stream.aux.next);
	execl("/proc/self/exe", "aux_lifetime", "--after-exec", fd, next, NULL);
	FAIL("exec: %s", strerror(errno));
}

static void exec_in_setting(const struct setting *setting)
{
	if (setting->target == OWN_TASK)
		join_child(start_child(exec_with_stream, (void *)setting));
}

static void task_executes_another_program(void)
{
	for_each_setting(exec_in_setting);
}

static void exec_and_close(void *setting)
{
	struct stream stream;

	start_stream(&stream, setting);
	execl("/proc/self/exe", "aux_lifetime", "--nothing", NULL);
	FAIL("exec: %s", strerror(errno));
}

static void exec_closing_in_setting(const struct setting *setting)
{
	if (setting->target != OTHER_TASK)
		join_child(start_child(exec_and_close, (void *)setting));
}

static void exec_closes_everything(void)
{
	for_each_setting(exec_closing_in_setting);
}

/* ---- the target goes ---- */

/* What was produced until then is all there; then there is silence. */
static void expect_complete(struct stream *stream)
{
	struct aux *aux = &stream->aux;
	uint64_t lost = 0;

	let_end(stream);
	aux_read(aux);
	expect_still(aux);
	CHECK(aux->kept > 0);
	if (aux->fd < 0)
		return;
	if (aux_counts_lost())
		lost = aux_page_lost(aux);
	CHECK_EQ(aux->kept + lost, count_of(aux->fd));
}

static void end_of_task(const struct setting *setting)
{
	struct stream stream;

	if (setting->target != OTHER_TASK)
		return;
	start_stream(&stream, setting);
	end_spinner(stream.pid);
	expect_complete(&stream);
	CHECK(poll_now(stream.aux.fd) & POLLHUP);
	enable(stream.aux.fd);
	expect_still(&stream.aux);
	aux_unmap(&stream.aux);
	close(stream.aux.fd);
}

static void traced_task_ends(void)
{
	for_each_setting(end_of_task);
}

static bool set_online(int online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 TRACED_CPU);
	return sysctl_set(path, online);
}

/* 'f': offline, 'n': online, the others as before. */
static void hotplug_and_take_away(struct stream *stream, const char *order)
{
	struct aux *aux = &stream->aux;

	for (; *order; order++) {
		char one[2] = { *order, 0 };

		if (*order == 'f' || *order == 'n')
			CHECK(set_online(*order == 'n'));
		else
			take_away(stream, one);
		if (*order == 'f' && aux->words && aux->ring.page)
			expect_complete(stream);
	}
}

static void hotplug(const struct setting *setting)
{
	static const char *const orders[] = { "fnadc", "fadcn", "afndc",
					      "dfanc", "cfadn", "dafcn" };
	struct stream stream;

	if (setting->target != A_CPU)
		return;
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		start_stream(&stream, setting);
		hotplug_and_take_away(&stream, orders[i]);
		start_stream(&stream, setting); /* the CPU is as good as before */
		expect_goes_on(&stream.aux);
		end_stream(&stream);
	}
}

static void traced_cpu_goes_and_comes(void)
{
	if (!set_online(1))
		SKIP("the kernel cannot take CPU %d offline", TRACED_CPU);
	for_each_setting(hotplug);
}

/* An event whose CPU has been away is off for good. */
static void event_of_a_cpu_that_was_away_is_off(void)
{
	struct setting setting = { A_CPU, 0, false };
	struct stream stream;

	if (!set_online(1))
		SKIP("the kernel cannot take CPU %d offline", TRACED_CPU);
	start_stream(&stream, &setting);
	CHECK(set_online(0));
	expect_complete(&stream);
	CHECK(set_online(1));
	disable(stream.aux.fd);
	enable(stream.aux.fd);
	expect_still(&stream.aux);
	end_stream(&stream);
}

/* ---- the way to the area goes ---- */

/* Two rings with areas, and a third event that writes to the one or the other. */
struct switch_over {
	struct stream stream;
	struct aux place[2];
	int fd;
};

static void start_switch_over(struct switch_over *s,
			      const struct setting *setting)
{
	start_target(&s->stream, setting);
	for (int i = 0; i < 2; i++) {
		aux_map(&s->place[i], open_stream(&s->stream, 1), DATA_PAGES,
			AUX_PAGES);
		s->place[i].id = 2;
	}
	s->fd = open_stream(&s->stream, 2);
	CHECK(!set_output(s->fd, s->place[0].fd));
}

static void end_switch_over(struct switch_over *s)
{
	end_target(&s->stream);
	for (int i = 0; i < 2; i++) {
		aux_unmap(&s->place[i]);
		close(s->place[i].fd);
	}
	close(s->fd);
}

/* In which area the third event's words are expected to come up next. */
static void await_in(const struct switch_over *s, int place)
{
	const struct aux *aux = &s->place[place];

	for (int ms = 0; aux_head(aux) == aux->pos; ms++) {
		if (ms > 5000)
			FAIL("nothing is written to area %d", place);
		spin_us(1000);
	}
}

static void off_and_on(const struct switch_over *s)
{
	disable(s->fd);
	enable(s->fd);
}

static void go_away_and_back(const struct setting *setting)
{
	struct switch_over s;

	start_switch_over(&s, setting);
	for (int round = 0; round < 2; round++) {
		off_and_on(&s);
		await_in(&s, 0);
		CHECK(!set_output(s.fd, -1));
		let_end(&s.stream);
		aux_drain(&s.place[0]);
		spin_us(3000);
		if (aux_head(&s.place[0]) != s.place[0].pos)
			BASE_DEFECT("an event that is scheduled while it leaves a ring goes on writing there");
		CHECK(!set_output(s.fd, s.place[0].fd));
	}
	off_and_on(&s);
	await_in(&s, 0);
	end_switch_over(&s);
}

static void output_goes_away_and_back(void)
{
	for_each_setting(go_away_and_back);
}

static void swap_areas(const struct setting *setting)
{
	struct switch_over s;

	start_switch_over(&s, setting);
	off_and_on(&s);
	for (int round = 0; round < 4; round++) {
		struct aux *here = &s.place[round % 2];
		struct aux *there = &s.place[(round + 1) % 2];

		await_in(&s, round % 2);
		CHECK(!set_output(s.fd, there->fd));
		off_and_on(&s);
		let_end(&s.stream);
		expect_still(here);
		aux_drain(here);
		CHECK(here->next > there->next);
		there->next = here->next;
	}
	end_switch_over(&s);
}

static void output_goes_to_another_area(void)
{
	for_each_setting(swap_areas);
}

/* Nobody turns it on again: it is only somewhere else. */
static void swap_at_once(const struct setting *setting)
{
	struct switch_over s;

	start_switch_over(&s, setting);
	enable(s.fd);
	await_in(&s, 0);
	CHECK(!set_output(s.fd, s.place[1].fd));
	spin_us(50000);
	if (!aux_head(&s.place[1]))
		BASE_DEFECT("an event that is redirected to another area stops");
	end_switch_over(&s);
}

static void redirected_stream_goes_on_at_once(void)
{
	for_each_setting(swap_at_once);
}

/* Neither the area that it left nor the one that it is in stays. */
static void unmap_behind(const struct setting *setting)
{
	struct switch_over s;

	for (int which = 0; which < 4; which++) {
		start_switch_over(&s, setting);
		enable(s.fd);
		await_in(&s, 0);
		CHECK(!set_output(s.fd, s.place[1].fd));
		off_and_on(&s);
		if (which & 1)
			await_in(&s, 1);
		aux_unmap_area(&s.place[which < 2]);
		aux_unmap_area(&s.place[which >= 2]);
		end_switch_over(&s);
	}
}

static void areas_go_behind_a_redirection(void)
{
	for_each_setting(unmap_behind);
}

/* ---- a software event has the area as well ---- */

static const uint64_t *map_all_through(struct stream *stream, struct aux *view)
{
	const struct perf_event_mmap_page *page = stream->aux.ring.page;
	uint64_t size = page->aux_size;

	*view = stream->aux;
	view->fd = open_plain(stream->pid, stream->cpu);
	CHECK(!set_output(view->fd, stream->aux.fd));
	ring_map(&view->ring, view->fd, DATA_PAGES);
	view->words = aux_map_through(&stream->aux, view->fd);
	view->size = size;
	return view->words;
}

/* Area and ring outlive the event that wrote, and can be read. */
static void outlive(const struct setting *setting)
{
	static const char orders[][4] = { "adc", "cda", "dca" };
	struct stream stream;
	struct aux view;

	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		start_stream(&stream, setting);
		map_all_through(&stream, &view);
		take_away(&stream, orders[i]);
		let_end(&stream);
		expect_still(&view);
		aux_read(&view);
		CHECK(view.kept > 0);
		CHECK_EQ(view.gaps, 0);
		end_target(&stream);
		aux_unmap(&view);
		close(view.fd);
	}
}

static void area_outlives_its_event(void)
{
	for_each_setting(outlive);
}

/* The next event of the PMU goes on in the area that the first one has left. */
static void inherit_area(const struct setting *setting)
{
	struct stream stream;
	struct aux view;
	uint64_t head;
	int next;

	start_stream(&stream, setting);
	map_all_through(&stream, &view);
	next = open_stream(&stream, 3);
	take_away(&stream, "adc");
	let_end(&stream);
	aux_drain(&view);
	head = aux_head(&view);
	CHECK_EQ(view.pos, head);
	CHECK(!set_output(next, view.fd));
	enable(next);
	view.id = 3;
	view.next = 0;
	for (int ms = 0; aux_head(&view) == head; ms++) {
		CHECK(ms < 5000);
		spin_us(1000);
	}
	disable(next);
	let_end(&stream);
	aux_drain(&view);
	CHECK_EQ(view.gaps, 0);
	CHECK_EQ(view.next, count_of(next));
	end_target(&stream);
	aux_unmap(&view);
	close(view.fd);
	close(next);
}

static void area_is_left_to_the_next_event(void)
{
	for_each_setting(inherit_area);
}

/* The last mapping is the other event's: it stops who writes all the same. */
static void last_through_other(const struct setting *setting)
{
	struct stream stream;
	struct aux view;

	start_stream(&stream, setting);
	map_all_through(&stream, &view);
	aux_unmap_area(&stream.aux);
	aux_drain(&view);
	for (int ms = 0; aux_head(&view) == view.pos; ms++) {
		CHECK(ms < 5000);
		spin_us(1000); /* it goes on until then */
	}
	aux_unmap_area(&view);
	map_area_again(&stream);
	stream.aux.next = view.next;
	expect_goes_on(&stream.aux);
	ring_unmap(&view.ring);
	close(view.fd);
	end_stream(&stream);
}

static void last_mapping_is_another_events(void)
{
	for_each_setting(last_through_other);
}

/* Two that write to one area, by turns as their transactions end; then it goes. */
static void two_writers(const struct setting *setting)
{
	struct stream stream;
	int second;

	start_target(&stream, setting);
	aux_map(&stream.aux, open_stream(&stream, 0), DATA_PAGES, AUX_PAGES);
	second = open_stream(&stream, 0);
	CHECK(!set_output(second, stream.aux.fd));
	for (int round = 0; round < 2; round++) {
		enable(stream.aux.fd);
		enable(second);
		await_words(&stream.aux);
		aux_unmap_area(&stream.aux);
		map_area_again(&stream);
		disable(second);
		disable(stream.aux.fd);
		let_end(&stream);
		aux_set_tail(&stream.aux, aux_head(&stream.aux));
		stream.aux.pos = aux_head(&stream.aux);
	}
	close(second);
	end_stream(&stream);
}

static void area_of_two_writers_is_unmapped(void)
{
	/* The second one's begin makes it warn. */
	if (on_base())
		BASE_DEFECT("two events that write to one area are a reason to warn");
	for_each_setting(two_writers);
}

/* ---- children that inherited the event write ---- */

static int open_inherited(const struct setting *setting, uint64_t id)
{
	struct perf_event_attr attr = stream_attr(setting, id);

	attr.inherit = 1;
	return open_on(&attr, 0, TRACED_CPU);
}

static void unmap_of_child(const struct setting *setting)
{
	struct stream stream = { .setting = *setting };
	pid_t child;

	if (setting->target != A_CPU)
		return;
	stay_on_cpu(0);
	aux_map(&stream.aux, open_inherited(setting, 0), DATA_PAGES, AUX_PAGES);
	enable(stream.aux.fd);
	child = start_spinner(TRACED_CPU);
	for (int round = 0; round < 4; round++) {
		await_words(&stream.aux);
		aux_drain(&stream.aux);
		aux_unmap_area(&stream.aux);
		map_area_again(&stream);
		disable(stream.aux.fd);
		enable(stream.aux.fd);
	}
	await_words(&stream.aux);
	aux_drain(&stream.aux);
	end_spinner(child);
	aux_unmap(&stream.aux);
	close(stream.aux.fd);
}

static void area_that_a_child_writes_is_unmapped(void)
{
	for_each_setting(unmap_of_child);
}

static void redirect_child(const struct setting *setting)
{
	struct switch_over s = { .stream.setting = *setting };
	pid_t child;

	if (setting->target != A_CPU)
		return;
	stay_on_cpu(0);
	for (int i = 0; i < 2; i++) {
		aux_map(&s.place[i], open_inherited(setting, 1), DATA_PAGES,
			AUX_PAGES);
		s.place[i].id = 2;
	}
	s.fd = open_inherited(setting, 2);
	CHECK(!set_output(s.fd, s.place[0].fd));
	enable(s.fd);
	child = start_spinner(TRACED_CPU);
	await_in(&s, 0);
	CHECK(!set_output(s.fd, s.place[1].fd));
	aux_unmap_area(&s.place[0]); /* nobody writes there any more */
	await_in(&s, 1);
	CHECK(!set_output(s.fd, -1));
	aux_unmap_area(&s.place[1]);
	end_spinner(child);
	end_switch_over(&s);
}

static void redirection_moves_children_as_well(void)
{
	/* There they go on in memory that is freed. */
	if (on_base())
		BASE_DEFECT("children go on writing to the ring that their parent left");
	for_each_setting(redirect_child);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(area_is_unmapped),
		CASE(ring_is_unmapped),
		CASE(file_is_closed),
		CASE(everything_goes_in_each_order),
		CASE(ring_is_mapped_anew),
		CASE(late_end_keeps_the_ring_busy),
		CASE(reader_exits),
		CASE(task_executes_another_program),
		CASE(exec_closes_everything),
		CASE(traced_task_ends),
		CASE(traced_cpu_goes_and_comes),
		CASE(event_of_a_cpu_that_was_away_is_off),
		CASE(output_goes_away_and_back),
		CASE(output_goes_to_another_area),
		CASE(redirected_stream_goes_on_at_once),
		CASE(areas_go_behind_a_redirection),
		CASE(area_outlives_its_event),
		CASE(area_is_left_to_the_next_event),
		CASE(last_mapping_is_another_events),
		CASE(area_of_two_writers_is_unmapped),
		CASE(area_that_a_child_writes_is_unmapped),
		CASE(redirection_moves_children_as_well),
	};

	if (argc == 4 && !strcmp(argv[1], "--after-exec"))
		return after_exec(atoi(argv[2]), argv[3]);
	if (argc == 2 && !strcmp(argv[1], "--nothing"))
		return 0;
	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
