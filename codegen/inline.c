/* SPDX-License-Identifier: Apache-2.0 */
/* inline.c - see inline.h.
 *
 *   graph @block(%x) { %r = relu %x  return %r }
 *   graph @main(%a)  { %b = call @block %a  return %b }    --->    { %b.r = relu %a  return %b.r }
 *
 *   %p = split %x {axis=0, sizes=[2,3]}
 *   %a = get %p {index=1}               --->    %p_1 = slice %x {begin=[2], end=[5]}
 *
 *   %t = top_k %x {k=2}                 %t = top_k_indices %x {k=2}
 *   %a = get %t {index=0}      --->     %t_1 = gather_elements %x, %t
 *
 *   %d = dynamic_quantize %x            %d = dynamic_values %x    %d_1 = dynamic_mantissa %x    %d_2 = const 0
 *
 * A value of the source stands for one value of the copy, or for several when it is a tuple. */
#include "codegen/inline.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/limits.h"

typedef struct value {
	uint32_t n; /* 1 unless a tuple */
	const qn_id *id;
} value;

typedef struct inliner {
	qn_graph *to;
	qn_arena *arena;
	uint64_t nodes;   /* seen so far, calls of graphs without own nodes too */
	qn_status status; /* of a failure */
} inliner;

static bool copy_nodes(inliner *s, const qn_graph *g, const char *prefix, const value *arg,
		       int depth, value *map);

static bool
is_flat(const qn_graph *g)
{
	qn_id id;

	for (id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_call ||
		    qn_graph_node(g, id)->op == QN_OP_tuple ||
		    qn_graph_node(g, id)->op == QN_OP_get ||
		    qn_graph_node(g, id)->op == QN_OP_split ||
		    qn_graph_node(g, id)->op == QN_OP_top_k ||
		    qn_graph_node(g, id)->op == QN_OP_dynamic_quantize)
			return false;
	return true;
}

static value
one(inliner *s, qn_id id)
{
	return (value){1, qn_arena_copy(s->arena, &id, sizeof(id))};
}

static const char *
joined(inliner *s, const char *prefix, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, s->arena);
	qn_buff(&b, "%s%s", prefix, name);
	return qn_buf_str(&b);
}

/* The operands of n one after the other, the fields of tuples separately. */
static value
operands(inliner *s, const qn_node *n, const value *map)
{
	uint32_t count = 0, at = 0, i, k;
	qn_id *id;

	for (i = 0; i < n->nin; i++)
		count += map[n->in[i]].n;
	id = QN_NEW(s->arena, qn_id, (size_t)count + 1);
	for (i = 0; i < n->nin; i++)
		for (k = 0; k < map[n->in[i]].n; k++)
			id[at++] = map[n->in[i]].id[k];
	return (value){count, id};
}

static bool
copy_call(inliner *s, const qn_node *n, const char *prefix, const value *map, int depth, value *out)
{
	const qn_graph *callee = n->callee;
	value *inner = QN_NEW(s->arena, value, callee->n);
	value *arg = QN_NEW(s->arena, value, (size_t)n->nin + 1);
	qn_id *id = QN_NEW(s->arena, qn_id, callee->noutput + 1);
	uint32_t i;
	size_t k;

	for (i = 0; i < n->nin; i++)
		arg[i] = map[n->in[i]];
	if (!copy_nodes(s, callee, joined(s, prefix, joined(s, n->name, ".")), arg, depth + 1,
			inner))
		return false;
	for (k = 0; k < callee->noutput; k++)
		id[k] = inner[callee->output[k].value].id[0];
	*out = (value){(uint32_t)callee->noutput, id};
	return true;
}

/* The parts of a split as slices; those that are not read become no step. */
static bool
copy_split(inliner *s, const qn_node *n, const char *prefix, qn_id x, value *out)
{
	const qn_type *in = qn_graph_node(s->to, x)->type;
	const qn_attrs_split *a = &n->attr->split;
	int32_t axis = (int32_t)(a->axis < 0 ? a->axis + in->rank : a->axis), k;
	qn_id *id = QN_NEW(s->arena, qn_id, (size_t)a->sizes.n);
	int64_t at = 0;

	for (k = 0; k < a->sizes.n; k++) {
		qn_attrs attr;

		qn_attrs_default(QN_ATTRS(slice), &attr);
		attr.slice.begin.n = attr.slice.end.n = in->rank;
		memcpy(attr.slice.end.v, in->dim, (size_t)in->rank * sizeof(in->dim[0]));
		attr.slice.begin.v[axis] = at;
		attr.slice.end.v[axis] = at += a->sizes.v[k];
		id[k] = qn_graph_op(s->to, QN_OP_slice, joined(s, prefix, n->name), 1, &x, &attr,
				    NULL);
		if (id[k] == 0)
			return false;
	}
	*out = (value){(uint32_t)a->sizes.n, id};
	return true;
}

