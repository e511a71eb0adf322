/* SPDX-License-Identifier: Apache-2.0 */
/* prune_remove.c - the graph without some of its channels.
 *
 *   w [out, kh, kw, in], channels 1 and 3 of `in` gone, row 0 of `out` too:   w' [out - 1, kh, kw, in - 2]
 *   bias'[o] = bias[o] + sum over kh, kw of w[o, kh, kw, 3] * (17 - zero)      channel 3 always being 17
 *
 * Scales along an axis that loses channels lose theirs. */
#include "ir/diag.h"
#include "ir/macs.h"
#include "passes/prune.h"
#include "patterns/rewrite.h"

typedef struct remover {
	qn_model *m;
	const qn_channels *c;
	const qn_graph *g;
	const bool *need;
	qn_graph *to;
	qn_id *map; /* constants: as they are, once somebody reads them so */
} remover;

/* Which indices of an axis stay; at NULL: all. */
typedef struct kept {
	int64_t n;
	const int64_t *at;
} kept;

static kept
kept_of(const remover *r, qn_id id)
{
	const qn_node *n = qn_graph_node(r->g, id);
	kept k = {0};

	if (r->c->first[id] == QN_NO_CHANNELS || n->op == QN_OP_const)
		return (kept){n->type->is_tuple || n->type->rank < 1 ? 0
								     : qn_channel_count(r->g, id),
			      NULL};
	int64_t *at = QN_NEW(r->m->scratch, int64_t, (size_t)qn_channel_count(r->g, id));
	for (int64_t i = 0; i < qn_channel_count(r->g, id); i++)
		if (r->need[r->c->first[id] + (uint32_t)i])
			at[k.n++] = i;
	if (k.n < qn_channel_count(r->g, id))
		k.at = at;
	return k;
}

/* ---- types and constants ---- */

/* The scales that stay; NULL after a report. */
static const qn_scale *
pick_scale(remover *r, const qn_scale *s, const kept *k)
{
	qn_types *t = &r->m->types;

	if (s->kind == QN_SCALE_MUL || s->kind == QN_SCALE_DIV || s->kind == QN_SCALE_FMUL) {
		const qn_scale *a = pick_scale(r, s->a, k), *b = pick_scale(r, s->b, k);

		return a != NULL && b != NULL ? qn_scale_op(t, s->kind, a, b) : NULL;
	}
	if (s->kind != QN_SCALE_VEC)
		return s;
	const qn_params *vec;
	double *scale = QN_NEW(r->m->scratch, double, (size_t)k->n);
	int64_t *zp = QN_NEW(r->m->scratch, int64_t, (size_t)k->n);
	for (int64_t i = 0; i < k->n; i++) {
		scale[i] = s->vec->scale[k->at[i]];
		zp[i] = s->vec->zp != NULL ? s->vec->zp[k->at[i]] : 0;
	}
	return qn_params_intern(t, "prune", NULL, (size_t)k->n, 1, NULL, scale,
				s->vec->zp != NULL ? zp : NULL, &vec) == QN_OK
		       ? qn_scale_vec(t, vec)
		       : NULL;
}

/* The type with that many fewer along an axis; NULL after a report. */
static const qn_type *
pick_type(remover *r, const qn_type *t, int32_t axis, const kept *k)
{
	const qn_elem *e = t->elem;
	int64_t dim[QN_MAX_RANK];

	if (k->at == NULL)
		return t;
	for (int32_t i = 0; i < t->rank; i++)
		dim[i] = i == axis ? k->n : t->dim[i];
	if (e->kind == QN_ELEM_UNIFORM && e->gran == QN_PER_AXIS && e->axis[0] == axis) {
		qn_elem d = *e;

		d.scale = pick_scale(r, e->scale, k);
		if (d.scale == NULL || qn_elem_make(&r->m->types, "prune", &d, &e) != QN_OK)
			return NULL;
	}
	return qn_type_tensor(&r->m->types, e, t->rank, dim);
}

/* The tensor with what stays along an axis; NULL after a report. */
static const qn_tensor *
pick(remover *r, const qn_tensor *x, int32_t axis, const kept *k)
{
	const qn_type *type = pick_type(r, x->type, axis, k);
	int64_t inner = 1, rows = 1;
	void *data;

	if (type == NULL || type == x->type)
		return type != NULL ? x : NULL;
	for (int32_t i = axis + 1; i < x->type->rank; i++)
		inner *= x->type->dim[i];
	for (int32_t i = 0; i < axis; i++)
		rows *= x->type->dim[i];
	qn_tensor *y = qn_tensor_new(r->m->arena, type, &data);
	for (int64_t row = 0, to = 0; row < rows; row++)
		for (int64_t i = 0; i < k->n; i++) {
			const int64_t from = (row * x->type->dim[axis] + k->at[i]) * inner;

			for (int64_t j = 0; j < inner; j++)
				qn_store_i64(data, type->elem->plain, to++,
					     qn_tensor_i64(x, from + j));
		}
	return y;
}

