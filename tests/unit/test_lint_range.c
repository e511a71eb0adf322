/* SPDX-License-Identifier: Apache-2.0 */
/* test_lint_range.c - warnings about samples outside of the range of a quantized input
 * (calibrate/lint_range.c).
 *
 *   range 0 to 1 in steps of 1/255; one of 8 values outside: nothing;   one of 7: data.range */
#include "tests/unit/run_util.h"

#include <stdio.h>

#include "calibrate/lint.h"

enum { MOST = 800 };

/* An input of type tensor<1xDIMxIN>, %y of it, and n samples of tensor<DIMxOF>. */
static void
lint_as(const char *dim, const char *in, const char *body, const char *of, size_t n,
	const double *v, qn_prep prep)
{
	qn_dataset *d;
	const qn_source *s;
	char text[64];
	qn_buf b;

	rig_teardown(NULL);
	rig_setup(NULL);
	qn_buf_init(&b, &rg->arena);
	qn_buff(&b,
		"model \"m\" stage calibrated\ngraph @main(%%x: tensor<1x%s%s>) {\n%s  return "
		"%%y\n}\n",
		dim, in, body);
	assert_int_equal(qn_model_parse(&rg->m, "test", qn_buf_str(&b), b.n), QN_OK);
	snprintf(text, sizeof text, "tensor<%zux%s%s>", n, dim, of);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_source *x = qn_source_tensor(&rg->arena, tensor(type(text), v), "x.npy");
	assert_int_equal(qn_source_scaled(&rg->m.types, &rg->arena, x, &prep, &s), QN_OK);
	assert_int_equal(qn_dataset_sources(g, &rg->arena, 1, &s, &d), QN_OK);
	assert_int_equal(qn_lint_data(g, d, 0, &rg->arena), QN_OK);
}

static void
lint(const char *in, const char *body, const char *of, size_t n, const double *v, qn_prep prep)
{
	lint_as("1x", in, body, of, n, v, prep);
}

/* The one warning, or none where `want` is NULL. */
static void
expect(const char *id, const char *want)
{
	const qn_diags *d = &rg->diags;

	if (d->n != (want != NULL))
		fail_msg("%s: %zu warnings", want != NULL ? want : "none", d->n);
	if (want == NULL)
		return;
	assert_string_equal(d->item[0].id, id);
	assert_string_equal(d->item[0].place, "x.npy");
	if (strstr(d->item[0].message, want) == NULL)
		fail_msg("%s", d->item[0].message);
}

#define UNIT "!quant.uniform<u8:f32, 0.00392156862745098>"

static void
test_share(void **state)
{
	static const struct {
		size_t n, outside;
		double v; /* those outside */
		const char *want;
	} rows[] = {
		{8, 1, 2, NULL},
		{7, 1, 2,
		 "1 of 7 values (14 %) are outside of the range 0.0 to 1.0 of input 'x' and "
		 "saturate (smallest 0.5, largest 2.0): "},
		{7, 7, 1.0019, NULL}, /* rounds to the end */
		{7, 7, 1.0021, "7 of 7 values (100 %)"},
		{7, 7, -0.0021, "(smallest -0.0021, largest -0.0021)"},
		{800, 1, 9, NULL}, /* 8 widths beyond the end */
		{800, 1, 9.1, "1 of 800 values (0 %)"},
		{800, 1, -8.1, "smallest -8.1, largest 0.5"},
	};
	double v[MOST];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		for (size_t k = 0; k < rows[i].n; k++)
			v[k] = k < rows[i].outside ? rows[i].v : 0.5;
		lint(UNIT, "  %y = reshape %x {shape=[1]}\n", "f32", rows[i].n, v, (qn_prep){0});
		expect("data.range", rows[i].want);
	}
}

/* Samples that are too close together for the steps of the range. */
static void
test_narrow(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		double from, step;
		const char *want;
	} rows[] = {
		{"!quant.uniform<u8:f32, 1.0>", 64, 0, 1.0 / 63,
		 "the values from 0.0 to 1.0 become at most 2 of the 256 quantized values that "
		 "input 'x' has for its range 0.0 to 255.0: "},
		{"!quant.uniform<u8:f32, 1.0>", 63, 0, 1.0 / 63, NULL}, /* too few to say so */
		{"!quant.uniform<u8:f32, 1.0>", 64, 100, 7.0 / 63,
		 "from 100.0 to 107.0 become at most 8 of"},
		{"!quant.uniform<u8:f32, 1.0>", 64, 100, 8.0 / 63, NULL},
		{"!quant.uniform<u8:f32, 1.0>", 64, 0.5, 0, NULL}, /* all are equal */
		{"!quant.uniform<u8<0:15>:f32, 1.0>", 64, 0, 1.0 / 63, NULL},
		{"f32", 64, 0, 1.0 / 63, NULL},
	};
	double v[MOST];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		for (size_t k = 0; k < rows[i].n; k++)
			v[k] = rows[i].from + rows[i].step * (double)k;
		lint(rows[i].in, "  %y = reshape %x {shape=[1]}\n", "f32", rows[i].n, v,
		     (qn_prep){0});
		expect("data.range", rows[i].want);
	}
	for (size_t k = 0; k < 64; k++)
		v[k] = (double)(k % 2); /* quantized values */
	lint("!quant.uniform<u8:f32, 1.0>", "  %y = reshape %x {shape=[1]}\n", "f32", 64, v,
	     (qn_prep){0});
	expect("data.range", NULL);
}

