/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_newer.c - operators of the newer sets that are compositions: CumProd, LinearAttention, BitCast, the inverse of half a
 * spectrum; and Dropout that was exported in training. */
#include "tests/unit/onnx_rig.h"

#include <math.h>

/* ---- CumProd ---- */

static void
test_cumprod(void **state)
{
	static const struct {
		int64_t exclusive, reverse;
		double want[5];
	} rows[] = {
		{0, 0, {2, 6, -6, -3, -12}},
		{1, 0, {1, 2, 6, -6, -3}},
		{0, 1, {-12, -6, -2, 2, 4}},
		{1, 1, {-6, -2, 2, 4, 1}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "5,1");
		onx_ints64(file, "axis", "", (const int64_t[]){-2});
		onx_int(file, "exclusive", rows[i].exclusive);
		onx_int(file, "reverse", rows[i].reverse);
		onx_node(file, "CumProd", "x,axis", "y");
		onx_output(file, "y");
		import(26);
		near(rows[i].want, run1(V(2, 3, -1, 0.5, 4)), 5, 0);
	}
}

/* Along the other axis, integers; an axis of one. */
static void
test_cumprod_integers(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_INT64, "2,3");
	onx_ints64(file, "axis", "", (const int64_t[]){1});
	onx_node(file, "CumProd", "x,axis", "y");
	onx_output(file, "y");
	import(26);
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 1, 2, 6, 4, 20, 120);
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2,1");
	onx_ints64(file, "axis", "1", (const int64_t[]){1});
	onx_int(file, "exclusive", 1);
	onx_node(file, "CumProd", "x,axis", "y");
	onx_output(file, "y");
	import(26);
	GIVES(V(7, 8), 0, 1, 1);
}

/* ---- LinearAttention ---- */

enum { STEPS = 3, HEADS = 2, GROUP = 2, DK = 2, DV = 3 };

/* The recurrence as the standard writes it, of one batch. */
static void
recurrence(bool gated, bool delta, bool rows, const double *q, const double *k, const double *v,
	   const double *past, const double *decay, const double *beta, double *y, double *s)
{
	memcpy(s, past, sizeof(double) * HEADS * DK * DV);
	for (int t = 0; t < STEPS; t++)
		for (int h = 0; h < HEADS; h++) {
			double *S = s + h * DK * DV, w[DV];
			const double *kt = k + (t * HEADS + h) * DK, *vt = v + (t * HEADS + h) * DV;

			for (int i = 0; gated && i < DK; i++)
				for (int j = 0; j < DV; j++)
					S[i * DV + j] *= exp(decay[rows ? (t * HEADS + h) * DK + i
									: t * HEADS + h]);
			for (int j = 0; j < DV; j++) {
				double held = 0;

				for (int i = 0; i < DK; i++)
					held += S[i * DV + j] * kt[i];
				w[j] = delta ? beta[t * HEADS + h] * (vt[j] - held) : vt[j];
			}
			for (int i = 0; i < DK; i++)
				for (int j = 0; j < DV; j++)
					S[i * DV + j] += kt[i] * w[j];
			for (int g = 0; g < GROUP; g++)
				for (int j = 0; j < DV; j++) {
					const int head = h * GROUP + g;
					double sum = 0;

					for (int i = 0; i < DK; i++)
						sum += q[(t * HEADS * GROUP + head) * DK + i] *
						       S[i * DV + j];
					y[(t * HEADS * GROUP + head) * DV + j] = sum / sqrt(DK);
				}
		}
}

static void
fill(double *v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = real() / 2;
}

