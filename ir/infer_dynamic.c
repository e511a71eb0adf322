/* SPDX-License-Identifier: Apache-2.0 */
/* infer_dynamic.c - types of quantization whose scale is computed at run time.
 *
 *   dynamic_quantize <i16:f32, s> [2,8]   ->  tuple of values <i8<-127:127>:f32, s/127> [2,8], mantissa i32 [1], exponent i32 [1]
 *   … {rows=1}                            ->  mantissa and exponent [2]
 *   dynamic_values, dynamic_mantissa      ->  these fields alone
 *   dynamic_rescale <i32:f32, s/127*s_w> [2,4], mantissa, exponent, bias  ->  the type that is written
 *   dynamic_fake_quant f32                ->  f32
 *
 * A value stands for q * scale of its type * mantissa * 2^exponent: the type has what is known before, s / 127. */
#include "ir/infer.h"

enum { STEPS = 127, STEPS_ASYMMETRIC = 255 };

static bool
attrs_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_dynamic *a = &n->attr->dynamic;
	const int32_t rank = qn_infer_in(g, n, 0)->is_tuple ? -1 : qn_infer_in(g, n, 0)->rank;
	bool ok = qn_infer_flag(g, n, "rows", a->rows);

	ok = qn_infer_flag(g, n, "asymmetric", a->asymmetric) && ok;
	if (a->rows == 1 && rank >= 0 && rank < 2)
		ok = qn_infer_error(g, n, "shape.rank",
				    "rows = 1 needs an input of two axes or more, this one has %d",
				    (int)rank);
	return ok;
}

/* Quantized values of 8 or 16 bits with one scale, known before. */
static bool
operand_ok(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_infer_in(g, n, 0);

	if (!qn_infer_uniform(g, n, 0))
		return false;
	return (x->elem->gran == QN_PER_TENSOR && (x->elem->bits == 8 || x->elem->bits == 16)) ||
	       qn_infer_refuse(g, n, "unsupported.storage",
			       "input 0 ('%s') is %s; %s takes values of 8 or 16 bits with one "
			       "scale",
			       qn_graph_node(g, n->in[0])->name, qn_infer_elem_text(g, x->elem),
			       qn_opinfo_of(n)->name);
}

static const qn_type *
values_type(const qn_graph *g, const qn_node *n)
{
	qn_types *t = &g->model->types;
	const qn_type *x = qn_infer_in(g, n, 0);
	const bool asymmetric = n->attr->dynamic.asymmetric == 1;
	qn_elem d = qn_elem_desc(asymmetric ? 16 : 8, true);
	const qn_elem *e = NULL;

	d.qmax = asymmetric ? STEPS_ASYMMETRIC : STEPS;
	d.qmin = -d.qmax;
	d.expressed = x->elem->expressed;
	d.scale = qn_scale_op(t, QN_SCALE_DIV, x->elem->scale, qn_scale_const(t, (double)d.qmax));
	return qn_elem_make(t, n->name, &d, &e) == QN_OK ? qn_type_with_elem(t, x, e) : NULL;
}

static const qn_type *
mantissa_type(const qn_graph *g, const qn_node *n)
{
	qn_shape y = qn_shape_of(qn_infer_in(g, n, 0));

	if (n->attr->dynamic.rows == 0)
		y = (qn_shape){1, {1}};
	else if (y.rank > 0)
		y.rank--;
	return qn_infer_result(g, n, qn_elem_plain(&g->model->types, QN_PLAIN_i32), &y);
}

static bool
dynamic_ok(const qn_graph *g, const qn_node *n)
{
	bool ok = operand_ok(g, n);

	return attrs_ok(g, n) && ok;
}

const qn_type *
qn_infer_dynamic_values(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return dynamic_ok(g, n) ? values_type(g, n) : NULL;
}

const qn_type *
qn_infer_dynamic_mantissa(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return dynamic_ok(g, n) ? mantissa_type(g, n) : NULL;
}

const qn_type *
qn_infer_dynamic_quantize(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *field[3];

	(void)declared;
	if (!dynamic_ok(g, n))
		return NULL;
	field[0] = values_type(g, n);
	field[1] = field[2] = mantissa_type(g, n);
	return field[0] != NULL && field[1] != NULL ? qn_type_tuple(&g->model->types, 3, field)
						    : NULL;
}

