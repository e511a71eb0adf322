/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.c - see equalize.h.  Values are joined while the graph is walked.  The scale of a group is not free where a
 * use depends on it, or where its channels are an output of the graph. */
#include "passes/equalize_impl.h"

#include <math.h>
#include <string.h>

typedef struct finder {
	const qn_graph *g;
	const uint32_t *uses;
	qn_id *parent; /* by id: towards the root of its group */
	bool *fixed;   /* by root: its scale is not free */
	qn_equal_use *use;
	size_t n, cap;
	qn_arena *a;
} finder;

static qn_id
root_of(const finder *f, qn_id id)
{
	while (f->parent[id] != id)
		id = f->parent[id];
	return id;
}

/* The earlier value is the root. */
static void
join(finder *f, qn_id a, qn_id b)
{
	const qn_id x = root_of(f, a), y = root_of(f, b), to = x < y ? x : y, from = x < y ? y : x;

	f->parent[from] = to;
	f->fixed[to] = f->fixed[to] || f->fixed[from];
}

static void
fix(finder *f, qn_id id)
{
	f->fixed[root_of(f, id)] = true;
}

static void
add_use(finder *f, qn_equal_kind kind, qn_id constant, qn_id layer, qn_id value)
{
	f->use = qn_arena_grow(f->a, f->use, &f->cap, f->n + 1, sizeof *f->use);
	f->use[f->n++] = (qn_equal_use){kind, constant, layer, value, QN_NO_GROUP};
}

/* ---- what nodes do to channels ---- */

static bool
is_own_constant(const finder *f, qn_id id)
{
	const qn_node *n = qn_graph_node(f->g, id);

	return n->op == QN_OP_const && f->uses[id] == 1 && qn_type_is_f32(n->type);
}

/* Layers whose weights have output channels first and input channels last. */
static int64_t
groups_of(const qn_node *n)
{
	return n->op == QN_OP_conv2d   ? n->attr->conv2d.groups
	       : n->op == QN_OP_conv1d ? n->attr->conv1d.groups
				       : 1;
}

static bool
is_layer(const finder *f, const qn_node *n)
{
	return (n->op == QN_OP_conv2d || n->op == QN_OP_conv1d || n->op == QN_OP_dense) &&
	       qn_type_is_f32(n->type) && is_own_constant(f, n->in[1]) &&
	       (n->nin < 3 || is_own_constant(f, n->in[2]));
}

static int64_t
last_dim(const finder *f, qn_id id)
{
	const qn_type *t = qn_graph_node(f->g, id)->type;

	return t->is_tuple || t->rank < 2 ? 0 : t->dim[t->rank - 1];
}

/* The channels of a group: those of its root. */
static int64_t
channels_of(const finder *f, qn_id id)
{
	return last_dim(f, root_of(f, id));
}

static bool
pads_zeros(const qn_node *n)
{
	const qn_list *before = &n->attr->pad.before, *after = &n->attr->pad.after;

	return n->attr->pad.mode == 0 && !(n->attr->pad.value < 0) && !(n->attr->pad.value > 0) &&
	       before->n > 0 && after->n > 0 && before->v[before->n - 1] == 0 &&
	       after->v[after->n - 1] == 0;
}

/* f(x * s) = f(x) * s for s > 0, channel by channel. */
static bool
keeps_channels(const finder *f, const qn_node *n)
{
	int64_t channels;

	switch ((int)n->op) {
	case QN_OP_relu:
	case QN_OP_leaky_relu:
	case QN_OP_max_pool:
	case QN_OP_avg_pool:
	case QN_OP_global_avg_pool:
		return last_dim(f, n->in[0]) == n->type->dim[n->type->rank - 1];
	case QN_OP_pad:
		return pads_zeros(n);
	case QN_OP_reshape:
	case QN_OP_flatten: /* channels are last: they repeat */
		channels = channels_of(f, n->in[0]);
		return n->type->rank > 1 && channels > 0 &&
		       n->type->dim[n->type->rank - 1] % channels == 0;
	default:
		return false;
	}
}

static bool
is_sum(const finder *f, const qn_node *n)
{
	return (n->op == QN_OP_add || n->op == QN_OP_sub) &&
	       qn_graph_node(f->g, n->in[0])->op != QN_OP_const &&
	       qn_graph_node(f->g, n->in[1])->op != QN_OP_const &&
	       qn_graph_node(f->g, n->in[0])->type == qn_graph_node(f->g, n->in[1])->type &&
	       channels_of(f, n->in[0]) == channels_of(f, n->in[1]);
}