static void
test_linear_attention(void **state)
{
	static const struct {
		const char *rule, *in, *decay;
		bool gated, delta, past;
	} rules[] = {
		{"linear", "q,k,v", "3", false, false, false},
		{"gated", "q,k,v,,g", "1,3,2", true, false, false},
		{"gated", "q,k,v,p,g", "1,3,4", true, false, true},
		{"delta", "q,k,v,p,,b", "3", false, true, true},
		{"gated_delta", "q,k,v,p,g,b", "1,3,4", true, true, true},
		{"gated_delta", "q,k,v,,g,b", "1,3,2", true, true, false},
	};

	(void)state;
	for (size_t r = 0; r < QN_COUNT(rules); r++) {
		double q[STEPS * HEADS * GROUP * DK], k[STEPS * HEADS * DK], v[STEPS * HEADS * DV];
		double p[HEADS * DK * DV] = {0}, g[STEPS * HEADS * DK], b[STEPS * HEADS];
		double y[STEPS * HEADS * GROUP * DV], s[HEADS * DK * DV];
		const bool rows = strcmp(rules[r].decay, "1,3,4") == 0;

		another_file();
		fill(q, QN_COUNT(q));
		fill(k, QN_COUNT(k));
		fill(v, QN_COUNT(v));
		fill(g, QN_COUNT(g));
		fill(b, QN_COUNT(b));
		if (rules[r].past)
			fill(p, QN_COUNT(p));
		onx_input(file, "q", ONX_FLOAT, "1,3,8");
		onx_input(file, "k", ONX_FLOAT, "1,3,4");
		onx_input(file, "v", ONX_FLOAT, "1,3,6");
		onx_input(file, "p", ONX_FLOAT, "1,2,2,3");
		onx_input(file, "g", ONX_FLOAT, rules[r].decay);
		onx_input(file, "b", ONX_FLOAT, "1,3,2");
		onx_string(file, "update_rule", rules[r].rule);
		onx_int(file, "q_num_heads", HEADS * GROUP);
		onx_int(file, "kv_num_heads", HEADS);
		onx_node(file, "LinearAttention", rules[r].in, "y,s");
		onx_output(file, "y");
		onx_output(file, "s");
		import(27);
		recurrence(rules[r].gated, rules[r].delta, rows, q, k, v, p, g, b, y, s);
		const double *in[] = {q, k, v, p, g, b};
		near(y, run(in), QN_COUNT(y), 1e-5);
	}
}

static void
test_linear_attention_refused(void **state)
{
	static const struct {
		const char *rule, *in, *text;
		int64_t heads;
	} rows[] = {
		{"gated", "q,k,v", "decay belongs to", 2},
		{"linear", "q,k,v,,k", "decay belongs to", 2},
		{"delta", "q,k,v,,,q", "beta must be", 2},
		{"linear", "q,k,v", "q_num_heads a multiple", 3},
		{"linear", "q,q,v", "key must be", 2},
		{"other", "q,k,v", "update_rule", 2},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "q", ONX_FLOAT, "1,3,8");
		onx_input(file, "k", ONX_FLOAT, "1,3,4");
		onx_input(file, "v", ONX_FLOAT, "1,3,6");
		onx_string(file, "update_rule", rows[i].rule);
		onx_int(file, "q_num_heads", 4);
		onx_int(file, "kv_num_heads", rows[i].heads);
		onx_node(file, "LinearAttention", rows[i].in, "y");
		onx_output(file, "y");
		import_fails(27,
			     rows[i].heads == 2 && strcmp(rows[i].rule, "other") == 0
				     ? "import.attr"
				     : "import.input",
			     rows[i].text);
	}
}

/* ---- BitCast ---- */

static void
test_bits(void **state)
{
	static const float reals[] = {1, -2.5f};
	static const int64_t wide[] = {0x3ff8000000000000}; /* 1.5 */

	(void)state;
	onx_floats(file, "c", "2", reals);
	onx_int(file, "to", 6); /* INT32 */
	onx_node(file, "BitCast", "c", "i");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "BitCast", "i", "y");
	onx_output(file, "y");
	onx_output(file, "i");
	import(26);
	GIVES(V(0), 0, 1, -2.5);
	assert_true(qn_tensor_i64(qn_graph_node(rg->g, rg->g->output[1].value)->value, 0) ==
		    0x3f800000);
	another_file();
	onx_ints64(file, "c", "1", wide);
	onx_int(file, "to", 11); /* DOUBLE */
	onx_node(file, "BitCast", "c", "y");
	onx_output(file, "y");
	import(26);
	GIVES(V(0), 0, 1.5);
	another_file();
	onx_input(file, "x", ONX_INT8, "2");
	onx_int(file, "to", ONX_UINT8);
	onx_node(file, "BitCast", "x", "y");
	onx_output(file, "y");
	import(26);
	GIVES(V(-1, 5), 0, 255, 5);
}

