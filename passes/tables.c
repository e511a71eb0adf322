/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - functions of one 8-bit value are computed by one table.
 *
 *   %s = sigmoid %x            %y depends on nothing but the element of %x at the same index, which has
 *   %m = mul %x, %s            256 values: %y = table %x, [what the nodes give for each of them]
 *   %y = requantize %m
 *
 * The entries come from the nodes' own integer kernels, so the bytes of all outputs stay what they were.
 * A region ends at the farthest value from which alone, with constants of one element, its result
 * follows.  It becomes a table where that saves a step at least, and 256 bytes are less than what they
 * replace: another table, or the work on 256 elements.
 *
 * requires: an integer graph.   leaves: an integer graph. */
#include <string.h>

#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/family.h"
#include "runtime/interp.h"

enum {
	VALUES = 256,    /* of 8 bits */
	MOST_NODES = 64, /* of a region */
	MOST_ENDS = 16   /* values that a region reads, while it is searched for */
};

/* Ops that compute each element of the result from the elements of the operands at its index, besides
 * those of behaviour LUT. */
static const bool elementwise[QN_NOP] = {
	[QN_OP_requantize] = true,  [QN_OP_scast] = true,       [QN_OP_cast] = true,
	[QN_OP_clamp] = true,       [QN_OP_table] = true,       [QN_OP_sigmoid] = true,
	[QN_OP_tanh] = true,        [QN_OP_prelu] = true,       [QN_OP_add] = true,
	[QN_OP_sub] = true,         [QN_OP_mul] = true,         [QN_OP_div] = true,
	[QN_OP_mod] = true,         [QN_OP_floor_div] = true,   [QN_OP_squared_difference] = true,
	[QN_OP_minimum] = true,     [QN_OP_maximum] = true,     [QN_OP_where] = true,
	[QN_OP_equal] = true,       [QN_OP_not_equal] = true,   [QN_OP_less] = true,
	[QN_OP_less_equal] = true,  [QN_OP_greater] = true,     [QN_OP_greater_equal] = true,
	[QN_OP_logical_and] = true, [QN_OP_logical_or] = true,  [QN_OP_logical_xor] = true,
	[QN_OP_logical_not] = true, [QN_OP_bitwise_and] = true, [QN_OP_bitwise_or] = true,
	[QN_OP_bitwise_xor] = true, [QN_OP_bitwise_not] = true, [QN_OP_shift_left] = true,
	[QN_OP_shift_right] = true,
};

/* The nodes from a result back to the values that it follows from.  Ids rise from operands to results. */
typedef struct region {
	qn_id node[MOST_NODES]; /* falling ids, the result first */
	size_t n;
	qn_id end[MOST_ENDS]; /* no constants */
	size_t nend;
} region;

/* ---- which nodes ---- */

static bool
has_one_scale(const qn_type *t)
{
	return !t->is_tuple && (t->elem->kind == QN_ELEM_PLAIN || t->elem->gran == QN_PER_TENSOR);
}

/* A constant that is one number for all elements, or the entries of a table. */
static bool
is_for_all(const qn_rw *rw, const qn_node *n, uint32_t i)
{
	const qn_node *x = qn_rw_node(rw, n->in[i]);

	return x->op == QN_OP_const && has_one_scale(x->type) &&
	       (qn_type_count(x->type) == 1 || (n->op == QN_OP_table && i == 1));
}

/* The node computes its elements one by one from values of its own shape. */
static bool
computes_each(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	if (!(elementwise[n->op] || qn_opinfo_of(n)->behaviour == QN_LUT) ||
	    !has_one_scale(n->type))
		return false;
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_rw_node(rw, n->in[i])->type;

		if (!is_for_all(rw, n, i) && (t->is_tuple || !qn_type_same_shape(t, n->type)))
			return false;
	}
	return true;
}

/* Takes a node into the region, and what it reads among the ends; whether there is room. */
static bool
take(const qn_rw *rw, region *r, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	if (r->n == MOST_NODES)
		return false;
	r->node[r->n++] = id;
	for (uint32_t i = 0; i < n->nin; i++) {
		size_t at = 0;

		if (is_for_all(rw, n, i))
			continue;
		while (at < r->nend && r->end[at] != n->in[i])
			at++;
		if (at == MOST_ENDS)
			return false;
		r->end[at] = n->in[i];
		r->nend += at == r->nend;
	}
	return true;
}

