/* SPDX-License-Identifier: Apache-2.0 */
/* strips.h - a pool or convolution computed with the step before it, of whose result only as many rows are in memory as
 * a window of the second one has.  The first one is a convolution, or a step whose results depend on one element each,
 * such as a change of storage.  A step of this kind between a convolution and its reader is computed on these rows, in
 * their memory, also where its elements are smaller. */
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

/* How a step makes rows of its result from those of its operand: as windows, an element-wise step each from the same. */
typedef struct qn_maker {
	int32_t batch;
	int32_t in_h, in_row, out_h, out_row; /* rows, and elements of each */
	int32_t stride, reach, pad;
	bool element_wise;
} qn_maker;

enum { QN_STRIP_PARTS = 3 };

/* The steps that such a step is, as they would be alone, and where the rows lie. */
typedef struct qn_strip_of {
	const qn_step *maker, *reader;
	const qn_step *between; /* its result is what the reader reads; NULL: that of maker is */
	qn_maker made;
	/* of the int32_t that the arguments of the element-wise step, the one between or the maker, begin with, the one that
	 * counts, and what it counts in a row */
	uint32_t count;
	int32_t each;
	qn_windows windows; /* of the reader */
	int32_t rows;       /* of what the reader reads that are in memory */
	size_t row_bytes;   /* of each */
	size_t rows_bytes;  /* of all, as the maker leaves them, whose elements may be larger */
	/* where in the step's working memory the rows lie, and what the reader's kernel wants */
	size_t at, reader_at;
} qn_strip_of;

/* Those steps in order, how many; of a step that is not joined the step itself. */
size_t qn_strip_parts(const qn_step *s, const qn_step *part[QN_STRIP_PARTS]);

/* Joins pools and convolutions to the steps of their operands, where that can be done.  join: by core node of a step, how
 * many rows of what reads its result are made at once, 0: it is not joined; NULL: all are, with one row at a time.
 * Steps before kernels are placed. */
void qn_strips_join(qn_plan *p, const int32_t *join, qn_arena *a);

/* A step that can be joined. */
typedef struct qn_joinable {
	int32_t most; /* rows of the reader's result; 0: it cannot be joined */
	bool pool;    /* the reader is one */
	qn_id read;   /* the value that the reader reads: of this step, or of the one between */
} qn_joinable;

/* Sets *out by core node of steps that can be joined; how many are such.  convolutions: readers may be such, too. */
size_t qn_strips_find(const qn_plan *p, bool convolutions, qn_joinable *out, qn_arena *a);

/* Joins those steps of the plan for which the activation arena gets smaller (strips_choose.c); *p is then another plan
 * in a. */
qn_status qn_strips_choose(qn_plan **p, const qn_plan_opts *o, qn_arena *a) QN_MUST_CHECK;

#endif
