/* SPDX-License-Identifier: Apache-2.0 */
/* infer_unary.c - types of functions of one value, of pow and of prelu.
 *
 *   silu [2,3]  ->  [2,3]       pow [2,3], [1]  ->  [2,3]       prelu [2,3], [3]  ->  [2,3]
 *   table [2,3], [256]  ->  [2,3] */
#include <string.h>

#include "ir/infer.h"

static const qn_type *
same_shape(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_mix(g, n, declared);

	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	return qn_infer_result(g, n, e, &x);
}

/* Real attributes are finite (attr.value). */
static bool
has_finite_attributes(const qn_graph *g, const qn_node *n)
{
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;
	bool ok = true;

	for (size_t i = 0; i < set->nattr; i++) {
		const qn_attr_info *info = &set->attr[i];
		double v = 0;

		if (info->kind == QN_ATTR_REAL)
			memcpy(&v, (const char *)n->attr + info->offset, sizeof v);
		if (!(v - v == 0))
			ok = qn_infer_error(g, n, "attr.value", "%s is %g, must be finite",
					    info->name, v);
	}
	return ok;
}

/* celu divides by alpha, as f32. */
static bool
divides_by_zero(const qn_graph *g, const qn_node *n)
{
	if (n->op != QN_OP_celu || (float)n->attr->celu.alpha != 0.0F)
		return false;
	return !qn_infer_error(g, n, "attr.value", "alpha is 0, must not be 0");
}

static const qn_type *
real_type(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const bool ok = has_finite_attributes(g, n);
	const qn_type *type = same_shape(g, n, declared);

	return ok && !divides_by_zero(g, n) ? type : NULL;
}

/* The same for what is defined on plain integers too. */
static const qn_type *
number_type(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_integers(g, n, false) ? qn_infer_in(g, n, 0) : real_type(g, n, declared);
}

#define FUNCTION(name, attributes, behaviour, types, value, facts)                                 \
	const qn_type *qn_infer_##name(const qn_graph *g, const qn_node *n,                        \
				       const qn_type *declared)                                    \
	{                                                                                          \
		return types##_type(g, n, declared);                                               \
	}
#include "ir/ops.def"

/* A plain type that pow computes with; a calibrated one is float. */
static bool
is_plain_number(const qn_type *t)
{
	return !t->is_tuple &&
	       (t->elem->kind == QN_ELEM_CALIBRATED ||
		(t->elem->kind == QN_ELEM_PLAIN && t->elem->plain != QN_PLAIN_bool));
}

/* Broadcasts as add does.  Base and exponent may be of two plain types: the result is of the
 * base's. */
const qn_type *
qn_infer_pow(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *base = qn_infer_in(g, n, 0), *exponent = qn_infer_in(g, n, 1);
	qn_shape y;

	if (!is_plain_number(base) || !is_plain_number(exponent) ||
	    (qn_elem_is_float(base->elem) && qn_elem_is_float(exponent->elem)))
		return qn_infer_add(g, n, declared);
	const qn_elem *e = base->elem->kind == QN_ELEM_CALIBRATED
				   ? qn_elem_plain(&g->model->types, base->elem->expressed)
				   : base->elem;
	return qn_infer_broadcast(g, n, &y) ? qn_infer_result(g, n, e, &y) : NULL;
}

/* x [...,C], slope [C]: the shapes of a bias_add. */
const qn_type *
qn_infer_prelu(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_bias_add(g, n, declared);
}

/* x, and a table of the results: for 8 bits those of all 256 quantized values, for 16 bits those of every
 * 128th one and of the one after the last. */
const qn_type *
qn_infer_table(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *x = qn_infer_in(g, n, 0), *t = qn_infer_in(g, n, 1);
	const qn_elem *e = qn_infer_mix(g, n, declared);

	if (e == NULL)
		return NULL;
	int32_t bits = qn_elem_is_quant(x->elem) ? x->elem->bits : 0;
	int64_t entries = bits == 8 ? 256 : 513;
	if ((bits != 8 && bits != 16) || t->rank != 1 || t->dim[0] != entries || t->elem != e) {
		(void)qn_infer_error(g, n, "type.mismatch",
				     "x is %s and the table %s: the table must have 256 entries "
				     "for 8 bits, 513 for 16 bits, of the result's type",
				     qn_infer_type_text(g, x), qn_infer_type_text(g, t));
		return NULL;
	}
	qn_shape shape = qn_shape_of(x);
	return qn_infer_result(g, n, e, &shape);
}
