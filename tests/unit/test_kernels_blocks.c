/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_blocks.c - kernels of weights in blocks for the DSP extension and for vectors, with their packed constants,
 * against the interpreter: graphs of one layer with random blocks, which are planned for such a target. */
#include <stdio.h>

#include "codegen/kernels_blocks.h"
#include "tests/unit/layer_rig.h"

/* Of the last dense layer over vectors: the second word of its scales. */
static int32_t flags;

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	if (strcmp(name, "qn_conv2d_blocks_dsp_w4") == 0)
		qn_conv2d_blocks_dsp_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_blocks_rows_dsp") == 0)
		qn_conv2d_blocks_rows_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_blocks_rows_dsp_w4") == 0)
		qn_conv2d_blocks_rows_dsp_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_conv2d_blocks_rows_dsp_w2") == 0)
		qn_conv2d_blocks_rows_dsp_w2(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_blocks_dsp") == 0)
		qn_dense_blocks_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_blocks_dsp_w4") == 0)
		qn_dense_blocks_dsp_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_blocks_dsp_w2") == 0)
		qn_dense_blocks_dsp_w2(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_blocks_dsp_s16") == 0)
		qn_dense_blocks_dsp_s16(s->args, (const void *)x[0], work, (void *)y);
	else if (strcmp(name, "qn_dense_blocks_dsp_s16w4") == 0)
		qn_dense_blocks_dsp_s16w4(s->args, (const void *)x[0], work, (void *)y);
	else if (strcmp(name, "qn_conv2d_blocks_vector") == 0)
		qn_conv2d_blocks_vector(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_blocks_vector") == 0) {
		flags = ((const qn_dense_vector_args *)s->args)->scale[1];
		qn_dense_blocks_vector(s->args, x[0], work, y);
	} else if (strcmp(name, "qn_conv2d_blocks_vector_w4") == 0)
		qn_conv2d_blocks_vector_w4(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_blocks_vector_w4") == 0)
		qn_dense_blocks_vector_w4(s->args, x[0], work, y);
	else
		return false;
	return true;
}

/* A target, how many inputs its kernels take at once, and what their names have. */
typedef struct kind {
	const char *target, *name;
	int inputs;
} kind;

static const kind kinds[] = {{"cortex-m4", "_dsp", 4},
			     {"cortex-m55", "_blocks_vector", 16},
			     {"x86-64-avx512vnni", "_blocks_vector", 16},
			     {"aarch64", "_blocks_vector", 16}};

enum { CHARS = 200000 };

static char text[CHARS];
static size_t length;

__attribute__((format(printf, 1, 2))) static void
put(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	length += (size_t)vsnprintf(text + length, CHARS - length, format, args);
	va_end(args);
	assert_true(length < CHARS);
}

/* Zero points of blocks: of none, of all any, or of some -1. */
typedef enum zeros { ZEROS_NONE, ZEROS_ANY, ZEROS_TURNED } zeros;

static void
put_scale(bool first, zeros z, int bits)
{
	put("%.6f", (first ? 1 : pick(1, 255)) / 64.0);
	if (z == ZEROS_ANY)
		put(":%d", pick(-(1 << (bits - 1)), (1 << (bits - 1)) - 1));
	else if (z == ZEROS_TURNED)
		put(":%d", -pick(0, 1));
}

/* Nested lists of scales, multiples of 1/64, of which the first one of each output channel is 1/64. */
static void
put_scales(int rank, const int *count, bool first, zeros z, int bits)
{
	put("{");
	for (int i = 0; i < count[0]; i++) {
		put("%s", i > 0 ? ", " : "");
		if (rank > 1)
			put_scales(rank - 1, count + 1, first && i == 0, z, bits);
		else
			put_scale(first && i == 0, z, bits);
	}
	put("}");
}

/* The type of weights [dim] in blocks of so many along each axis. */
static const char *
weights(builder *b, int bits, int rank, const int *dim, const int *block, zeros z)
{
	int count[4];
	bool partial = false;

	length = 0;
	put("tensor<");
	for (int i = 0; i < rank; i++)
		put("%dx", dim[i]);
	put("!quant.uniform<i%d:f32:{", bits);
	for (int i = 0; i < rank; i++) {
		put("%s%d:%d", i > 0 ? ", " : "", i, block[i]);
		count[i] = (dim[i] + block[i] - 1) / block[i];
		partial = partial || dim[i] % block[i] != 0;
	}
	put("}%s, {", partial ? "+" : "");
	for (int o = 0; o < dim[0]; o++) {
		put("%s", o > 0 ? ", " : "");
		put_scales(rank - 1, count + 1, true, z, bits);
	}
	put("}>>");
	return qn_arena_str(&b->arena, text);
}

static const char *
bias(builder *b, int channels, int wide)
{
	length = 0;
	put("tensor<%dx!quant.uniform<i%d:f32:0, 0.5*{", channels, wide ? 64 : 32);
	for (int o = 0; o < channels; o++)
		put("%s0.015625", o > 0 ? ", " : "");
	put("}>>");
	return qn_arena_str(&b->arena, text);
}

/* The layer's kernel where it is one for blocks of the target, else "". */
static const char *
check(builder *b, layer *l, int channels, int bits, const kind *k)
{
	const bool wide = strstr(l->x, "<i16") != NULL;

	l->bias = pick(0, 1) == 0 ? NULL : bias(b, channels, wide);
	l->y = build_printf(b, "i%d:f32, %d.5:%d", wide ? 16 : 8, pick(20, 900),
			    wide ? 0 : pick(-128, 127));
	const bool in_pairs = k->inputs == 4 && bits == 8 && !wide; /* words of two channels */
	l->w_lo = in_pairs ? -127 : -(1 << (bits - 1));
	l->w_hi = (1 << (bits - 1)) - 1;
	l->bias_lo = -100000;
	l->bias_hi = 100000;
	l->x_lo = -128;
	l->x_hi = 127;
	const char *name = check_layer(b, l, k->target, call);
	return strstr(name, k->name) != NULL ? name : "";
}

static void
test_dense(void **state)
{
	int reached = 0, wides = 0;

	(void)state;
	for (uint64_t round = 1; round <= 400; round++) {
		const kind *k = &kinds[round % COUNT(kinds)];
		const bool wide = k->inputs == 4 && pick(0, 1) == 0;
		const int bits = k->inputs == 4 && !wide ? 2 << pick(0, 2) : 4 << pick(0, 1);
		const zeros z = (zeros)pick(0, 2);
		const int n = pick(1, 3), in = pick(5, 90), out = pick(1, 19);
		const int dim[2] = {out, in},
			  block[2] = {1, pick(1, k->inputs == 4 ? 6 : 3) * k->inputs};
		const int zp = wide ? 0 : pick(-128, 127);
		builder b;

		if (block[1] >= in)
			continue;
		build_begin(&b, "net", round);
		layer l = {
			.op = QN_OP_dense,
			.x = build_printf(&b, "tensor<%dx%dx!quant.uniform<i%d:f32, 0.5:%d>>", n,
					  in, wide ? 16 : 8, zp),
			.w = weights(&b, bits, 2, dim, block, z),
		};
		const bool fits = check(&b, &l, out, bits, k)[0] != '\0';
		reached += fits;
		wides += fits && wide;
		build_end(&b);
	}
	assert_true(reached > 150 && wides > 20);
}

static void
test_conv(void **state)
{
	int reached = 0, windows = 0, rows[3] = {0};

	(void)state;
	for (uint64_t round = 1; round <= 400; round++) {
		const kind *k = &kinds[round % COUNT(kinds)];
		const int bits = k->inputs == 4 ? 2 << pick(0, 2) : 4 << pick(0, 1);
		const int kh = pick(1, 3), kw = pick(1, 3), out = pick(1, 17);
		const int c = k->inputs * pick(1, k->inputs == 4 ? 5 : 3);
		const int h = pick(2 * kh - 1, 7), w = pick(2 * kw - 1, 7), zp = pick(-128, 127);
		const int dim[4] = {out, kh, kw, c};
		int block[4] = {1, 1, 1, k->inputs * pick(1, c / k->inputs)};
		qn_attrs a = build_attrs(QN_OP_conv2d);
		builder b;

		if (block[3] == c) {
			block[2] = pick(1, kw);
			if (block[2] == kw)
				block[1] = pick(1, kh);
		}
		build_begin(&b, "net", round);
		for (int i = 0; i < 2; i++) {
			a.conv2d.stride[i] = pick(1, 2);
			a.conv2d.dilation[i] = pick(0, 3) == 0 ? 2 : 1;
			a.conv2d.pad[i] = pick(0, 1);
			a.conv2d.pad[2 + i] = pick(0, 1);
		}
		layer l = {
			.op = QN_OP_conv2d,
			.x = build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
					  pick(1, 2), h, w, c, zp),
			.w = weights(&b, bits, 4, dim, block, (zeros)pick(0, 2)),
			.attr = &a,
		};
		const char *name = check(&b, &l, out, bits, k);
		const bool fits = name[0] != '\0';
		reached += fits;
		windows += fits && kh * kw > 1;
		rows[bits / 4] += strstr(name, "_rows_dsp") != NULL;
		build_end(&b);
	}
	assert_true(reached > 200 && windows > 100);
	assert_true(rows[0] > 10 && rows[1] > 10 && rows[2] > 10); /* 2, 4 and 8 bits */
}

/* -128 beside a negative weight is not a word of two channels, in a file and where -1 is the zero point of 127. */
static void
test_least_weights(void **state)
{
	static const char *const type[] = {"tensor<2x8x!quant.uniform<i8:f32:{0:1, 1:4}, "
					   "{{0.015625, 0.031250}, {0.015625, 0.031250}}>>",
					   "tensor<2x8x!quant.uniform<i8:f32:{0:1, 1:4}, "
					   "{{0.015625:0, 0.031250:0}, {0.015625:-1, "
					   "0.031250:-1}}>>"};
	const qn_attrs a = build_attrs(QN_OP_conv2d);

	(void)state;
	for (int k = 0; k < 4; k++) {
		const int8_t least = k % 2 == 0 ? -128 : 127;
		const int8_t w[16] = {-1,    -2,    -3,    -4,    -5,    -6,    -7,    -8,
				      least, least, least, least, least, least, least, least};
		builder b;

		build_begin(&b, "net", (uint64_t)k + 1);
		const char *conv = qn_arena_str(&b.arena, type[k % 2]);
		if (k >= 2) /* the same weights of a 1x1 convolution */
			conv = build_printf(
				&b,
				"tensor<2x1x1x8x!quant.uniform<i8:f32:{0:1, 1:1, 2:1, 3:4}, "
				"{{{{0.015625%s, 0.031250%s}}}, {{{0.015625%s, 0.031250%s}}}}>>",
				k == 3 ? ":0" : "", k == 3 ? ":0" : "", k == 3 ? ":-1" : "",
				k == 3 ? ":-1" : "");
		layer l = {.op = k < 2 ? QN_OP_dense : QN_OP_conv2d,
			   .x = k < 2 ? "tensor<1x8x!quant.uniform<i8:f32, 0.5:3>>"
				      : "tensor<1x1x2x8x!quant.uniform<i8:f32, 0.5:3>>",
			   .w = conv,
			   .weight = w,
			   .attr = k < 2 ? NULL : &a};
		assert_string_equal(check(&b, &l, 2, 8, &kinds[0]), "");
		build_end(&b);
	}
}

/* Constants for vectors say whether a weight is -128, which AVX2 has no sign for, and whether there are offsets. */
static void
test_flags(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		int8_t w[3 * 32];
		builder b;

		for (int i = 0; i < 3 * 32; i++)
			w[i] = (int8_t)(i % 255 - 127);
		w[95] = k % 2 == 0 ? -128 : -127;
		build_begin(&b, "net", (uint64_t)k + 1);
		layer l = {.op = QN_OP_dense,
			   .x = "tensor<1x32x!quant.uniform<i8:f32, 0.5:3>>",
			   .w = k < 2 ? "tensor<3x32x!quant.uniform<i8:f32:{0:1, 1:16}, "
					"{{0.015625, 0.03125}, {0.015625, 0.03125}, {0.015625, "
					"0.03125}}>>"
				      : "tensor<3x32x!quant.uniform<i8:f32:{0:1, 1:16}, "
					"{{0.015625:5, 0.03125:0}, {0.015625:0, 0.03125:9}, "
					"{0.015625:0, 0.03125:0}}>>",
			   .weight = w,
			   .y = "i8:f32, 60.5:0",
			   .x_lo = -128,
			   .x_hi = 127};
		assert_string_equal(check_layer(&b, &l, "x86-64-avx512vnni", call),
				    "qn_dense_blocks_vector");
		assert_int_equal(flags, (k % 2 == 0 ? 0 : 2) + (k < 2 ? 0 : 1));
		build_end(&b);
	}
}

