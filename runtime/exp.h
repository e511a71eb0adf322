/* SPDX-License-Identifier: Apache-2.0 */
/* exp.h - the exponential function with the same bits on every host, which no libm promises. */
#ifndef QN_RUNTIME_EXP_H
#define QN_RUNTIME_EXP_H

/* e^x, off by less than one unit in the last place (two where the result is subnormal).  0 for x
 * below
 * -745.2, infinity above 709.8; a NaN stays one. */
double qn_exp(double x);
/* e^(x + rest), where rest is below a unit in the last place of x: for exponents that were
 * computed in two parts. */
double qn_exp_pair(double x, double rest);

#endif
