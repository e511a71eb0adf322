/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c - models as JSON: there and back at every stage, the examples of the manual,
 * any bytes, no memory. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/json_models.h"

#include <locale.h>

static const char *
model_text(fixture *f, const qn_model *m)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_model_print(&b, m);
	return qn_buf_str(&b);
}

/* ---- there and back ---- */

#define SEVENTEEN                                                                                  \
	"0.5, 0.25:0, 0.125, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1"

static const char *const models[] = {
	/* float: constants between nodes, attributes, several outputs, an unused constant at the
	 * end */
	"model \"float\" stage float\n"
	"graph @main(%image: tensor<1x8x8x1xf32>, %other: tensor<?x4xf32>) {\n"
	"  %w = const : tensor<4x3x3x1xf32> rand 7\n"
	"  %conv1 = conv2d %image, %w {stride=[2,2], padding=same}\n"
	"  %b = const : tensor<4xf32> [0.1, -1e-30, 3.4028235e+38, -0.0]\n"
	"  %w2 = const : tensor<2x1x1x4xf32> rand 9\n"
	"  %\"bias add\" = bias_add %conv1, %b\n"
	"  %c = clip %\"bias add\" {max=6.5}\n"
	"  %pool = max_pool %c {kernel=[2,2], stride=[2,2]}\n"
	"  %conv2 = conv2d %pool, %w2\n"
	"  %flat = flatten %conv2\n"
	"  %soft = softmax %flat\n"
	"  %p = pad %other {before=[0,1], after=[0,2], value=-1.5}\n"
	"  %last = const : tensor<f32> [2.0]\n"
	"  return %soft as \"probs\", %p, %soft, %last as \"two\"\n"
	"}\n",
	/* elements that are not finite */
	"model \"mask\" stage float\n"
	"graph @main(%x: tensor<3xf32>) {\n"
	"  %mask = const : tensor<3xf32> [0.0, -inf, inf]\n"
	"  %y = add %x, %mask\n"
	"  return %y\n"
	"}\n",
	/* symbolic: symbols, bound and not, vector symbols, scale expressions */
	"model \"symbolic\" stage symbolic\n"
	"symbol $conv1.x : asym\n"
	"symbol $conv1.w : sym, len 4\n"
	"symbol $y : asym = 0.1:-3\n"
	"symbol $v : sym, len 3 = {0.5, 0.25, 0.1}\n"
	"symbol $long : asym, len 17 = {" SEVENTEEN "}\n"
	"graph @main(%x: tensor<1x8x8x1xf32>) {\n"
	"  %w = const : tensor<4x3x3x1xf32> rand 7\n"
	"  %qx = quantize %x : tensor<1x8x8x1x!quant.uniform<i8:f32, $conv1.x:$conv1.x>>\n"
	"  %qw = quantize %w : tensor<4x3x3x1x!quant.uniform<i8<-127:127>:f32:0, $conv1.w>>\n"
	"  %acc = conv2d %qx, %qw\n"
	"  %out = dequantize %acc : tensor<1x6x6x4xf32>\n"
	"  return %out\n"
	"}\n",
	/* calibrated: named parameters, composites, tuples */
	"model \"calibrated\" stage calibrated rounding single\n"
	"param @w.q = {" SEVENTEEN "}\n"
	"graph @block(%a: tensor<2x17xf32>) {\n"
	"  %q = quantize %a : tensor<2x17x!quant.uniform<i8:f32:1, {@w.q}>>\n"
	"  %d = dequantize %q : tensor<2x17xf32>\n"
	"  %r = relu %d\n"
	"  return %d, %r\n"
	"}\n"
	"graph @main(%x: tensor<2x17xf32>) {\n"
	"  %both = call @block %x\n"
	"  %one = get %both {index=1}\n"
	"  %t = tuple %one, %x\n"
	"  %zero = get %t {index=0}\n"
	"  return %zero, %one as \"second\"\n"
	"}\n",
	/* integer: codes, clamps, plain integers beyond 2^53 */
	"model \"integer\" stage integer rounding nearest\n"
	"graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) {\n"
	"  %w = const : tensor<2x4x!quant.uniform<i8<-127:127>:f32:0, "
	"{5.000000e-01,2.500000e-01}>> [1, -2, 3, -127, 0, 127, 5, 6]\n"
	"  %acc = dense %x, %w\n"
	"  %n4 = const : tensor<3x!quant.uniform<i4:f32, 1.000000e+00>> [-8, 7, 0]\n"
	"  %big = const : tensor<2xi64> [9223372036854775807, -9223372036854775808]\n"
	"  %huge = const : tensor<1xu64> bytes \"ffffffffffffffff\"\n"
	"  %y = requantize %acc {lo=-100, hi=127} : tensor<1x2x!quant.uniform<i8:f32, "
	"1.000000e-01:-4>>\n"
	"  return %y, %n4, %big\n"
	"}\n",
};

