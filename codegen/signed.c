/* SPDX-License-Identifier: Apache-2.0 */
/* signed.c - see signed.h.
 *
 *   input %x : u8, zero point 9           input %x
 *   %a = conv2d %x, %w                    %x.i8 = requantize %x : i8, zero point -119
 *   %y = requantize %a : u8        --->   %a = conv2d %x.i8, %w
 *   output %y                             %y = requantize %a : i8
 *                                         %y.u8 = requantize %y : u8      output %y.u8
 *
 * A quantized value and its zero point become 128 less together, so that what an op makes of their
 * difference stays.  An op that rounds quantized values themselves, as averages do, ties away from 0,
 * would give others: it reads and gives u8, and so does an op that takes or shows their bits. */
#include "codegen/signed.h"

#include "ir/buf.h"
#include "runtime/override.h"

enum { SHIFT = 128 };

/* Ops that compute with differences from the zero points, beside those whose behaviour says so. */
static const bool differences[QN_NOP] = {
	[QN_OP_requantize] = true,
	[QN_OP_add] = true,
	[QN_OP_sub] = true,
	[QN_OP_mul] = true,
	[QN_OP_div] = true,
	[QN_OP_bias_add] = true,
	[QN_OP_prelu] = true,
	[QN_OP_squared_difference] = true,
	[QN_OP_equal] = true,
	[QN_OP_not_equal] = true,
	[QN_OP_less] = true,
	[QN_OP_less_equal] = true,
	[QN_OP_greater] = true,
	[QN_OP_greater_equal] = true,
	[QN_OP_global_avg_pool] = true,
	[QN_OP_reduce_mean] = true,
	[QN_OP_reduce_sum] = true,
	[QN_OP_cumsum] = true,
	[QN_OP_layer_norm] = true,
	[QN_OP_rms_norm] = true,
	[QN_OP_instance_norm] = true,
	[QN_OP_sigmoid] = true,
	[QN_OP_tanh] = true,
	[QN_OP_softmax] = true,
	[QN_OP_log_softmax] = true,
	[QN_OP_l2_norm] = true,
	[QN_OP_table] = true,
};

typedef struct signer {
	const qn_graph *g;
	qn_graph *to;
	qn_arena *arena;
	qn_id *as_is,
		*as_i8; /* by value of g: what it is in `to`, in its own storage and as i8; 0: not there yet */
} signer;

/* ---- types, constants, attributes ---- */

static bool
is_u8(const qn_type *t)
{
	const bool one = !t->is_tuple && t->elem->gran == QN_PER_TENSOR;
	const bool by_channel = !t->is_tuple && t->elem->gran == QN_PER_AXIS &&
				t->elem->scale != NULL && t->elem->scale->kind == QN_SCALE_VEC;

	return (one || by_channel) && t->elem->kind == QN_ELEM_UNIFORM &&
	       t->elem->plain == QN_PLAIN_u8 && t->elem->bits == 8 && t->elem->zp_sym == NULL;
}

/* The scales, with zero points 128 less; NULL: out of range. */
static const qn_scale *
shifted_params(const signer *s, const qn_params *from)
{
	qn_types *types = &s->g->model->types;
	int64_t *zp = QN_NEW(s->arena, int64_t, from->n);
	const qn_params *to = NULL;

	for (size_t i = 0; i < from->n; i++)
		zp[i] = (from->zp != NULL ? from->zp[i] : 0) - SHIFT;
	return qn_params_intern(types, "i8", NULL, from->n, from->rank, from->shape, from->scale,
				zp, &to) == QN_OK
		       ? qn_scale_vec(types, to)
		       : NULL;
}

/* The type with values and zero points 128 less. */
static const qn_type *
shifted(const signer *s, const qn_type *t)
{
	qn_types *types = &s->g->model->types;
	qn_elem d = *t->elem;
	const qn_elem *e = NULL;

	d.plain = QN_PLAIN_i8;
	d.is_signed = true;
	d.qmin -= SHIFT;
	d.qmax -= SHIFT;
	if (d.scale->kind == QN_SCALE_VEC)
		d.scale = shifted_params(s, d.scale->vec);
	else
		d.zp -= SHIFT;
	return d.scale != NULL && qn_elem_make(types, "i8", &d, &e) == QN_OK
		       ? qn_type_with_elem(types, t, e)
		       : NULL;
}

/* The constant's numbers, 128 less; entries of a table in the order of i8's bytes. */
static const qn_tensor *
shifted_values(const signer *s, const qn_tensor *x, bool is_table)
{
	const qn_type *t = shifted(s, x->type);
	void *data;

	if (t == NULL)
		return NULL;
	qn_tensor *y = qn_tensor_new(s->arena, t, &data);
	for (int64_t i = 0; i < qn_type_count(t); i++)
		qn_store_i64(data, QN_PLAIN_i8, is_table ? i ^ SHIFT : i,
			     qn_tensor_i64(x, i) - SHIFT);
	return y;
}

