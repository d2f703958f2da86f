// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the Intel PT driver on an emulated unit of the test's own, which counts what
 * would fault. Events are real ones, with rings and AUX areas; what runs on the CPU is
 * told to the unit by hand. tests/host runs the same checks of tables and positions.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include <asm/io.h>
#include <asm/msr.h>

#include "../../perf_event.h"
#include "aux_fixture.h"
#include "check.h"
#include "pt.h"
#include "pt_unit.h"

#define IP	0x400000
#define CR3	0x1000

static struct {
	struct pt_unit		*unit;
	const struct pt_hw	*hw_before;
	u32			caps_before[PT_CAPS_WORDS];
	bool			vmx_before;
	int			capabilities_before;
	u64			ip;
	bool			interrupt;
	unsigned int		wrong;		/* what may never happen, see below */
} rig;

/* ---- the hardware ---- */

static bool traces(void)
{
	unsigned long long ctl = 0;

	pt_unit_read(rig.unit, PT_MSR_CTL, &ctl);
	return ctl & PT_CTL_TRACEEN;
}

static u64 unit_read(u32 msr)
{
	unsigned long long value = 0;

	/* A position that moves is none. */
	if (msr != PT_MSR_STATUS && traces())
		rig.wrong++;
	pt_unit_read(rig.unit, msr, &value);
	return value;
}

static void unit_write(u32 msr, u64 value)
{
	pt_unit_write(rig.unit, msr, value);
}

static void unit_cpuid(u32 subleaf, u32 registers[4])
{
	pt_unit_cpuid(rig.unit, subleaf, registers);
}

static const struct pt_hw unit_hw = {
	.read		= unit_read,
	.write		= unit_write,
	.cpuid		= unit_cpuid,
	.emulated	= true,
};

static void *unit_memory(void *context, unsigned long long physical)
{
	return pfn_valid(PHYS_PFN(physical)) ? phys_to_virt(physical) : NULL;
}

static unsigned long long unit_tsc(void *context)
{
	return rdtsc();
}

static void unit_interrupt(void *context)
{
	rig.interrupt = true;
}

static const struct pt_unit_ops unit_ops = {
	.memory		= unit_memory,
	.tsc		= unit_tsc,
	.interrupt	= unit_interrupt,
};

static unsigned long long unit_faults(void)
{
	struct pt_unit_counts counts;

	pt_unit_counts(rig.unit, &counts);
	return counts.faults;
}

static void use_unit(const struct pt_unit_features *features)
{
	unsigned int subleaf;

	memset(rig.unit, 0, pt_unit_size());
	pt_unit_init(rig.unit, &unit_ops, NULL, features);
	for (subleaf = 0; subleaf < PT_CAPS_SUBLEAVES; subleaf++)
		pt_unit_cpuid(rig.unit, subleaf, &pt_pmu.caps[4 * subleaf]);
	pt_caps_bound(pt_pmu.caps);
	pt_pmu.pmu.capabilities &= ~(PERF_PMU_CAP_AUX_NO_SG | PERF_PMU_CAP_AUX_PREFER_LARGE);
	pt_pmu.pmu.capabilities |= features->single_entry ? PERF_PMU_CAP_AUX_NO_SG :
							    PERF_PMU_CAP_AUX_PREFER_LARGE;
	pt_hw_use(&unit_hw);
	rig.ip = IP;
	rig.interrupt = false;
	rig.wrong = 0;
}

static const struct pt_unit_features multiple_entries = {
	.address_ranges	= 4,
	.ptwrite	= 1,
	.single_range	= 1,
};

static const struct pt_unit_features single_entry = {
	.ptwrite	= 1,
	.single_entry	= 1,
};

/* ---- the CPU ---- */

/* A task executes so many PTWRITEs; PMIs come as soon as they are due. */
static void run_task(void *count)
{
	unsigned int left = *(unsigned int *)count;

	pt_unit_enter(rig.unit, rig.ip, CR3, PT_UNIT_64);
	while (left--) {
		const struct pt_unit_retired retired = {
			.kind		= PT_UNIT_PTWRITE,
			.instructions	= 1,
			.ip		= rig.ip,
			.next		= rig.ip + 5,
			.to		= rig.ip + 5,
			.payload	= left,
			.payload_size	= 8,
			.mode		= PT_UNIT_64,
		};

		pt_unit_retire(rig.unit, &retired);
		rig.ip += 5;
		if (!rig.interrupt)
			continue;
		pt_unit_leave(rig.unit, PT_UNIT_ASYNC, rig.ip, 0);
		rig.interrupt = false;
		intel_pt_interrupt();
		pt_unit_enter(rig.unit, rig.ip, CR3, PT_UNIT_64);
	}
	pt_unit_leave(rig.unit, PT_UNIT_ASYNC, rig.ip, 0);
}

