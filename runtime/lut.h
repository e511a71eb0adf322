/* SPDX-License-Identifier: Apache-2.0 */
/* lut.h - the integer form of a function of one value: a table of the results of all codes.
 *
 *   lut[q] = clamp(round_half_away(f(s_in * (q - z_in)) / s_out) + z_out); where f is NaN (log of a
 *            negative code), the zero point */
#ifndef QN_RUNTIME_LUT_H
#define QN_RUNTIME_LUT_H

#include "runtime/form_util.h"
#include "runtime/kernels/unary.h"

typedef double qn_lut_fn(const void *user, double x);

/* The arguments of qn_lut_s8 for node n, whose input 0 and result are codes; f is called once for each
 * code.  NULL after a report. */
qn_lut_args *qn_lut_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, qn_lut_fn *f,
			    const void *user);

#endif
