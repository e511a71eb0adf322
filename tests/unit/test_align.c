/* SPDX-License-Identifier: Apache-2.0 */
/* test_align.c - fixed-point scales and sums that are aligned to one of them.
 *
 *   37 (scale 205 * 2^-12, zero point 5) + -20 (154 * 2^-9, -3)
 *       ->  32 * 205 - 17 * 154 * 2^3 = -14384, a code of -33 under scale 0.1, zero point 2 */
#include "tests/unit/run_util.h"

#include <math.h>

#include "passes/passes.h"
#include "runtime/align.h"

/* ---- scales ---- */

static void
test_fix(void **state)
{
	static const struct {
		double s;
		int32_t mantissa, fraction;
	} rows[] = {
		{0.05, 205, 12},      {0.3, 154, 9},        {1.0 / 128, 128, 14},
		{1.0 / 127, 129, 14}, {1.7, 218, 7},        {3.0, 192, 6},
		{0.9999, 128, 7},     {6e-5, 252, 22},      {100, 200, 1},
		{1000, 250, -2},      {256, 128, -1},       {255.9, 128, -1},
		{0x1.ffp-3, 128, 9}, /* the tie between 255 and 256 goes up */
		{0x1.fdp-3, 255, 10}, {0x1p-149, 128, 156},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const qn_fixed f = qn_fix(rows[i].s, 8);

		assert_int_equal(f.mantissa, rows[i].mantissa);
		assert_int_equal(f.fraction, rows[i].fraction);
		assert_true(fabs(qn_fixed_value(f) - rows[i].s) <= 0x1p-8 * rows[i].s);
	}
	for (int32_t bits = QN_FIX_LEAST; bits <= QN_FIX_MOST; bits++)
		for (int k = 0; k < 1000; k++) {
			const double s = ldexp((double)pick(1, 1 << 30), (int)pick(-60, 20));
			const qn_fixed f = qn_fix(s, bits);

			assert_in_range(f.mantissa, 1 << (bits - 1), (1 << bits) - 1);
			assert_true(fabs(qn_fixed_value(f) - s) <= ldexp(s, -bits));
			assert_true(qn_is_fixed(qn_fixed_value(f), bits));
		}
	assert_true(qn_is_fixed(0.5, 8));
	assert_false(qn_is_fixed((double)0.1f, QN_FIX_MOST));
}

static const char *
fixed_text(const char *text, int32_t bits)
{
	const qn_type *made = qn_type_fix(&rg->m.types, "", type(text), bits);
	qn_buf b;

	assert_non_null(made);
	qn_buf_init(&b, &rg->arena);
	qn_type_print(&b, made);
	return qn_buf_str(&b);
}

