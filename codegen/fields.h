/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - the fields of a kernel's argument struct, read from the struct's own text.
 *
 *   typedef struct qn_dense_args {
 *           int32_t batch, in, out;                a line of integers: one line of emitted C,
 *           int32_t zi, zw; / * zero points * /      1, 64, 10, / * batch, in, out * /
 *           const int8_t *w;                       pointers to constants, a line each
 *           const int32_t *mult, *shift;
 *   } qn_dense_args;
 *
 * The convention: lines of int32_t, single values or arrays, come first, then pointers to constant
 * elements of one type.  So the integers of a struct are an array of int32_t at its beginning. */
#ifndef QN_CODEGEN_FIELDS_H
#define QN_CODEGEN_FIELDS_H

#include "codegen/kernel_text.h"
#include "ir/type.h"

typedef struct qn_field {
	const char *name;
	uint32_t length; /* elements of an array; 0: a single value */
	bool ends_line;  /* the last one of its declaration */
	qn_plain type;   /* of an integer i32, of a pointer that of its elements */
} qn_field;

typedef struct qn_fields {
	qn_field *item;    /* in the order of the declaration */
	size_t nint, n;    /* the first nint are integers, the others pointers */
	const char *wrong; /* where the text breaks the convention, and how; NULL: nowhere */
} qn_fields;

/* The fields of struct `name`, which the text declares. */
qn_fields qn_fields_read(const char *text, const char *name, qn_arena *a);

#endif
