/* SPDX-License-Identifier: Apache-2.0 */
/* info_rig.h - for tests of calibration callbacks: two dense layers, the second of which has the first one's quantized output
 * as input. */
#ifndef TESTS_UNIT_INFO_RIG_H
#define TESTS_UNIT_INFO_RIG_H

#include "tests/unit/run_util.h"

#include "calibrate/calibrate.h"
#include "calibrate/callback.h"
#include "calibrate/method.h"
#include "patterns/quantizer.h"

enum { BATCHES = 3 };

static const char text[] = "model \"m\" stage float\n"
			   "graph @main(%x: tensor<1x2xf32>) {\n"
			   "  %w = const : tensor<2x2xf32> [1.0, 0.5, -1.0, 0.25]\n"
			   "  %b = const : tensor<2xf32> [0.125, -0.5]\n"
			   "  %f = dense %x, %w, %b\n"
			   "  %r = relu %f\n"
			   "  %v = const : tensor<1x2xf32> [1.0, -1.0]\n"
			   "  %g = dense %r, %v\n"
			   "  return %g\n"
			   "}\n";

static const float samples[BATCHES][2] = {{1.0f, 2.0f}, {-0.5f, 0.25f}, {0.75f, -1.5f}};

static qn_info_graphs graphs;

static inline void
begin(void)
{
	const qn_quant_opts opts = {.per_tensor_weights = true};
	static const int64_t shape[] = {BATCHES, 2};
	const char *name = "x";
	qn_dataset *data;
	qn_graph *real;
	qn_id *map;

	assert_int_equal(qn_model_parse(&rg->m, "m.qir", text, sizeof text - 1), QN_OK);
	assert_int_equal(qn_partition(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &opts), QN_OK);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_tensor *all = qn_tensor_view(
		&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), samples);
	assert_int_equal(qn_dataset_arrays(g, &rg->arena, 1, &all, &name, &data), QN_OK);
	assert_int_equal(qn_erase_quantization(&rg->m, g, true, &real, &map), QN_OK);
	qn_info_graphs_init(&graphs, &rg->m, g, real, map, data, 1 << 20, &rg->arena);
	const double scale = 1.0 / 64;
	const int64_t zp = 0;
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "x.input", 1, &scale, &zp), QN_OK);
}

static inline qn_info *
info_of(const char *out)
{
	const qn_part *p = qn_model_entry(&rg->m)->parts;
	qn_info *i;

	while (p != NULL && strcmp(p->out, out) != 0)
		p = p->next;
	assert_non_null(p);
	assert_int_equal(qn_info_new(&graphs, p, &rg->arena, &i), QN_OK);
	return i;
}

static inline float
get(qn_info *i, qn_info_value what, size_t k, size_t batch, int at)
{
	const qn_tensor *y;

	assert_int_equal(qn_info_get(i, what, k, batch, 0, NULL, &y), QN_OK);
	return (float)qn_tensor_f64(y, at);
}

static inline const char *
last_id(void)
{
	return rg->diags.n > 0 ? rg->diags.item[rg->diags.n - 1].id : "";
}

#endif
