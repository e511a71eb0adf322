/* SPDX-License-Identifier: Apache-2.0 */
/* emit_pool.c - max_pool, avg_pool and global_avg_pool. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
emit_pool(qn_emitter *e, const qn_step *s, const void *args, const char *kernel)
{
	const qn_pool_args *p = &((const qn_pool_call *)args)->args;

	qn_emit_open(e, s, "qn_pool_args", 0);
	qn_emit_window(e, s, p->k_h);
	qn_emit_args(e, p, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, kernel, symbol, QN_OWN, 1, true);
}

static void
max_pool(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_pool(e, s, args, "qn_max_pool_q");
}

static void
avg_pool(qn_emitter *e, const qn_step *s, const void *args)
{
	emit_pool(e, s, args, "qn_avg_pool_q");
}

static void
global_avg_pool(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_mean_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_mean_q", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_max_pool = {.emit = max_pool};
const qn_emit_form qn_emit_op_avg_pool = {.emit = avg_pool};
const qn_emit_form qn_emit_op_global_avg_pool = {.emit = global_avg_pool};
