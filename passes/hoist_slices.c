/* SPDX-License-Identifier: Apache-2.0 */
/* hoist_slices.c - slices of values that were only joined or arranged, or of a layer's channels that were arranged,
 * come before that.
 *
 *   %c = concat %boxes, %classes {axis 2}           [1,84,64], [1,84,5]
 *   slice %c, 64 to 69 of axis 2              ->    %classes
 *
 *   %q = reshape(dense %x)                          [16,72] -> [16,3,24]
 *   slice %q, 1 to 2 of axis 1                ->    reshape(slice of channels 24 to 48)
 *
 * The heads of detectors, and queries, keys and values of one layer.  Values that were joined need no common scale
 * then, and split_layers.c makes a layer of each part of the channels.  A step of the pass `clean`. */
#include "ir/map.h"
#include "ir/slice.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { ROOT };
enum { LEAST = 8 /* channels of a layer, as in split_layers.c */, MOST_DEEP = 16, MOST_PARTS = 64 };

/* `count` positions of an axis of a value, from `begin` on. */
typedef struct part {
	qn_id value;
	int32_t axis;
	int64_t begin, count;
} part;

/* ---- where they come from ---- */

static int64_t
product(const int64_t *dim, int32_t n)
{
	int64_t p = 1;

	for (int32_t k = 0; k < n; k++)
		p *= dim[k];
	return p;
}

static bool
is_whole(const qn_graph *g, const part *p)
{
	return p->begin == 0 && p->count == qn_graph_node(g, p->value)->type->dim[p->axis];
}

/* Whether the node takes one part of an axis. */
static bool
takes_part(const qn_graph *g, const qn_node *n, part *p)
{
	const qn_type *x = n->nin > 0 ? qn_graph_node(g, n->in[0])->type : NULL;
	bool found = false;

	if (x == NULL || x->is_tuple || qn_type_count(x) < 1 || qn_type_count(n->type) < 1)
		return false;
	if (n->op == QN_OP_gather) {
		const qn_node *i = qn_graph_node(g, n->in[1]);
		const int64_t axis = n->attr->gather.axis;

		if (i->op != QN_OP_const || i->type->rank != 0)
			return false;
		*p = (part){n->in[0], (int32_t)(axis < 0 ? axis + x->rank : axis),
			    (int64_t)qn_tensor_f64(i->value, 0), 1};
		p->begin += p->begin < 0 ? x->dim[p->axis] : 0;
		return p->begin >= 0 && p->begin < x->dim[p->axis];
	}
	for (int32_t k = 0; n->op == QN_OP_slice && k < x->rank; k++) {
		if (qn_slice_step(&n->attr->slice, k) != 1)
			return false;
		if (n->type->dim[k] == x->dim[k])
			continue;
		if (found)
			return false;
		found = true;
		*p = (part){n->in[0], k, 0, 0};
		qn_slice_resolve(x->dim[k], n->attr->slice.begin.v[k], n->attr->slice.end.v[k], 1,
				 &p->begin, &p->count);
	}
	return found;
}

/* The part of a reshape's operand that has the elements of p; false: they are not one part of an axis. */
static bool
before_reshape(const qn_graph *g, const part *p, part *out)
{
	const qn_node *n = qn_graph_node(g, p->value);
	const qn_type *x = qn_graph_node(g, n->in[0])->type, *y = n->type;
	const int64_t before = product(y->dim, p->axis);
	int32_t j = 0;

	while (j < x->rank && (product(x->dim, j) != before || x->dim[j] == 1))
		j++;
	if (j == x->rank || y->dim[p->axis] == 1)
		return false;
	const int64_t whole = y->dim[p->axis], of = x->dim[j];
	if (of % whole == 0) { /* of = whole * inner */
		*out = (part){n->in[0], j, p->begin * (of / whole), p->count * (of / whole)};
		return product(y->dim + p->axis, y->rank - p->axis) ==
		       product(x->dim + j, x->rank - j);
	}
	if (whole % of != 0 || p->begin % (whole / of) != 0 || p->count % (whole / of) != 0)
		return false;
	*out = (part){n->in[0], j, p->begin / (whole / of), p->count / (whole / of)};
	return true;
}

static int32_t
concat_axis(const qn_node *n)
{
	return (int32_t)(n->attr->axis.axis + (n->attr->axis.axis < 0 ? n->type->rank : 0));
}

/* Whether the node is a reshape that stacks equal operands of a concat along a new axis, of each of which p takes the
 * same part. */
