/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_settle.c - the graph as it is written: each quantize stands where its value is computed, so
 * that what reads the file finds its operators between DequantizeLinear and QuantizeLinear.
 *
 *   quantize(max_pool(relu(add)))        ->  max_pool(quantize(add))      with every step on quantized values
 *   quantize(dequantize(x))              ->  x                            of the same parameters
 *   quantize(x), quantize(x)             ->  one of them
 *
 * All of it is exact: what clamps, moves or selects elements is monotone, and 0 is one of the
 * quantized values.  A relu, relu6 or clip that does no more than the saturation of its quantize
 * stays before it: there ONNX Runtime takes both into the layer. */
#include <math.h>
#include <string.h>

#include "import/onnx_write.h"

enum { MAX_CHAIN = 64 }; /* steps that a quantize moves up */

/* A value of the graph that has been quantized. */
typedef struct done {
	const qn_elem *elem;
	int32_t ties;
	qn_id at; /* in the new graph */
	const struct done *next;
} done;

typedef struct settler {
	qn_onnx_out *o;
	const qn_graph *g;
	qn_graph *to;
	qn_id *map; /* value of g -> of `to` */
	const qn_elem *
		*sole; /* the type to which all users of a value quantize it; NULL: they do not */
	const done **quantized;
	const char **name; /* in the file, of values of `to` */
	size_t name_cap;
	bool failed;
} settler;

/* ---- which steps a quantize may pass ---- */

static bool
is_clamp(qn_op op)
{
	return op == QN_OP_relu || op == QN_OP_relu6 || op == QN_OP_clip;
}

static bool
is_passed(const qn_node *n)
{
	static const qn_op moves[] = {QN_OP_max_pool, QN_OP_max_pool3d, QN_OP_reshape,
				      QN_OP_flatten,  QN_OP_squeeze,    QN_OP_expand_dims,
				      QN_OP_slice,    QN_OP_transpose};

	for (size_t i = 0; i < QN_COUNT(moves); i++)
		if (n->op == moves[i])
			return true;
	return is_clamp(n->op);
}

/* Whether the range of e lies within the limits of the clamp. */
static bool
is_saturated(const settler *s, const qn_node *n, const qn_elem *e)
{
	const double lo = n->op == QN_OP_clip ? n->attr->clip.min : 0;
	const double hi = n->op == QN_OP_relu6  ? 6
			  : n->op == QN_OP_clip ? n->attr->clip.max
						: (double)INFINITY;
	double scale;
	int64_t zp;

	qn_elem_param(&s->g->model->types, e, 0, &scale, &zp);
	return qn_quantize_value(lo, scale, true, zp, e->qmin, e->qmax) == e->qmin &&
	       qn_quantize_value(hi, scale, true, zp, e->qmin, e->qmax) == e->qmax;
}

/* ---- values used by quantize alone ---- */

/* A user n of value x takes it as e (NULL: as it is). */
static void
use(const qn_elem **sole, bool *seen, qn_id x, const qn_elem *e)
{
	sole[x] = !seen[x] || sole[x] == e ? e : NULL;
	seen[x] = true;
}

static const qn_elem **
find_sole(const settler *s)
{
	const qn_graph *g = s->g;
	const qn_elem **sole = QN_NEW(s->o->a, const qn_elem *, g->n);
	bool *seen = QN_NEW(s->o->a, bool, g->n);

	for (size_t i = 0; i < g->noutput; i++)
		use(sole, seen, g->output[i].value, NULL);
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_elem *e = n->op == QN_OP_quantize ? n->type->elem
				   : is_passed(n)          ? sole[id]
							   : NULL;

		for (uint32_t i = 0; i < n->nin; i++)
			use(sole, seen, n->in[i], e != NULL && e->gran == QN_PER_TENSOR ? e : NULL);
	}
	return sole;
}

/* ---- the graph with quantize where it belongs ---- */

/* Adds the node and says how it is called in the file. */
static qn_id
add(settler *s, const qn_node *n, const char *name)
{
	const qn_id id = qn_graph_add(s->to, n);

	s->failed = s->failed || id == 0;
	if (id >= s->name_cap)
		s->name = qn_arena_grow(s->o->a, (void *)s->name, &s->name_cap, id + 1,
					sizeof *s->name);
	s->name[id] = name;
	return id;
}

