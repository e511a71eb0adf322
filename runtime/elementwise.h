/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.h - what ops of two operands that are broadcast share.
 *
 *   x [2,3]  y [2,1]    two runs of three: run(x, 1, y, 0, z, 3), run(x + 3, 1, y + 1, 0, z + 3, 3)
 *
 * A small operand that repeats is written out first, so that runs are long and without gaps. */
#ifndef QN_RUNTIME_ELEMENTWISE_H
#define QN_RUNTIME_ELEMENTWISE_H

#include "runtime/impl_util.h"

/* n elements of f32; the strides are 0 or more.  z: elements of the result's type.  simd: the
 * machine's vector functions, for those that have one. */
typedef void qn_run_fn(const qn_simd *simd, const float *x, int64_t xs, const float *y, int64_t ys,
		       void *z, int64_t n);

/* All runs of two operands. */
void qn_each_run(const qn_eval *e, qn_run_fn *run);

/* NAME_real, a float implementation: out[i] is `value`, of type T, of the operands' elements a and b; `vector`
 * does the same for n elements of x and y without gaps. */
#define QN_EACH_RUN(name, T, value, vector)                                                        \
	static void name##_run(const qn_simd *simd, const float *x, int64_t xs, const float *y,    \
			       int64_t ys, void *z, int64_t n)                                     \
	{                                                                                          \
		T *out = z;                                                                        \
                                                                                                   \
		(void)simd;                                                                        \
		if (xs == 1 && ys == 1) {                                                          \
			vector;                                                                    \
			return;                                                                    \
		}                                                                                  \
		for (int64_t i = 0; i < n; i++) {                                                  \
			float a = x[i * xs], b = y[i * ys];                                        \
			out[i] = (T)(value);                                                       \
		}                                                                                  \
	}                                                                                          \
	static void name##_real(const qn_eval *e)                                                  \
	{                                                                                          \
		qn_each_run(e, name##_run);                                                        \
	}
/* A `vector` for what has no vector function; the compiler makes one for the baseline. */
#define QN_PLAIN_RUN(T, value)                                                                     \
	for (int64_t i = 0; i < n; i++) {                                                          \
		float a = x[i], b = y[i];                                                          \
		out[i] = (T)(value);                                                               \
	}

/* Checks the operands' types and sizes; the merged axes go to the end of the kernel's four. */
bool qn_elementwise_shape(const qn_graph *g, const qn_node *n, int32_t dim[4], int32_t xs[4],
			  int32_t ys[4]) QN_MUST_CHECK;

/* The same without a look at the types. */
bool qn_int_broadcast(const qn_graph *g, const qn_node *n, int32_t dim[4], int32_t xs[4],
		      int32_t ys[4]) QN_MUST_CHECK;

/* Scales, zero points and range of two quantized operands and a quantized result. */
typedef struct qn_two_params {
	double sx, sy, so;
	int32_t zx, zy, zo, lo, hi;
} qn_two_params;

/* Checks the types and sizes, and looks the parameters up. */
bool qn_two_params_get(const qn_graph *g, const qn_node *n, int32_t dim[4], int32_t xs[4],
		       int32_t ys[4], qn_two_params *p) QN_MUST_CHECK;
/* The same, and sets the fields with which the argument structs of these kernels begin. */
#define QN_TWO_PARAMS_SET(g, n, d, p)                                                              \
	(qn_two_params_get(g, n, (d)->dim, (d)->xs, (d)->ys, &(p)) &&                              \
	 ((d)->zx = (p).zx, (d)->zy = (p).zy, (d)->zo = (p).zo, (d)->lo = (p).lo,                  \
	  (d)->hi = (p).hi, true))

/* Bits of headroom that an addition adds to its quantized operands: 20 for 8 bits, 15 for 16. */
int32_t qn_headroom(const qn_graph *g, const qn_node *n);

#endif
