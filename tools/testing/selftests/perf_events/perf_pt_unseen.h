/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scenario is run twice, by itself and traced, and notes what it sees. Both times it has
 * to see the same: nobody can tell that he is traced.
 *
 * What a scenario notes must not depend on time, on process numbers or on where its stack
 * is. It may have children and threads, which are traced as well.
 */
#ifndef PERF_PT_UNSEEN_H
#define PERF_PT_UNSEEN_H

#include "perf_pt_event.h"

#define MOST_NOTES 30000

struct notes {
	unsigned int nr;
	uint64_t words[MOST_NOTES];
	uint32_t lines[MOST_NOTES];
};

static struct notes *notes; /* of this run; shared with all its processes */

static inline void note_at(unsigned int line, uint64_t word)
{
	unsigned int at = notes->nr;

	if (at == MOST_NOTES)
		FAIL("that is more than can be noted");
	notes->words[at] = word;
	notes->lines[at] = line;
	notes->nr = at + 1;
}

#define NOTE(word) note_at(__LINE__, (uint64_t)(word))

static inline struct notes *new_notes(void)
{
	void *memory = mmap(NULL, sizeof(struct notes), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

/* On CPU 0, and not before it is told to. */
static inline pid_t start_scenario(void (*scenario)(void), int *go)
{
	int ends[2];
	pid_t pid;
	char byte;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		stay_on(0);
		CHECK_EQ(read(ends[0], &byte, 1), 1);
		close(ends[0]);
		close(ends[1]);
		scenario();
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static inline void end_scenario(pid_t pid, const char *how)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
		_exit(EXIT_SKIPPED);
	if (status)
		FAIL("%s, it ends with wait status %#x after %u notes (line %u)",
		     how, status, notes->nr,
		     notes->nr ? notes->lines[notes->nr - 1] : 0);
}

static inline void run_untraced(void (*scenario)(void))
{
	int go;
	pid_t pid = start_scenario(scenario, &go);

	CHECK_EQ(write(go, "x", 1), 1);
	end_scenario(pid, "untraced");
	close(go);
}

/* Whatever it starts is traced with it. The area is overwritten: it never ends. */
static inline void run_traced_as(void (*scenario)(void),
				 struct perf_event_attr *attr)
{
	static struct aux aux;
	uint64_t lost = pt_count("lost"), faults = pt_count("faults");
	uint64_t instructions = pt_count("instructions");
	int go, fd;
	pid_t pid = start_scenario(scenario, &go);

	attr->inherit = 1;
	fd = open_on(attr, pid, 0);
	aux_map_as(&aux, fd, 16, 64, PROT_READ);
	enable(fd);
	CHECK_EQ(write(go, "x", 1), 1);
	end_scenario(pid, "traced");
	close(go);
	disable(fd);
	CHECK(aux_head(&aux) || aux.words[0]);
	CHECK_EQ(pt_count("faults"), faults);
	if (pt_is_emulated())
		CHECK(pt_count("instructions") > instructions);
	remark("%u notes, %" PRIu64 " instructions, lost %" PRIu64, notes->nr,
	       pt_count("instructions") - instructions, pt_count("lost") - lost);
	aux_unmap(&aux);
	close(fd);
}

/* What came before a difference, and a little of what comes behind it. */
static inline void show_notes(const char *whose, const struct notes *of,
			      unsigned int at)
{
	unsigned int first = at > 16 ? at - 16 : 0;

	dprintf(STDOUT_FILENO, "# %s, from note %u:", whose, first);
	for (unsigned int i = first; i < at + 8 && i < of->nr; i++)
		dprintf(STDOUT_FILENO, " %s%" PRIx64, i == at ? "*" : "",
			of->words[i]);
	dprintf(STDOUT_FILENO, "\n");
}

static inline void compare_notes(const struct notes *bare)
{
	unsigned int nr = bare->nr < notes->nr ? bare->nr : notes->nr;

	for (unsigned int i = 0; i < nr; i++) {
		if (bare->words[i] == notes->words[i] &&
		    bare->lines[i] == notes->lines[i])
			continue;
		show_notes("untraced", bare, i);
		show_notes("traced", notes, i);
		FAIL("note %u is %#" PRIx64 " (line %u) if traced, else %#"
		     PRIx64 " (line %u)", i, notes->words[i],
		     notes->lines[i], bare->words[i], bare->lines[i]);
	}
	if (bare->nr != notes->nr)
		FAIL("%u notes if traced, else %u", notes->nr, bare->nr);
	CHECK(nr > 0);
}

static inline void expect_unseen(void (*scenario)(void))
{
	struct perf_event_attr attr = pt_timed_attr();
	struct notes *bare = new_notes();

	notes = bare;
	run_untraced(scenario);
	notes = new_notes();
	run_traced_as(scenario, &attr);
	compare_notes(bare);
}

/* A case that is nothing but its scenario. */
#define UNSEEN(scenario)                                                      \
	static void scenario(void)                                            \
	{                                                                     \
		expect_unseen(scenario##_scene);                              \
	}

#endif /* PERF_PT_UNSEEN_H */
