/* SPDX-License-Identifier: Apache-2.0 */
/* lower_quant.c - quantize and dequantize as plain arithmetic, bit for bit.
 *
 *   %q = quantize %x : <i8:f32, s:z>      %v = div %x, s         in f32, or f64 where the direct op uses it
 *                                         %r = round %v          halves to even
 *                                   ->    %n = where (is_nan %r), 0, %r
 *                                         %c = clip %n {min=-2^40, max=2^40}
 *                                         %i = cast %c : i64
 *                                         %m = minimum (maximum %i, qmin - z), qmax - z
 *                                         %q = scast (cast (add %m, z) : i8)
 *   %y = dequantize %q              ->    %y = mul (cast (sub (cast (scast %q : i8) : i64), z) : f32), s
 *   scast(scast(x))                 ->    x, where the types are equal
 *
 * Parameters of an axis are constants that broadcast; those of blocks are brought to the length of their
 * axes by gather.  In a tensor whose rank is not known, they have only the axes that the type lists, and
 * expand_dims_like gives them the tensor's rank:
 *
 *   tensor<*x!quant.uniform<i8:f32:1, {s,t}>>       %p = expand_dims_like {s,t}, %x {axes=[1]}
 *
 * requires: types without symbols.   leaves: the same stage, the same values. */
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

#define QUOTIENT_LIMIT 0x1p40 /* that of tensor_quant.c */

enum { ROOT };

/* ---- what can be lowered ---- */

/* Parameters along axis d: 1 where all its elements share them. */
static int64_t
params_along(const qn_elem *e, int32_t d)
{

	if (e->gran == QN_PER_TENSOR || (e->gran == QN_PER_AXIS && e->axis[0] != d))
		return 1;
	if (e->gran == QN_PER_AXIS)
		return (int64_t)qn_elem_nparams(e);
	const qn_params *p = qn_scale_params(e->scale);
	return p != NULL && d < p->rank ? p->shape[d] : 1;
}

static bool
has_zero_points(const qn_types *t, const qn_elem *e)
{
	double scale;
	int64_t zp = 0;

	for (size_t i = 0; zp == 0 && i < qn_elem_nparams(e); i++)
		qn_elem_param(t, e, i, &scale, &zp);
	return zp != 0;
}

/* Why no plain arithmetic has the values and the shape of a cast with this type; NULL: it has. */
static const char *
why_not(const qn_types *t, const qn_type *type)
{
	const qn_elem *e = type->elem;

	if (e->kind != QN_ELEM_UNIFORM)
		return "its type has no scale";
	if (e->zp_fraction != 0)
		return "its zero points have a fraction";
	if (e->bits == 64 && has_zero_points(t, e))
		return "a zero point of 64-bit values can overflow";
	for (int32_t d = 0; d < type->rank; d++)
		if (type->dim[d] == QN_DYNAMIC && params_along(type->elem, d) > 1)
			return "the scales fix the length of a dimension that the type leaves "
			       "open; write it in the types";
	return NULL;
}

static const qn_type *
quantized_side(const qn_graph *g, const qn_node *n)
{
	if (n->op == QN_OP_quantize)
		return n->type;
	return n->op == QN_OP_dequantize ? qn_graph_node(g, n->in[0])->type : NULL;
}

static qn_status
check_all(qn_model *m, const qn_graph *g)
{
	qn_status status = QN_OK;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_type *type = quantized_side(g, n);
		const char *why = type != NULL ? why_not(&m->types, type) : NULL;

		if (why != NULL)
			status = qn_report(m->env, QN_EUNSUPPORTED, "lower.quant",
					   qn_node_place(g, n), "%s '%s': %s",
					   qn_opinfo_of(n)->name, n->name, why);
	}
	return status;
}

/* ---- nodes ---- */

/* One cast that becomes arithmetic. */
typedef struct lowering {
	qn_rw *rw;
	qn_id root;
	qn_id like;               /* a tensor of the shape */
	const qn_type *type;      /* the quantized side */
	qn_plain work;            /* the float type of the arithmetic */
	qn_id block[QN_MAX_RANK]; /* the block of each index of an axis, 0: not made yet */
} lowering;

