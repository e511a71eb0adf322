/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - NumPy's array files (numpy.lib.format, versions 1.0 to 3.0).
 *
 *   93 4e 55 4d 50 59   01 00   76 00   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n   data
 *   magic               version length  a Python dict, padded with blanks so that the data is aligned to 64
 *                               (u32 from version 2 on)
 *
 * The dict is read by a parser that knows exactly these three keys, in any order. */
#include "formats/npy.h"

#include <string.h>

#include "formats/dtype.h"
#include "formats/file.h"
#include "ir/diag.h"

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { ALIGNMENT = 64, PREFIX_V1 = 10, PREFIX_V2 = 12 };

static const struct {
	char text[3];
	qn_plain plain;
} dtypes[] = {
	{"b1", QN_PLAIN_bool}, {"i1", QN_PLAIN_i8},  {"u1", QN_PLAIN_u8},  {"i2", QN_PLAIN_i16},
	{"u2", QN_PLAIN_u16},  {"i4", QN_PLAIN_i32}, {"u4", QN_PLAIN_u32}, {"i8", QN_PLAIN_i64},
	{"u8", QN_PLAIN_u64},  {"f2", QN_PLAIN_f16}, {"f4", QN_PLAIN_f32}, {"f8", QN_PLAIN_f64},
};

typedef struct header {
	qn_env *env;
	const char *place;
	const char *at;
	const char *end;
	bool has_descr, has_order, has_shape;
	qn_plain plain;
	bool fortran;
	int32_t rank;
	int64_t dim[QN_MAX_RANK];
} header;

static qn_status
bad(const header *h, const char *what)
{
	return qn_report(h->env, QN_EINVALID, "npy.header", h->place,
			 "the header is not a dict as NumPy writes it: %s", what);
}

static void
blanks(header *h)
{
	while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
		h->at++;
}

static bool
eat(header *h, const char *token)
{
	size_t n = strlen(token);

	blanks(h);
	if ((size_t)(h->end - h->at) < n || memcmp(h->at, token, n) != 0)
		return false;
	h->at += n;
	return true;
}

/* 'text' or "text" without escapes. */
static bool
quoted(header *h, const char **s, size_t *n)
{
	blanks(h);
	if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
		return false;
	const char *close = memchr(h->at + 1, *h->at, (size_t)(h->end - h->at) - 1);
	if (close == NULL)
		return false;
	*s = h->at + 1;
	*n = (size_t)(close - *s);
	h->at = close + 1;
	return true;
}

static qn_status
read_descr(header *h)
{
	const char *s = NULL;
	size_t n = 0;

	if (!quoted(h, &s, &n))
		return qn_report(h->env, QN_EUNSUPPORTED, "npy.dtype", h->place,
				 "structured arrays are not supported");
	for (size_t i = 0; i < QN_COUNT(dtypes) && n == 3; i++) {
		bool any_order = dtypes[i].text[1] == '1' && strchr("|<>=", s[0]) != NULL;

		if (memcmp(s + 1, dtypes[i].text, 2) == 0 &&
		    (any_order || s[0] == '<' || s[0] == '=')) {
			h->plain = dtypes[i].plain;
			return QN_OK;
		}
	}
	return qn_report(
		h->env, QN_EUNSUPPORTED, "npy.dtype", h->place,
		"unsupported element type '%.*s' (expected b1 i1 u1 or little-endian i2 u2 "
		"i4 u4 i8 u8 f2 f4 f8)",
		(int)(n < 64 ? n : 64), s);
}

static qn_status
read_order(header *h)
{
	if (eat(h, "True"))
		h->fortran = true;
	else if (!eat(h, "False"))
		return bad(h, "fortran_order is neither True nor False");
	return QN_OK;
}

static qn_status
read_dim(header *h)
{
	int64_t v = 0;

	if (h->at == h->end || *h->at < '0' || *h->at > '9')
		return bad(h, "a dimension of shape is not an integer");
	for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
		int64_t digit = *h->at - '0';

		if (v > (INT64_MAX - digit) / 10)
			return qn_report(h->env, QN_EINVALID, "npy.size", h->place,
					 "a dimension does not fit 64 bits");
		v = v * 10 + digit;
	}
	if (h->rank == QN_MAX_RANK)
		return qn_report(h->env, QN_EUNSUPPORTED, "npy.size", h->place,
				 "more than %d dimensions", QN_MAX_RANK);
	h->dim[h->rank++] = v;
	return QN_OK;
}

/* () (5,) (2, 3) (2, 3,) */
static qn_status
read_shape(header *h)
{
	bool comma = true;

	if (!eat(h, "("))
		return bad(h, "shape is not a tuple");
	while (!eat(h, ")")) {
		if (!comma)
			return bad(h, "a comma is missing in shape");
		QN_TRY(read_dim(h));
		comma = eat(h, ",");
	}
	return h->rank == 1 && !comma ? bad(h, "shape is not a tuple") : QN_OK;
}

static qn_status
read_pair(header *h)
{
	const struct {
		const char *name;
		bool *seen;
		qn_status (*read)(header *);
	} keys[] = {
		{"descr", &h->has_descr, read_descr},
		{"fortran_order", &h->has_order, read_order},
		{"shape", &h->has_shape, read_shape},
	};
	const char *s = NULL;
	size_t n = 0;

	if (!quoted(h, &s, &n) || !eat(h, ":"))
		return bad(h, "expected a key and a colon");
	for (size_t i = 0; i < QN_COUNT(keys); i++)
		if (strlen(keys[i].name) == n && memcmp(keys[i].name, s, n) == 0) {
			if (*keys[i].seen)
				return bad(h, "duplicate key");
			*keys[i].seen = true;
			blanks(h);
			return keys[i].read(h);
		}
	return bad(h, "unknown key (expected descr, fortran_order or shape)");
}

