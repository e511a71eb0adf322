/* SPDX-License-Identifier: Apache-2.0 */
/* golden_pass.c - sections of golden files that run passes.
 *
 * `--- pass A,B bound X` compares the printed graph, and runs the graph before and after on
 * seeded inputs: real values of the outputs may differ by X. Symbols are calibrated on the same
 * kind of inputs, uniform in [-1, 1] for real ones, the full range of codes for others; plain
 * integers are -1, 0 or 1.
 * partition=first skips the first match; partition=i8/i4x4 is told the weights; quantize=mixed stores what dense layers read in 16 bits,
 * quantize=dynamic and quantize=dynamic-rows give all products that can scales at run time.
 * calibrate=METHOD finds ranges by another method than minmax, calibrate=kl_tvm(bins=257;levels=31) with parameters.
 * stream(axis=1;hop=2) has its option in parentheses; windows and hops of one signal give equal bytes then, whatever X is.
 * align=15 aligns to 15 bits instead of 8.  requantize-exact, requantize-merge-always and require-int are requantize with one option. */
#include "tests/golden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/method.h"
#include "passes/passes.h"
#include "passes/solver.h"
#include "patterns/quantizer.h"
#include "patterns/recipe.h"
#include "patterns/skip.h"
#include "runtime/interp.h"
#include "tests/streamed.h"

enum { SAMPLES = 16 };

static double
uniform(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*seed >> 33) / (double)(UINT64_C(1) << 30) - 1.0;
}

/* ---- data ---- */

typedef struct data {
	const qn_graph *g;
	const qn_graph *real; /* the graph whose inputs say how wide real values are */
	qn_arena *arena;
	const qn_tensor **x;
} data;

/* Real values of sample `index` for input k; a graph whose input became codes gets their
 * quantized form. */
static qn_tensor *
sample(const data *d, size_t index, size_t k)
{
	qn_types *t = &d->g->model->types;
	const qn_type *type = qn_graph_node(d->g, d->g->input[k])->type;
	const qn_type *real = qn_type_with_elem(t, type, qn_elem_plain(t, QN_PLAIN_f32));
	const qn_elem *like = qn_graph_node(d->real, d->real->input[k])->type->elem;
	bool plain = like->kind == QN_ELEM_PLAIN && !qn_elem_is_float(like);
	double width = 1;
	uint64_t seed = index * 1000 + k + 1;
	void *p;
	qn_tensor *x = qn_tensor_new(d->arena, plain ? type : real, &p);

	for (int64_t i = 0; plain && i < qn_type_count(type); i++)
		qn_store_f64(p, like->plain, i, uniform(&seed) + 0.5); /* rounded to -1, 0, 1 */
	if (plain)
		return x;
	if (like->kind == QN_ELEM_UNIFORM) {
		double scale;
		int64_t zp;

		qn_elem_param(t, like, 0, &scale, &zp);
		width = like->bits <= 8 ? 128 * scale : 1e4 * scale;
	}
	for (int64_t i = 0; i < qn_type_count(real); i++)
		qn_store_f64(p, QN_PLAIN_f32, i, uniform(&seed) * width);
	return type->elem->kind == QN_ELEM_UNIFORM ? qn_tensor_quantize(t, d->arena, x, type) : x;
}

static qn_status
get(qn_dataset *set, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	data *d = set->user;

	(void)scratch;
	for (size_t k = 0; k < d->g->ninput; k++)
		d->x[k] = sample(d, index, k);
	*inputs = d->x;
	return QN_OK;
}

static qn_dataset *
dataset(const qn_graph *g, const qn_graph *real, qn_arena *a)
{
	data *d = QN_NEW(a, data, 1);
	qn_dataset *set = QN_NEW(a, qn_dataset, 1);

	*d = (data){g, real, a, QN_NEW(a, const qn_tensor *, g->ninput)};
	*set = (qn_dataset){.nbatch = SAMPLES, .batch = 1, .get = get, .user = d};
	return set;
}

/* ---- passes ---- */

#define IS(text) (strlen(text) == n && memcmp(name, text, n) == 0)

