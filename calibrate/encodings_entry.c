/* SPDX-License-Identifier: Apache-2.0 */
/* encodings_entry.c - an entry of a file of encodings, in the three forms of AIMET's encoding
 * specification.
 *
 *   0.x    "activation_encodings": {"x": [{"bitwidth": 8, "is_symmetric": "False", "offset": -3, "scale": 0.5, ...}]}
 *   1.0.0  "activation_encodings": [{"name": "x", "enc_type": "PER_TENSOR", "dtype": "INT", "bw": 8, "is_sym": false,
 *                                   "offset": [-3], "scale": [0.5]}]
 *   2.x    "encodings": [{"name": "x", "output_dtype": "uint8", "y_scale": 0.5, "y_zero_point": 3}]
 *
 * param_encodings likewise.  Offsets are those of integers from 0 on; in 2.x zero points are
 * of output_dtype. */
#include "calibrate/encodings_file.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/diag.h"

void
qn_encoding_bad(const qn_encodings *e, const qn_json *v, const char *why)
{
	const bool named = e->name != NULL;
	int64_t integer;
	qn_buf value;

	qn_buf_init(&value, e->a);
	if (qn_json_i64(v, &integer))
		qn_buff(&value, "; it is %lld", (long long)integer);
	else if (v->kind == QN_JSON_NUMBER)
		qn_buff(&value, "; it is %g", v->number);
	else if (v->kind == QN_JSON_STRING)
		qn_buff(&value, "; it is '%s'", v->string);
	(void)qn_report(e->doc.env, QN_EINVALID, "encodings.value", qn_json_place(&e->doc, e->a, v),
			"%s%s%s%s%s", named ? "of '" : "", named ? e->name : "", named ? "': " : "",
			why, qn_buf_str(&value));
}

/* A finite number; false when there is none, or after a report. */
static bool
number(const qn_encodings *e, const qn_json *v, const char *key, double *out)
{
	const qn_json *m = qn_json_find(v, key);

	if (m == NULL)
		return false;
	if (qn_json_f64(m, out) && isfinite(*out))
		return true;
	qn_encoding_bad(e, m, "is not a finite number");
	return false;
}

/* ---- what all have ---- */

static bool
is_scale(double scale)
{
	return scale >= (double)FLT_MIN && scale <= (double)FLT_MAX;
}

static void
read_bits(const qn_encodings *e, const qn_json *v, const char *key, qn_encoding_pair *p)
{
	const qn_json *m = qn_json_need(&e->doc, v, key, QN_JSON_NUMBER);

	if (m != NULL && (!qn_json_i64(m, &p->bits) ||
			  (p->bits != 4 && p->bits != 8 && p->bits != 16 && p->bits != 32)))
		qn_encoding_bad(e, m,
				"is not a valid width (expected 4, 8, 16 or, for biases, 32 bits)");
	p->bits_at = m;
}

static void
read_truth(const qn_encodings *e, const qn_json *v, const char *key, bool *out)
{
	const qn_json *m = qn_json_find(v, key);

	*out = false;
	if (m == NULL)
		return;
	if (m->kind == QN_JSON_BOOL)
		*out = m->truth;
	else if (m->kind == QN_JSON_STRING && strcmp(m->string, "True") == 0)
		*out = true;
	else if (m->kind != QN_JSON_STRING || strcmp(m->string, "False") != 0)
		qn_encoding_bad(e, m, "is invalid (expected true, false, \"True\" or \"False\")");
}

/* "int" or "INT", which a missing one is, or "float" or "FLOAT": then true. */
static bool
read_real(const qn_encodings *e, const qn_json *v)
{
	const qn_json *m = qn_json_want(&e->doc, v, "dtype", QN_JSON_STRING);

	if (m == NULL || strcmp(m->string, "int") == 0 || strcmp(m->string, "INT") == 0)
		return false;
	if (strcmp(m->string, "float") != 0 && strcmp(m->string, "FLOAT") != 0)
		qn_encoding_bad(e, m, "is invalid (expected int or float)");
	return true;
}

static void
check_offset(const qn_encodings *e, const qn_json *at, double offset, qn_encoding_pair *p)
{
	if (offset != rint(offset) || offset > 0 || offset < -(ldexp(1, (int)p->bits) - 1))
		qn_encoding_bad(e, at,
				"is not an integer from -(2^bitwidth - 1) to 0: float value = (k + "
				"offset) * "
				"scale for k from 0, and 0 must be exact");
	else
		p->offset = (int64_t)offset;
	p->offset_at = at;
}

/* ---- 0.x ---- */

