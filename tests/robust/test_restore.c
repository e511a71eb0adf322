/* SPDX-License-Identifier: Apache-2.0 */
/* test_restore.c - a pass that fails leaves the model as it was: its text, its JSON and all that both
 * hold are compared before and after, and in the end the files of a run in which nothing failed.
 *
 *   pass quantize, allocation   1  2  3  4 …  until it succeeds: then the next pass
 *
 * Arenas take chunks of 256 bytes here, so that there are many allocations, of which some of each pass
 * fail, with QUERN_FULL=1 six times as many.  Then passes that fail by themselves, each in the middle. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "driver/context.h"
#include "patterns/quantizer.h"
#include "tests/e2e/resume_nets.h"

enum { CHUNK = 256, SOME = 24, FULL = 144 };

static size_t until_failure; /* allocations; 0: none fails */

static void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size > 0 && until_failure > 0 && --until_failure == 0)
		return NULL;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

/* Both forms of the model. */
static resume_text
forms_of(resume_case *c)
{
	resume_text t = {0};

	assert_int_equal(qn_print(c->m, QN_FORMAT_IR, resume_write, &t), QN_OK);
	assert_int_equal(qn_print(c->m, QN_FORMAT_JSON, resume_write, &t), QN_OK);
	return t;
}

static void
expect_same(resume_case *c, const resume_text *before, const char *pass, size_t at)
{
	resume_text now = forms_of(c);
	size_t i = 0, line = 0;

	if (now.n != before->n || memcmp(now.data, before->data, now.n) != 0) {
		while (now.data[i] == before->data[i] && now.data[i] != '\0')
			if (now.data[i++] == '\n')
				line = i;
		fail_msg(
			"%s, %s: %s failed (allocation %zu) and left\n  %.200s\nthat was\n  %.200s",
			c->net->name, c->row->name, pass, at, now.data + line, before->data + line);
	}
	resume_free(&now);
}

/* Runs the pass once without a fault on a model of its own; how often it asks for memory. */
static size_t
allocations(resume_case *c, size_t pass)
{
	const size_t many = SIZE_MAX / 2;
	resume_case twin;

	resume_open(&twin, c->net, c->row, &(qn_config){.alloc = heap, .threads = 1});
	twin.ctx->env.chunk_bytes = CHUNK;
	resume_load(&twin, resume_net_path(c->net));
	for (size_t to = 1; to <= pass; to++)
		if (resume_runs(c->row, to - 1))
			resume_compile(&twin, to - 1, to);
	until_failure = many;
	resume_compile(&twin, pass, pass + 1);
	const size_t n = many - until_failure;
	until_failure = 0;
	resume_close(&twin);
	return n;
}

/* Lets the pass fail for want of memory here and there, until it has what it needs. */
static void
run_pass(resume_case *c, size_t pass)
{
	const size_t n = allocations(c, pass);
	const size_t points = resume_full() ? FULL : SOME, step = n < points ? 1 : n / points;
	const char *name = qn_pass_name(pass);
	resume_text before = forms_of(c);
	const resume_text reports = c->out;
	size_t failed = 0;

	for (size_t at = 1; failed <= n; at += step) {
		c->out = (resume_text){0};
		until_failure = at;
		resume_compile(c, pass, pass + 1);
		until_failure = 0;
		if (c->status != QN_ENOMEM)
			break;
		failed++;
		resume_free(&c->out);
		expect_same(c, &before, name, at);
	}
	assert_true(failed > 0);
	if (c->status != QN_OK) { /* it fails anyway: with all of its reports */
		resume_free(&c->out);
		expect_same(c, &before, name, 0);
		resume_compile(c, pass, pass + 1);
	}
	resume_text all = reports;
	if (c->out.n > 0)
		resume_append(&all, c->out.data, c->out.n);
	resume_free(&c->out);
	c->out = all;
	resume_free(&before);
}

/* Takes the line of warning `id` out. */
static void
without(resume_text *t, const char *id, size_t n)
{
	for (char *line = t->data; *line != '\0'; line++) {
		if (strncmp(line, id, n) == 0) {
			const char *rest = line + strcspn(line, "\n");

			memmove(line, rest + (*rest != '\0'), strlen(rest + (*rest != '\0')) + 1);
			return;
		}
		line += strcspn(line, "\n");
		if (*line == '\0')
			return;
	}
}

/* Takes out warnings for whose text there was no memory: a pass goes on without it. */
static void
without_unsaid(resume_text *t, resume_text *straight)
{
	const char *const unsaid = ": (out of memory for the message)";

	for (char *at; (at = strstr(t->data, unsaid)) != NULL;) {
		char id[64];
		const char *line = at;

		while (line > t->data && line[-1] != '\n')
			line--;
		assert_true((size_t)(at - line) + 3 < sizeof id);
		const int n = snprintf(id, sizeof id, "%.*s: ", (int)(at - line), line);
		without(t, id, (size_t)n);
		without(straight, id, (size_t)n);
	}
}

static void
without_memory(const resume_net *net, const resume_row *row)
{
	resume_case straight, c;

	resume_open(&straight, net, row, NULL);
	resume_load(&straight, resume_net_path(net));
	resume_compile(&straight, 0, resume_passes());
	resume_end(&straight);
	resume_open(&c, net, row, &(qn_config){.alloc = heap, .threads = 1});
	c.ctx->env.chunk_bytes = CHUNK;
	resume_load(&c, resume_net_path(net));
	for (size_t pass = 0; pass < resume_passes() && c.status == QN_OK; pass++)
		if (resume_runs(row, pass))
			run_pass(&c, pass);
	resume_end(&c);
	without_unsaid(&c.out, &straight.out);
	assert_string_equal(c.out.data, straight.out.data);
	resume_close(&c);
	resume_close(&straight);
}

