/* SPDX-License-Identifier: Apache-2.0 */
/* graph_const.c - the text form of constants, without loss and always the same for the same bytes.
 *
 *   [0.5, -1.0]        up to 64 elements, row-major; quantized values as integers
 *   splat 0.5          more of them, all alike
 *   bytes "0000003f…"  others (and what has no number, NaN): two hex digits per byte,
 *                      little-endian
 *   rand 7             read only: from the seed: floats in [-1, 1), quantized values in their whole range */
#include "ir/graph_text.h"
#include "ir/random.h"

#include <string.h>

/* MAX_FILL: elements that splat and rand make of a few characters, for one constant. */
enum { MAX_LIST = 64, MAX_FILL = 1 << 24 };

/* How elements of a type are stored and which quantized values they may have. */
typedef struct stored {
	qn_plain plain;
	bool real;
	int64_t min, max;
} stored;

static stored
stored_as(const qn_elem *e)
{
	const qn_plain_info *p = &qn_plain_table[e->plain];
	stored s = {.plain = e->plain,
		    .real = e->kind == QN_ELEM_PLAIN && p->is_float,
		    .min = INT64_MIN,
		    .max = INT64_MAX};

	if (e->kind != QN_ELEM_PLAIN) {
		s.min = e->qmin;
		s.max = e->qmax;
	} else if (p->bits < 64) {
		s.max = (INT64_C(1) << (p->bits - (p->is_signed ? 1 : 0))) - 1;
		s.min = p->is_signed ? -s.max - 1 : 0;
	} else if (!p->is_signed) {
		s.min = 0; /* in lists; `bytes` holds all */
	}
	return s;
}

static bool
wrong(qn_reader *r, const char *place, const char *id, const char *text)
{
	(void)qn_report(r->m->env, QN_EINVALID, id, place, "%s", text);
	return false;
}

/* One number into element i; data NULL: only read.  *ok becomes false when it is out of range. */
static bool
read_element(qn_reader *r, const stored *s, void *data, int64_t i, bool *ok)
{
	double real = 0;
	int64_t code = 0;

	if (s->real ? !qn_text_real(&r->text, false, &real) : !qn_text_int(&r->text, &code))
		return qn_read_fail(r, s->real ? "expected a number"
					       : "expected an integer of 64 bits");
	if (!s->real && (code < s->min || code > s->max))
		*ok = false;
	if (data != NULL && s->real)
		qn_store_f64(data, s->plain, i, real);
	else if (data != NULL && *ok)
		qn_store_i64(data, s->plain, i, code);
	return true;
}

/* The text that is left holds at least that many bytes: a type cannot ask for more memory than its
 * constant has text. */
static bool
text_holds(const qn_reader *r, int64_t bytes)
{
	return bytes <= (int64_t)(r->text.end - r->text.at);
}

static bool
read_list(qn_reader *r, const char *place, const qn_type *type, const qn_tensor **out)
{
	stored s = stored_as(type->elem);
	int64_t want = qn_type_count(type);
	int64_t n = 0;
	void *data = NULL;
	bool ok = true;
	const qn_tensor *x = text_holds(r, want) ? qn_tensor_new(r->m->arena, type, &data) : NULL;

	if (!qn_text_eat(&r->text, "]")) {
		do {
			if (!read_element(r, &s, n < want ? data : NULL, n, &ok))
				return false;
			n++;
		} while (qn_text_eat(&r->text, ","));
		if (!qn_read_expect(r, "]"))
			return false;
	}
	if (!ok)
		(void)wrong(r, place, "const.value",
			    "a quantized value is outside the range of its type");
	if (n != want) {
		ok = false;
		(void)qn_report(r->m->env, QN_EINVALID, "const.count", place,
				"%lld numbers for %lld elements", (long long)n, (long long)want);
	}
	*out = ok ? x : NULL;
	return true;
}

