/* SPDX-License-Identifier: Apache-2.0 */
/* flexbuffer.h - the options of a custom operator of TFLite, a map in FlexBuffers' form, read where it lies.
 *
 *   {"alpha": 0.5, "steps": 3, "mode": "sum", "pads": [1, 1]}
 *
 *   bytes   …, root value, u8 its type, u8 its width          width: bytes of a number or an offset, 1, 2, 4 or 8
 *   type    kind << 2 | log2 of the width of what an offset leads to
 *   offset  distance back from where it stands
 *   map     offset of the keys, width of the keys, n,  ▼ n values, n types
 *   vector                                         n,  ▼ n values, n types where each has its own
 *
 * Nothing is trusted: each offset is checked where it is followed.  Lists hold numbers and texts, so depth is 2. */
#ifndef QN_IMPORT_FLEXBUFFER_H
#define QN_IMPORT_FLEXBUFFER_H

#include "lib/lib.h"

typedef struct qn_flex {
	const uint8_t *data;
	size_t n;        /* bytes */
	qn_arena *a;     /* of names, texts and lists */
	size_t taken;    /* elements and bytes read so far */
	const char *why; /* the first thing that is wrong or not read; NULL: nothing */
	const char *key; /* of the entry where; NULL: none of them */
} qn_flex;

/* The entries of the map in the order of the file, those that are null left out; their number.  0 bytes are an empty
 * map.  0 with f->why: damaged, or something that an attribute cannot be (a map, bytes). */
size_t qn_flex_attributes(qn_flex *f, qn_lib_attr **out);

#endif
