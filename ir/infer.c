/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c - what the shape rules share: reports, shapes, results. */
#include "ir/infer.h"

#include "ir/diag.h"
#include "ir/window.h"

static void
report(const qn_graph *g, const qn_node *n, qn_status status, const char *id, const char *fmt,
       va_list args)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	qn_bufvf(&b, fmt, args);
	(void)qn_report(g->model->env, status, id, qn_node_place(g, n), "%s", qn_buf_str(&b));
}

bool
qn_infer_error(const qn_graph *g, const qn_node *n, const char *id, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(g, n, QN_EINVALID, id, fmt, args);
	va_end(args);
	return false;
}

bool
qn_infer_refuse(const qn_graph *g, const qn_node *n, const char *id, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(g, n, QN_EUNSUPPORTED, id, fmt, args);
	va_end(args);
	return false;
}

const qn_type *
qn_infer_in(const qn_graph *g, const qn_node *n, uint32_t i)
{
	return qn_graph_node(g, n->in[i])->type;
}

static bool
is_small(const qn_type *t)
{
	return !t->is_tuple && t->elem->small != QN_SMALL_NONE;
}

static bool
has_fraction(const qn_type *t)
{
	return !t->is_tuple && t->elem->zp_fraction != 0;
}

/* Only constants have zero points with a fraction, and only these ops read them. */
static bool
fractions_ok(const qn_graph *g, const qn_node *n, const qn_type *result)
{
	static const struct {
		qn_op op;
		uint32_t input;
	} readers[] = {{QN_OP_dequantize, 0},      {QN_OP_gather, 0}, {QN_OP_dense, 1},
		       {QN_OP_conv1d, 1},          {QN_OP_conv2d, 1}, {QN_OP_conv3d, 1},
		       {QN_OP_conv2d_transpose, 1}};
	bool ok = n->op == QN_OP_const || !has_fraction(result) ||
		  qn_infer_error(g, n, "type.zp.fraction",
				 "the result would have zero points with a fraction: only "
				 "constants have them");

	for (uint32_t i = 0; i < n->nin; i++) {
		bool reads = !has_fraction(qn_infer_in(g, n, i));

		for (size_t k = 0; k < QN_COUNT(readers) && !reads; k++)
			reads = readers[k].op == n->op && readers[k].input == i;
		ok = ok &&
		     (reads || qn_infer_error(g, n, "type.zp.fraction",
					      "input %u has zero points with a fraction: only "
					      "dequantize, products with weights and gather "
					      "read such values",
					      i));
	}
	return ok;
}

const qn_type *
qn_infer_type(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	for (uint32_t i = 0; i < n->nin && n->op != QN_OP_dequantize; i++)
		if (is_small(qn_infer_in(g, n, i))) {
			(void)qn_infer_error(
				g, n, "type.storage.float",
				"input %u is stored as %s: only dequantize reads such values", i,
				qn_small_table[qn_infer_in(g, n, i)->elem->small].name);
			return NULL;
		}
	const qn_type *t = qn_opinfo_of(n)->infer(g, n, declared);
	if (t != NULL && !fractions_ok(g, n, t))
		return NULL;
	if (t == NULL || n->op == QN_OP_const || !is_small(t))
		return t;
	(void)qn_infer_error(g, n, "type.storage.float",
			     "the result would be stored as %s: only constants are",
			     qn_small_table[t->elem->small].name);
	return NULL;
}

const char *
qn_infer_type_text(const qn_graph *g, const qn_type *type)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	qn_type_print(&b, type);
	return qn_buf_str(&b);
}

const char *
qn_infer_elem_text(const qn_graph *g, const qn_elem *e)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	qn_elem_print(&b, e);
	return qn_buf_str(&b);
}

qn_shape
qn_shape_of(const qn_type *type)
{
	qn_shape s = {.rank = type->rank};

	for (int32_t i = 0; i < s.rank; i++)
		s.dim[i] = type->dim[i];
	return s;
}

bool
qn_dim_fits(int64_t a, int64_t b)
{
	return a == b || a == QN_DYNAMIC || b == QN_DYNAMIC;
}