/* Value `from` of the graph as `quantize` has it, which stands after it; its name in the file. */
static qn_id
quantized(settler *s, qn_id from, const qn_node *quantize, const char *name, int depth)
{
	const qn_node *n = qn_graph_node(s->g, from);
	const qn_elem *e = quantize->type->elem;
	const bool simple = e->gran == QN_PER_TENSOR && depth < MAX_CHAIN;
	const int32_t ties = quantize->attr->quantize.ties;
	qn_node like = *quantize;

	if (n->op == QN_OP_dequantize && qn_graph_node(s->g, n->in[0])->type->elem == e)
		return s->map[n->in[0]];
	for (const done *d = s->quantized[from]; d != NULL; d = d->next)
		if (d->elem == e && d->ties == ties)
			return d->at;
	qn_id in = s->map[from];
	if (simple && is_passed(n) && s->sole[from] == e &&
	    !(is_clamp(n->op) && is_saturated(s, n, e))) {
		like = *n;
		in = quantized(s, n->in[0], quantize, qn_graph_node(s->g, n->in[0])->name,
			       depth + 1);
	}
	like.in = &in;
	like.name = NULL;
	like.type = qn_type_with_elem(&s->o->m->types, n->type, e);
	done *d = QN_NEW(s->o->a, done, 1);
	*d = (done){e, ties, in != 0 ? add(s, &like, name) : 0, s->quantized[from]};
	s->quantized[from] = d;
	return d->at;
}

/* *n: the node over its operands in another graph. */
static void
copied(const settler *s, const qn_node *from, const qn_id *map, qn_node *n)
{
	qn_id *in = QN_NEW(s->o->a, qn_id, from->nin + 1);

	for (uint32_t i = 0; i < from->nin; i++)
		in[i] = map[from->in[i]];
	*n = *from;
	n->in = in;
}

/* The layer's name: "conv1" for the sum conv1.acc, and for what requantizes it. */
static const char *
layer(const settler *s, const qn_node *n)
{
	static const char sum[] = ".acc";
	const char *name =
		n->op == QN_OP_requantize ? qn_graph_node(s->g, n->in[0])->name : n->name;
	const size_t len = strlen(name), end = sizeof sum - 1;

	if (len > end && strcmp(name + len - end, sum) == 0)
		return qn_arena_strn(s->o->a, name, len - end);
	return n->name;
}

/* ---- unused nodes removed ---- */

static bool
compact(settler *s)
{
	const qn_graph *g = s->to;
	qn_graph *to = qn_graph_new_in(s->o->m, g->name, s->o->a);
	bool *need = QN_NEW(s->o->a, bool, g->n);
	qn_id *map = QN_NEW(s->o->a, qn_id, g->n);
	const char **base = QN_NEW(s->o->a, const char *, g->n);
	qn_node n;

	for (size_t i = 0; i < g->ninput; i++)
		need[g->input[i]] = true;
	for (size_t i = 0; i < g->noutput; i++)
		need[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--)
		for (uint32_t i = 0; need[id] && i < qn_graph_node(g, id)->nin; i++)
			need[qn_graph_node(g, id)->in[i]] = true;
	for (qn_id id = 1; id < g->n; id++) {
		if (!need[id])
			continue;
		copied(s, qn_graph_node(g, id), map, &n);
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): add() names each node */
		n.name = n.op == QN_OP_input ? qn_graph_node(g, id)->name : s->name[id];
		if ((map[id] = qn_graph_add(to, &n)) == 0)
			return false;
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		base[map[id]] = s->name[id];
	}
	qn_graph_copy_outputs(to, g, map);
	qn_id *origin = QN_NEW(s->o->a, qn_id, g->n);
	for (qn_id id = 1; id < s->g->n; id++)
		if (qn_graph_node(s->g, id)->op == QN_OP_const && map[s->map[id]] != 0)
			origin[map[s->map[id]]] = id;
	s->o->g = to;
	s->o->base = base;
	s->o->origin = origin;
	return true;
}

bool
qn_onnx_out_settle(qn_onnx_out *o)
{
	const qn_graph *g = o->kept;
	settler s = {.o = o, .g = g, .to = qn_graph_new_in(o->m, g->name, o->a)};
	qn_node n;

	s.map = QN_NEW(o->a, qn_id, g->n);
	s.quantized = QN_NEW(o->a, const done *, g->n);
	s.sole = find_sole(&s);
	for (qn_id id = 1; id < g->n && !s.failed; id++) {
		const qn_node *from = qn_graph_node(g, id);

		if (from->op == QN_OP_quantize) {
			s.map[id] = quantized(&s, from->in[0], from,
					      qn_graph_node(g, from->in[0])->name, 0);
			continue;
		}
		copied(&s, from, s.map, &n);
		s.map[id] = add(&s, &n, layer(&s, from));
	}
	if (s.failed)
		return false;
	qn_graph_copy_outputs(s.to, g, s.map);
	return compact(&s);
}
