/* SPDX-License-Identifier: Apache-2.0 */
/* strips.h - a pool or convolution computed with the convolution before it, of whose result only as many rows are
 * in memory as a window of the second one has. */
#ifndef QN_CODEGEN_STRIPS_H
#define QN_CODEGEN_STRIPS_H

#include "codegen/emit.h"

/* The rows of its operand that a step wants for row i of its result: those of [i stride - pad, i stride - pad + reach)
 * that are in the operand. */
typedef struct qn_windows {
	int32_t stride, pad, reach;
	int32_t n;        /* rows of the result */
	int32_t elements; /* of each */
	int32_t at_once;  /* rows that are made at once, of the last ones fewer */
} qn_windows;

/* The two steps that such a step is, as they would be alone, and where the rows lie. */
typedef struct qn_strip_of {
	const qn_step *conv, *reader;
	qn_windows windows; /* of the reader */
	int32_t rows;       /* of the convolution's result that are in memory */
	size_t row_bytes;   /* of each */
	/* where in the step's working memory the rows lie, and what the reader's kernel wants */
	size_t at, reader_at;
} qn_strip_of;

/* Joins pools and convolutions to the steps of their operands, where that can be done.  join: by core node of a step, how
 * many rows of what reads its result are made at once, 0: it is not joined; NULL: all are, with one row at a time.
 * Steps before kernels are placed. */
void qn_strips_join(qn_plan *p, const int32_t *join, qn_arena *a);

/* By core node of steps that can be joined: how many rows the reader's result has, into *most, and whether it is a
 * pool, into *pool; how many steps are such.  convolutions: readers may be such, too. */
size_t qn_strips_find(const qn_plan *p, bool convolutions, int32_t *most, bool *pool, qn_arena *a);

/* Joins those steps of the plan for which the activation arena gets smaller (strips_choose.c); *p is then another plan
 * in a. */
qn_status qn_strips_choose(qn_plan **p, const qn_plan_opts *o, qn_arena *a) QN_MUST_CHECK;

#endif
