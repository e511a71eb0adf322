/* SPDX-License-Identifier: Apache-2.0 */
/* encodings_file.h - a file of encodings as it is in memory: what encodings_read.c makes and
 * encodings.c binds. */
#ifndef QN_CALIBRATE_ENCODINGS_FILE_H
#define QN_CALIBRATE_ENCODINGS_FILE_H

#include "calibrate/encodings.h"
#include "formats/json_tree.h"

/* One pair of parameters: float = (k + offset) * scale for k = 0 ... 2^bits - 1. */
typedef struct qn_encoding_pair {
	const qn_json *at, *bits_at, *offset_at; /* where a message points */
	int64_t bits, offset;
	double scale;
	bool symmetric;
} qn_encoding_pair;

/* What a name has: a pair, or one per channel. */
typedef struct qn_encoding {
	const qn_json *at;
	const char *name;
	bool real; /* it stays in float; there are no pairs */
	const qn_encoding_pair *pair;
	size_t n;
} qn_encoding;

enum { QN_ENCODING_ACTIVATIONS, QN_ENCODING_PARAMS, QN_ENCODING_SECTIONS };

struct qn_encodings {
	qn_arena *a;
	qn_json_doc doc;
	const char *name;                 /* of the entry being read */
	qn_map map[QN_ENCODING_SECTIONS]; /* name -> qn_encoding */
	qn_encoding *list[QN_ENCODING_SECTIONS];
	size_t n[QN_ENCODING_SECTIONS];
};

/* Reads the entry v as version 0, 1 or 2 writes it (encodings_entry.c); reports what is wrong. */
void qn_encoding_read(const qn_encodings *e, int version, const qn_json *v, qn_encoding *out);
/* Reports encodings.value: the entry being read (e->name), or its member v, `why`. */
void qn_encoding_bad(const qn_encodings *e, const qn_json *v, const char *why);

#endif