/* Every number of a scale changes, and nothing else; fixing again changes nothing. */
static void
test_types(void **state)
{
	static const char *const rows[][2] = {
		{"tensor<4xf32>", "tensor<4xf32>"},
		{"tensor<4x!quant.any<i8:f32>>", "tensor<4x!quant.any<i8:f32>>"},
		{"tensor<4x!quant.uniform<i8<-127:127>:f32, 3.01:-5>>",
		 "tensor<4x!quant.uniform<i8<-127:127>:f32, 3.015625e+00:-5>>"},
		{"tensor<2x!quant.uniform<u8:f32:0, {3.01:7, 1.0}>>",
		 "tensor<2x!quant.uniform<u8:f32:0, {3.015625e+00:7, 1.000000e+00}>>"},
		{"tensor<2x!quant.uniform<i32:f32:0, 3.01*{0.9999, 2.0}>>",
		 "tensor<2x!quant.uniform<i32:f32:0, 3.015625e+00*{1.000000e+00,2.000000e+00}>>"},
		{"tensor<4x!quant.uniform<i32:f32, fmul(3.01, 2.0)>>",
		 "tensor<4x!quant.uniform<i32:f32, fmul(3.015625e+00,2.000000e+00)>>"},
		{"tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{3.01, 1.0}, {0.5, 0.25}}>>",
		 "tensor<2x4x!quant.uniform<i8:f32:{0:1,1:2}, "
		 "{{3.015625e+00,1.000000e+00},{5.000000e-01,2.500000e-01}}>>"},
		/* the next one up would be no f16 */
		{"tensor<4x!quant.uniform<i8:f16, 65504.0>>",
		 "tensor<4x!quant.uniform<i8:f16, 6.550400e+04>>"},
		{"tuple<tensor<4x!quant.uniform<i8:f32, 3.01>>, tensor<f32>>",
		 "tuple<tensor<4x!quant.uniform<i8:f32, 3.015625e+00>>, tensor<f32>>"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const qn_type *want = type(rows[i][1]);

		assert_string_equal(fixed_text(rows[i][0], 8), fixed_text(rows[i][1], 8));
		assert_ptr_equal(qn_type_fix(&rg->m.types, "", want, 8), want);
	}
}

/* ---- sums ---- */

static qn_id
aligned(qn_op op, const char *x, const char *y, const char *z, int64_t bits)
{
	qn_attrs a = {.sum = {.align = bits}};

	fresh_graph();
	qn_id in[2] = {input("x", x)};
	in[1] = input("y", y);
	return op2(op, in[0], in[1], &a, z);
}

static void
test_worked(void **state)
{
	const double x[] = {37}, y[] = {-20};

	(void)state;
	output(aligned(QN_OP_add, "tensor<1x!quant.uniform<i8:f32, 0.050048828125:5>>",
		       "tensor<1x!quant.uniform<i8:f32, 0.30078125:-3>>",
		       "tensor<1x!quant.uniform<i8:f32, 0.1:2>>", 8));
	assert_true(run((const double *[]){x, y})[0] == -33);
}

static void
test_shifts(void **state)
{
	static const struct {
		double a, b;
		int32_t bits;
		qn_family family;
		qn_align want;
	} rows[] = {
		{205 * 0x1p-12, 154 * 0x1p-9, 8, QN_FAMILY_s8, {{205, 154}, {0, 3}, 12, 0}},
		{154 * 0x1p-9, 205 * 0x1p-12, 8, QN_FAMILY_u8, {{154, 205}, {3, 0}, 12, 0}},
		{128, 1024, 8, QN_FAMILY_s8, {{128, 128}, {0, 3}, 0, 0}},
		{0x1p10, 0x1p8, 8, QN_FAMILY_s8, {{128, 128}, {2, 0}, -1, 0}},
		{0x1p-14, 1, 8, QN_FAMILY_s8, {{128, 128}, {0, 14}, 21, 0}},
		{0x1p-15, 1, 8, QN_FAMILY_s8, {{128, 128}, {-1, 14}, 21, 1}},
		{0x1p-7, 1, 15, QN_FAMILY_u8, {{16384, 16384}, {0, 7}, 21, 0}},
		{1, 0x1p-8, 15, QN_FAMILY_u8, {{16384, 16384}, {7, -1}, 21, 1}},
		{1, 0x1p-8, 8, QN_FAMILY_s16, {{128, 128}, {7, -1}, 14, 1}},
		{0x1p-1, 1, 15, QN_FAMILY_s16, {{16384, 16384}, {-1, 0}, 14, 1}},
		{0x1p-100, 0x1p20, 8, QN_FAMILY_s8, {{128, 128}, {-31, 14}, 1, 106}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_align have = qn_align_scales(rows[i].a, rows[i].b, rows[i].bits, rows[i].family);

		assert_memory_equal(&have, &rows[i].want, sizeof have);
	}
}

typedef struct storage {
	const char *name;
	double lo, hi;
	bool has_zp;
} storage;

/* A scale of so many bits, and its type's text. */
static const char *
some_type(const storage *s, int32_t bits, double *scale, double *zp)
{
	qn_buf b;

	*scale = qn_fixed_value(qn_fix(ldexp((double)pick(1, 1 << 20), (int)pick(-34, -16)), bits));
	*zp = s->has_zp ? (double)pick((int64_t)s->lo, (int64_t)s->hi) : 0;
	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "tensor<32x!quant.uniform<%s:f32, ", s->name);
	qn_buf_real(&b, *scale, true);
	qn_buff(&b, ":%d>>", (int)*zp);
	return qn_buf_str(&b);
}

/* Against real arithmetic on the codes: within one code, and what a lost bit is worth; at the ends of
 * the ranges too, where sums that did not fit would show. */
static void
test_sums(void **state)
{
	static const storage storages[] = {
		{"i8", -128, 127, true}, {"u8", 0, 255, true}, {"i16", -32768, 32767, false}};
	enum { N = 32, ROUNDS = 300 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		const storage *s = &storages[round % 3];
		const qn_op op = round % 2 == 0 ? QN_OP_add : QN_OP_sub;
		const int32_t bits = (int32_t)pick(QN_FIX_LEAST, QN_FIX_MOST);
		double scale[3], zp[3], *x = codes(N, (int64_t)s->lo, (int64_t)s->hi);
		double *y = codes(N, (int64_t)s->lo, (int64_t)s->hi);
		const char *tx = some_type(s, bits, &scale[0], &zp[0]);
		const char *ty = some_type(s, bits, &scale[1], &zp[1]);
		const char *tz = some_type(s, bits, &scale[2], &zp[2]);

		x[0] = y[0] = x[1] = y[2] = s->lo;
		x[2] = y[1] = x[3] = y[3] = s->hi;
		output(aligned(op, tx, ty, tz, bits));
		const double *have = run((const double *[]){x, y});
		const qn_align to = qn_align_scales(scale[0], scale[1], bits,
						    s->has_zp ? QN_FAMILY_s8 : QN_FAMILY_s16);
		const double lost = to.loss > 0 ? ldexp(0.5, -to.fraction) / scale[2] : 0;
		for (int i = 0; i < N; i++) {
			double a = (x[i] - zp[0]) * scale[0], b = (y[i] - zp[1]) * scale[1];
			double want = (op == QN_OP_add ? a + b : a - b) / scale[2] + zp[2];

			want = want < s->lo ? s->lo : want > s->hi ? s->hi : want;
			assert_true(fabs(have[i] - want) <= 1 + lost);
		}
	}
}

/* ---- one operand with a scale for each channel ---- */

enum { CHANNELS = 12, TERMS = 8 };

/* CHANNELS scales of so many bits, as far apart as 2^spread, and the type's text. */
static const char *
channels_type(const storage *s, int32_t bits, int spread, double *scale, double *zp)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "tensor<%dx%dx!quant.uniform<%s:f32:0, {", CHANNELS, TERMS, s->name);
	for (int c = 0; c < CHANNELS; c++) {
		scale[c] = qn_fixed_value(qn_fix(
			ldexp((double)pick(1 << 19, 1 << 20), (int)pick(-20 - spread, -20)), bits));
		zp[c] = s->has_zp ? (double)pick((int64_t)s->lo, (int64_t)s->hi) : 0;
		qn_buff(&b, "%s", c > 0 ? ", " : "");
		qn_buf_real(&b, scale[c], true);
		qn_buff(&b, ":%d", (int)zp[c]);
	}
	qn_buff(&b, "}>>");
	return qn_buf_str(&b);
}