/* Storage types that a quantize is told: quantize=u8, quantize=i16/i4, blocks of 4 weights: i8/i4x4. */
static bool
is_quantize(const char *name, size_t n, qn_quant_opts *opts)
{
	static const struct {
		const char *name;
		qn_quant_opts opts;
	} rows[] = {
		{"quantize", {0}},
		{"quantize=u8", {.activations = QN_STORAGE_U8}},
		{"quantize=i16", {.activations = QN_STORAGE_I16}},
		{"quantize=i8/i4", {.weight_bits = 4}},
		{"quantize=i8/i4x4", {.weight_bits = 4, .weight_block = 4}},
		{"quantize=i16/i4", {.activations = QN_STORAGE_I16, .weight_bits = 4}},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		*opts = rows[i].opts;
		if (IS(rows[i].name))
			return true;
	}
	return false;
}

/* Dense layers with activations of 16 bits and weights of 4, the rest as ever. */
static qn_status
quantize_mixed(qn_model *m)
{
	const qn_recipe_rule rule = {.place = "recipe",
				     .op = "dense",
				     .has_activations = true,
				     .activations = QN_STORAGE_I16,
				     .has_weights = true,
				     .weight_bits = 4};
	bool used = false, dynamic = false;
	const qn_recipe recipe = {.rule = &rule, .n = 1, .used = &used, .dynamic = &dynamic};

	return qn_quantize_model(m, &(qn_quant_opts){.recipe = &recipe});
}

/* All products that can with scales at run time, of rows. */
static qn_status
quantize_dynamic(qn_model *m, qn_scale_time when)
{
	const qn_recipe_rule rule = {.place = "recipe", .has_activations = true, .when = when};
	bool used = false, dynamic = false;
	const qn_recipe recipe = {.rule = &rule, .n = 1, .used = &used, .dynamic = &dynamic};

	return qn_quantize_model(m, &(qn_quant_opts){.recipe = &recipe});
}

/* "calibrate", "calibrate=METHOD", "calibrate=METHOD(PARAM=VALUE;…)": n characters.  calibrate=mse-weights is
 * minmax, with the scales of constants by least squared error. */
static qn_status
calibrate(qn_model *m, const char *name, size_t n)
{
	qn_calib_opts opts = {0};
	char text[64] = "";
	size_t len = 0;

	for (size_t i = sizeof "calibrate"; i < n && len + 1 < sizeof text; i++)
		if (name[i] != ')')
			text[len++] = (char)(name[i] == '(' ? ':' : name[i] == ';' ? ',' : name[i]);
	const bool mse_weights = strcmp(text, "mse-weights") == 0;
	QN_TRY(qn_method_parse(m->env, m->arena, mse_weights ? NULL : text, &opts.method));
	opts.method.mse_weights = mse_weights;
	return qn_calibrate_model(m, dataset(qn_model_entry(m), qn_model_entry(m), m->arena),
				  &opts);
}

/* Values that stay in float get symbols: one round, as `calibrate` begins with a model that came quantized. */
static qn_status
open_values(qn_model *m)
{
	size_t npair, nsymbol;
	bool stays;

	return qn_open_values(m, &(qn_requant_opts){0}, &npair, &nsymbol, &stays);
}

/* "stream(INPUT@AXIS;HOP)": n characters. */
static qn_status
stream(qn_model *m, const char *name, size_t n)
{
	char text[64] = "";
	size_t len = 0;

	for (size_t i = strlen("stream("); i + 1 < n && len + 1 < sizeof text; i++)
		text[len++] = (char)(name[i] == ';' ? ',' : name[i] == '@' ? ':' : name[i]);
	return qn_stream_model(m, text);
}

static qn_status
solve(qn_model *m, bool instrument, bool sums)
{
	const qn_quant_opts tflite = {0};
	const qn_solver_opts opts = {.activations = qn_activation_desc(&tflite),
				     .couple_sums = sums};

	return instrument ? qn_instrument(m, &opts) : qn_transform(m, &opts);
}