/* Limits and pads of the result. */
static qn_attrs
shifted_attrs(const qn_node *n)
{
	qn_attrs a;

	qn_attrs_of(n, &a);
	if (n->op == QN_OP_requantize || n->op == QN_OP_clamp) {
		a.clamp.lo -= a.clamp.lo != INT32_MIN ? SHIFT : 0;
		a.clamp.hi -= a.clamp.hi != INT32_MAX ? SHIFT : 0;
	}
	if (n->op == QN_OP_pad && a.pad.code != INT32_MIN)
		a.pad.code -= SHIFT;
	return a;
}

/* ---- values in either storage ---- */

/* x in another storage: each number of it is one there. */
static qn_id
stored_as(signer *s, qn_id x, const char *name, const char *storage, const qn_type *t)
{
	qn_buf b;

	if (x == 0 || t == NULL)
		return 0;
	qn_buf_init(&b, s->arena);
	qn_buff(&b, "%s.%s", name, storage);
	return qn_graph_op(s->to, QN_OP_requantize, qn_buf_str(&b), 1, &x, NULL, t);
}

static qn_id
as_is(signer *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);

	if (s->as_is[id] == 0)
		s->as_is[id] = n->op == QN_OP_const
				       ? qn_graph_const(s->to, n->name, n->value)
				       : stored_as(s, s->as_i8[id], n->name, "u8", n->type);
	return s->as_is[id];
}

static qn_id
as_i8(signer *s, qn_id id, bool is_table)
{
	const qn_node *n = qn_graph_node(s->g, id);

	if (!is_u8(n->type))
		return as_is(s, id);
	if (n->op == QN_OP_const) {
		const qn_tensor *x = shifted_values(s, n->value, is_table);

		return x != NULL ? qn_graph_const(s->to, n->name, x) : 0;
	}
	if (s->as_i8[id] == 0)
		s->as_i8[id] = stored_as(s, s->as_is[id], n->name, "i8", shifted(s, n->type));
	return s->as_i8[id];
}

/* ---- nodes ---- */

static bool
touches_u8(const qn_graph *g, const qn_node *n)
{
	bool touches = is_u8(n->type);

	for (uint32_t i = 0; i < n->nin; i++)
		touches = touches || is_u8(qn_graph_node(g, n->in[i])->type);
	return touches;
}

static bool
takes_differences(const signer *s, const qn_node *n)
{
	const qn_behaviour b = qn_opinfo_of(n)->behaviour;

	if (n->op == QN_OP_trace || qn_is_overridden(s->g, n, true, s->arena))
		return false; /* a hook or a kernel of the host has the bytes that the interpreter has */
	return differences[n->op] || b == QN_SAME || b == QN_JOIN || b == QN_ACC || b == QN_LUT ||
	       b == QN_INDEX;
}

static bool
copy_node(signer *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);
	const bool differs = touches_u8(s->g, n) && takes_differences(s, n);
	const bool u8 = is_u8(n->type);
	qn_attrs a;
	qn_node y = *n;

	if (n->op == QN_OP_const)
		return true;
	qn_id *in = QN_NEW(s->arena, qn_id, n->nin + 1);
	for (uint32_t i = 0; i < n->nin; i++) {
		in[i] = differs ? as_i8(s, n->in[i], n->op == QN_OP_table) : as_is(s, n->in[i]);
		if (in[i] == 0)
			return false;
	}
	y.in = in;
	if (differs && u8) {
		if (n->attr != NULL) {
			a = shifted_attrs(n);
			y.attr = &a;
		}
		y.type = shifted(s, n->type);
		if (y.type == NULL)
			return false;
	}
	const qn_id made = n->op == QN_OP_input ? qn_graph_input(s->to, n->name, n->type)
						: qn_graph_add(s->to, &y);
	*(differs && u8 ? &s->as_i8[id] : &s->as_is[id]) = made;
	return made != 0;
}

/* Whether a sum of products reads u8. */
static bool
is_worth_it(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (qn_opinfo_of(n)->behaviour == QN_ACC && is_u8(qn_graph_node(g, n->in[0])->type))
			return true;
	}
	return false;
}

qn_status
qn_graph_signed(const qn_graph *g, qn_arena *a, const qn_graph **out)
{
	signer s = {.g = g, .arena = a};

	*out = g;
	if (!is_worth_it(g))
		return QN_OK;
	s.to = qn_graph_new_in(g->model, g->name, a);
	s.as_is = QN_NEW(a, qn_id, g->n);
	s.as_i8 = QN_NEW(a, qn_id, g->n);
	for (qn_id id = 1; id < g->n; id++)
		if (!copy_node(&s, id))
			return QN_EUNSUPPORTED;
	for (size_t k = 0; k < g->noutput; k++) {
		const qn_id y = as_is(&s, g->output[k].value);

		if (y == 0)
			return QN_EUNSUPPORTED;
		qn_graph_output(s.to, g->output[k].name, y);
	}
	qn_graph_copy_states(s.to, g);
	*out = s.to;
	return QN_OK;
}
