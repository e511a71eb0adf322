/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_move.c - operators that move elements or change the shape.
 *
 *   Reshape(x, [0, -1])      0: the dim of x (unless allowzero), -1: what is left
 *   Unsqueeze(x, [0, 3])     dims of 1 at these positions of the result */
#include "import/onnx_write_op.h"

#include <string.h>

#include "ir/diag.h"

/* A file that was exported before the switch to inference drops elements at random; a program must not.  The switch is an
 * input from set 12 on. */
static void
warn_of_training(qn_onnx *o, const qn_onnx_node *n)
{
	const qn_id mode = n->version >= 12 ? qn_onnx_in(n, 2) : 0;
	const qn_tensor *known = qn_importer_known(&o->im, mode);
	const bool off =
		known != NULL && qn_type_count(known->type) == 1 && qn_tensor_i64(known, 0) == 0;

	if (mode == 0 || off)
		return;
	qn_warn(o->im.m->env, "import.training", qn_importer_place(&o->im),
		"training_mode %s; the model is compiled for inference, and no element is dropped",
		known != NULL ? "is true" : "is only known at run time");
}

static void
identity(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 1))
		return;
	out[0] = n->in[0];
	if (strcmp(n->op, "Dropout") != 0)
		return;
	warn_of_training(o, n);
	if (n->nout < 2)
		return;
	/* The mask: everything is kept. */
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	void *data;
	const qn_type *flags = qn_type_with_elem(&o->im.m->types, t,
						 qn_elem_plain(&o->im.m->types, QN_PLAIN_bool));
	if (!qn_importer_take_type(&o->im, flags))
		return;
	qn_tensor *mask = qn_tensor_new(o->im.m->arena, flags, &data);
	memset(data, 1, mask->bytes);
	out[1] = qn_importer_const(&o->im, o->im.node, mask);
}

/* ---- shapes ---- */

/* Puts numbers in for 0 and -1. */
static bool
resolve(const qn_type *x, bool keep_zero, int32_t rank, int64_t *dim)
{
	int64_t count = qn_type_count(x), product = 1;
	int32_t open = -1;

	for (int32_t i = 0; i < rank; i++) {
		if (dim[i] == 0 && !keep_zero)
			dim[i] = i < x->rank ? x->dim[i] : 0;
		if (dim[i] == -1 && open < 0)
			open = i;
		else if (dim[i] < 0 || dim[i] > INT32_MAX ||
			 (dim[i] > 0 && product > (INT64_C(1) << 40) / dim[i]))
			return false;
		else
			product *= dim[i];
	}
	if (open < 0)
		return true;
	dim[open] = product > 0 ? count / product : 0;
	return product > 0 && count % product == 0;
}

static void
reshape(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t dim[QN_MAX_RANK];

	if (!qn_onnx_need(o, n, 1))
		return;
	int32_t rank = qn_onnx_list(o, n, "shape", 1, 5, dim);
	if (rank == -1)
		(void)qn_importer_refuse(&o->im, "import.input", "the new shape is missing");
	if (rank < 0)
		return;
	if (resolve(qn_onnx_type(o, n->in[0]), qn_onnx_int(o, n, "allowzero", 0) != 0, rank, dim))
		out[0] = qn_importer_reshape(&o->im, n->in[0], rank, dim);
	else
		(void)qn_importer_refuse(&o->im, "import.input",
					 "the new shape has another number of elements");
}

static void
flatten(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int32_t axis;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int64_t given = qn_onnx_int(o, n, "axis", 1);
	if (given == t->rank)
		axis = t->rank;
	else if (!qn_onnx_axis(o, given, t->rank, &axis))
		return;
	out[0] = qn_importer_matrix(&o->im, n->in[0], axis);
}

static void
transpose(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t perm[QN_MAX_RANK];

	if (!qn_onnx_need(o, n, 1))
		return;
	int32_t rank = qn_onnx_type(o, n->in[0])->rank;
	int32_t given =
		qn_onnx_has(o, n, "perm") ? qn_onnx_ints(o, n, "perm", QN_MAX_RANK, perm) : rank;
	for (int32_t i = 0; !qn_onnx_has(o, n, "perm") && i < rank; i++)
		perm[i] = rank - 1 - i;
	if (given == rank)
		out[0] = qn_importer_transpose(&o->im, n->in[0], perm);
	else
		(void)qn_importer_refuse(&o->im, "import.attr", "perm must have %d numbers",
					 (int)rank);
}