/* ---- nodes ---- */

/* Constant `id` with other numbers. */
static qn_id
constant(remover *r, qn_id id, const qn_tensor *x)
{
	qn_node like = *qn_graph_node(r->g, id);

	if (x == NULL)
		return 0;
	if (x == like.value && r->map[id] != 0)
		return r->map[id];
	like.value = x;
	like.type = x->type;
	const qn_id y = qn_graph_add(r->to, &like);
	if (x == qn_graph_node(r->g, id)->value)
		r->map[id] = y;
	return y;
}

static qn_id
mapped(remover *r, qn_id id)
{
	const qn_node *n = qn_graph_node(r->g, id);

	return n->op == QN_OP_const ? constant(r, id, n->value) : r->map[id];
}

/* What the channels of the input that go add to output o. */
static int64_t
share(const remover *r, qn_id input, const qn_summing *l, int64_t o)
{
	int64_t sum = 0;

	for (int64_t k = 0; k < l->terms; k++) {
		const uint32_t channel = r->c->first[input] + (uint32_t)(k % l->depth);

		if (!r->need[channel])
			sum += qn_tensor_i64(l->w, o * l->terms + k) *
			       (r->c->range[channel].lo - l->zero);
	}
	return sum;
}

/* The bias's type where the layer has none: that of its sums. */
static const qn_type *
bias_type(remover *r, const qn_type *sums)
{
	static const int32_t first_axis = 0;
	const int64_t n = sums->dim[sums->rank - 1];
	qn_elem d = *sums->elem;
	const qn_elem *e = sums->elem;

	if (d.kind == QN_ELEM_UNIFORM && d.gran == QN_PER_AXIS) {
		d.axis = &first_axis;
		if (qn_elem_make(&r->m->types, "prune", &d, &e) != QN_OK)
			return NULL;
	}
	return qn_type_tensor(&r->m->types, e, 1, &n);
}

/* The bias with the shares of the input's channels that go, of the rows that stay.  NULL after a
 * report; *none: the layer needs no bias. */
static const qn_tensor *
folded(remover *r, qn_id id, const qn_summing *l, const kept *out, bool *none)
{
	const qn_node *n = qn_graph_node(r->g, id);
	const kept all = {l->out, NULL};
	const qn_type *type = l->bias != NULL ? l->bias->type : bias_type(r, n->type);
	bool any = l->bias != NULL;
	void *data;

	*none = false;
	if (type == NULL)
		return NULL;
	qn_tensor *x = qn_tensor_new(r->m->arena, type, &data);
	for (int64_t o = 0; o < l->out; o++) {
		const int64_t sum = l->groups == 1 ? share(r, n->in[0], l, o) : 0;

		any = any || (sum != 0 && r->need[r->c->first[id] + (uint32_t)o]);
		qn_store_i64(data, type->elem->plain, o,
			     sum + (l->bias != NULL ? qn_tensor_i64(l->bias, o) : 0));
	}
	*none = !any;
	return pick(r, x, 0, out->at != NULL ? out : &all);
}

/* What a layer lost, for the report. */
static void
note(remover *r, const qn_node *before, qn_id id)
{
	const qn_node *after = qn_graph_node(r->to, id);
	qn_pruned p = {.value = before->name,
		       .channels = (uint64_t)before->type->dim[before->type->rank - 1],
		       .macs = qn_node_macs(r->g, before) - qn_node_macs(r->to, after)};

	p.removed = p.channels - (uint64_t)after->type->dim[after->type->rank - 1];
	for (uint32_t i = 1; i < before->nin; i++)
		p.bytes += qn_type_bytes(qn_graph_node(r->g, before->in[i])->type);
	for (uint32_t i = 1; i < after->nin; i++) {
		const uint64_t bytes = qn_type_bytes(qn_graph_node(r->to, after->in[i])->type);

		p.bytes -= bytes < p.bytes ? bytes : p.bytes;
	}
	if (p.removed > 0 || p.macs > 0)
		qn_model_pruned(r->m, &p);
}

static const char *
bias_name(const remover *r, const qn_node *layer)
{
	qn_buf b;

	qn_buf_init(&b, r->m->scratch);
	qn_buff(&b, "%s.bias", layer->name);
	return qn_buf_str(&b);
}

