/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_elementwise.c - operators that work element by element.
 *
 *   Softsign(x)              softsign, and all whose rows in ir/ops.def say ONNX
 *   Relu(x)                  relu
 *   Clip(x, 0, 6)            clip {min=0, max=6};  limits that a run computes: maximum, minimum
 *   Mean(a, b, c)            mul(add(add(a, b), c), 1/3)
 *   Add(a, b) {axis=1}       before operator set 7: b is laid along the dims of a from axis 1 on */
#include "import/onnx_quant.h"
#include "import/onnx_write_op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ZERO_POINT = 1 << 20
}; /* far beyond 16 bits, and exact in f32 with all that is added */

/* ---- two operands ---- */

/* b with dims of 1 appended, so that its own line up with those of a from `axis` on. */
static qn_id
laid_from(qn_onnx *o, const qn_onnx_node *n, qn_id a, qn_id b)
{
	const qn_type *ta = qn_onnx_type(o, a), *tb = qn_onnx_type(o, b);
	int64_t axis = qn_onnx_int(o, n, "axis", ta->rank - tb->rank);
	int64_t dim[QN_MAX_RANK] = {0};

	if (axis < 0)
		axis += ta->rank;
	if (axis < 0 || axis + tb->rank > ta->rank)
		return qn_importer_refuse(&o->im, "import.attr",
					  "axis %lld lays %d dimensions along %d", (long long)axis,
					  (int)tb->rank, (int)ta->rank);
	int32_t rank = (int32_t)(ta->rank - axis);
	for (int32_t i = 0; i < rank; i++)
		dim[i] = i < tb->rank ? tb->dim[i] : 1;
	return rank == tb->rank ? b : qn_importer_reshape(&o->im, b, rank, dim);
}

static qn_id
second(qn_onnx *o, const qn_onnx_node *n)
{
	bool lay = n->version < 7 && qn_onnx_int(o, n, "broadcast", 0) != 0;

	return lay ? laid_from(o, n, n->in[0], n->in[1]) : n->in[1];
}

void
qn_onnx_binary(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 2))
		return;
	if (n->arg == QN_OP_mul)
		out[0] = qn_onnx_scaled_sum(o, n->in[0], n->in[1]);
	if (out[0] == 0 && (n->arg == QN_OP_mul || n->arg == QN_OP_div))
		out[0] = qn_onnx_written_pair(o, (qn_op)n->arg, n->in);
	if (out[0] == 0)
		out[0] = qn_importer_binary(&o->im, (qn_op)n->arg, n->in[0], second(o, n));
	if (n->arg == QN_OP_mul)
		qn_onnx_scale_becomes(o, n->in[0], n->in[1], out[0]);
}

/* The base decides the result's type; arithmetic is that of f32. */
static void
power(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 2))
		return;
	qn_plain plain = qn_onnx_plain(o, n->in[0]);
	qn_id x = qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32);
	qn_id y = qn_importer_cast(&o->im, second(o, n), QN_PLAIN_f32);

	out[0] = qn_importer_cast(&o->im, qn_importer_binary(&o->im, QN_OP_pow, x, y), plain);
}

/* ---- any number of operands ---- */

static qn_id
folded(qn_onnx *o, const qn_onnx_node *n)
{
	qn_id y = qn_onnx_need(o, n, n->nin > 0 ? n->nin : 1) ? n->in[0] : 0;

	for (uint32_t i = 1; i < n->nin && y != 0; i++)
		y = qn_importer_binary(&o->im, (qn_op)n->arg, y, n->in[i]);
	return y;
}

static void
nary(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	out[0] = folded(o, n);
}

static void
mean(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id y = folded(o, n);

	if (y != 0)
		out[0] = qn_importer_binary(&o->im, QN_OP_mul, y,
					    qn_importer_f32(&o->im, 1.0 / (double)n->nin));
}

/* ---- limits ---- */

static bool
is_float(const qn_onnx *o, qn_id x)
{
	return qn_elem_is_float(qn_onnx_type(o, x)->elem);
}