static int
hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *d = c != '\0' ? strchr(digits, c) : NULL;

	return d != NULL ? (int)(d - digits) : -1;
}

static bool
quantized_ok(const qn_tensor *x)
{
	stored s = stored_as(x->type->elem);
	int64_t n = qn_type_count(x->type);

	if (s.real || s.plain == QN_PLAIN_u64)
		return true;
	for (int64_t i = 0; i < n; i++) {
		int64_t code = qn_tensor_i64(x, i);

		if (code < s.min || code > s.max)
			return false;
	}
	return true;
}

static bool
read_bytes(qn_reader *r, const char *place, const qn_type *type, const qn_tensor **out)
{
	qn_text *t = &r->text;
	size_t n = 0;

	if (!qn_read_expect(r, "\""))
		return false;
	const char *hex = t->at;
	while (t->at < t->end && hex_value(*t->at) >= 0)
		t->at++;
	n = (size_t)(t->at - hex);
	if (!qn_read_expect(r, "\""))
		return false;
	if (n % 2 != 0 || n / 2 != qn_type_bytes(type)) {
		(void)qn_report(r->m->env, QN_EINVALID, "const.count", place,
				"%zu hex digits for %zu bytes", n, qn_type_bytes(type));
		return true;
	}
	uint8_t *data = QN_NEW(r->m->arena, uint8_t, n / 2 + 1);
	for (size_t i = 0; i < n / 2; i++)
		data[i] = (uint8_t)(hex_value(hex[2 * i]) * 16 + hex_value(hex[2 * i + 1]));
	const qn_tensor *x = qn_tensor_view_file(r->m->arena, type, data);
	if (quantized_ok(x))
		*out = x;
	else
		(void)wrong(r, place, "const.value",
			    "a quantized value is outside the range of its type");
	return true;
}

static void
fill_random(const stored *s, void *data, int64_t n, uint64_t seed)
{
	/* As many bits as the type's significand has, so that rounding never gives 1. */
	int bits = 24;

	if (s->plain == QN_PLAIN_bf16)
		bits = 8;
	else if (s->plain == QN_PLAIN_f16)
		bits = 11;
	uint64_t span = (uint64_t)s->max - (uint64_t)s->min + 1;

	for (int64_t i = 0; i < n; i++) {
		uint64_t u = qn_random_next(&seed);

		if (s->real)
			qn_store_f64(data, s->plain, i,
				     (double)(u >> (64 - bits)) /
						     (double)(UINT64_C(1) << (bits - 1)) -
					     1.0);
		else
			qn_store_i64(data, s->plain, i,
				     (int64_t)((uint64_t)s->min + (span != 0 ? u % span : u)));
	}
}

/* splat or rand. */
static bool
read_fill(qn_reader *r, const char *place, const qn_type *type, bool random, const qn_tensor **out)
{
	stored s = stored_as(type->elem);
	int64_t n = qn_type_count(type);
	int64_t seed = 0;
	bool ok = true;
	union {
		double align;
		int64_t word;
	} one = {0};

	if (random ? !qn_text_int(&r->text, &seed) : !read_element(r, &s, &one, 0, &ok))
		return random ? qn_read_fail(r, "expected a seed") : false;
	if (!ok) {
		(void)wrong(r, place, "const.value",
			    "the quantized value is outside the range of its type");
		return true;
	}
	if (n > MAX_FILL || n > QN_MAX_FILLED - r->filled) {
		(void)wrong(r, place, "const.count",
			    "splat and rand make at most 2^24 elements, in one file 2^26");
		return true;
	}
	r->filled += n;
	void *data;
	const qn_tensor *x = qn_tensor_new(r->m->arena, type, &data);
	size_t size = qn_elem_bytes(type->elem);
	if (random)
		fill_random(&s, data, n, (uint64_t)seed);
	else
		for (size_t i = 0; i < (size_t)n; i++)
			memcpy((char *)data + i * size, &one, size);
	*out = x;
	return true;
}

