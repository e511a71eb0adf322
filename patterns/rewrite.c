/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - the driver of local rules (rewrite.h). */
#include "patterns/rewrite_impl.h"

#include <string.h>

#include "ir/diag.h"

enum {
	/* a rule set that matches its own results would never end; no real graph comes near this
	 * many nodes for each of its own */
	MAX_ADDED_PER_NODE = 1000,
	/* rules inside of rules: as deep, they take 1 MB of the stack, and 5 MB with sanitizers */
	MAX_NESTED = 1500
};

qn_model *
qn_rw_model(const qn_rw *rw)
{
	return rw->m;
}

const qn_graph *
qn_rw_graph(const qn_rw *rw)
{
	return rw->dst;
}

const qn_node *
qn_rw_node(const qn_rw *rw, qn_id id)
{
	return qn_graph_node(rw->dst, id);
}

const char *
qn_rw_name(const qn_rw *rw, qn_id id)
{
	return rw->name[id];
}

const char *
qn_rw_derived_name(const qn_rw *rw, qn_id id, const char *what)
{
	const char *name = qn_rw_name(rw, id);
	qn_buf b;

	qn_buf_init(&b, qn_rw_model(rw)->scratch);
	qn_buff(&b, "%s.%s", name != NULL ? name : qn_opinfo_get(qn_rw_node(rw, id)->op)->name,
		what);
	return qn_buf_str(&b);
}

void *
qn_rw_user(const qn_rw *rw)
{
	return rw->user;
}

uint32_t
qn_rw_uses(const qn_rw *rw, qn_id id)
{
	return rw->uses[id];
}

void
qn_rw_fail(qn_rw *rw, qn_status status)
{
	if (rw->status == QN_OK)
		rw->status = status;
}

static uint32_t
hash_of(const qn_node *n)
{
	const qn_opinfo *op = qn_opinfo_of(n);
	uint32_t h = qn_hash(&op, sizeof op, 0);

	h = qn_hash(n->in, n->nin * sizeof *n->in, h);
	h = qn_hash(&n->type, sizeof n->type, h);
	h = qn_hash(&n->callee, sizeof n->callee, h);
	if (op->attrs->nattr > 0)
		h = qn_attrs_hash(op->attrs, n->attr, h);
	return n->value != NULL ? qn_hash(&n->value->data, sizeof n->value->data, h) : h;
}

/* Constants are compared by where their data lies: passes never copy it. */
static bool
same_node(const qn_node *a, const qn_node *b)
{
	const qn_attr_set_info *set = qn_opinfo_of(a)->attrs;

	if (qn_opinfo_of(a) != qn_opinfo_of(b) || a->nin != b->nin || a->type != b->type ||
	    a->callee != b->callee || (a->value != NULL) != (b->value != NULL))
		return false;
	if (a->value != NULL &&
	    (a->value->data != b->value->data || a->value->bytes != b->value->bytes))
		return false;
	for (uint32_t i = 0; i < a->nin; i++)
		if (a->in[i] != b->in[i])
			return false;
	return set->nattr == 0 || qn_attrs_equal(set, a->attr, b->attr);
}

/* The first node like n, 0 when there is none. */
static qn_id
find_same(const qn_rw *rw, const qn_node *n, uint32_t hash)
{
	qn_id id;

	for (size_t at = 0; (id = qn_hashes_next(&rw->shared, hash, &at)) != 0;)
		if (same_node(qn_graph_node(rw->dst, id), n))
			return id;
	return 0;
}

bool
qn_rw_known(const qn_rw *rw, qn_op op, qn_id x, const qn_type *type)
{
	qn_attrs preset;

	qn_attrs_default(qn_opinfo_get(op)->attrs, &preset);
	const qn_node n = {.op = op, .nin = 1, .in = &x, .attr = &preset, .type = type};
	return find_same(rw, &n, hash_of(&n)) != 0;
}

qn_id
qn_rw_decline(qn_rw *rw, const char *reason)
{
	rw->reason = reason;
	return 0;
}

/* got: what the rule gave for node id. */
static void
trace(qn_rw *rw, const qn_rule *rule, qn_id id, qn_id got)
{
	const char *name = rw->name[id] != NULL ? rw->name[id] : "";
	const char *reason = rw->reason, *layers;

	rw->reason = NULL;
	if (rw->m->env->trace == NULL || rw->status != QN_OK)
		return;
	layers = qn_node_layers(qn_rw_node(rw, id), rw->m->scratch);
	if (got == 0 || got == id)
		qn_trace(rw->m->env, "%s: %s at %s '%s'%s: declined%s%s", rw->m->env->trace_pass,
			 rule->name, qn_opinfo_of(qn_rw_node(rw, id))->name, name, layers,
			 reason != NULL ? ": " : "", reason != NULL ? reason : "");
	else
		qn_trace(rw->m->env, "%s: %s at %s '%s'%s: fired, now %s '%s'",
			 rw->m->env->trace_pass, rule->name, qn_opinfo_of(qn_rw_node(rw, id))->name,
			 name, layers, qn_opinfo_of(qn_rw_node(rw, got))->name,
			 rw->name[got] != NULL ? rw->name[got] : "");
}

