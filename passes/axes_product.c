/* SPDX-License-Identifier: Apache-2.0 */
/* axes_product.c - moves transposes past reshapes and products.
 *
 *   T: p = [0,3,1,2], N,H,W,C -> N,C,H,W
 *   reshape(T(x)) {shape=[N,C,H*W]}           ->  transpose(reshape(x) {shape=[N,H*W,C]}) {perm=[0,2,1]}
 *   dense(reshape(T(x)) {shape=[N,C*H*W]}, w) ->  dense(reshape(x), w')      columns of w in the order H,W,C
 *   matmul(a, T(b)) {}                        ->  matmul(a, b) {transpose_b=1}    T swaps the last two axes
 *
 * A reshape cuts both shapes into groups of dims with equal products; it passes where the dims of
 * each group lie side by side in x too. */
#include "passes/axes.h"

#include "ir/diag.h"

/* Dims that a reshape takes together: those of T(x) in [from, to) become those of its value in
 * [vfrom, vto). */
typedef struct group {
	int32_t from, to, vfrom, vto;
	int64_t place; /* of its first dim other than 1, in x */
	bool done;
} group;

/* The finest groups.  Counts are equal and not 0; a group includes the dims of 1 after it. */
static int32_t
cut(const qn_type *t, const qn_type *v, group *out)
{
	int32_t i = 0, j = 0, n = 0;

	while (i < t->rank || j < v->rank) {
		group g = {.from = i, .vfrom = j, .place = -1};
		int64_t a = i < t->rank ? t->dim[i++] : 1, b = j < v->rank ? v->dim[j++] : 1;

		while (a != b) {
			if (a < b)
				a *= t->dim[i++];
			else
				b *= v->dim[j++];
		}
		while (i < t->rank && t->dim[i] == 1)
			i++;
		while (j < v->rank && v->dim[j] == 1)
			j++;
		g.to = i;
		g.vto = j;
		out[n++] = g;
	}
	return n;
}

/* Whether the dims of the group, those of 1 left out, lie side by side and in order in x. */
static bool
is_together(const qn_ax *s, group *g)
{
	const qn_type *x = qn_rw_node(s->rw, s->x)->type;
	int64_t last = -1;

	for (int32_t k = g->from; k < g->to; k++) {
		int64_t at = s->p->v[k];

		if (x->dim[at] == 1)
			continue;
		for (int64_t i = last + 1; last >= 0 && i < at; i++)
			if (x->dim[i] != 1)
				return false;
		if (at < last)
			return false;
		if (g->place < 0)
			g->place = at;
		last = at;
	}
	return true;
}

/* Of the groups that are not done the one whose dims come first in x; NULL when all are. */
static group *
next_in_place(group *g, int32_t n)
{
	group *first = NULL;

	for (int32_t i = 0; i < n; i++)
		if (!g[i].done && (first == NULL || g[i].place < first->place))
			first = &g[i];
	return first;
}

/* reshape(T(x)) -> T'(reshape'(x)) */
qn_id
qn_ax_reshape(const qn_ax *s)
{
	const qn_type *t = qn_rw_node(s->rw, s->t)->type, *v = s->n->type;
	group g[2 * QN_MAX_RANK];
	int64_t dim[QN_MAX_RANK];
	qn_list q = {.n = v->rank};
	int32_t rank = 0;

	if (qn_rw_node(s->rw, s->t)->op != QN_OP_transpose)
		return qn_rw_decline(s->rw, "there is a reshape in between");
	if (qn_type_count(v) <= 0 || qn_type_count(t) < 0 ||
	    (qn_elem_is_quant(v->elem) && v->elem->gran != QN_PER_TENSOR))
		return qn_rw_decline(s->rw, "its elements cannot be grouped differently");
	int32_t n = cut(t, v, g);
	for (int32_t i = 0; i < n; i++)
		if (!is_together(s, &g[i]))
			return qn_rw_decline(s->rw, "it merges axes that are not adjacent");
	for (group *first; (first = next_in_place(g, n)) != NULL; first->done = true)
		for (int32_t k = first->vfrom; k < first->vto; k++) {
			q.v[k] = rank;
			dim[rank++] = v->dim[k];
		}
	qn_id y = qn_ax_as(s->rw, qn_rw_name(s->rw, s->root), s->x, rank, dim);
	return qn_ax_put(s, y, &q);
}

