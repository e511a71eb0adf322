/* SPDX-License-Identifier: Apache-2.0 */
/* test_simd.c - float forms in every instruction set of this machine: the bytes are those of the
 * plain loops below, which follow "Deterministic sums" of docs/quantization.md word for word. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/simd.h"

enum { KINDS = 4 };

/* The sets that are there; a missing one is replaced by a smaller. */
static size_t
kinds(qn_simd_kind *out)
{
	static const qn_simd_kind all[KINDS] = {QN_SIMD_BASELINE, QN_SIMD_AVX2, QN_SIMD_AVX512,
						QN_SIMD_NEON};
	size_t n = 0;

	for (size_t i = 0; i < KINDS; i++) {
		bool seen = false;

		for (size_t k = 0; k < n; k++)
			seen = seen || qn_simd_get(all[i]) == qn_simd_get(out[k]);
		if (!seen)
			out[n++] = all[i];
	}
	return n;
}

/* Full mantissas, and now and then a zero of either sign, a subnormal, a large number. */
static float
value(void)
{
	static const float odd[] = {0.0f, -0.0f, 1e-40f, -3e-39f, 1e30f, -2e-30f};

	return pick(0, 9) == 0 ? odd[pick(0, 5)] : (float)real();
}

static qn_tensor *
values(const qn_type *t)
{
	void *data = NULL;
	qn_tensor *x = qn_tensor_new(&rg->arena, t, &data);

	for (int64_t i = 0; i < qn_type_count(t); i++)
		((float *)data)[i] = value();
	return x;
}

static const qn_type *
shape(int32_t rank, const int64_t *dim)
{
	return qn_type_plain(&rg->m.types, QN_PLAIN_f32, rank, dim);
}

/* Output 0 under each instruction set must be want, byte for byte. */
static void
same_bytes(const qn_tensor *const *inputs, const float *want)
{
	qn_simd_kind kind[KINDS];
	size_t n = kinds(kind);

	for (size_t k = 0; k < n; k++) {
		rg->env.simd = kind[k];
		qn_interp *in = interp();

		for (int twice = 0; twice < 2; twice++) {
			assert_int_equal(qn_interp_run(in, inputs, NULL, NULL), QN_OK);
			const qn_tensor *y = qn_interp_output(in, 0);
			const uint32_t *have = y->data,
				       *bits = (const uint32_t *)(const void *)want;

			for (size_t i = 0; i < y->bytes / 4; i++)
				if (have[i] != bits[i])
					fail_msg("%s: element %zu is %08x, not %08x",
						 qn_simd_get(kind[k])->name, i, have[i], bits[i]);
		}
	}
	rg->env.simd = QN_SIMD_BEST;
}

typedef struct window {
	int64_t h, w, c, out, groups, kernel[2], stride[2], dil[2], pad[4], batch;
} window;

static window
random_window(void)
{
	window v = {.groups = 1, .batch = pick(1, 2)};

	v.h = pick(1, 9);
	v.w = pick(1, 9);
	if (pick(0, 2) == 0) { /* depthwise, or nearly */
		v.groups = v.c = pick(2, 37);
		v.out = v.c * (pick(0, 3) == 0 ? 2 : 1);
	} else if (pick(0, 2) == 0) {
		v.groups = pick(2, 3);
		v.c = v.groups * pick(1, 5);
		v.out = v.groups * pick(1, 20);
	} else {
		v.c = pick(1, 20);
		v.out = pick(1, 40);
	}
	for (int i = 0; i < 2; i++) {
		int64_t size = i == 0 ? v.h : v.w;

		v.stride[i] = pick(1, 3);
		v.dil[i] = pick(1, 2);
		v.pad[2 * i] = pick(0, 2);
		v.pad[2 * i + 1] = pick(0, 2);
		/* the window fits, and no pad is as large as it */
		do
			v.kernel[i] = pick(1, 4);
		while ((v.kernel[i] - 1) * v.dil[i] + 1 > size + v.pad[2 * i] + v.pad[2 * i + 1]);
		int64_t most = (v.kernel[i] - 1) * v.dil[i];
		for (int side = 0; side < 2; side++)
			if (v.pad[2 * i + side] > most)
				v.pad[2 * i + side] = 0;
		if (most + 1 > size + v.pad[2 * i] + v.pad[2 * i + 1])
			v.kernel[i] = 1;
	}
	return v;
}

