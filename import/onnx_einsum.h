/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_einsum.h - an equation of Einsum, read: which letter each axis has. */
#ifndef QN_IMPORT_ONNX_EINSUM_H
#define QN_IMPORT_ONNX_EINSUM_H

#include <string.h>

#include "import/onnx.h"

/* A value whose axis k has the letter axis[k].  Axes of "..." are capital letters counted from the last one,
 * from the end of the alphabet on: 'Z' is the last. */
typedef struct qn_einsum_term {
	qn_id id;
	int32_t rank;
	char axis[QN_MAX_RANK + 1];
} qn_einsum_term;

typedef struct qn_einsum {
	const char *operand[QN_MAX_RANK];
	size_t length[QN_MAX_RANK];
	size_t n;
	char result[QN_MAX_RANK + 1];
} qn_einsum;

static inline bool
qn_einsum_has(const char *letters, char c)
{
	return c != '\0' && strchr(letters, c) != NULL;
}

/* The equation and the letters of the inputs, t[0] …; false after a report (import.attr). */
bool qn_einsum_read(qn_onnx *o, const qn_onnx_node *n, qn_einsum *e, qn_einsum_term *t);

#endif
