/* SPDX-License-Identifier: Apache-2.0 */
/* split_layers.c - a layer whose result is only read by slices of its channels, or a split, becomes one layer for each.
 *
 *   %c = conv2d %x, %w                                  [O,…] = [16,…]
 *   %a = slice %c, channels 0 to 8                ->    %a = conv2d %x, rows 0 to 8 of %w
 *   %b = slice %c, channels 8 to 16                     %b = conv2d %x, rows 8 to 16 of %w
 *
 * A step of the pass `clean`, but not with encodings, which name the layer as a whole.  The products are the same.
 * Each part gets a range of its own when it is quantized, as gates and the real and imaginary parts of spectra need,
 * and no sums of 32 bits are stored for several readers. */
#include "ir/map.h"
#include "ir/slice.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { ROOT, LAYER };
enum { LEAST = 8 }; /* channels: of fewer, kernels compute some in vain */

/* ---- which layers ---- */

static int64_t
channels_of(const qn_graph *g, qn_id id)
{
	const qn_type *t = qn_graph_node(g, id)->type;

	return t->dim[t->rank - 1];
}

/* The channels that a slice takes, of the last axis, with all of the other axes. */
static bool
slices_channels(const qn_graph *g, const qn_node *n, int64_t *begin, int64_t *count)
{
	const qn_type *x = n->op == QN_OP_slice ? qn_graph_node(g, n->in[0])->type : NULL;
	const int32_t last = x != NULL ? x->rank - 1 : 0;

	if (last < 1 || n->attr->slice.begin.n <= last || qn_type_count(x) < 1 ||
	    qn_type_count(n->type) < 1)
		return false;
	for (int32_t k = 0; k <= last; k++)
		if (qn_slice_step(&n->attr->slice, k) != 1 ||
		    (k < last && n->type->dim[k] != x->dim[k]))
			return false;
	qn_slice_resolve(x->dim[last], n->attr->slice.begin.v[last], n->attr->slice.end.v[last], 1,
			 begin, count);
	return *count >= LEAST;
}

/* Whether all parts of a split are as wide as that. */
static bool
splits_channels(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = n->op == QN_OP_split ? qn_graph_node(g, n->in[0])->type : NULL;

	if (x == NULL || x->rank < 2 || qn_type_count(x) < 1)
		return false;
	const qn_attrs_split *a = &n->attr->split;
	if (a->axis + (a->axis < 0 ? x->rank : 0) != x->rank - 1)
		return false;
	for (int32_t i = 0; i < a->sizes.n; i++)
		if (a->sizes.v[i] < LEAST)
			return false;
	return true;
}

/* The channels of a slice, or of a part of a split. */
static bool
takes_channels(const qn_graph *g, const qn_node *n, int64_t *begin, int64_t *count)
{
	const qn_node *all = n->op == QN_OP_get ? qn_graph_node(g, n->in[0]) : NULL;

	if (all == NULL)
		return slices_channels(g, n, begin, count);
	if (!splits_channels(g, all))
		return false;
	*begin = 0;
	for (int64_t i = 0; i < n->attr->get.index; i++)
		*begin += all->attr->split.sizes.v[i];
	*count = all->attr->split.sizes.v[n->attr->get.index];
	return true;
}

static bool
is_real_constant(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op == QN_OP_const && qn_type_is_f32(n->type);
}

/* The layer of a result: itself, or the operand of its bias_add; NULL: it is not a layer with constants that can be cut. */
static const qn_node *
layer_of(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);
	const bool biased = n->op == QN_OP_bias_add && is_real_constant(g, n->in[1]);
	const qn_node *l = biased ? qn_graph_node(g, n->in[0]) : n;
	const bool conv = l->op == QN_OP_conv1d || l->op == QN_OP_conv2d;

	if ((!conv && l->op != QN_OP_dense) || !qn_type_is_f32(l->type) ||
	    !is_real_constant(g, l->in[1]) || (l->nin > 2 && !is_real_constant(g, l->in[2])))
		return NULL;
	if ((l->op == QN_OP_conv1d && l->attr->conv1d.groups != 1) ||
	    (l->op == QN_OP_conv2d && l->attr->conv2d.groups != 1))
		return NULL;
	return l;
}

