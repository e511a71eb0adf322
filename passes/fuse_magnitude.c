/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_magnitude.c - magnitudes of complex numbers without their squares.
 *
 *   %s = add(square(%a), square(%b))          m = max(|a|, |b|), r = min(|a|, |b|) / m
 *   %y = sqrt %s                         ->   %y = m * sqrt(1 + r^2)
 *
 * A spectrum has peaks hundreds of times as high as most of it.  Of their squares, quantized, the small ones are 0; here
 * no value has a wider range than the magnitude itself, and a quotient and its root have the same relative step for
 * all. */
#include "passes/fuse.h"

enum { ROOT, A, B, SQUARE_A, SQUARE_B };

static const float one = 1.0f;
static const float least = 1e-30f; /* no divisor is 0; what is smaller still is 0 with any scale */

static bool
is_square(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op != QN_OP_pow || qn_fuse_is_number(rw, n->in[1], 2, 0);
}

static qn_id
number(qn_rw *rw, const char *name, const float *value)
{
	qn_model *m = qn_rw_model(rw);

	return qn_rw_const(
		rw, name,
		qn_tensor_of(m->arena, qn_type_plain(&m->types, QN_PLAIN_f32, 0, NULL), value));
}

static qn_id
unary(qn_rw *rw, qn_op op, const char *name, qn_id x)
{
	return x != 0 ? qn_rw_add(rw, op, name, 1, &x, NULL, NULL) : 0;
}

static qn_id
binary(qn_rw *rw, qn_op op, const char *name, qn_id x, qn_id y)
{
	const qn_id in[2] = {x, y};

	return x != 0 && y != 0 ? qn_rw_add(rw, op, name, 2, in, NULL, NULL) : 0;
}

static qn_id
to_quotient(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;
#define NAME(what) qn_rw_derived_name(rw, m->root, what)

	if (!qn_type_is_f32(type) || qn_rw_node(rw, m->at[A])->type != type ||
	    qn_rw_node(rw, m->at[B])->type != type)
		return qn_rw_decline(rw, "its parts are not f32 of one shape");
	if (!is_square(rw, m->at[SQUARE_A]) || !is_square(rw, m->at[SQUARE_B]))
		return qn_rw_decline(rw, "its powers are not squares");
	const qn_id a = unary(rw, QN_OP_abs, NAME("a"), m->at[A]);
	const qn_id b = unary(rw, QN_OP_abs, NAME("b"), m->at[B]);
	const qn_id most = binary(rw, QN_OP_maximum, NAME("most"), a, b);
	const qn_id divisor =
		binary(rw, QN_OP_maximum, NAME("divisor"), most, number(rw, NAME("least"), &least));
	const qn_id quotient = binary(rw, QN_OP_div, NAME("quotient"),
				      binary(rw, QN_OP_minimum, NAME("rest"), a, b), divisor);
	const qn_id added = number(rw, NAME("one"), &one);
	const qn_id square = unary(rw, QN_OP_square, NAME("square"), quotient);
	const qn_id sum = binary(rw, QN_OP_add, NAME("sum"), square, added);
#undef NAME
	return binary(rw, QN_OP_mul, qn_rw_name(rw, m->root), most,
		      unary(rw, QN_OP_sqrt, qn_rw_derived_name(rw, m->root, "factor"), sum));
}

#define SQUARE_OF(slot, x)                                                                         \
	EITHER(SOME(pow, slot, QN_P_ANY(x), QN_P_ANY(QN_NO_SLOT)),                                 \
	       SOME(mul, slot, QN_P_ANY(x), QN_P_ANY(x)), SOME(square, slot, QN_P_ANY(x)))

static const qn_pat square_of_a = SQUARE_OF(SQUARE_A, A);
static const qn_pat square_of_b = SQUARE_OF(SQUARE_B, B);
static const qn_pat sum_of_squares = OF(add, QN_NO_SLOT, &square_of_a, &square_of_b);

static const qn_rule rules[] = {
	{"magnitude", SOME(sqrt, ROOT, &sum_of_squares), to_quotient},
};

qn_status
qn_fuse_magnitudes(qn_model *m, const qn_graph *g, qn_graph **out)
{
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}