const qn_type *
qn_infer_dynamic_fake_quant(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_real(g, n);
	bool ok = e != NULL && attrs_ok(g, n);

	(void)declared;
	if (e != NULL && e->plain != QN_PLAIN_f32)
		ok = qn_infer_error(g, n, "type.element", "the input is %s, must be f32",
				    qn_infer_elem_text(g, e));
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	return qn_infer_result(g, n, e, &x);
}

/* ---- dynamic_rescale ---- */

/* Mantissas and exponents: i32, one of each for the same number of consecutive values. */
static bool
scales_ok(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_infer_in(g, n, 0), *first = qn_infer_in(g, n, 1);
	const int64_t count = first->is_tuple ? -1 : qn_type_count(first);
	bool ok = true;

	for (uint32_t i = 1; i < 3; i++) {
		const qn_type *t = qn_infer_in(g, n, i);
		const bool fits = !t->is_tuple && t->elem->kind == QN_ELEM_PLAIN &&
				  t->elem->plain == QN_PLAIN_i32 && qn_type_same_shape(t, first);

		if (!fits)
			ok = qn_infer_error(g, n, "type.element",
					    "input %u ('%s') is %s; mantissa and exponent are i32 "
					    "and of one shape",
					    i, qn_graph_node(g, n->in[i])->name,
					    qn_infer_type_text(g, t));
	}
	const int64_t values = x->is_tuple || x->rank < 1 ? -1 : qn_type_count(x);
	if (!ok || count < 0 || values < 0)
		return ok;
	return (count > 0 && values % (count * x->dim[x->rank - 1]) == 0) ||
	       qn_infer_error(g, n, "shape.channels",
			      "%lld mantissas for %lld rows of the last axis; there must be one, "
			      "or equally many rows for each",
			      (long long)count, (long long)(values / x->dim[x->rank - 1]));
}

/* i32 around 0 with one scale, a value for each index of the last axis. */
static bool
bias_ok(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_infer_in(g, n, 0), *b = qn_infer_in(g, n, 3);

	if (!qn_infer_uniform(g, n, 3))
		return false;
	if (b->elem->bits != 32 || !b->elem->is_signed || b->elem->zp != 0 ||
	    b->elem->zp_sym != NULL || b->elem->gran != QN_PER_TENSOR)
		return qn_infer_error(g, n, "type.bias",
				      "bias '%s' is %s; it must be i32 with zero point 0 and one "
				      "scale",
				      qn_graph_node(g, n->in[3])->name,
				      qn_infer_elem_text(g, b->elem));
	return x->rank < 1 || qn_infer_vector(g, n, 3, x->dim[x->rank - 1]);
}

/* Quantized values with one scale, or with one for each index of the last axis. */
static bool
sums_ok(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_infer_in(g, n, 0);

	if (!qn_infer_uniform(g, n, 0))
		return false;
	return x->elem->gran == QN_PER_TENSOR || x->rank < 0 || x->elem->axis[0] == x->rank - 1 ||
	       qn_infer_error(g, n, "type.axis",
			      "input '%s' has its scales along axis %d, must be the last one",
			      qn_graph_node(g, n->in[0])->name, (int)x->elem->axis[0]);
}

const qn_type *
qn_infer_dynamic_rescale(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = NULL;

	if (!qn_infer_cast_tensors(g, n, declared))
		return NULL;
	bool ok = sums_ok(g, n);
	ok = scales_ok(g, n) && ok;
	ok = (n->nin < 4 || bias_ok(g, n)) && ok;
	e = declared->elem; /* NOLINT(clang-analyzer-core.NullDereference): refused above */
	if (e->kind != QN_ELEM_UNIFORM && !(e->kind == QN_ELEM_PLAIN && e->plain == QN_PLAIN_f32))
		ok = qn_infer_error(g, n, "type.cast.kind",
				    "the result is %s, must be uniformly quantized or f32",
				    qn_infer_type_text(g, declared));
	return ok ? declared : NULL;
}
