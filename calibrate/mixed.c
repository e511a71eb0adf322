/* SPDX-License-Identifier: Apache-2.0 */
/* mixed.c - see mixed.h.  A value of the network is one of the rest, or one of the layer; where one takes the other,
 * the float value stands for the one with an error and the other way round. */
#include "calibrate/mixed.h"

#include <math.h>

#include "ir/loops.h"
#include "runtime/interp.h"

typedef enum side { REST, LAYER } side;

typedef struct place {
	side side;
	qn_id id; /* of this side's graph */
} place;

typedef struct mixer {
	const qn_two_forms *two;
	const qn_graph *g[2]; /* of each side */
	qn_loops loops;       /* of the rest */
	/* by id of a side's graph: the same value of the other side, where the network changes sides; 0: it does not */
	qn_id *turn[2];
	qn_id *made[2];  /* by id of a side's graph: of the mixed graph; 0: not yet */
	qn_id *limit[2]; /* by id of a side's graph: qn_two_forms_limited of its value */
	bool *depends;   /* by id of the rest's: on the layer */
	place *stack;
	size_t nstack;
	qn_mixed *out;
} mixer;

/* ---- the quantized graph ---- */

/* Computes a quantize or dequantize of a constant; *out NULL: n is something else. */
static qn_status
fold(qn_graph *dst, const qn_node *n, qn_arena *a, qn_tensor **out)
{
	const qn_tensor **in = QN_NEW(a, const qn_tensor *, n->nin);

	*out = NULL;
	if (n->op != QN_OP_quantize && n->op != QN_OP_dequantize)
		return QN_OK;
	in[0] = qn_graph_node(dst, n->in[0])->value;
	return qn_graph_node(dst, n->in[0])->op != QN_OP_const ? QN_OK
							       : qn_eval_node(dst, n, in, a, out);
}

qn_status
qn_two_forms_quantize(const qn_graph *symbolic, qn_arena *a, const qn_graph **out)
{
	qn_graph *dst = qn_graph_new_in(symbolic->model, symbolic->name, a);
	qn_graph *g;

	QN_TRY(qn_graph_bind(symbolic, a, &g));
	for (qn_id id = 1; id < g->n; id++) { /* ids stay */
		const qn_node *n = qn_graph_node(g, id);
		qn_tensor *value;

		QN_TRY(fold(dst, n, a, &value));
		if ((value != NULL ? qn_graph_const(dst, n->name, value) : qn_graph_add(dst, n)) ==
		    0)
			return QN_EINVALID;
	}
	for (size_t i = 0; i < g->noutput; i++)
		qn_graph_output(dst, g->output[i].name, g->output[i].value);
	qn_graph_copy_states(dst, g);
	*out = dst;
	return QN_OK;
}

/* ---- functions that are not finite everywhere ---- */

static const bool partial[QN_NOP] = {
	[QN_OP_log] = true,  [QN_OP_sqrt] = true, [QN_OP_rsqrt] = true, [QN_OP_reciprocal] = true,
	[QN_OP_div] = true,  [QN_OP_mod] = true,  [QN_OP_pow] = true,   [QN_OP_tan] = true,
	[QN_OP_asin] = true, [QN_OP_acos] = true, [QN_OP_acosh] = true, [QN_OP_atanh] = true,
};

qn_id
qn_two_forms_limited(const qn_two_forms *two, qn_id id)
{
	const qn_graph *g = two->symbolic;

	for (qn_id q = id + 1; q < g->n && partial[qn_graph_node(g, id)->op]; q++)
		if (qn_graph_node(g, q)->op == QN_OP_quantize && qn_graph_node(g, q)->in[0] == id)
			return q;
	return 0;
}

/* Ends of the float values of a type with one scale. */
static qn_attrs
ends_of(const qn_graph *g, const qn_elem *e)
{
	double scale = 1;
	int64_t zp = 0;

	qn_elem_param(&g->model->types, e, 0, &scale, &zp);
	return (qn_attrs){.clip = {(double)(e->qmin - zp) * scale, (double)(e->qmax - zp) * scale}};
}

