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

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dense(argv[1]);
	codes(argv[1]);
	slices(argv[1]);
	half(argv[1]);
	return 0;
}
