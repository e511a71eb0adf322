/* SPDX-License-Identifier: Apache-2.0 */
/* test_info_loop.c - what a calibration callback sees of a partition in a loop: the values of all steps, the quantized ones
 * computed from what the float graph has in each step.
 *
 *   h' = relu(dense(h, r) + x[t]), from h = {0, 0}, over x[0] to x[2]; the loop around it runs twice */
#include "tests/unit/info_rig.h"

#include <math.h>

enum { OUTER = 2, STEPS = 3 };

static const char nested[] = "model \"m\" stage float\n"
			     "graph @main(%x: tensor<2x3x1x2xf32>) {\n"
			     "  %r = const : tensor<2x2xf32> [0.5, -0.25, 0.75, 0.5]\n"
			     "  %zero = const : tensor<1x2xf32> splat 0.0\n"
			     "  %o = loop {count=2}\n"
			     "  %xs = loop_slice %x, %o\n"
			     "  %i = loop %o {count=3}\n"
			     "  %xt = loop_slice %xs, %i\n"
			     "  %h = loop_carry %zero, %i\n"
			     "  %f = dense %h, %r\n"
			     "  %s = add %f, %xt\n"
			     "  %n = relu %s\n"
			     "  %e = loop_end %i, %n\n"
			     "  %l = loop_last %n, %e\n"
			     "  %oe = loop_end %o\n"
			     "  %y = loop_stack %l, %oe {length=2}\n"
			     "  return %y\n"
			     "}\n";

static const float x[1][OUTER][STEPS][2] = {
	{{{1, 0.5f}, {-0.5f, 2}, {0.25f, 1}}, {{0.125f, -1}, {3, 0.5f}, {-2, 0.75f}}}};
static const float r[2][2] = {{0.5f, -0.25f}, {0.75f, 0.5f}};

static qn_info *
begin_loop(void)
{
	const qn_quant_opts opts = {.per_tensor_weights = true};
	static const int64_t shape[] = {2, 3, 1, 2};
	const char *name = "x";
	qn_dataset *data;
	qn_graph *real;
	qn_id *map;

	assert_int_equal(qn_model_parse(&rg->m, "m.qir", nested, sizeof nested - 1), QN_OK);
	assert_int_equal(qn_partition(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &opts), QN_OK);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_tensor *all =
		qn_tensor_view(&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 4, shape), x);
	assert_int_equal(qn_dataset_arrays(g, &rg->arena, 1, &all, &name, &data), QN_OK);
	assert_int_equal(qn_erase_quantization(&rg->m, g, true, &real, &map), QN_OK);
	qn_info_graphs_init(&graphs, &rg->m, g, real, map, data, 1 << 20, &rg->arena);
	return info_of("f");
}

/* What the float graph has: h before each step. */
static void
compute(float h[OUTER][STEPS][2])
{
	for (int o = 0; o < OUTER; o++) {
		float now[2] = {0, 0};

		for (int t = 0; t < STEPS; t++) {
			float next[2];

			for (int c = 0; c < 2; c++) {
				h[o][t][c] = now[c];
				next[c] = fmaxf(now[0] * r[c][0] + now[1] * r[c][1] + x[0][o][t][c],
						0);
			}
			now[0] = next[0];
			now[1] = next[1];
		}
	}
}

static void
test_all_steps(void **state)
{
	float h[OUTER][STEPS][2];
	const double of_h = 0.25, of_weights = 1.0 / 64;
	const qn_symbol_value trial[2] = {{.symbol = "h.carry", .n = 1, .scale = &of_h},
					  {.symbol = "f.w", .n = 1, .scale = &of_weights}};
	const qn_tensor *y;

	(void)state;
	qn_info *i = begin_loop();
	compute(h);
	const size_t k_h = strcmp(i->pair[0].sym->name, "h.carry") == 0 ? 0 : 1;
	assert_int_equal(i->npair, 2);
	assert_string_equal(i->pair[k_h].sym->name, "h.carry");
	assert_int_equal(qn_info_get(i, QN_INFO_FLOAT_INPUT, k_h, 0, 0, NULL, &y), QN_OK);
	assert_int_equal(y->type->rank, 4);
	assert_int_equal(y->type->dim[0], OUTER);
	assert_int_equal(y->type->dim[1], STEPS);
	assert_memory_equal(y->data, h, sizeof h);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(qn_info_get(i, QN_INFO_QUANTIZED, k_h, 0, 2, trial, &y), QN_OK);
		assert_int_equal(y->type->rank, 4);
		for (int k = 0; k < OUTER * STEPS * 2; k++)
			assert_int_equal((int)((const int8_t *)y->data)[k],
					 (int)rint((double)(&h[0][0][0])[k] / 0.25));
		assert_int_equal(qn_info_get(i, QN_INFO_OUTPUT, 0, 0, 2, trial, &y), QN_OK);
		for (int k = 0; k < OUTER * STEPS; k++)
			for (int c = 0; c < 2; c++) {
				const float *v = h[k / STEPS][k % STEPS];
				const double want =
					rint((double)v[0] / 0.25) * 0.25 * (double)r[c][0] +
					rint((double)v[1] / 0.25) * 0.25 * (double)r[c][1];

				assert_float_equal((float)qn_tensor_f64(y, 2 * k + c), (float)want,
						   1e-6);
			}
	}
}

/* A symbol that has no value is named. */
static void
test_future(void **state)
{
	const qn_tensor *y;

	(void)state;
	qn_info *i = begin_loop();
	assert_int_equal(qn_info_get(i, QN_INFO_OUTPUT, 0, 0, 0, NULL, &y), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.future");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_steps, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_future, rig_setup, rig_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
