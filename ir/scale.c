/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - scale expressions: immutable, interned, so equal ones are equal pointers.
 *
 *     $conv1.x*$conv1.w        MUL(SYM, SYM)    the scale of conv1's accumulator
 *     1.000000e-02*{@conv1.w.q}                 the same after both symbols got values
 *
 * Operands of MUL are ordered by their text.  Simplified are x*1, x/1 and (a*b)/b where b holds a
 * symbol; constants never fold, since a folded product would no longer be an f32: the expression is
 * evaluated in double, in its printed order.  fmul(a,b) is the product rounded to f32, which is how
 * TFLite's per-tensor fully connected computes its accumulator's scale. */
#include <math.h>
#include <string.h>

#include "ir/type_impl.h"

/* What is kept beside the public part. */
typedef struct node {
	qn_scale s;
	const char *text; /* canonical text over f32; orders the operands of MUL */
	uint32_t ops;     /* operations in the expression */
} node;

static const node *
node_of(const qn_scale *s)
{
	return (const node *)(const void *)s; /* s is the first member of an interned node */
}

bool
qn_scale_is_leaf(const qn_scale *s)
{
	return s->a == NULL;
}

static const qn_scale *
intern(qn_types *t, const qn_scale *s)
{
	uint64_t key[6] = {(uint64_t)s->kind,           0,
			   (uint64_t)(uintptr_t)s->vec, (uint64_t)(uintptr_t)s->sym,
			   (uint64_t)(uintptr_t)s->a,   (uint64_t)(uintptr_t)s->b};
	qn_buf b;

	memcpy(&key[1], &s->value, sizeof key[1]);
	node *n = qn_map_get(&t->scales, key, sizeof key);
	if (n != NULL)
		return &n->s;
	n = QN_NEW(t->arena, node, 1);
	n->s = *s;
	n->ops = qn_scale_is_leaf(s) ? 0 : node_of(s->a)->ops + node_of(s->b)->ops + 1;
	if (n->ops > QN_MAX_SCALE_OPS)
		n->s.len = QN_SCALE_TOO_LONG;
	qn_buf_init(&b, t->arena);
	qn_scale_print(&b, &n->s);
	n->text = qn_buf_str(&b);
	qn_map_put(&t->scales, key, sizeof key, n);
	return &n->s;
}

const qn_scale *
qn_scale_const(qn_types *t, double value)
{
	return intern(t, &(qn_scale){.kind = QN_SCALE_CONST, .value = value});
}

const qn_scale *
qn_scale_vec(qn_types *t, const qn_params *vec)
{
	return intern(t, &(qn_scale){.kind = QN_SCALE_VEC, .vec = vec, .len = (int64_t)vec->n});
}

const qn_scale *
qn_scale_sym(qn_types *t, const qn_symbol *sym)
{
	return intern(t, &(qn_scale){.kind = QN_SCALE_SYM, .sym = sym, .len = sym->len});
}

static bool
is_one(const qn_scale *s)
{
	return s->kind == QN_SCALE_CONST && s->value == 1.0;
}

/* x*1, 1*x, x/1, (a*b)/b and (b*a)/b; NULL when nothing applies.  A simplification must not lose
 * the length of a vector: $a*$v/$v stays as it is when $v is a vector and $a is not. */
static const qn_scale *
simplify(qn_scale_kind op, const qn_scale *a, const qn_scale *b)
{
	if (op == QN_SCALE_MUL && is_one(a))
		return b;
	if ((op == QN_SCALE_MUL || op == QN_SCALE_DIV) && is_one(b))
		return a;
	if (op != QN_SCALE_DIV || a->kind != QN_SCALE_MUL || !qn_scale_has_symbol(b))
		return NULL;
	if (a->b == b && a->a->len == a->len)
		return a->a;
	if (a->a == b && a->b->len == a->len)
		return a->b;
	return NULL;
}

static int64_t
joint_len(const qn_scale *a, const qn_scale *b)
{
	if (a->len > 0 && b->len > 0 && a->len != b->len)
		return QN_SCALE_LENGTHS;
	return a->len > 0 ? a->len : b->len;
}

const qn_scale *
qn_scale_plain(qn_types *t, const char *place, const qn_scale *s)
{
	const qn_params *v = s->kind == QN_SCALE_VEC ? s->vec : NULL, *plain = NULL;

	if (v == NULL || v->zp == NULL)
		return s;
	return qn_params_intern(t, place, NULL, v->n, v->rank, v->shape, v->scale, NULL, &plain) ==
			       QN_OK
		       ? qn_scale_vec(t, plain)
		       : NULL;
}

const qn_scale *
qn_scale_op(qn_types *t, qn_scale_kind op, const qn_scale *a, const qn_scale *b)
{
	if (a->len < 0)
		return a;
	if (b->len < 0)
		return b;
	const qn_scale *simple = simplify(op, a, b);
	if (simple != NULL)
		return simple;
	if (op == QN_SCALE_MUL && strcmp(node_of(a)->text, node_of(b)->text) > 0) {
		const qn_scale *swap = a;

		a = b;
		b = swap;
	}
	return intern(t, &(qn_scale){.kind = op, .a = a, .b = b, .len = joint_len(a, b)});
}

