/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_quant_params.c - quant_params.json applied to the layers of a graph. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif
#include "tests/unit/formats_fixture.h"

#include "import/quant_params.h"

static const char text[] =
	"model \"m\" stage float\n"
	"tensor %conv_1 \"/body/conv/Conv_output_0\"\n"
	"tensor %w_1 \"head.weight\" constant\n"
	"graph @main(%x: tensor<1x2x2x3xf32>, %s: tensor<1x3xf32>) {\n"
	"  %k = const : tensor<2x1x1x3xf32> [1.0, 2.0, 3.0, -4.0, 5.0, 600.0]\n"
	"  %w_1 = const : tensor<3x2xf32> [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n"
	"  %fc.weight = const : tensor<2x3xf32> [0.1, -0.25, 20.0, 0.2, 0.5, -0.1]\n"
	"  %fc.bias = const : tensor<2xf32> [1.0, 2.0]\n"
	"  %conv_1 = conv2d %x, %k\n"
	"  %fc = dense %s, %fc.weight, %fc.bias\n"
	"  %y = relu %fc\n"
	"  %head = matmul %s, %w_1\n"
	"  %attn.out_q = add %head, %y\n"
	"  return %attn.out_q, %conv_1\n"
	"}\n";

/* What the text makes of the graph; NULL: it is refused. */
static const char *
apply(fixture *f, const char *json)
{
	qn_model *m = QN_NEW(&f->arena, qn_model, 1);
	qn_buf b;

	qn_model_init(m, &f->env, &f->arena, "m");
	m->scratch = &f->arena;
	if (qn_model_parse(m, "m.qir", text, sizeof text - 1) != QN_OK)
		fail_msg("%s", all_diags(f));
	if (qn_import_quant_params_text(m, "q.json", json, strlen(json)) != QN_OK)
		return NULL;
	assert_int_equal(qn_model_verify(m), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_model_print(&b, m);
	return qn_buf_str(&b);
}

static void
contains(const char *printed, const char *line)
{
	if (strstr(printed, line) == NULL)
		fail_msg("no '%s' in\n%s", line, printed);
}

static const char *
applied(fixture *f, const char *json)
{
	const char *s = apply(f, json);

	if (s == NULL)
		fail_msg("%s", all_diags(f));
	return s;
}

static void
one_layer(void **state)
{
	const char *s =
		applied(*state, "{\"fc\": {\"input_scale\": [0.02], \"weight_scale\": [0.1, 0.2], "
				"\"weight_scale_shape\": [2, 1], \"output_scale\": 0.5, "
				"\"output_zp_dtype\": \"torch.uint8\"}}");

	contains(s, "stage calibrated");
	/* The codes are those of test_quant_params.c. */
	contains(s, "%fc.weight = const : tensor<2x3x!quant.uniform<i8:f32:0, "
		    "{1.000000e-01,2.000000e-01}>> [1, -2, 127, 1, 2, 0]");
	contains(s, "%fc.bias = const : tensor<2x!quant.uniform<i32:f32:0, "
		    "2.000000e-02*{1.000000e-01,2.000000e-01}>> [500, 500]");
	contains(s, "%fc.q_input = quantize %s : tensor<1x3x!quant.uniform<i8:f32, 2.000000e-02>>");
	contains(s, "%fc.q_output = quantize %fc : tensor<1x2x!quant.uniform<u8:f32, "
		    "5.000000e-01>>");
	contains(s, "%y = relu %dequantize_4");
	contains(s, "%head = matmul %s, %w_1");
}

static void
names_and_axes(void **state)
{
	/* By PyTorch's name of what a module computes; premultiplier along the channels. */
	const char *s = applied(*state, "{\"body.conv\": {\"input_scale\": 1, \"weight_scale\": 2, "
					"\"smoothquant_mul\": [1, 2, 4], "
					"\"smoothquant_mul_shape\": [1, 3, 1, 1]}}");

	contains(s, "%body.conv.premul_input = const : tensor<3xf32> [1.0, 2.0, 4.0]");
	contains(s, "%mul_1 = mul %x, %body.conv.premul_input");
	contains(s, "%body.conv.q_input = quantize %mul_1");
	contains(s, "[0, 1, 2, -2, 2, 127]");
	/* By the name of the weight in the file; the channels of matmul are the last axis. */
	s = applied(*state, "{\"head\": {\"input_scale\": 1, \"weight_scale\": [1, 2], "
			    "\"weight_scale_shape\": [2, 1]}}");
	contains(s, "%w_1 = const : tensor<3x2x!quant.uniform<i8:f32:1, "
		    "{1.000000e+00,2.000000e+00}>> [1, 1, 3, 2, 5, 3]");
	contains(s, "%head = matmul %dequantize_2, %dequantize_1");
	/* An output of attention, and a layer that stays float. */
	s = applied(*state, "{\"attn.out_q\": {\"act_scale\": [0.25], \"act_zp_dtype\": "
			    "\"torch.int8\"}, \"fc\": {\"smoothquant_mul\": 2}}");
	contains(s, "%attn.out_q.q_output = quantize %attn.out_q");
	contains(s, "return %dequantize_1");
	contains(s, "%fc = dense %mul_1, %fc.weight, %fc.bias");
}

static void
mistakes(void **state)
{
	static const struct {
		const char *json, *id, *words;
	} rows[] = {
		{"[]", "quant-params.json", "not an object of layers"},
		{"{\"fd\": {}}", "quant-params.layer", "no float layer"},
		{"{\"y\": {}}", "quant-params.layer", "no float layer"},
		{"{\"body\": {}}", "quant-params.layer", "no float layer"},
		{"{\"z.out_q\": {\"act_scale\": 1}}", "quant-params.layer", "no float value"},
		{"{\"fc\": {}, \"y.out_v\": {}}", "quant-params.layer", "no float layer"},
		{"{\"head\": {}, \"w_1\": {}}", "quant-params.layer", "no float layer"},
		{"{\"conv_1\": {\"input_scale\": 1, \"weight_scale\": 2}, \"body.conv\": {}}",
		 "quant-params.layer", "'conv_1' belongs to layer 'conv_1' already"},
		{"{\"fc\": {\"weight_scale\": 1}}", "quant-params.missing", "needs 'input_scale'"},
		{"{\"fc\": {\"input_scale\": 1, \"weight_scale\": [1, 1, 1]}}",
		 "quant-params.shape", "each output channel"},
		{"{\"fc\": {\"input_scale\": 1, \"weight_scale\": [1, 1], \"weight_zp\": [1]}}",
		 "quant-params.shape", "each output channel"},
		{"{\"fc\": {\"smoothquant_mul\": [1, 2]}}", "quant-params.shape", "input channel"},
		{"{\"fc\": {\"output_scale\": [1, 2]}}", "quant-params.shape",
		 "'q_output' is not one positive number"},
		{"{\"fc\": {\"output_scale\": 1, \"output_zp_dtype\": \"torch.float8_e4m3fn\"}}",
		 "quant-params.type", "float8_e4m3fn is not a type of quantized values"},
		{"{\"fc\": {\"input_scale\": 1e-6, \"weight_scale\": 1e-6}}",
		 "quant-params.overflow", "element 0 becomes"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		if (apply(f, rows[i].json) != NULL)
			fail_msg("row %zu is accepted", i);
		if (strcmp(last_id(f), rows[i].id) != 0 ||
		    strstr(all_diags(f), rows[i].words) == NULL)
			fail_msg("row %zu: %s", i, all_diags(f));
		restart(f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T(one_layer), T(names_and_axes), T(mistakes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
