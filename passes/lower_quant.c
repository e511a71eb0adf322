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
 * s and z are scalars, or operands that broadcast (lower_quant_params.c).
 *
 * requires: types without symbols.   leaves: the same stage, the same values. */
#include "ir/diag.h"
#include "passes/lower_quant.h"
#include "passes/passes.h"

#define QUOTIENT_LIMIT 0x1p40 /* that of tensor_quant.c */

enum { ROOT };

/* ---- what can be lowered ---- */

/* Why no plain arithmetic has the values and the shape of a cast with this type; NULL: it has. */
static const char *
why_not(const qn_types *t, const qn_type *type)
{
	const qn_elem *e = type->elem;

	if (e->kind != QN_ELEM_UNIFORM)
		return "its type has no scale";
	if (e->zp_fraction != 0)
		return "its zero points have a fraction";
	if (e->bits == 64 && qn_elem_has_zero_points(t, e))
		return "a zero point of 64-bit values can overflow";
	for (int32_t d = 0; d < type->rank; d++)
		if (type->dim[d] == QN_DYNAMIC && qn_elem_params_along(type->elem, d) > 1)
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

static const qn_type *
plain_like(const qn_lowering *l, qn_id x, qn_plain to)
{
	return qn_type_with_elem(&qn_rw_model(l->rw)->types, qn_rw_node(l->rw, x)->type,
				 qn_elem_plain(&qn_rw_model(l->rw)->types, to));
}

qn_id
qn_lowering_node(const qn_lowering *l, qn_op op, const char *what, uint32_t nin, const qn_id *in,
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
unary(const qn_lowering *l, qn_op op, const char *what, qn_id x)
{
	return qn_lowering_node(l, op, what, 1, &x, NULL, NULL);
}

static qn_id
binary(const qn_lowering *l, qn_op op, const char *what, qn_id x, qn_id y)
{
	return qn_lowering_node(l, op, what, 2, (const qn_id[]){x, y}, NULL, NULL);
}

/* x itself where it has the type already. */
static qn_id
cast_to(const qn_lowering *l, const char *what, qn_id x, qn_plain to)
{
	if (x == 0 || qn_rw_node(l->rw, x)->type->elem->plain == to)
		return x;
	return qn_lowering_node(l, QN_OP_cast, what, 1, &x, NULL, plain_like(l, x, to));
}

/* x and a parameter. */
static qn_id
with(qn_lowering *l, qn_op op, const char *what, qn_id x, qn_parameter y)
{
	return binary(l, op, what, x, qn_lowering_operand(l, y));
}

/* ---- quantize ---- */

static qn_id
float_scalar(const qn_lowering *l, double v)
{
	qn_model *m = qn_rw_model(l->rw);
	void *data;
	qn_tensor *x = qn_tensor_new(m->arena, qn_type_plain(&m->types, l->work, 0, NULL), &data);

	qn_store_f64(data, l->work, 0, v);
	return qn_rw_const(l->rw, qn_rw_derived_name(l->rw, l->root, v > 0 ? "half" : "zero"), x);
}

/* Halves away from 0: sign(v) * floor(|v| + 0.5), in f64 as the direct op has it. */
static qn_id
round_away(qn_lowering *l, qn_id v)
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
limited(const qn_lowering *l, qn_id r)
{
	const qn_id is_nan = unary(l, QN_OP_is_nan, "is_nan", r);
	const qn_id in[] = {is_nan, float_scalar(l, 0), r};
	qn_attrs attr;

	qn_attrs_default(QN_ATTRS(clip), &attr);
	attr.clip.min = -QUOTIENT_LIMIT;
	attr.clip.max = QUOTIENT_LIMIT;
	r = qn_lowering_node(l, QN_OP_where, "number", 3, in, NULL, NULL);
	return qn_lowering_node(l, QN_OP_clip, "clip", 1, &r, &attr, NULL);
}

static qn_id
lower_quantize(qn_rw *rw, const qn_match *match)
{
	const qn_node *n = qn_rw_node(rw, match->root);
	const qn_elem *e = n->type->elem;
	qn_lowering l = {.rw = rw,
			 .root = match->root,
			 .like = n->in[0],
			 .type = n->type,
			 .work = qn_elem_is_single(e) ? QN_PLAIN_f32 : QN_PLAIN_f64};
	const bool away = n->attr->quantize.ties == QN_TIES_away;

	qn_id v = cast_to(&l, "x", n->in[0], l.work);
	v = with(&l, QN_OP_div, "div", v, QN_PARAMETER_SCALE);
	v = away ? round_away(&l, v) : unary(&l, QN_OP_round, "round", v);
	v = cast_to(&l, "integer", limited(&l, v), QN_PLAIN_i64);
	v = with(&l, QN_OP_maximum, "maximum", v, QN_PARAMETER_LEAST);
	v = with(&l, QN_OP_minimum, "minimum", v, QN_PARAMETER_MOST);
	if (qn_elem_has_zero_points(&qn_rw_model(rw)->types, e))
		v = with(&l, QN_OP_add, "add", v, QN_PARAMETER_ZERO_POINT);
	v = cast_to(&l, "stored", v, e->plain);
	return qn_lowering_node(&l, QN_OP_scast, NULL, 1, &v, NULL, n->type);
}

/* ---- dequantize ---- */

static qn_id
lower_dequantize(qn_rw *rw, const qn_match *match)
{
	const qn_node *n = qn_rw_node(rw, match->root);
	const qn_type *type = qn_rw_node(rw, n->in[0])->type;
	const qn_plain to = n->type->elem->plain;
	qn_lowering l = {.rw = rw,
			 .root = match->root,
			 .type = type,
			 .work = qn_elem_is_single(type->elem) ? QN_PLAIN_f32 : QN_PLAIN_f64};

	qn_id v = qn_lowering_node(&l, QN_OP_scast, "stored", 1, n->in, NULL,
				   plain_like(&l, n->in[0], type->elem->plain));
	l.like = v;
	v = cast_to(&l, "integer", v, QN_PLAIN_i64);
	if (qn_elem_has_zero_points(&qn_rw_model(rw)->types, type->elem))
		v = with(&l, QN_OP_sub, "sub", v, QN_PARAMETER_ZERO_POINT);
	v = cast_to(&l, "real", v, l.work);
	v = with(&l, QN_OP_mul, to == l.work ? NULL : "mul", v, QN_PARAMETER_SCALE);
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
