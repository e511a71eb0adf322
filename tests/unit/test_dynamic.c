/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of run time: the kernels against exact arithmetic in wide integers, and the quantized values and their scale
 * against the definition in floats, dynamic_fake_quant.
 *
 *   ratios          x * steps / reach, for all reaches and, of small ones, all x; QUERN_FULL=1: more of x
 *   multipliers     mantissa * mult is rounded once
 *   rescaling       rounded once, in all modes, for all widths of sums, at the ends of every range
 *   definition      values within one step, the scale within 2^-22 of itself */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/kernels/dynamic.h"

__extension__ typedef __int128 wide;

/* n / d rounded to the nearest integer, halves to even; d > 0. */
static int64_t
even_ratio(int64_t n, int64_t d)
{
	const int64_t size = n < 0 ? -n : n;
	int64_t q = size / d;
	const int64_t twice = 2 * (size % d);

	q += twice > d || (twice == d && q % 2 != 0);
	return n < 0 ? -q : q;
}

static void
check_ratio(const qn_ratio *d, int32_t reach, int32_t x)
{
	static const int32_t steps[] = {127, 255};

	for (size_t k = 0; k < QN_COUNT(steps); k++)
		for (int32_t sign = -1; sign <= 1; sign += 2) {
			const int64_t want = even_ratio((int64_t)sign * x * steps[k], reach);

			if (qn_ratio_steps(d, sign * x, steps[k]) != want)
				fail_msg("%d * %d / %d: want %lld, have %d", (int)(sign * x),
					 (int)steps[k], (int)reach, (long long)want,
					 (int)qn_ratio_steps(d, sign * x, steps[k]));
		}
}

static void
test_ratios(void **state)
{
	const char *full = getenv("QUERN_FULL");
	const int draws = full != NULL && strcmp(full, "1") == 0 ? 400 : 20;

	(void)state;
	for (int32_t reach = 1; reach <= 65535; reach++) {
		const qn_ratio d = qn_ratio_of(reach);

		for (int32_t x = 0; reach <= 600 && x <= reach; x++)
			check_ratio(&d, reach, x);
		for (int k = 0; k < draws; k++)
			check_ratio(&d, reach, (int32_t)pick(0, reach));
		/* next to a half, and at both ends */
		for (int32_t q = 0; q < 127; q += 9)
			for (int32_t off = -1; off <= 1; off++) {
				const int64_t x = ((int64_t)(2 * q + 1) * reach) / 254 + off;

				if (x >= 0 && x <= reach)
					check_ratio(&d, reach, (int32_t)x);
			}
		check_ratio(&d, reach, reach);
	}
}

static void
test_multipliers(void **state)
{
	const int64_t least = INT64_C(1) << 30, most = (INT64_C(1) << 31) - 1;

	(void)state;
	for (int k = 0; k < 100000; k++) {
		const int32_t a = (int32_t)(k % 7 == 0 ? most - pick(0, 3) : pick(least, most));
		const int32_t b = (int32_t)(k % 5 == 0 ? least + pick(0, 3) : pick(least, most));
		const int32_t e = (int32_t)pick(-40, 40), shift = (int32_t)pick(-90, 50);
		int32_t s;
		const int32_t m = qn_dynamic_multiplier(a, e, b, shift, &s);
		const int32_t n = s - e - shift; /* m * 2^n is a * b, rounded */
		const wide off = ((wide)m << n) - (wide)a * b;

		assert_true(m >= least && m <= most);
		assert_true(off <= (wide)1 << (n - 1) && -off <= (wide)1 << (n - 1));
		/* half a unit of at least 2^30 */
		assert_true(fabs((double)off) <= 0x1p-31 * (double)a * (double)b);
	}
	int32_t s;
	assert_int_equal(qn_dynamic_multiplier(0, 0, (int32_t)most, 5, &s), 0);
}

/* x * m * 2^(s-31) + bias * 2^-fraction, rounded once. */
static int64_t
exact(int64_t x, int32_t m, int32_t s, int32_t bias, int32_t fraction, int32_t mode)
{
	const int32_t bits = 31 - s > fraction ? 31 - s : fraction;
	const wide n = (wide)x * m * ((wide)1 << (bits - (31 - s))) +
		       (wide)bias * ((wide)1 << (bits - fraction));
	wide q = n >> bits;
	const wide rest = n - q * ((wide)1 << bits), half = bits > 0 ? (wide)1 << (bits - 1) : 0;

	if (bits > 0 &&
	    (rest > half ||
	     (rest == half && (mode == QN_RQ_SINGLE || (mode == QN_RQ_EVEN && q % 2 != 0) ||
			       ((mode == QN_RQ_DOUBLE || mode == QN_RQ_NEAREST) && q >= 0)))))
		q++;
	return q > INT32_MAX ? INT32_MAX : q < INT32_MIN ? INT32_MIN : (int64_t)q;
}

