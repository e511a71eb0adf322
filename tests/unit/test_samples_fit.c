/* SPDX-License-Identifier: Apache-2.0 */
/* test_samples_fit.c - which samples an input takes, by their shape and type, and as which batches. */
#include "tests/unit/run_util.h"

#include "calibrate/dataset.h"

typedef struct row {
	const char *input, *samples, *id; /* id NULL: taken */
	const char *words;                /* of the message */
} row;

static const row rows[] = {
	{"tensor<1x3x4x5xf32>", "tensor<6x3x4x5xf32>", NULL, NULL},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x5x3xf32>", "data.shape",
	 "numpy: x.transpose(0, 3, 1, 2)"},
	{"tensor<1x4x5x3xf32>", "tensor<6x3x4x5xf32>", "data.shape",
	 "takes channels last: save the samples in this layout (numpy: x.transpose(0, 2, 3, 1)"},
	{"tensor<1x4x5x3xf32>", "tensor<4x5x3xf32>", "data.shape",
	 "one sample without dimension 0: add it (numpy: x[None])"},
	/* dims of 1 may be there or not, and at other places */
	{"tensor<1x4x5x1xf32>", "tensor<6x4x5xf32>", NULL, NULL},
	{"tensor<1x4x5xf32>", "tensor<6x4x5x1xf32>", NULL, NULL},
	{"tensor<1x1x4x5xf32>", "tensor<6x4x5x1xf32>", NULL, NULL},
	{"tensor<1x4x1x5xf32>", "tensor<6x4x5xf32>", NULL, NULL},
	{"tensor<1x1xf32>", "tensor<6xf32>", NULL, NULL},
	{"tensor<1xf32>", "tensor<6x1x1xf32>", NULL, NULL},
	{"tensor<2x4x1xf32>", "tensor<6x4xf32>", NULL, NULL},
	{"tensor<2x4x1xf32>", "tensor<5x4xf32>", "data.remainder", "batch of 2"},
	{"tensor<1x1xf32>", "tensor<6x0xf32>", "data.shape", "must be equal"},
	{"tensor<1x0x2xf32>", "tensor<6x0x3xf32>", "data.shape", "must be equal"},
	{"tensor<1x4x5xf32>", "tensor<6x5x4xf32>", "data.shape", "must be equal"},
	{"tensor<1x4x5xf32>", "tensor<6x4x5x2xf32>", "data.shape", "must be equal"},
	{"tensor<1x4x5xf32>", "tensor<6x20x1xf32>", "data.shape", "must be equal"},
	{"tensor<1x4x5xf32>", "tensor<4x5xf32>", "data.shape", "numpy: x[None]"},
	{"tensor<1x4x5x1xf32>", "tensor<6x20xf32>", "data.shape", "numpy: x.reshape"},
	{"tensor<1x1x20xf32>", "tensor<6x20x1xf32>", NULL, NULL},
	{"tensor<1x1x20xf32>", "tensor<6x10x2xf32>", "data.shape", "the others must be equal"},
	{"tensor<1x4x5x1xf32>", "tensor<6x4x6xf32>", "data.shape", "the others must be equal"},
	{"tensor<1x3x4x5xf32>", "tensor<6x5x4x3xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x3x5xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x5x2xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x2x3xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x3x4x5xf32>", "tensor<6x2x5x3xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x3x4x5x1xf32>", "tensor<6x4x5x3xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x3x4xf32>", "tensor<6x4x3xf32>", "data.shape",
	 "dimension 0 counts samples, the others must be equal"},
	{"tensor<1x2xf32>", "tensor<0x2xf32>", "data.empty", "dimension 0 is 0"},
	{"tensor<2x2xf32>", "tensor<3x2xf32>", "data.remainder",
	 "has 3 samples, not a multiple of the model's batch of 2"},
	{"tensor<2x2xf32>", "tensor<4x2xf32>", NULL, NULL},
	{"tensor<1x2xf32>", "tensor<4x2xf64>", NULL, NULL},
	{"tensor<1x2xf32>", "tensor<4x2xi8>", "data.type",
	 "quantized values, give the zero point Z"},
	{"tensor<1x2xi32>", "tensor<4x2xi32>", NULL, NULL},
	{"tensor<1x2xi32>", "tensor<4x2xf32>", "data.type", "save them in this type"},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xf32>", NULL, NULL},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xf64>", NULL, NULL},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xi8>", NULL, NULL},
	{"tensor<1x2x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>", "tensor<4x2xf32>", NULL, NULL},
	{"tensor<1x2x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>", "tensor<4x2xf64>", NULL, NULL},
	{"tensor<1x2x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>", "tensor<4x1x2xf32>", NULL, NULL},
	{"tensor<1x4x!quant.uniform<i8:f32:{1:2}, {{0.5,0.25}}>>", "tensor<4x4xf32>", NULL, NULL},
	{"tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25}>>", "tensor<4x2xf32>", "data.type",
	 "save them in this type"},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xu8>", "data.type",
	 "float values / 0.5 + 3, and float values are quantized so: --input-zero 131 "
	 "--input-scale 0.5 if "
	 "they are these quantized values plus 128"},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xi32>", "data.type",
	 "quantized so: --input-zero and --input-scale that convert them to float values"},
	{"tensor<1x2x!quant.uniform<u8:f32, 0.5:3>>", "tensor<4x2xi8>", "data.type",
	 "--input-zero -125 --input-scale 0.5 if they are these quantized values less 128"},
	{"tensor<1x2x!quant.uniform<i16:f32, 0.5>>", "tensor<4x2xu8>", "data.type",
	 "quantized so: --input-zero and --input-scale that"},
	{"tensor<1x2xf32>", "tensor<4x2xi16>", "data.type",
	 "quantized values, give the zero point Z"},
	{"tensor<1x2xf32>", "tensor<4x2xu8>", "data.type",
	 "if they are pixels, say how the model was trained"},
	{"tensor<1x2xf32>", "tensor<4x2xi32>", "data.type",
	 "--input-scale 1 takes them as they are"},
	{"tensor<1x2xi32>", "tensor<4x2xu8>", "data.type",
	 "save them in this type, if they are integers"},
	{"tensor<1x?xf32>", "tensor<4x2xf32>", "data.dynamic", "give the input a static type"},
	{"tensor<f32>", "tensor<4xf32>", NULL, NULL},
	{"tensor<f32>", "tensor<4x1xf32>", NULL, NULL},
	{"tensor<f32>", "tensor<4x2xf32>", "data.shape", "must be equal"},
	{"tensor<1x7x5xf32>", "tensor<6x7x2xf32>", "data.shape", "has shape [6,7,2], but input"},
	{"tensor<1x7x5xf32>", "tensor<6x7x2xf32>", "data.shape", "has shape [1,7,5]: dimension 0"},
};

