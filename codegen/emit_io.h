/* SPDX-License-Identifier: Apache-2.0 */
/* emit_io.h - what the files of NAME_io.h share: an input or output whose values are converted, and the
 * walk over its elements.
 *
 *   for (i0 = 0; i0 < 2; i0++) {                   before the axis
 *           for (i1 = 0; i1 < 8; i1++) {           the axis that has parameters
 *                   for (i2 = 0; i2 < 3; i2++, at++) {      after it
 *                           k = i1;
 *                           …
 *                   }
 *           }
 *   } */
#ifndef QN_CODEGEN_EMIT_IO_H
#define QN_CODEGEN_EMIT_IO_H

#include "codegen/emitter.h"

typedef struct qn_io {
	const qn_emitter *e;
	qn_port port;
	bool to_quantized;
	bool open;   /* its shape is given at run time */
	bool single; /* arithmetic in f32, else in double */
	bool narrow; /* storage of at most 16 bits, whose differences float holds exactly */
	size_t n;    /* parameters */
	bool zeros;  /* zero points differ: a table */
	int64_t zp;  /* the one of all */
	int32_t naxis;
	int32_t axis[QN_MAX_RANK];
	int64_t length[QN_MAX_RANK]; /* parameters along it */
	int64_t block[QN_MAX_RANK];
	const char *real; /* the C type of float values */
} qn_io;

/* Sets the axes that have parameters, from the type. */
void qn_io_find_axes(qn_io *p);

/* The index of a parameter at the loops' indices: (i1 / 2) * 3 + i3. */
void qn_io_index(const qn_io *p, qn_buf *b);
/* The heads of the loops, and their ends. */
void qn_io_loops(const qn_io *p, qn_buf *b);
void qn_io_ends(const qn_io *p, qn_buf *b);
/* Of an open shape: the statements that check rank and dim[] against the type and set n0, n1, …, the lengths of
 * the loops. */
void qn_io_shape_check(const qn_io *p, qn_buf *b);

#endif