static void on_cpu(struct kunit *test, smp_call_func_t function, void *info)
{
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(AUX_TEST_CPU, function, info, 1));
}

static void run(struct kunit *test, unsigned int ptwrites)
{
	on_cpu(test, run_task, &ptwrites);
}

/* ---- events ---- */

static int set_up(struct kunit *test)
{
	if (!pt_pmu.pmu.name)
		kunit_skip(test, "no PMU intel_pt: the CPU has none, and none is emulated");
	rig.unit = kzalloc(pt_unit_size(), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig.unit);
	rig.hw_before = pt_hw;
	rig.vmx_before = pt_pmu.vmx;
	rig.capabilities_before = pt_pmu.pmu.capabilities;
	memcpy(rig.caps_before, pt_pmu.caps, sizeof(rig.caps_before));
	use_unit(&multiple_entries);
	return 0;
}

static void tear_down(struct kunit *test)
{
	if (!rig.unit)
		return;
	KUNIT_EXPECT_EQ(test, 0, unit_faults());
	KUNIT_EXPECT_EQ(test, 0, rig.wrong);
	KUNIT_EXPECT_FALSE(test, traces());
	pt_hw_use(rig.hw_before);
	pt_pmu.vmx = rig.vmx_before;
	pt_pmu.pmu.capabilities = rig.capabilities_before;
	memcpy(pt_pmu.caps, rig.caps_before, sizeof(rig.caps_before));
	kfree(rig.unit);
	rig.unit = NULL;
}

static struct perf_event *open_trace(struct kunit *test, int nr_pages, int flags,
				     struct perf_buffer **rb)
{
	/* ptw */
	struct perf_event *event = aux_make_event(test, pt_pmu.pmu.type, PT_CTL_PTWEN);

	*rb = rb_alloc(AUX_DATA_PAGES, 0, AUX_TEST_CPU, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, *rb);
	aux_attach(event, *rb);
	KUNIT_ASSERT_EQ(test, 0, aux_map(event, *rb, nr_pages, flags));
	return event;
}

static void close_trace(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&rb->refcount));
	ring_buffer_put(rb);
}

static void unmap_and_close(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	perf_aux_unmap(event, rb);
	close_trace(test, event, rb);
}