static qn_status
read_dict(header *h)
{
	bool comma = true;

	if (!eat(h, "{"))
		return bad(h, "it does not begin with {");
	while (!eat(h, "}")) {
		if (!comma)
			return bad(h, "a comma is missing");
		QN_TRY(read_pair(h));
		comma = eat(h, ",");
	}
	blanks(h);
	if (h->at != h->end)
		return bad(h, "text after the }");
	if (!h->has_descr || !h->has_order || !h->has_shape)
		return bad(h, "descr, fortran_order or shape is missing");
	if (h->fortran && h->rank > 1)
		return qn_report(h->env, QN_EUNSUPPORTED, "npy.order", h->place,
				 "Fortran (column-major) order is not supported; save "
				 "numpy.ascontiguousarray(x)");
	return QN_OK;
}

/* Sets at and end to the dict, *data to what follows it. */
static qn_status
find_dict(header *h, const char *data, size_t n, const char **rest)
{
	const unsigned char *p = (const unsigned char *)data;

	if (n < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
		return qn_report(h->env, QN_EINVALID, "npy.magic", h->place,
				 "not an .npy file: it does not begin with \\x93NUMPY");
	if (n < PREFIX_V1)
		return qn_report(h->env, QN_EINVALID, "npy.truncated", h->place,
				 "the file ends in its header");
	if (p[6] < 1 || p[6] > 3 || p[7] != 0)
		return qn_report(h->env, QN_EUNSUPPORTED, "npy.magic", h->place,
				 "unknown format version %d.%d (expected 1.0, 2.0 or 3.0)", p[6],
				 p[7]);
	size_t prefix = p[6] == 1 ? PREFIX_V1 : PREFIX_V2;
	size_t length = (size_t)p[8] | (size_t)p[9] << 8;
	if (n >= prefix && p[6] > 1)
		length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
	if (n < prefix || n - prefix < length)
		return qn_report(h->env, QN_EINVALID, "npy.truncated", h->place,
				 "the file ends in its header");
	h->at = data + prefix;
	h->end = h->at + length;
	*rest = h->end;
	return QN_OK;
}

qn_status
qn_npy_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n,
	     qn_tensor **out)
{
	header h = {.env = a->env, .place = place};
	const char *rest = NULL;

	QN_TRY(find_dict(&h, data, n, &rest));
	QN_TRY(read_dict(&h));
	const qn_type *type = qn_type_plain(t, h.plain, h.rank, h.dim);
	int64_t count = qn_type_count(type);
	if (count < 0)
		return qn_report(a->env, QN_EUNSUPPORTED, "npy.size", place,
				 "more than 2^40 elements");
	size_t have = (size_t)(data + n - rest);
	size_t need = (size_t)count * qn_plain_table[h.plain].bytes;
	if (have < need)
		return qn_report(a->env, QN_EINVALID, "npy.truncated", place,
				 "the data has %zu bytes, the shape needs %zu", have, need);
	if (have > need)
		return qn_report(a->env, QN_EINVALID, "npy.size", place,
				 "the data has %zu bytes, the shape needs only %zu", have, need);
	*out = qn_tensor_view_file(a, type, rest);
	return QN_OK;
}

qn_status
qn_npy_read(qn_types *t, qn_arena *a, const char *path, qn_tensor **out)
{
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(a, path, &data, &n));
	return qn_npy_parse(t, a, path, data, n, out);
}

/* ---- writing ---- */

static const char *
descr(qn_plain p)
{
	for (size_t i = 0; i < QN_COUNT(dtypes); i++)
		if (dtypes[i].plain == p)
			return dtypes[i].text;
	return "f4"; /* bf16, which NumPy does not have, as f32 */
}

void
qn_npy_print(qn_buf *b, const qn_tensor *x)
{
	qn_plain p = qn_dtype_of(x->type->elem);
	size_t begin = b->n;
	char prefix[PREFIX_V1] = {0};

	qn_buf_put(b, prefix, sizeof prefix);
	qn_buff(b, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
		qn_plain_table[p].bytes == 1 ? '|' : '<', descr(p));
	for (int32_t i = 0; i < x->type->rank; i++)
		qn_buff(b, "%s%lld", i > 0 ? ", " : "", (long long)x->type->dim[i]);
	qn_buf_puts(b, x->type->rank == 1 ? ",), }" : "), }");
	while ((b->n - begin + 1) % ALIGNMENT != 0)
		qn_buf_putc(b, ' ');
	qn_buf_putc(b, '\n');
	size_t length = b->n - begin - PREFIX_V1;
	memcpy(prefix, magic, sizeof magic);
	prefix[6] = 1;
	prefix[8] = (char)(unsigned char)(length & 255);
	prefix[9] = (char)(unsigned char)(length >> 8);
	memcpy(b->data + begin, prefix, sizeof prefix);
	if (p != QN_PLAIN_bf16) {
		qn_buf_put(b, qn_tensor_file_bytes(b->arena, x), x->bytes);
		return;
	}
	for (int64_t i = 0, n = qn_type_count(x->type); i < n; i++) {
		float v = (float)qn_tensor_f64(x, i);
		uint32_t bits;

		memcpy(&bits, &v, sizeof bits);
		for (int k = 0; k < 4; k++)
			qn_buf_putc(b, (char)(unsigned char)(bits >> 8 * k & 255));
	}
}
