/* SPDX-License-Identifier: Apache-2.0 */
/* make_tflite.c - writes the corpus of fuzz_tflite: small models of every kind of structure.
 *
 *   make-tflite tests/fuzz/corpus/tflite */
#include <stdio.h>

#include "tests/unit/tflite_writer.h"

static void
save(const char *folder, const char *name, tfl_file *t, int nin, const int32_t *in, int nout,
     const int32_t *out)
{
	char path[512];
	size_t n;
	const uint8_t *bytes = tfl_end(t, nin, in, nout, out, &n);
	FILE *f;

	snprintf(path, sizeof path, "%s/%s.tflite", folder, name);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		perror(path);
	free(t);
}

static void
dense(const char *folder)
{
	tfl_file *t = tfl_begin();
	int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	int w = tfl_tensor(t, "w", TFL_FLOAT32, DIMS(2, 2), (const float[]){1, 2, 3, -4}, 16);
	int b = tfl_tensor(t, "b", TFL_FLOAT32, DIMS(2), (const float[]){1, 2}, 8);
	int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	int z = tfl_tensor(t, "z", TFL_FLOAT32, DIMS(1, 2), NULL, 0);

	tfl_with(tfl_op(t, QN_TFL_FULLY_CONNECTED, INTS(x, w, b), INTS(y)), 0, 'b', 3);
	tfl_with(tfl_op(t, QN_TFL_SOFTMAX, INTS(y), INTS(z)), 0, 'f', 1);
	save(folder, "dense", t, INTS(x), INTS(z));
}

static void
codes(const char *folder)
{
	tfl_file *t = tfl_begin();
	int x = tfl_codes(t, "x", TFL_INT8, DIMS(1, 3, 3, 2), 0.5f, 3, NULL, 0);
	int w = tfl_codes(t, "w", TFL_INT8, DIMS(2, 1, 1, 2), 0.5f, 0, (const int8_t[]){1, 2, 3, 4},
			  4);
	int y = tfl_codes(t, "y", TFL_INT8, DIMS(1, 3, 3, 2), 1.0f, -5, NULL, 0);
	int s = tfl_tensor(t, "s", TFL_INT32, DIMS(2), (const int32_t[]){1, -1}, 8);
	int z = tfl_codes(t, "z", TFL_INT8, DIMS(1, 18), 1.0f, -5, NULL, 0);
	int u = tfl_codes(t, "u", TFL_INT8, DIMS(1, 3, 3, 2), 1.0f, -5, NULL, 0);
	tfl_op_of *o = tfl_op(t, QN_TFL_CONV_2D, INTS(x, w), INTS(y));

	t->tensor[w].nscale = 2;
	t->tensor[w].scale[1] = 0.25f;
	tfl_with(tfl_with(tfl_with(o, 1, 'i', 1), 2, 'i', 1), 3, 'b', 1);
	tfl_op(t, QN_TFL_ADD, INTS(x, y), INTS(u));
	tfl_op(t, QN_TFL_RESHAPE, INTS(u, s), INTS(z));
	save(folder, "codes", t, INTS(x), INTS(z));
}

static void
slices(const char *folder)
{
	tfl_file *t = tfl_begin();
	int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(2, 3, 4), NULL, 0);
	int b = tfl_tensor(t, "b", TFL_INT32, DIMS(3), (const int32_t[]){0, 0, 1}, 12);
	int e = tfl_tensor(t, "e", TFL_INT32, DIMS(3), (const int32_t[]){1, 0, 3}, 12);
	int s = tfl_tensor(t, "s", TFL_INT32, DIMS(3), (const int32_t[]){1, 1, 2}, 12);
	int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(1), NULL, 0);
	int a = tfl_tensor(t, "a", TFL_INT32, DIMS(1), (const int32_t[]){0}, 4);
	int p = tfl_tensor(t, "p", TFL_FLOAT32, DIMS(1, 3, 4), NULL, 0);
	int q = tfl_tensor(t, "q", TFL_FLOAT32, DIMS(1, 3, 4), NULL, 0);
	tfl_op_of *o = tfl_op(t, QN_TFL_STRIDED_SLICE, INTS(x, b, e, s), INTS(y));

	tfl_with(tfl_with(tfl_with(o, 2, 'i', 2), 3, 'i', 0), 4, 'i', 1);
	tfl_op(t, QN_TFL_SPLIT, INTS(a, x), INTS(p, q));
	save(folder, "slices", t, INTS(x), INTS(y, p, q));
}

static void
half(const char *folder)
{
	tfl_file *t = tfl_begin();
	int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int h = tfl_tensor(t, "h", TFL_FLOAT16, DIMS(2), (const uint16_t[]){0x3c00, 0xc000}, 4);
	int w = tfl_tensor(t, "w", TFL_FLOAT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(2), NULL, 0);

	tfl_op(t, QN_TFL_DEQUANTIZE, INTS(h), INTS(w));
	tfl_op(t, QN_TFL_MUL, INTS(x, w), INTS(y));
	save(folder, "half", t, INTS(x), INTS(y));
}

static int
state(tfl_file *t, int type, float scale)
{
	int k = tfl_codes(t, "s", type, DIMS(1, 1), scale, 0, NULL, 0);

	t->tensor[k].is_variable = 1;
	return k;
}

