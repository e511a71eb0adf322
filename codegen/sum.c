/* SPDX-License-Identifier: Apache-2.0 */
/* sum.c - see sum.h.  Weights that are not constant have no symbol; the call then works on a copy
 * of the argument struct:
 *
 *   qn_dense_args a = net_product_args;
 *   a.w = s + 64;
 *   qn_dense_acc(&a, in->x, out->y); */
#include "codegen/sum.h"

bool
qn_sum_fuse(const qn_sum_fields *f, int32_t channels, const qn_requantize_args *r)
{
	if (r->zi != 0 || (r->mult_n != 1 && (r->inner != 1 || r->channels != channels)))
		return false;
	*f->zo = r->zo;
	*f->lo = r->lo;
	*f->hi = r->hi;
	*f->mode = r->mode;
	*f->mult_n = r->mult_n;
	*f->mult = r->mult;
	*f->shift = r->shift;
	return true;
}

void
qn_emit_sum(qn_emitter *e, const qn_step *s, const void *args, const qn_sum *sum)
{
	/* Constants are named in the order weights, bias, tables. */
	const char *w = qn_step_packs(e, s) ? qn_emit_packed(e, s, 1) : qn_emit_operand(e, s, 1);
	const char *bias = qn_emit_operand(e, s, 2);
	const char *mult = qn_emit_table(e, s, "mult", QN_PLAIN_i32, sum->mult_n, sum->mult);
	const char *shift = qn_emit_table(e, s, "shift", QN_PLAIN_i8, sum->mult_n, sum->shift);
	bool varies = qn_operand_varies(e, s, 1);

	qn_emit_open(e, s, sum->type, 0);
	qn_emit_args(e, args, (const char *const[]){w, bias, mult, shift});
	const char *symbol = qn_emit_close(e);
	if (varies) {
		qn_buff(&e->run, "\t{\n\t%s a = %s;\n\n", qn_emit_name(e, s, sum->type), symbol);
		qn_buff(&e->run, "\ta.w = %s;\n", qn_emit_ref(e, s->in[1], QN_OWN));
	}
	qn_emit_call(e, s, sum->kernel, varies ? "a" : symbol, QN_OWN, 1, sum->rows);
	if (varies)
		qn_buf_puts(&e->run, "\t}\n");
}
