/* SPDX-License-Identifier: Apache-2.0 */
/* impl_util.h - one op's row in the table of implementations, and what the families share.
 *
 *   const qn_impl qn_impl_relu = {
 *       .real = relu_real,                                  f32 in, f32 out
 *       .quantized = {.prepare = clamp_prepare, .run = clamp_run},
 *   };
 *
 * A family file defines one such constant for each of its ops; impls.c collects them by the names
 * in ir/ops.def, so the linker names one that is missing. */
#ifndef QN_RUNTIME_IMPL_UTIL_H
#define QN_RUNTIME_IMPL_UTIL_H

#include "runtime/family.h"
#include "runtime/impls.h"
#include "runtime/simd.h"

typedef struct qn_impl {
	qn_float_fn *real; /* NULL: none */
	/* Why the float implementation cannot run this node, in a few words; NULL when it can.  Optional. */
	const char *(*refuse)(const qn_graph *g, const qn_node *n);
	/* Buffers and packed weights of `real`, for qn_eval.plan; *room: bytes that all packed
	 * weights of an interpreter may still take.  Optional. */
	void *(*plan)(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room);
	/* For operands and results of plain types that are not all f32, one batch at a time; arithmetic
	 * on integers wraps around in their width.  NULL: none. */
	qn_float_fn *plain;
	bool bundle;           /* `real` supports qn_eval.batches */
	uint32_t indices;      /* bit i: input i holds indices, always plain integers */
	qn_int_impl quantized; /* prepare NULL: none */
} qn_impl;

#define OP(name, min_in, max_in, attributes, behaviour, family) extern const qn_impl qn_impl_##name;
#include "ir/ops.def"

/* Why the node's float implementation, which the op must have, cannot run; NULL when it can. */
const char *qn_impl_refusal(const qn_graph *g, const qn_node *n);
/* The float implementation's plan, NULL when it has none. */
void *qn_impl_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room);

/* Data of operand i when it is an f32 constant, or the dequantize or cast of a constant; else NULL. */
const float *qn_const_f32(const qn_graph *g, const qn_node *n, uint32_t i, qn_arena *a);

/* The inner loops that the context allows. */
static inline const qn_simd *
qn_simd_of(const qn_eval *e)
{
	return qn_simd_get(e->g->model->env->simd);
}

static inline const qn_type *
qn_in_type(const qn_graph *g, const qn_node *n, uint32_t i)
{
	return qn_graph_node(g, n->in[i])->type;
}

/* Elements of a static tensor type; 1 for a scalar. */
static inline int64_t
qn_static_count(const qn_type *type)
{
	int64_t n = qn_type_count(type);

	return n < 0 ? 0 : n;
}

/* Elements of the result, of all batches. */
static inline int64_t
qn_result_count(const qn_eval *e)
{
	return qn_static_count(e->n->type) * e->batches;
}

/* Product of dim[from] .. dim[to - 1]. */
int64_t qn_dim_product(const qn_type *type, int32_t from, int32_t to);

/* Index of the axis from the front; axes < 0 count from the end. */
static inline int32_t
qn_axis_of(const qn_type *type, int64_t axis)
{
	return (int32_t)(axis < 0 ? axis + type->rank : axis);
}

/* Reports int.unsupported for the node, with the reason, and returns NULL. */
void *qn_int_refuse(const qn_graph *g, const qn_node *n, const char *fmt, ...) QN_PRINTF(3, 4);

/* True when all operands and the result have fewer than 2^31 bytes, as the kernels' 32-bit indices
 * require; else reports. */
bool qn_int_sizes(const qn_graph *g, const qn_node *n) QN_MUST_CHECK;

/* Storage of a family with zero points that its kernels take, whatever the granularity. */
bool qn_elem_in_family(const qn_types *t, const qn_elem *e);
/* The same, or i16 with a zero point, which requantize alone takes: at the ports of a graph. */
bool qn_elem_is_shifted(const qn_types *t, const qn_elem *e);
/* 32-bit signed quantized values with zero point 0 (accumulators, biases), or plain i32. */
bool qn_elem_is_i32(const qn_types *t, const qn_elem *e);
/* Accumulators and biases of a family: 32-bit ones, for s16 64-bit ones. */
bool qn_elem_is_acc(const qn_types *t, const qn_elem *e, qn_family family);

/* Scale and zero point of a type with one scale. */
double qn_scale_of(const qn_graph *g, const qn_type *type);
int32_t qn_zp_of(const qn_graph *g, const qn_type *type);

/* The multiplier of M in the model's rounding; reports int.multiplier with M and what it is of. */
bool qn_int_multiplier(const qn_graph *g, const qn_node *n, const char *what, double M, int32_t *m,
		       int32_t *s) QN_MUST_CHECK;
/* The same for a multiplier that must be below one (shift <= 0). */
bool qn_int_multiplier_below_one(const qn_graph *g, const qn_node *n, const char *what, double M,
				 int32_t *m, int32_t *s) QN_MUST_CHECK;

/* m * 2^(s-31) without a look at the limits of s: TFLite's QuantizeMultiplier. M >= 0, finite. */
void qn_multiplier_split(double M, int32_t *m, int32_t *s);

/* Divides a multiplier by n >= 1, keeping as many bits as the shift's range allows (TFLite Mean). */
void qn_multiplier_divide(int64_t n, int32_t *m, int32_t *s);

#endif
