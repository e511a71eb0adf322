/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - the driver of local rules (rewrite.h). */
#include "patterns/rewrite.h"

#include <string.h>

#include "ir/diag.h"

/* A rule set that makes its own food would never end; no real graph comes near this many nodes
 * for each of its own. */
enum { MAX_ADDED_PER_NODE = 1000 };

struct qn_rw {
	qn_model *m;
	qn_arena *
		tmp; /* for the time of the sweep: the graph under construction and what is known of it */
	const qn_graph *src;
	qn_graph *dst;
	qn_matcher *matcher;
	const qn_rule *rules;
	size_t nrules;
	void *user;
	const uint32_t *src_uses;
	qn_id *map;        /* source id -> value in dst */
	const char **name; /* dst id -> the name it should have in the result */
	uint32_t *uses;    /* dst id -> uses of the source value it stands for */
	size_t name_cap, uses_cap;
	qn_map shared; /* node text -> value, so that equal nodes are one */
	qn_status status;
	const char *reason; /* of the last rule that declined */
	uint64_t added;
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

/* A key that is equal for equal nodes.  Constants are compared by where their data lies: passes
 * never copy it. */
static void
node_key(qn_buf *b, const qn_node *n)
{
	const qn_opinfo *op = qn_opinfo_of(n);
	const qn_attr_set_info *set = op->attrs;

	qn_buf_put(b, (const char *)&op, sizeof op);
	for (uint32_t i = 0; i < n->nin; i++)
		qn_buff(b, "%u,", n->in[i]);
	qn_buf_put(b, (const char *)&n->type, sizeof n->type);
	if (n->value != NULL) {
		qn_buf_put(b, (const char *)&n->value->data, sizeof n->value->data);
		qn_buff(b, "%zu", n->value->bytes);
	}
	qn_buf_put(b, (const char *)&n->callee, sizeof n->callee);
	for (size_t i = 0; i < set->nattr && n->attr != NULL; i++) {
		qn_buf_putc(b, ';');
		qn_attr_print(b, &set->attr[i], n->attr);
	}
}

/* Where the value that stands for nodes like this one is kept: 0 in it when the node is the
 * first of its kind.  NULL: never shared. */
static qn_id *
shared_slot(qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_graph_node(rw->dst, id);
	qn_buf key;

	if (n->op == QN_OP_input)
		return NULL;
	qn_buf_init(&key, rw->tmp);
	node_key(&key, n);
	qn_id *slot = qn_map_get(&rw->shared, key.data, key.n);
	if (slot == NULL) {
		slot = QN_NEW(rw->tmp, qn_id, 1);
		qn_map_put(&rw->shared, key.data, key.n, slot);
	}
	return slot;
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
	const char *reason = rw->reason;

	rw->reason = NULL;
	if (rw->m->env->trace == NULL || rw->status != QN_OK)
		return;
	if (got == 0 || got == id)
		qn_trace(rw->m->env, "%s: %s at %s '%s': declined%s%s", rw->m->env->trace_pass,
			 rule->name, qn_opinfo_of(qn_rw_node(rw, id))->name, name,
			 reason != NULL ? ": " : "", reason != NULL ? reason : "");
	else
		qn_trace(rw->m->env, "%s: %s at %s '%s': fired, now %s '%s'",
			 rw->m->env->trace_pass, rule->name, qn_opinfo_of(qn_rw_node(rw, id))->name,
			 name, qn_opinfo_of(qn_rw_node(rw, got))->name,
			 rw->name[got] != NULL ? rw->name[got] : "");
}

static qn_id
offer(qn_rw *rw, qn_id id)
{
	for (size_t i = 0; i < rw->nrules && rw->status == QN_OK; i++) {
		qn_match m;

		if (!qn_match_at(rw->matcher, rw->dst, rw->rules[i].pattern, id, &m))
			continue;
		rw->reason = NULL;
		qn_id got = rw->rules[i].apply(rw, &m);
		trace(rw, &rw->rules[i], id, got);
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
	if (++rw->added > (uint64_t)MAX_ADDED_PER_NODE * rw->src->n) {
		rw->status = qn_report(rw->m->env, QN_EINTERNAL, "rewrite.endless", like->name,
				       "the rules of this pass do not come to an end");
		return 0;
	}
	n.name = NULL; /* the result's names are given by the sweep at the end */
	qn_id id = qn_graph_add(rw->dst, &n);
	if (id == 0) {
		qn_rw_fail(rw, QN_EINVALID);
		return 0;
	}
	rw->name = qn_arena_grow(rw->tmp, (void *)(uintptr_t)rw->name, &rw->name_cap, id + 1,
				 sizeof *rw->name);
	rw->uses = qn_arena_grow(rw->tmp, rw->uses, &rw->uses_cap, id + 1, sizeof *rw->uses);
	rw->name[id] = like->name;
	rw->uses[id] = uses;
	qn_id *slot = shared_slot(rw, id);
	if (slot != NULL && *slot != 0)
		return *slot;
	if (slot != NULL)
		*slot = id;
	qn_id got = offer(rw, id);
	if (slot != NULL)
		*slot = got;
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

static void
release(void *arena)
{
	qn_arena_release(arena);
}

/* An arena that is given back at the end of a sweep, or, when memory runs out in it, with the
 * model's. */
static qn_arena *
sweep_arena(qn_model *m)
{
	qn_arena *tmp = QN_NEW(m->arena, qn_arena, 1);

	qn_arena_init(tmp, m->env);
	qn_arena_defer(m->arena, release, tmp);
	return tmp;
}

/* All nodes of the source, each offered to the rules. */
static qn_status
sweep(qn_rw *rw)
{
	const qn_graph *g = rw->src;

	rw->map = QN_NEW(rw->tmp, qn_id, g->n);
	rw->src_uses = qn_graph_uses(g, rw->tmp);
	qn_map_init(&rw->shared, rw->tmp);
	for (qn_id id = 1; id < g->n && rw->status == QN_OK; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(rw->tmp, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = rw->map[n.in[i]];
		n.in = in;
		rw->map[id] = add(rw, &n, rw->src_uses[id]);
	}
	QN_TRY(rw->status);
	for (size_t i = 0; i < g->noutput; i++)
		qn_graph_output(rw->dst, g->output[i].name, rw->map[g->output[i].value]);
	return QN_OK;
}

qn_status
qn_rewrite(qn_model *m, const qn_graph *g, const qn_rule *rules, size_t nrules, void *user,
	   qn_graph **out)
{
	qn_rw rw = {.m = m,
		    .tmp = sweep_arena(m),
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
