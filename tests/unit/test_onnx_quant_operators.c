/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_quant_operators.c - operators of ONNX files that take codes with their parameters, and products of codes
 * that are scaled behind: the results are those that the standard defines. */
#include "tests/unit/onnx_quant_rig.h"

#include <math.h>

#include "passes/passes.h"

/* y = saturate(round(sum (x - xz) (w - wz) * xs ws / ys) + yz), ties to even, all exact. */
static void
qlinear_conv(bool last)
{
	double x[16], w[2 * 9];
	const double b[2] = {6, -3};

	for (int i = 0; i < 16; i++)
		x[i] = (i * 31) % 256;
	for (int i = 0; i < 18; i++)
		w[i] = (i * 17) % 248;
	onnx_begin(10);
	if (last)
		onnx_input("x", ONNX_U8, DIMS(1, 4, 4, 1));
	else
		onnx_input("x", ONNX_U8, DIMS(1, 1, 4, 4));
	scale("xs", 0.5);
	zero_point("xz", ONNX_U8, 100);
	onnx_const("w", ONNX_U8, DIMS(2, 1, 3, 3), w);
	scale("ws", 0.25);
	zero_point("wz", ONNX_U8, 120);
	scale("ys", 64);
	zero_point("yz", ONNX_U8, 90);
	onnx_const("b", ONNX_I32, DIMS(2), b);
	onnx_node(last ? "com.microsoft" : "", "QLinearConv", "x xs xz w ws wz ys yz b", "y");
	if (last)
		onnx_int("channels_last", 1);
	onnx_output("y");
	onnx_read();
	double want[8];
	for (int o = 0; o < 2; o++)
		for (int i = 0; i < 4; i++) {
			double sum = b[o];

			for (int k = 0; k < 9; k++)
				sum += (x[(i / 2 + k / 3) * 4 + i % 2 + k % 3] - 100) *
				       (w[o * 9 + k] - 120);
			sum = rint(sum * 0.125 / 64) + 90;
			want[last ? i * 2 + o : o * 4 + i] = sum < 0 ? 0 : sum > 255 ? 255 : sum;
		}
	gives(x, 8, want);
	assert_int_equal(qn_axes(&rg->m), QN_OK);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true}), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	gives(x, 8, want);
}

static void
test_qlinear_conv(void **state)
{
	(void)state;
	qlinear_conv(false);
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	qlinear_conv(true);
}

/* MaxPool of integers with the channels last. */
static void
test_nhwc_max_pool(void **state)
{
	(void)state;
	onnx_begin(13);
	onnx_input("x", ONNX_U8, DIMS(1, 2, 2, 2));
	onnx_node("com.microsoft", "NhwcMaxPool", "x", "y");
	onnx_ints("kernel_shape", 2, (const int64_t[]){1, 2});
	onnx_output("y");
	onnx_read();
	gives(V(1, 20, 3, 10, 7, 8, 5, 200), 4, V(3, 20, 7, 200));
}

/* One operator of com.microsoft on u8: a and b have scale 0.5, zero point 10; the result 0.25, 20. */
static void
microsoft(const char *op, const char *in)
{
	onnx_begin(13);
	onnx_input("a", ONNX_U8, DIMS(1, 2, 2, 2));
	scale("s", 0.5);
	zero_point("z", ONNX_U8, 10);
	scale("t", 0.25);
	zero_point("u", ONNX_U8, 20);
	onnx_const("b", ONNX_U8, DIMS(2, 1, 1), V(12, 8));
	onnx_const("c", ONNX_U8, DIMS(1, 1, 2, 2), V(10, 11, 12, 13));
	onnx_node("com.microsoft", op, in, "y");
	onnx_output("y");
}

static void
test_microsoft(void **state)
{
	const double a[8] = {10, 12, 14, 16, 9, 8, 7, 100};

	(void)state;
	microsoft("QLinearAdd", "a s z b s z t u");
	onnx_read();
	gives(a, 8, V(24, 28, 32, 36, 14, 12, 10, 196));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearMul", "a s z b s z t u");
	onnx_read();
	gives(a, 8, V(20, 24, 28, 32, 22, 24, 26, 0));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearConcat", "t u a s z c s z");
	onnx_int("axis", 1);
	onnx_read();
	gives(a, 12, V(20, 24, 28, 32, 18, 16, 14, 200, 20, 22, 24, 26));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearGlobalAveragePool", "a s z t u");
	onnx_read();
	gives(a, 2, V(26, 62)); /* real 1.5 and 10.5 */
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearGlobalAveragePool", "a s z t u");
	onnx_int("channels_last", 1);
	onnx_read();
	gives(a, 2, V(20, 68)); /* real 0 and 12 */
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearAveragePool", "a s z t u");
	onnx_ints("kernel_shape", 2, (const int64_t[]){1, 2});
	onnx_read();
	gives(a, 4, V(22, 30, 17, 107));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearLeakyRelu", "a s z t u");
	onnx_real("alpha", 0.5f);
	onnx_read();
	gives(a, 8, V(20, 24, 28, 32, 19, 18, 17, 200));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearSigmoid", "a s z t u");
	onnx_read();
	gives(a, 8, V(22, 23, 24, 24, 22, 21, 21, 24));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearReduceMean", "a s z t u");
	onnx_ints("axes", 1, (const int64_t[]){3});
	onnx_int("keepdims", 0);
	onnx_read();
	gives(a, 4, V(22, 30, 17, 107)); /* real 0.5, 2.5, -0.75, 21.75 */
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearWhere", "k a s z b t u t u");
	onnx_const("k", ONNX_BOOL, DIMS(2, 2), V(1, 0, 0, 1));
	onnx_read();
	gives(a, 8, V(20, 12, 12, 32, 18, 8, 8, 200));
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	microsoft("QLinearSoftmax", "a s z t u");
	onnx_read();
	gives(a, 8, V(21, 23, 21, 23, 22, 22, 20, 24));
}

