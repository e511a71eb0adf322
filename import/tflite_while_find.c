/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_while_find.c - see tflite_while.h: reads the tables of a condition and a body, and makes nothing.
 *
 *   start 0, step 1, LESS (time, 28)      28 steps: the first k for which 28 - (0 + 1 k) > 0 is false
 *
 * What is not certain is left to unrolling, which follows every constant. */
#include "import/tflite_while_view.h"

enum { FIELD_CONDITION, FIELD_BODY };

/* ---- integers ---- */

/* The integer that a variable begins with; false: it is not known. */
static bool
begins_with(const qn_tfl_while *w, uint32_t var, int64_t *out)
{
	const qn_tensor *x = qn_importer_known(w->o->im, w->o->in[var]);

	if (x == NULL || qn_type_count(x->type) != 1 ||
	    (x->type->elem->plain != QN_PLAIN_i32 && x->type->elem->plain != QN_PLAIN_i64) ||
	    qn_elem_is_quant(x->type->elem))
		return false;
	*out = qn_importer_near(qn_tensor_i64(x, 0));
	return true;
}

/* Whether a tensor is start + step * the number of the step. */
static bool
line(const qn_tfl_view *v, int64_t tensor, int64_t *start, int64_t *step)
{
	const int32_t k = qn_tfl_view_input(v, tensor);
	const qn_tfl_while_var *var = k >= 0 ? &v->w->var[k] : NULL;

	*step = 0;
	if (var == NULL)
		return qn_tfl_view_constant(v, tensor, start);
	if (var->role == QN_TFL_SAME)
		return begins_with(v->w, (uint32_t)k, start);
	*start = var->count.start;
	*step = var->count.step;
	return var->role == QN_TFL_COUNTED;
}

/* ---- the number of steps ---- */

/* The first k >= 0 for which at + k each > 0 is false. */
static int64_t
while_positive(int64_t at, int64_t each)
{
	if (at <= 0)
		return 0;
	return each >= 0 ? INT64_MAX : (at - each - 1) / -each;
}

/* The same for at + k each != 0. */
static int64_t
while_not_zero(int64_t at, int64_t each)
{
	if (at == 0)
		return 0;
	return each != 0 && at % each == 0 && at / each < 0 ? -(at / each) : INT64_MAX;
}

/* For how many steps a truth value of the condition is true; -1: it is not known. */
static int64_t
steps_of(const qn_tfl_view *v, int64_t tensor, int depth)
{
	static const struct {
		qn_tfl_builtin code;
		int64_t sign, equal; /* a < b: b - a > 0; a <= b: b - a + 1 > 0 */
	} orders[] = {{QN_TFL_LESS, 1, 0},
		      {QN_TFL_LESS_EQUAL, 1, 1},
		      {QN_TFL_GREATER, -1, 0},
		      {QN_TFL_GREATER_EQUAL, -1, 1}};
	int64_t a, b, each_a, each_b;
	qn_tfl_view_op n;

	if (depth > 8 || !qn_tfl_view_maker(v, tensor, &n) || n.in.n != 2)
		return -1;
	if (n.code == QN_TFL_LOGICAL_AND) {
		a = steps_of(v, qn_tfl_view_element(&n.in, 0), depth + 1);
		b = steps_of(v, qn_tfl_view_element(&n.in, 1), depth + 1);
		return a < 0 || b < 0 ? -1 : a < b ? a : b;
	}
	if (!line(v, qn_tfl_view_element(&n.in, 0), &a, &each_a) ||
	    !line(v, qn_tfl_view_element(&n.in, 1), &b, &each_b))
		return -1;
	if (n.code == QN_TFL_NOT_EQUAL)
		return while_not_zero(b - a, each_b - each_a);
	for (size_t i = 0; i < QN_COUNT(orders); i++)
		if ((int64_t)orders[i].code == n.code)
			return while_positive(orders[i].sign * (b - a) + orders[i].equal,
					      orders[i].sign * (each_b - each_a));
	return -1;
}

/* Whether the loop does not end soon; reports. */
static bool
too_many(const qn_tfl_while *w)
{
	qn_importer *im = w->o->im;
	const uint64_t most = qn_importer_most(im, QN_IMPORT_STEPS);

	if ((uint64_t)w->count <= most)
		return false;
	if (w->count == INT64_MAX)
		(void)qn_importer_refuse(im, "import.constant",
					 "the loop does not end: its condition stays true");
	else
		(void)qn_importer_refuse(
			im, "import.size", "a loop of %lld steps; at most %llu are read%s",
			(long long)w->count, (unsigned long long)most, qn_importer_more(im));
	return true;
}

/* ---- roles ---- */

