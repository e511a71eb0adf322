/* SPDX-License-Identifier: Apache-2.0 */
/* infer_pool.c - types of max_pool, avg_pool (windows of [N,H,W,C]) and global_avg_pool ([N,H,W,C]
 * -> [N,1,1,C]). */
#include "ir/infer.h"

#include "ir/window.h"

/* A pad as wide as the kernel would make windows without any element. */
static bool
attributes_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_pool *a = &n->attr->pool;
	bool ok = qn_infer_range(g, n, "kernel", 2, a->kernel, 1);

	ok = qn_infer_range(g, n, "stride", 2, a->stride, 1) && ok;
	ok = qn_infer_range(g, n, "pad", 4, a->pad, 0) && ok;
	if (a->padding != QN_PADDING_explicit &&
	    (a->pad[0] | a->pad[1] | a->pad[2] | a->pad[3]) != 0)
		ok = qn_infer_error(g, n, "attr.value",
				    "pad is given although padding is %s; leave one out",
				    qn_enum_table[QN_ENUM_padding].names[a->padding]);
	for (int i = 0; ok && i < 4; i++)
		if (a->pad[i] >= a->kernel[i / 2])
			ok = qn_infer_error(
				g, n, "attr.value",
				"pad has the value %lld, must be less than the kernel's %lld",
				(long long)a->pad[i], (long long)a->kernel[i / 2]);
	return ok;
}

/* A window takes elements of one scale only. */
static const qn_elem *
window_elem(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_infer_same(g, n);

	if (e == NULL || e->gran == QN_PER_TENSOR || !qn_elem_is_quant(e))
		return e;
	if (e->gran == QN_SUB_CHANNEL)
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "%s takes no operand quantized in blocks: %s",
				      qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
	else if (e->axis[0] == 1 || e->axis[0] == 2)
		(void)qn_infer_error(g, n, "type.axis.merged",
				     "the windows go across axis %d, along which the scales differ",
				     (int)e->axis[0]);
	else
		return e;
	return NULL;
}

static const qn_type *
pool(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = window_elem(g, n);
	bool ok = attributes_ok(g, n);

	if (e == NULL || !qn_infer_rank(g, n, 0, 4) || !ok)
		return NULL;
	qn_shape y = {4, {QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC}};
	if (qn_infer_in(g, n, 0)->rank == 4)
		y = qn_shape_of(qn_infer_in(g, n, 0));
	for (int axis = 0; axis < 2; axis++) {
		qn_window w;
		int64_t in = y.dim[1 + axis];

		if (!qn_window_pool(&n->attr->pool, axis, in, &w))
			ok = qn_infer_error(
				g, n, "shape.window",
				"the kernel does not fit: %lld elements over %lld input %s",
				(long long)n->attr->pool.kernel[axis], (long long)in,
				axis == 0 ? "rows" : "columns");
		y.dim[1 + axis] = w.out;
	}
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_max_pool(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return pool(g, n);
}

const qn_type *
qn_infer_avg_pool(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *t = pool(g, n);

	(void)declared;
	if (t == NULL || qn_elem_is_float(t->elem) || t->elem->kind == QN_ELEM_UNIFORM)
		return t;
	(void)qn_infer_error(g, n, "type.element", "the average of %s elements is not defined",
			     qn_infer_elem_text(g, t->elem));
	return NULL;
}

const qn_type *
qn_infer_global_avg_pool(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_mix(g, n, declared);

	if (e == NULL || !qn_infer_rank(g, n, 0, 4))
		return NULL;
	const qn_type *x = qn_infer_in(g, n, 0);
	bool known = x->rank == 4;
	qn_shape y = {4, {known ? x->dim[0] : QN_DYNAMIC, 1, 1, known ? x->dim[3] : QN_DYNAMIC}};
	if (known && (x->dim[1] == 0 || x->dim[2] == 0)) {
		(void)qn_infer_error(g, n, "shape.window", "%s has no elements to average",
				     qn_infer_type_text(g, x));
		return NULL;
	}
	return qn_infer_result(g, n, e, &y);
}