/* The message says why, and nothing of channels where it is not these. */
static void
check_words(const row *r)
{
	const char *message = rg->diags.item[0].message;

	if (strstr(message, r->words) == NULL)
		fail_msg("%s of %s: %s", r->samples, r->input, message);
	assert_int_equal(strstr(message, "transpose") != NULL,
			 strstr(r->words, "transpose") != NULL);
}

static void
test_rows(void **state)
{
	static const double zeros[6 * 3 * 4 * 5] = {0};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const row *r = &rows[i];
		const char *name = "x";
		qn_dataset *d;

		rig_teardown(state);
		rig_setup(state);
		output(input("x", r->input));
		const qn_tensor *x = tensor(type(r->samples), zeros);
		const qn_status status = qn_dataset_arrays(rg->g, &rg->arena, 1, &x, &name, &d);
		const char *id = rg->diags.n > 0 ? rg->diags.item[0].id : "none";
		if ((status == QN_OK) != (r->id == NULL) ||
		    (r->id != NULL && strcmp(id, r->id) != 0))
			fail_msg("%s of %s: %s", r->samples, r->input, id);
		if (r->id != NULL)
			check_words(r);
	}
}

/* Batch i has the samples from i times the batch on, in any order of asking; real values become those of the input. */
static void
test_order(void **state)
{
	static const struct {
		const char *input, *samples;
		double scale, zp; /* of what comes in, of what went in */
		double other;     /* scale of every second element; 0: the same */
	} kinds[] = {{"tensor<2x2xf32>", "tensor<6x2xf32>", 1, 0, 0},
		     {"tensor<2x2xf32>", "tensor<6x2xf64>", 1, 0, 0},
		     {"tensor<2x2xi32>", "tensor<6x2xi32>", 1, 0, 0},
		     {"tensor<2x1x2xf32>", "tensor<6x2xf32>", 1, 0, 0},
		     {"tensor<2x2xf32>", "tensor<6x2x1xf64>", 1, 0, 0},
		     {"tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<6x2xi8>", 1, 0, 0},
		     {"tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<6x2xf32>", 2, 3, 0},
		     {"tensor<2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:3}>>", "tensor<6x2xf32>", 2,
		      3, 4},
		     {"tensor<2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:3}>>", "tensor<6x1x2xf32>",
		      2, 3, 4}};
	static const size_t order[] = {2, 0, 1, 2};
	double v[12];

	for (int i = 0; i < 12; i++)
		v[i] = i - 4;
	for (size_t k = 0; k < QN_COUNT(kinds); k++) {
		const char *name = "x";
		qn_dataset *d;

		rig_teardown(state);
		rig_setup(state);
		output(input("x", kinds[k].input));
		const qn_tensor *x = tensor(type(kinds[k].samples), v);
		assert_int_equal(qn_dataset_arrays(rg->g, &rg->arena, 1, &x, &name, &d), QN_OK);
		assert_int_equal(d->nbatch, 3);
		for (size_t o = 0; o < QN_COUNT(order); o++) {
			const qn_tensor *const *in;

			assert_int_equal(d->get(d, order[o], &rg->arena, &in), QN_OK);
			for (int i = 0; i < 4; i++)
				assert_true(qn_tensor_f64(in[0], i) ==
					    v[4 * order[o] + (size_t)i] *
							    (i % 2 != 0 && kinds[k].other > 0
								     ? kinds[k].other
								     : kinds[k].scale) +
						    kinds[k].zp);
		}
	}
}

