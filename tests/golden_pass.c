/* SPDX-License-Identifier: Apache-2.0 */
/* golden_pass.c - passes by the names that golden files give them.
 *
 * partition=first skips the first match; partition=i8/i4x4 is told the weights; quantize=mixed stores what dense layers read in 16 bits,
 * quantize=dynamic and quantize=dynamic-rows give all products that can scales at run time.
 * calibrate=METHOD finds ranges by another method than minmax, calibrate=kl_tvm(bins=257;levels=31) with parameters.
 * stream(axis=1;hop=2) has its option in parentheses; windows and hops of one signal give equal bytes then, whatever the bound is.
 * align=15 aligns to 15 bits instead of 8.  requantize-exact, requantize-merge-always and require-int are requantize with one option. */
#include "tests/golden.h"

#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/method.h"
#include "passes/passes.h"
#include "passes/solver.h"
#include "patterns/quantizer.h"
#include "patterns/recipe.h"
#include "patterns/skip.h"

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
	return qn_calibrate_model(m, golden_data(qn_model_entry(m), qn_model_entry(m), m->arena),
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
	if (IS("hoist-slices"))
		return qn_hoist_slices(m);
	if (IS("split-layers"))
		return qn_split_layers(m);
	if (IS("share-values"))
		return qn_share_values(m);
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
	if (IS("mixed-storage"))
		return qn_mixed_storage(m);
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

qn_status
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