static int64_t
sum_of(int32_t bits)
{
	const int64_t most = bits == 64 ? (INT64_C(1) << 47) - 1 : (INT64_C(1) << (bits - 1)) - 1;

	switch (pick(0, 5)) {
	case 0:
		return most - pick(0, 1);
	case 1:
		return -most - (bits < 64 ? pick(0, 1) : 0);
	case 2:
		return pick(-8, 8);
	case 3: /* halves, often */
		return (pick(0, 1) != 0 ? 1 : -1) *
		       (INT64_C(1) << pick(0, bits == 64 ? 46 : bits - 2));
	default:
		return bits == 64 ? pick(-(INT64_C(1) << 30), INT64_C(1) << 30) * 65536 +
					    pick(0, 65535)
				  : pick(-most / 2 - 1, most / 2);
	}
}

static void
check_rescale(int32_t bits, int32_t mode)
{
	const int32_t lo = bits % 16 == 0 ? -32768 : -128, hi = -lo - 1;
	const int32_t zo = lo == -128 ? (int32_t)pick(lo, hi) : 0;
	const int32_t mantissa = (int32_t)(pick(0, 9) == 0 ? INT32_MAX : pick(1, 1 << pick(1, 30)));
	const int32_t exponent = (int32_t)pick(-3, 3);
	const int32_t mult =
		(int32_t)(pick(0, 3) == 0 ? INT64_C(1) << 30 : pick(INT64_C(1) << 30, INT32_MAX));
	const int32_t bias =
		(int32_t)(pick(0, 3) == 0 ? 0 : pick(-(INT64_C(1) << 30), INT64_C(1) << 30));
	const int8_t shift = (int8_t)(pick(-50, 6) - (bits < 64 ? 0 : 8));
	const qn_dynamic_rescale_args a = {.rows = 1,
					   .inner = 1,
					   .channels = 1,
					   .bits = bits,
					   .zo = zo,
					   .lo = lo,
					   .hi = hi,
					   .mode = mode,
					   .fraction = (int32_t)pick(0, 16),
					   .mult_n = 1,
					   .exponent = &exponent,
					   .bias = &bias,
					   .mult = &mult,
					   .shift = &shift};
	const int64_t x = sum_of(bits);
	const int8_t x8 = (int8_t)x;
	const int16_t x16 = (int16_t)x;
	const int32_t x32 = (int32_t)x;
	const void *at = bits == 8    ? (const void *)&x8
			 : bits == 16 ? (const void *)&x16
			 : bits == 32 ? (const void *)&x32
				      : (const void *)&x;
	const int32_t up = qn_clz32((uint32_t)mantissa) - 1;
	int32_t s;
	const int32_t m = qn_dynamic_multiplier(mantissa << up, exponent - up, mult, shift, &s);
	int16_t wide_y = 0;
	int8_t y = 0;

	if (s > 31 || s < -70)
		return; /* more than the model's integers hold */
	if (lo == -128)
		qn_dynamic_rescale_s8(&a, at, &mantissa, &y);
	else
		qn_dynamic_rescale_s16(&a, at, &mantissa, &wide_y);
	int64_t want = exact(x, m, s, bias, a.fraction, mode) + zo;
	want = want < lo ? lo : want > hi ? hi : want;
	if ((lo == -128 ? y : wide_y) != want)
		fail_msg("%d bits, %lld, mantissa %d 2^%d, mult %d %d, bias %d / 2^%d, mode %d: "
			 "want %lld, have %d",
			 (int)bits, (long long)x, (int)mantissa, (int)exponent, (int)mult,
			 (int)shift, (int)bias, (int)a.fraction, (int)mode, (long long)want,
			 (int)(lo == -128 ? y : wide_y));
}

static void
test_rescaling(void **state)
{
	static const int32_t bits[] = {8, 16, 32, 64};

	(void)state;
	for (int k = 0; k < 400000; k++)
		check_rescale(bits[k % 4], k / 4 % 4);
}

/* ---- the definition ---- */

enum { VALUES = 24 };