static void
there_and_back(void **state)
{
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(models); i++) {
		qn_model *m = new_model(f);

		if (qn_model_parse(m, "x.qir", models[i], strlen(models[i])) != QN_OK)
			fail_msg("model %zu: %s", i, all_diags(f));
		const char *json = json_text(f, m);
		const qn_model *back = from_json(f, json, strlen(json), NULL);
		assert_string_equal(model_text(f, back), model_text(f, m));
		assert_string_equal(json_text(f, back), json);
	}
}

/* All of it in another file: the same model again. */
static void
weights_aside(void **state)
{
	fixture *f = *state;
	const char *path = qn_path_join(&f->arena, f->folder, "m.json");
	const qn_json_opts opts = {.weights_file = "w.safetensors", .inline_limit = 2};

	for (size_t i = 0; i < QN_COUNT(models); i++) {
		qn_model *m = new_model(f);
		qn_model *back = new_model(f);
		qn_buf text, weights, text2, weights2;

		assert_int_equal(qn_model_parse(m, "x.qir", models[i], strlen(models[i])), QN_OK);
		qn_buf_init(&text, &f->arena);
		qn_buf_init(&weights, &f->arena);
		qn_json_print(&text, m, &opts, &weights);
		assert_int_equal(qn_file_write(&f->env, path, text.data, text.n), QN_OK);
		assert_int_equal(qn_file_write(&f->env,
					       qn_path_join(&f->arena, f->folder, "w.safetensors"),
					       weights.data, weights.n),
				 QN_OK);
		if (qn_json_read(back, path) != QN_OK)
			fail_msg("model %zu: %s", i, all_diags(f));
		assert_string_equal(model_text(f, back), model_text(f, m));
		qn_buf_init(&text2, &f->arena);
		qn_buf_init(&weights2, &f->arena);
		qn_json_print(&text2, back, &opts, &weights2);
		assert_string_equal(qn_buf_str(&text2), qn_buf_str(&text));
		assert_int_equal(weights2.n, weights.n);
		assert_memory_equal(weights2.data, weights.data, weights.n);
		if (i == 0)
			assert_non_null(strstr(qn_buf_str(&text),
					       "\"file\": \"w.safetensors\", \"tensor\": \"w\"}"));
	}
}

/* ---- any bytes ---- */

static void
models_hurt(void **state)
{
	static const unsigned char masks[] = {0x01, 0x10, 0x80};
	fixture *f = *state;

	for (size_t k = 0; k < QN_COUNT(models); k++) {
		qn_model *m = new_model(f);

		assert_int_equal(qn_model_parse(m, "x.qir", models[k], strlen(models[k])), QN_OK);
		const char *json = json_text(f, m);
		size_t n = strlen(json);
		char *copy = malloc(n);
		memcpy(copy, json, n);
		size_t step = n > 4000 ? n / 2000 : 1;
		for (size_t i = 0; i < n; i += step) {
			char *exact = malloc(i > 0 ? i : 1);
			memcpy(exact, copy, i);
			restart(f);
			qn_status status = qn_json_parse(new_model(f), "x.json", NULL, exact, i);
			if (i + 1 < n)
				assert_int_not_equal(status, QN_OK);
			free(exact);
		}
		for (size_t i = 0; i < n; i += step) {
			unsigned char mask = masks[i % sizeof masks];
			copy[i] = (char)((unsigned char)copy[i] ^ mask);
			restart(f);
			qn_status status = qn_json_parse(new_model(f), "x.json", NULL, copy, n);
			assert_true((status == QN_OK) == (f->diags.nerrors == 0));
			copy[i] = (char)((unsigned char)copy[i] ^ mask);
		}
		restart(f);
		free(copy);
	}
}

/* ---- the manual ---- */

/* Each JSON block of docs/json-format.md is a model that is right at its stage, and the four
 * long ones are written as they stand. */