static const qn_type *
plain_like(const lowering *l, qn_id x, qn_plain to)
{
	return qn_type_with_elem(&qn_rw_model(l->rw)->types, qn_rw_node(l->rw, x)->type,
				 qn_elem_plain(&qn_rw_model(l->rw)->types, to));
}

static qn_id
add_node(const lowering *l, qn_op op, const char *what, uint32_t nin, const qn_id *in,
	 const qn_attrs *attr, const qn_type *type)
{
	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	return qn_rw_add(l->rw, op,
			 what != NULL ? qn_rw_derived_name(l->rw, l->root, what)
				      : qn_rw_name(l->rw, l->root),
			 nin, in, attr, type);
}

static qn_id
unary(const lowering *l, qn_op op, const char *what, qn_id x)
{
	return add_node(l, op, what, 1, &x, NULL, NULL);
}

static qn_id
binary(const lowering *l, qn_op op, const char *what, qn_id x, qn_id y)
{
	return add_node(l, op, what, 2, (const qn_id[]){x, y}, NULL, NULL);
}

/* x itself where it has the type already. */
static qn_id
cast_to(const lowering *l, const char *what, qn_id x, qn_plain to)
{
	if (x == 0 || qn_rw_node(l->rw, x)->type->elem->plain == to)
		return x;
	return add_node(l, QN_OP_cast, what, 1, &x, NULL, plain_like(l, x, to));
}

/* ---- constants ---- */

typedef enum parameter { SCALE, ZERO_POINT, LEAST, MOST } parameter;

static const char *const parameter_names[] = {"scale", "zero_point", "least", "most"};

/* a - b, limited to int64. */
static int64_t
difference(int64_t a, int64_t b)
{
	if (b < 0 && a > INT64_MAX + b)
		return INT64_MAX;
	return b > 0 && a < INT64_MIN + b ? INT64_MIN : a - b;
}

static int64_t
integer_of(const qn_elem *e, parameter what, int64_t zp)
{
	if (what == ZERO_POINT)
		return zp;
	return difference(what == LEAST ? e->qmin : e->qmax, zp);
}

/* Whether all elements have the same. */
static bool
is_one(const qn_types *t, const qn_elem *e, parameter what)
{
	double s0, s;
	int64_t z0, z;

	qn_elem_param(t, e, 0, &s0, &z0);
	for (size_t i = 1; i < qn_elem_nparams(e); i++) {
		qn_elem_param(t, e, i, &s, &z);
		if (what == SCALE ? s < s0 || s > s0 : z != z0)
			return false;
	}
	return true;
}

/* The axes that parameters have: the tensor's; of a tensor without a rank, those that the type lists. */
static int32_t
param_axes(const qn_type *type, int32_t axis[QN_MAX_RANK])
{
	const qn_elem *e = type->elem;
	const int32_t n = type->rank >= 0 ? type->rank : e->naxis;

	for (int32_t i = 0; i < n; i++)
		axis[i] = type->rank >= 0 ? i : e->axis[i];
	return n;
}

/* The parameters, with one dim for each of their axes; of equal ones, a scalar. */
static qn_id
compact(const lowering *l, parameter what, bool *one)
{
	qn_model *m = qn_rw_model(l->rw);
	const qn_elem *e = l->type->elem;
	int32_t axis[QN_MAX_RANK];
	const int32_t rank = param_axes(l->type, axis);
	int64_t dim[QN_MAX_RANK] = {0};
	void *data;

	*one = is_one(&m->types, e, what);
	for (int32_t i = 0; i < rank; i++)
		dim[i] = params_along(e, axis[i]);
	const qn_type *type = qn_type_plain(&m->types, what == SCALE ? l->work : QN_PLAIN_i64,
					    *one ? 0 : rank, dim);
	qn_tensor *x = qn_tensor_new(m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(&m->types, e, (size_t)i, &scale, &zp);
		if (what == SCALE)
			qn_store_f64(data, l->work, i, scale);
		else
			qn_store_i64(data, QN_PLAIN_i64, i, integer_of(e, what, zp));
	}
	return qn_rw_const(l->rw, qn_rw_derived_name(l->rw, l->root, parameter_names[what]), x);
}