/* Which axes of a value of this rank are named, each of them once. */
static bool
marks(qn_onnx *o, int32_t n, const int64_t *axes, int32_t rank, bool *marked)
{
	int32_t axis;

	memset(marked, 0, QN_MAX_RANK * sizeof *marked);
	for (int32_t i = 0; i < n; i++) {
		if (!qn_onnx_axis(o, axes[i], rank, &axis))
			return false;
		if (marked[axis]) {
			(void)qn_importer_refuse(&o->im, "import.attr", "axis %d is named twice",
						 (int)axis);
			return false;
		}
		marked[axis] = true;
	}
	return true;
}

static void
squeeze(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t axes[QN_MAX_RANK], dim[QN_MAX_RANK];
	bool gone[QN_MAX_RANK];
	int32_t rank = 0;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t count = qn_onnx_list(o, n, "axes", 1, 13, axes);
	if (count == -2 || !marks(o, count, axes, t->rank, gone))
		return;
	for (int32_t i = 0; i < t->rank; i++) {
		if (count < 0 ? t->dim[i] != 1 : !gone[i])
			dim[rank++] = t->dim[i];
		else if (t->dim[i] != 1) {
			(void)qn_importer_refuse(&o->im, "import.attr",
						 "dimension %d is %lld, not 1", (int)i,
						 (long long)t->dim[i]);
			return;
		}
	}
	out[0] = qn_importer_reshape(&o->im, n->in[0], rank, dim);
}

static void
unsqueeze(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t axes[QN_MAX_RANK], dim[QN_MAX_RANK];
	bool put[QN_MAX_RANK];

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t count = qn_onnx_list(o, n, "axes", 1, 13, axes), rank = t->rank + count, k = 0;
	if (count == -1)
		(void)qn_importer_refuse(&o->im, "import.attr", "axes are missing");
	if (count < 0)
		return;
	if (rank > QN_MAX_RANK) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "%d dimensions; at most %d are possible", (int)rank,
					 (int)QN_MAX_RANK);
		return;
	}
	if (!marks(o, count, axes, rank, put))
		return;
	for (int32_t i = 0; i < rank; i++)
		dim[i] = put[i] || k >= t->rank ? 1 : t->dim[k++];
	out[0] = qn_importer_reshape(&o->im, n->in[0], rank, dim);
}

/* ---- repetition ---- */

static void
expand(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int64_t *dim = a.shape.shape.v;

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t rank = qn_onnx_const_ints(o, n, 1, QN_MAX_RANK, dim);
	if (rank < 0)
		return;
	/* The shapes are broadcast to each other: dims of 1 in the list keep those of the value. */
	int32_t more = t->rank - rank;
	if (more > 0) {
		memmove(dim + more, dim, (size_t)rank * sizeof dim[0]);
		for (int32_t i = 0; i < more; i++)
			dim[i] = 1;
		rank = t->rank;
	}
	for (int32_t i = 0; i < t->rank; i++)
		if (dim[rank - t->rank + i] == 1)
			dim[rank - t->rank + i] = t->dim[i];
	a.shape.shape.n = rank;
	out[0] = qn_importer_op(&o->im, QN_OP_expand, 1, n->in, &a, NULL);
}

/* A constant without elements: x repeated, along an axis 0 times. */
static qn_id
no_times(qn_onnx *o, qn_id x, const int64_t *times)
{
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim[QN_MAX_RANK];
	void *data;

	for (int32_t i = 0; i < t->rank; i++) {
		if (times[i] < 0 || times[i] > INT32_MAX || t->dim[i] > INT32_MAX)
			return qn_importer_refuse(&o->im, "import.size",
						  "%lld repetitions are not supported",
						  (long long)times[i]);
		dim[i] = t->dim[i] * times[i];
	}
	if (!qn_importer_dims_fit(t->rank, dim))
		return qn_importer_refuse(&o->im, "import.size",
					  "the result has dimensions of too many elements");
	const qn_type *type = qn_type_with_shape(&o->im.m->types, t, t->rank, dim);
	return qn_importer_const(&o->im, NULL, qn_tensor_new(o->im.m->arena, type, &data));
}