/* The names of results that are read by slices and splits of their channels alone, which take no more channels than there are. */
static void
find_layers(qn_model *m, const qn_graph *g, qn_map *split)
{
	const uint32_t *readers = qn_graph_uses(g, m->scratch);
	uint32_t *cutting = QN_NEW(m->scratch, uint32_t, g->n),
		 *parts = QN_NEW(m->scratch, uint32_t, g->n);
	int64_t *taken = QN_NEW(m->scratch, int64_t, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const bool splits = splits_channels(g, n);
		int64_t begin, count;

		if (!splits && !slices_channels(g, n, &begin, &count))
			continue;
		cutting[n->in[0]]++;
		parts[n->in[0]] += splits ? (uint32_t)n->attr->split.sizes.n : 1;
		taken[n->in[0]] += splits ? channels_of(g, n->in[0]) : count;
	}
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_node *l = parts[id] > 1 ? layer_of(g, id) : NULL;

		if (l != NULL && cutting[id] == readers[id] && taken[id] <= channels_of(g, id) &&
		    (l == n || readers[n->in[0]] == 1))
			qn_map_puts(split, n->name, m);
	}
}

/* ---- their parts ---- */

/* `count` rows of a constant. */
static qn_id
rows_of(qn_rw *rw, const char *name, qn_id constant, int64_t begin, int64_t count)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *c = qn_rw_node(rw, constant);
	const qn_type *t = c->type;
	int64_t dim[QN_MAX_RANK];
	const int64_t each = qn_type_count(t) / t->dim[0];

	for (int32_t k = 0; k < t->rank; k++)
		dim[k] = k == 0 ? count : t->dim[k];
	return qn_rw_const(rw, name,
			   qn_tensor_view(m->arena,
					  qn_type_plain(&m->types, QN_PLAIN_f32, t->rank, dim),
					  (const float *)c->value->data + begin * each));
}

static qn_id
to_part(qn_rw *rw, const qn_match *m)
{
	const qn_graph *g = qn_rw_graph(rw);
	const qn_node *n = qn_rw_node(rw, m->root), *y = qn_rw_node(rw, m->at[LAYER]);
	const char *name = qn_rw_name(rw, m->at[LAYER]);
	int64_t begin, count;

	if (name == NULL || qn_map_gets(qn_rw_user(rw), name) == NULL)
		return qn_rw_decline(rw, "it is not one of several slices that alone read a layer");
	const qn_node *l = layer_of(g, m->at[LAYER]);
	if (l == NULL || !takes_channels(g, n, &begin, &count))
		return qn_rw_decline(rw, "it does not take channels of a layer");
	const bool biased = y->op == QN_OP_bias_add;
	qn_rw_add_origin(rw, m->at[LAYER]);
	if (biased)
		qn_rw_add_origin(rw, y->in[0]);
	const qn_id sum = biased ? y->in[1] : 0;
	qn_id in[3] = {
		l->in[0],
		rows_of(rw, qn_rw_derived_name(rw, m->root, "weights"), l->in[1], begin, count),
		l->nin > 2 ? rows_of(rw, qn_rw_derived_name(rw, m->root, "bias"), l->in[2], begin,
				     count)
			   : 0};
	if (in[1] == 0 || (l->nin > 2 && in[2] == 0))
		return 0;
	const qn_id part = qn_rw_add(rw, l->op, biased ? NULL : qn_rw_name(rw, m->root), l->nin, in,
				     l->attr, NULL);
	if (!biased || part == 0)
		return part;
	const qn_id both[2] = {
		part, rows_of(rw, qn_rw_derived_name(rw, m->root, "bias"), sum, begin, count)};
	return both[1] != 0
		       ? qn_rw_add(rw, QN_OP_bias_add, qn_rw_name(rw, m->root), 2, both, NULL, NULL)
		       : 0;
}

static const qn_rule rules[] = {
	{"split-layer", QN_P_OP(slice, ROOT, QN_P_ARGS(QN_P_ANY(LAYER))), to_part},
	{"split-layer",
	 QN_P_OP(get, ROOT, QN_P_ARGS(QN_P_OP(split, QN_NO_SLOT, QN_P_ARGS(QN_P_ANY(LAYER))))),
	 to_part},
};

static qn_status
split_layers_of(qn_model *m, qn_graph **g)
{
	qn_map split;

	qn_map_init(&split, m->scratch);
	find_layers(m, *g, &split);
	return qn_map_count(&split) > 0 ? qn_rewrite(m, *g, rules, QN_COUNT(rules), &split, g)
					: QN_OK;
}

qn_status
qn_split_layers(qn_model *m)
{
	for (size_t i = 0; i < m->ngraph; i++)
		QN_TRY(split_layers_of(m, &m->graph[i]));
	return QN_OK;
}
