// SPDX-License-Identifier: GPL-2.0
/*
 * The test PMU as a module that comes and goes: who keeps it, and that all of it is
 * gone afterwards. PERF_AUX_TEST_MODULE names the file; the PMUs of one that is there
 * already are left alone.
 */
#include "perf_aux_life.h"
#include "perf_ring_task.h"

#include <fcntl.h>

#define SECOND "aux_second"
#define DATA_PAGES 8
#define AUX_PAGES 64

/* ---- the module ---- */

static const char *module_file(void)
{
	const char *file = getenv("PERF_AUX_TEST_MODULE");

	if (!file)
		SKIP("PERF_AUX_TEST_MODULE names no module");
	return file;
}

/* What the kernel calls it. */
static const char *module_name(void)
{
	static char name[64];
	const char *file = module_file(), *slash = strrchr(file, '/');

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : file);
	if (strchr(name, '.'))
		*strchr(name, '.') = 0;
	return name;
}

static int try_to_load(const char *parameters)
{
	int file = open(module_file(), O_RDONLY), result, error;

	if (file < 0)
		FAIL("%s: %s", module_file(), strerror(errno));
	result = (int)syscall(SYS_finit_module, file, parameters, 0);
	error = errno;
	close(file);
	errno = error;
	return result;
}

static int try_to_unload(void)
{
	return (int)syscall(SYS_delete_module, module_name(), O_NONBLOCK);
}

static bool is_shown(const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), PMU_FOLDER "/%s", device);
	return !access(path, F_OK);
}

static void load_with(const char *parameters)
{
	if (is_shown(SECOND))
		try_to_unload(); /* a case that failed has left it there */
	if (!try_to_load(parameters))
		return;
	if (errno == EEXIST)
		SKIP("the module is loaded already, under its own name");
	FAIL("%s \"%s\" cannot be loaded: %s", module_file(), parameters,
	     strerror(errno));
}

static void load(void)
{
	load_with("name=" SECOND);
}

/*
 * The last reference may go a moment after munmap() or close(): a late transaction
 * is ended by whoever is the last.
 */
static void unload(void)
{
	uint64_t end = now_us() + 3000000;

	while (try_to_unload()) {
		if (errno != EAGAIN || now_us() > end)
			FAIL("the module cannot be unloaded: %s",
			     strerror(errno));
		usleep(1000);
	}
}

/* EWOULDBLOCK is what delete_module() says of a module in use. */
static void expect_in_use(void)
{
	for (int i = 0; i < 5; i++) {
		CHECK_ERRNO(try_to_unload(), EAGAIN);
		usleep(5000);
	}
}

static struct perf_event_attr second_attr(void)
{
	struct perf_event_attr attr = fast_attr();

	attr.type = pmu_type(SECOND);
	return attr;
}

static int open_second(void)
{
	struct perf_event_attr attr = second_attr();

	return open_self(&attr);
}

/* ---- what is shown ---- */

static const char *const pmus[] = { SECOND, SECOND "_contiguous",
				    SECOND "_large", SECOND "_exclusive" };

static void pmus_appear_and_disappear(void)
{
	load();
	for (size_t i = 0; i < ARRAY_LEN(pmus); i++) {
		CHECK(is_shown(pmus[i]));
		CHECK(pmu_has(pmus[i], "pause"));
	}
	unload();
	for (size_t i = 0; i < ARRAY_LEN(pmus); i++)
		CHECK(!is_shown(pmus[i]));
}

static void each_pmu_has_a_type_of_its_own(void)
{
	load();
	for (size_t i = 0; i < ARRAY_LEN(pmus); i++) {
		CHECK(pmu_type(pmus[i]) != pmu_type("aux_test"));
		for (size_t j = 0; j < i; j++)
			CHECK(pmu_type(pmus[i]) != pmu_type(pmus[j]));
	}
	unload();
}

static void module_streams(void)
{
	struct aux aux;

	load();
	aux_map(&aux, open_second(), DATA_PAGES, AUX_PAGES);
	expect_goes_on(&aux);
	aux_unmap(&aux);
	close(aux.fd);
	unload();
}