/* ---- products ---- */

/* Axis `axis` of the constant matrix w runs over the dims [first, rank) of T(x) as one; returns it
 * with that axis in the order in which they lie in x. */
static qn_id
reordered(const qn_ax *s, qn_id w, int32_t axis, const qn_type *t, int32_t first)
{
	const qn_type *wt = qn_rw_node(s->rw, w)->type;
	int32_t n = t->rank - first;
	int64_t dim[QN_MAX_RANK];
	qn_list p = {.n = n + 1};

	dim[axis == 0 ? n : 0] = wt->dim[1 - axis];
	for (int32_t k = 0; k < n; k++)
		dim[k + axis] = t->dim[first + k];
	p.v[axis == 0 ? n : 0] = axis == 0 ? n : 0;
	for (int32_t k = 0; k < n; k++)
		p.v[s->p->v[first + k] - first + axis] = k + axis;
	qn_id y = qn_ax_as(s->rw, qn_rw_name(s->rw, w), w, n + 1, dim);
	y = y != 0 ? qn_ax_transpose(s->rw, qn_rw_name(s->rw, w), y, &p) : 0;
	return y != 0 ? qn_ax_as(s->rw, qn_rw_name(s->rw, w), y, 2, wt->dim) : 0;
}

/* op(reshape(T(x)), w), the reshape giving a matrix: w's axis goes over the columns. */
static qn_id
take_in(const qn_ax *s, int32_t axis)
{
	const qn_node *m = qn_rw_node(s->rw, s->t);
	const qn_type *t;
	qn_id in[3] = {0};
	int32_t first;

	if (s->operand != 0 || (m->op != QN_OP_reshape && m->op != QN_OP_flatten) ||
	    m->type->rank != 2 || qn_type_count(m->type) <= 0 || s->n->nin > 3 ||
	    qn_rw_node(s->rw, s->n->in[1])->type->rank != 2 || !qn_ax_is_const(s->rw, s->n->in[1]))
		return qn_rw_decline(s->rw, "it is not a product with a constant matrix");
	t = qn_rw_node(s->rw, m->in[0])->type;
	first = m->type->dim[0] != 1;
	if (t->rank - first + 1 > QN_MAX_RANK || qn_type_count(t) < 0 ||
	    (first == 1 && (s->p->v[0] != 0 || t->dim[0] != m->type->dim[0])))
		return qn_rw_decline(s->rw, "the rows would change");
	qn_rw_stand_for(s->rw, s->t);
	in[0] = qn_ax_as(s->rw, qn_rw_name(s->rw, s->t), s->x, 2, m->type->dim);
	qn_rw_stand_for(s->rw, 0);
	in[1] = reordered(s, s->n->in[1], axis, t, first);
	in[2] = s->n->nin == 3 ? s->n->in[2] : 0;
	if (in[0] == 0 || in[1] == 0)
		return 0;
	return qn_rw_add(s->rw, s->n->op, qn_rw_name(s->rw, s->root), s->n->nin, in, s->n->attr,
			 s->n->type);
}

qn_id
qn_ax_dense(const qn_ax *s)
{
	return take_in(s, 1);
}

static bool
swaps_last(const qn_list *p)
{
	for (int32_t k = 0; k < p->n - 2; k++)
		if (p->v[k] != k)
			return false;
	return p->n >= 2 && p->v[p->n - 1] == p->n - 2;
}

qn_id
qn_ax_matmul(const qn_ax *s)
{
	qn_attrs a = {.matmul = s->n->attr->matmul};
	qn_id in[2] = {s->n->in[0], s->n->in[1]};

	if (qn_rw_node(s->rw, s->t)->op != QN_OP_transpose)
		return a.matmul.transpose_a == 0
			       ? take_in(s, a.matmul.transpose_b != 0)
			       : qn_rw_decline(s->rw, "its operand is transposed");
	if (!swaps_last(s->p))
		return qn_rw_decline(s->rw, "it does not swap the last two axes");
	if (s->operand == 0)
		a.matmul.transpose_a = !a.matmul.transpose_a;
	else
		a.matmul.transpose_b = !a.matmul.transpose_b;
	in[s->operand] = s->x;
	return qn_rw_add(s->rw, QN_OP_matmul, qn_rw_name(s->rw, s->root), 2, in, &a, s->n->type);
}
