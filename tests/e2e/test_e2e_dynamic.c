/* SPDX-License-Identifier: Apache-2.0 */
/* Products of data whose scale is computed at run time: random layers as the quantizer and files of other tools have
 * them become integers alone, which give what the float graph gives, at every level of the input, within the roundings
 * of both, and the emitted C the bytes of the interpreter. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "passes/passes.h"
#include "tests/e2e/e2e.h"

enum { SAMPLES = 4, GRAPHS = 6, FULL_GRAPHS = 60, LAYERS = 5, CHARS = 60000, MOST_OUTPUT = 8192 };

typedef struct maker {
	builder *b;
	char *text;
	size_t n;
} maker;

static int
pick(maker *m, int lo, int hi)
{
	return (int)build_random(m->b, lo, hi);
}

__attribute__((format(printf, 2, 3))) static void
put(maker *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->n += (size_t)vsnprintf(m->text + m->n, CHARS - m->n, format, args);
	va_end(args);
	assert_true(m->n < CHARS);
}

static void
put_dims(maker *m, int rank, const int *dim)
{
	for (int i = 0; i < rank; i++)
		put(m, "%dx", dim[i]);
}

/* Mostly i16, of which the low levels have something left. */
static void
put_data_type(maker *m)
{
	switch (pick(m, 0, 5)) {
	case 0:
		put(m, "!quant.uniform<i8:f32, 0.015:%d>", pick(m, -128, 127));
		break;
	case 1:
		put(m, "!quant.uniform<u8:f32, 0.015:%d>", pick(m, 0, 255));
		break;
	default:
		put(m, "!quant.uniform<i16:f32, 0.00006>");
	}
}

enum kind { DENSE, MATMUL, CONV1D, CONV2D, TRANSPOSE, NKIND };

typedef struct layer {
	enum kind kind;
	int rank, x[4], wrank, w[4], channels, groups; /* channels: the axis of w that they are */
	bool rows, asymmetric;
} layer;

static layer
random_layer(maker *m)
{
	layer l = {.kind = (enum kind)pick(m, 0, NKIND - 1),
		   .groups = 1,
		   .asymmetric = pick(m, 0, 2) == 0};
	const int in = pick(m, 1, 30), out = pick(m, 1, 9);

	l.rows = l.kind <= MATMUL && pick(m, 0, 1) == 1;
	if (l.kind <= MATMUL) {
		l.rank = l.kind == MATMUL ? pick(m, 2, 3) : 2;
		for (int i = 0; i < l.rank - 1; i++)
			l.x[i] = pick(m, 1, 3);
		l.x[l.rank - 1] = in;
		l.wrank = 2;
		l.w[0] = l.kind == DENSE ? out : in;
		l.w[1] = l.kind == DENSE ? in : out;
		l.channels = l.kind == DENSE ? 0 : 1;
		return l;
	}
	l.rank = l.wrank = l.kind == CONV1D ? 3 : 4;
	l.groups = l.kind != TRANSPOSE && pick(m, 0, 1) == 0 ? pick(m, 2, 4) : 1;
	l.x[0] = 1;
	for (int i = 1; i < l.rank - 1; i++) {
		l.x[i] = pick(m, 4, 6);
		l.w[i] = pick(m, 1, 3);
	}
	l.w[l.rank - 1] = pick(m, 1, 6);
	l.x[l.rank - 1] = l.w[l.rank - 1] * l.groups;
	l.w[0] = l.groups * pick(m, 1, 3);
	return l;
}

static void
put_weights(maker *m, int k, const layer *l)
{
	const int n = l->w[l->channels];

	put(m, "  %%w%d = const : tensor<", k);
	put_dims(m, l->wrank, l->w);
	put(m, "!quant.uniform<%s:f32", pick(m, 0, 3) == 0 ? "i4" : "i8<-127:127>");
	if (n == 1 || pick(m, 0, 2) == 0) {
		put(m, ", 0.01");
	} else {
		put(m, ":%d, {", l->channels);
		for (int i = 0; i < n; i++)
			put(m, "%s%.5f", i > 0 ? ", " : "", pick(m, 100, 2000) * 1e-5);
		put(m, "}");
	}
	put(m, ">> rand %d\n  %%dw%d = dequantize %%w%d\n", pick(m, 1, 9999), k, k);
}