/* Over a value whose type is not known. */
static bool
skip_value(qn_reader *r)
{
	double number;
	const char *word;

	if (qn_text_eat(&r->text, "["))
		return qn_read_skip(r, "]") && qn_read_expect(r, "]");
	if (qn_text_eat(&r->text, "bytes"))
		return qn_read_quoted(r, &word);
	if (qn_text_eat(&r->text, "splat") || qn_text_eat(&r->text, "rand"))
		return qn_text_real(&r->text, false, &number) ||
		       qn_read_fail(r, "expected a number");
	return qn_read_fail(r, "expected the constant's value: [, splat, rand or bytes");
}

bool
qn_read_const(qn_reader *r, const qn_type *type, const qn_tensor **out)
{
	const char *place = qn_read_place(r);

	*out = NULL;
	if (type != NULL &&
	    (type->is_tuple || type->elem->kind == QN_ELEM_CALIBRATED || qn_type_count(type) < 0)) {
		(void)wrong(r, place, "const.type",
			    "a constant must be a tensor of known shape whose elements are stored");
		type = NULL;
	}
	if (type == NULL)
		return skip_value(r);
	if (qn_text_eat(&r->text, "["))
		return read_list(r, place, type, out);
	if (qn_text_eat(&r->text, "splat"))
		return read_fill(r, place, type, false, out);
	if (qn_text_eat(&r->text, "rand"))
		return read_fill(r, place, type, true, out);
	if (qn_text_eat(&r->text, "bytes"))
		return read_bytes(r, place, type, out);
	return skip_value(r);
}

static bool
has_number(const stored *s, const qn_tensor *x, int64_t i)
{
	if (!s->real) {
		/* Above the range of int64 the accessor gives its end. */
		int64_t code = qn_tensor_i64(x, i);

		return s->plain != QN_PLAIN_u64 || (code >= 0 && code < INT64_MAX);
	}
	double v = qn_tensor_f64(x, i);
	return v == v;
}

static bool
all_alike(const qn_tensor *x)
{
	size_t size = qn_elem_bytes(x->type->elem);

	/* Each element equals the one before it. */
	return memcmp(x->data, (const char *)x->data + size, x->bytes - size) == 0;
}

static void
print_element(qn_buf *b, const stored *s, const qn_tensor *x, int64_t i)
{
	if (!s->real)
		qn_buff(b, "%lld", (long long)qn_tensor_i64(x, i));
	else if (s->plain == QN_PLAIN_f64)
		qn_buf_f64(b, qn_tensor_f64(x, i));
	else
		qn_buf_f32(b, (float)qn_tensor_f64(x, i));
}

static void
print_bytes(qn_buf *b, const qn_tensor *x)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = qn_tensor_file_bytes(b->arena, x);

	qn_buf_puts(b, "bytes \"");
	for (size_t i = 0; i < x->bytes; i++) {
		qn_buf_putc(b, digits[p[i] >> 4]);
		qn_buf_putc(b, digits[p[i] & 15]);
	}
	qn_buf_putc(b, '"');
}

void
qn_const_print(qn_buf *b, const qn_tensor *x)
{
	stored s = stored_as(x->type->elem);
	int64_t n = qn_type_count(x->type);
	bool numbers = true;

	if (n > MAX_LIST) {
		if (n <= MAX_FILL && has_number(&s, x, 0) && all_alike(x)) {
			qn_buf_puts(b, "splat ");
			print_element(b, &s, x, 0);
		} else {
			print_bytes(b, x);
		}
		return;
	}
	for (int64_t i = 0; i < n; i++)
		numbers = numbers && has_number(&s, x, i);
	if (!numbers) {
		print_bytes(b, x);
		return;
	}
	qn_buf_putc(b, '[');
	for (int64_t i = 0; i < n; i++) {
		qn_buf_puts(b, i > 0 ? ", " : "");
		print_element(b, &s, x, i);
	}
	qn_buf_putc(b, ']');
}