/* The event's end is irq work. */
static bool goes_off(const struct perf_event *event)
{
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (READ_ONCE(event->state) == PERF_EVENT_STATE_OFF)
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

/* The sum of all AUX records, and the flags of the last. */
static u64 recorded(struct perf_buffer *rb, u64 *flags)
{
	struct aux_read_record record;
	u64 bytes = 0;

	*flags = 0;
	for (;;) {
		record = aux_next_record(rb);
		if (!record.header.type)
			return bytes;
		if (record.header.type != PERF_RECORD_AUX)
			continue;
		bytes += record.size;
		*flags = record.flags;
	}
}

/* PSB: SDM volume 3, "Packet Stream Boundary (PSB) Packet". */
static bool is_psb_at(struct perf_buffer *rb, u64 position)
{
	const struct perf_aux_area *area = perf_aux_mapped(rb);
	const unsigned long place = position & ((area->nr_pages << PAGE_SHIFT) - 1);
	const u8 *byte = area->pages[place >> PAGE_SHIFT];
	unsigned int at;

	byte += offset_in_page(place);
	for (at = 0; at < 16; at++) {
		if (byte[at] != (at % 2 ? 0x82 : 0x02))
			return false;
	}
	return true;
}

/* ---- cases: transactions ---- */

static void test_stream(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = open_trace(test, 4, RING_BUFFER_WRITABLE, &rb);
	u64 bytes = 0, flags;
	unsigned int round;

	for (round = 0; round < 50; round++) {
		perf_event_enable(event);
		KUNIT_EXPECT_TRUE(test, traces());
		run(test, 100);
		perf_event_disable(event);
		KUNIT_EXPECT_FALSE(test, traces());
		bytes += recorded(rb, &flags);
		KUNIT_EXPECT_EQ(test, 0, flags);
		KUNIT_EXPECT_EQ(test, bytes, rb->user_page->aux_head);
		rb->user_page->aux_tail = bytes;
	}
	KUNIT_EXPECT_GT(test, bytes, 50 * 100 * 10);
	unmap_and_close(test, event, rb);
}

/* Run until the event goes off: @wanted bytes, the last of which are cut. */
static void fill(struct kunit *test, struct perf_event *event, struct perf_buffer *rb, u64 wanted)
{
	u64 flags;

	perf_event_enable(event);
	run(test, 8 * PAGE_SIZE / 8);
	KUNIT_EXPECT_TRUE(test, goes_off(event));
	KUNIT_EXPECT_FALSE(test, traces());
	KUNIT_EXPECT_EQ(test, wanted, recorded(rb, &flags));
	KUNIT_EXPECT_EQ(test, PERF_AUX_FLAG_TRUNCATED, flags);
	KUNIT_EXPECT_EQ(test, wanted, rb->user_page->aux_head);
	KUNIT_EXPECT_TRUE(test, is_psb_at(rb, 0));
}

/* What comes behind a gap can be read from its first byte on. */
static void goes_on_behind(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	const u64 head = rb->user_page->aux_head;

	rb->user_page->aux_tail = head;
	perf_event_enable(event);
	KUNIT_EXPECT_TRUE(test, traces());
	run(test, 10);
	perf_event_disable(event);
	KUNIT_EXPECT_TRUE(test, is_psb_at(rb, head));
}

static void test_full(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = open_trace(test, 8, RING_BUFFER_WRITABLE, &rb);

	fill(test, event, rb, 8 * PAGE_SIZE);
	/* Full, and not read: it does not start. */
	perf_event_enable(event);
	KUNIT_EXPECT_FALSE(test, traces());
	KUNIT_EXPECT_TRUE(test, goes_off(event));
	goes_on_behind(test, event, rb);
	unmap_and_close(test, event, rb);
}

/* The interrupt at the first region's end goes on with the other half of the buffer. */
static void test_full_single_entry(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event;

	use_unit(&single_entry);
	event = open_trace(test, 8, RING_BUFFER_WRITABLE, &rb);
	fill(test, event, rb, 8 * PAGE_SIZE);
	goes_on_behind(test, event, rb);
	unmap_and_close(test, event, rb);
}

static void test_overwrite(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = open_trace(test, 4, 0, &rb);
	unsigned int round;
	u64 flags;

	for (round = 0; round < 20; round++) {
		perf_event_enable(event);
		run(test, 997);
		perf_event_disable(event);
		KUNIT_EXPECT_LT(test, rb->user_page->aux_head, 4 * PAGE_SIZE);
		KUNIT_EXPECT_FALSE(test, rig.interrupt);
	}
	KUNIT_EXPECT_EQ(test, 0, recorded(rb, &flags));
	unmap_and_close(test, event, rb);
}

static void test_unmap_while_tracing(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = open_trace(test, 4, RING_BUFFER_WRITABLE, &rb);

	perf_event_enable(event);
	run(test, 100);
	KUNIT_EXPECT_TRUE(test, traces());
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_FALSE(test, traces());
	run(test, 100);
	close_trace(test, event, rb);
}

/* ---- cases: out of turn ---- */

static void out_of_turn(void *info)
{
	struct perf_event *event = info;
	struct pmu *pmu = &pt_pmu.pmu;

	intel_pt_interrupt();
	pmu->stop(event, PERF_EF_PAUSE);
	pmu->start(event, PERF_EF_RESUME);
	pmu->stop(event, PERF_EF_UPDATE);
	pmu->stop(event, PERF_EF_UPDATE);
	pmu->stop(event, 0);
	intel_pt_interrupt();
	pmu->start(event, PERF_EF_RESUME);
	rig.wrong += traces();
	pmu->start(event, 0);
	pmu->start(event, 0);
	rig.wrong += !traces();
}

static void test_imbalance(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = open_trace(test, 4, RING_BUFFER_WRITABLE, &rb);

	perf_event_enable(event);
	run(test, 10);
	on_cpu(test, out_of_turn, event);
	KUNIT_EXPECT_TRUE(test, traces());
	run(test, 10);
	perf_event_disable(event);
	KUNIT_EXPECT_FALSE(test, traces());
	unmap_and_close(test, event, rb);
}

static void vmx_on(void *info)
{
	intel_pt_handle_vmx(1);
}

static void vmx_off(void *info)
{
	intel_pt_handle_vmx(0);
}

static void test_vmx(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = open_trace(test, 4, RING_BUFFER_WRITABLE, &rb);
	u64 flags;

	pt_pmu.vmx = false;
	on_cpu(test, vmx_on, NULL);
	perf_event_enable(event);
	KUNIT_EXPECT_FALSE(test, traces());
	run(test, 100);
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, 0, recorded(rb, &flags));
	KUNIT_EXPECT_EQ(test, PERF_AUX_FLAG_PARTIAL, flags);
	perf_event_enable(event);
	on_cpu(test, vmx_off, NULL);
	KUNIT_EXPECT_TRUE(test, traces());
	run(test, 100);
	perf_event_disable(event);
	KUNIT_EXPECT_GT(test, recorded(rb, &flags), 1000);
	KUNIT_EXPECT_EQ(test, PERF_AUX_FLAG_PARTIAL, flags);
	unmap_and_close(test, event, rb);
}