/* The value with 0 for what is not a number, by a quantize in 32 bits, which changes others by 2^-31 of the largest. */
static qn_id
defined(qn_graph *g, qn_id id, double largest, const qn_type *real)
{
	qn_types *t = &g->model->types;
	qn_elem d = qn_elem_desc(32, true);
	const qn_elem *e;

	d.scale = qn_scale_const(t, largest > 0 ? largest * 0x1p-30 : 1);
	if (qn_elem_make(t, "limited", &d, &e) != QN_OK)
		return 0;
	id = qn_graph_op(g, QN_OP_quantize, NULL, 1, &id, NULL, qn_type_with_elem(t, real, e));
	return id != 0 ? qn_graph_op(g, QN_OP_dequantize, NULL, 1, &id, NULL, real) : 0;
}

/* The value of a side as others read it; `id` is of the mixed graph. */
static qn_id
limited(const mixer *x, place p, qn_id id, qn_arena *a)
{
	const qn_id q = x->limit[p.side][p.id];
	const qn_graph *g = x->two->quantized;
	const qn_type *real = qn_graph_node(x->g[p.side], p.id)->type;
	qn_graph *to = x->out->g;

	if (id == 0 || q == 0)
		return id;
	const qn_type *type = qn_graph_node(g, q)->type;
	if (x->g[p.side] == g) {
		id = qn_graph_op(to, QN_OP_quantize, NULL, 1, &id, NULL, type);
		return id != 0 ? qn_graph_op(to, QN_OP_dequantize, NULL, 1, &id, NULL, real) : 0;
	}
	if (type->elem->gran != QN_PER_TENSOR)
		return id;
	const qn_attrs ends = ends_of(g, type->elem);
	id = qn_graph_op(to, QN_OP_clip, NULL, 1, &id, qn_arena_copy(a, &ends, sizeof ends), real);
	return id != 0 ? defined(to, id, fmax(fabs(ends.clip.min), fabs(ends.clip.max)), real) : 0;
}

/* ---- where the network changes sides ---- */

/* The id of a value of the symbolic graph in the graph of a side. */
static qn_id
id_in(const mixer *x, side s, qn_id id)
{
	return x->g[s] == x->two->real ? x->two->map[id] : id;
}

/* A loop of the layer is that of the rest. */
static void
turn_loops(mixer *x)
{
	const qn_graph *g = x->two->symbolic;

	for (qn_id id = 1; id < g->n && x->loops.n > 0; id++)
		if (qn_graph_node(g, id)->op == QN_OP_loop)
			x->turn[LAYER][id_in(x, LAYER, id)] = id_in(x, REST, id);
}

static void
find_limits(mixer *x, qn_arena *a)
{
	const qn_graph *g = x->two->symbolic;

	for (int k = REST; k <= LAYER; k++) {
		const side s = k == REST ? REST : LAYER;

		x->limit[s] = QN_NEW(a, qn_id, x->g[s]->n);
		for (qn_id id = 1; id < g->n; id++) {
			const qn_id q = qn_two_forms_limited(x->two, id);

			if (q != 0 &&
			    id_in(x, s, id) != 0) /* dequantized values have its place too */
				x->limit[s][id_in(x, s, id)] = q;
		}
	}
}

static void
find_turns(mixer *x, const qn_network_layer *l, qn_arena *a)
{
	for (int s = REST; s <= LAYER; s++) {
		x->turn[s] = QN_NEW(a, qn_id, x->g[s]->n);
		x->made[s] = QN_NEW(a, qn_id, x->g[s]->n);
	}
	for (size_t i = 0; i < l->nin; i++)
		x->turn[LAYER][id_in(x, LAYER, l->in[i])] = id_in(x, REST, l->in[i]);
	for (size_t i = 0; i < l->nout; i++) {
		x->turn[LAYER][id_in(x, LAYER, l->out[i])] = 0; /* it goes on inside */
		x->turn[REST][id_in(x, REST, l->out[i])] = id_in(x, LAYER, l->out[i]);
	}
	turn_loops(x);
	find_limits(x, a);
	x->depends = QN_NEW(a, bool, x->g[REST]->n);
	for (qn_id id = 1; id < x->g[REST]->n; id++) {
		const qn_node *n = qn_graph_node(x->g[REST], id);

		x->depends[id] = x->turn[REST][id] != 0;
		for (uint32_t i = 0; i < n->nin && !x->depends[id]; i++)
			x->depends[id] = x->depends[n->in[i]];
	}
}