/* Parameters from a range alone: it becomes 2^bits - 1 steps, 0 one of them. */
static void
from_range(const qn_encodings *e, const qn_json *v, double lo, double hi, qn_encoding_pair *p)
{
	if (lo > 0 || hi < 0 || lo == hi) {
		qn_encoding_bad(
			e, v,
			"is a range without 0 or of zero width, and scale and offset are missing");
		return;
	}
	p->scale = hi / (ldexp(1, (int)p->bits) - 1) - lo / (ldexp(1, (int)p->bits) - 1);
	if (!is_scale(p->scale))
		qn_encoding_bad(e, v, "is a range whose scale is not a normal f32");
	else
		p->offset = (int64_t)rint(lo / p->scale);
	p->offset_at = v;
}

/* The range that is given agrees with scale and offset, but for a step at an end that is not
 * used. */
static bool
agrees(double given, double code, double scale)
{
	return fabs(given - code * scale) <= 1.5 * scale + 1e-5 * fabs(given);
}

static void
read_pair(const qn_encodings *e, const qn_json *v, qn_encoding_pair *p)
{
	double lo = 0, hi = 0, offset = 0;
	size_t errors = e->doc.env->diags->nerrors;

	p->at = v;
	read_bits(e, v, "bitwidth", p);
	read_truth(e, v, "is_symmetric", &p->symmetric);
	const double top = ldexp(1, (int)p->bits) - 1;
	const bool has_lo = number(e, v, "min", &lo), has_hi = number(e, v, "max", &hi);
	const bool has_scale = number(e, v, "scale", &p->scale);
	const bool has_offset = number(e, v, "offset", &offset);
	if (e->doc.env->diags->nerrors > errors)
		return;
	if (has_lo && has_hi && lo > hi)
		qn_encoding_bad(e, qn_json_find(v, "min"), "is above max");
	else if (!has_scale && !has_offset && has_lo && has_hi)
		from_range(e, v, lo, hi, p);
	else if (!has_scale || !has_offset)
		qn_encoding_bad(e, v, "has neither scale and offset nor min and max");
	else if (!is_scale(p->scale))
		qn_encoding_bad(e, qn_json_find(v, "scale"), "is not a positive normal f32");
	else if (offset == rint(offset) && offset <= 0 && offset >= -top &&
		 ((has_lo && !agrees(lo, offset, p->scale)) ||
		  (has_hi && !agrees(hi, offset + top, p->scale))))
		qn_encoding_bad(e, v, "has a min or max that does not match its scale and offset");
	else
		check_offset(e, qn_json_find(v, "offset"), offset, p);
}

static void
read_pairs(const qn_encodings *e, const qn_json *v, qn_encoding *out)
{
	if (qn_json_find(v, "input") != NULL || qn_json_find(v, "output") != NULL) {
		qn_encoding_bad(e, v,
				"has those of the inputs and outputs of a PyTorch module; give the "
				"other file that AIMET writes beside it, with names of the ONNX "
				"file");
		return;
	}
	if (!qn_json_is(&e->doc, v, QN_JSON_ARRAY))
		return;
	if (v->n == 0) {
		qn_encoding_bad(e, v, "is empty");
		return;
	}
	qn_encoding_pair *p = QN_NEW(e->a, qn_encoding_pair, v->n);
	for (size_t i = 0; i < v->n; i++) {
		if (!qn_json_is(&e->doc, &v->child[i], QN_JSON_OBJECT))
			return;
		if (read_real(e, &v->child[i]))
			out->real = true;
		else
			read_pair(e, &v->child[i], &p[i]);
	}
	out->pair = p;
	out->n = v->n;
}

/* ---- lists ---- */

/* Numbers one beside the other, as far as they are nested. */
static size_t
flat(const qn_encodings *e, const qn_json *v, size_t n, const qn_json **out)
{
	if (v->kind != QN_JSON_ARRAY) {
		if (out != NULL)
			out[n] = v;
		return n + 1;
	}
	for (size_t i = 0; i < v->n; i++)
		n = flat(e, &v->child[i], n, out);
	return n;
}

/* The numbers of a member; *n 0: there are none. */
static const qn_json **
numbers(const qn_encodings *e, const qn_json *v, const char *key, size_t *n)
{
	const qn_json *m = qn_json_find(v, key);
	const qn_json **list;
	double x;

	*n = m != NULL ? flat(e, m, 0, NULL) : 0;
	list = QN_NEW(e->a, const qn_json *, *n + 1);
	if (m != NULL)
		(void)flat(e, m, 0, list);
	for (size_t i = 0; i < *n; i++)
		if (!qn_json_f64(list[i], &x) || !isfinite(x)) {
			qn_encoding_bad(e, list[i], "is not a finite number");
			*n = 0;
		}
	return list;
}