static void
visit(finder *f, qn_id id)
{
	const qn_node *n = qn_graph_node(f->g, id);

	if (n->op == QN_OP_const)
		return;
	if (is_layer(f, n)) {
		add_use(f, QN_EQUAL_COLUMNS, n->in[1], id, n->in[0]);
		add_use(f, QN_EQUAL_ROWS, n->in[1], id, id);
		if (n->nin == 3)
			add_use(f, QN_EQUAL_BIAS, n->in[2], id, id);
	} else if (n->op == QN_OP_bias_add && is_own_constant(f, n->in[1])) {
		join(f, n->in[0], id);
		add_use(f, QN_EQUAL_BIAS, n->in[1], id, id);
	} else if (n->nin > 0 && qn_type_is_f32(n->type) && n->type->rank > 1 &&
		   keeps_channels(f, n)) {
		join(f, n->in[0], id);
	} else if (is_sum(f, n)) {
		join(f, n->in[0], n->in[1]);
		join(f, n->in[0], id);
	} else {
		fix(f, id);
		for (uint32_t i = 0; i < n->nin; i++)
			fix(f, n->in[i]);
	}
}

/* ---- weights and channels ---- */

int64_t
qn_equal_channel(const qn_graph *g, const qn_equal_use *u, int64_t i, int64_t channels)
{
	const qn_node *layer = qn_graph_node(g, u->layer);
	const qn_type *t = qn_graph_node(g, u->constant)->type;
	const int64_t rows = t->dim[0], taps = qn_type_count(t) / rows, last = t->dim[t->rank - 1];

	if (u->kind == QN_EQUAL_BIAS)
		return i % channels;
	if (u->kind == QN_EQUAL_ROWS)
		return i / taps % channels;
	return (i / taps / (rows / groups_of(layer)) * last + i % last) % channels;
}

/* ---- groups ---- */

static void
make_group(finder *f, qn_id root, qn_equal_group *to)
{
	const size_t channels = (size_t)last_dim(f, root);
	qn_id *operand = QN_NEW(f->a, qn_id, f->n + 1), *layer = QN_NEW(f->a, qn_id, f->n + 1);

	*to = (qn_equal_group){.channels = (int64_t)channels,
			       .operand = operand,
			       .layer = layer,
			       .rows = QN_NEW(f->a, float, channels),
			       .columns = QN_NEW(f->a, float, channels),
			       .exponent = QN_NEW(f->a, int8_t, channels)};
	for (size_t i = 0; i < f->n; i++) {
		const qn_equal_use *u = &f->use[i];

		if (root_of(f, u->value) != root || u->kind == QN_EQUAL_BIAS)
			continue;
		layer[to->nlayer++] = u->layer;
		if (u->kind == QN_EQUAL_COLUMNS)
			operand[to->noperand++] = u->value;
		else if (to->name == NULL)
			to->name = qn_graph_node(f->g, u->layer)->name;
	}
}

void
qn_equalize_find(const qn_graph *g, qn_arena *a, qn_equalizing *out)
{
	finder f = {.g = g,
		    .uses = qn_graph_uses(g, a),
		    .parent = QN_NEW(a, qn_id, g->n),
		    .fixed = QN_NEW(a, bool, g->n),
		    .a = a};

	for (qn_id id = 1; id < g->n; id++)
		f.parent[id] = id;
	for (qn_id id = 1; id < g->n; id++)
		visit(&f, id);
	for (size_t i = 0; i < g->noutput; i++)
		fix(&f, g->output[i].value);
	*out = (qn_equalizing){.g = g, .group = QN_NEW(a, qn_equal_group, g->n)};
	for (qn_id id = 1; id < g->n; id++) {
		qn_equal_group *to = &out->group[out->n];

		if (f.parent[id] != id || f.fixed[id] || last_dim(&f, id) < 2)
			continue;
		make_group(&f, id, to);
		if (to->noperand == 0 || to->name == NULL)
			continue;
		for (size_t i = 0; i < f.n; i++)
			if (root_of(&f, f.use[i].value) == id)
				f.use[i].group = out->n;
		out->n++;
	}
	out->use = f.use;
	out->nuse = f.n;
	qn_absorb_find(out, a);
}

