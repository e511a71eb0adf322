/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_regroup.c - constants of a quantized file of which a reshape repeats the scales, as those of a grouped
 * ConvTranspose of ONNX, which has one for each channel of a group.
 *
 *   dequantize(w [4,3,…] {axis 1})  reshape [2,2,3,…]  transpose [2,3,…,2]  reshape [6,…,2]
 *                                      ->   dequantize(w' [6,…,2] {axis 0}), each scale twice */
#include "passes/requantize_gaps.h"
#include "runtime/interp.h"

enum { MOST_MOVES = 16 };

/* A constant, and the moves of its dequantized values, the last one first. */
typedef struct chain {
	const qn_tensor *constant;
	qn_id move[MOST_MOVES];
	int n;
} chain;

static bool
find_chain(const qn_rw *rw, qn_id id, chain *c)
{
	const qn_node *n = qn_rw_node(rw, id);

	for (c->n = 0; n->op == QN_OP_reshape || n->op == QN_OP_transpose;) {
		if (c->n == MOST_MOVES)
			return false;
		c->move[c->n++] = id;
		id = n->in[0];
		n = qn_rw_node(rw, id);
	}
	if (n->op != QN_OP_dequantize || qn_rw_node(rw, n->in[0])->op != QN_OP_const)
		return false;
	c->constant = qn_rw_node(rw, n->in[0])->value;
	const qn_elem *e = c->constant->type->elem;
	return e->kind == QN_ELEM_UNIFORM && e->gran == QN_PER_AXIS && e->bits <= 8 &&
	       qn_type_count(c->constant->type) > 0;
}

/* Whether a move merges or splits the axis of the scales, so that the type of its result could not have them. */
static bool
repeats(const qn_rw *rw, const chain *c)
{
	const qn_type *x = c->constant->type;
	int32_t axis = x->elem->axis[0];

	for (int i = c->n - 1; i >= 0 && axis >= 0; i--) {
		const qn_node *y = qn_rw_node(rw, c->move[i]);
		int32_t to = -1;

		if (y->op == QN_OP_reshape)
			to = qn_type_same_axis(x, axis, y->type);
		for (int32_t k = 0; y->op == QN_OP_transpose && k < y->type->rank; k++)
			to = y->attr->perm.perm.v[k] == axis ? k : to;
		axis = to;
		x = y->type;
	}
	return axis < 0;
}

/* A number for each element of the constant, moved; NULL after a report. */
static const qn_tensor *
moved(qn_rw *rw, const chain *c, const float *v)
{
	qn_model *m = qn_rw_model(rw);
	const qn_type *t = qn_type_with_elem(&m->types, c->constant->type,
					     qn_elem_plain(&m->types, QN_PLAIN_f32));
	const qn_tensor *x = qn_tensor_of(m->scratch, t, v);

	for (int i = c->n - 1; i >= 0; i--) {
		qn_tensor *y;
		const qn_status status = qn_eval_node(qn_rw_graph(rw), qn_rw_node(rw, c->move[i]),
						      &x, m->scratch, &y);

		if (status != QN_OK) {
			qn_rw_fail(rw, status);
			return NULL;
		}
		x = y;
	}
	return x;
}

/* The axis whose index says which scale an element has: scale[index]; -1: none. */
static int32_t
axis_of(const qn_tensor *which, int64_t *scale)
{
	const qn_type *t = which->type;
	const float *v = which->data;
	int64_t inner = qn_type_count(t);

	for (int32_t axis = 0; axis < t->rank; axis++) {
		int64_t i = 0;

		inner /= t->dim[axis];
		for (int64_t k = 0; k < t->dim[axis]; k++)
			scale[k] = (int64_t)v[k * inner];
		while (i < qn_type_count(t) && scale[i / inner % t->dim[axis]] == (int64_t)v[i])
			i++;
		if (i == qn_type_count(t))
			return axis;
	}
	return -1;
}

static const qn_elem *
repeated(qn_model *m, const qn_elem *e, int32_t axis, int64_t count, const int64_t *which)
{
	double *scale = QN_NEW(m->scratch, double, (size_t)count);
	int64_t *zp = QN_NEW(m->scratch, int64_t, (size_t)count);

	for (int64_t i = 0; i < count; i++)
		qn_elem_param(&m->types, e, (size_t)which[i], &scale[i], &zp[i]);
	return qn_rqz_along_axis(m, e, axis, (size_t)count, scale, zp);
}

qn_id
qn_rqz_regroup(qn_rw *rw, const qn_match *match)
{
	qn_model *m = qn_rw_model(rw);
	const qn_type *t = qn_rw_node(rw, match->root)->type;
	chain c;
	void *data;

	if (!fills(rw) || !find_chain(rw, match->root, &c) || !repeats(rw, &c))
		return qn_rw_decline(rw, "it does not repeat the scales of a file's constant");
	const qn_elem *e = c.constant->type->elem;
	const int64_t n = qn_type_count(t);
	float *stored = QN_NEW(m->scratch, float, (size_t)n),
	      *of = QN_NEW(m->scratch, float, (size_t)n);
	const int32_t axis = e->axis[0];
	int64_t each = 1; /* elements of a channel in a row */
	for (int32_t k = axis + 1; k < c.constant->type->rank; k++)
		each *= c.constant->type->dim[k];
	for (int64_t i = 0; i < n; i++) {
		stored[i] = (float)qn_tensor_i64(c.constant, i);
		of[i] = (float)(i / each % c.constant->type->dim[axis]);
	}
	const qn_tensor *values = moved(rw, &c, stored);
	const qn_tensor *which = values != NULL ? moved(rw, &c, of) : NULL;
	if (values == NULL || which == NULL)
		return 0;
	int64_t *scale = QN_NEW(m->scratch, int64_t, (size_t)n);
	const int32_t to = axis_of(which, scale);
	if (to < 0)
		return qn_rw_decline(rw, "its scales lie along no axis any more");
	const qn_elem *made = repeated(m, e, to, t->dim[to], scale);
	if (made == NULL)
		return 0;
	qn_tensor *w = qn_tensor_new(m->arena, qn_type_with_elem(&m->types, t, made), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, made->plain, i, (int64_t)((const float *)values->data)[i]);
	const qn_id q = qn_rw_const(rw, NULL, w);
	return q != 0 ? qn_rw_add(rw, QN_OP_dequantize, qn_rw_name(rw, match->root), 1, &q, NULL,
				  NULL)
		      : 0;
}