/* The value that really stands there. */
static place
resolve(const mixer *x, place p)
{
	for (qn_id id; (id = x->turn[p.side][p.id]) != 0;)
		p = (place){p.side == REST ? LAYER : REST, id};
	return p;
}

/* ---- the copy ---- */

/* A value of a loop is computed again: it can depend on the layer by what the loop carries. */
static bool
is_source(const mixer *x, place p)
{
	const qn_node *n = qn_graph_node(x->g[p.side], p.id);

	return n->op == QN_OP_input ||
	       (p.side == REST && !x->depends[p.id] && n->op != QN_OP_const && !n->type->is_tuple &&
		(x->loops.n == 0 || x->loops.of[p.id] == 0));
}

/* The id of a source in the rest's graph; both have the same inputs. */
static qn_id
source_of(const mixer *x, place p)
{
	const qn_graph *g = x->g[p.side];

	for (size_t i = 0; p.side == LAYER && i < g->ninput; i++)
		if (g->input[i] == p.id)
			return x->g[REST]->input[i];
	return p.id;
}

static qn_id
make(mixer *x, place p, qn_arena *a)
{
	qn_node n = *qn_graph_node(x->g[p.side], p.id);
	qn_id *in = QN_NEW(a, qn_id, n.nin);

	if (is_source(x, p)) {
		x->out->source[x->out->nsource++] = source_of(x, p);
		return qn_graph_input(x->out->g, n.name, n.type);
	}
	for (uint32_t i = 0; i < n.nin; i++) {
		const place from = resolve(x, (place){p.side, n.in[i]});

		in[i] = x->made[from.side][from.id];
	}
	n.in = in;
	return qn_graph_add(x->out->g, &n);
}

/* Puts the operands of a value that are not there yet on the stack; false: there are none. */
static bool
push_operands(mixer *x, place p)
{
	const qn_node *n = qn_graph_node(x->g[p.side], p.id);
	const size_t before = x->nstack;

	for (uint32_t i = 0; i < n->nin && !is_source(x, p); i++) {
		const place from = resolve(x, (place){p.side, n->in[i]});

		if (x->made[from.side][from.id] == 0)
			x->stack[x->nstack++] = from;
	}
	return x->nstack > before;
}

/* Copies a value with all that it depends on. */
static qn_status
copy(mixer *x, place p, qn_arena *a)
{
	x->stack[x->nstack++] = p;
	while (x->nstack > 0) {
		const place top = x->stack[x->nstack - 1];
		qn_id *made = &x->made[top.side][top.id];

		if (*made == 0 && push_operands(x, top))
			continue;
		x->nstack--;
		if (*made == 0 && (*made = limited(x, top, make(x, top, a), a)) == 0)
			return QN_EINVALID;
	}
	return QN_OK;
}

/* An operand is pushed once for each node that reads it. */
static size_t
stack_size(const qn_graph *g)
{
	size_t n = 1;

	for (qn_id id = 1; id < g->n; id++)
		n += qn_graph_node(g, id)->nin;
	return n;
}

qn_status
qn_mixed_make(const qn_two_forms *two, const qn_network_layer *l, bool quantized, size_t nwant,
	      const qn_id *want, qn_arena *a, qn_mixed *out)
{
	mixer x = {.two = two, .out = out};

	x.g[REST] = quantized ? two->quantized : two->real;
	x.g[LAYER] = quantized ? two->real : two->quantized;
	x.loops = qn_loops_find(x.g[REST], a);
	find_turns(&x, l, a);
	x.stack = QN_NEW(a, place, stack_size(x.g[REST]) + stack_size(x.g[LAYER]));
	*out = (qn_mixed){.g = qn_graph_new_in(two->symbolic->model, two->symbolic->name, a),
			  .source = QN_NEW(a, qn_id, x.g[REST]->n + x.g[LAYER]->ninput)};
	for (size_t i = 0; i < nwant; i++) {
		const place p = resolve(&x, (place){REST, want[i]});

		QN_TRY(copy(&x, p, a));
		qn_graph_output(out->g, qn_graph_node(x.g[REST], want[i])->name,
				x.made[p.side][p.id]);
	}
	return qn_loops_gather(&out->g, a, NULL);
}
