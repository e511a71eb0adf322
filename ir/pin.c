/* SPDX-License-Identifier: Apache-2.0 */
/* pin.c - see pin.h. */
#include "ir/pin.h"

#include <math.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/diag.h"
#include "ir/text.h"

/* What is being made. */
typedef struct making {
	qn_types *types;
	qn_arena *arena;
	const char *place;
	const qn_pin *pin;
	const qn_type *type; /* of the result */
	void *data;
} making;

static qn_status
wrong(const making *k, const char *what)
{
	qn_buf b;

	qn_buf_init(&b, k->arena);
	qn_type_print(&b, k->type);
	return qn_report(k->arena->env, QN_EUSAGE, "import.value", k->place,
			 "value of input '%s' (%s): %s", k->pin->name, qn_buf_str(&b), what);
}

/* number: as it was given */
static qn_status
wrong_number(const making *k, int64_t i, const char *number, const char *what)
{
	qn_buf b;

	qn_buf_init(&b, k->arena);
	qn_buff(&b, "element %lld is %s; %s", (long long)i, number, what);
	return wrong(k, qn_buf_str(&b));
}

/* from, to: numbers */
static qn_status
out_of_range(const making *k, int64_t i, const char *number, const char *from, const char *to)
{
	qn_buf b;

	qn_buf_init(&b, k->arena);
	qn_buff(&b, "expected %s to %s", from, to);
	return wrong_number(k, i, number, qn_buf_str(&b));
}

static const char *
integer_text(const making *k, int64_t v)
{
	qn_buf b;

	qn_buf_init(&b, k->arena);
	qn_buff(&b, "%lld", (long long)v);
	return qn_buf_str(&b);
}

static const char *
real_text(const making *k, double v)
{
	qn_buf b;

	qn_buf_init(&b, k->arena);
	qn_buff(&b, "%g", v);
	return qn_buf_str(&b);
}

/* ---- elements ---- */

static void
limits_of(const making *k, int64_t *least, int64_t *most)
{
	const qn_elem *e = k->type->elem;
	const int bits = e->plain == QN_PLAIN_bool ? 1 : qn_plain_table[e->plain].bits;
	const bool has_sign = e->plain != QN_PLAIN_bool && qn_plain_table[e->plain].is_signed;

	*most = bits - has_sign >= 63 ? INT64_MAX : (INT64_C(1) << (bits - has_sign)) - 1;
	*least = has_sign ? -*most - 1 : 0;
	if (qn_elem_is_quant(e)) {
		*least = e->qmin;
		*most = e->qmax;
	}
}

static qn_status
beyond(const making *k, int64_t i, const char *number)
{
	int64_t least, most;

	limits_of(k, &least, &most);
	return out_of_range(k, i, number, integer_text(k, least), integer_text(k, most));
}

/* Element i of an integer or bool input. */
static qn_status
put_integer(making *k, int64_t i, int64_t v)
{
	int64_t least, most;

	limits_of(k, &least, &most);
	if (v > most || v < least)
		return beyond(k, i, integer_text(k, v));
	qn_store_i64(k->data, k->type->elem->plain, i, v);
	return QN_OK;
}

