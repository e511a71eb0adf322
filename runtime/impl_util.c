/* SPDX-License-Identifier: Apache-2.0 */
/* impl_util.c - checks and reports that the integer implementations share.
 *
 *   error int.unsupported: unsupported in integer arithmetic: add, node 'sum', only storage i8, u8 and i16
 *   error int.multiplier: requantize, node 'c1.rq': multiplier 1.1e+12 (input scale / output
 * scale) … */
#include "runtime/impl_util.h"

#include <stdarg.h>

#include "ir/diag.h"
#include "runtime/fixed.h"
#include "runtime/interp.h"

int64_t
qn_dim_product(const qn_type *type, int32_t from, int32_t to)
{
	int64_t n = 1;

	for (int32_t i = from; i < to; i++)
		n *= type->dim[i];
	return n;
}

const float *
qn_const_f32(const qn_graph *g, const qn_node *n, uint32_t i, qn_arena *a)
{
	const qn_node *from = qn_graph_node(g, n->in[i]);
	qn_tensor *values;

	if (!qn_type_is_f32(from->type))
		return NULL;
	if (from->op == QN_OP_const)
		return qn_tensor_as_f32(a, from->value);
	if (from->op != QN_OP_dequantize && from->op != QN_OP_cast)
		return NULL;
	const qn_node *stored = qn_graph_node(g, from->in[0]);
	if (stored->op != QN_OP_const || stored->value->layout != QN_LAYOUT_CANONICAL ||
	    qn_eval_node(g, from, &stored->value, a, &values) != QN_OK)
		return NULL;
	return values->data;
}

void *
qn_int_refuse(const qn_graph *g, const qn_node *n, const char *fmt, ...)
{
	qn_buf why;
	va_list args;

	qn_buf_init(&why, g->model->arena);
	va_start(args, fmt);
	qn_bufvf(&why, fmt, args);
	va_end(args);
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "int.unsupported", qn_node_place(g, n),
			"unsupported in integer arithmetic: %s, node '%s', %s",
			qn_opinfo_of(n)->name, n->name, qn_buf_str(&why));
	return NULL;
}

bool
qn_int_sizes(const qn_graph *g, const qn_node *n)
{
	size_t largest = qn_type_bytes(n->type);

	for (uint32_t i = 0; i < n->nin; i++) {
		size_t bytes = qn_type_bytes(qn_in_type(g, n, i));

		largest = bytes > largest ? bytes : largest;
	}
	if (largest <= INT32_MAX)
		return true;
	(void)qn_int_refuse(g, n, "a tensor of %zu bytes; kernels index with 32 bits, so split it",
			    largest);
	return false;
}

/* All zero points lie in [lo, hi]. */
static bool
zero_points_in(const qn_types *t, const qn_elem *e, int64_t lo, int64_t hi)
{
	size_t n = qn_elem_nparams(e);

	for (size_t i = 0; i < n; i++) {
		double scale = 0.0;
		int64_t zp = 0;

		qn_elem_param(t, e, i, &scale, &zp);
		if (zp < lo || zp > hi)
			return false;
	}
	return true;
}

/* The kernels rescale 64-bit accumulators below 2^47. */
static const qn_family_info families[QN_NFAMILY] = {
	[QN_FAMILY_s8] = {INT8_MIN, INT8_MAX, INT32_MAX},
	[QN_FAMILY_u8] = {0, UINT8_MAX, INT32_MAX},
	[QN_FAMILY_s16] = {INT16_MIN, INT16_MAX, (INT64_C(1) << 47) - 1},
};

const qn_family_info *
qn_family_get(qn_family f)
{
	return &families[f];
}

qn_family
qn_family_of(const qn_elem *e)
{
	if (e->kind != QN_ELEM_UNIFORM || (e->bits != 8 && e->bits != 16))
		return QN_NFAMILY;
	if (e->bits == 8)
		return e->is_signed ? QN_FAMILY_s8 : QN_FAMILY_u8;
	return e->is_signed ? QN_FAMILY_s16 : QN_NFAMILY;
}

/* Those of i16 are 0, as in TFLite. */
static bool
zero_points_ok(const qn_types *t, const qn_elem *e, qn_family f)
{
	if (f == QN_FAMILY_s16)
		return zero_points_in(t, e, 0, 0);
	return zero_points_in(t, e, families[f].least, families[f].most);
}

bool
qn_elem_in_family(const qn_types *t, const qn_elem *e)
{
	qn_family f = qn_family_of(e);

	return f != QN_NFAMILY && zero_points_ok(t, e, f);
}

bool
qn_elem_is_shifted(const qn_types *t, const qn_elem *e)
{
	const qn_family f = qn_family_of(e);

	return f != QN_NFAMILY && zero_points_in(t, e, families[f].least, families[f].most);
}