static bool
is_stack(const qn_graph *g, const part *p, const qn_node **concat, int32_t *axis)
{
	const qn_node *n = qn_graph_node(g, p->value), *c = qn_graph_node(g, n->in[0]);
	const int32_t k = p->axis;

	if (c->op != QN_OP_concat || k < 1 || n->type->dim[k - 1] != (int64_t)c->nin)
		return false;
	*axis = concat_axis(c);
	if (product(n->type->dim, k - 1) != product(c->type->dim, *axis) ||
	    c->type->dim[*axis] != n->type->dim[k] * (int64_t)c->nin)
		return false;
	for (uint32_t i = 0; i < c->nin; i++)
		if (qn_graph_node(g, c->in[i])->type->dim[*axis] != n->type->dim[k])
			return false;
	*concat = c;
	return true;
}

/* The overlap of p with operand `in` of a concat along its axis, which begins at `*at`; moves *at to the next one. */
static bool
overlap(const qn_graph *g, const part *p, qn_id in, int64_t *at, part *out)
{
	const int64_t n = qn_graph_node(g, in)->type->dim[p->axis], first = *at;
	const int64_t from = p->begin > first ? p->begin - first : 0;
	const int64_t to = p->begin + p->count < first + n ? p->begin + p->count - first : n;

	*at += n;
	*out = (part){in, p->axis, from, to - from};
	return to > from;
}

/* An op on each element by itself, which may be computed for parts. */
static bool
is_by_element(const qn_node *n)
{
	return n->nin == 1 && qn_type_is_f32(n->type) &&
	       (qn_opinfo_of(n)->behaviour == QN_LUT || n->op == QN_OP_relu ||
		n->op == QN_OP_relu6 || n->op == QN_OP_clip || n->op == QN_OP_sigmoid ||
		n->op == QN_OP_tanh);
}

/* The channels of a layer that split_layers.c can make by themselves. */
static bool
is_layer(const qn_graph *g, const part *p)
{
	const qn_node *n = qn_graph_node(g, p->value);

	if (n->op == QN_OP_bias_add)
		n = qn_graph_node(g, n->in[0]);
	return (n->op == QN_OP_conv2d || n->op == QN_OP_conv1d || n->op == QN_OP_dense) &&
	       p->axis == n->type->rank - 1 && p->count >= LEAST;
}

/* Where a part comes from: parts of how many operands, into from. */
static uint32_t
origins(const qn_graph *g, const part *p, part *from)
{
	const qn_node *n = qn_graph_node(g, p->value), *c;
	int32_t axis;
	int64_t at = 0;
	uint32_t k = 0;

	if (n->op == QN_OP_transpose) {
		from[0] = (part){n->in[0], (int32_t)n->attr->perm.perm.v[p->axis], p->begin,
				 p->count};
		return 1;
	}
	if (is_by_element(n)) {
		from[0] = (part){n->in[0], p->axis, p->begin, p->count};
		return 1;
	}
	if (n->op == QN_OP_reshape && is_stack(g, p, &c, &axis)) {
		for (; k < c->nin && k < MOST_PARTS; k++)
			from[k] = (part){c->in[k], axis, p->begin, p->count};
		return c->nin <= MOST_PARTS ? k : 0;
	}
	if (n->op == QN_OP_reshape)
		return before_reshape(g, p, from) ? 1 : 0;
	if (n->op != QN_OP_concat || n->nin > MOST_PARTS)
		return 0;
	for (uint32_t i = 0; i < n->nin; i++) {
		if (concat_axis(n) != p->axis)
			from[k++] = (part){n->in[i], p->axis, p->begin, p->count};
		else if (overlap(g, p, n->in[i], &at, &from[k]))
			k++;
	}
	return k;
}

/* Whether a part is made of whole values, and of channels of layers. */
static bool
ends_well(const qn_graph *g, const uint32_t *readers, const part *p, int depth)
{
	part from[MOST_PARTS];

	if (is_whole(g, p) || is_layer(g, p))
		return true;
	if (depth == 0 || (depth < MOST_DEEP && readers[p->value] != 1))
		return false;
	const uint32_t n = origins(g, p, from);
	for (uint32_t i = 0; i < n; i++)
		if (!ends_well(g, readers, &from[i], depth - 1))
			return false;
	return n > 0;
}

/* The names of such nodes, if they are the only readers of what they take parts of. */
static void
find_parts(qn_model *m, const qn_graph *g, qn_map *found)
{
	const uint32_t *readers = qn_graph_uses(g, m->scratch);
	uint32_t *well = QN_NEW(m->scratch, uint32_t, g->n);
	bool *is_one = QN_NEW(m->scratch, bool, g->n);
	part p;

	for (qn_id id = 1; id < g->n; id++) {
		is_one[id] = takes_part(g, qn_graph_node(g, id), &p) && !is_layer(g, &p) &&
			     ends_well(g, readers, &p, MOST_DEEP);
		if (is_one[id])
			well[p.value]++;
	}
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (is_one[id] && n->name != NULL && well[n->in[0]] == readers[n->in[0]])
			qn_map_puts(found, n->name, m);
	}
}

