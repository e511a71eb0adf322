/* SPDX-License-Identifier: Apache-2.0 */
/* Emitted C against the interpreter, byte for byte: scales and zero points for each channel of
 * activations.  Random shapes, any axis, operands and results with one scale among them, and
 * operands that are repeated. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <stdio.h>

#include "tests/e2e/e2e.h"

enum { SAMPLES = 4, GRAPHS = 12, CHARS = 8000, MOST_DIM = 5 };

typedef struct maker {
	builder *b;
	const char *storage; /* of all values */
	int32_t dim[3];
	int axis;
} maker;

static int64_t
pick(maker *m, int64_t lo, int64_t hi)
{
	return build_random(m->b, lo, hi);
}

static int
put_param(maker *m, char *to, size_t room, double scale)
{
	const bool wide = m->storage[1] == '1';
	const int64_t zp = wide ? 0 : pick(m, m->storage[0] == 'u' ? 0 : -128, 127);

	return snprintf(to, room, "%.4f:%d", scale * (double)pick(m, 50, 150) / 100, (int)zp);
}

/* A type of the shape, its first `cut` dims left out and those of `ones` 1; by_channel: along the
 * axis. */
static const char *
type_text(maker *m, double scale, int cut, int ones, bool by_channel, char *to)
{
	int n = snprintf(to, 1000, "tensor<");

	by_channel = by_channel && m->axis >= cut && (ones >> m->axis & 1) == 0;
	for (int i = cut; i < 3; i++)
		n += snprintf(to + n, 30, "%dx", (ones >> i & 1) != 0 ? 1 : m->dim[i]);
	n += snprintf(to + n, 60, "!quant.uniform<%s:f32", m->storage);
	if (by_channel)
		n += snprintf(to + n, 20, ":%d, {", m->axis - cut);
	else
		n += snprintf(to + n, 20, ", ");
	for (int i = 0; i < (by_channel ? m->dim[m->axis] : 1); i++) {
		n += snprintf(to + n, 4, "%s", i > 0 ? ", " : "");
		n += put_param(m, to + n, 40, scale);
	}
	(void)snprintf(to + n, 8, "%s>>", by_channel ? "}" : "");
	return to;
}

/* Two inputs, sums, differences and products of them and of each other, requantizes. */
static void
make_text(maker *m, char *text)
{
	static const char *const op[] = {"add", "sub", "mul", "add", "mul", "sub"};
	static const double scale[] = {2, 2, 30, 3, 400, 40};
	const int cut = (int)pick(m, 0, 2), ones = (int)pick(m, 0, 7);
	char type[1000], second[1000];
	int n = snprintf(text, CHARS, "model \"channels\" stage integer rounding %s\n",
			 pick(m, 0, 1) != 0 ? "double" : "single");

	n += snprintf(text + n, CHARS - (size_t)n, "graph @main(%%v0: %s, %%y: %s) {\n",
		      type_text(m, 1, 0, 0, true, type),
		      type_text(m, 2, cut, ones, pick(m, 0, 1) != 0, second));
	for (int i = 1; i <= 6; i++) {
		const int other = (int)pick(m, 0, i);
		const bool twice = other < i && pick(m, 0, 1) != 0;

		n += snprintf(text + n, CHARS - (size_t)n, "  %%v%d = %s %%v%d, ", i, op[i - 1],
			      i - 1);
		n += twice ? snprintf(text + n, 20, "%%v%d", other) : snprintf(text + n, 20, "%%y");
		n += snprintf(text + n, CHARS - (size_t)n, " : %s\n",
			      type_text(m, scale[i - 1], 0, 0, pick(m, 0, 3) != 0, type));
	}
	n += snprintf(text + n, CHARS - (size_t)n, "  %%r = requantize %%v0 : %s\n",
		      type_text(m, 1, 0, 0, true, type));
	(void)snprintf(text + n, CHARS - (size_t)n,
		       "  return %%v1, %%v2, %%v3, %%v4, %%v5, %%v6, %%r\n}\n");
}