/* One output: terms in the order (kh, kw, c), padding skipped, the bias last. */
static float
sum_of(const window *v, const float *x, const float *w, int64_t oy, int64_t ox, int64_t o)
{
	int64_t depth = v->c / v->groups, group = o / (v->out / v->groups);
	volatile float acc = 0.0f; /* each step is rounded to f32, whatever the compiler likes */

	for (int64_t ky = 0; ky < v->kernel[0]; ky++) {
		for (int64_t kx = 0; kx < v->kernel[1]; kx++) {
			int64_t iy = oy * v->stride[0] - v->pad[0] + ky * v->dil[0];
			int64_t ix = ox * v->stride[1] - v->pad[2] + kx * v->dil[1];

			if (iy < 0 || iy >= v->h || ix < 0 || ix >= v->w)
				continue;
			for (int64_t k = 0; k < depth; k++) {
				volatile float term =
					x[(iy * v->w + ix) * v->c + group * depth + k] *
					w[((o * v->kernel[0] + ky) * v->kernel[1] + kx) * depth +
					  k];

				acc = acc + term;
			}
		}
	}
	return acc;
}

static float *
convolve(const window *v, const qn_type *yt, const float *x, const float *w, const float *bias)
{
	float *y = QN_NEW(&rg->arena, float, (size_t)qn_type_count(yt));
	int64_t at = 0;

	for (int64_t b = 0; b < yt->dim[0]; b++, x += v->h * v->w * v->c)
		for (int64_t oy = 0; oy < yt->dim[1]; oy++)
			for (int64_t ox = 0; ox < yt->dim[2]; ox++)
				for (int64_t o = 0; o < v->out; o++, at++) {
					y[at] = sum_of(v, x, w, oy, ox, o);
					if (bias != NULL)
						y[at] += bias[o];
				}
	return y;
}

/* How the weights come: constants, or inputs of the graph. */
static void
check_window(const window *v, bool constant, bool with_bias, float first_weight)
{
	qn_attrs a;
	const qn_type *wt =
		shape(4, (int64_t[]){v->out, v->kernel[0], v->kernel[1], v->c / v->groups});
	qn_tensor *x = values(shape(4, (int64_t[]){v->batch, v->h, v->w, v->c}));
	qn_tensor *w = values(wt), *bias = values(shape(1, &v->out));

	fresh_graph();
	*(float *)(uintptr_t)w->data = first_weight;
	qn_attrs_default(QN_ATTRS(conv2d), &a);
	for (int i = 0; i < 2; i++) {
		a.conv2d.stride[i] = v->stride[i];
		a.conv2d.dilation[i] = v->dil[i];
	}
	memcpy(a.conv2d.pad, v->pad, sizeof v->pad);
	a.conv2d.groups = v->groups;
	qn_id in[] = {qn_graph_input(rg->g, "x", x->type),
		      constant ? qn_graph_const(rg->g, "w", w)
			       : qn_graph_input(rg->g, "w", w->type),
		      qn_graph_const(rg->g, "b", bias)};
	qn_id y = op(QN_OP_conv2d, with_bias ? 3 : 2, in, attributes(a), NULL);
	output(y);
	same_bytes((const qn_tensor *[]){x, w}, convolve(v, qn_graph_node(rg->g, y)->type, x->data,
							 w->data, with_bias ? bias->data : NULL));
}

static void
test_conv2d(void **state)
{
	(void)state;
	for (int i = 0; i < 150; i++) {
		window v = random_window();

		check_window(&v, pick(0, 3) > 0, pick(0, 1) == 1, value());
	}
}

/* An infinite weight times the zero of a padding would be no number. */
static void
test_conv2d_infinite_weight(void **state)
{
	const window v = {.h = 5,
			  .w = 5,
			  .c = 3,
			  .out = 17,
			  .groups = 1,
			  .kernel = {3, 3},
			  .stride = {1, 1},
			  .dil = {1, 1},
			  .pad = {1, 1, 1, 1},
			  .batch = 1};

	(void)state;
	check_window(&v, true, true, HUGE_VALF);
	check_window(&v, false, true, -HUGE_VALF);
}

