/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rounding.h - which integers stand for the weights of an output, so that its values change least.
 *
 * With H the mean of x x^T over the patches x that the weights are multiplied with, and e = w - q * step,
 *
 *   mean of (e . x)^2  =  e^T H e
 *
 * is what rounding costs.  To the nearest, q is best where H is diagonal.  Otherwise one weight is rounded
 * after the other, and its error is compensated by those that are not rounded yet: with H = R^T R, R upper
 * triangular, from the last weight on
 *
 *   q[i] = round((w[i] + sum over j > i of R[i][j] * e[j] / R[i][i]) / step[i])
 *
 * (Babai's nearest plane, which is GPTQ's arithmetic in the opposite order: Frantar et al., 2022, and Chen
 * et al., 2025).  Weights that are multiplied with the largest values are rounded first.  Then, on
 * request, single integers are changed while e^T H e falls (coordinate descent).  All in double, in a
 * fixed order: the same on every host. */
#ifndef QN_CALIBRATE_WEIGHT_ROUNDING_H
#define QN_CALIBRATE_WEIGHT_ROUNDING_H

#include "ir/arena.h"

typedef struct qn_rounder qn_rounder;

/* For patches of n taps.  h: n * n, symmetric, whose diagonal is damped here so that it has a root. */
qn_rounder *qn_rounder_new(size_t n, const double *h, qn_arena *a);

/* The same for another thread, in arena a; r must outlive it. */
qn_rounder *qn_rounder_share(const qn_rounder *r, qn_arena *a);

/* q: integers in lo … hi for the weights w (n of them) in units of step, > 0; descend: also by coordinate
 * descent.  Returns e^T H e.  Not for two threads at a time. */
double qn_round_weights(qn_rounder *r, const double *w, const double *step, double lo, double hi,
			bool descend, double *q);

/* e^T H e for any integers q. */
double qn_rounding_cost(const qn_rounder *r, const double *w, const double *step, const double *q);

#endif
