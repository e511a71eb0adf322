/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tflite_graph.c - TFLite files that are well written, made from the bytes: operators in chains and branches of
 * one type of tensors, quantized per tensor and per axis, their options and constants, and the options of the compilation.
 *
 *   bytes ─▶ options, type, input ─▶ (operator, its inputs, options, constants, result)… ─▶ outputs
 *
 * Most lengths are 4 or 1, so that many operators fit together by chance. */
#define _POSIX_C_SOURCE 200809L /* getpid, unlink */

#include "tests/fuzz/fuzz_draw.h"

#include "tests/unit/tflite_writer.h"

enum { MOST_VALUES = 16, MOST_OPS = 10, MOST_CODE = 165 };

typedef struct maker {
	fuzz_draw d;
	tfl_file *file;
	int type; /* of activations */
	int value[MOST_VALUES], nvalue;
	float data[1024]; /* of constants, which live until the file is written */
} maker;

/* Inputs: x a value, w weights, b a bias, v a vector of the activations' type, i integers, n an integer scalar; after ?
 * all may be left out.  Options, field by field: b a byte, i a number, f a real, k a length. */
typedef struct op_row {
	int code;
	const char *in, *options;
} op_row;

static const op_row ops[] = {
	{QN_TFL_CONV_2D, "xw?b", "bkkbkk"},
	{QN_TFL_DEPTHWISE_CONV_2D, "xw?b", "bkkkbkk"},
	{QN_TFL_FULLY_CONNECTED, "xw?b", "bbb"},
	{QN_TFL_TRANSPOSE_CONV, "iwx?b", "bkkb"},
	{QN_TFL_CONV_3D, "xw?b", "bkkkbkkk"},
	{QN_TFL_ADD, "xx", "bb"},
	{QN_TFL_ADD, "xv", "bb"},
	{QN_TFL_SUB, "xx", "bb"},
	{QN_TFL_MUL, "xx", "b"},
	{QN_TFL_MUL, "xv", "b"},
	{QN_TFL_DIV, "xx", "b"},
	{QN_TFL_AVERAGE_POOL_2D, "x", "bkkkkb"},
	{QN_TFL_MAX_POOL_2D, "x", "bkkkkb"},
	{QN_TFL_L2_POOL_2D, "x", "bkkkkb"},
	{QN_TFL_CONCATENATION, "xx?x", "ib"},
	{QN_TFL_RELU, "x", ""},
	{QN_TFL_RELU6, "x", ""},
	{QN_TFL_LEAKY_RELU, "x", "f"},
	{QN_TFL_PRELU, "xv", ""},
	{QN_TFL_LOGISTIC, "x", ""},
	{QN_TFL_TANH, "x", ""},
	{QN_TFL_HARD_SWISH, "x", ""},
	{QN_TFL_GELU, "x", "b"},
	{QN_TFL_ELU, "x", ""},
	{QN_TFL_EXP, "x", ""},
	{QN_TFL_LOG, "x", ""},
	{QN_TFL_SQRT, "x", ""},
	{QN_TFL_RSQRT, "x", ""},
	{QN_TFL_ABS, "x", ""},
	{QN_TFL_NEG, "x", ""},
	{QN_TFL_SOFTMAX, "x", "f"},
	{QN_TFL_LOG_SOFTMAX, "x", ""},
	{QN_TFL_L2_NORMALIZATION, "x", "b"},
	{QN_TFL_QUANTIZE, "x", ""},
	{QN_TFL_DEQUANTIZE, "x", ""},
	{QN_TFL_FAKE_QUANT, "x", "ffib"},
	{QN_TFL_RESHAPE, "x?i", ""},
	{QN_TFL_TRANSPOSE, "xi", ""},
	{QN_TFL_PAD, "xi", ""},
	{QN_TFL_PADV2, "xiv", ""},
	{QN_TFL_MIRROR_PAD, "xi", "b"},
	{QN_TFL_MEAN, "xi", "b"},
	{QN_TFL_SUM, "xi", "b"},
	{QN_TFL_REDUCE_MAX, "xi", "b"},
	{QN_TFL_ARG_MAX, "xn", "b"},
	{QN_TFL_TOPK_V2, "xn", ""},
	{QN_TFL_SLICE, "xii", ""},
	{QN_TFL_STRIDED_SLICE, "xiii", "iiiii"},
	{QN_TFL_SPLIT, "nx", "i"},
	{QN_TFL_UNPACK, "x", "ii"},
	{QN_TFL_PACK, "xx", "ii"},
	{QN_TFL_GATHER, "xi", "ii"},
	{QN_TFL_TILE, "xi", ""},
	{QN_TFL_EXPAND_DIMS, "xn", ""},
	{QN_TFL_SQUEEZE, "x", ""},
	{QN_TFL_RESIZE_BILINEAR, "xi", "kkkbb"},
	{QN_TFL_RESIZE_NEAREST_NEIGHBOR, "xi", "bb"},
	{QN_TFL_DEPTH_TO_SPACE, "x", "k"},
	{QN_TFL_SPACE_TO_DEPTH, "x", "k"},
	{QN_TFL_SPACE_TO_BATCH_ND, "xii", ""},
	{QN_TFL_BATCH_TO_SPACE_ND, "xii", ""},
	{QN_TFL_BATCH_MATMUL, "xx", "bb"},
	{QN_TFL_CUMSUM, "xn", "bb"},
	{QN_TFL_MAXIMUM, "xx", ""},
	{QN_TFL_MINIMUM, "xv", ""},
	{QN_TFL_SQUARED_DIFFERENCE, "xx", ""},
	{QN_TFL_REVERSE_V2, "xi", ""},
	{QN_TFL_SHAPE, "x", "b"},
	{QN_TFL_CAST, "x", "bb"},
	{QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, "xwwwwwwww", "bffbb"},
	{QN_TFL_SVDF, "xww?bx", "kb"},
};