/* The indices that a top_k finds, and from them its elements. */
static bool
copy_top_k(inliner *s, const qn_node *n, const char *prefix, qn_id x, value *out)
{
	qn_id *id = QN_NEW(s->arena, qn_id, 2), in[2] = {x, 0};
	qn_attrs attr;

	qn_attrs_default(QN_ATTRS(gather), &attr);
	attr.gather.axis = n->attr->top_k.axis;
	id[1] = qn_graph_op(s->to, QN_OP_top_k_indices, joined(s, prefix, n->name), 1, &x, n->attr,
			    n->type->field[1]);
	in[1] = id[1];
	if (id[1] != 0)
		id[0] = qn_graph_op(s->to, QN_OP_gather_elements, joined(s, prefix, n->name), 2, in,
				    &attr, NULL);
	*out = (value){2, id};
	return id[1] != 0 && id[0] != 0;
}

/* The fields of a dynamic_quantize, each on its own; the exponent is 0, as the scale of the values' type has
 * all that is not an integer. */
static bool
copy_dynamic(inliner *s, const qn_node *n, const char *prefix, qn_id x, value *out)
{
	qn_id *id = QN_NEW(s->arena, qn_id, 3);
	const char *name = joined(s, prefix, n->name);
	const qn_type *type = n->type->field[2];
	void *zeros;

	id[0] = qn_graph_op(s->to, QN_OP_dynamic_values, name, 1, &x, n->attr, NULL);
	id[1] = qn_graph_op(s->to, QN_OP_dynamic_mantissa, name, 1, &x, n->attr, NULL);
	const qn_tensor *exponent = qn_tensor_new(s->arena, type, &zeros);
	memset(zeros, 0, qn_type_bytes(type));
	id[2] = qn_graph_const(s->to, name, exponent);
	*out = (value){3, id};
	return id[0] != 0 && id[1] != 0 && id[2] != 0;
}

static bool
copy_node(inliner *s, const qn_graph *g, qn_id from, const char *prefix, const value *arg,
	  int depth, value *map)
{
	const qn_node *n = qn_graph_node(g, from);
	qn_node copy = *n;
	value in = operands(s, n, map);
	size_t k;

	if (n->op == QN_OP_call)
		return copy_call(s, n, prefix, map, depth, &map[from]);
	if (n->op == QN_OP_split)
		return copy_split(s, n, prefix, in.id[0], &map[from]);
	if (n->op == QN_OP_top_k)
		return copy_top_k(s, n, prefix, in.id[0], &map[from]);
	if (n->op == QN_OP_dynamic_quantize)
		return copy_dynamic(s, n, prefix, in.id[0], &map[from]);
	if (n->op == QN_OP_tuple) {
		map[from] = in;
		return true;
	}
	if (n->op == QN_OP_get) {
		map[from] = one(s, in.id[n->attr->get.index]);
		return true;
	}
	for (k = 0; n->op == QN_OP_input && arg != NULL && k < g->ninput; k++) {
		if (g->input[k] == from) {
			map[from] = arg[k];
			return true;
		}
	}
	copy.in = in.id;
	copy.name = joined(s, prefix, n->name);
	map[from] = one(s, qn_graph_add(s->to, &copy));
	return map[from].id[0] != 0;
}

/* Copies all nodes of g; arg holds what its inputs stand for, NULL for the outermost graph. */
static bool
copy_nodes(inliner *s, const qn_graph *g, const char *prefix, const value *arg, int depth,
	   value *map)
{
	qn_id id;

	qn_env *env = g->model->env;
	s->nodes += g->n;
	if ((uint64_t)depth > qn_limit(env, QN_LIMIT_NESTING)) {
		s->status = qn_limit_report(env, QN_LIMIT_NESTING, g->name, (uint64_t)depth);
		return false;
	}
	if (s->nodes > qn_limit(env, QN_LIMIT_NODES)) {
		s->status = qn_limit_report(env, QN_LIMIT_NODES, g->name, UINT64_MAX);
		return false;
	}
	for (id = 1; id < g->n; id++)
		if (!copy_node(s, g, id, prefix, arg, depth, map))
			return false;
	return true;
}

qn_status
qn_graph_inline(const qn_graph *g, qn_arena *a, const qn_graph **out)
{
	inliner s = {.arena = a, .status = QN_EUNSUPPORTED};
	value *map;
	size_t k;

	*out = g;
	if (is_flat(g))
		return QN_OK;
	s.to = qn_graph_new_in(g->model, g->name, a);
	map = QN_NEW(a, value, g->n);
	if (!copy_nodes(&s, g, "", NULL, 0, map))
		return s.status;
	for (k = 0; k < g->noutput; k++) {
		qn_id id = g->output[k].value;

		if (qn_graph_node(g, id)->type->is_tuple)
			return qn_report(g->model->env, QN_EUNSUPPORTED, "emit.unsupported",
					 qn_node_place(g, qn_graph_node(g, id)),
					 "output '%s' is a tuple; return its fields",
					 g->output[k].name);
		qn_graph_output(s.to, g->output[k].name, map[id].id[0]);
	}
	qn_graph_copy_states(s.to, g);
	*out = s.to;
	return QN_OK;
}
