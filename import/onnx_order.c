/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_order.c - the order in which the nodes of a graph, a body or a function are read: after those whose results
 * they take, else as in the file.
 *
 *   b = Relu(a)   a = Neg(x)        Neg, then Relu
 *   b = If(c) {… a …}   a = …       what a body takes from around it counts as an input of its node
 *   b = Relu(a)   a = Neg(b)        import.cycle, with the names of the nodes
 *
 * A depth-first walk on a stack of its own: time and memory are linear in the nodes and their inputs. */
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

enum {
	NAMED = 8,
	REPORTED = 8
}; /* nodes of a cycle that are named; cycles of a list that are reported */

/* Node `to` of the list makes the value of this name. */
typedef struct edge {
	uint32_t to;
	const char *name;
} edge;

typedef enum mark { NEW, OPEN, DONE } mark;

typedef struct sorting {
	qn_onnx *o;
	qn_arena *arena; /* until the order is known */
	size_t n;
	Onnx__NodeProto *const *node;
	qn_map makers; /* name -> (uint32_t *) number of the node that makes it */
	uint32_t *number;
	edge *edge;
	size_t nedge, cap;
	size_t *first, *next; /* [n + 1] edges of a node begin here; the next one to follow */
	mark *mark;
	uint32_t *stack, *depth; /* open nodes; where on the stack a node is */
	qn_onnx_order *result;
} sorting;

static const char *
text(const char *s)
{
	return s != NULL ? s : "";
}

/* ---- who needs whom ---- */

/* Every result has one node; an input, an initializer or another node that has its name already is an error. */
static void
take_makers(sorting *s)
{
	qn_importer *im = &s->o->im;

	qn_map_init(&s->makers, s->arena);
	for (uint32_t i = 0; i < s->n; i++) {
		const Onnx__NodeProto *p = s->node[i];

		s->number[i] = i;
		for (size_t k = 0; k < p->n_output; k++) {
			if (p->output[k][0] == '\0')
				continue;
			if (qn_map_gets(&s->makers, p->output[k]) == NULL &&
			    !qn_onnx_defined_here(s->o, p->output[k])) {
				qn_map_puts(&s->makers, p->output[k], &s->number[i]);
				continue;
			}
			qn_importer_at(im, qn_onnx_name(p), text(p->op_type),
				       qn_onnx_version(s->o->versions, qn_onnx_domain(p)));
			(void)qn_importer_refuse(im, "import.output",
						 "its result %zu has the duplicate name '%s'; give "
						 "each value its own name",
						 k, p->output[k]);
			qn_importer_failed(im, QN_EINVALID);
		}
	}
}

/* Node i takes the value of this name.  One from outside, which a later node hides, is the one from outside. */
static void
take_use(sorting *s, uint32_t i, const char *name)
{
	const uint32_t *maker = name[0] != '\0' ? qn_map_gets(&s->makers, name) : NULL;

	if (maker == NULL || (*maker >= i && qn_onnx_known(s->o, name)))
		return;
	s->edge = qn_arena_grow(s->arena, s->edge, &s->cap, s->nedge + 1, sizeof *s->edge);
	s->edge[s->nedge++] = (edge){*maker, name};
}

/* Names that a body defines, and those of bodies around it. */
typedef struct inside {
	qn_map own;
	const struct inside *outer;
} inside;

static void
take_outer_use(sorting *s, uint32_t i, const inside *body, const char *name)
{
	for (; body != NULL; body = body->outer)
		if (qn_map_gets(&body->own, name) != NULL)
			return;
	take_use(s, i, name);
}

static void
put_own(inside *body, const char *name)
{
	if (text(name)[0] != '\0' && qn_map_gets(&body->own, name) == NULL)
		qn_map_puts(&body->own, name, body);
}

static void take_bodies(sorting *s, uint32_t i, const inside *outer, const Onnx__NodeProto *p);

/* What a body takes from around it; messages nest 64 deep at most, so do bodies. */
static void
take_body(sorting *s, uint32_t i, const inside *outer, const Onnx__GraphProto *g)
{
	inside body = {.outer = outer};

	qn_map_init(&body.own, s->arena);
	for (size_t k = 0; k < g->n_input; k++)
		put_own(&body, g->input[k]->name);
	for (size_t k = 0; k < g->n_initializer; k++)
		put_own(&body, g->initializer[k]->name);
	for (size_t k = 0; k < g->n_sparse_initializer; k++)
		if (g->sparse_initializer[k]->values != NULL)
			put_own(&body, g->sparse_initializer[k]->values->name);
	for (size_t k = 0; k < g->n_node; k++)
		for (size_t j = 0; j < g->node[k]->n_output; j++)
			put_own(&body, g->node[k]->output[j]);
	for (size_t k = 0; k < g->n_node; k++) {
		for (size_t j = 0; j < g->node[k]->n_input; j++)
			take_outer_use(s, i, &body, g->node[k]->input[j]);
		take_bodies(s, i, &body, g->node[k]);
	}
	for (size_t k = 0; k < g->n_output; k++)
		take_outer_use(s, i, &body, text(g->output[k]->name));
}

static void
take_bodies(sorting *s, uint32_t i, const inside *outer, const Onnx__NodeProto *p)
{
	for (size_t k = 0; k < p->n_attribute; k++) {
		const Onnx__AttributeProto *a = p->attribute[k];

		if (a->g != NULL)
			take_body(s, i, outer, a->g);
		for (size_t j = 0; j < a->n_graphs; j++)
			take_body(s, i, outer, a->graphs[j]);
	}
}