static void
test_bits_refused(void **state)
{
	static const struct {
		int from;
		int64_t to;
	} rows[] = {{ONX_FLOAT, 6}, {ONX_FLOAT16, 16}, {ONX_INT64, 6}, {ONX_INT64, 11}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", rows[i].from, "2");
		onx_int(file, "to", rows[i].to);
		onx_node(file, "BitCast", "x", "y");
		onx_output(file, "y");
		import_fails(26, "import.type", "of one width");
	}
}

/* ---- DFT ---- */

/* Half a spectrum of 4 or 5 real values gives them back, and without a length those of an even one. */
static void
test_half_spectrum(void **state)
{
	(void)state;
	for (int n = 4; n < 6; n++) {
		const double x[] = {1, -2, 3.5, 0.25, 2};

		another_file();
		onx_input(file, "x", ONX_FLOAT, n == 4 ? "1,4,1" : "1,5,1");
		onx_ints64(file, "n", "", (const int64_t[]){n});
		onx_ints64(file, "axis", "", (const int64_t[]){1});
		onx_int(file, "onesided", 1);
		onx_node(file, "DFT", "x,,axis", "f");
		onx_int(file, "onesided", 1);
		onx_int(file, "inverse", 1);
		onx_node(file, "DFT", n == 4 ? "f,,axis" : "f,n,axis", "y");
		onx_output(file, "y");
		import(20);
		output_is(n == 4 ? "tensor<1x4x1xf32>" : "tensor<1x5x1xf32>");
		near(x, run1(x), n, 1e-6);
	}
}

/* More values than bins: zeros follow; fewer: the rest is left out. */
static void
test_half_spectrum_length(void **state)
{
	(void)state;
	for (int n = 2; n < 7; n += 4) {
		const double x[] = {3, 0, 1, -2, 0.5, 0.25}; /* 3, 1-2i, 0.5+0.25i */
		double want[6];

		for (int t = 0; t < n; t++) {
			want[t] = 3;
			for (int k = 1; k < 3 && k <= n / 2; k++) {
				const double a = 2 * 3.14159265358979323846 * t * k / n;

				want[t] += (2 * k == n ? 1 : 2) *
					   (x[2 * k] * cos(a) - x[2 * k + 1] * sin(a));
			}
			want[t] /= n;
		}
		another_file();
		onx_input(file, "x", ONX_FLOAT, "3,2");
		onx_ints64(file, "n", "", (const int64_t[]){n});
		onx_int(file, "onesided", 1);
		onx_int(file, "inverse", 1);
		onx_node(file, "DFT", "x,n", "y");
		onx_output(file, "y");
		import(20);
		near(want, run1(x), n, 1e-6);
	}
}

/* ---- Dropout ---- */

static void
test_dropout_in_training(void **state)
{
	static const uint8_t flags[] = {0, 1};

	(void)state;
	for (int mode = 0; mode < 3; mode++) { /* false, true, an input */
		another_file();
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_floats(file, "ratio", "", (const float[]){0.5f});
		if (mode < 2)
			onx_tensor(file, "training", ONX_BOOL, "", &flags[mode], 1);
		else
			onx_input(file, "training", ONX_BOOL, "");
		onx_node(file, "Dropout", "x,ratio,training", "y");
		onx_output(file, "y");
		assert_int_equal(import_from(NULL, 13), QN_OK);
		assert_int_equal(rg->diags.n, mode > 0);
		if (mode > 0) {
			assert_string_equal(rg->diags.item[0].id, "import.training");
			assert_int_equal(rg->diags.item[0].severity, QN_WARNING);
			assert_non_null(strstr(rg->diags.item[0].place, "'y' (Dropout"));
			qn_diags_clear(&rg->env, &rg->diags);
		}
		const double *in[] = {V(1, 2), V(1)};
		assert_true(run(in)[1] == 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cumprod),
		TEST(test_cumprod_integers),
		TEST(test_linear_attention),
		TEST(test_linear_attention_refused),
		TEST(test_bits),
		TEST(test_bits_refused),
		TEST(test_half_spectrum),
		TEST(test_half_spectrum_length),
		TEST(test_dropout_in_training),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