static bool
is_quant(const qn_onnx *o, qn_id x)
{
	return qn_elem_is_quant(qn_onnx_type(o, x)->elem);
}

/* Integers between two of their type. */
static qn_id
clamped(qn_onnx *o, qn_id x, double lo, double hi)
{
	const qn_elem *e = qn_onnx_type(o, x)->elem;
	qn_attrs a = qn_importer_attrs(QN_OP_clamp);

	a.clamp.lo = lo > (double)e->qmin ? (int64_t)lo : e->qmin;
	a.clamp.hi = hi < (double)e->qmax ? (int64_t)hi : e->qmax;
	return qn_importer_op(&o->im, QN_OP_clamp, 1, &x, &a, NULL);
}

/* Limits as numbers; false: one is computed, or x is not float or quantized. */
static bool
fixed_limits(qn_onnx *o, const qn_onnx_node *n, qn_attrs *a)
{
	double *const limit[] = {&a->clip.min, &a->clip.max};

	*a = (qn_attrs){.clip = {.min = -HUGE_VAL, .max = HUGE_VAL}};
	if (!is_float(o, n->in[0]) && !is_quant(o, n->in[0]))
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		qn_id x = qn_onnx_in(n, 1 + i);
		const qn_tensor *value = qn_importer_known(&o->im, x);
		if (x != 0 && (value == NULL || qn_type_count(value->type) != 1))
			return false;
		if (x != 0)
			*limit[i] = qn_tensor_f64(value, 0);
	}
	/* A lower limit above the upper one gives the upper one everywhere. */
	if (a->clip.min > a->clip.max)
		a->clip.min = a->clip.max;
	return true;
}

static void
clip(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a;

	if (!qn_onnx_need(o, n, 1))
		return;
	if (n->version < 11) {
		a.clip.min = qn_onnx_float(o, n, "min", -HUGE_VAL);
		a.clip.max = qn_onnx_float(o, n, "max", HUGE_VAL);
	} else if (!fixed_limits(o, n, &a)) {
		qn_id y = n->in[0];
		if (qn_onnx_in(n, 1) != 0)
			y = qn_importer_binary(&o->im, QN_OP_maximum, y, n->in[1]);
		if (qn_onnx_in(n, 2) != 0)
			y = qn_importer_binary(&o->im, QN_OP_minimum, y, n->in[2]);
		out[0] = y;
		return;
	}
	bool none = a.clip.min <= -HUGE_VAL && a.clip.max >= HUGE_VAL;
	if (is_quant(o, n->in[0])) {
		out[0] = none ? n->in[0] : clamped(o, n->in[0], a.clip.min, a.clip.max);
		return;
	}
	out[0] = none ? n->in[0] : qn_importer_op(&o->im, QN_OP_clip, 1, n->in, &a, NULL);
}

static void
relu(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 1))
		return;
	if (is_float(o, n->in[0])) {
		out[0] = qn_importer_unary(&o->im, QN_OP_relu, n->in[0]);
		return;
	}
	if (is_quant(o, n->in[0])) {
		out[0] = clamped(o, n->in[0], 0, HUGE_VAL);
		return;
	}
	qn_id zero =
		qn_importer_cast(&o->im, qn_importer_f32(&o->im, 0), qn_onnx_plain(o, n->in[0]));
	out[0] = qn_importer_binary(&o->im, QN_OP_maximum, n->in[0], zero);
}

/* ---- functions with parameters ---- */

/* A row of ir/ops.def: every attribute of the operator has the name and the preset that ONNX gives it. */
static void
function(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_attr_set_info *set = qn_opinfo_get((qn_op)n->arg)->attrs;
	qn_attrs a = qn_importer_attrs((qn_op)n->arg);

	for (size_t i = 0; i < set->nattr; i++) {
		const qn_attr_info *info = &set->attr[i];
		void *v = (char *)&a + info->offset;

		if (info->kind == QN_ATTR_REAL)
			*(double *)v = qn_onnx_float(o, n, info->name, *(double *)v);
		else if (info->kind == QN_ATTR_INT)
			*(int64_t *)v = qn_onnx_int(o, n, info->name, *(int64_t *)v);
		else if ((*(int32_t *)v = qn_onnx_enum(o, n, info->name, info->default_text,
						       (int32_t)info->length)) < 0)
			return;
	}
	if (qn_onnx_need(o, n, 1))
		out[0] = qn_importer_op(&o->im, (qn_op)n->arg, 1, n->in, &a, NULL);
}

