// SPDX-License-Identifier: GPL-2.0
/* The kernel around trace.c: see shell.h. */
#include "shell.h"

#include <linux/perf_event.h>

#include "aux_ring.h"
#include "perf_event.h"
#include "pt.h"

static struct shell_world world;
static struct pt_buffer buffer;
static struct pmu pmu;
static struct perf_event event;
static struct pt_event trace;
static struct perf_aux_ring ring;
static struct perf_aux_control control;
static unsigned int disabled;
static int cpu;
static const char *warning;

struct pt_pmu pt_pmu;

_Static_assert(sizeof(struct perf_output_handle) == sizeof(struct perf_aux_handle), "handle");
_Static_assert(offsetof(struct perf_output_handle, aux_flags) ==
	       offsetof(struct perf_aux_handle, flags), "flags");
_Static_assert(offsetof(struct perf_output_handle, head) ==
	       offsetof(struct perf_aux_handle, head), "head");

static struct perf_aux_handle *aux(struct perf_output_handle *handle)
{
	return (struct perf_aux_handle *)handle;
}

/* ---- what trace.c calls ---- */

u64 pt_hw_read(u32 msr)
{
	return world.read(world.context, msr);
}

void pt_hw_write(u32 msr, u64 value)
{
	world.write(world.context, msr, value);
}

static void tell(const struct perf_aux_report *report)
{
	world.record(world.context, report->offset, report->size, report->flags);
}

void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *of)
{
	struct perf_aux_report report;
	enum perf_aux_verdict verdict;

	handle->event = NULL;
	verdict = perf_aux_ring_begin(&ring, aux(handle));
	if (verdict == PERF_AUX_OPENED) {
		handle->event = of;
		return &buffer;
	}
	if (verdict == PERF_AUX_BUSY) {
		shell_warn("begin within a transaction");
		return NULL;
	}
	if (perf_aux_ring_refuse(&ring, &report) & PERF_AUX_TELL)
		tell(&report);
	disabled++;
	perf_aux_ring_close(&ring);
	return NULL;
}

void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_aux_report report;
	unsigned int todo;

	if (perf_aux_ring_end_quietly(&ring, aux(handle), size))
		return;
	todo = perf_aux_ring_commit(&ring, aux(handle), size, &report);
	if (todo & PERF_AUX_TELL)
		tell(&report);
	todo |= perf_aux_ring_publish(&ring);
	if (todo & PERF_AUX_WRONG)
		shell_warn("more data than there was room for");
	if (todo & PERF_AUX_STOP)
		disabled++;
	handle->event = NULL;
	perf_aux_ring_close(&ring);
}

void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	handle->aux_flags |= flags;
}

void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? &buffer : NULL;
}

long perf_output_copy_aux(struct perf_output_handle *aux_handle, struct perf_output_handle *handle,
			  unsigned long from, unsigned long to)
{
	(void)aux_handle;
	(void)handle;
	world.copy(world.context, from, to);
	return (long)(to - from);
}

void perf_event_itrace_started(struct perf_event *of)
{
	(void)of;
}

void perf_event_addr_filters_sync(struct perf_event *of)
{
	(void)of;
}

int smp_processor_id(void)
{
	return cpu;
}

void shell_warn(const char *what)
{
	warning = what;
}

/* ---- what the tests call ---- */

void shell_init(const struct shell_world *provided, struct pt_output *output, void **pages,
		unsigned long long ctl, unsigned long watermark)
{
	world = *provided;
	buffer.output = *output;
	buffer.pages = pages;
	memset(&pt_cpu, 0, sizeof(pt_cpu));
	memset(&pt_pmu, 0, sizeof(pt_pmu));
	memset(&event, 0, sizeof(event));
	memset(&trace, 0, sizeof(trace));
	memset(&ring, 0, sizeof(ring));
	memset(&control, 0, sizeof(control));
	pt_shadow_forget(&pt_cpu.shadow);
	disabled = 0;
	warning = NULL;
	cpu = 0;
	trace.ctl = ctl;
	trace.number = 1;
	trace.cpu = -1;
	event.pmu = &pmu;
	event.pmu_private = &trace;
	perf_aux_ring_setup(&ring, &control, output->size, output->overwrite ? 0 : watermark,
			    (int)output->overwrite);
}

void shell_move(int to, int after_another)
{
	cpu = to;
	if (after_another)
		pt_cpu.latest = trace.number + 1;
}

int shell_add(void)
{
	return pt_add(&event, PERF_EF_START);
}

void shell_del(void)
{
	pt_del(&event, 0);
}

void shell_start(void)
{
	pt_start(&event, 0);
}

void shell_stop(int update)
{
	pt_stop(&event, update ? PERF_EF_UPDATE : 0);
}

void shell_pause(void)
{
	if (event.hw.aux_paused)
		return;
	event.hw.aux_paused = 1;
	pt_stop(&event, PERF_EF_PAUSE);
}

void shell_resume(void)
{
	if (!event.hw.aux_paused)
		return;
	event.hw.aux_paused = 0;
	pt_start(&event, PERF_EF_RESUME);
}

void shell_interrupt(void)
{
	intel_pt_interrupt();
}

void shell_vmx(int on)
{
	intel_pt_handle_vmx(on);
}

void shell_emergency(void)
{
	cpu_emergency_stop_pt();
}

long shell_snapshot(unsigned long size)
{
	return pt_snapshot(&event, NULL, size);
}

unsigned long shell_head(void)
{
	return control.aux_head;
}

void shell_read_to(unsigned long tail)
{
	control.aux_tail = tail;
}

int shell_stopped(void)
{
	return event.hw.state & PERF_HES_STOPPED;
}

int shell_paused(void)
{
	return event.hw.aux_paused != 0;
}

int shell_open(void)
{
	return pt_cpu.handle.event != NULL;
}

int shell_busy(void)
{
	return pt_cpu.busy;
}

unsigned int shell_disabled(void)
{
	return disabled;
}

const char *shell_warning(void)
{
	return warning;
}