/* Removes the last end that is computed; returns it. */
static qn_id
take_last_end(region *r)
{
	size_t last = 0;

	for (size_t i = 1; i < r->nend; i++)
		if (r->end[i] > r->end[last])
			last = i;
	const qn_id id = r->end[last];
	r->end[last] = r->end[--r->nend];
	return id;
}

/* The values that a table finds its entries by, and those that it gives. */
static bool
is_of_bytes(const qn_type *t)
{
	const qn_family f = t->is_tuple ? QN_NFAMILY : qn_family_of(t->elem);

	return (f == QN_FAMILY_s8 || f == QN_FAMILY_u8) && has_one_scale(t);
}

/* The largest region with one end that a table for `root` could read; its n is 0 where there is none. */
static region
region_of(const qn_rw *rw, qn_id root)
{
	const qn_type *y = qn_rw_node(rw, root)->type;
	region r = {.n = 0}, best = {.n = 0};
	qn_id id = root;

	while (computes_each(rw, id) && take(rw, &r, id) && r.nend > 0) {
		const qn_type *x = qn_rw_node(rw, r.end[0])->type;

		if (r.nend == 1 && is_of_bytes(x) && qn_family_of(x->elem) == qn_family_of(y->elem))
			best = r;
		id = take_last_end(&r);
	}
	return best;
}

/* ---- whether it is worth it ---- */

/* By table that was made: the uses of the values that it took the place of; of others 0. */
typedef struct made {
	uint32_t *uses;
	size_t n;
} made;

static uint32_t
uses_of(const qn_rw *rw, qn_id id)
{
	const made *t = qn_rw_user(rw);

	return id < t->n && t->uses[id] > 0 ? t->uses[id] : qn_rw_uses(rw, id);
}

static void
note_uses(qn_rw *rw, qn_id table, uint32_t uses)
{
	made *t = qn_rw_user(rw);

	if (table >= t->n) {
		const size_t n = 2 * (size_t)table + 64;
		uint32_t *more = QN_NEW(qn_rw_model(rw)->scratch, uint32_t, n);

		if (t->n > 0)
			memcpy(more, t->uses, t->n * sizeof *more);
		*t = (made){more, n};
	}
	t->uses[table] += uses;
}

/* How often nodes of the region read the value. */
static uint32_t
uses_inside(const qn_rw *rw, const region *r, qn_id id)
{
	uint32_t uses = 0;

	for (size_t i = 0; i < r->n; i++) {
		const qn_node *n = qn_rw_node(rw, r->node[i]);

		for (uint32_t k = 0; k < n->nin; k++)
			uses += n->in[k] == id;
	}
	return uses;
}

/* Whether a table saves steps.  Removed are the result's, and of the others those without other readers.
 * A scast is not a step. */
static bool
saves(const qn_rw *rw, const region *r)
{
	bool is_table = qn_type_count(qn_rw_node(rw, r->node[0])->type) >= VALUES;
	size_t steps = 0;

	for (size_t i = 0; i < r->n; i++) {
		const qn_node *n = qn_rw_node(rw, r->node[i]);

		if (n->op == QN_OP_scast ||
		    (i > 0 && uses_inside(rw, r, r->node[i]) < uses_of(rw, r->node[i])))
			continue;
		steps++;
		is_table = is_table || n->op == QN_OP_table ||
			   qn_opinfo_of(n)->behaviour == QN_LUT || n->op == QN_OP_sigmoid ||
			   n->op == QN_OP_tanh;
	}
	return steps >= 2 && is_table;
}

/* ---- the entries ---- */

/* The region as a graph of its own, of that many elements. */
typedef struct copy {
	const qn_rw *rw;
	const region *r;
	qn_graph *g;
	qn_id end, node[MOST_NODES]; /* what stands there for them */
} copy;

static const qn_type *
line_of(const copy *c, const qn_elem *e, int64_t n)
{
	return qn_type_tensor(&qn_rw_model(c->rw)->types, e, 1, &n);
}