static void
out_of_memory(void **state)
{
	const resume_net *net = *state;

	for (size_t i = 0; i < sizeof resume_rows / sizeof resume_rows[0]; i++)
		if (resume_full() || !resume_rows[i].slow)
			without_memory(net, &resume_rows[i]);
}

/* ---- passes that fail by themselves ---- */

/* Makes a symbol, types and a node, then gives up. */
static qn_id
quantize_half(void *user, qn_quantizing *q, const qn_match *m)
{
	(void)user, (void)m;
	(void)qn_quantize_activation(q, qn_qb_input(q, 0), "half", "x");
	return 0;
}

/* Samples whose convolution is infinite. */
static void
spoil_samples(resume_case *c, qn_array **x)
{
	const char *type = qn_model_input_type(c->m, 0);
	int64_t dim[8] = {0}, count = 1;
	int rank = 0;

	for (const char *s = strchr(type, '<') + 1; *s >= '0' && *s <= '9'; s++)
		dim[rank++] = strtoll(s, (char **)(uintptr_t)&s, 10);
	for (int i = 0; i < rank; i++)
		count *= dim[i];
	float *v = calloc((size_t)count, sizeof *v);
	assert_non_null(v);
	for (int64_t i = 0; i < count; i++)
		v[i] = (float)(i % 3) - 1;
	v[count / 2] = 3e38f;
	v[count / 2 + 1] = 3e38f;
	assert_int_equal(qn_array_new(c->ctx, "f32", rank, dim, v, x), QN_OK);
	free(v);
}

typedef struct failure {
	const char *before; /* passes that go well; NULL: none */
	const char *pass, *id;
	qn_compile_opts opts;
} failure;

static void
fail_once(resume_case *c, const failure *f)
{
	qn_compile_opts opts = f->opts;
	const qn_compile_opts good = {.passes = f->before,
				      .quantizers = opts.quantizers,
				      .nquantizers = opts.nquantizers,
				      .calib = c->x,
				      .ncalib = c->nin};

	if (f->before != NULL)
		assert_int_equal(qn_compile(c->m, &good), QN_OK);
	qn_diag_clear(c->ctx);
	resume_text before = forms_of(c);
	opts.passes = f->pass;
	if (qn_compile(c->m, &opts) == QN_OK)
		fail_msg("%s went well", f->pass);
	assert_string_equal(qn_diag_get(c->ctx, qn_diag_count(c->ctx) - 1).id, f->id);
	expect_same(c, &before, f->pass, 0);
	resume_free(&before);
}

static void
by_themselves(void **state)
{
	const resume_net *net = *state;
	resume_case c;
	qn_array *bad = NULL;

	resume_open(&c, net, &resume_rows[0], NULL);
	resume_load(&c, resume_net_path(net));
	spoil_samples(&c, &bad);
	const failure rows[] = {
		{NULL, "bind", "pass.stage", {.rounding = QN_ROUND_SINGLE}},
		{"axes,clean,partition", "clean", "pass.stage", {.rounding = QN_ROUND_EVEN}},
		{NULL, "axes", "pass.stage", {0}},
		{NULL,
		 "quantize",
		 "recipe.late",
		 {.recipe = "{\"rules\": [{\"name\": \"conv2*\", \"skip\": true}]}"}},
		{"quantize", "bind", "bind.unbound", {.rounding = QN_ROUND_SINGLE}},
		{NULL, "calibrate", "calibrate.no-data", {0}},
		{NULL, "calibrate", "calibrate.nonfinite", {.calib = &bad, .ncalib = 1}},
		{NULL, "requantize", "pass.stage", {0}},
		{"calibrate,bind", "calibrate", "pass.stage", {0}},
		{NULL, "legalize", "legalize.float", {.rounding = QN_ROUND_NEAREST}},
		{"requantize,legalize", "requantize", "pass.stage", {0}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		fail_once(&c, &rows[i]);
	resume_close(&c);
}

static void
in_a_callback(void **state)
{
	static const qn_quantizer half = {
		.name = "half", .text = "max_pool(x)", .quantize = quantize_half};
	const failure row = {"clean,partition",
			     "quantize",
			     "quantize.callback",
			     {.quantizers = &half, .nquantizers = 1}};
	resume_case c;

	resume_open(&c, *state, &resume_rows[0], NULL);
	resume_load(&c, resume_net_path(c.net));
	fail_once(&c, &row);
	resume_close(&c);
}

static int
begin(void **state)
{
	(void)state;
	return resume_begin();
}

static int
end(void **state)
{
	(void)state;
	return resume_remove();
}

int
main(void)
{
	void *const digits = (void *)(uintptr_t)&resume_nets[0];
	void *const shared = (void *)(uintptr_t)&resume_nets[1];
	void *const first = (void *)(uintptr_t)&resume_nets[2];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(out_of_memory, digits),
		cmocka_unit_test_prestate(out_of_memory, shared),
		cmocka_unit_test_prestate(out_of_memory, first),
		cmocka_unit_test_prestate(by_themselves, digits),
		cmocka_unit_test_prestate(in_a_callback, digits),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