static const char *
name_of(maker *k)
{
	static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g", "h",
					   "i", "j", "k", "l", "m", "n", "o", "p"};

	return name[k->file->ntensor % 16];
}

/* Parameters, but of floats and plain integers: one pair, or four along an axis; seldom such as no tool writes. */
static void
quantize(maker *k, int tensor, bool symmetric, bool weights)
{
	tfl_tensor_of *x = &k->file->tensor[tensor];

	if (x->type != TFL_INT8 && x->type != TFL_UINT8 && x->type != TFL_INT16 &&
	    draw(&k->d, 8) != 7)
		return;
	x->nscale = weights && draw(&k->d, 3) > 0 ? 4 : 1;
	x->axis = weights ? draw(&k->d, 5) == 4 ? draw(&k->d, 5) - 1 : 0 : 0;
	for (int i = 0; i < x->nscale; i++) {
		x->scale[i] = draw(&k->d, 24) == 23 ? draw_real(&k->d)
						    : 0.004f * (float)(1 + draw(&k->d, 20));
		x->zp[i] = symmetric || draw(&k->d, 2) == 0
				   ? 0
				   : draw(&k->d, 256) - (x->type == TFL_INT8 ? 128 : 0);
	}
}

static int
activation(maker *k, int type, int rank, const int32_t *dim)
{
	int t = tfl_tensor(k->file, name_of(k), type, rank, dim, NULL, 0);

	quantize(k, t, type == TFL_INT16, false);
	return t;
}

static void
drawn_shape(maker *k, int *rank, int32_t *dim)
{
	static const int32_t shape[][5] = {
		{1, 4, 4, 4}, {1, 4},       {4, 4},          {1, 4, 4}, {2, 4, 4, 4},
		{1, 2, 2, 4}, {1, 1, 1, 4}, {1, 2, 3, 4, 4}, {4},       {1, 8, 8, 4}};
	static const int ranks[] = {4, 2, 2, 3, 4, 4, 4, 5, 1, 4};
	int s = draw(&k->d, 10);

	*rank = ranks[s];
	for (int i = 0; i < *rank; i++)
		dim[i] = draw(&k->d, 16) == 15 ? draw(&k->d, 9) : shape[s][i];
}

static int
constant(maker *k, int type, int rank, const int32_t *dim, bool weights)
{
	int n = 1, bytes;

	for (int i = 0; i < rank; i++)
		n *= dim[i];
	bytes = n * (int)tfl_each(type);
	if (bytes > (int)sizeof k->data)
		n = 0;
	int t = tfl_tensor(k->file, name_of(k), type, rank, dim, k->data, n > 0 ? bytes : 0);
	quantize(k, t, weights, weights);
	return t;
}

/* Integers that differ from tensor to tensor lie in the data from a drawn place on. */
static int
integers(maker *k, int n, bool scalar)
{
	int32_t dim[1] = {n};
	int32_t *v = (int32_t *)(void *)(k->data + 512) + 8 * draw(&k->d, 60);
	int t = tfl_tensor(k->file, name_of(k), TFL_INT32, scalar ? 0 : 1, dim, v, 4 * n);

	for (int i = 0; i < n; i++)
		v[i] = (int32_t)(draw(&k->d, 10) == 9 ? draw_int(&k->d) : draw(&k->d, 5));
	return t;
}