static void
put_result(maker *m, int k, const layer *l, const int *y)
{
	static const char *const types[] = {"i8:f32, 0.03:-128", "i8:f32, 0.05:9",
					    "u8:f32, 0.04:100", "i16:f32, 0.0004"};

	put(m, "  %%y%d = quantize %%r%d : tensor<", k, k);
	put_dims(m, l->rank, y);
	put(m, "!quant.uniform<%s>>\n", types[pick(m, 0, 3)]);
}

static void
put_product(maker *m, int k, const layer *l)
{
	static const char *const op[] = {"dense", "matmul", "conv1d", "conv2d", "conv2d_transpose"};
	const int channels = l->w[l->channels];
	const bool bias = pick(m, 0, 2) != 0;
	const bool inside = bias && l->kind != MATMUL && pick(m, 0, 1) == 0;
	const int sh = pick(m, 1, 2), sw = pick(m, 1, 2);
	int y[4];

	put(m, "  %%dx%d = dequantize %%x%d\n", k, k);
	put(m, "  %%f%d = dynamic_fake_quant %%dx%d {rows=%d, asymmetric=%d}\n", k, k, l->rows,
	    l->asymmetric);
	put_weights(m, k, l);
	if (bias)
		put(m, "  %%b%d = const : tensor<%dxf32> rand %d\n", k, channels, pick(m, 1, 9999));
	put(m, "  %%p%d = %s %%f%d, %%dw%d", k, op[l->kind], k, k);
	if (inside)
		put(m, ", %%b%d", k);
	for (int i = 0; i < l->rank - 1; i++)
		y[i] = l->x[i];
	y[l->rank - 1] = channels;
	if (l->kind == CONV1D)
		put(m, " {stride = %d, padding = same, groups = %d}", sh, l->groups);
	if (l->kind == CONV2D)
		put(m, " {stride = [%d, %d], padding = same, groups = %d}", sh, sw, l->groups);
	if (l->kind == CONV1D || l->kind == CONV2D)
		y[1] = (y[1] + sh - 1) / sh;
	if (l->kind == CONV2D)
		y[2] = (y[2] + sw - 1) / sw;
	if (l->kind == TRANSPOSE) {
		put(m, " {stride = [%d, %d], padding = valid}", sh, sw);
		y[1] = (y[1] - 1) * sh + l->w[1];
		y[2] = (y[2] - 1) * sw + l->w[2];
	}
	put(m, "\n");
	if (bias && !inside)
		put(m, "  %%s%d = add %%p%d, %%b%d\n", k, k, k);
	put(m, "  %%r%d = %s %%%c%d\n", k, pick(m, 0, 2) == 0 ? "relu" : "clip",
	    bias && !inside ? 's' : 'p', k);
	put_result(m, k, l, y);
}

/* Layers beside each other, each with an input of its own. */
static void
make_text(maker *m)
{
	static const char *const rounding[] = {"double", "single", "nearest", "even"};
	layer l[LAYERS];

	put(m, "model \"dynamic\" stage calibrated rounding %s\ngraph @main(",
	    rounding[pick(m, 0, 3)]);
	for (int k = 0; k < LAYERS; k++) {
		l[k] = random_layer(m);
		put(m, "%s%%x%d: tensor<", k > 0 ? ", " : "", k);
		put_dims(m, l[k].rank, l[k].x);
		put_data_type(m);
		put(m, ">");
	}
	put(m, ") {\n");
	for (int k = 0; k < LAYERS; k++)
		put_product(m, k, &l[k]);
	put(m, "  return ");
	for (int k = 0; k < LAYERS; k++)
		put(m, "%s%%y%d", k > 0 ? ", " : "", k);
	put(m, "\n}\n");
}

/* The outputs for random inputs around their zero points that are 2^-level of the range wide, the same at each call;
 * of level 31 all are 0. */
static int64_t
run(builder *b, int level, double *y)
{
	const qn_tensor *x[LAYERS];
	qn_interp *interp;
	int64_t n = 0, zp;
	uint64_t seed = b->seed;
	double scale;

	for (size_t k = 0; k < LAYERS; k++) {
		const qn_type *type = qn_graph_node(b->g, b->g->input[k])->type;
		void *data;

		x[k] = qn_tensor_new(&b->arena, type, &data);
		qn_elem_param(&b->model.types, type->elem, 0, &scale, &zp);
		for (int64_t i = 0; i < qn_type_count(type); i++) {
			const int64_t v = build_random(b, type->elem->qmin, type->elem->qmax) - zp;

			qn_store_i64(data, type->elem->plain, i, zp + v / (INT64_C(1) << level));
		}
	}
	b->seed = seed;
	build_check(b, qn_interp_new(b->g, &b->arena, &interp) == QN_OK);
	build_check(b, qn_interp_run(interp, x, NULL, NULL) == QN_OK);
	for (size_t k = 0; k < LAYERS; k++) {
		const qn_tensor *out = qn_interp_output(interp, k);

		qn_elem_param(&b->model.types, out->type->elem, 0, &scale, &zp);
		assert_true(n + qn_type_count(out->type) <= MOST_OUTPUT);
		for (int64_t i = 0; i < qn_type_count(out->type); i++)
			y[n++] = (double)(qn_tensor_i64(out, i) - zp) * scale;
	}
	return n;
}

