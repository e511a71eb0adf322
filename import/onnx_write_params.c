/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_params.c - scales, zero points and limits of quantized values in an ONNX file being made.
 *
 *   quantize(x) into i8<-127:127>     QuantizeLinear(Clip(x, -127 * scale), scale, zero point) */
#include "import/onnx_write.h"

/* Wider than 16 bits: a sum that is not stored. */
bool
qn_onnx_out_is_sum(const qn_elem *e)
{
	return qn_elem_is_quant(e) && e->bits > 16;
}

bool
qn_onnx_out_has_storage(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM &&
	       (e->bits == 2 || e->bits == 4 || e->bits == 8 || e->bits == 16 || e->bits == 32);
}

/* ---- parameters ---- */

typedef struct params {
	const qn_elem *elem;
	const char *scale, *zp; /* zp NULL: there is none, for sums */
} params;

/* Those of a type; false after a report. */
static bool
parameters(qn_onnx_out *o, const qn_node *n, const qn_elem *e, params *p)
{
	size_t count = qn_elem_nparams(e);
	int64_t len = (int64_t)count, z;
	double *s = QN_NEW(o->a, double, count);
	bool vector = e->gran == QN_PER_AXIS;
	qn_types *types = &o->m->types;
	void *data;

	if (e->gran == QN_SUB_CHANNEL && qn_onnx_out_has_storage(e)) {
		(void)qn_onnx_out_refuse(o, n,
					 "its type has blocks, which only constants may have");
		return false;
	}
	if (!qn_onnx_out_has_storage(e)) {
		(void)qn_onnx_out_refuse(o, n,
					 "its storage type does not have 2, 4, 8, 16 or 32 bits");
		return false;
	}
	qn_tensor *zps =
		qn_tensor_new(o->a, qn_type_plain(types, e->plain, vector ? 1 : 0, &len), &data);
	for (size_t k = 0; k < count; k++) {
		qn_elem_param(types, e, k, &s[k], &z);
		qn_store_i64(data, e->plain, (int64_t)k, z);
	}
	const char *base = qn_onnx_out_base(o, n);
	p->elem = e;
	p->scale = qn_onnx_out_f32s(o, qn_onnx_out_named(o, base, "scale"), vector ? 1 : 0, len, s);
	p->zp = qn_onnx_out_is_sum(e)
			? NULL
			: qn_onnx_out_tensor(o, qn_onnx_out_named(o, base, "zero_point"), zps);
	return true;
}

/* Those of n's value, which are written once; NULL after a report. */
static const params *
params_of(qn_onnx_out *o, const qn_node *n, const qn_elem *e)
{
	params *p = qn_map_gets(&o->params, qn_onnx_out_base(o, n));

	if (p != NULL && p->elem == e)
		return p;
	p = QN_NEW(o->a, params, 1);
	if (!parameters(o, n, e, p))
		return NULL;
	qn_map_puts(&o->params, qn_onnx_out_base(o, n), p);
	return p;
}

/* A limit for each channel, shaped to lie along its axis of n. */
static const char *
limits(qn_onnx_out *o, const qn_node *n, const qn_elem *e, int64_t code)
{
	const bool vector = e->gran == QN_PER_AXIS;
	const int32_t rank = vector ? n->type->rank - e->axis[0] : 0;
	const size_t count = qn_elem_nparams(e);
	int64_t dim[QN_MAX_RANK] = {(int64_t)count};
	void *data;

	for (int32_t i = 1; i < rank; i++)
		dim[i] = 1;
	qn_tensor *x =
		qn_tensor_new(o->a, qn_type_plain(&o->m->types, QN_PLAIN_f32, rank, dim), &data);
	for (size_t k = 0; k < count; k++) {
		double scale;
		int64_t zp;

		qn_elem_param(&o->m->types, e, k, &scale, &zp);
		qn_store_f64(data, QN_PLAIN_f32, (int64_t)k, (double)(code - zp) * scale);
	}
	return qn_onnx_out_tensor(o, "limit", x);
}

const char *
qn_onnx_out_limited(qn_onnx_out *o, const qn_node *n, const char *x, const qn_elem *e, int64_t lo,
		    int64_t hi)
{
	const qn_plain_info *p = &qn_plain_table[e->plain];
	const int64_t top = (INT64_C(1) << (p->bits - (p->is_signed ? 1 : 0))) - 1;
	const int64_t bottom = p->is_signed ? -top - 1 : 0;

	lo = lo > e->qmin ? lo : e->qmin;
	hi = hi < e->qmax ? hi : e->qmax;
	const char *in[3] = {x, lo > bottom ? limits(o, n, e, lo) : NULL,
			     hi < top ? limits(o, n, e, hi) : NULL};
	if (x == NULL || (in[1] == NULL && in[2] == NULL))
		return x;
	if (e->gran != QN_PER_AXIS)
		return qn_onnx_out_node(o, "Clip", n->name, 3, in);
	if (in[1] != NULL)
		in[0] = qn_onnx_out_node(o, "Max", n->name, 2, in);
	return in[2] != NULL
		       ? qn_onnx_out_node(o, "Min", n->name, 2, (const char *[]){in[0], in[2]})
		       : in[0];
}

const char *
qn_onnx_out_convert(qn_onnx_out *o, const qn_node *n, const qn_elem *e, const char *op,
		    const char *name, const char *x)
{
	const params *p = x != NULL ? params_of(o, n, e) : NULL;

	if (p == NULL)
		return NULL;
	const char *in[3] = {x, p->scale, p->zp};
	const char *y = qn_onnx_out_node(o, op, name, 3, in);
	if (e->gran == QN_PER_AXIS)
		qn_onnx_out_int(o, "axis", e->axis[0]);
	return y;
}
