/* SPDX-License-Identifier: Apache-2.0 */
/* emit_io_walk.c - the walk of NAME_io.h over the elements of a tensor: nested loops, one over each axis that
 * has parameters, and one over what is before, between and after them.  Where the type leaves the shape open,
 * the caller gives it, and it is checked against the type. */
#include "codegen/emit_io.h"

void
qn_io_find_axes(qn_io *p)
{
	const qn_elem *e = p->port.type->elem;
	const qn_params *v = e->gran == QN_SUB_CHANNEL ? qn_scale_params(e->scale) : NULL;

	p->naxis = e->gran == QN_PER_TENSOR ? 0 : e->naxis;
	for (int32_t i = 0; i < p->naxis; i++) {
		p->axis[i] = e->axis[i];
		p->block[i] = e->gran == QN_SUB_CHANNEL ? e->block[i] : 1;
		p->length[i] = e->gran == QN_PER_AXIS ? (int64_t)qn_elem_nparams(e) : 1;
		if (v != NULL && e->axis[i] < v->rank)
			p->length[i] = v->shape[e->axis[i]];
	}
}

/* Level l: even ones go over what is before, between and after the axes, odd ones over an axis. */
static void
put_extent(const qn_io *p, int32_t level, qn_buf *b)
{
	const qn_type *type = p->port.type;
	const int32_t k = level / 2;
	int64_t n = 1;

	if (p->open) {
		qn_buff(b, "n%d", level);
		return;
	}
	if (level % 2 == 1) {
		n = type->dim[p->axis[k]];
	} else {
		const int32_t end = k < p->naxis ? p->axis[k] : type->rank;

		for (int32_t d = k > 0 ? p->axis[k - 1] + 1 : 0; d < end; d++)
			n *= type->dim[d];
	}
	qn_buff(b, "%lld", (long long)n);
}

void
qn_io_index(const qn_io *p, qn_buf *b)
{
	if (p->naxis == 0)
		qn_buf_putc(b, '0');
	for (int32_t k = 0; k < p->naxis; k++) {
		int64_t stride = 1;

		for (int32_t j = k + 1; j < p->naxis; j++)
			stride *= p->length[j];
		qn_buf_puts(b, k > 0 ? " + " : "");
		qn_buff(b, p->block[k] > 1 ? "i%d / %lld" : "i%d", 2 * k + 1,
			(long long)p->block[k]);
		if (stride > 1)
			qn_buff(b, " * %lld", (long long)stride);
	}
}

void
qn_io_loops(const qn_io *p, qn_buf *b)
{
	const int32_t levels = 2 * p->naxis + 1;

	for (int32_t l = 0; l < levels; l++) {
		qn_buf_putc(b, '\t');
		for (int32_t i = 0; i < l; i++)
			qn_buf_putc(b, '\t');
		qn_buff(b, "for (i%d = 0; i%d < ", l, l);
		put_extent(p, l, b);
		qn_buff(b, "; i%d++%s) {\n", l, l + 1 == levels ? ", at++" : "");
	}
}

void
qn_io_ends(const qn_io *p, qn_buf *b)
{
	for (int32_t l = 2 * p->naxis; l >= 0; l--) {
		qn_buf_putc(b, '\t');
		for (int32_t i = 0; i < l; i++)
			qn_buf_putc(b, '\t');
		qn_buf_puts(b, "}\n");
	}
}

/* ---- the shape at run time ---- */

/* Known lengths of an axis: parameters times their block, or, with a short last block, between two. */
static void
put_axis_check(const qn_io *p, int32_t k, qn_buf *b)
{
	const int64_t whole = p->length[k] * p->block[k];
	const int32_t a = p->axis[k];

	if (p->port.type->elem->partial && p->block[k] > 1)
		qn_buff(b,
			"\tif (dim[%d] <= %lld || dim[%d] > %lld || dim[%d] < %lld)\n"
			"\t\treturn %s_IO_SHAPE;\n",
			a, (long long)(whole - p->block[k]), a, (long long)whole, a,
			(long long)p->block[k], p->e->macro);
	else
		qn_buff(b, "\tif (dim[%d] != %lld)\n\t\treturn %s_IO_SHAPE;\n", a, (long long)whole,
			p->e->macro);
}

void
qn_io_shape_check(const qn_io *p, qn_buf *b)
{
	const qn_type *type = p->port.type;
	const char *macro = p->e->macro;

	if (type->rank >= 0)
		qn_buff(b, "\tif (rank != %d)\n\t\treturn %s_IO_RANK;\n", type->rank, macro);
	else
		qn_buff(b, "\tif (rank < %d || rank > %d)\n\t\treturn %s_IO_RANK;\n",
			p->naxis > 0 ? p->axis[p->naxis - 1] + 1 : 0, (int)QN_MAX_RANK, macro);
	qn_buff(b,
		"\tfor (d = 0; d < rank; d++)\n\t\tif (dim[d] < %d)\n\t\t\treturn %s_IO_SHAPE;\n",
		p->port.type->elem->gran == QN_SUB_CHANNEL ? 1 : 0, macro);
	for (int32_t i = 0; i < type->rank; i++)
		if (type->dim[i] != QN_DYNAMIC)
			qn_buff(b, "\tif (dim[%d] != %lld)\n\t\treturn %s_IO_SHAPE;\n", i,
				(long long)type->dim[i], macro);
	for (int32_t k = 0; k < p->naxis; k++)
		put_axis_check(p, k, b);
	for (int32_t l = 0; l <= 2 * p->naxis; l++) {
		const int32_t k = l / 2;

		if (l % 2 == 1) {
			qn_buff(b, "\tn%d = (size_t)dim[%d];\n", l, p->axis[k]);
			continue;
		}
		qn_buff(b, "\tfor (d = %d; d < ", k > 0 ? p->axis[k - 1] + 1 : 0);
		qn_buff(b, k < p->naxis ? "%d" : "rank", k < p->naxis ? p->axis[k] : 0);
		qn_buff(b, "; d++)\n\t\tn%d *= (size_t)dim[d];\n", l);
	}
}
