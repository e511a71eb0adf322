/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_weights.c - weights of a product as signed 8-bit values without zero points.
 *
 *   u8 zero point 128: 3, 250                ->    i8: -125, 122
 *   u8 zero point 20: 3, 250                 ->    i8: -17, 0 and 127, 103       data x twice, concatenated
 *
 * A quantized value less its zero point has up to 9 bits.  What does not fit is the sum of several weights,
 * and the data is repeated as often, which is exact. */
#include "ir/clamp.h"
#include "passes/requantize.h"

enum { MOST_PARTS = 3 }; /* 255 = 127 + 127 + 1 */

static bool
is_symmetric(const qn_types *t, const qn_elem *e)
{
	double scale;
	int64_t zp;

	for (size_t k = 0; k < qn_elem_nparams(e); k++) {
		qn_elem_param(t, e, k, &scale, &zp);
		if (zp != 0)
			return false;
	}
	return e->is_signed;
}

/* i8 with the scales of e, and no zero points; NULL: there is none. */
static const qn_elem *
symmetric_elem(qn_types *t, const qn_elem *e)
{
	size_t n = qn_elem_nparams(e);
	qn_elem d = qn_elem_desc(8, true);
	const qn_params *vec = NULL;
	const qn_elem *out = NULL;

	d.expressed = e->expressed;
	d.gran = e->gran;
	d.naxis = e->naxis;
	d.axis = e->axis;
	d.scale = e->scale;
	if (e->gran == QN_PER_AXIS) {
		double *scale = QN_NEW(t->arena, double, n);
		int64_t zp;

		for (size_t k = 0; k < n; k++)
			qn_elem_param(t, e, k, &scale[k], &zp);
		if (qn_params_intern(t, "weights", NULL, n, 1, NULL, scale, NULL, &vec) != QN_OK)
			return NULL;
		d.scale = qn_scale_vec(t, vec);
	}
	return qn_elem_make(t, "weights", &d, &out) == QN_OK ? out : NULL;
}

/* Element i of constant w, quantized, less its zero point; idx: its indices. */
static int64_t
centred(const qn_types *t, const qn_node *w, int64_t i, const int64_t *idx)
{
	const qn_elem *e = w->type->elem;
	double scale;
	int64_t zp;

	qn_elem_param(t, e, e->gran == QN_PER_TENSOR ? 0 : qn_type_param_index(w->type, idx),
		      &scale, &zp);
	return qn_tensor_i64(w->value, i) - zp;
}

/* The part of the rest that fits i8; what is left stays in rest. */
static int64_t
take_part(int64_t *rest)
{
	int64_t part = qn_clamp_i64(*rest, -128, 127);

	*rest -= part;
	return part;
}

/* Writes the parts of all weights, [O,…,I] -> [O,…,parts * I]; data NULL: only counts how many are needed. */
static int32_t
split(const qn_types *t, const qn_node *w, int32_t parts, void *data)
{
	const qn_type *type = w->type;
	int64_t idx[QN_MAX_RANK] = {0}, inner = type->dim[type->rank - 1];
	int32_t most = 1;

	for (int64_t i = 0; i < qn_type_count(type); i++) {
		int64_t rest = centred(t, w, i, idx);
		int32_t n = 0;

		do {
			int64_t part = take_part(&rest);

			if (data != NULL)
				qn_store_i64(data, QN_PLAIN_i8,
					     i / inner * inner * parts + n * inner + i % inner,
					     part);
			n++;
		} while (rest != 0 || (data != NULL && n < parts));
		most = n > most ? n : most;
		for (int32_t k = type->rank - 1; k >= 0 && ++idx[k] == type->dim[k]; k--)
			idx[k] = 0;
	}
	return most;
}

/* Over how many groups of channels the product sums along the last axes of data and weights; 0: not so. */
static int64_t
groups_of(const qn_node *n)
{
	switch ((int)(n != NULL ? n->op : QN_OP_matmul)) {
	case QN_OP_dense:
		return 1;
	case QN_OP_conv1d:
		return n->attr->conv1d.groups;
	case QN_OP_conv2d:
		return n->attr->conv2d.groups;
	case QN_OP_conv3d:
		return n->attr->conv3d.groups;
	case QN_OP_conv2d_transpose:
		return n->attr->conv2d_transpose.groups;
	default:
		return 0;
	}
}

/* The channels of each group, repeated `parts` times. */
static qn_id
repeated(qn_rw *rw, qn_id x, int64_t groups, int32_t parts)
{
	const qn_type *type = qn_rw_node(rw, x)->type;
	const int32_t rank = type->rank;
	qn_attrs a = {.axis = {groups > 1 ? rank : rank - 1}}, apart = {0}, back = {0};

	if (groups > 1 && (rank == QN_MAX_RANK || qn_type_count(type) < 0))
		return 0;
	for (int32_t i = 0; i < rank; i++)
		apart.shape.shape.v[i] = back.shape.shape.v[i] = type->dim[i];
	apart.shape.shape.n = rank + 1;
	back.shape.shape.n = rank;
	if (groups > 1) {
		apart.shape.shape.v[rank - 1] = groups;
		apart.shape.shape.v[rank] = type->dim[rank - 1] / groups;
		back.shape.shape.v[rank - 1] = type->dim[rank - 1] * parts;
		x = qn_rw_add(rw, QN_OP_reshape, NULL, 1, &x, &apart, NULL);
	}
	if (x == 0)
		return 0;
	x = qn_rw_add(rw, QN_OP_concat, NULL, (uint32_t)parts, (qn_id[MOST_PARTS]){x, x, x}, &a,
		      NULL);
	return groups > 1 && x != 0 ? qn_rw_add(rw, QN_OP_reshape, NULL, 1, &x, &back, NULL) : x;
}

bool
qn_rqz_weights(qn_rw *rw, const qn_node *n, qn_id in[2])
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *w = qn_rw_node(rw, in[1]);
	const qn_type *type = w->type;
	int64_t dim[QN_MAX_RANK], groups = groups_of(n);
	void *data;

	if (is_symmetric(&m->types, type->elem))
		return true;
	if (w->op != QN_OP_const || type->elem->bits > 8 || type->rank < 1 ||
	    type->elem->gran == QN_SUB_CHANNEL)
		return false;
	const qn_elem *e = symmetric_elem(&m->types, type->elem);
	int32_t parts = split(&m->types, w, 1, NULL);
	if (e == NULL || parts > MOST_PARTS || (parts > 1 && groups == 0))
		return false;
	for (int32_t i = 0; i < type->rank; i++)
		dim[i] = type->dim[i] * (i == type->rank - 1 ? parts : 1);
	qn_tensor *to =
		qn_tensor_new(m->arena, qn_type_tensor(&m->types, e, type->rank, dim), &data);
	(void)split(&m->types, w, parts, data);
	in[1] = qn_rw_const(rw, qn_rw_name(rw, in[1]), to);
	if (parts > 1)
		in[0] = repeated(rw, in[0], groups, parts);
	return in[0] != 0 && in[1] != 0;
}