static void type_that_is_gone_opens_nothing(void)
{
	struct perf_event_attr attr;

	load();
	attr = second_attr();
	unload();
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), ENOENT);
}

static void alias_appears_and_disappears(void)
{
	char type[32], alias_type[32];

	load_with("name=" SECOND " alias=aux_alias");
	CHECK(is_shown("aux_alias"));
	CHECK(pmu_file(SECOND, "type", type, sizeof(type)));
	CHECK(pmu_file("aux_alias", "type", alias_type, sizeof(alias_type)));
	CHECK(!strcmp(type, alias_type));
	CHECK(pmu_has("aux_alias", "pause"));
	unload();
	CHECK(!is_shown("aux_alias"));
}

static int log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (log < 0)
		SKIP("no /dev/kmsg to see warnings in");
	CHECK(lseek(log, 0, SEEK_END) >= 0);
	return log;
}

static void expect_quiet_log(int log)
{
	static const char *const noise[] = { "WARNING:", "BUG:", "Call Trace",
					     "cannot create duplicate" };
	char line[4096];
	ssize_t len;

	while ((len = read(log, line, sizeof(line) - 1)) > 0) {
		line[len] = 0;
		for (size_t i = 0; i < ARRAY_LEN(noise); i++)
			if (strstr(line, noise[i]))
				FAIL("the kernel log says: %.300s", line);
	}
}

/* The other device is what it was, and the module is there without the alias. */
static void taken_alias_is_refused_quietly(void)
{
	static const char *const taken[] = { "software", "aux_test",
					     SECOND "_large" };
	int log = log_open();

	for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
		char parameters[64], before[32] = "", after[32] = "";

		snprintf(parameters, sizeof(parameters), "name=%s alias=%s",
			 SECOND, taken[i]);
		pmu_file(taken[i], "type", before, sizeof(before));
		load_with(parameters);
		CHECK(is_shown(SECOND));
		CHECK(pmu_file(taken[i], "type", after, sizeof(after)));
		CHECK(!before[0] || !strcmp(before, after));
		unload();
		CHECK_EQ(is_shown(taken[i]), before[0] != 0);
	}
	expect_quiet_log(log);
}

static void taken_name_is_refused(void)
{
	CHECK_EQ(try_to_load("name=software"), -1);
	if (errno == EINVAL)
		load(); /* says why nothing can be loaded, if so */
	else
		CHECK_EQ(errno, EEXIST);
	CHECK(is_shown("software"));
	CHECK(!is_shown("software_large"));
	load(); /* nothing is left behind */
	unload();
}

/* ---- who keeps it ---- */

static void open_event_keeps_the_module(void)
{
	int fd;

	load();
	fd = open_second();
	expect_in_use();
	enable(fd);
	spin_us(2000);
	expect_in_use();
	close(fd);
	unload();
}

static void mapping_keeps_the_module(void)
{
	struct aux aux;

	load();
	aux_map(&aux, open_second(), DATA_PAGES, AUX_PAGES);
	close(aux.fd);
	expect_in_use();
	aux_unmap_area(&aux);
	expect_in_use();
	ring_unmap(&aux.ring);
	unload();
}

/* Nobody has the event any more, but its driver has to free the area. */
static void area_of_another_event_keeps_the_module(void)
{
	const uint64_t *words;
	struct aux aux;
	int plain;

	load();
	/* There its text is gone when the area is to be freed. */
	if (on_base())
		BASE_DEFECT("an AUX area does not keep the module that has to free it");
	aux_map(&aux, open_second(), DATA_PAGES, AUX_PAGES);
	plain = open_plain_to(aux.fd);
	words = aux_map_through(&aux, plain);
	enable(aux.fd);
	await_words(&aux);
	aux_unmap(&aux);
	close(aux.fd);
	expect_in_use();
	CHECK_EQ(words[0], 0);
	CHECK_EQ(words[1], 8);
	CHECK(!munmap((void *)words, AUX_PAGES * page_size()));
	unload();
	close(plain);
}