static int
input_of(maker *k, char letter)
{
	static const int32_t weights[][4] = {{4, 3, 3, 4}, {1, 3, 3, 4}, {4, 1, 1, 4},
					     {4, 4},       {4, 64},      {4, 16}};
	static const int ranks[] = {4, 4, 4, 2, 2, 2};
	const bool real = k->type == TFL_FLOAT32;
	int s, back;

	switch (letter) {
	case 'x':
		back = draw(&k->d, 4) == 3 ? draw(&k->d, k->nvalue) : draw(&k->d, 2);
		return k->value[k->nvalue - 1 - (back < k->nvalue ? back : 0)];
	case 'w':
		s = draw(&k->d, 6);
		return constant(k,
				real ? (draw(&k->d, 6) == 5 ? TFL_INT8 : TFL_FLOAT32)
				: k->type == TFL_UINT8 ? TFL_UINT8
						       : TFL_INT8,
				ranks[s], weights[s], true);
	case 'b':
		return constant(k,
				real                   ? TFL_FLOAT32
				: k->type == TFL_INT16 ? TFL_INT64
						       : TFL_INT32,
				1, (const int32_t[]){4}, true);
	case 'v':
		return constant(k, k->type, draw(&k->d, 2), (const int32_t[]){4}, false);
	case 'n':
		return integers(k, 1, true);
	default:
		return integers(k, 1 + draw(&k->d, 8), false);
	}
}

static void
add_options(maker *k, tfl_op_of *o, const char *kinds)
{
	for (uint32_t f = 0; kinds[f] != '\0'; f++) {
		if (draw(&k->d, 4) == 3)
			continue;
		if (kinds[f] == 'f')
			tfl_with(o, f, 'f', (double)draw_real(&k->d));
		else
			tfl_with(o, f, kinds[f] == 'b' ? 'b' : 'i',
				 draw(&k->d, 16) == 15 ? (double)(int32_t)draw_int(&k->d)
				 : kinds[f] == 'k'     ? 1 + draw(&k->d, 3)
						       : draw(&k->d, 3));
	}
}

static void
add_op(maker *k)
{
	const op_row *r = &ops[draw(&k->d, (int)(sizeof ops / sizeof ops[0]))];
	int code = draw(&k->d, 24) == 23 ? draw(&k->d, MOST_CODE) : r->code;
	int32_t in[12], dim[8];
	int nin = 0, rank;
	bool may_end = false;

	for (const char *s = r->in; *s != '\0'; s++) {
		may_end |= *s == '?';
		if (*s != '?' && !(may_end && draw(&k->d, 3) == 2))
			in[nin++] = draw(&k->d, 60) == 59 ? -1 : input_of(k, *s);
	}
	const tfl_tensor_of *x = &k->file->tensor[k->value[k->nvalue - 1]];
	rank = x->rank;
	memcpy(dim, x->dim, sizeof x->dim);
	if (draw(&k->d, 2) == 1)
		drawn_shape(k, &rank, dim);
	int out = activation(k, draw(&k->d, 16) == 15 ? TFL_INT32 : k->type, rank, dim);
	add_options(k, tfl_op(k->file, code, nin, in, 1, &out), r->options);
	k->value[k->nvalue++] = out;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int type[] = {TFL_INT8, TFL_FLOAT32, TFL_INT8, TFL_UINT8, TFL_INT16};
	static maker k;
	int32_t dim[8];
	int rank;
	size_t n;

	memset(&k, 0, sizeof k);
	k.d = (fuzz_draw){data, size, 0};
	const fuzz_how_to how = draw_options(&k.d);
	k.type = type[draw(&k.d, 5)];
	for (size_t i = 0; i < 512; i++)
		k.data[i] = (float)(i * 29 % 17) / 8.0f - 1.0f;
	k.file = tfl_begin();
	drawn_shape(&k, &rank, dim);
	k.value[k.nvalue++] = activation(&k, k.type, rank, dim);
	for (int i = 0;
	     i < MOST_OPS && k.file->ntensor + 14 < TFL_MOST && (i == 0 || !drawn_out(&k.d)); i++)
		add_op(&k);
	const uint8_t *bytes = tfl_end(k.file, 1, k.value, 1, &k.value[k.nvalue - 1], &n);
	fuzz_model_run_as(".tflite", bytes, n, &how);
	free(k.file);
	return 0;
}
