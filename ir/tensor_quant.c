/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_quant.c - float values to quantized values and back.  The order of the steps is fixed
 * here and nowhere else:
 *
 *     x ── / scale ── round half to even (or away) ── + zero point ── clamp ──▶ q
 *     q ── - zero point (integers) ── to float ── * scale ──▶ x
 *
 * A scale that is a leaf divides and multiplies in f32, as every f32 program would; an
 * expression has a value in double, so the division or the product is made in double and rounded
 * once. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/clamp.h"
#include "ir/tensor.h"

#define ROUND_LIMIT                                                                                \
	0x1p40 /* beyond every 32-bit range; keeps the sum with the zero point in int64 */

static int64_t
add_clamped(int64_t r, int64_t zp, int64_t qmin, int64_t qmax)
{
	int64_t q;

	if (zp > 0 && r > INT64_MAX - zp)
		q = INT64_MAX;
	else if (zp < 0 && r < INT64_MIN - zp)
		q = INT64_MIN;
	else
		q = r + zp;
	return qn_clamp_i64(q, qmin, qmax);
}

static double
half_away(double x)
{
	return x < 0.0 ? -floor(-x + 0.5) : floor(x + 0.5);
}

static int64_t
code_of(double x, double scale, bool leaf_f32, bool away, int64_t zp, int64_t qmin, int64_t qmax)
{
	if (isnan(x))
		return add_clamped(0, zp, qmin, qmax);
	double r = leaf_f32 ? (double)((float)x / (float)scale) : x / scale;
	r = away ? half_away(r) : rint(r);
	if (isnan(r)) /* inf / inf cannot be: scales are finite */
		r = 0.0;
	return add_clamped((int64_t)qn_clamp_f64(r, -ROUND_LIMIT, ROUND_LIMIT), zp, qmin, qmax);
}

int64_t
qn_quantize_value(double x, double scale, bool leaf_f32, int64_t zp, int64_t qmin, int64_t qmax)
{
	return code_of(x, scale, leaf_f32, false, zp, qmin, qmax);
}

/* The difference in int64; when that overflows (64-bit storage only) it is taken in double. */
static double
difference(int64_t q, int64_t zp, bool leaf_f32)
{
	if ((zp < 0 && q > INT64_MAX + zp) || (zp > 0 && q < INT64_MIN + zp))
		return (double)q - (double)zp;
	return leaf_f32 ? (double)(float)(q - zp) : (double)(q - zp);
}

double
qn_dequantize_value(int64_t q, double scale, bool leaf_f32, int64_t zp)
{
	const double d = difference(q, zp, leaf_f32);

	return leaf_f32 ? (double)((float)d * (float)scale) : d * scale;
}

/* ---- whole tensors ---- */

/* One conversion, whose parameters are those of the quantized side. */
typedef struct cast {
	const qn_types *t;
	const qn_tensor *from;
	void *to;
	qn_plain to_plain;
	const qn_type *quantized; /* its shape is that of both sides */
	bool leaf_f32;            /* the scale is one f32 number: single-precision arithmetic */
	bool to_quantized;
	bool away; /* rounds halves away from 0 */
} cast;

/* Elements first, first + step, … (n of them), which have the same parameters. */
typedef struct run {
	int64_t first, n, step;
	double scale;
	int64_t zp;
} run;

static void
run_slowly(const cast *c, const run *r)
{
	const qn_elem *q = c->quantized->elem;
	const int64_t end = r->first + r->n * r->step;

	for (int64_t i = r->first; c->to_quantized && i < end; i += r->step)
		qn_store_i64(c->to, c->to_plain, i,
			     code_of(qn_tensor_f64(c->from, i), r->scale, c->leaf_f32, c->away,
				     r->zp, q->qmin, q->qmax));
	for (int64_t i = r->first; !c->to_quantized && i < end; i += r->step)
		qn_store_f64(c->to, c->to_plain, i,
			     qn_dequantize_value(qn_tensor_i64(c->from, i), r->scale, c->leaf_f32,
						 r->zp));
}

/* The same bits for the types that most values have: f32 on one side, up to 16 bits (or those of a
 * sum) on the other.  Clamping before rounding is the same, as the bounds are integers; these are
 * below 2^19, where adding 1.5 * 2^23 leaves the integer that a float rounds to.  Values side by side go LANES
 * at a time, in loops of as many turns, of which compilers make vectors. */