/* Digits with a sign; true and false. */
static bool
integer_of(const char *s, size_t n, int64_t *out)
{
	const bool minus = n > 0 && s[0] == '-';
	uint64_t v = 0;

	if ((n == 4 && memcmp(s, "true", n) == 0) || (n == 5 && memcmp(s, "false", n) == 0)) {
		*out = n == 4;
		return true;
	}
	s += minus;
	n -= minus;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	if (n == 0 || v > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus && v > 0 ? -(int64_t)(v - 1) - 1 : (int64_t)v;
	return true;
}

/* One number of a text as element i; reals: where those of the input go. */
static qn_status
put_text(making *k, const char *s, size_t n, int64_t i, float *reals)
{
	double v = 0;
	int64_t whole = 0;
	qn_buf b;

	qn_buf_init(&b, k->arena);
	qn_buff(&b, "%.*s", (int)(n < 100 ? n : 100), s);
	const char *given = qn_buf_str(&b);
	if (reals == NULL && integer_of(s, n, &whole))
		return put_integer(k, i, whole);
	if (!qn_parse_f64(s, n, &v)) {
		qn_buf_init(&b, k->arena);
		qn_buff(&b,
			"element %lld is '%s'; expected numbers with commas between, or the path "
			"of a .npy",
			(long long)i, given);
		return wrong(k, qn_buf_str(&b));
	}
	if (reals == NULL)
		return fabs(v) >= 0x1p63 ? beyond(k, i, given)
					 : wrong_number(k, i, given, "integers are expected");
	reals[i] = (float)v;
	if (reals[i] - reals[i] != 0 && v - v == 0)
		return wrong_number(k, i, given, "this is outside the range of f32");
	return QN_OK;
}

/* How many numbers a text has. */
static int64_t
count_of(const char *text)
{
	int64_t n = 1;

	for (; *text != '\0'; text++)
		n += *text == ',';
	return n;
}

static qn_status
take_text(making *k, int64_t count, float *reals)
{
	const char *s = k->pin->text;
	int64_t have = count_of(s);

	if (have != 1 && have != count) {
		qn_buf b;

		qn_buf_init(&b, k->arena);
		qn_buff(&b, "%lld numbers; expected one for all %lld elements or one per element",
			(long long)have, (long long)count);
		return wrong(k, qn_buf_str(&b));
	}
	for (int64_t i = 0; i < count; i++) {
		size_t n = strcspn(s, ",");

		QN_TRY(put_text(k, s, n, i, reals));
		if (have > 1)
			s += n + (s[n] == ',');
	}
	return QN_OK;
}

static qn_status
take_array(making *k, int64_t count, float *reals)
{
	const qn_tensor *x = k->pin->value;
	const int64_t have = qn_type_count(x->type);

	for (int64_t i = 0; i < count; i++) {
		const int64_t from = have == 1 ? 0 : i;

		if (reals != NULL)
			reals[i] = (float)qn_tensor_f64(x, from);
		else
			QN_TRY(put_integer(k, i, qn_tensor_i64(x, from)));
	}
	return QN_OK;
}

/* ---- the array fits ---- */

static qn_status
check_shape(const making *k)
{
	const qn_type *t = k->pin->value->type;
	bool same = t->rank == k->type->rank;
	qn_buf b;

	for (int32_t i = 0; same && i < t->rank; i++)
		same = t->dim[i] == k->type->dim[i];
	if (same || qn_type_count(t) == 1)
		return QN_OK;
	qn_buf_init(&b, k->arena);
	qn_buff(&b, "an array of ");
	qn_type_print(&b, t);
	qn_buff(&b, "; expected the shape of the input, or one element for all");
	return wrong(k, qn_buf_str(&b));
}

/* Whether the array has the elements of the input as they are stored. */
static qn_status
check_type(const making *k, bool *as_stored)
{
	const qn_elem *have = k->pin->value->type->elem, *want = k->type->elem;
	const bool is_real = qn_elem_is_float(have), quantized = qn_elem_is_quant(want);
	const char *way;
	qn_buf b;

	*as_stored = quantized && !is_real && qn_elem_bytes(have) == qn_elem_bytes(want) &&
		     have->plain == want->plain;
	if (*as_stored || (is_real && (quantized || qn_elem_is_float(want))) ||
	    (!is_real && !quantized && !qn_elem_is_float(want)))
		return QN_OK;
	if (quantized)
		way = "quantized values of the storage type, or float values, are expected";
	else if (is_real)
		way = "integers are expected";
	else
		way = "float values are expected; the scale of integers is unknown";
	qn_buf_init(&b, k->arena);
	qn_buff(&b, "an array of %s; %s", qn_plain_table[have->plain].name, way);
	return wrong(k, qn_buf_str(&b));
}

/* ---- the value ---- */

void
qn_pin_dims(const qn_pin *pin, int32_t rank, int64_t *dim)
{
	const qn_type *t = pin->value != NULL ? pin->value->type : NULL;

	for (int32_t i = 0; t != NULL && t->rank == rank && i < rank; i++)
		dim[i] = dim[i] < 0 ? t->dim[i] : dim[i];
}

/* Quantized values have a range, which a fixed value is not clamped to without a word, and no NaN. */
static qn_status
check_reals(const making *k, const qn_type *f32, const float *reals)
{
	const qn_elem *e = k->type->elem;
	int64_t idx[QN_MAX_RANK] = {0};

	for (int64_t i = 0; i < qn_type_count(f32); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(k->types, e,
			      e->gran == QN_PER_TENSOR ? 0 : qn_type_param_index(k->type, idx),
			      &scale, &zp);
		const double least = (double)(e->qmin - zp) * scale,
			     most = (double)(e->qmax - zp) * scale, v = (double)reals[i];
		if (!(v >= least - scale / 2 && v <= most + scale / 2))
			return out_of_range(k, i, real_text(k, v), real_text(k, least),
					    real_text(k, most));
		for (int32_t d = k->type->rank - 1; d >= 0 && ++idx[d] == k->type->dim[d]; d--)
			idx[d] = 0;
	}
	return QN_OK;
}

/* Converts float values to elements of the input's type; *quantized: of quantized ones, else k->data has them. */
static qn_status
from_reals(making *k, const float *reals, const qn_tensor **quantized)
{
	const qn_type *f32 =
		qn_type_with_elem(k->types, k->type, qn_elem_plain(k->types, QN_PLAIN_f32));
	const qn_tensor *x = qn_tensor_view(k->arena, f32, reals);

	if (qn_elem_is_quant(k->type->elem)) {
		QN_TRY(check_reals(k, f32, reals));
		*quantized = qn_tensor_quantize(k->types, k->arena, x, k->type);
		return QN_OK;
	}
	for (int64_t i = 0; i < qn_type_count(f32); i++)
		qn_store_f64(k->data, k->type->elem->plain, i, (double)reals[i]);
	return QN_OK;
}

const qn_tensor *
qn_pin_tensor(qn_types *types, qn_arena *a, const char *place, const qn_pin *pin,
	      const qn_type *type)
{
	making k = {.types = types, .arena = a, .place = place, .pin = pin};
	const qn_tensor *quantized = NULL;
	int64_t dim[QN_MAX_RANK];
	bool as_stored = false;
	float *reals = NULL;

	if (type->is_tuple || type->rank < 0 || qn_elem_has_symbol(type->elem)) {
		k.type = type;
		(void)wrong(&k, "the type is not known yet; fix the input of the float model");
		return NULL;
	}
	for (int32_t i = 0; i < type->rank; i++)
		dim[i] = type->dim[i];
	qn_pin_dims(pin, type->rank, dim);
	k.type = qn_type_with_shape(types, type, type->rank, dim);
	const int64_t count = qn_type_count(k.type);
	if (count < 0) {
		(void)wrong(&k, "a dimension is open; fix it with an array of the full shape, or "
				"--input-dim");
		return NULL;
	}
	if (pin->text == NULL && (check_shape(&k) != QN_OK || check_type(&k, &as_stored) != QN_OK))
		return NULL;
	qn_tensor *x = qn_tensor_new(a, k.type, &k.data);
	if (!as_stored && (qn_elem_is_quant(k.type->elem) || qn_elem_is_float(k.type->elem)))
		reals = QN_NEW(a, float, (size_t)count + 1);
	qn_status status =
		pin->text != NULL ? take_text(&k, count, reals) : take_array(&k, count, reals);
	if (status == QN_OK && reals != NULL)
		status = from_reals(&k, reals, &quantized);
	if (status != QN_OK)
		return NULL;
	return quantized != NULL ? quantized : x;
}
