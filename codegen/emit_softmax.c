/* SPDX-License-Identifier: Apache-2.0 */
/* emit_softmax.c - softmax along the last axis. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

/* Codes of 16 bits, through two tables. */
static void
emit_tables(qn_emitter *e, const qn_step *s, const qn_softmax16_args *a)
{
	const char *exp = qn_emit_table(e, s, "exp", QN_PLAIN_i16, QN_LUT_LINES + 1, a->exp);
	const char *inverse =
		qn_emit_table(e, s, "inverse", QN_PLAIN_i16, QN_LUT_LINES + 1, a->inverse);

	qn_emit_open(e, s, "qn_softmax16_args", 0);
	qn_emit_args(e, a, (const char *const[]){exp, inverse});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_softmax_q", symbol, QN_OWN, 1, false);
}

static void
emit_softmax(qn_emitter *e, const qn_step *s, const void *args)
{
	if (qn_step_family(e, s) == QN_FAMILY_s16) {
		emit_tables(e, s, args);
		return;
	}

	const bool fixed = qn_step_is_fixed(e, s);

	qn_emit_open(e, s, fixed ? "qn_softmax_args" : "qn_softmax_any_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, fixed ? "qn_softmax_q" : "qn_softmax_any_q", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_softmax = {.in_place = 1, .emit = emit_softmax};
