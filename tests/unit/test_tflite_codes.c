/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_codes.c - operators of quantized files: each becomes a graph of integers alone, which
 * computes what the graph did as it was read.
 *
 *   x i8 [1,4,4,2] ─operator, constants─▶ y i8     import, run, requantize, legalize, run: equal
 *
 * For i8, and where TFLite has the kernel for i16 too. */
#include "tests/unit/tflite_rig.h"

#include "passes/passes.h"

enum { N = 32, MORE = 3 };

typedef struct constant_of {
	int type, rank; /* type -1: there is none; -2: x once more; -3: codes */
	int32_t dim[4], v[8];
} constant_of;

typedef struct code_row {
	const char *name;
	int code;
	constant_of more[MORE];
	int first; /* constants in front of x */
	tfl_option option[6];
	int rank;
	int32_t dim[5]; /* of the result */
	float scale;    /* of the result; 0: that of x, and its zero point */
	int zp;
	bool of_8_only;
} code_row;

#define NO                                                                                         \
	{                                                                                          \
		-1, 0, {0},                                                                        \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define OPT(f, k, x)                                                                               \
	{                                                                                          \
		.field = f, .kind = k, .value = x                                                  \
	}
#define SAME_DIM .rank = 4, .dim = {1, 4, 4, 2}
#define UNARY(op, s, z)                                                                            \
	{                                                                                          \
#op, QN_TFL_##op, {NO, NO, NO }, 0, {{0 } }, SAME_DIM, s, z, false                 \
	}

/* clang-format off */
static const code_row rows[] = {
	{"ADD", QN_TFL_ADD, {{-2, 0, {0}, {0}}, NO, NO}, 0, {OPT(0, 'b', 1)}, SAME_DIM, 0.2f, -20, false},
	{"SUB", QN_TFL_SUB, {{-3, 1, {2}, {5, -7}}, NO, NO}, 0, {{0}}, SAME_DIM, 0.2f, 3, false},
	{"MUL", QN_TFL_MUL, {{-3, 1, {2}, {5, -7}}, NO, NO}, 0, {OPT(0, 'b', 3)}, SAME_DIM, 0.2f, 3, false},
	{"MAXIMUM", QN_TFL_MAXIMUM, {{-3, 1, {1}, {5}}, NO, NO}, 0, {{0}}, SAME_DIM, 0, 0, false},
	{"MINIMUM", QN_TFL_MINIMUM, {{-3, 1, {1}, {5}}, NO, NO}, 0, {{0}}, SAME_DIM, 0, 0, false},
	{"SQUARED_DIFFERENCE", QN_TFL_SQUARED_DIFFERENCE, {{-3, 1, {2}, {5, -7}}, NO, NO}, 0, {{0}}, SAME_DIM, 0.9f, -128, true},
	UNARY(RELU, 0.05f, -128), UNARY(RELU6, 0.05f, -128), UNARY(RELU_N1_TO_1, 0.05f, 0),
	UNARY(LOGISTIC, 0.00390625f, -128), UNARY(TANH, 0.0078125f, 0), UNARY(HARD_SWISH, 0.1f, -20),
	UNARY(ELU, 0.1f, -100), UNARY(GELU, 0.1f, -100), UNARY(EXP, 0.9f, -128), UNARY(ABS, 0.1f, -128),
	UNARY(NEG, 0.1f, 0), UNARY(QUANTIZE, 0.2f, 4),
	{"SOFTMAX", QN_TFL_SOFTMAX, {NO, NO, NO}, 0, {OPT(0, 'f', 1)}, SAME_DIM, 0.00390625f, -128, false},
	{"LEAKY_RELU", QN_TFL_LEAKY_RELU, {NO, NO, NO}, 0, {OPT(0, 'f', 0.1)}, SAME_DIM, 0.1f, -20, true},
	{"PRELU", QN_TFL_PRELU, {{-3, 3, {1, 1, 2}, {5, 90}}, NO, NO}, 0, {{0}}, SAME_DIM, 0.1f, -20, true},
	{"AVERAGE_POOL_2D", QN_TFL_AVERAGE_POOL_2D, {NO, NO, NO}, 0,
	 {OPT(0, 'b', 1), OPT(1, 'i', 2), OPT(2, 'i', 2), OPT(3, 'i', 2), OPT(4, 'i', 2), OPT(5, 'b', 1)}, 4, {1, 2, 2, 2}, 0, 0, false},
	{"MAX_POOL_2D", QN_TFL_MAX_POOL_2D, {NO, NO, NO}, 0,
	 {OPT(0, 'b', 0), OPT(1, 'i', 2), OPT(2, 'i', 2), OPT(3, 'i', 3), OPT(4, 'i', 3)}, 4, {1, 2, 2, 2}, 0, 0, false},
	{"MEAN", QN_TFL_MEAN, {{TFL_INT32, 1, {2}, {1, 2}}, NO, NO}, 0, {OPT(0, 'b', 1)}, 4, {1, 1, 1, 2}, 0.05f, 7, false},
	{"SUM", QN_TFL_SUM, {{TFL_INT32, 1, {1}, {3}}, NO, NO}, 0, {{0}}, 3, {1, 4, 4}, 0.5f, 7, false},
	{"ADD_N", QN_TFL_ADD_N, {{-2, 0, {0}, {0}}, {-2, 0, {0}, {0}}, NO}, 0, {{0}}, SAME_DIM, 0.4f, -5, false},
	{"REDUCE_PROD", QN_TFL_REDUCE_PROD, {{TFL_INT32, 1, {1}, {2}}, NO, NO}, 0, {OPT(0, 'b', 1)}, 4, {1, 4, 1, 2}, 9.5f, 7, false},
	{"L2_NORMALIZATION", QN_TFL_L2_NORMALIZATION, {NO, NO, NO}, 0, {{0}}, SAME_DIM, 0.0078125f, 0, true},
	{"REDUCE_MAX", QN_TFL_REDUCE_MAX, {{TFL_INT32, 1, {1}, {1}}, NO, NO}, 0, {{0}}, 3, {1, 4, 2}, 0, 0, false},
	{"CONCATENATION", QN_TFL_CONCATENATION, {{-2, 0, {0}, {0}}, NO, NO}, 0, {OPT(0, 'i', 3)}, 4, {1, 4, 4, 4}, 0.2f, 5, false},
	{"PACK", QN_TFL_PACK, {{-2, 0, {0}, {0}}, NO, NO}, 0, {OPT(1, 'i', 1)}, 5, {1, 2, 4, 4, 2}, 0, 0, false},
	{"PAD", QN_TFL_PAD, {{TFL_INT32, 2, {4, 2}, {0, 0, 1, 1, 1, 0, 0, 0}}, NO, NO}, 0, {{0}}, 4, {1, 6, 5, 2}, 0, 0, false},
	{"MIRROR_PAD", QN_TFL_MIRROR_PAD, {{TFL_INT32, 2, {4, 2}, {0, 0, 1, 1, 1, 0, 0, 0}}, NO, NO}, 0, {OPT(0, 'b', 1)}, 4, {1, 6, 5, 2}, 0, 0, false},
	{"RESHAPE", QN_TFL_RESHAPE, {{TFL_INT32, 1, {2}, {2, -1}}, NO, NO}, 0, {{0}}, 2, {2, 16}, 0, 0, false},
	{"TRANSPOSE", QN_TFL_TRANSPOSE, {{TFL_INT32, 1, {4}, {0, 2, 1, 3}}, NO, NO}, 0, {{0}}, SAME_DIM, 0, 0, false},
	{"STRIDED_SLICE", QN_TFL_STRIDED_SLICE, {{TFL_INT32, 1, {2}, {0, 1}}, {TFL_INT32, 1, {2}, {1, 4}}, {TFL_INT32, 1, {2}, {1, 2}}}, 0,
	 {OPT(4, 'i', 1)}, 3, {2, 4, 2}, 0, 0, false},
	{"SLICE", QN_TFL_SLICE, {{TFL_INT32, 1, {4}, {0, 1, 0, 1}}, {TFL_INT32, 1, {4}, {1, 2, -1, 1}}, NO}, 0, {{0}}, 4, {1, 2, 4, 1}, 0, 0, false},
	{"GATHER", QN_TFL_GATHER, {{TFL_INT32, 1, {2}, {3, 0}}, NO, NO}, 0, {OPT(0, 'i', 1)}, 4, {1, 2, 4, 2}, 0, 0, false},
	{"TILE", QN_TFL_TILE, {{TFL_INT32, 1, {4}, {1, 2, 1, 1}}, NO, NO}, 0, {{0}}, 4, {1, 8, 4, 2}, 0, 0, false},
	{"SPACE_TO_DEPTH", QN_TFL_SPACE_TO_DEPTH, {NO, NO, NO}, 0, {OPT(0, 'i', 2)}, 4, {1, 2, 2, 8}, 0, 0, false},
	{"SPACE_TO_BATCH_ND", QN_TFL_SPACE_TO_BATCH_ND, {{TFL_INT32, 1, {2}, {2, 2}}, {TFL_INT32, 2, {2, 2}, {0, 0, 0, 0}}, NO}, 0, {{0}}, 4, {4, 2, 2, 2}, 0, 0, false},
	{"REVERSE_V2", QN_TFL_REVERSE_V2, {{TFL_INT32, 1, {1}, {1}}, NO, NO}, 0, {{0}}, SAME_DIM, 0, 0, false},
	{"RESIZE_BILINEAR", QN_TFL_RESIZE_BILINEAR, {{TFL_INT32, 1, {2}, {8, 8}}, NO, NO}, 0, {OPT(3, 'b', 1)}, 4, {1, 8, 8, 2}, 0, 0, true},
	{"RESIZE_NEAREST_NEIGHBOR", QN_TFL_RESIZE_NEAREST_NEIGHBOR, {{TFL_INT32, 1, {2}, {8, 8}}, NO, NO}, 0, {{0}}, 4, {1, 8, 8, 2}, 0, 0, true},
	{"TRANSPOSE_CONV", QN_TFL_TRANSPOSE_CONV, {{TFL_INT32, 1, {4}, {1, 8, 8, 1}}, {-3, 4, {1, 2, 2, 2}, {1, -2, 3, 4, 5, -6, 7, 8}}, NO}, 2,
	 {OPT(0, 'b', 0), OPT(1, 'i', 2), OPT(2, 'i', 2)}, 4, {1, 8, 8, 1}, 0.3f, 4, true},
	{"CONV_2D", QN_TFL_CONV_2D, {{-3, 4, {1, 2, 2, 2}, {1, -2, 3, 4, 5, -6, 7, 8}}, NO, NO}, 0,
	 {OPT(0, 'b', 0), OPT(1, 'i', 1), OPT(2, 'i', 1), OPT(3, 'b', 3)}, 4, {1, 4, 4, 1}, 0.3f, 4, false},
	{"DEPTHWISE_CONV_2D", QN_TFL_DEPTHWISE_CONV_2D, {{-3, 4, {1, 2, 2, 2}, {1, -2, 3, 4, 5, -6, 7, 8}}, NO, NO}, 0,
	 {OPT(0, 'b', 0), OPT(1, 'i', 1), OPT(2, 'i', 1)}, 4, {1, 4, 4, 2}, 0.3f, 4, false},
	{"BATCH_MATMUL", QN_TFL_BATCH_MATMUL, {{-3, 4, {1, 1, 2, 2}, {1, -2, 3, 4}}, NO, NO}, 0, {{0}}, 4, {1, 4, 4, 2}, 0.3f, 4, true},
	{"ARG_MAX", QN_TFL_ARG_MAX, {{TFL_INT32, 0, {0}, {1}}, NO, NO}, 0, {{0}}, 3, {1, 4, 2}, -1, 0, false},
	{"TOPK_V2", QN_TFL_TOPK_V2, {{TFL_INT32, 0, {0}, {1}}, NO, NO}, 0, {{0}}, 4, {1, 4, 4, 1}, 0, 0, false},
};
/* clang-format on */

static int
add_constant(const constant_of *c, int x, int type)
{
	int n = 1;
	int8_t narrow[8];
	int32_t *v = qn_arena_alloc(&rg->arena, 8, sizeof *v);

	for (int i = 0; i < c->rank; i++)
		n *= c->dim[i];
	for (int i = 0; i < 8; i++) {
		v[i] = c->v[i];
		narrow[i] = (int8_t)c->v[i];
	}
	if (c->type == -2)
		return x;
	if (c->type >= 0)
		return tfl_tensor(file, "n", c->type, c->rank, c->dim, v, 4 * n);
	if (type == TFL_INT16 && c->rank < 4) { /* operands are i16, weights i8 */
		int16_t *wide = qn_arena_alloc(&rg->arena, 8, sizeof *wide);

		for (int i = 0; i < 8; i++)
			wide[i] = (int16_t)c->v[i];
		return tfl_codes(file, "c", TFL_INT16, c->rank, c->dim, 0.1f, 0, wide, 2 * n);
	}
	return tfl_codes(file, "c", TFL_INT8, c->rank, c->dim, 0.1f, 0,
			 qn_arena_copy(&rg->arena, narrow, sizeof narrow), n);
}

/* The parameters that TFLite wants of i16: zero point 0, softmax and the like in 1/32768. */
static int
add_result(const code_row *r, int type)
{
	bool own = r->scale > 0;
	float scale = own ? r->scale : 0.1f;
	int zp = own ? r->zp : 2;

	if (r->scale < 0)
		return tfl_tensor(file, "y", TFL_INT32, r->rank, r->dim, NULL, 0);
	if (type == TFL_INT16 && r->scale > 0 && r->scale < 0.01f)
		scale = 1.0f / 32768;
	return tfl_codes(file, "y", type, r->rank, r->dim, scale, type == TFL_INT16 ? 0 : zp, NULL,
			 0);
}

static void
check(const code_row *r, int type)
{
	int x = tfl_codes(file, "x", type, DIMS(1, 4, 4, 2), 0.1f, type == TFL_INT16 ? 0 : 2, NULL,
			  0);
	int32_t in[4], out[2];
	int n = 0, y;

	for (int i = 0; i <= MORE; i++) {
		if (i == r->first)
			in[n++] = x;
		if (i < MORE && r->more[i].type != -1)
			in[n++] = add_constant(&r->more[i], x, type);
	}
	y = out[0] = add_result(r, type);
	if (r->code == QN_TFL_TOPK_V2)
		out[1] = tfl_tensor(file, "p", TFL_INT32, r->rank, r->dim, NULL, 0);
	tfl_op_of *o = tfl_op(file, r->code, n, in, r->code == QN_TFL_TOPK_V2 ? 2 : 1, out);
	for (int k = 0; k < 6 && r->option[k].kind != 0; k++)
		tfl_with(o, r->option[k].field, r->option[k].kind, r->option[k].value);
	import(INTS(x), INTS(y));
	const double *data =
		codes(N, type == TFL_INT16 ? -3000 : -128, type == TFL_INT16 ? 3000 : 127);
	int64_t count = qn_type_count(qn_graph_node(rg->g, rg->g->output[0].value)->type);
	const double *before = run1(data);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){0}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	near(before, run1(data), count, 0);
}

static void
test_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		for (int wide = 0; wide < (rows[i].of_8_only ? 1 : 2); wide++) {
			print_message("%s%s\n", rows[i].name, wide ? " of 16 bits" : "");
			tflite_teardown(NULL);
			tflite_setup(NULL);
			check(&rows[i], wide ? TFL_INT16 : TFL_INT8);
		}
}

/* TFLite's kernel of L2_NORMALIZATION bounds the length for float values only. */
static void
test_short_vectors(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2), 1e-7f, 0, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 2), 1.0f / 128, 0, NULL, 0);

	tfl_op(file, QN_TFL_L2_NORMALIZATION, INTS(x), INTS(y));
	import(INTS(x), INTS(y));
	const qn_node *n = qn_graph_node(rg->g, rg->g->output[0].value);
	assert_int_equal(n->op, QN_OP_l2_norm);
	near(&n->attr->l2_norm.epsilon, V(0), 1, 0);
	GIVES(V(3, 4), 77, 102);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){0}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	GIVES(V(3, 4), 77, 102);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_short_vectors, tflite_setup, tflite_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