#define QUANTIZE_ROWS(X) X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t)

typedef struct rounding {
	float lo, hi, scale;
	int32_t zp;
} rounding;

static inline int32_t
rounded(const rounding *r, float v)
{
	const float unit = 0x1.8p23f;

	v = (v != v ? 0.0f : v) / r->scale;
	v = v < r->lo ? r->lo : v;
	v = v > r->hi ? r->hi : v;
	v = (v + unit) - unit;
	return (int32_t)v + r->zp;
}

enum { LANES = 16 };

#define X(name, ctype)                                                                             \
	static void quantize_##name(const cast *c, const run *r)                                   \
	{                                                                                          \
		const qn_elem *q = c->quantized->elem;                                             \
		const rounding how = {(float)(q->qmin - r->zp), (float)(q->qmax - r->zp),          \
				      (float)r->scale, (int32_t)r->zp};                            \
		const int64_t end = r->first + r->n * r->step;                                     \
		const char *from = c->from->data;                                                  \
		int64_t i = r->first;                                                              \
                                                                                                   \
		for (; r->step == 1 && i + LANES <= end; i += LANES) {                             \
			float v[LANES];                                                            \
			ctype code[LANES];                                                         \
                                                                                                   \
			memcpy(v, from + (size_t)i * sizeof *v, sizeof v);                         \
			for (int j = 0; j < LANES; j++)                                            \
				code[j] = (ctype)rounded(&how, v[j]);                              \
			memcpy((char *)c->to + (size_t)i * sizeof *code, code, sizeof code);       \
		}                                                                                  \
		for (; i < end; i += r->step) {                                                    \
			float v;                                                                   \
                                                                                                   \
			memcpy(&v, from + (size_t)i * sizeof v, sizeof v);                         \
			const ctype code = (ctype)rounded(&how, v);                                \
			memcpy((char *)c->to + (size_t)i * sizeof code, &code, sizeof code);       \
		}                                                                                  \
	}
QUANTIZE_ROWS(X)
#undef X

#define DEQUANTIZE_ROWS(X)                                                                         \
	X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t) X(i32, int32_t)

#define X(name, ctype)                                                                             \
	static void dequantize_##name(const cast *c, const run *r)                                 \
	{                                                                                          \
		const float scale = (float)r->scale;                                               \
		const int64_t end = r->first + r->n * r->step;                                     \
                                                                                                   \
		for (int64_t i = r->first; i < end; i += r->step) {                                \
			ctype code;                                                                \
			float v;                                                                   \
                                                                                                   \
			memcpy(&code, (const char *)c->from->data + (size_t)i * sizeof code,       \
			       sizeof code);                                                       \
			const int64_t d = (int64_t)code - r->zp;                                   \
			const double wide = (double)d * r->scale;                                  \
			if (c->leaf_f32)                                                           \
				v = (float)d * scale;                                              \
			else if (fabs(wide) <= (double)FLT_MAX)                                    \
				v = (float)wide;                                                   \
			else                                                                       \
				v = (float)qn_round_to(QN_PLAIN_f32, wide);                        \
			memcpy((char *)c->to + (size_t)i * sizeof v, &v, sizeof v);                \
		}                                                                                  \
	}
DEQUANTIZE_ROWS(X)
#undef X

typedef void run_fn(const cast *c, const run *r);

static run_fn *
find_run(const cast *c)
{
	static run_fn *const to_quantized[QN_NPLAIN] = {
#define X(name, ctype) [QN_PLAIN_##name] = quantize_##name,
		QUANTIZE_ROWS(X)
#undef X
	};
	static run_fn *const to_reals[QN_NPLAIN] = {
#define X(name, ctype) [QN_PLAIN_##name] = dequantize_##name,
		DEQUANTIZE_ROWS(X)
#undef X
	};
	const qn_plain from = c->from->type->elem->plain;
	run_fn *fn = NULL;

	if (c->to_quantized && from == QN_PLAIN_f32 && c->leaf_f32 && !c->away)
		fn = to_quantized[c->to_plain];
	else if (!c->to_quantized && c->to_plain == QN_PLAIN_f32)
		fn = to_reals[from];
	return fn != NULL ? fn : run_slowly;
}

