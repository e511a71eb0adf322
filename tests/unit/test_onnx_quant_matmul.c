/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_quant_matmul.c - MatMulNBits: products with constants of 4 and 8 bits in blocks. */
#include "tests/unit/onnx_protobuf.h"

#define V(...) ((const double[]){__VA_ARGS__})

enum { ROWS = 2, K = 40, N = 3, BLOCK = 16, BLOCKS = 3, PADDED = BLOCKS * BLOCK };

static const double scales[N * BLOCKS] = {0.5, 0.25, 1, 2, 0.125, 3, 0.75, 1.5, 4};
static const int zeros[N * BLOCKS] = {1, 15, 0, 7, 8, 9, 3, 12, 5};

/* Stored weight k of row n, the padding of the last block among them. */
static int
stored(int n, int k, int bits)
{
	return (n * 37 + k * 11 + k / 5) % (1 << bits);
}

static double
data(int i)
{
	return (i * 7 % 13 - 6) * 0.25;
}

static void
put_weights(int bits)
{
	const int each = 8 / bits;
	double v[N * PADDED];
	int n = 0;

	for (int i = 0; i < N * PADDED; i += each) {
		v[n] = stored(i / PADDED, i % PADDED, bits);
		if (each == 2)
			v[n] += 16 * stored(i / PADDED, i % PADDED + 1, bits);
		n++;
	}
	onnx_const("b", ONNX_U8, DIMS(N, BLOCKS, BLOCK / each), v);
	onnx_const("s", ONNX_FLOAT, DIMS(N * BLOCKS), scales);
}

static void
put_node(const char *in, int bits)
{
	onnx_node("com.microsoft", "MatMulNBits", in, "y");
	onnx_int("K", K);
	onnx_int("N", N);
	onnx_int("bits", bits);
	onnx_int("block_size", BLOCK);
}

/* By the definition: sums of data times (stored - zero) * scale, plus the bias. */
static void
products_are(int bits, const int *zero, double bias)
{
	double want[ROWS * N], x[ROWS * K];

	for (int i = 0; i < ROWS * K; i++)
		x[i] = data(i);
	for (int i = 0; i < ROWS * N; i++) {
		const int n = i % N;

		want[i] = bias * (n + 1);
		for (int k = 0; k < K; k++) {
			const int at = n * BLOCKS + k / BLOCK;
			const int z = zero != NULL ? zero[at] : 1 << (bits - 1);

			want[i] += x[i / N * K + k] * (stored(n, k, bits) - z) * scales[at];
		}
	}
	near(want, run1(x), ROWS * N, 1e-3);
}

static void
begin(int bits)
{
	onnx_begin(21);
	onnx_input("x", ONNX_FLOAT, DIMS(1, ROWS, K));
	put_weights(bits);
}

static void
test_four_bits(void **state)
{
	(void)state;
	begin(4);
	put_node("x b s", 4);
	onnx_output("y");
	onnx_read();
	products_are(4, NULL, 0);
}

/* Two zero points in a byte, rows of them from a byte on. */
static void
test_zero_points(void **state)
{
	double z[N * 2];

	(void)state;
	begin(4);
	for (int n = 0; n < N; n++) {
		z[2 * n] = zeros[n * BLOCKS] + 16 * zeros[n * BLOCKS + 1];
		z[2 * n + 1] = zeros[n * BLOCKS + 2];
	}
	onnx_const("z", ONNX_U8, DIMS(N * 2), z);
	onnx_const("c", ONNX_FLOAT, DIMS(N), V(0.5, 1, 1.5));
	put_node("x b s z - c", 4);
	onnx_output("y");
	onnx_read();
	products_are(4, zeros, 0.5);
}

static void
test_eight_bits(void **state)
{
	double z[N * BLOCKS];

	(void)state;
	begin(8);
	for (int i = 0; i < N * BLOCKS; i++)
		z[i] = zeros[i];
	onnx_const("z", ONNX_U8, DIMS(N, BLOCKS), z);
	put_node("x b s z", 8);
	onnx_output("y");
	onnx_read();
	products_are(8, zeros, 0);
}

static void
test_eight_bits_middle(void **state)
{
	(void)state;
	begin(8);
	put_node("x b s", 8);
	onnx_output("y");
	onnx_read();
	products_are(8, NULL, 0);
}

static void
fails(const char *in, int bits, const char *id, const char *words)
{
	begin(4);
	onnx_const("f", ONNX_FLOAT, DIMS(N, BLOCKS), scales);
	onnx_const("g", ONNX_I32, DIMS(1), V(0));
	put_node(in, bits);
	onnx_output("y");
	onnx_fails(id, words);
}

static void
test_refused_bits(void **state)
{
	(void)state;
	fails("x b s", 2, "import.attr", "bits is 2, weights of 4 and 8 bits are read");
}

static void
test_refused_size(void **state)
{
	(void)state;
	fails("x b s", 8, "import.constant", "B must be a constant of 3 x 48 elements");
}

static void
test_refused_real_zero_points(void **state)
{
	(void)state;
	fails("x b s f", 4, "import.input", "only such of UINT8 are read");
}

static void
test_refused_groups(void **state)
{
	(void)state;
	fails("x b s - g", 4, "import.input", "g_idx");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_four_bits, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_zero_points, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_eight_bits, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_eight_bits_middle, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused_bits, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused_size, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused_real_zero_points, rig_setup,
						rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused_groups, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