static const int levels[] = {0, 3, 7, 10, 31};

/* A value of the data next to a half may be another one in floats: a step of it times a weight of up to 2.54. */
static void
check(builder *b)
{
	static double real[QN_COUNT(levels)][MOST_OUTPUT], integer[MOST_OUTPUT];
	int64_t n[QN_COUNT(levels)];

	for (size_t k = 0; k < QN_COUNT(levels); k++)
		n[k] = run(b, levels[k], real[k]);
	build_check(b, qn_requantize(&b->model, &(qn_requant_opts){.require_int = true}) == QN_OK);
	build_check(b, qn_legalize(&b->model) == QN_OK);
	b->g = qn_model_entry(&b->model);
	for (size_t k = 0; k < QN_COUNT(levels); k++) {
		assert_int_equal(run(b, levels[k], integer), n[k]);
		for (int64_t i = 0; i < n[k]; i++)
			if (fabs(real[k][i] - integer[i]) >
			    0.0501 + ldexp(3.9 / 127 * 2.54, -levels[k]))
				fail_msg("%s: level %d, output %lld is %g, in float %g",
					 b->model.name, levels[k], (long long)i, integer[i],
					 real[k][i]);
	}
	e2e_check(b, SAMPLES);
}

static void
random_layers(void **state)
{
	static char text[CHARS];
	const char *full = getenv("QUERN_FULL");
	const int graphs = full != NULL && strcmp(full, "1") == 0 ? FULL_GRAPHS : GRAPHS;

	(void)state;
	for (int k = 0; k < graphs; k++) {
		builder b;
		maker m = {.b = &b, .text = text};

		build_begin(&b, "draw", (uint64_t)k + 1);
		make_text(&m);
		build_end(&b);
		build_parse(&b, text);
		check(&b);
		build_end(&b);
	}
}

/* The largest sums that dense layers of 8- and 16-bit values may have, the smallest and the largest multipliers, and
 * a bias that reaches 2^30: what UBSan would find. */
static void
worst_values(void **state)
{
	static const char text[] =
		"model \"worst\" stage integer\n"
		"graph @main(%x: tensor<1x4000x!quant.uniform<i16:f32, 1.0>>,"
		" %m: tensor<1xi32>, %e: tensor<1xi32>, %a: tensor<1x3x!quant.uniform<i32:f32:1, "
		"{1.0, 0.000001, 1000000.0}>>, %c: tensor<1x3x!quant.uniform<i64:f32, 0.0001>>) {\n"
		"  %w = const : tensor<3x4000x!quant.uniform<i8<-127:127>:f32, 1.0>> splat -127\n"
		"  %b = const : tensor<3x!quant.uniform<i32:f32, 0.5>> [1073741823, -1073741823, "
		"0]\n"
		"  %d = dynamic_quantize %x\n  %v = get %d {index=0}\n  %s = get %d {index=1}\n"
		"  %t = get %d {index=2}\n  %p = dense %v, %w\n"
		"  %y = dynamic_rescale %p, %s, %t, %b : tensor<1x3x!quant.uniform<i16:f32, 1.0>>\n"
		"  %q = dynamic_quantize %x {asymmetric=1}\n  %u = get %q {index=0}\n"
		"  %r = dense %u, %w\n"
		"  %z = dynamic_rescale %r, %m, %e, %b : tensor<1x3x!quant.uniform<i8:f32, "
		"1.0:-128>>\n"
		"  %o = dynamic_rescale %a, %m, %e, %b : tensor<1x3x!quant.uniform<u8:f32, "
		"0.5:7>>\n"
		"  %k = dynamic_rescale %c, %m, %t, %b : tensor<1x3x!quant.uniform<i16:f32, 2.0>>\n"
		"  return %y, %z, %o, %k\n}\n";
	builder b;

	(void)state;
	build_parse(&b, text);
	e2e_check(&b, SAMPLES);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_layers),
		cmocka_unit_test(worst_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