int64_t
qn_dim_merge(int64_t a, int64_t b)
{
	return a == QN_DYNAMIC ? b : a;
}

int64_t
qn_dims_product(int32_t n, const int64_t *dim, int32_t *dynamic)
{
	int64_t count = 1;
	bool huge = false;

	*dynamic = 0;
	for (int32_t i = 0; i < n; i++) {
		if (dim[i] == QN_DYNAMIC) {
			++*dynamic;
		} else if (dim[i] == 0) {
			count = 0;
		} else if (count > QN_MAX_COUNT / dim[i]) {
			huge = true;
		} else {
			count *= dim[i];
		}
	}
	return count == 0 || !huge ? count : QN_MAX_COUNT + 1;
}

bool
qn_infer_size(const qn_graph *g, const qn_node *n, int32_t rank, const int64_t *dim)
{
	int32_t dynamic = 0;
	bool ok = rank < 0 || qn_dims_product(rank, dim, &dynamic) <= QN_MAX_COUNT;

	/* Also without the dims that are 0: loops run over the others. */
	int64_t others = 1;

	for (int32_t i = 0; ok && i < rank; i++) {
		int64_t d = dim[i] > 1 ? dim[i] : 1;

		ok = d <= QN_MAX_COUNT && others <= QN_MAX_COUNT / d;
		others = ok ? others * d : others;
	}
	return ok ||
	       qn_infer_error(g, n, "shape.size",
			      "the result has a dimension or a number of elements above 2^40");
}

bool
qn_infer_rank(const qn_graph *g, const qn_node *n, uint32_t i, int32_t rank)
{
	const qn_type *t = qn_infer_in(g, n, i);

	if (t->rank == -1 || t->rank == rank)
		return true;
	return qn_infer_error(g, n, "shape.rank",
			      "input %u ('%s') has %d dimensions in %s, must have %d", i,
			      qn_graph_node(g, n->in[i])->name, (int)t->rank,
			      qn_infer_type_text(g, t), (int)rank);
}

bool
qn_infer_vector(const qn_graph *g, const qn_node *n, uint32_t i, int64_t dim)
{
	const qn_type *t = qn_infer_in(g, n, i);

	if (!qn_infer_rank(g, n, i, 1))
		return false;
	if (t->rank == -1 || qn_dim_fits(t->dim[0], dim))
		return true;
	return qn_infer_error(
		g, n, "shape.channels", "input %u ('%s') has %lld elements for %lld channels", i,
		qn_graph_node(g, n->in[i])->name, (long long)t->dim[0], (long long)dim);
}

bool
qn_infer_range(const qn_graph *g, const qn_node *n, const char *attr, int32_t count,
	       const int64_t *v, int64_t min)
{
	for (int32_t i = 0; i < count; i++)
		if (v[i] < min || v[i] > QN_WINDOW_MAX)
			return qn_infer_error(
				g, n, "attr.value", "%s is %lld, must be in %lld..%lld", attr,
				(long long)v[i], (long long)min, (long long)QN_WINDOW_MAX);
	return true;
}

bool
qn_infer_flag(const qn_graph *g, const qn_node *n, const char *attr, int64_t v)
{
	return v == 0 || v == 1 ||
	       qn_infer_error(g, n, "attr.value", "%s is %lld, must be 0 or 1", attr, (long long)v);
}

const qn_elem *
qn_infer_move_axis(const qn_graph *g, const qn_node *n, const qn_elem *e, int32_t axis)
{
	qn_elem moved = *e;
	const qn_elem *out = NULL;

	moved.axis = &axis;
	return qn_elem_make(&g->model->types, qn_node_place(g, n), &moved, &out) == QN_OK ? out
											  : NULL;
}

const qn_type *
qn_infer_result(const qn_graph *g, const qn_node *n, const qn_elem *e, const qn_shape *shape)
{
	if (!qn_infer_size(g, n, shape->rank, shape->dim))
		return NULL;
	const qn_type *t = qn_type_tensor(&g->model->types, e, shape->rank, shape->dim);
	if (qn_elem_is_quant(e) && qn_type_check(&g->model->types, qn_node_place(g, n), t) != QN_OK)
		return NULL;
	return t;
}
