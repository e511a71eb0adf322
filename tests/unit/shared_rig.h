/* SPDX-License-Identifier: Apache-2.0 */
/* shared_rig.h - for tests of symbols that several values share: a model and its data. */
#ifndef TESTS_UNIT_SHARED_RIG_H
#define TESTS_UNIT_SHARED_RIG_H

#include "tests/unit/run_util.h"

#include "calibrate/calibrate.h"
#include "patterns/quantizer.h"

enum { BATCHES = 6, WIDTH = 4 };

#define HEAD                                                                                       \
	"model \"m\" stage symbolic\n"                                                             \
	"symbol $s : asym\n"                                                                       \
	"graph @main(%x: tensor<1x4xf32>) {\n"                                                     \
	"  %f = const : tensor<1x4xf32> [-7.0, 3.0, 0.5, 2.0]\n"                                   \
	"  %b = mul %x, %f\n"
#define PARTS                                                                                      \
	"  %qx = quantize %x : tensor<1x4x!quant.uniform<i8:f32, $s:$s>>\n"                        \
	"  %qb = quantize %b : tensor<1x4x!quant.uniform<i8:f32, $s:$s>>\n"                        \
	"  %dx = dequantize %qx\n"                                                                 \
	"  %db = dequantize %qb\n"                                                                 \
	"  %y = add %dx, %db\n  return %y\n}\n"
#define BOTH                                                                                       \
	"  %j = concat %x, %b {axis=1}\n"                                                          \
	"  %q = quantize %j : tensor<1x8x!quant.uniform<i8:f32, $s:$s>>\n"                         \
	"  %y = dequantize %q\n  return %y\n}\n"

static inline void
read_model(const char *text)
{
	rig_teardown(NULL);
	rig_setup(NULL);
	assert_int_equal(qn_model_parse(&rg->m, "test", text, strlen(text)), QN_OK);
	no_errors();
}

/* The value of batch i at k: some small ones, and a large one in the last batch. */
static inline qn_dataset *
data(void)
{
	double v[BATCHES * WIDTH];
	const char *name = "x";
	qn_dataset *d;

	for (int i = 0; i < BATCHES * WIDTH; i++)
		v[i] = (i * 37 % 101 - 50) / 64.0;
	v[BATCHES * WIDTH - 1] = 2.5;
	const qn_tensor *x = tensor(type("tensor<6x4xf32>"), v);
	assert_int_equal(qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &x, &name, &d),
			 QN_OK);
	return d;
}

static inline qn_symbol
calibrated(const char *text, const char *method)
{
	qn_calib_opts o = {0};

	read_model(text);
	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, method, &o.method), QN_OK);
	assert_int_equal(qn_calibrate_model(&rg->m, data(), &o), QN_OK);
	assert_int_equal(rg->diags.nerrors, 0); /* avgmax_pr warns of what it cuts off */
	assert_true(qn_symbol_find(&rg->m.types, "s")->bound);
	return *qn_symbol_find(&rg->m.types, "s");
}

static inline void
same(const qn_symbol *a, const qn_symbol *b, const char *what)
{
	if (a->scale < b->scale || a->scale > b->scale || a->zp != b->zp)
		fail_msg("%s: %.9g %lld, not %.9g %lld", what, a->scale, (long long)a->zp, b->scale,
			 (long long)b->zp);
}

#endif
