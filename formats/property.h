/* SPDX-License-Identifier: Apache-2.0 */
/* property.h - what an archive says of itself besides its tensors: keys with typed values.
 *
 *   general.name    string      "stories260K"
 *   llama.context   u32         128
 *   tokenizer.tokens   array of string
 *   hparams         json        {"layers": 5}
 *
 * Values are kept as a GGUF file stores them, so that reading one copies nothing: numbers
 * little-endian, a string as u64 length and bytes.  What has no such type is JSON text. */
#ifndef QN_FORMATS_PROPERTY_H
#define QN_FORMATS_PROPERTY_H

#include "formats/json_out.h"

/* Types of values; the numbers up to F64 are those of GGUF. */
typedef enum qn_value_type {
	QN_VALUE_U8,
	QN_VALUE_I8,
	QN_VALUE_U16,
	QN_VALUE_I16,
	QN_VALUE_U32,
	QN_VALUE_I32,
	QN_VALUE_F32,
	QN_VALUE_BOOL,
	QN_VALUE_STRING,
	QN_VALUE_ARRAY,
	QN_VALUE_U64,
	QN_VALUE_I64,
	QN_VALUE_F64,
	QN_VALUE_JSON, /* text: an object, null, a mixed array */
	QN_NVALUE_TYPES
} qn_value_type;

typedef struct qn_property {
	const char *key;
	qn_value_type type; /* of the value; of an array: of its elements */
	bool array;
	uint64_t n;          /* elements; 1 */
	const uint8_t *data; /* the elements; of JSON its text */
	size_t bytes;
} qn_property;

/* Bytes of a number; 0: of another size each. */
size_t qn_value_bytes(qn_value_type t);
/* "u32", "string", "json". */
const char *qn_value_name(qn_value_type t);

/* Element i of an array of numbers, as one number. */
qn_property qn_property_element(const qn_property *p, uint64_t i);
/* An integer of any width; false: not one number of that kind. */
bool qn_property_u64(const qn_property *p, uint64_t *out);
/* A number of any type; false: not one number. */
bool qn_property_f64(const qn_property *p, double *out);
/* A string as its bytes; false: not a single string. */
bool qn_property_string(const qn_property *p, const char **s, size_t *n);
/* Whether it is the null of a JSON text. */
bool qn_property_is_null(const qn_property *p);

/* Whether a text is UTF-8, and so can be a name in JSON. */
bool qn_is_utf8(const char *s);
/* The value as a member `key` of an open JSON object (NULL: an element).  Bytes that are not UTF-8,
 * and NUL, become U+FFFD; returns how many values that has changed. */
size_t qn_property_put(qn_json_out *o, const char *key, const qn_property *p);
/* The value alone, as JSON text. */
const char *qn_property_json(qn_arena *a, const qn_property *p);

/* A property from a JSON value: bool, string, integer (u32, i32, u64 or i64, the first that holds it),
 * real (f32 if exact, else f64), array of one of these; others as JSON text. */
qn_property qn_property_of_json(qn_arena *a, const char *key, const qn_json *v);
/* A number, or a bool, from its bits as a file stores them. */
qn_property qn_property_of_bits(qn_arena *a, const char *key, qn_value_type t, uint64_t bits);
qn_property qn_property_of_string(qn_arena *a, const char *key, const char *s, size_t n);
/* The same with this type of numbers; false: it does not hold them. */
bool qn_property_as(qn_arena *a, const char *key, const qn_json *v, qn_value_type t,
		    qn_property *out);

#endif