static qn_id
apply(qn_rw *rw, const qn_rule *rule, qn_id id, const qn_match *m)
{
	qn_applied r = {.m = m, .outer = rw->rule};

	rw->rule = &r;
	rw->nested++;
	qn_id got = rule->apply(rw, m);
	rw->nested--;
	if (got != 0 && got != id && rw->status == QN_OK)
		qn_rw_pass_on_layers(rw, &r, got);
	rw->rule = r.outer;
	trace(rw, rule, id, got);
	return got;
}

static qn_id
offer(qn_rw *rw, qn_id id)
{
	for (size_t i = 0; i < rw->nrules && rw->status == QN_OK; i++) {
		qn_match m;

		if (!qn_match_at(rw->matcher, rw->dst, rw->rules[i].pattern, id, &m))
			continue;
		qn_id got = apply(rw, &rw->rules[i], id, &m);
		if (got != 0 && got != id)
			return got;
	}
	return id;
}

/* Adds one node; uses: of the source value that it stands for. */
static qn_id
add(qn_rw *rw, const qn_node *like, uint32_t uses)
{
	qn_node n = *like;

	if (rw->status != QN_OK)
		return 0;
	if (++rw->added > (uint64_t)MAX_ADDED_PER_NODE * rw->src->n || rw->nested > MAX_NESTED) {
		rw->status = qn_report(rw->m->env, QN_EINTERNAL, "rewrite.endless", like->name,
				       "internal error: the rules of this pass do not terminate");
		return 0;
	}
	n.facts = qn_rw_facts(rw, like);
	n.name = NULL; /* the result's names are given by the sweep at the end */
	qn_id id = qn_graph_add(rw->dst, &n);
	if (id == 0) {
		qn_rw_fail(rw, QN_EINVALID);
		return 0;
	}
	rw->name = qn_arena_grow(rw->tmp, (void *)(uintptr_t)rw->name, &rw->name_cap, id + 1,
				 sizeof *rw->name);
	rw->uses = qn_arena_grow(rw->tmp, rw->uses, &rw->uses_cap, id + 1, sizeof *rw->uses);
	rw->stands =
		qn_arena_grow(rw->tmp, rw->stands, &rw->stands_cap, id + 1, sizeof *rw->stands);
	rw->name[id] = like->name;
	rw->uses[id] = uses;
	if (n.op == QN_OP_input || n.op == QN_OP_loop) /* loops are equal only to themselves */
		return offer(rw, id);
	const qn_node *made = qn_graph_node(rw->dst, id);
	uint32_t hash = hash_of(made);
	qn_id first = find_same(rw, made, hash);
	if (first != 0 && rw->stands[first] != 0)
		return rw->stands[first];
	if (first == 0) {
		first = id;
		qn_hashes_add(&rw->shared, hash, id);
	}
	rw->stands[first] = id;
	qn_id got = offer(rw, id);
	rw->stands[first] = got;
	return got;
}

qn_id
qn_rw_add(qn_rw *rw, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	  const qn_attrs *attr, const qn_type *type)
{
	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0; /* an error that has been reported */
	return add(rw,
		   &(qn_node){.op = op,
			      .name = name,
			      .nin = nin,
			      .in = in,
			      .attr = attr,
			      .type = type,
			      .place = ""},
		   1);
}

qn_id
qn_rw_const(qn_rw *rw, const char *name, const qn_tensor *value)
{
	return add(rw,
		   &(qn_node){.op = QN_OP_const,
			      .name = name,
			      .value = value,
			      .type = value->type,
			      .place = ""},
		   1);
}

qn_id
qn_rw_reshape(qn_rw *rw, const char *name, qn_id x, int32_t rank, const int64_t *dim)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(shape), &a);
	a.shape.shape.n = rank;
	for (int32_t i = 0; i < rank; i++)
		a.shape.shape.v[i] = dim[i];
	return qn_rw_add(rw, QN_OP_reshape, name, 1, &x, &a, NULL);
}

/* All nodes of the source, each offered to the rules. */
static qn_status
sweep(qn_rw *rw)
{
	const qn_graph *g = rw->src;

	rw->map = QN_NEW(rw->tmp, qn_id, g->n);
	rw->src_uses = qn_graph_uses(g, rw->tmp);
	qn_hashes_init(&rw->shared, rw->tmp);
	for (qn_id id = 1; id < g->n && rw->status == QN_OK; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(rw->tmp, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = rw->map[n.in[i]];
		n.in = in;
		const qn_id got = add(rw, &n, rw->src_uses[id]);
		if (got != 0 && rw->uses[got] < rw->src_uses[id])
			rw->uses[got] = rw->src_uses[id];
		rw->map[id] = got;
	}
	QN_TRY(rw->status);
	qn_graph_copy_outputs(rw->dst, g, rw->map);
	return QN_OK;
}

qn_status
qn_rewrite(qn_model *m, const qn_graph *g, const qn_rule *rules, size_t nrules, void *user,
	   qn_graph **out)
{
	qn_rw rw = {.m = m,
		    .tmp = qn_arena_child(m->scratch),
		    .src = g,
		    .rules = rules,
		    .nrules = nrules,
		    .user = user,
		    .status = QN_OK};

	rw.dst = qn_graph_new_in(m, g->name, rw.tmp);
	rw.matcher = qn_matcher_new(rw.tmp, 0);
	qn_status status = sweep(&rw);
	if (status == QN_OK)
		status = qn_graph_sweep(m, rw.dst, rw.name, out);
	qn_arena_release(rw.tmp);
	return status;
}