/* Both ends of the storage in each channel. */
static double *
channel_codes(const storage *s)
{
	double *x = codes((int64_t)CHANNELS * TERMS, (int64_t)s->lo, (int64_t)s->hi);

	for (int c = 0; c < CHANNELS; c++) {
		x[c * TERMS] = s->lo;
		x[c * TERMS + 1] = s->hi;
	}
	return x;
}

/* Against exact arithmetic, the bound that docs/quantization.md derives: half a step, 2^-F of the
 * result's scale for the first of two roundings, what lost bits are worth, and 2^-31 of the value. */
static void
test_channels(void **state)
{
	static const storage from[] = {
		{"i8", -128, 127, true}, {"u8", 0, 255, true}, {"i16", -32768, 32767, false}};
	static const storage to[] = {
		{"i16", -32768, 32767, false}, {"i8", -128, 127, true}, {"u8", 0, 255, true}};
	enum { ROUNDS = 600 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		const storage *s = &from[round % 3], *t = &to[round / 3 % 3];
		const int32_t bits = (int32_t)pick(QN_FIX_LEAST, QN_FIX_MOST);
		qn_attrs a = {.requantize = {INT32_MIN, INT32_MAX, bits}};
		double scale[CHANNELS], zp[CHANNELS], *x = channel_codes(s), most = 0;
		int32_t table[3 * CHANNELS];
		const char *tx = channels_type(s, bits, (int)pick(0, 20), scale, zp);
		qn_buf b;

		for (int c = 0; c < CHANNELS; c++)
			most = fmax(most, scale[c]);
		/* in one of two the widest channel fills the result's range */
		const double step = (double)(float)(most * (s->hi - s->lo + 1) / (t->hi + 1) *
						    ldexp(1, (int)pick(-4, 4)));
		const double zo = t->has_zp ? (double)pick((int64_t)t->lo, (int64_t)t->hi) : 0;
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "tensor<%dx%dx!quant.uniform<%s:f32, ", CHANNELS, TERMS, t->name);
		qn_buf_real(&b, step, true);
		qn_buff(&b, ":%d>>", (int)zo);
		fresh_graph();
		output(op1(QN_OP_requantize, input("x", tx), &a, qn_buf_str(&b)));
		const double *have = run((const double *[]){x});
		const qn_align_channels aligned =
			qn_align_type(rg->g, type(tx), bits, CHANNELS, table);
		const double unit = ldexp(1, -aligned.fraction) / step;
		for (int i = 0; i < CHANNELS * TERMS; i++) {
			const int c = i / TERMS;
			double exact = (x[i] - zp[c]) * scale[c] / step;
			double off = 0.5 + unit + (aligned.loss > 0 ? unit / 2 : 0) +
				     fabs(exact) * 0x1p-31;

			exact += zo;
			if (exact >= t->lo && exact <= t->hi)
				assert_true(fabs(have[i] - exact) <= off);
			else
				assert_true(have[i] == (exact < t->lo ? t->lo : t->hi) ||
					    fabs(have[i] - exact) <= off);
		}
	}
}