static void
examples_of_the_manual(void **state)
{
	fixture *f = *state;
	const char *source = getenv("QUERN_SOURCE");
	const char *path =
		qn_path_join(&f->arena, source != NULL ? source : "", "docs/json-format.md");
	const char *text = NULL;
	size_t n = 0;
	int blocks = 0;

	if (access(path, R_OK) != 0) {
		print_message("skipped: the manual is not found from here\n");
		skip();
	}
	assert_int_equal(qn_file_map(&f->arena, path, &text, &n), QN_OK);
	text = qn_arena_strn(&f->arena, text, n);
	for (const char *p = strstr(text, "```json\n"); p != NULL;
	     p = strstr(p, "```json\n"), blocks++) {
		p += strlen("```json\n");
		const char *end = strstr(p, "```");
		assert_non_null(end);
		const qn_model *m = from_json(f, p, (size_t)(end - p), NULL);
		if (qn_model_verify(m) != QN_OK)
			fail_msg("block %d: %s", blocks, all_diags(f));
		if (blocks > 0)
			assert_string_equal(json_text(f, m),
					    qn_arena_strn(&f->arena, p, (size_t)(end - p)));
		p = end + 3;
	}
	assert_int_equal(blocks, 5);
}

/* ---- memory ---- */

typedef struct meter {
	long left; /* allocations until there is no more memory; -1: never */
} meter;

static void *
metered(void *user, void *p, size_t old_size, size_t new_size)
{
	meter *m = user;

	if (new_size > 0 && m->left == 0)
		return NULL;
	if (new_size > 0 && m->left > 0)
		m->left--;
	return heap(NULL, p, old_size, new_size);
}

/* Reading runs out of memory at every allocation in turn; the leak checker sees what is left
 * behind (a file, a tree). */
static void
out_of_memory(void **state)
{
	fixture *f = *state;
	const qn_json_opts opts = {.weights_file = "w.safetensors", .inline_limit = 2};
	const char *folder = qn_path_join(&f->arena, f->folder, "");
	char path[256];
	meter left = {.left = -1};
	jmp_buf oom;
	qn_model *m = new_model(f);
	qn_buf text, weights;

	(void)snprintf(path, sizeof path, "%sm.json", folder);
	assert_int_equal(qn_model_parse(m, "x.qir", models[0], strlen(models[0])), QN_OK);
	qn_buf_init(&text, &f->arena);
	qn_buf_init(&weights, &f->arena);
	qn_json_print(&text, m, &opts, &weights);
	assert_int_equal(qn_file_write(&f->env, path, text.data, text.n), QN_OK);
	assert_int_equal(qn_file_write(&f->env, qn_path_join(&f->arena, f->folder, "w.safetensors"),
				       weights.data, weights.n),
			 QN_OK);
	restart(f);
	f->env = (qn_env){.alloc = metered, .alloc_user = &left, .diags = &f->diags, .oom = &oom};
	for (volatile long k = 0; k < 10000; k++) {
		volatile bool done = false;

		left.left = k;
		if (setjmp(oom) == 0) {
			assert_int_equal(qn_json_read(new_model(f), path), QN_OK);
			assert_int_equal(qn_file_write(&f->env, path, "{}", 2), QN_OK);
			done = true;
		}
		left.left = -1;
		restart(f);
		if (done) {
			assert_true(k > 3);
			return;
		}
	}
	fail_msg("memory is never enough");
}

/* Reading and writing give the same where the decimal point is a comma. */
static void
comma_locale(void **state)
{
	fixture *f = *state;
	qn_model *m = new_model(f);

	assert_int_equal(qn_model_parse(m, "x.qir", models[0], strlen(models[0])), QN_OK);
	const char *json = json_text(f, m);
	if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
		print_message("skipped: the locale de_DE.UTF-8 is not installed\n");
		skip();
	}
	const char *comma = json_text(f, m);
	qn_model *back = new_model(f);
	qn_status status = qn_json_parse(back, "x.json", NULL, json, strlen(json));
	(void)setlocale(LC_ALL, "C");
	assert_int_equal(status, QN_OK);
	assert_string_equal(comma, json);
	assert_string_equal(model_text(f, back), model_text(f, m));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(there_and_back), T(weights_aside), T(models_hurt),
		T(comma_locale),   T(out_of_memory), T(examples_of_the_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