static qn_status
run_one(qn_model *m, const char *name, size_t n)
{
	const qn_skip_word first = {QN_SKIP_FIRST, "first"};
	const qn_skip skip = {.word = &first, .n = 1};
	const qn_quant_opts tflite = {0};
	qn_quant_opts opts;

	if (IS("inline-bodies"))
		return qn_inline_bodies(m);
	if (IS("axes"))
		return qn_axes(m);
	if (IS("fake-quant"))
		return qn_fake_quant(m);
	if (IS("clean"))
		return qn_clean(m);
	if (IS("split-layers"))
		return qn_split_layers(m);
	if (IS("partition"))
		return qn_partition(m, &tflite);
	if (IS("partition=i8/i4x4"))
		return qn_partition(m, &(qn_quant_opts){.weight_bits = 4, .weight_block = 4});
	if (IS("partition=first"))
		return qn_partition(m, &(qn_quant_opts){.skip = &skip});
	if (IS("quantize=dynamic"))
		return quantize_dynamic(m, QN_AT_RUN_TIME);
	if (IS("quantize=dynamic-rows"))
		return quantize_dynamic(m, QN_AT_RUN_TIME_BY_ROW);
	if (IS("quantize=mixed"))
		return quantize_mixed(m);
	if (is_quantize(name, n, &opts))
		return qn_quantize_model(m, &opts);
	if (IS("calibrate") || strncmp(name, "calibrate=", strlen("calibrate=")) == 0)
		return calibrate(m, name, n);
	if (IS("open-written"))
		return qn_open_written(m, &(size_t){0});
	if (IS("open-values"))
		return open_values(m);
	if (IS("bind"))
		return qn_bind(m);
	if (IS("requantize"))
		return qn_requantize(m, NULL);
	if (IS("requantize-exact"))
		return qn_requantize(m, &(qn_requant_opts){.exact = true});
	if (IS("requantize-merge-always"))
		return qn_requantize(m, &(qn_requant_opts){.merge_always = true});
	if (IS("require-int"))
		return qn_requantize(m, &(qn_requant_opts){.require_int = true});
	if (IS("reduce-range"))
		return qn_reduce_range_of(m);
	if (IS("align"))
		return qn_align_model(m, QN_FIX_DEFAULT);
	if (IS("align=15"))
		return qn_align_model(m, QN_FIX_MOST);
	if (IS("legalize"))
		return qn_legalize(m);
	if (IS("prune"))
		return qn_prune(m);
	if (IS("instrument") || IS("transform") || IS("transform=sums"))
		return solve(m, name[0] == 'i', IS("transform=sums"));
	if (IS("simplify"))
		return qn_simplify(m);
	if (IS("lower-fixed-point"))
		return qn_lower_fixed_point(m);
	if (IS("tables"))
		return qn_tables(m);
	if (IS("normalize-quant-types"))
		return qn_normalize_quant_types(m, 0);
	if (IS("normalize-quant-types=expand"))
		return qn_normalize_quant_types(m, QN_NORMALIZE_EXPAND);
	if (IS("normalize-quant-types=collapse"))
		return qn_normalize_quant_types(m, QN_NORMALIZE_COLLAPSE);
	if (strncmp(name, "stream(", strlen("stream(")) == 0)
		return stream(m, name, n);
	if (IS("lower-quant"))
		return qn_lower_quant(m);
	if (IS("strip-quant"))
		return qn_strip_quant(m);
	(void)complain("unknown pass");
	return QN_EUSAGE;
}

/* Passes of a comma list that ends at a blank, a colon or the end. */
static qn_status
run_passes(qn_model *m, const char *list)
{
	for (;;) {
		size_t n = strcspn(list, ", :");

		QN_TRY(run_one(m, list, n));
		QN_TRY(qn_model_verify(m));
		if (list[n] != ',')
			return QN_OK;
		list += n + 1;
	}
}

/* ---- before and after ---- */

static bool
real_output(const qn_interp *in, const qn_graph *g, size_t k, int64_t i, double *out)
{
	const qn_tensor *y = qn_interp_output(in, k);
	double scale;
	int64_t zp;

	*out = qn_tensor_f64(y, i);
	if (y->type->elem->kind != QN_ELEM_UNIFORM)
		return true;
	if (y->type->elem->gran != QN_PER_TENSOR)
		return false;
	qn_elem_param(&g->model->types, y->type->elem, 0, &scale, &zp);
	*out = (*out - (double)zp) * scale;
	return true;
}