static qn_id
copy_layer(remover *r, qn_id id, const qn_node *n, qn_node *like)
{
	const kept in = kept_of(r, n->in[0]), out = kept_of(r, id);
	qn_id *operand = QN_NEW(r->m->scratch, qn_id, 3);
	qn_summing l;
	bool none;

	if ((in.at == NULL && out.at == NULL) || !qn_summing_of(r->g, n, &l))
		return 0;
	const qn_tensor *w = pick(r, l.w, 0, &out);
	if (w != NULL && l.groups == 1)
		w = pick(r, w, w->type->rank - 1, &in);
	const qn_tensor *bias = folded(r, id, &l, &out, &none);
	if (w == NULL || bias == NULL)
		return 0;
	operand[0] = mapped(r, n->in[0]);
	operand[1] = constant(r, n->in[1], w);
	like->nin = none ? 2 : 3;
	if (!none)
		operand[2] = l.bias != NULL ? constant(r, n->in[2], bias)
					    : qn_graph_const(r->to, bias_name(r, n), bias);
	if (l.groups > 1) {
		qn_attrs *attr = QN_NEW(r->m->scratch, qn_attrs, 1);

		qn_attrs_of(n, attr);
		if (n->op == QN_OP_conv1d)
			attr->conv1d.groups = out.n;
		else if (n->op == QN_OP_conv3d)
			attr->conv3d.groups = out.n;
		else
			attr->conv2d.groups = out.n;
		like->attr = attr;
	}
	like->in = operand;
	const qn_id y =
		operand[1] != 0 && (none || operand[2] != 0) ? qn_graph_add(r->to, like) : 0;
	if (y != 0)
		note(r, n, y);
	return y;
}

/* A node that is tied to its operands: constants lose the channels that the result loses. */
static qn_id
copy_tied(remover *r, qn_id id, const qn_node *n, qn_node *like)
{
	const kept out = kept_of(r, id);
	qn_id *in = QN_NEW(r->m->scratch, qn_id, n->nin);

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(r->g, n->in[i]);
		const bool follows = out.at != NULL && !x->type->is_tuple && x->type->rank > 0 &&
				     qn_channel_count(r->g, n->in[i]) == qn_channel_count(r->g, id);

		in[i] = x->op == QN_OP_const && follows
				? constant(r, n->in[i], pick(r, x->value, x->type->rank - 1, &out))
				: mapped(r, n->in[i]);
		if (in[i] == 0)
			return 0;
	}
	if (n->op == QN_OP_reshape && out.at != NULL) {
		qn_attrs *attr = QN_NEW(r->m->scratch, qn_attrs, 1);
		int64_t *last;

		qn_attrs_of(n, attr);
		last = &attr->shape.shape.v[attr->shape.shape.n - 1];
		*last = *last > 0 ? out.n : *last;
		like->attr = attr;
	}
	like->in = in;
	return qn_graph_add(r->to, like);
}

static qn_id
copy_node(remover *r, qn_id id)
{
	const qn_node *n = qn_graph_node(r->g, id);
	const kept out = kept_of(r, id);
	qn_node like = *n;

	if (out.at != NULL)
		like.type = pick_type(r, n->type, n->type->rank - 1, &out);
	if (like.type == NULL)
		return 0;
	if (r->c->flow[id] == QN_FLOW_LAYER && (out.at != NULL || kept_of(r, n->in[0]).at != NULL))
		return copy_layer(r, id, n, &like);
	return copy_tied(r, id, n, &like);
}

qn_status
qn_channels_remove(qn_model *m, const qn_channels *c, const bool *need, qn_graph **out)
{
	const qn_graph *g = c->g;
	remover r = {.m = m, .c = c, .g = g, .need = need};

	r.to = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	r.map = QN_NEW(m->scratch, qn_id, g->n);
	for (qn_id id = 1; id < g->n; id++) {
		if (qn_graph_node(g, id)->op == QN_OP_const)
			continue; /* added where it is read */
		r.map[id] = copy_node(&r, id);
		if (r.map[id] == 0)
			return QN_EINTERNAL;
	}
	for (size_t i = 0; i < g->noutput; i++) {
		const qn_id id = g->output[i].value;

		if (mapped(&r, id) == 0)
			return QN_EINTERNAL;
		qn_graph_output(r.to, g->output[i].name, mapped(&r, id));
	}
	qn_graph_copy_states(r.to, g);
	return qn_graph_sweep(m, r.to, NULL, out);
}