/* Inner sums of the longest blocks, all weights and inputs at their ends, do not come apart. */
static void
test_longest_blocks(void **state)
{
	enum { BLOCK = 508, OUT = 9 };
	static int8_t w[OUT * 2 * BLOCK];

	(void)state;
	for (int k = 0; k < 24; k++) {
		const int bits = 2 << k % 3, least = bits < 8 ? -(1 << (bits - 1)) : -127;
		builder b;

		length = 0;
		put("tensor<%dx%dx!quant.uniform<i%d:f32:{0:1, 1:%d}, {", OUT, 2 * BLOCK, bits,
		    BLOCK);
		for (int o = 0; o < OUT; o++)
			put("%s{0.015625, 0.031250}", o > 0 ? ", " : "");
		put("}>>");
		for (int i = 0; i < OUT * 2 * BLOCK; i++) { /* all alike, or by channels */
			const bool low =
				k < 6 ? k % 2 == 0 : (i / (2 * BLOCK) + k) % (k < 12 ? 2 : 3) == 0;

			w[i] = (int8_t)(low ? least : (1 << (bits - 1)) - 1);
		}
		build_begin(&b, "net", (uint64_t)k + 1);
		layer l = {.op = QN_OP_dense,
			   .x = build_printf(&b, "tensor<1x%dx!quant.uniform<i8:f32, 0.5>>",
					     2 * BLOCK),
			   .w = qn_arena_str(&b.arena, text),
			   .weight = w,
			   .y = build_printf(&b, "i8:f32, %d.5:0", pick(1600, 6000)),
			   .x_lo = k % 4 < 2 ? -128 : 127,
			   .x_hi = k % 4 < 3 ? -128 : 127};
		l.x_hi = l.x_hi < l.x_lo ? 127 : l.x_hi;
		assert_non_null(strstr(check_layer(&b, &l, "cortex-m4", call), "_blocks_dsp"));
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dense),          cmocka_unit_test(test_conv),
		cmocka_unit_test(test_least_weights),  cmocka_unit_test(test_flags),
		cmocka_unit_test(test_longest_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
