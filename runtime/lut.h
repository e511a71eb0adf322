/* SPDX-License-Identifier: Apache-2.0 */
/* lut.h - the integer implementation of a function of one value: a table of all results.
 *
 *   lut[q] = clamp(round_half_away(f(s_in * (q - z_in)) / s_out) + z_out); where f is NaN (log of a
 *            negative value), the zero point; where it is infinite (log of 0), in a model that Quern quantized, f
 *            1/4 step away, on the side where it has results
 *
 * For 16 bits the table has points with straight lines between them (lut_lines.h).  Given entries of 16 bits are
 * those of every 128th value, as TFLite's tables have them. */
#ifndef QN_RUNTIME_LUT_H
#define QN_RUNTIME_LUT_H

#include "runtime/impl_util.h"
#include "runtime/lut_lines.h"

enum { QN_LUT_LINES = 512 }; /* between the given entries of a table for 16 bits */

typedef double qn_lut_fn(const void *user, double x);

/* What becomes the arguments of qn_lut_…, qn_lut_lines_s16, qn_sigmoid_s16 or qn_tanh_s16. */
typedef struct qn_lut {
	int32_t n; /* elements */
	union {
		struct {
			int32_t m, sh;
		};
		int32_t points; /* of lines */
	};
	const void
		*table; /* 256 entries; QN_LUT_LINES + 1 given ones of 16 bits; points of lines */
	qn_plain plain; /* of an entry */
	const uint16_t *part; /* of lines; else NULL */
} qn_lut;

/* For node n, whose input 0 and result are quantized in one family; f is called for each entry.  NULL after a
 * report. */
qn_lut *qn_lut_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, qn_lut_fn *f,
		       const void *user);
/* The same with given entries of the result's type, in the order of qn_lut_…'s table. */
qn_lut *qn_lut_from_entries(const qn_node *n, qn_arena *a, const qn_tensor *entries);
/* TFLite's sigmoid or tanh of i16, NULL (without a report) when the types are not those of its kernel: i16,
 * result in 1/32768, input scale of at most 5. */
qn_lut *qn_lut_curve(const qn_graph *g, const qn_node *n, qn_arena *a);

/* f at x, where it is infinite and which stands for all that was rounded to it, log of 0, 1/sqrt of 0: if f has results on
 * one side alone, that in the middle of what was rounded from there, 1/4 step away.  has_below: values below x exist. */
double qn_lut_beside_pole(qn_lut_fn *f, const void *user, double x, double step, bool has_below);

void qn_lut_run(const qn_eval *e, const void *lut);

#endif
