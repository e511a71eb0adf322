/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.h - JSON as a tree in an arena, with the place of every value.
 *
 *   {"graph": {"nodes": [{"op": "relu"}]}}      the string "relu" is at  file.json:/graph/nodes/0/op
 *
 * Strict: RFC 8259 and nothing more, nesting up to QN_JSON_DEPTH, valid UTF-8, no NUL in a
 * string, no key twice, numbers of at most QN_JSON_DIGITS characters that are finite as doubles.
 * Keys are compared exactly.  Number text does not depend on the locale.
 *
 * The getters report what is wrong with the value's place and return NULL or false, so that a
 * reader can go on and find more. */
#ifndef QN_FORMATS_JSON_TREE_H
#define QN_FORMATS_JSON_TREE_H

#include "ir/arena.h"
#include "ir/buf.h"

enum { QN_JSON_DEPTH = 64, QN_JSON_DIGITS = 63 };

typedef enum qn_json_kind {
	QN_JSON_NULL,
	QN_JSON_BOOL,
	QN_JSON_NUMBER,
	QN_JSON_STRING,
	QN_JSON_ARRAY,
	QN_JSON_OBJECT
} qn_json_kind;

typedef struct qn_json {
	qn_json_kind kind;
	bool truth;                   /* BOOL */
	double number;                /* NUMBER; finite */
	const char *key;              /* member of an object; NULL elsewhere */
	const char *string;           /* STRING */
	const struct qn_json *parent; /* NULL: the root */
	const struct qn_json *child;  /* ARRAY, OBJECT: n of them in the order of the file */
	size_t n;
} qn_json;

/* Diagnostic ids; a format that has JSON inside gives its own. */
typedef struct qn_json_ids {
	const char *syntax;    /* json.syntax */
	const char *duplicate; /* json.key.duplicate */
} qn_json_ids;

typedef struct qn_json_doc {
	qn_arena *arena;
	qn_env *env;
	const char *file; /* for messages */
	const qn_json *root;
} qn_json_doc;

/* ids NULL: the names above.  The tree does not refer to s. */
qn_status qn_json_tree(qn_arena *a, const char *file, const char *s, size_t n,
		       const qn_json_ids *ids, qn_json_doc *out) QN_MUST_CHECK;

/* What the JSON grammar says about the text, and how deep its brackets nest: NULL when all is
 * well, else the reason, and where. */
const char *qn_json_lex(const char *s, size_t n, const char **where);

/* "file:/json/pointer" (RFC 6901) in arena a. */
const char *qn_json_place(const qn_json_doc *d, qn_arena *a, const qn_json *v);

/* The member of an object; NULL when it is missing (or v is not an object). */
const qn_json *qn_json_find(const qn_json *v, const char *key);

/* Reports json.kind unless v is of this kind. */
bool qn_json_is(const qn_json_doc *d, const qn_json *v, qn_json_kind kind);
/* The member of this kind; NULL when there is none, or after reporting json.kind. */
const qn_json *qn_json_want(const qn_json_doc *d, const qn_json *v, const char *key,
			    qn_json_kind kind);
/* The same, and json.key.missing when there is none. */
const qn_json *qn_json_need(const qn_json_doc *d, const qn_json *v, const char *key,
			    qn_json_kind kind);

/* What stands there in a few words, for messages: 'smae', 1.5, true, an array of 3, an object. */
const char *qn_json_describe(qn_arena *a, const qn_json *v);

/* Reports json.key.unknown for each member whose key is not one of these n and does not begin with
 * '_'. */
void qn_json_only(const qn_json_doc *d, const qn_json *v, size_t n, const char *const *keys);

/* Numbers.  Without a report: false when v is not a number or does not fit.  An integer is a number without a
 * fraction up to 2^53, or a string of an optional '-' and digits.  A real is a number, "inf",
 * "-inf" or "nan". */
bool qn_json_i64(const qn_json *v, int64_t *out);
bool qn_json_u64(const qn_json *v, uint64_t *out);
bool qn_json_f64(const qn_json *v, double *out);

#endif
