/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_tflite.c - already quantized TFLite models give the bytes of TFLite's reference kernels.
 *
 *   model.tflite ─import─▶ interpreter ─▶ outputs, and each operator's result    = golden bytes
 *                └─requantize─legalize─▶ emitted C, whose self-test has the golden outputs
 *
 * Models and bytes are where QUERN_DATA says; without it the test is skipped. */
#include "tests/e2e/e2e.h"

#include <dirent.h>

#include "formats/npy.h"
#include "import/import.h"
#include "passes/passes.h"

enum { MOST_VALUES = 300, MOST_LAYERS = 64 };

typedef struct recorded {
	builder b;
	const char *data; /* folder */
	size_t nvalue;
	const qn_tensor *value[MOST_VALUES]; /* codes of 8 bits, in order */
} recorded;

/* "DATA/a" + b + c */
static const char *
path_of(recorded *r, const char *a, const char *b, const char *c)
{
	qn_buf text;

	qn_buf_init(&text, &r->b.arena);
	qn_buff(&text, "%s/%s%s%s", r->data, a, b, c);
	return qn_buf_str(&text);
}

static const qn_tensor *
array(recorded *r, const char *path)
{
	qn_tensor *x;

	build_check(&r->b, qn_npy_read(&r->b.model.types, &r->b.arena, path, &x) == QN_OK);
	return x;
}

static void
open_model(recorded *r, const char *name)
{
	const qn_import_how how = {0};

	build_begin(&r->b, name, 1);
	r->data = getenv("QUERN_DATA");
	r->b.model.stage = QN_STAGE_FLOAT;
	build_check(&r->b, qn_import_read(&r->b.model, path_of(r, "models/", name, "_int8.tflite"),
					  QN_IMPORT_TFLITE, &how) == QN_OK);
	build_check(&r->b, qn_model_verify(&r->b.model) == QN_OK);
	assert_int_equal(r->b.model.stage, QN_STAGE_CALIBRATED);
	r->b.g = qn_model_entry(&r->b.model);
}

static qn_status
record(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	recorded *r = user;
	const qn_node *n = qn_graph_node(g, id);

	if (n->op != QN_OP_const && n->op != QN_OP_input && value->type->elem->bits == 8) {
		assert_true(r->nvalue < MOST_VALUES);
		r->value[r->nvalue++] = qn_tensor_of(&r->b.arena, value->type, value->data);
	}
	return QN_OK;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t
layer_files(const char *folder, qn_arena *a, const char **file)
{
	DIR *d = opendir(folder);
	size_t n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] == 'k' && n < MOST_LAYERS)
			file[n++] = qn_arena_str(a, e->d_name);
	closedir(d);
	qsort(file, n, sizeof *file, by_name);
	return n;
}

static bool
same_bytes(const qn_tensor *a, const qn_tensor *b)
{
	return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* Each file k0_opNN_… is a value behind the one of the file before. */
static void
check_layers(recorded *r, const char *name)
{
	const char *folder = path_of(r, "golden/layers/", name, "/");
	const char *file[MOST_LAYERS];
	size_t n = layer_files(folder, &r->b.arena, file), at = 0;

	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		qn_buf path;

		qn_buf_init(&path, &r->b.arena);
		qn_buff(&path, "%s%s", folder, file[i]);
		const qn_tensor *want = array(r, qn_buf_str(&path));
		while (at < r->nvalue && !same_bytes(want, r->value[at]))
			at++;
		if (at == r->nvalue)
			fail_msg("no value of %s has the bytes of %s", name, file[i]);
	}
}

/* Sample k of an array. */
static const void *
sample(const qn_tensor *x, size_t k)
{
	return (const char *)x->data + k * (x->bytes / (size_t)x->type->dim[0]);
}

/* All samples of a set through a graph, outputs compared; the values of the first are recorded when
 * asked for. */
static void
check_outputs(recorded *r, const qn_graph *g, const qn_tensor *in, const qn_tensor *out,
	      bool values)
{
	qn_interp *interp;
	const qn_type *type = qn_graph_node(g, g->input[0])->type;

	build_check(&r->b, qn_interp_new(g, &r->b.arena, &interp) == QN_OK);
	for (size_t k = 0; k < (size_t)in->type->dim[0]; k++) {
		const qn_tensor *x = qn_tensor_view(&r->b.arena, type, sample(in, k));

		build_check(&r->b, qn_interp_run(interp, &x, values && k == 0 ? record : NULL, r) ==
					   QN_OK);
		const qn_tensor *y = qn_interp_output(interp, 0);
		assert_int_equal(y->bytes, out->bytes / (size_t)out->type->dim[0]);
		assert_memory_equal(y->data, sample(out, k), y->bytes);
	}
}

/* The self-test of the emitted C expects the golden outputs. */
static void
check_emitted(recorded *r, const qn_tensor *in, const qn_tensor *out)
{
	size_t n = (size_t)in->type->dim[0];
	const void **x = QN_NEW(&r->b.arena, const void *, n);
	const void **y = QN_NEW(&r->b.arena, const void *, n);
	e2e t;

	e2e_prepare(&r->b, &t, n);
	for (size_t k = 0; k < n; k++) {
		x[k] = sample(in, k);
		y[k] = sample(out, k);
	}
	t.test.in = x;
	t.test.out = y;
	e2e_write(&r->b, &t);
	if (e2e_target_cc() == NULL)
		assert_int_equal(e2e_build_run(&r->b, &t, "cc -std=c99 -O2", false), 0);
	e2e_remove(&r->b, &t);
}

static void
check_model(const char *name, const char *const *set)
{
	const qn_tensor *in = NULL, *out = NULL;
	recorded *r;

	if (getenv("QUERN_DATA") == NULL) {
		print_message("QUERN_DATA is not set: skipped\n");
		skip();
	}
	r = calloc(1, sizeof *r);
	open_model(r, name);
	for (size_t i = 0; set[i] != NULL; i++) {
		in = array(r, path_of(r, "golden/", set[i], "_in.npy"));
		out = array(r, path_of(r, "golden/", set[i], "_out.npy"));
		check_outputs(r, r->b.g, in, out, i == 0);
	}
	check_layers(r, name);
	build_check(&r->b, qn_requantize(&r->b.model, &(qn_requant_opts){0}) == QN_OK);
	build_check(&r->b, qn_legalize(&r->b.model) == QN_OK);
	r->b.g = qn_model_entry(&r->b.model);
	check_outputs(r, r->b.g, in, out, false);
	check_emitted(r, in, out);
	build_end(&r->b);
	free(r);
}

static void
ad(void **state)
{
	(void)state;
	check_model("ad", (const char *[]){"ad_lcg", "ad_smooth", NULL});
}

static void
kws(void **state)
{
	(void)state;
	check_model("kws", (const char *[]){"kws_lcg", "kws_smooth", NULL});
}

static void
resnet8(void **state)
{
	(void)state;
	check_model("resnet8", (const char *[]){"resnet8_lcg", "resnet8_smooth", NULL});
}

static void
vww(void **state)
{
	(void)state;
	check_model("vww", (const char *[]){"vww_lcg", NULL});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ad),
		cmocka_unit_test(kws),
		cmocka_unit_test(resnet8),
		cmocka_unit_test(vww),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