/* Where the range is known, and where there is nothing to compare with it. */
static void
test_inputs(void **state)
{
	static const struct {
		const char *in, *body, *of;
		bool tells;
	} rows[] = {
		{"f32", "  %y = quantize %x : tensor<1x1x" UNIT ">\n", "f32", true},
		{"f32", "  %y = relu %x\n", "f32", false},
		{UNIT, "  %y = reshape %x {shape=[1]}\n", "f64", true},
		{UNIT, "  %y = reshape %x {shape=[1]}\n", "u8", false}, /* quantized values */
		{"!quant.uniform<u8:f32, 1.0>", "  %y = reshape %x {shape=[1]}\n", "f32", false},
	};
	double v[8];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		for (size_t k = 0; k < 8; k++)
			v[k] = 20 * (double)k;
		lint(rows[i].in, rows[i].body, rows[i].of, 8, v, (qn_prep){0});
		expect("data.range", rows[i].tells ? "7 of 8 values (88 %)" : NULL);
	}
}

/* Integers of the input's own storage type that an option makes float values without changing them. */
static void
test_stored(void **state)
{
	static const double mean[] = {1};
	const struct {
		const char *in, *of;
		qn_prep prep;
		const char *want;
	} rows[] = {
		{"!quant.uniform<i8:f32, 0.5:83>",
		 "i8",
		 {.given = true, .scale = 1},
		 "elements of type i8, the storage type of input 'x', are taken as float values "
		 "because of --input-scale 1, and quantized (scale 0.5, zero point 83.0): "},
		{"!quant.uniform<i8:f32, 0.5:83>", "i8", {.scale = 1}, NULL},
		{"!quant.uniform<i8:f32, 0.5:83>", "i8", {.given = true, .scale = 0.5}, NULL},
		{"!quant.uniform<i8:f32, 0.5:83>",
		 "i8",
		 {.given = true, .scale = 1, .zero = 2},
		 NULL},
		{"!quant.uniform<i8:f32, 0.5:83>",
		 "i8",
		 {.given = true, .scale = 1, .nmean = 1, .mean = mean},
		 NULL},
		{"!quant.uniform<i8:f32, 0.5:83>", "u8", {.given = true, .scale = 1}, NULL},
		{"!quant.uniform<i8:f32, 1.0>", "i8", {.given = true, .scale = 1}, NULL},
	};
	const double v[] = {1, 2, 3, 4, 5, 6, 7, 8};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		lint(rows[i].in, "  %y = reshape %x {shape=[1]}\n", rows[i].of, 8, v, rows[i].prep);
		expect("data.stored", rows[i].want);
	}
}

/* Columns of numbers in units of their own. */
static void
test_units(void **state)
{
	static const struct {
		const char *dim;
		size_t n;
		double scale; /* of the column in the middle, whose values are 0 to 1 otherwise; 0: it is 0 or 1/255 */
		const char *want;
	} rows[] = {
		{"3x", 8, 0.003,
		 "1 of the 3 columns of input 'x' becomes at most 2 different quantized values: "
		 "column "
		 "1 goes from 0.0 to 0.003, column 0 from 0.0 to 1.0, and one step is "
		 "0.003921569; "},
		{"3x", 8, 1e-7,
		 "1 of the 3 columns of input 'x' becomes at most 2"}, /* far below a step */
		{"3x", 7, 0.003, NULL},                                /* too few to say so */
		{"3x", 8, 0.009, NULL},                                /* three values */
		{"3x", 8, 0, NULL},       /* two values, which are exact */
		{"1x3x", 8, 0.003, NULL}, /* rows of an image, perhaps */
	};
	double v[3 * 8];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		for (size_t k = 0; k < 3 * rows[i].n; k++) {
			v[k] = (double)(k / 3) / (double)(rows[i].n - 1);
			if (k % 3 == 1)
				v[k] = rows[i].scale > 0
					       ? v[k] * rows[i].scale
					       : (double)(k / 3 % 2) * (double)(float)(1.0 / 255);
		}
		lint_as(rows[i].dim, UNIT, "  %y = reshape %x {shape=[1,3]}\n", "f32", rows[i].n, v,
			(qn_prep){0});
		expect("data.units", rows[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_share, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_narrow, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_inputs, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_units, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_stored, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