static bool
compare_runs(bench *b, const qn_graph *before, const qn_graph *after, double bound)
{
	qn_dataset *from = dataset(before, before, &b->arena);
	qn_dataset *to = dataset(after, before, &b->arena);
	qn_interp *in[2];
	double worst = 0;

	if (qn_interp_new(before, &b->arena, &in[0]) != QN_OK ||
	    qn_interp_new(after, &b->arena, &in[1]) != QN_OK)
		return complain("a graph cannot be run");
	for (size_t s = 0; s < SAMPLES; s++) {
		const qn_tensor *const *x;

		if (from->get(from, s, &b->arena, &x) != QN_OK ||
		    qn_interp_run(in[0], x, NULL, NULL) != QN_OK)
			return false;
		if (to->get(to, s, &b->arena, &x) != QN_OK ||
		    qn_interp_run(in[1], x, NULL, NULL) != QN_OK)
			return false;
		for (size_t k = 0; k < before->noutput; k++)
			for (int64_t i = 0; i < qn_type_count(qn_interp_output(in[0], k)->type);
			     i++) {
				double want, have;

				if (!real_output(in[0], before, k, i, &want) ||
				    !real_output(in[1], after, k, i, &have))
					return complain("an output is per axis");
				if (!(fabs(want - have) <= worst))
					worst = isnan(want - have) ? HUGE_VAL : fabs(want - have);
			}
	}
	if (worst <= bound)
		return true;
	(void)fprintf(stderr, "  outputs differ by %g, more than the bound %g\n", worst, bound);
	return false;
}

bool
run_pass(bench *b, const section *s, outcome *o)
{
	const char *bound_text = strstr(s->args, "bound ");
	const qn_graph *before = b->status == QN_OK ? qn_model_entry(&b->model) : NULL;
	double bound = 0;

	qn_buf_puts(&o->args, s->args);
	if (b->status != QN_OK || run_passes(&b->model, s->args) != QN_OK)
		return false;
	qn_model_print(&o->body, &b->model);
	if (bound_text == NULL)
		return true;
	if (sscanf(bound_text, "bound %lf", &bound) != 1)
		return complain("bound needs a number");
	if (streamed_is(before, qn_model_entry(&b->model)))
		return streamed_equal(before, qn_model_entry(&b->model), &b->arena, 1, 6);
	return compare_runs(b, before, qn_model_entry(&b->model), bound);
}

/* What the symbols are after the passes: "$NAME SCALE:ZERO", or "$NAME SCALE SCALE…" for each channel. */
bool
run_symbols(bench *b, const section *s, outcome *o)
{
	const qn_types *t = &b->model.types;

	qn_buf_puts(&o->args, s->args);
	if (b->status != QN_OK || run_passes(&b->model, s->args) != QN_OK)
		return false;
	for (size_t i = 0; i < t->nsymbol; i++) {
		const qn_symbol *y = t->symbol[i];

		qn_buff(&o->body, "$%s", y->name);
		for (size_t k = 0; k < (y->len > 0 ? y->vec->n : 1); k++) {
			qn_buf_puts(&o->body, " ");
			qn_buf_f32(&o->body, (float)(y->len > 0 ? y->vec->scale[k] : y->scale));
		}
		if (y->kind != QN_SYM_SYMMETRIC)
			qn_buff(&o->body, ":%lld", (long long)y->zp);
		qn_buf_puts(&o->body, "\n");
	}
	return true;
}

/* "legalize: id id": the ids that the failing run of passes reports. */
bool
run_error_in(bench *b, const section *s, outcome *o)
{
	qn_buff(&o->args, "%.*s", (int)strcspn(s->args, ":"), s->args);
	if (b->status != QN_OK)
		return false;
	if (run_passes(&b->model, s->args) == QN_OK)
		return complain("the passes report no error");
	for (size_t i = 0; i < b->diags.n; i++)
		if (b->diags.item[i].severity == QN_ERROR)
			qn_buff(&o->args, "%s %s", i == 0 ? ":" : "", b->diags.item[i].id);
	return true;
}