/* ---- types and choices ---- */

/* An input of 32 bits, moved or not: its range, which samples give, is not that of its type. */
static bool
is_wide_input(const qn_onnx *o, qn_id x)
{
	const qn_node *n = qn_graph_node(o->im.g, x);

	while (n->nin == 1 && qn_opinfo_of(n)->behaviour == QN_SAME)
		n = qn_graph_node(o->im.g, n->in[0]);
	return n->op == QN_OP_input && qn_plain_table[qn_onnx_plain(o, x)].bits == 32;
}

/* Integers that a run of a quantized file computes and that become f32: they have scale 1. */
static bool
counts(const qn_onnx *o, qn_id x, qn_plain to)
{
	const qn_plain from = qn_onnx_plain(o, x);
	const int bits = qn_plain_table[from].bits;

	return o->keeps_quantized && to == QN_PLAIN_f32 && !qn_plain_table[from].is_float &&
	       from != QN_PLAIN_bool && bits >= 8 && bits <= 32 &&
	       qn_importer_known(&o->im, x) == NULL && !is_wide_input(o, x);
}

static bool
is_short(const qn_onnx *o, qn_id x)
{
	const qn_elem *e = qn_onnx_type(o, x)->elem;

	return e->kind == QN_ELEM_PLAIN && !qn_plain_table[e->plain].is_float &&
	       e->plain != QN_PLAIN_bool && qn_plain_table[e->plain].bits <= 16;
}

/* Integers of 8 or 16 bits less a zero point, computed in i32, as what DequantizeLinear with scale 1 gives: the same
 * numbers as f32.  0: x is another value. */
static qn_id
less_zero_point(qn_onnx *o, qn_id x)
{
	const qn_node *sub = qn_graph_node(o->im.g, x);
	const qn_node *wide = sub->op == QN_OP_sub ? qn_graph_node(o->im.g, sub->in[0]) : NULL;
	const qn_tensor *zp = wide != NULL ? qn_importer_known(&o->im, sub->in[1]) : NULL;

	if (zp == NULL || wide->op != QN_OP_cast || !is_short(o, wide->in[0]) ||
	    qn_type_count(zp->type) != 1 || zp->type->rank > sub->type->rank ||
	    llabs(qn_tensor_i64(zp, 0)) > MOST_ZERO_POINT)
		return 0;
	const qn_id q = qn_onnx_counted(o, wide->in[0], 0);
	return q != 0 ? qn_importer_binary(&o->im, QN_OP_sub, q,
					   qn_importer_f32(&o->im, (double)qn_tensor_i64(zp, 0)))
		      : 0;
}

/* Floats become integers of 2 and 4 bits as integers do: toward zero, then the low bits. */
static qn_id
converted(qn_onnx *o, qn_id x, qn_plain to)
{
	bool narrow = to != QN_PLAIN_bool && qn_plain_table[to].bits < 8;

	if (x != 0 && counts(o, x, to)) {
		const qn_id real = less_zero_point(o, x);
		const qn_id y = real != 0 ? real : qn_onnx_counted(o, x, 0);

		qn_onnx_sum_becomes(o, x, y);
		return y;
	}
	const qn_id label = qn_onnx_before_floats(o, x, to);
	if (label != 0)
		return qn_importer_cast(&o->im, label, to);
	if (x != 0 && is_quant(o, x))
		x = qn_onnx_plain_of(o, x);
	if (x != 0 && narrow && is_float(o, x))
		x = qn_importer_cast(&o->im, x, QN_PLAIN_i32);
	return qn_importer_cast(&o->im, x, to);
}

