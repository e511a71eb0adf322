/* SPDX-License-Identifier: Apache-2.0 */
/* Random float networks, compiled with random recipes and options: storage types, blocks, channels with scales of
 * their own, aligned scales.  The interpreter and the emitted C of the integer graph agree byte for byte, and a network
 * that is refused gets an error that is expected of it.
 *
 * QUERN_FULL=1 takes more of them, QUERN_SEED=17 one, QUERN_SEED=301-900 these. */
#include "tests/e2e/batch.h"

#include "quern/quern.h"
#include "tests/e2e/random_graph.h"

enum { NETS = 20, FULL_NETS = 200, ROWS = 3, CHARS = 600, MOST_INPUTS = 2 };

/* Seeds that found something. */
static const uint64_t found[] = {203, 224, 285, 292, 315, 755, 943, 1334, 1457};

static size_t compiled, refused;

/* ---- what is drawn ---- */

static const char *
one_of(builder *b, const char *const *text, int64_t n)
{
	return text[build_random(b, 0, n - 1)];
}

static void
put_rule(builder *b, char *text, const char *op)
{
	static const char *const storage[] = {"i8",          "u8",           "i16",
					      "i8 per-axis", "i16 per-axis", "u8 per-axis"};
	static const char *const weights[] = {"i8",          "i4",          "i2",
					      "i4 block 8",  "i8 block 16", "i4 block 32",
					      "i2 block 64", "i4 block 11"};
	static const char *const grain[] = {"per-tensor", "per-channel"};
	const int64_t what = build_random(b, 1, 7);
	size_t n = strlen(text);
	const char *next = "";

	n += (size_t)snprintf(text + n, CHARS - n, "%s{", text[n - 1] == '[' ? "" : ", ");
	if (op != NULL)
		n += (size_t)snprintf(text + n, CHARS - n, "\"op\": \"%s\", ", op);
	if ((what & 1) != 0) {
		n += (size_t)snprintf(text + n, CHARS - n, "\"activations\": \"%s\"",
				      one_of(b, storage, QN_COUNT(storage)));
		next = ", ";
	}
	if ((what & 2) != 0) {
		n += (size_t)snprintf(text + n, CHARS - n, "%s\"weights\": \"%s\"", next,
				      one_of(b, weights, QN_COUNT(weights)));
		next = ", ";
	}
	if ((what & 4) != 0)
		n += (size_t)snprintf(text + n, CHARS - n, "%s\"granularity\": \"%s\"", next,
				      one_of(b, grain, QN_COUNT(grain)));
	snprintf(text + n, CHARS - n, "}");
}

/* A rule for all, and rules for some of the ops that the graph has. */
static void
draw_recipe(builder *b, char *text)
{
	const bool *need = random_graph_needed(b);

	strcpy(text, "{\"rules\": [");
	put_rule(b, text, NULL);
	for (int64_t k = build_random(b, 0, 3); k > 0; k--) {
		const qn_id id = (qn_id)build_random(b, 1, (int64_t)b->g->n - 1);
		const qn_node *n = qn_graph_node(b->g, id);

		if (need[id] && n->op != QN_OP_const && n->op != QN_OP_input &&
		    n->op != QN_OP_top_k && n->op != QN_OP_get) /* of these, clean makes others */
			put_rule(b, text, qn_opinfo_of(n)->name);
	}
	strcat(text, "]}");
}

static qn_compile_opts
draw_options(builder *b, const char *recipe)
{
	qn_compile_opts o = {.recipe = recipe};

	o.align = build_random(b, 0, 2) == 0 ? (int)build_random(b, 8, 15) : 0;
	o.weight_method = (qn_weight_method)build_random(b, 0, 1);
	o.rounding = (qn_rounding)build_random(b, 0, 4);
	o.weights_type = (qn_weights_type)build_random(b, 0, 2);
	o.weight_block = build_random(b, 0, 3) == 0 ? (int)build_random(b, 8, 64) : 0;
	o.merge_always = build_random(b, 0, 9) == 0;
	return o;
}

/* ---- one network ---- */

