// SPDX-License-Identifier: GPL-2.0
/* What perf's decoder asks of whoever uses it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "intel-pt-decoder/intel-pt-insn-decoder.h"
#include "intel-pt-decoder/intel-pt-decoder.h"

#include "perf_bridge.h"

/* Of IA32_RTIT_CTL. */
#define CTL_DIS_RETC (1ULL << 11)
#define CTL_BRANCH_EN (1ULL << 13)
#define CTL_MTC_FREQ_SHIFT 14

struct session {
	const struct perf_bridge *bridge;
	bool given;
};

/* Its log wants them; nothing is logged. */
const char *intel_pt_insn_name(enum intel_pt_insn_op op)
{
	(void)op;
	return "";
}

int intel_pt_insn_desc(const struct intel_pt_insn *insn, char *buf, size_t size)
{
	(void)insn;
	return snprintf(buf, size, "-");
}

static int get_trace(struct intel_pt_buffer *buffer, void *data)
{
	struct session *session = data;

	memset(buffer, 0, sizeof(*buffer));
	if (session->given)
		return 0;
	session->given = true;
	buffer->buf = session->bridge->trace;
	buffer->len = session->bridge->size;
	return 0;
}

static int look_ahead(void *data, intel_pt_lookahead_cb_t cb, void *cb_data)
{
	(void)data;
	(void)cb;
	(void)cb_data;
	return 0;
}

static bool pgd_ip(uint64_t ip, void *data)
{
	const struct session *session = data;

	return session->bridge->ends(session->bridge->context, ip);
}

static void classify(const struct perf_bridge_instruction *from, struct intel_pt_insn *to)
{
	static const struct {
		enum intel_pt_insn_op op;
		enum intel_pt_insn_branch branch;
	} kinds[] = {
		[PERF_BRIDGE_STRAIGHT] = {INTEL_PT_OP_OTHER, INTEL_PT_BR_NO_BRANCH},
		[PERF_BRIDGE_COND] = {INTEL_PT_OP_JCC, INTEL_PT_BR_CONDITIONAL},
		[PERF_BRIDGE_JUMP] = {INTEL_PT_OP_JMP, INTEL_PT_BR_UNCONDITIONAL},
		[PERF_BRIDGE_CALL] = {INTEL_PT_OP_CALL, INTEL_PT_BR_UNCONDITIONAL},
		[PERF_BRIDGE_INDIRECT_JUMP] = {INTEL_PT_OP_JMP, INTEL_PT_BR_INDIRECT},
		[PERF_BRIDGE_INDIRECT_CALL] = {INTEL_PT_OP_CALL, INTEL_PT_BR_INDIRECT},
		[PERF_BRIDGE_RETURN] = {INTEL_PT_OP_RET, INTEL_PT_BR_INDIRECT},
		[PERF_BRIDGE_IRET] = {INTEL_PT_OP_IRET, INTEL_PT_BR_INDIRECT},
		[PERF_BRIDGE_INT] = {INTEL_PT_OP_INT, INTEL_PT_BR_INDIRECT},
		[PERF_BRIDGE_SYSCALL] = {INTEL_PT_OP_SYSCALL, INTEL_PT_BR_INDIRECT},
	};

	to->op = kinds[from->kind].op;
	to->branch = kinds[from->kind].branch;
	to->length = from->size;
	to->rel = from->displacement;
	to->emulated_ptwrite = false;
}

static int walk(struct intel_pt_insn *insn, uint64_t *count, uint64_t *ip, uint64_t to_ip,
		uint64_t most, void *data)
{
	const struct session *session = data;
	const struct perf_bridge *bridge = session->bridge;

	*count = 0;
	insn->op = INTEL_PT_OP_OTHER;
	insn->branch = INTEL_PT_BR_NO_BRANCH;
	insn->length = 0;
	insn->rel = 0;
	while (!to_ip || *ip != to_ip) {
		struct perf_bridge_instruction found;

		if (bridge->look_up(bridge->context, *ip, &found))
			return -22;
		bridge->instruction(bridge->context, *ip);
		++*count;
		classify(&found, insn);
		if (insn->branch != INTEL_PT_BR_NO_BRANCH || (most && *count >= most))
			return 0;
		*ip += (unsigned int)insn->length;
	}
	insn->length = 0;
	return 0;
}

/* The order of an instruction's events follows the walk. */
static int report(const struct perf_bridge *bridge, const struct intel_pt_state *state)
{
	if (state->timestamp)
		bridge->time(bridge->context, state->timestamp);
	if (state->err == INTEL_PT_ERR_OVR) {
		bridge->gap(bridge->context);
		return 0;
	}
	if (state->err)
		return state->err;
	if (state->type & INTEL_PT_TRACE_BEGIN)
		bridge->enabled(bridge->context, state->to_ip);
	if (state->type & INTEL_PT_PTW)
		bridge->ptwrite(bridge->context, state->from_ip, state->ptw_payload);
	return 0;
}

int perf_bridge_decode(const struct perf_bridge *bridge, char *text, size_t text_size)
{
	struct session session = {bridge, false};
	struct intel_pt_params params = {
		.get_trace = get_trace,
		.walk_insn = walk,
		.pgd_ip = pgd_ip,
		.lookahead = look_ahead,
		.data = &session,
		.return_compression = !(bridge->ctl & CTL_DIS_RETC),
		.branch_enable = bridge->ctl & CTL_BRANCH_EN,
		.ctl = bridge->ctl,
		.max_non_turbo_ratio = bridge->ratio,
		.mtc_period = bridge->ctl >> CTL_MTC_FREQ_SHIFT & 15,
		.tsc_ctc_ratio_n = bridge->numerator,
		.tsc_ctc_ratio_d = bridge->denominator,
		.max_loops = 1000,
	};
	struct intel_pt_decoder *decoder = intel_pt_decoder_new(&params);
	int error = 0;

	if (!decoder)
		return INTEL_PT_ERR_NOMEM;
	while (!error)
		error = report(bridge, intel_pt_decode(decoder));
	intel_pt_decoder_free(decoder);
	if (error == INTEL_PT_ERR_NODATA)
		return 0;
	intel_pt__strerror(error, text, text_size);
	return error;
}
