/* SPDX-License-Identifier: Apache-2.0 */
/* absorb.c - biases that move on to the next layer (passes/equalize.h).  With c > 0, relu(y - c) = relu(y) - c for y >= c,
 * and so for the largest of several; a layer that reads them without padding, where zeros would have to become -c, gets
 * v (x - c) + d = v x + (d - v c). */
#include <string.h>

#include "passes/equalize_impl.h"
#include "runtime/geometry.h"

typedef qn_equal_use use;

/* Whether values before and after the node differ by the same c. */
static bool
keeps_distance(const qn_node *n)
{
	return n->op == QN_OP_relu || n->op == QN_OP_max_pool || n->op == QN_OP_flatten ||
	       n->op == QN_OP_reshape;
}

static bool
follows(const qn_graph *g, qn_id id, qn_id from)
{
	while (id != from && keeps_distance(qn_graph_node(g, id)))
		id = qn_graph_node(g, id)->in[0];
	return id == from;
}

static bool
is_padded(const qn_graph *g, const qn_node *n)
{
	if (n->op == QN_OP_dense)
		return false;
	if (qn_type_count(n->type) < 1 || qn_type_count(qn_graph_node(g, n->in[0])->type) < 1)
		return true;
	const qn_geometry w = qn_geometry_conv(g, n);
	return qn_geometry_is_padded(&w);
}

static size_t
readers(const qn_graph *g, qn_id id)
{
	size_t n = 0;

	for (size_t i = 0; i < g->noutput; i++)
		n += g->output[i].value == id;
	for (qn_id k = id + 1; k < g->n; k++)
		for (uint32_t i = 0; i < qn_graph_node(g, k)->nin; i++)
			n += qn_graph_node(g, k)->in[i] == id;
	return n;
}

/* The bias of a layer: its own, or that of a bias_add after it; NULL: none. */
static const use *
bias_of(const qn_equalizing *e, qn_id layer)
{
	for (size_t i = 0; i < e->nuse; i++) {
		const use *u = &e->use[i];
		const qn_node *n = qn_graph_node(e->g, u->layer);

		if (u->kind != QN_EQUAL_BIAS)
			continue;
		if (u->layer == layer ||
		    (n->op == QN_OP_bias_add && n->in[0] == layer && readers(e->g, layer) == 1))
			return u;
	}
	return NULL;
}

static int64_t
count_of(const qn_equalizing *e, const use *u)
{
	return qn_type_count(qn_graph_node(e->g, u->constant)->type);
}

/* The bias that computes all channels of the group, by one layer; NULL: there are more, or none. */
static const use *
only_bias(const qn_equalizing *e, size_t group)
{
	const use *bias = NULL;
	size_t nrows = 0, nbias = 0;

	for (size_t i = 0; i < e->nuse; i++) {
		if (e->use[i].group != group)
			continue;
		nrows += e->use[i].kind == QN_EQUAL_ROWS;
		nbias += e->use[i].kind == QN_EQUAL_BIAS;
		bias = e->use[i].kind == QN_EQUAL_BIAS ? &e->use[i] : bias;
	}
	return nrows == 1 && nbias == 1 && count_of(e, bias) == e->group[group].channels ? bias
											 : NULL;
}

static bool
fits(const qn_equalizing *e, size_t group)
{
	const use *bias = only_bias(e, group);

	for (size_t i = 0; i < e->nuse && bias != NULL; i++) {
		const use *u = &e->use[i];

		if (u->group != group || u->kind != QN_EQUAL_COLUMNS)
			continue;
		const use *next = bias_of(e, u->layer);
		if (next == NULL || !follows(e->g, u->value, bias->value) ||
		    is_padded(e->g, qn_graph_node(e->g, u->layer)) ||
		    count_of(e, next) != qn_graph_node(e->g, u->constant)->type->dim[0])
			return false;
	}
	return bias != NULL;
}

void
qn_absorb_find(const qn_equalizing *e, qn_arena *a)
{
	for (size_t k = 0; k < e->n; k++)
		if (fits(e, k))
			e->group[k].shift = QN_NEW(a, float, (size_t)e->group[k].channels);
}

/* ---- constants ---- */

static bool
shifts(const qn_equalizing *e, const use *u)
{
	const qn_equal_group *group = u->group == QN_NO_GROUP ? NULL : &e->group[u->group];

	for (int64_t i = 0; group != NULL && group->shift != NULL && i < group->channels; i++)
		if (group->shift[i] > 0)
			return true;
	return false;
}

/* Whether use u, with a shift, changes the constant as the bias of its layer. */
static bool
adds_to(const qn_equalizing *e, const use *u, qn_id constant)
{
	return u->kind == QN_EQUAL_COLUMNS && shifts(e, u) &&
	       bias_of(e, u->layer)->constant == constant;
}

bool
qn_absorb_changes(const qn_equalizing *e, qn_id constant)
{
	for (size_t i = 0; i < e->nuse; i++) {
		const use *u = &e->use[i];

		if (u->kind == QN_EQUAL_BIAS && u->constant == constant && shifts(e, u))
			return true;
		if (adds_to(e, u, constant))
			return true;
	}
	return false;
}

void
qn_absorb_add(const qn_equalizing *e, qn_id constant, float *v, qn_arena *a)
{
	const size_t n = (size_t)qn_type_count(qn_graph_node(e->g, constant)->type);
	double *sum = QN_NEW(a, double, n);

	for (size_t i = 0; i < n; i++)
		sum[i] = (double)v[i];
	for (size_t k = 0; k < e->nuse; k++) {
		const use *u = &e->use[k];

		if (u->kind == QN_EQUAL_BIAS && u->constant == constant && shifts(e, u))
			for (size_t i = 0; i < n; i++)
				sum[i] -= (double)e->group[u->group].shift[i];
		if (!adds_to(e, u, constant))
			continue;
		const qn_equal_group *group = &e->group[u->group];
		const qn_tensor *w = qn_graph_node(e->g, u->constant)->value;
		const float *x = qn_tensor_as_f32(a, w);
		const int64_t taps = qn_type_count(w->type) / w->type->dim[0];
		for (int64_t i = 0; i < qn_type_count(w->type); i++)
			sum[i / taps] +=
				(double)x[i] *
				(double)group->shift[qn_equal_channel(e->g, u, i, group->channels)];
	}
	for (size_t i = 0; i < n; i++)
		v[i] = (float)sum[i];
}
