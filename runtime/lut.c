/* SPDX-License-Identifier: Apache-2.0 */
/* lut.c - see lut.h. */
#include "runtime/lut.h"

#include <math.h>

#include "ir/clamp.h"
#include "runtime/family.h"
#include "runtime/kernels/unary.h"
#include "runtime/math.h"

enum { CODES = 256, SIGMOIDS = 256 };

/* y / scale rounded to an integer, halves away from 0. */
static int64_t
nearest(double q, int32_t zp, const qn_elem *e)
{
	double whole = trunc(q);

	if (!(q == q))
		whole = 0.0;
	else if (fabs(q - whole) >= 0.5) /* not for infinities: their difference is NaN */
		whole += q < 0.0 ? -1.0 : 1.0;
	whole += (double)zp;
	if (whole < (double)e->qmin)
		return e->qmin;
	return whole > (double)e->qmax ? e->qmax : (int64_t)whole;
}

/* A function between quantized values: of one of the input, in steps of the result. */
typedef struct function {
	qn_lut_fn *f;
	const void *user;
	double in, out;     /* scales */
	int32_t zp, zo;     /* zero points */
	double least, most; /* of the result's storage, its zero point subtracted */
	double first;       /* value of the input's storage */
	bool own;    /* its parameters are Quern's, not those of a file that came quantized */
	bool of_f32; /* its operand is rounded to f32 */
} function;

/* Functions that jump, or end, at a number such as 1: what f32 rounds to it, as the float graph does, is that number. */
static bool
takes_f32(qn_op op)
{
	static const qn_op ops[] = {QN_OP_floor,  QN_OP_ceil, QN_OP_round, QN_OP_thresholded_relu,
				    QN_OP_shrink, QN_OP_asin, QN_OP_acos,  QN_OP_acosh,
				    QN_OP_atanh};

	for (size_t i = 0; i < QN_COUNT(ops); i++)
		if (ops[i] == op)
			return true;
	return false;
}

double
qn_lut_beside_pole(qn_lut_fn *f, const void *user, double x, double step, bool has_below)
{
	const double below = f(user, x - step / 4), above = f(user, x + step / 4);

	has_below = has_below && below == below;
	if (has_below == (above == above))
		return f(user, x);
	return has_below ? below : above;
}

static double
at_code(const function *f, double code)
{
	const double exact = f->in * (code - (double)f->zp);
	const double x = f->of_f32 ? (double)(float)exact : exact;
	const double y = f->f(f->user, x);

	if (!f->own || !isinf(y))
		return y / f->out;
	return qn_lut_beside_pole(f->f, f->user, x, f->in, code > f->first) / f->out;
}

/* The same for a table with lines: limited to the storage range, so that what is beyond it does not bend a line, and 0
 * outside of the function's domain. */
static double
limited(const void *user, double code)
{
	const function *f = user;
	const double y = at_code(f, code);

	return y == y ? qn_clamp_f64(y, f->least, f->most) : 0.0;
}

/* The table of 8-bit values. */
static void *
entries_of(const function *f, qn_family family, const qn_elem *out, qn_arena *a)
{
	void *table = qn_arena_alloc(a, CODES, qn_elem_bytes(out));

	for (int32_t i = 0; i < CODES; i++) {
		const int32_t code = family == QN_FAMILY_s8 && i >= CODES / 2 ? i - CODES : i;

		qn_store_i64(table, out->plain, i, nearest(at_code(f, (double)code), f->zo, out));
	}
	return table;
}