/* The block of each element along axis d: 0, 0, 0, 1, 1, 1, …; blocks are whole where the type has no rank. */
static qn_id
block_indices(lowering *l, int32_t d, int64_t block)
{
	qn_model *m = qn_rw_model(l->rw);
	const int64_t n =
		l->type->rank >= 0 ? l->type->dim[d] : block * params_along(l->type->elem, d);
	void *data;

	if (l->block[d] != 0)
		return l->block[d];
	qn_tensor *x =
		qn_tensor_new(m->arena, qn_type_plain(&m->types, QN_PLAIN_i64, 1, &n), &data);

	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, i / block);
	l->block[d] = qn_rw_const(l->rw, qn_rw_derived_name(l->rw, l->root, "block"), x);
	return l->block[d];
}

/* Parameters of blocks with one for each index of the axes. */
static qn_id
spread_blocks(lowering *l, parameter what, qn_id x)
{
	const qn_elem *e = l->type->elem;

	for (int32_t i = 0; i < e->naxis; i++) {
		const int32_t d = e->axis[i];
		qn_attrs attr;

		if (e->block[i] == 1 || params_along(e, d) == 1)
			continue;
		qn_attrs_default(QN_ATTRS(gather), &attr);
		attr.gather.axis = l->type->rank >= 0 ? d : i;
		const qn_id in[] = {x, block_indices(l, d, e->block[i])};
		x = add_node(l, QN_OP_gather, parameter_names[what], 2, in, &attr, NULL);
	}
	return x;
}

/* The parameters as an operand that broadcasts to the tensor. */
static qn_id
operand(lowering *l, parameter what)
{
	const qn_elem *e = l->type->elem;
	bool one;
	qn_id x = compact(l, what, &one);
	qn_attrs attr;

	if (one)
		return x;
	if (e->gran == QN_SUB_CHANNEL)
		x = spread_blocks(l, what, x);
	if (l->type->rank >= 0)
		return x;
	qn_attrs_default(QN_ATTRS(axes), &attr);
	attr.axes.axes.n = e->naxis;
	for (int32_t i = 0; i < e->naxis; i++)
		attr.axes.axes.v[i] = e->axis[i];
	return add_node(l, QN_OP_expand_dims_like, parameter_names[what], 2,
			(const qn_id[]){x, l->like}, &attr, NULL);
}

/* x and a parameter. */
static qn_id
with(lowering *l, qn_op op, const char *what, qn_id x, parameter y)
{
	return binary(l, op, what, x, operand(l, y));
}

/* ---- quantize ---- */

static qn_id
float_scalar(const lowering *l, double v)
{
	qn_model *m = qn_rw_model(l->rw);
	void *data;
	qn_tensor *x = qn_tensor_new(m->arena, qn_type_plain(&m->types, l->work, 0, NULL), &data);

	qn_store_f64(data, l->work, 0, v);
	return qn_rw_const(l->rw, qn_rw_derived_name(l->rw, l->root, v > 0 ? "half" : "zero"), x);
}

/* Halves away from 0: sign(v) * floor(|v| + 0.5), in f64 as the direct op has it. */
static qn_id
round_away(lowering *l, qn_id v)
{
	l->work = QN_PLAIN_f64;
	v = cast_to(l, "wide", v, QN_PLAIN_f64);
	qn_id size = unary(l, QN_OP_abs, "abs", v);
	const qn_id half = float_scalar(l, 0.5);
	size = unary(l, QN_OP_floor, "floor", binary(l, QN_OP_add, "up", size, half));
	return binary(l, QN_OP_mul, "round", unary(l, QN_OP_sign, "sign", v), size);
}

/* NaN becomes 0, infinities the limit: values that a cast to i64 holds. */
static qn_id
limited(const lowering *l, qn_id r)
{
	const qn_id is_nan = unary(l, QN_OP_is_nan, "is_nan", r);
	const qn_id in[] = {is_nan, float_scalar(l, 0), r};
	qn_attrs attr;

	qn_attrs_default(QN_ATTRS(clip), &attr);
	attr.clip.min = -QUOTIENT_LIMIT;
	attr.clip.max = QUOTIENT_LIMIT;
	r = add_node(l, QN_OP_where, "number", 3, in, NULL, NULL);
	return add_node(l, QN_OP_clip, "clip", 1, &r, &attr, NULL);
}