static void
take_edges(sorting *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const Onnx__NodeProto *p = s->node[i];

		s->first[i] = s->nedge;
		for (size_t k = 0; k < p->n_input; k++)
			take_use(s, i, p->input[k]);
		take_bodies(s, i, NULL, p);
	}
	s->first[s->n] = s->nedge;
}

static bool
in_order(const sorting *s)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = s->first[i]; k < s->first[i + 1]; k++)
			if (s->edge[k].to >= i)
				return false;
	return true;
}

/* ---- the walk ---- */

/* The open nodes from stack[from] on need each other's results. */
static void
report_cycle(sorting *s, size_t from, size_t end)
{
	qn_importer *im = &s->o->im;
	const Onnx__NodeProto *p = s->node[s->stack[from]];
	qn_buf b;

	qn_buf_init(&b, s->arena);
	for (size_t k = end; k-- > from && end - k <= NAMED;)
		qn_buff(&b, "%s'%s'", k + 1 < end ? " -> " : "",
			qn_onnx_name(s->node[s->stack[k]]));
	if (end - from > NAMED)
		qn_buff(&b, " -> %zu more", end - from - NAMED);
	qn_importer_at(im, qn_onnx_name(p), text(p->op_type),
		       qn_onnx_version(s->o->versions, qn_onnx_domain(p)));
	(void)qn_importer_refuse(
		im, "import.cycle",
		"the nodes %s -> '%s' depend on each other in a cycle; make the value that is "
		"carried on an input and an output, or put the nodes into the body of a Loop",
		qn_buf_str(&b), qn_onnx_name(s->node[s->stack[end - 1]]));
	qn_importer_failed(im, QN_EINVALID);
}

/* The value counts as failed: its users are then passed over as after any other error. */
static void
break_edge(sorting *s, const edge *e, size_t end)
{
	qn_onnx_order *r = s->result;

	if (r->nbroken < REPORTED)
		report_cycle(s, s->depth[e->to], end);
	r->broken = qn_arena_grow(s->o->im.scratch, r->broken, &r->cap, r->nbroken + 1,
				  sizeof *r->broken);
	r->broken[r->nbroken++] = e->name;
}

/* Node i after all that it needs; s->next: the edge of each node to follow. */
static void
visit(sorting *s, uint32_t i, size_t *done)
{
	size_t n = 0;

	if (s->mark[i] != NEW)
		return;
	s->mark[i] = OPEN;
	s->stack[n++] = i;
	while (n > 0) {
		const uint32_t at = s->stack[n - 1];

		if (s->next[at] == s->first[at + 1]) {
			s->mark[at] = DONE;
			s->result->at[(*done)++] = at;
			n--;
			continue;
		}
		const edge *e = &s->edge[s->next[at]++];
		if (s->mark[e->to] == OPEN) {
			break_edge(s, e, n);
		} else if (s->mark[e->to] == NEW) {
			s->mark[e->to] = OPEN;
			s->depth[e->to] = (uint32_t)n;
			s->stack[n++] = e->to;
		}
	}
}

/* Nodes whose results the values called `name` need, those before them first; in the order of the file, if that will do. */
static void
sort_needed(sorting *s, size_t n, const char *const *name, bool as_in_file)
{
	size_t done = 0;

	for (size_t k = 0; k < n; k++) {
		const uint32_t *maker = qn_map_gets(&s->makers, name[k]);

		if (maker != NULL)
			visit(s, *maker, &done);
	}
	s->result->n = done;
	done = 0;
	for (uint32_t i = 0; i < s->n && as_in_file; i++)
		if (s->mark[i] == DONE)
			s->result->at[done++] = i;
}

/* cut: the nodes that its values need, of all nodes if ncut is 0. */
static void
sort(sorting *s, size_t ncut, const char *const *cut)
{
	const bool as_in_file = in_order(s);
	size_t done = 0;

	if (as_in_file && ncut == 0)
		return;

	s->next = qn_arena_copy(s->arena, s->first, s->n * sizeof *s->first);
	s->mark = QN_NEW(s->arena, mark, s->n);
	s->stack = QN_NEW(s->arena, uint32_t, s->n);
	s->depth = QN_NEW(s->arena, uint32_t, s->n);
	s->result->at = QN_NEW(s->o->im.scratch, uint32_t, s->n);
	if (ncut > 0) {
		sort_needed(s, ncut, cut, as_in_file);
		return;
	}
	for (uint32_t i = 0; i < s->n; i++)
		visit(s, i, &done);
}

const qn_onnx_order *
qn_onnx_order_of(qn_onnx *o, size_t n, Onnx__NodeProto *const *node)
{
	qn_onnx_order *known = qn_map_get(&o->orders, &node, sizeof node);

	if (known != NULL)
		return known;
	sorting s = {.o = o, .n = n, .node = node, .arena = qn_arena_child(o->im.scratch)};
	s.result = QN_NEW(o->im.scratch, qn_onnx_order, 1);
	s.number = QN_NEW(s.arena, uint32_t, n);
	s.first = QN_NEW(s.arena, size_t, n + 1);
	take_makers(&s);
	take_edges(&s);
	s.result->n = n;
	sort(&s, node == o->graph->node ? o->im.how->ncut : 0, o->im.how->cut);
	qn_arena_release(s.arena);
	qn_map_put(&o->orders, &node, sizeof node, s.result);
	return s.result;
}