static void failed_mappings_keep_nothing(void)
{
	struct perf_event_attr attr;
	struct aux aux;

	load();
	attr = second_attr();
	aux_field(&attr, "fail_setup", 1);
	for (int round = 0; round < 20; round++) {
		aux.fd = open_self(&attr);
		ring_map(&aux.ring, aux.fd, DATA_PAGES);
		CHECK(aux_try_map(&aux, AUX_PAGES, PROT_READ) == MAP_FAILED);
		CHECK_EQ(errno, ENOMEM);
		ring_unmap(&aux.ring);
		close(aux.fd);
	}
	unload();
}

static void failed_opens_keep_nothing(void)
{
	struct perf_event_attr attr;

	load();
	attr = second_attr();
	attr.config3 = 1;
	for (int round = 0; round < 20; round++)
		CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	unload();
}

/* ---- the end comes at once ---- */

static void comes_and_goes_many_times(void)
{
	for (int round = 0; round < 8; round++) {
		load();
		CHECK(is_shown(SECOND));
		unload();
		CHECK(!is_shown(SECOND));
	}
}

/* Timers and interrupts of the event are over when close() returns. */
static void goes_right_after_a_running_event(void)
{
	for (int round = 0; round < 10; round++) {
		struct aux aux;

		load();
		aux_map(&aux, open_second(), DATA_PAGES, AUX_PAGES);
		enable(aux.fd);
		spin_us(1000 + (unsigned int)round * 100);
		aux_unmap(&aux);
		close(aux.fd);
		unload();
	}
}

static void goes_right_after_a_late_end(void)
{
	if (!aux_counts_lost())
		SKIP("the base does not survive a late end");
	for (int round = 0; round < 5; round++) {
		struct perf_event_attr attr;
		struct aux aux;

		load();
		attr = fast_attr_in(0);
		attr.type = pmu_type(SECOND);
		aux_field(&attr, "slow_stop", 30000);
		aux_field(&attr, "late_end", 1);
		aux_map(&aux, open_self(&attr), DATA_PAGES, AUX_PAGES);
		enable(aux.fd);
		spin_us(2000);
		aux_unmap(&aux);
		close(aux.fd);
		unload();
	}
}

static void trace_and_exit(void *unused)
{
	struct aux aux;

	(void)unused;
	aux_map(&aux, open_second(), DATA_PAGES, AUX_PAGES);
	enable(aux.fd);
	await_words(&aux);
}

static void goes_right_after_an_exit(void)
{
	for (int round = 0; round < 5; round++) {
		load();
		join_child(start_child(trace_and_exit, NULL));
		unload();
	}
}

/* Mapped, offline, unmapped, online: nothing of the event is left anywhere. */
static void goes_after_its_cpu_has_been_away(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	struct perf_event_attr attr;
	struct aux aux;

	if (!sysctl_set(online, 1))
		SKIP("the kernel cannot take CPU 1 offline");
	load();
	stay_on_cpu(0);
	attr = second_attr();
	aux_map(&aux, open_on(&attr, -1, 1), DATA_PAGES, AUX_PAGES);
	enable(aux.fd);
	await_words(&aux);
	CHECK(sysctl_set(online, 0));
	aux_read(&aux);
	CHECK(aux.kept > 0);
	aux_unmap(&aux);
	CHECK(sysctl_set(online, 1));
	close(aux.fd);
	unload();
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(pmus_appear_and_disappear),
		CASE(each_pmu_has_a_type_of_its_own),
		CASE(module_streams),
		CASE(type_that_is_gone_opens_nothing),
		CASE(alias_appears_and_disappears),
		CASE(taken_alias_is_refused_quietly),
		CASE(taken_name_is_refused),
		CASE(open_event_keeps_the_module),
		CASE(mapping_keeps_the_module),
		CASE(area_of_another_event_keeps_the_module),
		CASE(failed_mappings_keep_nothing),
		CASE(failed_opens_keep_nothing),
		CASE(comes_and_goes_many_times),
		CASE(goes_right_after_a_running_event),
		CASE(goes_right_after_a_late_end),
		CASE(goes_right_after_an_exit),
		CASE(goes_after_its_cpu_has_been_away),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