/* ---- parts made of them ---- */

static qn_id make(qn_rw *rw, const part *p, const char *name, int depth);

static qn_id
sliced(qn_rw *rw, const part *p, const char *name)
{
	const int32_t rank = qn_rw_node(rw, p->value)->type->rank;
	qn_attrs a = {.slice = {.begin = {rank, {0}}, .end = {rank, {0}}}};

	for (int32_t k = 0; k < rank; k++)
		a.slice.end.v[k] = qn_rw_node(rw, p->value)->type->dim[k];
	a.slice.begin.v[p->axis] = p->begin;
	a.slice.end.v[p->axis] = p->begin + p->count;
	return qn_rw_add(rw, QN_OP_slice, name, 1, &p->value, &a, NULL);
}

/* The parts of the operands of concat `of` (n 1: of any node), joined. */
static qn_id
joined(qn_rw *rw, qn_id of, const part *from, uint32_t n, const char *name, int depth)
{
	const qn_attrs *a = qn_rw_node(rw, of)->attr;
	qn_id in[MOST_PARTS];

	for (uint32_t i = 0; i < n; i++) {
		in[i] = make(rw, &from[i], NULL, depth - 1);
		if (in[i] == 0)
			return 0;
	}
	qn_rw_stand_for(rw, of);
	return n == 1 ? in[0] : qn_rw_add(rw, QN_OP_concat, name, n, in, a, NULL);
}

static qn_id
make(qn_rw *rw, const part *p, const char *name, int depth)
{
	const qn_graph *g = qn_rw_graph(rw);
	const qn_node n = *qn_rw_node(rw, p->value);
	int64_t dim[QN_MAX_RANK];
	part from[MOST_PARTS];

	if (is_whole(g, p))
		return p->value;
	const uint32_t k = depth > 0 && !is_layer(g, p) ? origins(g, p, from) : 0;
	qn_rw_stand_for(rw, p->value);
	if (k == 0)
		return sliced(rw, p, name);
	if (n.op == QN_OP_concat)
		return joined(rw, p->value, from, k, name, depth);
	const qn_id x = joined(rw, n.in[0], from, k, NULL, depth);
	qn_rw_stand_for(rw, p->value);
	if (x == 0 || n.op != QN_OP_reshape)
		return x == 0 ? 0 : qn_rw_add(rw, n.op, name, 1, &x, n.attr, NULL);
	for (int32_t i = 0; i < n.type->rank; i++)
		dim[i] = i == p->axis ? p->count : n.type->dim[i];
	return qn_rw_reshape(rw, name, x, n.type->rank, dim);
}

static qn_id
to_part(qn_rw *rw, const qn_match *m)
{
	const char *name = qn_rw_name(rw, m->root);
	const qn_type *type = qn_rw_node(rw, m->root)->type;
	const bool gathers = qn_rw_node(rw, m->root)->op == QN_OP_gather;
	part p, from[MOST_PARTS];

	if (name == NULL || qn_map_gets(qn_rw_user(rw), name) == NULL)
		return qn_rw_decline(rw, "it is not a part of values that were joined or arranged");
	if (!takes_part(qn_rw_graph(rw), qn_rw_node(rw, m->root), &p) ||
	    origins(qn_rw_graph(rw), &p, from) == 0)
		return qn_rw_decline(rw, "it does not take a part of one axis of such a value");
	const qn_id y = make(rw, &p, gathers ? NULL : name, MOST_DEEP);
	qn_rw_stand_for(rw, 0);
	return y == 0 || !gathers ? y : qn_rw_reshape(rw, name, y, type->rank, type->dim);
}

static const qn_rule rules[] = {
	{"hoist-slice", QN_P_OPN(slice, ROOT), to_part},
	{"hoist-slice", QN_P_OPN(gather, ROOT), to_part},
};

qn_status
qn_hoist_slices(qn_model *m)
{
	for (size_t i = 0; i < m->ngraph; i++) {
		qn_map found;

		qn_map_init(&found, m->scratch);
		find_parts(m, m->graph[i], &found);
		if (qn_map_count(&found) > 0)
			QN_TRY(qn_rewrite(m, m->graph[i], rules, QN_COUNT(rules), &found,
					  &m->graph[i]));
	}
	return QN_OK;
}
