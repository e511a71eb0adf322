/* SPDX-License-Identifier: Apache-2.0 */
/* infer_pool.c - types of max_pool, avg_pool (windows of [N,H,W,C]), max_pool3d, avg_pool3d (of
 * [N,D,H,W,C]) and global_avg_pool ([N,H,W,C]
 * -> [N,1,1,C]). */
#include "ir/infer.h"

#include "ir/window.h"

static bool
flag_ok(const qn_graph *g, const qn_node *n, const char *name, int64_t v, int64_t most)
{
	return (v >= 0 && v <= most) ||
	       qn_infer_error(g, n, "attr.value",
			      most == 0 ? "%s is for averages only" : "%s must be 0 or 1", name);
}

/* A pad as wide as the window would make windows without any element. */
static bool
attributes_ok(const qn_graph *g, const qn_node *n, const qn_pooling *p)
{
	bool ok = qn_infer_range(g, n, "kernel", p->axes, p->kernel, 1);

	ok = qn_infer_range(g, n, "stride", p->axes, p->stride, 1) && ok;
	ok = qn_infer_range(g, n, "dilation", p->axes, p->dilation, 1) && ok;
	ok = flag_ok(g, n, "ceil_mode", p->ceil_mode, 1) && ok;
	ok = flag_ok(g, n, "count_include_pad", p->count_include_pad,
		     qn_opinfo_of(n)->behaviour == QN_MEAN) &&
	     ok;
	ok = qn_infer_pads(g, n, p->padding, p->axes * 2, p->pad) && ok;
	for (int i = 0; ok && i < p->axes * 2; i++) {
		int64_t reach = (p->kernel[i / 2] - 1) * p->dilation[i / 2] + 1;

		if (p->pad[i] >= reach)
			ok = qn_infer_error(g, n, "attr.value",
					    "pad is %lld, must be less than the kernel's %lld",
					    (long long)p->pad[i], (long long)reach);
	}
	return ok;
}

/* A window takes elements of one scale only. */
static const qn_elem *
window_elem(const qn_graph *g, const qn_node *n, int32_t axes)
{
	const qn_elem *e = qn_infer_same(g, n);

	if (e == NULL || e->gran == QN_PER_TENSOR || !qn_elem_is_quant(e))
		return e;
	if (e->gran == QN_SUB_CHANNEL)
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "%s does not support operands quantized in blocks: %s",
				      qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
	else if (e->axis[0] > 0 && e->axis[0] <= axes)
		(void)qn_infer_error(g, n, "type.axis.merged",
				     "the windows span axis %d, along which the scales differ",
				     (int)e->axis[0]);
	else
		return e;
	return NULL;
}

static const qn_type *
pool(const qn_graph *g, const qn_node *n)
{
	static const char *const names[] = {"slices", "rows", "columns"};
	const qn_pooling p = qn_pooling_of(n);
	const qn_elem *e = window_elem(g, n, p.axes);
	bool ok = attributes_ok(g, n, &p);

	if (e == NULL || !qn_infer_rank(g, n, 0, p.axes + 2) || !ok)
		return NULL;
	qn_shape y = qn_infer_shape_of_rank(g, n, 0, p.axes + 2);
	for (int axis = 0; axis < p.axes; axis++) {
		qn_window w;
		int64_t in = y.dim[1 + axis];

		if (!qn_window_pool(&p, axis, in, &w))
			ok = qn_infer_error(
				g, n, "shape.window",
				"the kernel does not fit: %lld elements over %lld input %s",
				(long long)p.kernel[axis], (long long)in, names[axis + 3 - p.axes]);
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
qn_infer_max_pool3d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_max_pool(g, n, declared);
}

const qn_type *
qn_infer_avg_pool3d(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_avg_pool(g, n, declared);
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