static void
random_shapes(void **state)
{
	static const char *const storage[] = {"i8", "u8", "i16"};
	(void)state;
	for (int k = 0; k < GRAPHS; k++) {
		char text[CHARS];
		builder b;
		maker m = {.b = &b, .storage = storage[k % 3], .axis = k % 4 % 3};

		build_begin(&b, "draw", (uint64_t)k + 1);
		for (int i = 0; i < 3; i++)
			m.dim[i] = (int32_t)pick(&m, 1, MOST_DIM);
		make_text(&m, text);
		build_end(&b);
		build_parse(&b, text);
		e2e_check(&b, SAMPLES);
		build_end(&b);
	}
}

static void
check_text(const char *text)
{
	builder b;

	build_parse(&b, text);
	e2e_check(&b, SAMPLES);
	build_end(&b);
}

/* Small integers and shifts, from and to each storage type, with no sum that needs their text too. */
static void
aligned(void **state)
{
	static const char *const type[] = {"i8", "u8", "i16"};

	(void)state;
	for (int k = 0; k < 9; k++) {
		const char *from = type[k % 3], *to = type[k / 3];
		const bool wide = k % 3 == 2;
		char text[1000];

		(void)snprintf(
			text, sizeof(text),
			"model \"aligned\" stage integer\n"
			"graph @main(%%x: tensor<2x3x2x!quant.uniform<%s:f32:1, {0.125:%d, "
			"0.01171875:%d, 1.703125:%d}>>) {\n"
			"  %%y = requantize %%x {align=8} : tensor<2x3x2x!quant.uniform<%s:f32, "
			"%s>>\n  return %%y\n}\n",
			from, wide ? 0 : 3, wide ? 0 : 7, wide ? 0 : 90, to,
			k / 3 == 2 ? "0.03125" : "0.3:9");
		check_text(text);
	}
}

/* Another storage, and sums of products: parameters of their own for each channel on both sides. */
static void
requantizes(void **state)
{
	static const char text[] =
		"model \"rescale\" stage integer\n"
		"graph @main(%x: tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, 0.05:90}>>, "
		"%y: tensor<4x3x!quant.uniform<i8:f32, 0.1:3>>) {\n"
		"  %u = requantize %x : tensor<2x3x2x!quant.uniform<u8:f32:1, {0.1:131, 0.1:7, "
		"0.2}>>\n"
		"  %s = requantize %u : tensor<2x3x2x!quant.uniform<i16:f32:1, {0.001, 0.002, "
		"0.003}>>\n"
		"  %i = requantize %s : tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, "
		"0.05:90}>>\n"
		"  %t = requantize %i : tensor<2x3x2x!quant.uniform<u8:f32, 0.1:100>>\n"
		"  %w = const : tensor<3x3x!quant.uniform<i8<-127:127>:f32:0, {0.01,0.02,0.03}>> "
		"rand 1\n"
		"  %d = dense %y, %w\n"
		"  %p = requantize %d : tensor<4x3x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, "
		"0.3}>>\n"
		"  return %u, %s, %i, %t, %p\n"
		"}\n";

	(void)state;
	check_text(text);
}

/* As the requantizer writes a relu, a minimum and a comparison: on the integers of the channels. */
static void
chooses(void **state)
{
	static const char text[] =
		"model \"choose\" stage integer\n"
		"graph @main(%x: tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, 0.05:90}>>, "
		"%y: tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, 0.05:90}>>) {\n"
		"  %a = scast %x : tensor<2x3x2xi8>\n"
		"  %b = scast %y : tensor<2x3x2xi8>\n"
		"  %z = const : tensor<1x3x1xi8> [3, -7, 90]\n"
		"  %m = maximum %a, %z\n"
		"  %r = scast %m : tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, "
		"0.05:90}>>\n"
		"  %n = minimum %a, %b\n"
		"  %s = scast %n : tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.2:-7, "
		"0.05:90}>>\n"
		"  %g = greater %a, %b\n"
		"  %t = add %r, %s : tensor<2x3x2x!quant.uniform<i8:f32:1, {0.1:3, 0.3:-7, "
		"0.1:9}>>\n"
		"  return %r, %s, %g, %t\n"
		"}\n";

	(void)state;
	check_text(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_shapes),
		cmocka_unit_test(requantizes),
		cmocka_unit_test(aligned),
		cmocka_unit_test(chooses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
