/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_loop_body.c - see onnx_loop_body.h.
 *
 *   Loop(T, true, 0, xs, h) { (i, more, t, xs, h) ->
 *     x = Gather(xs, t)         t counts, xs is kept: the slice of step t
 *     h' = …                    carried
 *     t' = Add(t, 1)            known in each step, as is
 *     more' = Less(t', T)       whether another step follows */
#include "import/onnx_loop_body.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

enum {
	STATES =
		2, /* inputs of the body before its states: the number of the step and the condition */
	MOST_DEPTH = 16 /* of bodies in the body */
};

static const char *
text(const char *s)
{
	return s != NULL ? s : "";
}

static bool
is_op(const Onnx__NodeProto *p, const char *op)
{
	return strcmp(p->op_type, op) == 0 && qn_onnx_domain(p)[0] == '\0';
}

static const Onnx__NodeProto *
maker_of(const qn_loop_body *b, const char *name)
{
	Onnx__NodeProto *const *at = qn_map_gets(&b->makers, name);

	return at != NULL ? *at : NULL;
}

const char *
qn_loop_body_origin(const qn_loop_body *b, const char *name)
{
	const char *origin = qn_map_gets(&b->origins, name);

	return origin != NULL ? origin : name;
}

/* The state that is an input of the body, NULL: it is none. */
static const qn_loop_state *
state_called(const qn_loop_body *b, const char *name)
{
	return name[0] != '\0' ? qn_map_gets(&b->states, name) : NULL;
}

static qn_loop_state
state_of(const qn_loop_body *b, uint32_t k)
{
	const qn_id first = b->node->in[STATES + k];
	const char *name = b->body->input[STATES + k]->name;

	if (strcmp(qn_loop_body_origin(b, text(b->body->output[1 + k]->name)), name) == 0)
		return QN_LOOP_KEPT;
	if (qn_importer_known(&b->o->im, first) == NULL ||
	    qn_elem_is_float(qn_onnx_type(b->o, first)->elem))
		return QN_LOOP_CARRIED;
	return qn_type_count(qn_onnx_type(b->o, first)) == 1 && qn_onnx_type(b->o, first)->rank <= 1
		       ? QN_LOOP_COUNTS
		       : QN_LOOP_OTHER;
}

/* Of nodes in their order; what comes before its operand's is left as it is. */
static void
find_origins(qn_loop_body *b)
{
	for (size_t i = 0; i < b->body->n_node; i++) {
		const Onnx__NodeProto *p = b->body->node[i];

		if (is_op(p, "Identity") && p->n_input == 1 && p->n_output == 1 &&
		    p->output[0][0] != '\0' && qn_map_gets(&b->origins, p->output[0]) == NULL)
			qn_map_puts(&b->origins, p->output[0],
				    (char *)qn_loop_body_origin(b, p->input[0]));
	}
}

bool
qn_loop_body_init(qn_loop_body *b, qn_onnx *o, const qn_onnx_node *n, const qn_onnx_repeat *r)
{
	*b = (qn_loop_body){.o = o, .node = n, .body = r->body, .nstate = r->nstate};
	for (size_t i = 0; i < STATES + r->nstate; i++)
		if (text(r->body->input[i]->name)[0] == '\0')
			return false;
	for (uint32_t k = 0; k < r->nstate; k++)
		if (n->in[STATES + k] == 0 || qn_onnx_is_list(o, n->in[STATES + k]))
			return false;
	qn_map_init(&b->makers, o->im.scratch);
	qn_map_init(&b->origins, o->im.scratch);
	qn_map_init(&b->states, o->im.scratch);
	for (size_t i = 0; i < r->body->n_node; i++) {
		Onnx__NodeProto **p = &r->body->node[i];

		for (size_t k = 0; k < (*p)->n_output; k++)
			if ((*p)->output[k][0] != '\0' && maker_of(b, (*p)->output[k]) == NULL)
				qn_map_puts(&b->makers, (*p)->output[k], p);
	}
	b->state = QN_NEW(o->im.scratch, qn_loop_state, r->nstate + 1);
	b->is_number = QN_NEW(o->im.scratch, bool, r->nstate + 1);
	find_origins(b);
	for (uint32_t k = 0; k < r->nstate; k++) {
		const char *name = b->body->input[STATES + k]->name;

		b->state[k] = state_of(b, k);
		if (qn_map_gets(&b->states, name) != NULL)
			return false;
		qn_map_puts(&b->states, name, &b->state[k]);
	}
	return true;
}