/* The example of docs/quantization.md. */
static void
test_three_channels(void **state)
{
	int32_t table[9];

	(void)state;
	fresh_graph();
	const qn_align_channels to = qn_align_type(
		rg->g,
		type("tensor<3x!quant.uniform<i8:f32:0, {0.02001953125:3, 0.5, 1.703125:-7}>>"), 8,
		3, table);
	assert_int_equal(to.fraction, 13);
	assert_int_equal(to.loss, 0);
	assert_memory_equal(table, ((const int32_t[]){3, 164, 0, 0, 128, 5, -7, 218, 6}),
			    sizeof table);
}

/* ---- the pass ---- */

static void
test_pass(void **state)
{
	const char *x = "tensor<1x!quant.uniform<i8:f32, 0.0001>>";
	const char *y = "tensor<1x!quant.uniform<i8:f32, 100.0>>";

	(void)state;
	rg->m.stage = QN_STAGE_CALIBRATED;
	output(aligned(QN_OP_add, x, y, y, 0));
	qn_model_add_graph(&rg->m, rg->g);
	assert_int_equal(qn_align_model(&rg->m, QN_FIX_MOST), QN_OK);
	assert_int_equal(rg->diags.n, 1);
	assert_int_equal(rg->diags.item[0].severity, QN_WARNING);
	assert_string_equal(rg->diags.item[0].id, "align.loss");
	rg->m.stage = QN_STAGE_FLOAT;
	assert_int_equal(qn_align_model(&rg->m, QN_FIX_MOST), QN_EINVALID);
	assert_string_equal(rg->diags.item[1].id, "pass.stage");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fix),  TEST(test_types),    TEST(test_worked),         TEST(test_shifts),
		TEST(test_sums), TEST(test_channels), TEST(test_three_channels), TEST(test_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