/* One cell of codes, two steps. */
static void
lstm_codes(const char *folder)
{
	static const int8_t w[] = {100, -90};
	static const int32_t bias[] = {7};
	tfl_file *t = tfl_begin();
	int x = tfl_codes(t, "x", TFL_INT8, DIMS(1, 2, 2), 0.05f, 3, NULL, 0);
	int y = tfl_codes(t, "y", TFL_INT8, DIMS(1, 2, 1), 0.0078f, 0, NULL, 0);
	int32_t in[20];

	for (int i = 0; i < 20; i++)
		in[i] = -1;
	in[0] = x;
	for (int g = 0; g < 4; g++) {
		in[1 + g] = tfl_codes(t, "w", TFL_INT8, DIMS(1, 2), 0.01f, 0, w, 2);
		in[5 + g] = tfl_codes(t, "r", TFL_INT8, DIMS(1, 1), 0.02f, 0, w, 1);
		in[12 + g] = tfl_codes(t, "b", TFL_INT32, DIMS(1), 0.0005f, 0, bias, 4);
	}
	in[18] = state(t, TFL_INT8, 0.0078f);
	in[19] = state(t, TFL_INT16, 0.00048828125f);
	tfl_op_of *o = tfl_op(t, QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 20, in, INTS(y));
	tfl_with(tfl_with(o, 0, 'b', QN_TFL_ACT_TANH), 1, 'f', 0.5);
	save(folder, "lstm-codes", t, INTS(x), INTS(y));
}

/* Both ways, coupled gates with peepholes and a projection; behind it an RNN. */
static void
recurrent(const char *folder)
{
	static const float w[] = {0.5f, -0.25f};
	tfl_file *t = tfl_begin();
	int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(2, 1, 1), NULL, 0);
	int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(2, 1, 2), NULL, 0);
	int z = tfl_tensor(t, "z", TFL_FLOAT32, DIMS(2, 1, 1), NULL, 0);
	int m = tfl_tensor(t, "m", TFL_FLOAT32, DIMS(1, 1), w, 4);
	int v = tfl_tensor(t, "v", TFL_FLOAT32, DIMS(1), w, 4);
	int u = tfl_tensor(t, "u", TFL_FLOAT32, DIMS(1, 2), w, 8), s = state(t, TFL_FLOAT32, 0);
	int32_t in[48];

	for (int i = 0; i < 48; i++)
		in[i] = i == 0                                             ? x
			: i >= 35 && i < 39                                ? s
			: i >= 39 || i == 1 || i == 5 || i == 9 || i == 12 ? -1
			: i == 18 || i == 22 || i == 26 || i == 29         ? -1
			: (i >= 10 && i < 16) || i == 17                   ? v
			: (i >= 27 && i < 33) || i == 34                   ? v
									   : m;
	tfl_op_of *o = tfl_op(t, QN_TFL_BIDIRECTIONAL_SEQUENCE_LSTM, 48, in, INTS(y));
	tfl_with(tfl_with(tfl_with(o, 0, 'b', QN_TFL_ACT_TANH), 2, 'f', 0.5), 3, 'b', 1);
	o = tfl_op(t, QN_TFL_UNIDIRECTIONAL_SEQUENCE_RNN, INTS(y, u, m, v, s), INTS(z));
	tfl_with(tfl_with(o, 0, 'b', 1), 1, 'b', QN_TFL_ACT_RELU);
	save(folder, "recurrent", t, INTS(x), INTS(z));
}

/* A step per run, of quantized values: two units of two filters, which remember three runs. */
static void
svdf(const char *folder)
{
	static const int8_t w[] = {100, -90, 17, 3, -128, 5, 44, -60};
	static const int16_t v[] = {900, -800, 3000, 20, -700, 1500, -250, 410, 77, -3000, 1, 2200};
	static const int32_t bias[] = {7, -30000};
	tfl_file *t = tfl_begin();
	int x = tfl_codes(t, "x", TFL_INT8, DIMS(1, 2), 0.05f, 3, NULL, 0);
	int y = tfl_codes(t, "y", TFL_INT8, DIMS(1, 2), 0.04f, -11, NULL, 0);
	int k = tfl_codes(t, "w", TFL_INT8, DIMS(4, 2), 0.01f, 0, w, 8);
	int m = tfl_codes(t, "v", TFL_INT16, DIMS(4, 3), 0.001f, 0, v, 24);
	int b = tfl_codes(t, "b", TFL_INT32, DIMS(2), 0.000002f, 0, bias, 8);
	int s = tfl_codes(t, "s", TFL_INT16, DIMS(1, 12), 0.002f, 0, NULL, 0);

	t->tensor[s].is_variable = 1;
	tfl_with(tfl_op(t, QN_TFL_SVDF, INTS(x, k, m, b, s), INTS(y)), 0, 'i', 2);
	save(folder, "svdf", t, INTS(x), INTS(y));
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dense(argv[1]);
	codes(argv[1]);
	slices(argv[1]);
	half(argv[1]);
	lstm_codes(argv[1]);
	recurrent(argv[1]);
	svdf(argv[1]);
	return 0;
}