/* The reach of a row as the definition takes it. */
static double
reach_of(const double *x, int n, bool asymmetric)
{
	double lo = 0, hi = 0;

	for (int i = 0; i < n; i++) {
		lo = fmin(lo, x[i]);
		hi = fmax(hi, x[i]);
	}
	return asymmetric ? hi - lo : fmax(hi, -lo);
}

/* The values of the graph's op on integers, and of the definition on their floats: no more than a step apart. */
static void
check_definition(const char *storage, const double *x, bool asymmetric, bool rows)
{
	const qn_attrs *a =
		attributes((qn_attrs){.dynamic = {.rows = rows, .asymmetric = asymmetric}});
	const double steps = asymmetric ? 255 : 127;
	const int n = rows ? VALUES / 3 : VALUES;
	qn_buf t;

	qn_buf_init(&t, &rg->arena);
	qn_buff(&t, "tensor<3x%dx!quant.uniform<%s>>", VALUES / 3, storage);
	const char *text = qn_buf_str(&t);
	double scale, *q, *y, *f;
	int64_t zp;
	qn_elem_param(&rg->m.types, type(text)->elem, 0, &scale, &zp);

	fresh_graph();
	output(op1(QN_OP_dynamic_values, input("x", text), a, NULL));
	q = run1(x);
	fresh_graph();
	qn_id d = op1(QN_OP_dynamic_quantize, input("x", text), a, NULL), part[3];
	for (int i = 0; i < 3; i++)
		part[i] = op1(QN_OP_get, d, attributes((qn_attrs){.get = {.index = i}}), NULL);
	output(op(QN_OP_dynamic_rescale, 3, part,
		  attributes((qn_attrs){.dynamic_rescale = {INT32_MIN, INT32_MAX}}),
		  "tensor<3x8xf32>"));
	y = run1(x);
	fresh_graph();
	d = op1(QN_OP_dequantize, input("x", text), NULL, NULL);
	output(op1(QN_OP_dynamic_fake_quant, d, a, NULL));
	f = run1(x);
	for (int i = 0; i < VALUES; i++) {
		double row[VALUES];

		for (int k = 0; k < n; k++)
			row[k] = (x[i / n * n + k] - (double)zp) * scale;
		const double step = reach_of(row, n, asymmetric) / steps;

		assert_true(fabs(q[i]) <= steps);
		/* the scale is exact but for the result's f32 */
		assert_true(fabs(y[i] - q[i] * step) <= 0x1p-23 * fabs(y[i]));
		/* of the definition it is off by 2^-22 */
		assert_true(fabs(y[i] - f[i]) <= step * (1 + steps * 0x1p-22));
		if (fabs(x[i] - (double)zp) * scale / step * steps >
		    0) /* and so is it from the value */
			assert_true(fabs(y[i] - row[i % n]) <=
				    step * (asymmetric ? 1.0001 : 0.50001));
	}
}

static void
test_definition(void **state)
{
	static const struct {
		const char *text;
		int64_t lo, hi, zero;
	} storages[] = {{"i16:f32, 0.001", -32768, 32767, 0},
			{"i8:f32, 0.02:-128", -128, 127, -128},
			{"i8:f32, 0.02:5", -128, 127, 5},
			{"u8:f32, 0.3:255", 0, 255, 255}};
	double x[VALUES];

	(void)state;
	for (size_t s = 0; s < QN_COUNT(storages); s++)
		for (int k = 0; k < 60; k++) {
			const int64_t lo = storages[s].lo, hi = storages[s].hi,
				      zero = storages[s].zero;
			const int64_t far = 1 << pick(0, 15);

			for (int i = 0; i < VALUES; i++) {
				const int64_t near_zero = zero + pick(-far, far);

				x[i] = (double)(k == 0   ? zero                 /* all 0 */
						: k == 1 ? (i == 7 ? hi : zero) /* one spike */
						: k == 2 ? (i % 2 != 0 ? lo : hi)
						: k == 3 ? lo /* constants */
						: k == 4 ? hi
						: k == 5 ? (i == 3 ? lo : zero + (zero < hi))
						: k < 9  ? pick(lo, hi)
						: near_zero < lo ? lo
						: near_zero > hi ? hi
								 : near_zero);
			}
			for (int way = 0; way < 4; way++)
				check_definition(storages[s].text, x, way / 2 != 0, way % 2 != 0);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_multipliers),
		cmocka_unit_test(test_rescaling),
		cmocka_unit_test(test_definition),
	};

	return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