/* (1, -2) * columns (0.5, 1.5), (0.5, 1), and 4 * 0.25, 8 * 0.125; all of that times alpha. */
static void
test_gemm(void **state)
{
	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		(void)rig_teardown(NULL), (void)rig_setup(NULL);
		onnx_begin(13);
		onnx_input("a", ONNX_U8, DIMS(1, 2));
		scale("s", 0.5);
		zero_point("z", ONNX_U8, 10);
		onnx_const("b", ONNX_I8, DIMS(2, 2), V(1, 2, 3, 4));
		onnx_const("bs", ONNX_FLOAT, DIMS(2), V(0.5, 0.25));
		onnx_const("bz", ONNX_I8, DIMS(2), V(0, 0));
		onnx_const("c", ONNX_I32, DIMS(2), V(4, 8));
		onnx_node("com.microsoft", "QGemm", "a s z b bs bz c", "y");
		if (twice)
			onnx_real("alpha", 2);
		onnx_output("y");
		onnx_read();
		gives(V(12, 6), 2,
		      V((1 * 0.5 - 2 * 1.5 + 1) * (1 + twice),
			(1 * 0.5 - 2 * 1 + 1) * (1 + twice)));
	}
}

static void
test_dynamic(void **state)
{
	(void)state;
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 3));
	onnx_const("w", ONNX_I8, DIMS(3, 1), V(1, 2, 3));
	onnx_node("", "DynamicQuantizeLinear", "x", "q s z");
	onnx_node("", "MatMulInteger", "q w z", "y");
	onnx_output("y");
	onnx_read();
	gives(V(-1, 0, 1.55), 1, V(0 * 1 - 100 + 155 * 3)); /* scale 0.01, zero point 100 */
}

/* The scale after the sum is that of the weights; with from_float the real numbers are multiplied. */
static void
test_scaled(void **state)
{
	(void)state;
	for (int from_float = 0; from_float < 2; from_float++) {
		onnx_begin(13);
		onnx_input("x", ONNX_FLOAT, DIMS(1, 3));
		onnx_const("w", ONNX_U8, DIMS(3, 2), V(11, 20, 12, 21, 13, 22));
		zero_point("wz", ONNX_U8, 10);
		scale("ws", 0.5);
		scale("xs", 0.25);
		zero_point("xz", ONNX_U8, 7);
		if (from_float == 0)
			onnx_node("", "QuantizeLinear", "x xs xz", "q");
		else
			onnx_node("", "DynamicQuantizeLinear", "x", "q xs2 xz2");
		onnx_node("", "MatMulInteger", from_float == 0 ? "q w xz wz" : "q w xz2 wz", "i");
		onnx_node("", "Cast", "i", "f");
		onnx_int("to", ONNX_FLOAT);
		onnx_node("", "Mul", from_float == 0 ? "xs ws" : "xs2 ws", "s");
		onnx_node("", "Mul", "f s", "y");
		onnx_output("y");
		onnx_how.from_float = from_float != 0;
		onnx_read();
		assert_int_equal(count(QN_OP_quantize), 1 - from_float);
		gives(V(1, -1.5, 4), 2, V(0.5 - 1.5 + 6, 5 - 8.25 + 24));
		(void)rig_teardown(NULL), (void)rig_setup(NULL);
	}
}

/* A zero point for each channel that is the same for all is one; so it is of no use to the sum. */
static void
test_scaled_channels(void **state)
{
	(void)state;
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 3));
	onnx_const("w", ONNX_I8, DIMS(3, 2), V(1, 10, 2, 11, 3, 12));
	onnx_const("wz", ONNX_I8, DIMS(2), V(0, 0));
	onnx_const("s", ONNX_FLOAT, DIMS(2), V(0.125, 0.25));
	scale("xs", 0.25);
	zero_point("xz", ONNX_U8, 7);
	onnx_node("", "QuantizeLinear", "x xs xz", "q");
	onnx_node("", "MatMulInteger", "q w xz wz", "i");
	onnx_node("", "Cast", "i", "f");
	onnx_int("to", ONNX_FLOAT);
	onnx_node("", "Mul", "f s", "y");
	onnx_output("y");
	onnx_read();
	assert_int_equal(count(QN_OP_quantize),
			 1); /* of x: the product takes dequantized weights */
	assert_int_equal(count(QN_OP_dequantize), 2);
	gives(V(1, -1.5, 4), 2, V((4 - 12 + 48) * 0.125, (40 - 66 + 192) * 0.25));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_qlinear_conv),    TEST(test_nhwc_max_pool),
		TEST(test_microsoft),       TEST(test_gemm),
		TEST(test_dynamic),         TEST(test_scaled),
		TEST(test_scaled_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