/* Floats of few bits: what they stand for, times the scale. */
static void
run_small(const cast *c, const run *r)
{
	const qn_small_float f = c->quantized->elem->small;
	const int64_t end = r->first + r->n * r->step;

	for (int64_t i = r->first; i < end; i += r->step) {
		const double v = qn_small_value(f, (uint8_t)qn_tensor_i64(c->from, i));

		qn_store_f64(c->to, c->to_plain, i,
			     c->leaf_f32 ? (double)((float)v * (float)r->scale) : v * r->scale);
	}
}

/* Zero points with a fraction: the difference and the product in double, rounded once. */
static void
run_fraction(const cast *c, const run *r)
{
	const double zero = ldexp((double)r->zp, -(int)c->quantized->elem->zp_fraction);
	const int64_t end = r->first + r->n * r->step;

	for (int64_t i = r->first; i < end; i += r->step)
		qn_store_f64(c->to, c->to_plain, i,
			     ((double)qn_tensor_i64(c->from, i) - zero) * r->scale);
}

static void
cast_run(const cast *c, int64_t first, int64_t n, int64_t step, size_t k)
{
	const int64_t most = 1 << 17; /* of a zero point, for sums in 32 bits */
	run r = {.first = first, .n = n, .step = step};

	qn_elem_param(c->t, c->quantized->elem, k, &r.scale, &r.zp);
	if (c->quantized->elem->small != QN_SMALL_NONE)
		run_small(c, &r);
	else if (c->quantized->elem->zp_fraction != 0)
		run_fraction(c, &r);
	else if (r.zp > most || r.zp < -most)
		run_slowly(c, &r);
	else
		find_run(c)(c, &r);
}

/* Sub-channel blocks: the parameters are looked up for each element. */
static void
cast_blocks(const cast *c)
{
	const qn_type *type = c->quantized;
	int64_t idx[QN_MAX_RANK] = {0};
	int64_t n = qn_type_count(type);

	for (int64_t i = 0; i < n; i++) {
		cast_run(c, i, 1, 1, qn_type_param_index(type, idx));
		for (int32_t d = type->rank - 1; d >= 0 && ++idx[d] == type->dim[d]; d--)
			idx[d] = 0;
	}
}

static void
cast_all(const cast *c)
{
	const qn_type *type = c->quantized;
	int32_t axis = type->elem->gran == QN_PER_AXIS ? type->elem->axis[0] : -1;
	int64_t inner = 1, n = qn_type_count(type);

	if (type->elem->gran == QN_SUB_CHANNEL) {
		cast_blocks(c);
		return;
	}
	if (axis < 0) {
		cast_run(c, 0, n, 1, 0);
		return;
	}
	for (int32_t d = axis + 1; d < type->rank; d++)
		inner *= type->dim[d];
	const int64_t channels = type->dim[axis], step = channels * inner;
	for (int64_t k = 0; k < channels; k++) {
		if (inner == 1) /* channels last */
			cast_run(c, k, n / channels, channels, (size_t)k);
		for (int64_t first = k * inner; inner > 1 && first < n; first += step)
			cast_run(c, first, inner, 1, (size_t)k);
	}
}

bool
qn_elem_is_single(const qn_elem *e)
{
	return e->scale->a == NULL && e->expressed != QN_PLAIN_f64;
}

void
qn_quantize_into(const qn_types *t, const qn_tensor *x, const qn_type *to, void *data)
{
	const cast c = {t, x, data, to->elem->plain, to, qn_elem_is_single(to->elem), true, false};

	cast_all(&c);
}

void
qn_quantize_away_into(const qn_types *t, const qn_tensor *x, const qn_type *to, void *data)
{
	const cast c = {t, x, data, to->elem->plain, to, qn_elem_is_single(to->elem), true, true};

	cast_all(&c);
}

void
qn_dequantize_into(const qn_types *t, const qn_tensor *x, qn_plain to, void *data)
{
	const cast c = {t, x, data, to, x->type, qn_elem_is_single(x->type->elem), false, false};

	cast_all(&c);
}

qn_tensor *
qn_tensor_quantize(const qn_types *t, qn_arena *a, const qn_tensor *x, const qn_type *to)
{
	void *data;
	qn_tensor *out = qn_tensor_new(a, to, &data);

	qn_quantize_into(t, x, to, data);
	return out;
}

qn_tensor *
qn_tensor_dequantize(const qn_types *t, qn_arena *a, const qn_tensor *x, const qn_type *to)
{
	void *data;
	qn_tensor *out = qn_tensor_new(a, to, &data);

	qn_dequantize_into(t, x, to->elem->plain, data);
	return out;
}