/* Values are scaled one by one, each by the numbers of its channel: the last dim, or the one after the samples. */
static void
test_scaled(void **state)
{
	static const double mean[] = {1, 10, 100}, std[] = {2, 4, 8};
	static const struct {
		const char *samples;
		qn_prep prep;
		size_t inner, channels; /* element i has channel i / inner % channels; 0: refused */
	} ways[] = {
		{"tensor<2x3xf32>", {.nmean = 3, .nstd = 3}, 1, 3},
		{"tensor<2x3xf32>", {.nmean = 3, .nstd = 3, .channels_first = true}, 1, 3},
		{"tensor<2x4x3xf32>", {.nmean = 3, .nstd = 1}, 1, 3},
		{"tensor<2x3x4xf64>", {.nmean = 1, .nstd = 3, .channels_first = true}, 4, 3},
		{"tensor<2x3x2x2xi8>", {.nmean = 3, .nstd = 0, .channels_first = true}, 4, 3},
		{"tensor<6xf32>", {.nmean = 1, .nstd = 1}, 1, 1},
		{"tensor<6xf32>", {.nmean = 3}, 1, 0},
		{"tensor<2x4x3xf32>", {.nmean = 3, .channels_first = true}, 1, 0},
		{"tensor<2x3x4xf32>", {.nstd = 3}, 1, 0},
		{"tensor<2x3xf32>", {.nmean = 2}, 1, 0},
		{"tensor<2x3xf32>", {.nstd = 2}, 1, 0},
	};
	double v[24];

	for (int i = 0; i < 24; i++)
		v[i] = i - 5;
	for (size_t k = 0; k < QN_COUNT(ways); k++) {
		qn_prep p = ways[k].prep;
		const qn_source *to;
		const qn_tensor *y;

		rig_teardown(state);
		rig_setup(state);
		p.zero = 2;
		p.scale = 0.5;
		p.mean = mean;
		p.std = std;
		const qn_source *from =
			qn_source_tensor(&rg->arena, tensor(type(ways[k].samples), v), "x");
		assert_int_equal(qn_source_scaled(&rg->m.types, &rg->arena, from, &p, &to), QN_OK);
		assert_ptr_equal(to, from); /* nothing was given */
		p.given = true;
		const qn_status status = qn_source_scaled(&rg->m.types, &rg->arena, from, &p, &to);
		assert_int_equal(status, ways[k].channels > 0 ? QN_OK : QN_EINVALID);
		if (status != QN_OK) {
			assert_string_equal(rg->diags.item[0].id, "data.channels");
			continue;
		}
		assert_int_equal(qn_source_load(to, &rg->arena, &y), QN_OK);
		for (size_t i = 0; i < (size_t)qn_type_count(y->type); i++) {
			const size_t c = i / ways[k].inner % ways[k].channels;
			const double m = p.nmean > 0 ? mean[p.nmean > 1 ? c : 0] : 0;
			const double s = p.nstd > 0 ? std[p.nstd > 1 ? c : 0] : 1;

			assert_true(qn_tensor_f64(y, (int64_t)i) == ((v[i] - 2) * 0.5 - m) / s);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_order, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_scaled, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