/* ---- what a node reads ---- */

typedef bool see_fn(void *user, const char *name);

/* Calls fn for each value that a node or a body in it reads; false: fn said so, or bodies are nested too deep. */
static bool
each_read(const Onnx__NodeProto *p, int depth, see_fn *fn, void *user)
{
	for (size_t i = 0; i < p->n_input; i++)
		if (!fn(user, p->input[i]))
			return false;
	for (size_t k = 0; k < p->n_attribute; k++) {
		const Onnx__GraphProto *g = p->attribute[k]->g;

		if (g != NULL && depth == MOST_DEPTH)
			return false;
		for (size_t i = 0; g != NULL && i < g->n_node; i++)
			if (!each_read(g->node[i], depth + 1, fn, user))
				return false;
		for (size_t i = 0; g != NULL && i < g->n_output; i++)
			if (!fn(user, text(g->output[i]->name)))
				return false;
	}
	return true;
}

typedef struct search {
	const qn_loop_body *b;
	bool *mark; /* by node of the body */
	size_t *stack, n;
} search;

static bool
want(void *user, const char *name)
{
	search *s = user;
	Onnx__NodeProto **at = qn_map_gets(&s->b->makers, name);

	if (at != NULL && !s->mark[at - s->b->body->node]) {
		s->mark[at - s->b->body->node] = true;
		s->stack[s->n++] = (size_t)(at - s->b->body->node);
	}
	return true;
}

bool
qn_loop_body_part(const qn_loop_body *b, const bool *wanted, Onnx__GraphProto *part)
{
	qn_arena *a = b->o->im.scratch;
	search s = {.b = b,
		    .mark = QN_NEW(a, bool, b->body->n_node + 1),
		    .stack = QN_NEW(a, size_t, b->body->n_node + 1)};

	for (size_t i = 0; i < b->body->n_output; i++)
		if (wanted[i])
			(void)want(&s, text(b->body->output[i]->name));
	while (s.n > 0)
		if (!each_read(b->body->node[s.stack[--s.n]], 0, want, &s))
			return false;
	*part = *b->body;
	part->node = QN_NEW(a, Onnx__NodeProto *, b->body->n_node + 1);
	part->n_node = 0;
	for (size_t i = 0; i < b->body->n_node; i++)
		if (s.mark[i])
			part->node[part->n_node++] = b->body->node[i];
	return true;
}

static bool
is_not_carried(void *user, const char *name)
{
	const qn_loop_state *state = state_called(user, name);

	return state == NULL || *state != QN_LOOP_CARRIED;
}

bool
qn_loop_body_counts(const qn_loop_body *b, const Onnx__GraphProto *part)
{
	void *user = (void *)b; /* is not changed */

	for (size_t i = 0; i < part->n_node; i++)
		if (!each_read(part->node[i], 0, is_not_carried, user))
			return false;
	for (size_t i = 0; i < 1 + (size_t)b->nstate; i++)
		if ((i == 0 || b->state[i - 1] == QN_LOOP_COUNTS) &&
		    !is_not_carried(user, text(b->body->output[i]->name)))
			return false;
	return true;
}

/* ---- the number of the step ---- */

/* Values of the body that are integers which are known in each step. */
typedef struct counters {
	qn_map names; /* -> &number: follows from that of the step; &other: it may not be used at all */
	char number, other;
} counters;

static bool
is_none(void *user, const char *name)
{
	return name[0] == '\0' || qn_map_gets(&((counters *)user)->names, name) == NULL;
}

/* Whether a Cast gives the integer that it reads: other types may not hold it. */
static bool
is_integer_cast(const Onnx__NodeProto *p)
{
	for (size_t k = 0; k < p->n_attribute; k++)
		if (strcmp(text(p->attribute[k]->name), "to") == 0)
			return p->attribute[k]->i == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
			       p->attribute[k]->i == ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	return false;
}

/* The value from outside of the body that `name` is in each step, 0: none. */
static qn_id
from_outside(const qn_loop_body *b, const char *name)
{
	bool known;

	name = qn_loop_body_origin(b, name);
	const qn_loop_state *state = state_called(b, name);
	if (state != NULL)
		return *state == QN_LOOP_KEPT ? b->node->in[STATES + (state - b->state)] : 0;
	return maker_of(b, name) == NULL ? qn_onnx_value(b->o, name, &known) : 0;
}