static qn_array *
draw_samples(builder *b, qn_ctx *ctx, const qn_type *t)
{
	int64_t dim[QN_MAX_RANK + 1] = {ROWS};
	const int64_t n = ROWS * qn_type_count(t);
	float *x = QN_NEW(&b->arena, float, (size_t)n);
	qn_array *made = NULL;

	for (int64_t i = 0; i < n; i++)
		x[i] = (float)build_random(b, -1000, 1000) / 500;
	memcpy(dim, t->dim, sizeof(dim[0]) * (size_t)t->rank);
	dim[0] *= ROWS; /* samples are batches of the first axis */
	assert_int_equal(qn_array_new(ctx, "f32", t->rank, dim, x, &made), QN_OK);
	return made;
}

/* Whether a network may be refused so: its numbers do not suit integers. */
static bool
is_expected(const char *id)
{
	static const char *const expected[] = {"calibrate.nonfinite", "int.multiplier",
					       "recipe.nothing", "requantize.bias-range"};

	for (size_t i = 0; i < QN_COUNT(expected); i++)
		if (strcmp(id, expected[i]) == 0)
			return true;
	return false;
}

static void
check_refusal(qn_ctx *ctx, uint64_t seed, const char *recipe)
{
	bool ok = false;

	for (size_t i = 0; i < qn_diag_count(ctx); i++) {
		const qn_diagnostic d = qn_diag_get(ctx, i);

		ok = ok || is_expected(d.id);
		if (!is_expected(d.id))
			print_message("seed %llu: %s: %s [%s]\n", (unsigned long long)seed, d.place,
				      d.message, d.id);
	}
	if (!ok)
		fail_msg("seed %llu is refused, with the recipe %s", (unsigned long long)seed,
			 recipe);
	refused++;
}

static int
append(void *user, const char *text, size_t n)
{
	qn_buf_put(user, text, n);
	return 0;
}

/* The integer graph's text goes to `out`; false: it was refused. */
static bool
compile(builder *b, uint64_t seed, const char *recipe, qn_buf *out)
{
	qn_compile_opts o = draw_options(b, recipe);
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x[MOST_INPUTS];
	qn_model *m = NULL;
	qn_buf text;

	qn_buf_init(&text, &b->arena);
	qn_model_print(&text, &b->model);
	assert_int_equal(qn_file_add(ctx, "net.qir", qn_buf_str(&text), text.n), QN_OK);
	assert_int_equal(qn_load(ctx, "net.qir", &m), QN_OK);
	for (size_t k = 0; k < b->g->ninput; k++)
		x[k] = draw_samples(b, ctx, qn_graph_node(b->g, b->g->input[k])->type);
	o.calib = x;
	o.ncalib = b->g->ninput;
	const bool ok = qn_compile(m, &o) == QN_OK;
	if (ok)
		assert_int_equal(qn_print(m, QN_FORMAT_IR, append, out), QN_OK);
	else
		check_refusal(ctx, seed, recipe);
	qn_close(ctx);
	return ok;
}

static void
add_network(batch *t, uint64_t seed)
{
	char recipe[CHARS];
	builder b, integer;
	qn_buf text;

	random_float_build(&b, seed);
	draw_recipe(&b, recipe);
	qn_buf_init(&text, &b.arena);
	if (compile(&b, seed, recipe, &text)) {
		build_parse(&integer, qn_buf_str(&text));
		batch_add(t, &integer, seed);
		build_end(&integer);
		compiled++;
	}
	build_end(&b);
}

static void
random_networks(void **state)
{
	const char *full = getenv("QUERN_FULL");
	bool seen[QN_NOP] = {false};
	uint64_t seed[FULL_NETS + QN_COUNT(found)];
	size_t n = full != NULL && strcmp(full, "1") == 0 ? FULL_NETS : NETS;

	(void)state;
	for (size_t i = 0; i < n; i++)
		seed[i] = i + 1;
	for (size_t i = 0; i < QN_COUNT(found); i++)
		seed[n++] = found[i];
	if (getenv("QUERN_SEED") != NULL)
		batch_range(add_network, getenv("QUERN_SEED"), seen);
	else
		batch_run(add_network, seed, n, seen);
	print_message("%zu networks compiled, %zu refused\n", compiled, refused);
	assert_true(compiled >= refused);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_networks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