/* ---- ranges ---- */

/* The exponent that a group other than `but` has for element i of a constant. */
static int
other_exponent(const qn_equalizing *e, qn_id constant, size_t but, int64_t i)
{
	int sum = 0;

	for (size_t k = 0; k < e->nuse; k++) {
		const qn_equal_use *u = &e->use[k];

		if (u->constant != constant || u->group == but || u->group == QN_NO_GROUP)
			continue;
		const qn_equal_group *group = &e->group[u->group];
		const int s = group->exponent[qn_equal_channel(e->g, u, i, group->channels)];

		sum += u->kind == QN_EQUAL_COLUMNS ? s : -s;
	}
	return sum;
}

void
qn_equalize_measure(const qn_equalizing *e, size_t k, qn_arena *a)
{
	qn_equal_group *group = &e->group[k];

	memset(group->rows, 0, (size_t)group->channels * sizeof *group->rows);
	memset(group->columns, 0, (size_t)group->channels * sizeof *group->columns);
	for (size_t j = 0; j < e->nuse; j++) {
		const qn_equal_use *u = &e->use[j];

		if (u->group != k || u->kind == QN_EQUAL_BIAS)
			continue;
		const qn_tensor *w = qn_graph_node(e->g, u->constant)->value;
		const float *v = qn_tensor_as_f32(a, w);
		float *to = u->kind == QN_EQUAL_ROWS ? group->rows : group->columns;
		for (int64_t i = 0; i < qn_type_count(w->type); i++) {
			const float now = (float)ldexp(fabs((double)v[i]),
						       other_exponent(e, u->constant, k, i));
			float *most = &to[qn_equal_channel(e->g, u, i, group->channels)];

			*most = now > *most ? now : *most;
		}
	}
}

/* ---- the graph with other constants ---- */

/* v * 2^exponent; exact unless denormal. */
static void
scale(float *v, int64_t n, const qn_equalizing *e, const qn_equal_use *u)
{
	const qn_equal_group *group = &e->group[u->group];

	for (int64_t i = 0; i < n; i++) {
		const int s = group->exponent[qn_equal_channel(e->g, u, i, group->channels)];

		v[i] = (float)ldexp((double)v[i], u->kind == QN_EQUAL_COLUMNS ? s : -s);
	}
}

static bool
changes(const qn_equal_group *group)
{
	for (int64_t i = 0; i < group->channels; i++)
		if (group->exponent[i] != 0)
			return true;
	return false;
}

/* The constant as all uses scale it; NULL: it stays. */
static const qn_tensor *
scaled(qn_model *m, const qn_equalizing *e, qn_id id)
{
	const qn_tensor *from = qn_graph_node(e->g, id)->value;
	const int64_t n = qn_type_count(from->type);
	qn_tensor *to = NULL;
	void *v = NULL;

	if (qn_absorb_changes(e, id)) {
		to = qn_tensor_new(m->arena, from->type, &v);
		memcpy(v, qn_tensor_as_f32(m->scratch, from), (size_t)n * sizeof(float));
		qn_absorb_add(e, id, v, m->scratch);
	}
	for (size_t i = 0; i < e->nuse; i++) {
		const qn_equal_use *u = &e->use[i];

		if (u->constant != id || u->group == QN_NO_GROUP || !changes(&e->group[u->group]))
			continue;
		if (to == NULL) {
			to = qn_tensor_new(m->arena, from->type, &v);
			memcpy(v, qn_tensor_as_f32(m->scratch, from), (size_t)n * sizeof(float));
		}
		scale(v, n, e, u);
	}
	return to;
}

qn_status
qn_equalize_apply(qn_model *m, const qn_equalizing *e, qn_graph **out)
{
	const qn_graph *g = e->g;
	qn_graph *dst = qn_graph_new(m, g->name);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);

	qn_graph_copy_facts(dst, g);
	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin + 1);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		if (n.op == QN_OP_const) {
			const qn_tensor *value = scaled(m, e, id);

			n.value = value != NULL ? value : n.value;
		}
		map[id] = qn_graph_add(dst, &n);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	qn_graph_copy_outputs(dst, g, map);
	*out = dst;
	return QN_OK;
}