/* Version 1 repeats along one axis. */
static void
tile(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int64_t times, axis;

	if (!qn_onnx_need(o, n, 2))
		return;
	int32_t rank = qn_onnx_type(o, n->in[0])->rank;
	a.tile.repeats.n = rank;
	if (n->version < 6) {
		int32_t k;
		if (qn_onnx_const_ints(o, n, 1, 1, &times) != 1 ||
		    qn_onnx_const_ints(o, n, 2, 1, &axis) != 1 || !qn_onnx_axis(o, axis, rank, &k))
			return;
		for (int32_t i = 0; i < rank; i++)
			a.tile.repeats.v[i] = i == k ? times : 1;
	} else {
		int32_t have = qn_onnx_const_ints(o, n, 1, QN_MAX_RANK, a.tile.repeats.v);
		if (have < 0)
			return;
		if (have != rank) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "%d repetitions for %d dimensions", (int)have,
						 (int)rank);
			return;
		}
	}
	for (int32_t i = 0; i < rank; i++)
		if (a.tile.repeats.v[i] == 0) {
			out[0] = no_times(o, n->in[0], a.tile.repeats.v);
			return;
		}
	out[0] = qn_importer_tile(&o->im, n->in[0], rank, a.tile.repeats.v);
}

static void
gather(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};

	a.gather.axis = qn_onnx_int(o, n, "axis", 0);
	if (!qn_onnx_need(o, n, 2))
		return;
	out[0] = qn_onnx_step_gather(o, n, a.gather.axis);
	if (out[0] == 0)
		out[0] = qn_importer_op(&o->im, QN_OP_gather, 2, n->in, &a, NULL);
}

/* ---- between channels and space ---- */

static void
depth_space(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs((qn_op)n->arg);
	bool crd = strcmp(qn_onnx_string(o, n, "mode", "DCR"), "CRD") == 0;

	if (!qn_onnx_need(o, n, 1))
		return;
	if (n->arg == QN_OP_depth_to_space) {
		a.depth_to_space.block = qn_onnx_int(o, n, "blocksize", 0);
		a.depth_to_space.mode = crd ? QN_DEPTH_crd : QN_DEPTH_dcr;
	} else {
		a.space_to_depth.block = qn_onnx_int(o, n, "blocksize", 0);
	}
	qn_id x = qn_importer_channels_last(&o->im, n->in[0]);
	out[0] = qn_importer_channels_first(&o->im,
					    qn_importer_op(&o->im, (qn_op)n->arg, 1, &x, &a, NULL));
}

const qn_onnx_row qn_onnx_move[] = {
	QN_ONNX_BOTH("Identity", 1, identity, qn_onnx_write_plain, 0, EACH, QN_OP_trace),
	QN_ONNX_READ("", "Dropout", 1, identity, 0),
	QN_ONNX_BOTH("Reshape", 1, reshape, qn_onnx_write_reshape, 0, PLAIN, QN_OP_reshape,
		     QN_OP_flatten, QN_OP_squeeze, QN_OP_expand_dims),
	QN_ONNX_READ("", "Flatten", 1, flatten, 0),
	QN_ONNX_BOTH("Transpose", 1, transpose, qn_onnx_write_transpose, 0, PLAIN, QN_OP_transpose),
	QN_ONNX_READ("", "Squeeze", 1, squeeze, 0),
	QN_ONNX_READ("", "Unsqueeze", 1, unsqueeze, 0),
	QN_ONNX_BOTH("Expand", 1, expand, qn_onnx_write_expand, 0, PLAIN, QN_OP_expand),
	QN_ONNX_BOTH("Tile", 1, tile, qn_onnx_write_tile, 0, PLAIN, QN_OP_tile),
	QN_ONNX_BOTH("Gather", 1, gather, qn_onnx_write_gather, 0, PLAIN, QN_OP_gather),
	QN_ONNX_BOTH("DepthToSpace", 1, depth_space, qn_onnx_write_depth_space, 0, FIRST,
		     QN_OP_depth_to_space),
	QN_ONNX_BOTH("SpaceToDepth", 1, depth_space, qn_onnx_write_depth_space, 0, FIRST,
		     QN_OP_space_to_depth),
	{0},
};
