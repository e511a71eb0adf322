/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_shape.c - values known from shapes: SHAPE, RANK, FILL, ZEROS_LIKE, RANGE. */
#include "import/tflite.h"

enum { MOST_RANGE = 1 << 20 };

static void
shape_of(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);

	if (qn_type_count(x) < 0)
		(void)qn_importer_refuse(o->im, "import.dim",
					 "input '%s' has an open dimension; give it with "
					 "--input-dim",
					 o->from[0]->name);
	else
		qn_tfl_set_result(o, 0, qn_importer_i64s(o->im, x->rank, x->dim));
}

static void
rank_of(qn_tfl_op *o)
{
	int64_t rank = qn_tfl_rank(o, 0);
	qn_id x = qn_importer_i64s(o->im, 1, &rank);

	qn_tfl_set_result(o, 0, qn_importer_reshape(o->im, x, 0, NULL));
}

static void
fill(qn_tfl_op *o)
{
	qn_attrs a = {0};
	qn_id x = qn_tfl_moved(o, 1);

	a.shape.shape.n = qn_tfl_dims(o, 0, 0, QN_MAX_RANK, a.shape.shape.v);
	if (a.shape.shape.n >= 0)
		qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_expand, 1, &x, &a, NULL));
}

static void
zeros_like(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	const qn_type *type = qn_type_with_elem(&o->im->m->types, x, qn_tfl_result(o, 0));
	void *data;
	double scale;
	int64_t zp = 0;

	if (qn_type_count(x) < 0 || qn_type_count(x) > MOST_RANGE ||
	    !qn_tfl_take(o->f, (uint64_t)qn_type_bytes(type))) {
		(void)qn_importer_refuse(o->im, "import.size", "too many zeros");
		return;
	}
	qn_tensor *t = qn_tensor_new(o->im->m->arena, type, &data);
	if (qn_elem_is_quant(type->elem))
		qn_elem_param(&o->im->m->types, type->elem, 0, &scale, &zp);
	for (int64_t i = 0; zp != 0 && i < qn_type_count(type); i++)
		qn_store_i64(data, type->elem->plain, i, zp);
	qn_tfl_set_result(o, 0, qn_importer_const(o->im, o->im->node, t));
}

/* From start by delta until limit, which is not reached; f32 is added up in f32. */
static void
range(qn_tfl_op *o)
{
	const qn_elem *e = qn_tfl_result(o, 0);
	double v[3], at;
	int64_t n = 0;
	void *data;

	for (uint32_t i = 0; i < 3; i++) {
		const qn_tensor *t = qn_importer_known(o->im, o->in[i]);

		if (t == NULL || qn_type_count(t->type) != 1) {
			(void)qn_importer_refuse(o->im, "import.input",
						 "input %u must be one constant number", i);
			return;
		}
		v[i] = qn_tensor_f64(t, 0);
	}
	bool is_float = qn_elem_is_float(e);
	if (v[2] > 0.0 || v[2] < 0.0)
		for (at = v[0]; n < MOST_RANGE && (v[2] > 0.0 ? at < v[1] : at > v[1]); n++)
			at = is_float ? (double)(float)(at + v[2]) : at + v[2];
	if (n == MOST_RANGE || n == 0 || !qn_tfl_take(o->f, 8 * (uint64_t)n)) {
		(void)qn_importer_refuse(
			o->im, "import.input",
			"numbers from %g to %g by %g; 1 to %d numbers are supported", v[0], v[1],
			v[2], (int)MOST_RANGE);
		return;
	}
	qn_tensor *t =
		qn_tensor_new(o->im->m->arena, qn_type_tensor(&o->im->m->types, e, 1, &n), &data);
	at = v[0];
	for (int64_t i = 0; i < n; i++) {
		qn_store_f64(data, e->plain, i, at);
		at = is_float ? (double)(float)(at + v[2]) : at + v[2];
	}
	qn_tfl_set_result(o, 0, qn_importer_const(o->im, o->im->node, t));
}

const qn_tfl_row qn_tfl_shape_rows[] = {
	{QN_TFL_SHAPE, shape_of, 0, 1, 1, 1, 0}, {QN_TFL_RANK, rank_of, 0, 1, 1, 1, 0},
	{QN_TFL_FILL, fill, 0, 2, 2, 1, 0},      {QN_TFL_ZEROS_LIKE, zeros_like, 0, 1, 1, 1, 0},
	{QN_TFL_RANGE, range, 0, 3, 3, 1, 0},    {0},
};