/* start + step of a variable whose next value is itself and a constant. */
static bool
is_counted(const qn_tfl_view *body, uint32_t k, qn_tfl_counter *c)
{
	const int64_t self = qn_tfl_view_element(&body->in, k);
	qn_tfl_view_op n;
	int64_t by;

	if (!qn_tfl_view_maker(body, qn_tfl_view_element(&body->out, k), &n) || n.in.n != 2 ||
	    (n.code != QN_TFL_ADD && n.code != QN_TFL_SUB) || !begins_with(body->w, k, &c->start))
		return false;
	const bool second = n.code == QN_TFL_ADD && qn_tfl_view_element(&n.in, 1) == self;
	if (qn_tfl_view_element(&n.in, second ? 1 : 0) != self ||
	    !qn_tfl_view_constant(body, qn_tfl_view_element(&n.in, second ? 0 : 1), &by))
		return false;
	c->step = n.code == QN_TFL_SUB ? -by : by;
	c->at = -1;
	return true;
}

/* Whether an operator makes a vector of a counter among zeros: PACK (time, 0, 0). */
static bool
is_place(const qn_tfl_view *body, const qn_tfl_view_op *n, qn_tfl_counter *c)
{
	int64_t zero;
	bool found = false;

	if (n->code != QN_TFL_PACK || n->in.n > QN_MAX_RANK)
		return false;
	for (size_t i = 0; i < n->in.n; i++) {
		const int32_t var = qn_tfl_view_input(body, qn_tfl_view_element(&n->in, i));

		if (var >= 0 && body->w->var[var].role == QN_TFL_COUNTED && !found) {
			*c = body->w->var[var].count;
			c->at = (int32_t)i;
			found = true;
		} else if (!qn_tfl_view_constant(body, qn_tfl_view_element(&n->in, i), &zero) ||
			   zero != 0) {
			return false;
		}
	}
	return found;
}

/* Whether a variable is set slice by slice, at a counter that counts all of them. */
static bool
is_stacked(const qn_tfl_view *body, uint32_t k, qn_tfl_counter *c)
{
	const qn_type *type = qn_importer_type(body->w->o->im, body->w->o->in[k]);
	qn_tfl_view_op n, place;

	if (!qn_tfl_view_maker(body, qn_tfl_view_element(&body->out, k), &n) ||
	    n.code != QN_TFL_DYNAMIC_UPDATE_SLICE ||
	    qn_tfl_view_element(&n.in, 0) != qn_tfl_view_element(&body->in, k) ||
	    !qn_tfl_view_maker(body, qn_tfl_view_element(&n.in, 2), &place) ||
	    !is_place(body, &place, c) || c->at >= type->rank || type->dim[c->at] != body->w->count)
		return false;
	const qn_flat_table update = qn_tfl_view_tensor(body, qn_tfl_view_element(&n.in, 1));
	const qn_flat_vector dim = qn_flat_vector_in(&update, QN_TFL_FIELD_tensor_shape, 4);
	return (int32_t)dim.n == type->rank && qn_tfl_view_element(&dim, (size_t)c->at) == 1 &&
	       ((c->start == 0 && c->step == 1) ||
		(c->start == body->w->count - 1 && c->step == -1));
}

/* Whether an operator may read a tensor that has no value, because it counts or is stacked. */
static bool
may_read(const qn_tfl_view *body, const qn_tfl_view_op *n, size_t i, uint32_t k)
{
	const qn_tfl_while_var *var = &body->w->var[k];
	const int64_t made = qn_tfl_view_element(&n->out, 0);
	qn_tfl_counter c;

	if (var->role == QN_TFL_STACKED)
		return i == 0 && made == qn_tfl_view_element(&body->out, k);
	if (n->code == QN_TFL_ADD || n->code == QN_TFL_SUB)
		return made == qn_tfl_view_element(&body->out, k);
	if (n->code == QN_TFL_GATHER) {
		const qn_flat_table index =
			qn_tfl_view_tensor(body, qn_tfl_view_element(&n->in, 1));

		return i == 1 && (var->count.step == 1 || var->count.step == -1) &&
		       qn_flat_int(&n->options, 1, QN_FLAT_I32, 0) == 0 &&
		       qn_flat_vector_in(&index, QN_TFL_FIELD_tensor_shape, 4).n == 0;
	}
	return is_place(body, n, &c);
}

/* Whether a tensor that has no value because an operator of the body counts it, or puts it in a vector of places,
 * is read only by what stacks. */
static bool
made_ok(const qn_tfl_view *body, const qn_tfl_view_op *n, size_t i, size_t nplace,
	const int64_t *place)
{
	const int64_t tensor = qn_tfl_view_element(&n->in, i),
		      made = qn_tfl_view_element(&n->out, 0);
	bool is_placed = false;

	for (uint32_t k = 0; k < body->w->n; k++)
		if (body->w->var[k].role >= QN_TFL_COUNTED &&
		    qn_tfl_view_element(&body->out, k) == tensor)
			return false;
	for (size_t k = 0; k < nplace; k++)
		is_placed = is_placed || place[k] == tensor;
	for (uint32_t k = 0; k < body->w->n && is_placed; k++)
		if (body->w->var[k].role == QN_TFL_STACKED &&
		    qn_tfl_view_element(&body->out, k) == made)
			return i == 2;
	return !is_placed;
}

