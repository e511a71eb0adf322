/* SPDX-License-Identifier: Apache-2.0 */
/* importer_steps.h - operators that compute the same in each step of a sequence, as a loop (ir/loops.h); of one
 * step, without.
 *
 *   qn_importer_steps s;
 *   qn_importer_steps_begin(im, 28, &s);
 *   qn_id x = qn_importer_steps_slice(&s, xs, 1, false);       [1,28,8] -> [1,8]
 *   qn_id h = qn_importer_steps_carry(&s, h0);
 *   qn_id next = f(x, h);
 *   if (!qn_importer_steps_end(&s, 1, &next))
 *           return 0;                                          reported
 *   qn_id all = qn_importer_steps_stack(&s, next, 1, false); */
#ifndef QN_IMPORT_IMPORTER_STEPS_H
#define QN_IMPORT_IMPORTER_STEPS_H

#include "import/importer.h"

typedef struct qn_importer_steps {
	qn_importer *im;
	int64_t count, ncarry;
	qn_id number, end; /* of the loop; 0 for one step */
	qn_id outer;       /* the number of the loop around it, 0: none */
} qn_importer_steps;

/* count >= 1. */
void qn_importer_steps_begin(qn_importer *im, int64_t count, qn_importer_steps *s);
/* What the step reads of x along an axis counted from the front, counted from its end with reverse. */
qn_id qn_importer_steps_slice(qn_importer_steps *s, qn_id x, int32_t axis, bool reverse);
/* What is carried from step to step, beginning with this value. */
qn_id qn_importer_steps_carry(qn_importer_steps *s, qn_id first);
/* The values that are carried on, one for each call of qn_importer_steps_carry, in their order; false after a
 * report.  Then what is left of the steps: all values along a new axis, or the last one. */
bool qn_importer_steps_end(qn_importer_steps *s, uint32_t n, const qn_id *next);
qn_id qn_importer_steps_stack(qn_importer_steps *s, qn_id x, int32_t axis, bool reverse);
qn_id qn_importer_steps_last(qn_importer_steps *s, qn_id x);

/* A constant of zeros; of quantized values with one scale, their zero point. */
qn_id qn_importer_zeros(qn_importer *im, const qn_elem *e, int32_t rank, const int64_t *dim);

#endif