qn_lut *
qn_lut_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, qn_lut_fn *f, const void *user)
{
	const qn_type *in = qn_in_type(g, n, 0), *out = n->type;
	qn_lut *d = QN_NEW(a, qn_lut, 1);

	if (!qn_int_check_quantized(g, n, in) || !qn_int_check_quantized(g, n, out))
		return NULL;
	const function fn = {f,
			     user,
			     qn_scale_of(g, in),
			     qn_scale_of(g, out),
			     qn_zp_of(g, in),
			     qn_zp_of(g, out),
			     (double)(out->elem->qmin - qn_zp_of(g, out)),
			     (double)(out->elem->qmax - qn_zp_of(g, out)),
			     (double)in->elem->qmin,
			     g->model->quantized_here,
			     takes_f32(n->op)};
	const qn_family family = qn_node_family(g, n);
	d->n = (int32_t)qn_static_count(out);
	d->plain = out->elem->plain;
	if (family == QN_FAMILY_s16) {
		const qn_lut_lines lines = qn_lut_lines_of(a, limited, &fn, fn.least, fn.most);

		d->part = lines.part;
		d->table = lines.point;
		d->points = lines.n;
	} else {
		d->table = entries_of(&fn, family, out->elem, a);
	}
	return d;
}

qn_lut *
qn_lut_from_entries(const qn_node *n, qn_arena *a, const qn_tensor *entries)
{
	const qn_elem *e = n->type->elem;
	qn_lut *d = QN_NEW(a, qn_lut, 1);
	int64_t count = qn_type_count(entries->type);
	void *table = qn_arena_alloc(a, (size_t)count, qn_elem_bytes(e));

	for (int64_t i = 0; i < count; i++) /* the constant's bytes need not be aligned */
		qn_store_i64(table, e->plain, i, qn_tensor_i64(entries, i));
	*d = (qn_lut){.n = (int32_t)qn_static_count(n->type), .table = table, .plain = e->plain};
	return d;
}

/* ---- sigmoid and tanh of 16 bits ---- */

/* sigmoid(i / 24) in 0.16, moved as other tables are; the entry after the last would be 1. */
static uint16_t
sigmoid_entry(int32_t i)
{
	double y = 65536.0 * qn_sigmoid((double)i / 24.0);
	double next = 65536.0 * qn_sigmoid((double)(i + 1) / 24.0);
	double middle = 65536.0 * qn_sigmoid(((double)i + 0.5) / 24.0);

	return i == SIGMOIDS - 1 ? UINT16_MAX
				 : (uint16_t)floor(y - ((y + next) / 2.0 - middle) / 2.0 + 0.5);
}

qn_lut *
qn_lut_curve(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const double most = 5.0;

	if (qn_node_family(g, n) != QN_FAMILY_s16 || qn_family_of(n->type->elem) != QN_FAMILY_s16 ||
	    qn_scale_of(g, n->type) != 0x1p-15 || qn_scale_of(g, qn_in_type(g, n, 0)) > most)
		return NULL;
	qn_lut *d = QN_NEW(a, qn_lut, 1);
	uint16_t *table = QN_NEW(a, uint16_t, SIGMOIDS);
	for (int32_t i = 0; i < SIGMOIDS; i++)
		table[i] = sigmoid_entry(i);
	*d = (qn_lut){
		.n = (int32_t)qn_static_count(n->type), .table = table, .plain = QN_PLAIN_u16};
	/* TFLite's Prepare: 15 bits of a multiplier to 1/12288. */
	double M = qn_scale_of(g, qn_in_type(g, n, 0)) * 12288.0;
	for (d->sh = 0; M <= 32767.0 / 2.0 && d->sh <= 30; d->sh++)
		M *= 2.0;
	d->m = (int32_t)M;
	return d;
}

#define RUN(name, q, o, a, code)                                                                   \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_lut *d = args;                                                            \
                                                                                                   \
		qn_lut##q(&(qn_lut_args##o){d->n, d->table}, e->in[0], e->out);                    \
	}
QN_BY_FAMILY(run_table, RUN)

void
qn_lut_run(const qn_eval *e, const void *lut)
{
	const qn_lut *d = lut;
	const qn_sigmoid_args args = {d->n, d->m, d->sh, d->table};

	if (d->part != NULL)
		qn_lut_lines_s16(&(qn_lut_lines_args){d->n, d->points, d->part, d->table}, e->in[0],
				 e->out);
	else if (d->plain != QN_PLAIN_u16)
		run_table(e, d);
	else if (e->n->op == QN_OP_tanh)
		qn_tanh_s16(&args, e->in[0], e->out);
	else
		qn_sigmoid_s16(&args, e->in[0], e->out);
}