/* The vectors of places of the body; how many, -1: too many. */
static int32_t
places(const qn_tfl_view *body, size_t most, int64_t *place)
{
	qn_tfl_counter c;
	size_t n = 0;

	for (size_t i = 0; i < body->ops.n; i++) {
		const qn_tfl_view_op o = qn_tfl_view_op_at(body, i);

		if (!is_place(body, &o, &c))
			continue;
		if (n == most)
			return -1;
		place[n++] = qn_tfl_view_element(&o.out, 0);
	}
	return (int32_t)n;
}

/* Whether an operator does the same in each step, and keeps nothing from run to run. */
static bool
op_ok(const qn_tfl_view *body, const qn_tfl_view_op *n, size_t nplace, const int64_t *place)
{
	static const qn_tfl_builtin others[] = {QN_TFL_IF,
						QN_TFL_WHILE,
						QN_TFL_CALL,
						QN_TFL_CALL_ONCE,
						QN_TFL_VAR_HANDLE,
						QN_TFL_READ_VARIABLE,
						QN_TFL_ASSIGN_VARIABLE,
						QN_TFL_STABLEHLO_COMPOSITE};

	for (size_t k = 0; k < QN_COUNT(others); k++)
		if ((int64_t)others[k] == n->code)
			return false;
	for (size_t i = 0; i < n->in.n && i < QN_TFL_MOST_INPUTS; i++) {
		const int64_t tensor = qn_tfl_view_element(&n->in, i);
		const qn_flat_table t = qn_tfl_view_tensor(body, tensor);
		const int32_t k = qn_tfl_view_input(body, tensor);

		if (qn_flat_int(&t, QN_TFL_FIELD_tensor_is_variable, QN_FLAT_U8, 0) != 0)
			return false;
		if (k >= 0 && body->w->var[k].role >= QN_TFL_COUNTED &&
		    !may_read(body, n, i, (uint32_t)k))
			return false;
		if (k < 0 && !made_ok(body, n, i, nplace, place))
			return false;
	}
	return n->in.n <= QN_TFL_MOST_INPUTS;
}

static bool
body_ok(const qn_tfl_view *body)
{
	int64_t place[QN_TFL_MOST_OUTPUTS];
	const int32_t nplace = places(body, QN_COUNT(place), place);
	bool ok = nplace >= 0;

	for (size_t i = 0; i < body->ops.n && ok; i++) {
		const qn_tfl_view_op n = qn_tfl_view_op_at(body, i);

		ok = op_ok(body, &n, (size_t)nplace, place);
	}
	return ok;
}

/* Whether what is carried on is certain not to be a shape or a place, which must be known. */
static bool
may_carry(const qn_tfl_view *body, uint32_t k)
{
	const qn_tfl_op *o = body->w->o;
	const qn_type *type = qn_importer_type(o->im, o->in[k]);

	return !type->is_tuple && qn_type_count(type) >= 0 &&
	       (qn_elem_is_float(type->elem) || qn_elem_is_quant(type->elem) ||
		qn_importer_known(o->im, o->in[k]) == NULL);
}

bool
qn_tfl_while_find(qn_tfl_op *o, qn_tfl_while *w)
{
	qn_tfl_view condition, body;

	*w = (qn_tfl_while){.o = o, .n = o->nin};
	if (o->nout != o->nin ||
	    !qn_tfl_view_open(w, qn_tfl_option(o, FIELD_CONDITION, 0), 1, &condition) ||
	    !qn_tfl_view_open(w, qn_tfl_option(o, FIELD_BODY, 0), w->n, &body))
		return false;
	for (uint32_t k = 0; k < w->n; k++) {
		qn_tfl_while_var *var = &w->var[k];

		var->count.of = w;
		var->count.var = (int32_t)k;
		if (qn_tfl_view_element(&body.out, k) == qn_tfl_view_element(&body.in, k))
			var->role = QN_TFL_SAME;
		else if (is_counted(&body, k, &var->count))
			var->role = QN_TFL_COUNTED;
	}
	w->count = steps_of(&condition, qn_tfl_view_element(&condition.out, 0), 0);
	if (w->count < 2 || o->f->flat.damage != NULL || too_many(w))
		return false;
	for (uint32_t k = 0; k < w->n; k++) {
		qn_tfl_while_var *var = &w->var[k];

		if (o->in[k] == 0)
			return false; /* a handle */
		if (var->role == QN_TFL_CARRIED && is_stacked(&body, k, &var->count)) {
			var->role = QN_TFL_STACKED;
			var->count.var = (int32_t)k;
		}
		if (var->role == QN_TFL_CARRIED && !may_carry(&body, k))
			return false;
	}
	return body_ok(&body);
}