/* A CPU that comes back has forgotten its registers. */
static void test_hotplug(struct kunit *test)
{
	struct pt_shadow forgotten;
	const unsigned int cpu = cpumask_next(AUX_TEST_CPU, cpu_online_mask);
	struct pt_shadow *shadow;

	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one CPU");
	shadow = &per_cpu(pt_cpu, cpu).shadow;
	shadow->base = PAGE_SIZE;
	shadow->mask = PT_MASK_ONES;
	if (remove_cpu(cpu))
		kunit_skip(test, "CPU %u cannot be taken off line", cpu);
	KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
	pt_shadow_forget(&forgotten);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&forgotten, shadow, sizeof(forgotten)));
}

/* ---- cases: what may be asked for ---- */

static void test_refusals(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type	= pt_pmu.pmu.type,
		.size	= sizeof(attr),
		.config	= PT_CTL_OS,
	};

	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(perf_event_create_kernel_counter(&attr, AUX_TEST_CPU, NULL,
									 NULL, NULL)));
}

/* A table of many entries: the largest buffer that a VM of a few 100 MiB has. */
static void test_many_tables(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event;
	const struct pt_buffer *buffer;

	pt_pmu.pmu.capabilities &= ~PERF_PMU_CAP_AUX_PREFER_LARGE;
	event = open_trace(test, 4096, RING_BUFFER_WRITABLE, &rb);
	buffer = perf_aux_mapped(rb)->priv;
	KUNIT_EXPECT_EQ(test, 4096, buffer->output.topa.nr_regions);
	KUNIT_EXPECT_EQ(test, DIV_ROUND_UP(4096, PT_TOPA_REGIONS),
			pt_topa_tables(&buffer->output.topa));
	perf_event_enable(event);
	run(test, 250000);
	perf_event_disable(event);
	KUNIT_EXPECT_GT(test, rb->user_page->aux_head, 511 * PAGE_SIZE);
	unmap_and_close(test, event, rb);
}

static struct kunit_case driver_cases[] = {
	KUNIT_CASE(test_stream),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_full_single_entry),
	KUNIT_CASE(test_overwrite),
	KUNIT_CASE(test_unmap_while_tracing),
	KUNIT_CASE(test_imbalance),
	KUNIT_CASE(test_vmx),
	KUNIT_CASE(test_hotplug),
	KUNIT_CASE(test_refusals),
	KUNIT_CASE(test_many_tables),
	{}
};

static struct kunit_suite driver_suite = {
	.name		= "perf_intel_pt",
	.init		= set_up,
	.exit		= tear_down,
	.test_cases	= driver_cases,
};

/* ---- the checks that user space runs as well ---- */

static void check(struct kunit *test, void (*function)(struct pt_check *check),
		  unsigned int rounds)
{
	struct pt_check of = {
		.memory	= vmalloc(PT_CHECK_MEMORY),
		.size	= PT_CHECK_MEMORY,
		.seed	= 4711,
		.rounds	= rounds,
	};

	KUNIT_ASSERT_NOT_NULL(test, of.memory);
	function(&of);
	KUNIT_EXPECT_NULL_MSG(test, of.failed, "%s, line %u: %llu instead of %llu", of.failed,
			      of.line, of.got, of.wanted);
	KUNIT_EXPECT_GT(test, of.held, 1000);
	vfree(of.memory);
}

static void test_check_tables(struct kunit *test)
{
	check(test, pt_check_tables, 30);
}

static void test_check_marks(struct kunit *test)
{
	check(test, pt_check_marks, 1);
}

static void test_check_stream(struct kunit *test)
{
	check(test, pt_check_stream, 50);
}

static void test_check_wrap(struct kunit *test)
{
	check(test, pt_check_wrap, 100);
}

static void test_check_single_entry(struct kunit *test)
{
	check(test, pt_check_single_entry, 1);
}

static void test_check_nonsense(struct kunit *test)
{
	check(test, pt_check_nonsense, 300);
}

static void test_check_lookup(struct kunit *test)
{
	check(test, pt_check_lookup, 1);
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE(test_check_tables),
	KUNIT_CASE(test_check_marks),
	KUNIT_CASE(test_check_stream),
	KUNIT_CASE(test_check_wrap),
	KUNIT_CASE(test_check_single_entry),
	KUNIT_CASE(test_check_nonsense),
	KUNIT_CASE(test_check_lookup),
	{}
};

static struct kunit_suite check_suite = {
	.name		= "perf_intel_pt_output",
	.test_cases	= check_cases,
};

kunit_test_suites(&driver_suite, &check_suite);