/* Scales and offsets; less: what an offset of the file is less than one of integers from 0
 * on. */
static void
read_lists(const qn_encodings *e, const qn_json *v, const char *scale, const char *offset,
	   const qn_encoding_pair *like, double sign, double less, qn_encoding *out)
{
	size_t errors = e->doc.env->diags->nerrors, n, noffset;
	const qn_json **s = numbers(e, v, scale, &n);
	const qn_json **z = numbers(e, v, offset, &noffset);
	qn_encoding_pair *p = QN_NEW(e->a, qn_encoding_pair, n + 1);

	if (e->doc.env->diags->nerrors > errors)
		return;
	const bool may_lack = sign < 0; /* zero points: none, or one for all */
	if (n == 0 || (noffset != n && !(may_lack && noffset <= 1)))
		qn_encoding_bad(e, v,
				n == 0 ? "has no scale"
				       : "has another number of offsets than of scales");
	for (size_t i = 0; i < n && e->doc.env->diags->nerrors == errors; i++) {
		double given = 0;
		const qn_json *at = v;

		if (noffset > 0)
			at = z[noffset == 1 ? 0 : i];

		p[i] = *like;
		p[i].at = s[i];
		(void)qn_json_f64(s[i], &p[i].scale);
		(void)qn_json_f64(at, &given);
		if (!is_scale(p[i].scale))
			qn_encoding_bad(e, s[i], "is not a positive normal f32");
		else
			check_offset(e, at, sign * given - less, &p[i]);
	}
	out->pair = p;
	out->n = n;
}

/* ---- 1.0.0 ---- */

static void
read_entry_1(const qn_encodings *e, const qn_json *v, qn_encoding *out)
{
	const qn_json *type = qn_json_need(&e->doc, v, "enc_type", QN_JSON_STRING);
	qn_encoding_pair like = {0};

	out->real = read_real(e, v);
	if (type == NULL || out->real)
		return;
	const bool one = strcmp(type->string, "PER_TENSOR") == 0;
	if (!one && strcmp(type->string, "PER_CHANNEL") != 0) {
		qn_encoding_bad(e, type,
				"is invalid (expected PER_TENSOR or PER_CHANNEL); blocks are not "
				"supported");
		return;
	}
	const size_t errors = e->doc.env->diags->nerrors;
	read_bits(e, v, "bw", &like);
	read_truth(e, v, "is_sym", &like.symmetric);
	if (e->doc.env->diags->nerrors > errors)
		return;
	read_lists(e, v, "scale", "offset", &like, 1, 0, out);
	if (one && out->n > 1)
		qn_encoding_bad(e, qn_json_find(v, "scale"),
				"has several numbers, but enc_type is PER_TENSOR");
}

/* ---- 2.x ---- */

static void
read_entry_2(const qn_encodings *e, const qn_json *v, qn_encoding *out)
{
	static const struct {
		const char *name;
		int64_t bits;
		double lowest;
	} types[] = {{"int4", 4, -8},
		     {"uint4", 4, 0},
		     {"int8", 8, -128},
		     {"uint8", 8, 0},
		     {"int16", 16, -32768},
		     {"uint16", 16, 0},
		     {"int32", 32, -2147483648.0}};
	const qn_json *type = qn_json_need(&e->doc, v, "output_dtype", QN_JSON_STRING);
	const qn_json *scale = qn_json_find(v, "y_scale");

	if (type == NULL)
		return;
	if (qn_json_find(v, "block_size") != NULL ||
	    qn_json_find(v, "per_block_int_scale") != NULL ||
	    (scale != NULL && scale->kind == QN_JSON_OBJECT)) {
		qn_encoding_bad(e, v, "has blocks, which are not supported");
		return;
	}
	for (size_t i = 0; i < QN_COUNT(types); i++)
		if (strcmp(types[i].name, type->string) == 0) {
			const qn_encoding_pair like = {.bits = types[i].bits, .bits_at = type};

			read_lists(e, v, "y_scale", "y_zero_point", &like, -1, -types[i].lowest,
				   out);
			return;
		}
	qn_encoding_bad(e, type,
			"is invalid (expected int4, uint4, int8, uint8, int16, uint16 or int32)");
}

void
qn_encoding_read(const qn_encodings *e, int version, const qn_json *v, qn_encoding *out)
{
	static void (*const read[])(const qn_encodings *, const qn_json *,
				    qn_encoding *) = {read_pairs, read_entry_1, read_entry_2};

	read[version](e, v, out);
}