static qn_id
lower_quantize(qn_rw *rw, const qn_match *match)
{
	const qn_node *n = qn_rw_node(rw, match->root);
	const qn_elem *e = n->type->elem;
	lowering l = {.rw = rw,
		      .root = match->root,
		      .like = n->in[0],
		      .type = n->type,
		      .work = qn_elem_is_single(e) ? QN_PLAIN_f32 : QN_PLAIN_f64};
	const bool away = n->attr->quantize.ties == QN_TIES_away;

	qn_id v = cast_to(&l, "x", n->in[0], l.work);
	v = with(&l, QN_OP_div, "div", v, SCALE);
	v = away ? round_away(&l, v) : unary(&l, QN_OP_round, "round", v);
	v = cast_to(&l, "integer", limited(&l, v), QN_PLAIN_i64);
	v = with(&l, QN_OP_maximum, "maximum", v, LEAST);
	v = with(&l, QN_OP_minimum, "minimum", v, MOST);
	if (has_zero_points(&qn_rw_model(rw)->types, e))
		v = with(&l, QN_OP_add, "add", v, ZERO_POINT);
	v = cast_to(&l, "stored", v, e->plain);
	return add_node(&l, QN_OP_scast, NULL, 1, &v, NULL, n->type);
}

/* ---- dequantize ---- */

static qn_id
lower_dequantize(qn_rw *rw, const qn_match *match)
{
	const qn_node *n = qn_rw_node(rw, match->root);
	const qn_type *type = qn_rw_node(rw, n->in[0])->type;
	const qn_plain to = n->type->elem->plain;
	lowering l = {.rw = rw,
		      .root = match->root,
		      .type = type,
		      .work = qn_elem_is_single(type->elem) ? QN_PLAIN_f32 : QN_PLAIN_f64};

	qn_id v = add_node(&l, QN_OP_scast, "stored", 1, n->in, NULL,
			   plain_like(&l, n->in[0], type->elem->plain));
	l.like = v;
	v = cast_to(&l, "integer", v, QN_PLAIN_i64);
	if (has_zero_points(&qn_rw_model(rw)->types, type->elem))
		v = with(&l, QN_OP_sub, "sub", v, ZERO_POINT);
	v = cast_to(&l, "real", v, l.work);
	v = with(&l, QN_OP_mul, to == l.work ? NULL : "mul", v, SCALE);
	return cast_to(&l, NULL, v, to);
}

/* ---- scast ---- */

static qn_id
fold_scasts(qn_rw *rw, const qn_match *match)
{
	const qn_node *n = qn_rw_node(rw, match->root), *in = qn_rw_node(rw, n->in[0]);

	if (in->op != QN_OP_scast)
		return qn_rw_decline(rw, "its operand is not an scast");
	if (qn_rw_node(rw, in->in[0])->type != n->type)
		return qn_rw_decline(rw, "the types before and after are different");
	return in->in[0];
}

static const qn_rule rules[] = {
	{"lower-quantize", QN_P_OPN(quantize, ROOT), lower_quantize},
	{"lower-dequantize", QN_P_OPN(dequantize, ROOT), lower_dequantize},
	{"fold-scasts", QN_P_OPN(scast, ROOT), fold_scasts},
};

qn_status
qn_lower_quant_graph(qn_model *m, qn_graph *g, const char *pass, qn_graph **out)
{
	if (m->stage == QN_STAGE_SYMBOLIC)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "%s takes a graph whose scales are known; this one is symbolic, "
				 "run calibrate and bind first",
				 pass);
	QN_TRY(qn_unpack_floats(m, g, &g));
	QN_TRY(check_all(m, g));
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}

qn_status
qn_lower_quant(qn_model *m)
{
	qn_graph *g;

	QN_TRY(qn_lower_quant_graph(m, qn_model_entry(m), "lower-quant", &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
