/* SPDX-License-Identifier: Apache-2.0 */
/* plain_unary.c - ops of one operand on plain types.
 *
 *   neg i8 -128 = -128      abs u8 200 = 200      clip {min=-0.5} i32 -3 = 0
 *
 * Functions that are defined for floats only compute in double, for f16, bf16 and f64. */
#include <math.h>

#include "runtime/plain.h"
#include "runtime/unary.h"

/* What the functions of a node need to know. */
typedef struct unary {
	const qn_node *n;
	qn_number lo, hi; /* clip, relu, relu6 */
} unary;

typedef void unary_run(const unary *u, qn_number *x, int64_t n);

#define EACH(name, member, value)                                                                  \
	static void name(const unary *u, qn_number *x, int64_t n)                                  \
	{                                                                                          \
		(void)u;                                                                           \
		for (int64_t i = 0; i < n; i++)                                                    \
			x[i].member = (value);                                                     \
	}

EACH(neg_s, u, 0 - x[i].u)
EACH(neg_u, u, 0 - x[i].u)
EACH(abs_s, u, x[i].i < 0 ? 0 - x[i].u : x[i].u)
EACH(abs_u, u, x[i].u)
EACH(square_s, u, x[i].u *x[i].u)
EACH(square_u, u, x[i].u *x[i].u)
EACH(clip_s, i, x[i].i<u->lo.i ? u->lo.i : x[i].i> u->hi.i ? u->hi.i : x[i].i)
EACH(clip_u, u, x[i].u<u->lo.u ? u->lo.u : x[i].u> u->hi.u ? u->hi.u : x[i].u)
EACH(clip_r, f, x[i].f<u->lo.f ? u->lo.f : x[i].f> u->hi.f ? u->hi.f : x[i].f)

static void
function_r(const unary *u, qn_number *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i].f = qn_unary_value(u->n, x[i].f);
}

bool
qn_is_inf(const qn_node *n, double x)
{
	return (x == HUGE_VAL && n->attr->is_inf.detect_positive != 0) ||
	       (x == -HUGE_VAL && n->attr->is_inf.detect_negative != 0);
}

EACH(sign_s, i, (x[i].i > 0) - (x[i].i < 0))
EACH(sign_u, u, x[i].u != 0)
EACH(not_u, u, ~x[i].u)
EACH(negation_u, u, x[i].u == 0)
EACH(nan_r, u, x[i].f != x[i].f)
EACH(inf_r, u, qn_is_inf(u->n, x[i].f))

/* Functions by kind; floats without one use qn_unary_value. */
static const struct {
	unary_run *by[QN_NKIND];
} rows[QN_NOP] = {
	[QN_OP_bitwise_not] = {{not_u, not_u, NULL}},
	[QN_OP_logical_not] = {{NULL, negation_u, NULL}},
	[QN_OP_is_nan] = {{NULL, NULL, nan_r}},
	[QN_OP_is_inf] = {{NULL, NULL, inf_r}},
	[QN_OP_relu] = {{clip_s, clip_u, clip_r}},
	[QN_OP_relu6] = {{clip_s, clip_u, clip_r}},
	[QN_OP_clip] = {{clip_s, clip_u, clip_r}},
/* Of functions that are defined on integers too, those of signed and unsigned ones. */
#define ON_real(name)
#define ON_number(name) [QN_OP_##name] = {{name##_s, name##_u}},
#define FUNCTION(name, attributes, behaviour, types, value, facts) ON_##types(name)
#include "ir/ops.def"
};

/* Bounds as numbers of the type: of integers the nearest that are inside. */
static unary
unary_of(const qn_node *n, qn_plain p)
{
	double lo = 0.0, hi = n->op == QN_OP_relu6 ? 6.0 : HUGE_VAL;
	unary u = {.n = n};

	if (n->op == QN_OP_clip) {
		lo = n->attr->clip.min;
		hi = n->attr->clip.max;
	}
	u.lo.f = qn_plain_table[p].is_float ? lo : ceil(lo);
	u.hi.f = qn_plain_table[p].is_float ? hi : floor(hi);
	qn_plain_convert(QN_PLAIN_f64, p, 1, &u.lo);
	qn_plain_convert(QN_PLAIN_f64, p, 1, &u.hi);
	return u;
}

void
qn_plain_unary(const qn_eval *e)
{
	qn_plain p = qn_plain_of(qn_in_type(e->g, e->n, 0)), to = qn_plain_of(e->n->type);
	qn_number_kind kind = qn_number_kind_of(p);
	unary_run *f = rows[e->n->op].by[kind];
	const unary u = unary_of(e->n, p);
	qn_number x[QN_PLAIN_RUN_LENGTH];
	int64_t count = qn_static_count(e->n->type);

	for (int64_t i = 0, n; i < count; i += n) {
		n = count - i < QN_PLAIN_RUN_LENGTH ? count - i : QN_PLAIN_RUN_LENGTH;
		qn_plain_load(p, e->in[0], i, 1, n, x);
		(f != NULL ? f : function_r)(&u, x, n);
		qn_plain_store(to, e->out, i, n, x);
	}
}
