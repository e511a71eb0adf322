/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.h - writes JSON into a text, with the commas and the indentation in place.
 *
 *   qn_json_out o;                                   {
 *   qn_json_out_init(&o, b);                           "name": "net",
 *   qn_json_open(&o, NULL, '{', QN_JSON_LINES);        "pads": [1, 2]
 *   qn_json_put_string(&o, "name", "net");           }
 *   qn_json_open(&o, "pads", '[', QN_JSON_FLAT);
 *   qn_json_put_i64(&o, NULL, 1);
 *   qn_json_put_i64(&o, NULL, 2);
 *   qn_json_close(&o);
 *   qn_json_close(&o);
 *
 * There is nothing to check after a call.  key: NULL in an array and at the top.  Inside a FLAT
 * bracket all is FLAT.  An empty one is {} or [].  Depth up to QN_JSON_DEPTH.  Number text is
 * the shortest that reads back, the same in each locale. */
#ifndef QN_FORMATS_JSON_OUT_H
#define QN_FORMATS_JSON_OUT_H

#include "formats/json_tree.h"

typedef enum qn_json_style {
	QN_JSON_LINES,
	QN_JSON_FLAT
} qn_json_style; /* one line per member; all on one line */

typedef struct qn_json_out {
	qn_buf *b;
	int depth;
	struct {
		char close; /* '}' or ']' */
		bool flat;
		size_t n; /* members so far */
	} level[QN_JSON_DEPTH + 1];
} qn_json_out;

void qn_json_out_init(qn_json_out *o, qn_buf *b);

/* bracket: '{' or '['. */
void qn_json_open(qn_json_out *o, const char *key, char bracket, qn_json_style style);
/* Closes the innermost bracket; a newline follows the outermost. */
void qn_json_close(qn_json_out *o);

void qn_json_put_string(qn_json_out *o, const char *key, const char *s);
/* Beyond 2^53 as a string. */
void qn_json_put_i64(qn_json_out *o, const char *key, int64_t v);
void qn_json_put_u64(qn_json_out *o, const char *key, uint64_t v);
/* "inf", "-inf" and "nan" as strings. */
void qn_json_put_f64(qn_json_out *o, const char *key, double v);
void qn_json_put_f32(qn_json_out *o, const char *key, float v);
void qn_json_put_bool(qn_json_out *o, const char *key, bool v);
/* A JSON value as its text, and as a tree: on one line. */
void qn_json_put_raw(qn_json_out *o, const char *key, const char *text, size_t n);
void qn_json_put_tree(qn_json_out *o, const char *key, const qn_json *v);

#endif
