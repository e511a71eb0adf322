/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_pad.c - Pad: elements added at the ends of axes, or taken away.
 *
 *   Pad(x, [0, 1, 0, -2])      pad {before=[0, 1]}, then slice {end=[.., -2]}
 *   Pad(x, [1, 1], 0, [3])     axes that are not named get nothing
 *   CenterCropPad(x, [3, 8])   likewise half of the difference at each end, of an odd one more at the second */
#include "import/onnx_quant.h"
#include "import/onnx_write_op.h"

#include <string.h>

typedef struct pads {
	int64_t before[QN_MAX_RANK], after[QN_MAX_RANK];
} pads;

/* Numbers of the list for the axes of `rank`; false after a report. */
static bool
read_pads(qn_onnx *o, const qn_onnx_node *n, int32_t rank, pads *p)
{
	const char *name = n->version < 2 ? "paddings" : "pads";
	int64_t v[2 * QN_MAX_RANK], axes[QN_MAX_RANK];
	int32_t count = n->version < 11 ? qn_onnx_ints(o, n, name, 2 * QN_MAX_RANK, v)
					: qn_onnx_const_ints(o, n, 1, 2 * QN_MAX_RANK, v);
	int32_t naxes = rank, axis;

	*p = (pads){0};
	if (n->version >= 18 && qn_onnx_in(n, 3) != 0)
		naxes = qn_onnx_const_ints(o, n, 3, QN_MAX_RANK, axes);
	else
		for (int32_t i = 0; i < rank; i++)
			axes[i] = i;
	if (count < 0 || naxes < 0)
		return false;
	if (count != 2 * naxes) {
		(void)qn_importer_refuse(&o->im, "import.input", "%d pads for %d axes", (int)count,
					 (int)naxes);
		return false;
	}
	for (int32_t i = 0; i < naxes; i++) {
		if (!qn_onnx_axis(o, axes[i], rank, &axis))
			return false;
		p->before[axis] = v[i];
		p->after[axis] = v[naxes + i];
	}
	return true;
}

/* Negative pads. */
static qn_id
cropped(qn_onnx *o, qn_id x, const pads *p)
{
	int32_t rank = qn_onnx_type(o, x)->rank;

	for (int32_t i = 0; i < rank && x != 0; i++) {
		int64_t dim = qn_onnx_type(o, x)->dim[i];
		int64_t begin = p->before[i] < 0 ? -p->before[i] : 0;
		int64_t end = p->after[i] < 0 ? dim + p->after[i] : dim;

		if (begin > dim || end < begin)
			return qn_importer_refuse(
				&o->im, "import.input",
				"more is removed from axis %d than its %lld elements", (int)i,
				(long long)dim);
		x = qn_importer_slice(&o->im, x, i, begin, end);
	}
	return x;
}

/* Negative pads first, as in ONNX Runtime: what is cut off is neither wrapped nor reflected; then those of a positive
 * number as a says. */
static qn_id
padded(qn_onnx *o, qn_id x, const pads *p, qn_attrs *a)
{
	int32_t rank = qn_onnx_type(o, x)->rank;
	bool any = false;

	a->pad.before.n = a->pad.after.n = rank;
	for (int32_t i = 0; i < rank; i++) {
		a->pad.before.v[i] = p->before[i] > 0 ? p->before[i] : 0;
		a->pad.after.v[i] = p->after[i] > 0 ? p->after[i] : 0;
		any = any || p->before[i] > 0 || p->after[i] > 0;
	}
	x = cropped(o, x, p);
	return x != 0 && any ? qn_importer_op(&o->im, QN_OP_pad, 1, &x, a, NULL) : x;
}

static void
pad(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_pad);
	pads p;

	if (!qn_onnx_need(o, n, 1))
		return;
	int32_t rank = qn_onnx_type(o, n->in[0])->rank;
	a.pad.mode = qn_onnx_enum(o, n, "mode", "constant", QN_ENUM_pad_mode);
	a.pad.value = qn_onnx_float(o, n, "value", 0);
	if (a.pad.mode < 0 || !read_pads(o, n, rank, &p) ||
	    (n->version >= 11 && !qn_onnx_const_real(o, n, 2, 0, &a.pad.value)))
		return;
	if (qn_elem_is_quant(qn_onnx_type(o, n->in[0])->elem)) /* the value is an integer */
		a.pad.value = qn_onnx_number_of(o, n->in[0], (int64_t)a.pad.value);
	out[0] = padded(o, n->in[0], &p, &a);
}

static void
center(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_pad);
	int64_t axes[QN_MAX_RANK], want[QN_MAX_RANK];
	int32_t axis;
	pads p = {0};

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t count = qn_onnx_const_ints(o, n, 1, QN_MAX_RANK, want), naxes = t->rank;
	bool named = qn_onnx_has(o, n, "axes");
	if (named)
		naxes = qn_onnx_ints(o, n, "axes", QN_MAX_RANK, axes);
	if (count < 0 || naxes < 0)
		return;
	if (count != naxes) {
		(void)qn_importer_refuse(&o->im, "import.input", "%d lengths for %d axes",
					 (int)count, (int)naxes);
		return;
	}
	for (int32_t i = 0; i < naxes; i++) {
		if (!qn_onnx_axis(o, named ? axes[i] : i, t->rank, &axis))
			return;
		if (want[i] < 0 || want[i] > INT32_MAX) {
			(void)qn_importer_refuse(&o->im, "import.input", "a length of %lld",
						 (long long)want[i]);
			return;
		}
		p.before[axis] = (want[i] - t->dim[axis]) / 2; /* toward zero */
		p.after[axis] = want[i] - t->dim[axis] - p.before[axis];
	}
	a.pad.value = qn_elem_is_quant(t->elem) ? qn_onnx_number_of(o, n->in[0], 0) : 0;
	out[0] = padded(o, n->in[0], &p, &a);
}

const qn_onnx_row qn_onnx_pads[] = {
	QN_ONNX_BOTH("Pad", 1, pad, qn_onnx_write_pad, 0, ANY, QN_OP_pad),
	QN_ONNX_READ("", "CenterCropPad", 18, center, 0),
	{0},
};