int64_t
qn_code_reach(const qn_graph *g, const qn_type *type)
{
	const qn_family_info *f = &families[qn_family_of(type->elem)];
	int64_t zp = qn_zp_of(g, type);

	return f->most - zp > zp - f->least ? f->most - zp : zp - f->least;
}

qn_family
qn_node_family(const qn_graph *g, const qn_node *n)
{
	return qn_family_of(qn_in_type(g, n, 0)->elem);
}

int64_t
qn_sum_terms(const qn_graph *g, const qn_node *n)
{
	return qn_node_family(g, n) == QN_FAMILY_s16 ? (1 << 16) - 1 : (1 << 23) - 1;
}

/* most: the granularity with the most scales that the op takes. */
static bool
need_quantized(const qn_graph *g, const qn_node *n, const qn_type *type, qn_gran most)
{
	qn_family f = qn_family_of(type->elem);

	if (f == QN_NFAMILY) {
		if (type->elem->kind == QN_ELEM_PLAIN)
			(void)qn_int_refuse(g, n,
					    "plain %s values, which are not quantized; compute "
					    "them outside of the graph or make them constant",
					    qn_plain_table[type->elem->plain].name);
		else
			(void)qn_int_refuse(g, n, "only storage i8, u8 and i16");
		return false;
	}
	if (!zero_points_ok(&g->model->types, type->elem, f)) {
		(void)qn_int_refuse(g, n,
				    f == QN_FAMILY_s16 ? "only zero point 0 in storage i16"
						       : "a zero point outside the storage");
		return false;
	}
	if (type->elem->gran > most) {
		(void)qn_int_refuse(g, n,
				    most == QN_PER_TENSOR
					    ? "only one scale per tensor"
					    : "only one scale per tensor or per index of an axis");
		return false;
	}
	if (qn_node_family(g, n) != f) {
		(void)qn_int_refuse(g, n, "operands of different storage types");
		return false;
	}
	return qn_int_sizes(g, n);
}

bool
qn_int_check_quantized(const qn_graph *g, const qn_node *n, const qn_type *type)
{
	return need_quantized(g, n, type, QN_PER_TENSOR);
}

bool
qn_int_need_channels(const qn_graph *g, const qn_node *n, const qn_type *type)
{
	return need_quantized(g, n, type, QN_PER_AXIS);
}

/* Signed quantized values of that many bits with zero point 0, or plain integers. */
static bool
is_wide(const qn_types *t, const qn_elem *e, int bits, qn_plain plain)
{
	if (e->kind == QN_ELEM_PLAIN)
		return e->plain == plain;
	return e->kind == QN_ELEM_UNIFORM && e->bits == bits && e->is_signed &&
	       zero_points_in(t, e, 0, 0);
}

bool
qn_elem_is_i32(const qn_types *t, const qn_elem *e)
{
	return is_wide(t, e, 32, QN_PLAIN_i32);
}

bool
qn_elem_is_acc(const qn_types *t, const qn_elem *e, qn_family family)
{
	return family == QN_FAMILY_s16 ? is_wide(t, e, 64, QN_PLAIN_i64) : qn_elem_is_i32(t, e);
}

double
qn_scale_of(const qn_graph *g, const qn_type *type)
{
	double scale = 1.0;
	int64_t zp = 0;

	qn_elem_param(&g->model->types, type->elem, 0, &scale, &zp);
	return scale;
}

int32_t
qn_zp_of(const qn_graph *g, const qn_type *type)
{
	double scale = 1.0;
	int64_t zp = 0;

	qn_elem_param(&g->model->types, type->elem, 0, &scale, &zp);
	return (int32_t)zp;
}

static bool
refuse_multiplier(const qn_graph *g, const qn_node *n, const char *what, double M,
		  const char *limit)
{
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "int.multiplier", qn_node_place(g, n),
			"%s, node '%s': the multiplier %g (%s) must be %s; the scales around this "
			"node differ too much, recalibrate them",
			qn_opinfo_of(n)->name, n->name, M, what, limit);
	return false;
}

bool
qn_int_multiplier(const qn_graph *g, const qn_node *n, const char *what, double M, int32_t *m,
		  int32_t *s)
{
	if (qn_multiplier(M, g->model->rounding, m, s))
		return true;
	return refuse_multiplier(g, n, what, M, "finite and below 2^30");
}

bool
qn_int_multiplier_below_one(const qn_graph *g, const qn_node *n, const char *what, double M,
			    int32_t *m, int32_t *s)
{
	if (qn_multiplier(M, g->model->rounding, m, s) && *s <= 0)
		return true;
	return refuse_multiplier(g, n, what, M, "below 1");
}