static void
cast(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t number = qn_onnx_int(o, n, "to", 0);
	qn_plain plain;

	if (!qn_onnx_need(o, n, 1))
		return;
	if (!qn_onnx_data_type(number, &plain))
		(void)qn_importer_refuse(&o->im, "import.type", "a cast to type %lld (%s)",
					 (long long)number, qn_onnx_type_name(number));
	else
		out[0] = converted(o, n->in[0], plain);
}

static void
cast_like(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (qn_onnx_need(o, n, 2))
		out[0] = converted(o, n->in[0], qn_onnx_plain(o, n->in[1]));
}

static void
where(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (qn_onnx_need(o, n, 3))
		out[0] = qn_importer_op(&o->im, QN_OP_where, 3, n->in, NULL, NULL);
}

const qn_onnx_row qn_onnx_elementwise[] = {
#define ONNX(op, name, since)                                                                      \
	QN_ONNX_BOTH(name, 1, function, qn_onnx_write_function, since, EACH, QN_OP_##op),
#define FUNCTION(name, attributes, behaviour, types, value, facts) facts
#include "ir/ops.def"
	QN_ONNX_WRITE("Sigmoid", qn_onnx_write_gated, 0, EACH, QN_OP_silu, QN_OP_swish),
	QN_ONNX_WRITE("Reciprocal", qn_onnx_write_rsqrt, 0, EACH, QN_OP_rsqrt),
	QN_ONNX_BOTH("Add", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_add,
		     QN_OP_bias_add),
	QN_ONNX_BOTH("Div", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_div),
	QN_ONNX_WRITE("Div", qn_onnx_write_floor_div, 0, EACH, QN_OP_floor_div),
	QN_ONNX_BOTH("Equal", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_equal),
	QN_ONNX_WRITE("Equal", qn_onnx_write_negated, 0, EACH, QN_OP_not_equal),
	QN_ONNX_BOTH("Greater", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_greater),
	QN_ONNX_BOTH("GreaterOrEqual", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH,
		     QN_OP_greater_equal),
	QN_ONNX_BOTH("Less", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_less),
	QN_ONNX_BOTH("LessOrEqual", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH,
		     QN_OP_less_equal),
	QN_ONNX_BOTH("Mul", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_mul),
	QN_ONNX_WRITE("Mul", qn_onnx_write_squared, 0, EACH, QN_OP_squared_difference,
		      QN_OP_square),
	QN_ONNX_BOTH("Sub", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_sub),
	QN_ONNX_BOTH("Pow", 1, power, qn_onnx_write_plain, 0, EACH, QN_OP_pow),
	QN_ONNX_BOTH("Max", 1, nary, qn_onnx_write_plain, 0, EACH, QN_OP_maximum),
	QN_ONNX_BOTH("Min", 1, nary, qn_onnx_write_plain, 0, EACH, QN_OP_minimum),
	QN_ONNX_READ("", "Sum", 1, nary, QN_OP_add),
	QN_ONNX_READ("", "Mean", 1, mean, QN_OP_add),
	QN_ONNX_BOTH("Clip", 1, clip, qn_onnx_write_clip, 0, EACH, QN_OP_clip, QN_OP_relu6),
	QN_ONNX_WRITE("Clip", qn_onnx_write_clamp, 0, EACH, QN_OP_clamp),
	QN_ONNX_BOTH("Relu", 1, relu, qn_onnx_write_plain, 0, EACH, QN_OP_relu),
	QN_ONNX_READ("", "Swish", 1, function, QN_OP_swish),
	QN_ONNX_BOTH("PRelu", 1, qn_onnx_prelu, qn_onnx_write_plain, 0, EACH, QN_OP_prelu),
	QN_ONNX_BOTH("Cast", 1, cast, qn_onnx_write_cast, 0, EACH, QN_OP_cast),
	QN_ONNX_READ("", "CastLike", 1, cast_like, 0),
	QN_ONNX_BOTH("Where", 1, where, qn_onnx_write_plain, 0, EACH, QN_OP_where),
	{0},
};