const qn_scale *
qn_scale_map(qn_types *t, const qn_scale *s, qn_leaf_fn *fn, void *user)
{
	if (qn_scale_is_leaf(s))
		return fn(t, s, user);
	const qn_scale *a = qn_scale_map(t, s->a, fn, user);
	const qn_scale *b = a != NULL ? qn_scale_map(t, s->b, fn, user) : NULL;
	if (b == NULL)
		return NULL;
	return a == s->a && b == s->b ? s : qn_scale_op(t, s->kind, a, b);
}

static double
vector_value(const qn_params *vec, size_t i)
{
	return vec->scale[i < vec->n ? i : 0];
}

bool
qn_scale_value(const qn_scale *s, size_t i, double *out, const qn_symbol **unbound)
{
	double a = 0.0;
	double b = 0.0;

	if (!qn_scale_is_leaf(s) &&
	    (!qn_scale_value(s->a, i, &a, unbound) || !qn_scale_value(s->b, i, &b, unbound)))
		return false;
	switch (s->kind) {
	case QN_SCALE_CONST:
		*out = s->value;
		break;
	case QN_SCALE_VEC:
		*out = vector_value(s->vec, i);
		break;
	case QN_SCALE_SYM:
		*unbound = s->sym;
		if (!s->sym->bound)
			return false;
		*out = s->sym->len > 0 ? vector_value(s->sym->vec, i) : s->sym->scale;
		break;
	case QN_SCALE_MUL:
		*out = a * b;
		break;
	case QN_SCALE_DIV:
		*out = a / b;
		break;
	case QN_SCALE_FMUL:
		*out = qn_round_to(QN_PLAIN_f32, a * b);
		break;
	}
	return true;
}

qn_status
qn_scale_eval(const qn_types *t, const char *place, const qn_scale *s, size_t i, double *out)
{
	qn_where w = qn_where_place(t, place);
	const qn_symbol *unbound = NULL;
	qn_buf b;

	QN_TRY(qn_scale_check_len(&w, s));
	if (!qn_scale_value(s, i, out, &unbound))
		return QN_FAIL(&w, "scale.unbound",
			       "symbol $%s has no value; calibrate the model, or bind the symbol",
			       unbound->name);
	if (isfinite(*out) && *out > 0.0)
		return QN_OK;
	qn_buf_init(&b, t->arena);
	qn_scale_print(&b, s);
	return QN_FAIL(&w, "scale.value",
		       "%s is %g at index %zu; a scale must be finite and above 0", qn_buf_str(&b),
		       *out, i);
}

static const qn_scale *
bind_leaf(qn_types *t, const qn_scale *leaf, void *user)
{
	(void)user;
	if (leaf->kind != QN_SCALE_SYM || !leaf->sym->bound)
		return leaf;
	if (leaf->sym->len == 0)
		return qn_scale_const(t, leaf->sym->scale);
	/* a scale alone: the zero points of the symbol do not belong into an expression */
	return qn_scale_vec(t, qn_params_with_zp(t, leaf->sym->vec, NULL));
}

const qn_scale *
qn_scale_bind(qn_types *t, const qn_scale *s)
{
	return qn_scale_map(t, s, bind_leaf, NULL);
}

bool
qn_scale_has_symbol(const qn_scale *s)
{
	if (qn_scale_is_leaf(s))
		return s->kind == QN_SCALE_SYM;
	return qn_scale_has_symbol(s->a) || qn_scale_has_symbol(s->b);
}

const qn_symbol *
qn_scale_unbound(const qn_scale *s)
{
	if (qn_scale_is_leaf(s))
		return s->kind == QN_SCALE_SYM && !s->sym->bound ? s->sym : NULL;
	const qn_symbol *a = qn_scale_unbound(s->a);
	return a != NULL ? a : qn_scale_unbound(s->b);
}

const qn_params *
qn_scale_params(const qn_scale *s)
{
	if (qn_scale_is_leaf(s))
		return s->vec;
	const qn_params *a = qn_scale_params(s->a);
	return a != NULL ? a : qn_scale_params(s->b);
}

qn_status
qn_scale_check_value(qn_where *w, qn_plain expressed, double v)
{
	const qn_float_range limit = qn_float_limits(expressed);

	if (v >= limit.subnormal && v <= limit.max) /* false for NaN */
		return QN_OK;
	return QN_FAIL(w, "type.scale.range",
		       "scale %g is not a positive %s; use a value from %g to %g", v,
		       qn_plain_table[expressed].name, limit.subnormal, limit.max);
}

qn_status
qn_scale_check_len(qn_where *w, const qn_scale *s)
{
	if (s->len == QN_SCALE_LENGTHS)
		return QN_FAIL(
			w, "scale.length",
			"the expression combines vectors of different lengths; make them equal");
	if (s->len == QN_SCALE_TOO_LONG)
		return QN_FAIL(w, "scale.size",
			       "the expression has more than %d operations; simplify it",
			       QN_MAX_SCALE_OPS);
	return QN_OK;
}