/* Whether a value is the same integers in all steps: a constant in the body, or from outside of it. */
static bool
is_fixed(const qn_loop_body *b, const char *name)
{
	const Onnx__NodeProto *maker = maker_of(b, qn_loop_body_origin(b, name));
	const qn_id x = maker == NULL ? from_outside(b, name) : 0;

	for (size_t i = 0; i < b->body->n_initializer; i++)
		if (strcmp(text(b->body->initializer[i]->name), name) == 0)
			return true;
	return (maker != NULL && is_op(maker, "Constant")) ||
	       (x != 0 && !qn_onnx_is_list(b->o, x) && qn_importer_known(&b->o->im, x) != NULL);
}

/* Operators whose result is a line over the steps where their operands are that or fixed (onnx_loop_slice.c). */
static const char *const of_lines[] = {"Identity", "Cast",      "Add",     "Sub",     "Mul",
				       "Neg",      "Unsqueeze", "Squeeze", "Reshape", "Flatten"};

/* What the result of a node is, NULL: no counter. */
static char *
counter_made(const qn_loop_body *b, const Onnx__NodeProto *p, counters *c)
{
	char *made = NULL;
	bool line = false;

	if (p->n_output != 1 || p->output[0][0] == '\0' || !is_none(c, p->output[0]))
		return NULL;
	for (size_t i = 0; i < QN_COUNT(of_lines); i++)
		line = line || is_op(p, of_lines[i]);
	for (size_t i = 0; i < p->n_input && line; i++) {
		if (is_none(c, p->input[i])) {
			line = p->input[i][0] == '\0' || is_fixed(b, p->input[i]);
			continue;
		}
		if (made != &c->other)
			made = qn_map_gets(&c->names, p->input[i]);
	}
	if (!line)
		return NULL;
	return made != NULL && is_op(p, "Cast") && !is_integer_cast(p) ? &c->other : made;
}

static void
name_counters(const qn_loop_body *b, const Onnx__GraphProto *part, counters *c)
{
	qn_map_init(&c->names, b->o->im.scratch);
	qn_map_puts(&c->names, b->body->input[0]->name, &c->number);
	for (uint32_t k = 0; k < b->nstate; k++) {
		const char *name = b->body->input[STATES + k]->name;

		if (b->state[k] == QN_LOOP_COUNTS && is_none(c, name))
			qn_map_puts(&c->names, name, b->is_number[k] ? &c->number : &c->other);
	}
	for (size_t i = 0; i < part->n_node; i++) {
		char *made = counter_made(b, part->node[i], c);

		if (made != NULL)
			qn_map_puts(&c->names, part->node[i]->output[0], made);
	}
}

static bool
is_number(counters *c, const char *name)
{
	return name[0] != '\0' && qn_map_gets(&c->names, name) == &c->number;
}

/* Whether a node reads a slice of a value from outside of the body, but not an integer that may have to be known. */
static bool
is_slice(const qn_loop_body *b, const Onnx__NodeProto *p, counters *c)
{
	const size_t limits = is_op(p, "Gather") ? 1 : is_op(p, "Slice") ? 2 : 0;

	if (limits == 0 || p->n_input <= limits || !is_none(c, p->input[0]))
		return false;
	for (size_t i = 1; i < p->n_input; i++)
		if (i <= limits ? !is_number(c, p->input[i]) : !is_none(c, p->input[i]))
			return false;
	const qn_id x = from_outside(b, p->input[0]);

	return x != 0 && !qn_onnx_is_list(b->o, x) &&
	       (qn_importer_known(&b->o->im, x) == NULL ||
		qn_elem_is_float(qn_onnx_type(b->o, x)->elem));
}

bool
qn_loop_body_slices(const qn_loop_body *b, const Onnx__GraphProto *part)
{
	counters c;

	name_counters(b, part, &c);
	for (size_t i = 0; i < part->n_node; i++) {
		const Onnx__NodeProto *p = part->node[i];
		const bool same = p->n_output == 1 && !is_none(&c, p->output[0]);

		if (!same && !each_read(p, 0, is_none, &c) && !is_slice(b, p, &c))
			return false;
	}
	for (size_t i = 1; i < b->body->n_output; i++)
		if ((i > b->nstate || b->state[i - 1] == QN_LOOP_CARRIED) &&
		    !is_none(&c, text(b->body->output[i]->name)))
			return false;
	return true;
}
