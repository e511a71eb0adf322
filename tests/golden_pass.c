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

/* Passes with fixed arguments. */
static qn_status
partition_blocks(qn_model *m)
{
	return qn_partition(m, &(qn_quant_opts){.weight_bits = 4, .weight_block = 4});
}

static qn_status
partition_first(qn_model *m)
{
	const qn_skip_word first = {QN_SKIP_FIRST, "first"};
	const qn_skip skip = {.word = &first, .n = 1};

	return qn_partition(m, &(qn_quant_opts){.skip = &skip});
}

#define WITH(name, call)                                                                           \
	static qn_status name(qn_model *m)                                                         \
	{                                                                                          \
		return call;                                                                       \
	}

WITH(partition, qn_partition(m, &(qn_quant_opts){0}))
WITH(quantize_each, quantize_dynamic(m, QN_AT_RUN_TIME))
WITH(quantize_rows, quantize_dynamic(m, QN_AT_RUN_TIME_BY_ROW))
WITH(open_written, qn_open_written(m, &(size_t){0}))
WITH(requantize, qn_requantize(m, NULL))
WITH(requantize_exact, qn_requantize(m, &(qn_requant_opts){.exact = true}))
WITH(requantize_all, qn_requantize(m, &(qn_requant_opts){.merge_always = true}))
WITH(require_int, qn_requantize(m, &(qn_requant_opts){.require_int = true}))
WITH(align, qn_align_model(m, QN_FIX_DEFAULT))
WITH(align_most, qn_align_model(m, QN_FIX_MOST))
WITH(instrument, solve(m, true, false))
WITH(transform, solve(m, false, false))
WITH(transform_sums, solve(m, false, true))
WITH(normalize, qn_normalize_quant_types(m, 0))
WITH(normalize_expand, qn_normalize_quant_types(m, QN_NORMALIZE_EXPAND))
WITH(normalize_collapse, qn_normalize_quant_types(m, QN_NORMALIZE_COLLAPSE))

static const struct {
	const char *name;
	qn_status (*run)(qn_model *m);
} rows[] = {
	{"align", align},
	{"align=15", align_most},
	{"axes", qn_axes},
	{"bind", qn_bind},
	{"clean", qn_clean},
	{"fake-quant", qn_fake_quant},
	{"hoist-slices", qn_hoist_slices},
	{"inline-bodies", qn_inline_bodies},
	{"instrument", instrument},
	{"legalize", qn_legalize},
	{"lower-fixed-point", qn_lower_fixed_point},
	{"lower-quant", qn_lower_quant},
	{"mixed-storage", qn_mixed_storage},
	{"normalize-quant-types", normalize},
	{"normalize-quant-types=collapse", normalize_collapse},
	{"normalize-quant-types=expand", normalize_expand},
	{"open-values", open_values},
	{"open-written", open_written},
	{"partition", partition},
	{"partition=first", partition_first},
	{"partition=i8/i4x4", partition_blocks},
	{"prune", qn_prune},
	{"quantize=dynamic", quantize_each},
	{"quantize=dynamic-rows", quantize_rows},
	{"quantize=mixed", quantize_mixed},
	{"reduce-range", qn_reduce_range_of},
	{"requantize", requantize},
	{"requantize-exact", requantize_exact},
	{"requantize-merge-always", requantize_all},
	{"require-int", require_int},
	{"share-values", qn_share_values},
	{"simplify", qn_simplify},
	{"split-layers", qn_split_layers},
	{"strip-quant", qn_strip_quant},
	{"tables", qn_tables},
	{"transform", transform},
	{"transform=sums", transform_sums},
};

static qn_status
run_one(qn_model *m, const char *name, size_t n)
{
	qn_quant_opts opts;

	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (IS(rows[i].name))
			return rows[i].run(m);
	if (is_quantize(name, n, &opts))
		return qn_quantize_model(m, &opts);
	if (IS("calibrate") || strncmp(name, "calibrate=", strlen("calibrate=")) == 0)
		return calibrate(m, name, n);
	if (strncmp(name, "stream(", strlen("stream(")) == 0)
		return stream(m, name, n);
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