static void
test_dense(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		int64_t batch = i % 10 == 0 ? pick(60, 70) : pick(1, 12);
		int64_t k = pick(1, 50), out = pick(1, 200);
		window v = {.h = 1,
			    .w = 1,
			    .c = k,
			    .out = out,
			    .groups = 1,
			    .kernel = {1, 1},
			    .stride = {1, 1},
			    .dil = {1, 1}};
		qn_tensor *x = values(shape(2, (int64_t[]){batch, k}));
		qn_tensor *w = values(shape(2, (int64_t[]){out, k}));
		qn_tensor *bias = values(shape(1, &out));

		fresh_graph();
		qn_id in[] = {qn_graph_input(rg->g, "x", x->type), qn_graph_const(rg->g, "w", w),
			      qn_graph_const(rg->g, "b", bias)};
		output(op(QN_OP_dense, 3, in, NULL, NULL));
		same_bytes((const qn_tensor *[]){x},
			   convolve(&v, shape(4, (int64_t[]){batch, 1, 1, out}), x->data, w->data,
				    bias->data));
	}
}

/* The elementwise loops against one line of C each, at every length around a vector's, in place
 * too. */
static void
test_elementwise(void **state)
{
	enum { N = 70 };
	float x[N], y[N], z[N];
	qn_simd_kind kind[KINDS];
	size_t n = kinds(kind);

	(void)state;
	for (size_t k = 0; k < n; k++) {
		const qn_simd *s = qn_simd_get(kind[k]);

		for (int64_t len = 0; len < N; len++) {
			for (int i = 0; i < N; i++) {
				x[i] = pick(0, 20) == 0 ? NAN : value();
				y[i] = value();
			}
			float sum[N], rest[N], product[N], limited[N], least[N], most[N];
			for (int64_t i = 0; i < len; i++) {
				sum[i] = x[i] + y[i];
				rest[i] = x[i] - y[i];
				product[i] = x[i] * y[i];
				least[i] = x[i] < y[i] ? x[i] : y[i];
				limited[i] = x[i] < -0.0f ? -0.0f : x[i] > 0.5f ? 0.5f : x[i];
				most[i] = x[i] > y[i] ? x[i] : y[i];
			}
			size_t bytes = (size_t)len * sizeof x[0];
			s->add(x, y, z, len);
			assert_memory_equal(z, sum, bytes);
			s->sub(x, y, z, len);
			assert_memory_equal(z, rest, bytes);
			s->minimum(x, y, z, len);
			assert_memory_equal(z, least, bytes);
			s->maximum(x, y, z, len);
			assert_memory_equal(z, most, bytes);
			s->mul(x, y, z, len);
			assert_memory_equal(z, product, bytes);
			s->clamp(x, -0.0f, 0.5f, z, len);
			assert_memory_equal(z, limited, bytes);
			memcpy(z, y, sizeof z);
			s->larger(x, z, len);
			assert_memory_equal(z, most, bytes);
			s->add(x, y, y, len);
			assert_memory_equal(y, sum, bytes);
		}
	}
}

static void
test_range(void **state)
{
	enum { N = 150 };
	float x[N];
	qn_simd_kind kind[KINDS];
	size_t n = kinds(kind);

	(void)state;
	for (size_t k = 0; k < n; k++) {
		for (int64_t len = 1; len < N; len++) {
			float lo = 0.5f, hi = 0.5f, least = 0.5f, most = 0.5f;
			bool nan = pick(0, 1) == 1;

			for (int64_t i = 0; i < len; i++) {
				x[i] = value();
				least = x[i] < least ? x[i] + 0.0f : least;
				most = x[i] > most ? x[i] : most;
			}
			if (nan) {
				int64_t at = pick(0, len - 1);

				if (x[at] <= least || x[at] >= most)
					nan = false;
				else
					x[at] = NAN;
			}
			assert_int_equal(qn_simd_get(kind[k])->range(x, len, &lo, &hi), nan);
			assert_memory_equal(&lo, &least, sizeof lo);
			assert_memory_equal(&hi, &most, sizeof hi);
		}
	}
}

/* A set of another architecture is the baseline, the best set is one of this. */
static void
test_choice(void **state)
{
	const char *neon = qn_simd_get(QN_SIMD_NEON)->name;
	const char *avx2 = qn_simd_get(QN_SIMD_AVX2)->name;

	(void)state;
#if defined(__aarch64__)
	assert_string_equal(neon, "neon");
	assert_string_equal(qn_simd_get(QN_SIMD_BEST)->name, "neon");
	assert_string_equal(avx2, "baseline");
#else
	assert_string_equal(neon, "baseline");
	assert_true(QN_HAVE_X86 || strcmp(avx2, "baseline") == 0);
#endif
	assert_string_equal(qn_simd_get(QN_SIMD_BASELINE)->name, "baseline");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test_setup_teardown(test_conv2d, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_conv2d_infinite_weight, rig_setup,
						rig_teardown),
		cmocka_unit_test_setup_teardown(test_dense, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_elementwise, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_range, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
