/* SPDX-License-Identifier: Apache-2.0 */
/* emit_resize.c - resize_nearest with its tables of source pixels, and resize_bilinear. */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

static void
nearest(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_nearest_args *d = args;
	const char *row = qn_emit_table(e, s, "row", QN_PLAIN_i32, d->out_h, d->row);
	const char *col = qn_emit_table(e, s, "col", QN_PLAIN_i32, d->out_w, d->col);

	qn_emit_open(e, s, "qn_nearest_args", 0);
	qn_emit_args(e, args, (const char *const[]){row, col});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_nearest", symbol, QN_NPLAIN, 1, false);
}

static void
bilinear(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_bilinear_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_bilinear_q", symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_resize_nearest = {.emit = nearest};
const qn_emit_form qn_emit_op_resize_bilinear = {.emit = bilinear};