static qn_id
copied(const copy *c, qn_id id)
{
	const qn_node *n = qn_rw_node(c->rw, id);

	if (id == c->r->end[0])
		return c->end;
	for (size_t i = 0; i < c->r->n; i++)
		if (c->r->node[i] == id)
			return c->node[i];
	return qn_graph_const(c->g, NULL,
			      qn_tensor_of(qn_rw_model(c->rw)->scratch,
					   line_of(c, n->type->elem, qn_type_count(n->type)),
					   n->value->data));
}

/* Whether the region stands in the graph. */
static bool
copy_region(copy *c)
{
	const qn_elem *x = qn_rw_node(c->rw, c->r->end[0])->type->elem;
	qn_id in[8];

	c->end = qn_graph_input(c->g, "x", line_of(c, x, VALUES));
	for (size_t i = c->r->n; i-- > 0;) {
		const qn_node *n = qn_rw_node(c->rw, c->r->node[i]);

		for (uint32_t k = 0; k < n->nin; k++)
			in[k] = copied(c, n->in[k]);
		c->node[i] = qn_graph_op(c->g, n->op, NULL, n->nin, in, n->attr,
					 line_of(c, n->type->elem, VALUES));
		if (c->node[i] == 0)
			return false;
	}
	qn_graph_output(c->g, "y", c->node[0]);
	return true;
}

/* What the region gives for each byte, in the order of unsigned bytes; NULL: it cannot be computed. */
static const qn_tensor *
entries_of(const qn_rw *rw, const region *r)
{
	qn_model *m = qn_rw_model(rw);
	qn_arena *tmp = qn_arena_child(m->scratch);
	copy c = {.rw = rw, .r = r, .g = qn_graph_new_in(m, "table", tmp)};
	const qn_tensor *entries = NULL;
	qn_interp *run;
	void *data;

	const qn_tensor *x = qn_tensor_new(
		tmp, line_of(&c, qn_rw_node(rw, r->end[0])->type->elem, VALUES), &data);
	for (int i = 0; i < VALUES; i++)
		((uint8_t *)data)[i] = (uint8_t)i;
	if (copy_region(&c) && qn_interp_new(c.g, tmp, &run) == QN_OK &&
	    qn_interp_run(run, &x, NULL, NULL) == QN_OK) {
		const qn_tensor *y = qn_interp_output(run, 0);

		entries = qn_tensor_of(m->arena, y->type, y->data);
	}
	qn_arena_release(tmp);
	return entries;
}

static qn_id
to_table(qn_rw *rw, const qn_match *match)
{
	const qn_node *n = qn_rw_node(rw, match->root);

	if (!is_of_bytes(n->type) || qn_type_count(n->type) < 1 || n->op == QN_OP_scast)
		return 0;
	const region r = region_of(rw, match->root);
	if (r.n == 0 || !saves(rw, &r))
		return qn_rw_decline(rw, "no ops before it depend on one 8-bit value alone");
	qn_env *env = qn_rw_model(rw)->env;
	const qn_diag_mark mark = qn_diag_mark_now(env);
	const qn_tensor *entries = entries_of(rw, &r);
	if (entries == NULL) {
		qn_diag_forget(env, mark);
		return qn_rw_decline(rw, "its ops cannot be computed separately");
	}
	const char *name = qn_rw_derived_name(rw, match->root, "table");
	const uint32_t uses = uses_of(rw, match->root);
	const qn_id in[2] = {r.end[0], qn_rw_const(rw, name, entries)};
	for (size_t i = 1; i < r.n; i++)
		qn_rw_add_origin(rw, r.node[i]);
	const qn_id table = qn_rw_add(rw, QN_OP_table, qn_rw_name(rw, match->root), 2, in, NULL,
				      qn_rw_node(rw, match->root)->type);
	if (table != 0)
		note_uses(rw, table, uses);
	return table;
}

static const qn_rule rules[] = {
	{"one-table", QN_P_ANY(0), to_table},
};

qn_status
qn_tables(qn_model *m)
{
	made tables = {0};
	qn_graph *g;

	if (m->stage != QN_STAGE_INTEGER)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "tables takes an integer graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_rewrite(m, qn_model_entry(m), rules, QN_COUNT(rules), &tables, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
