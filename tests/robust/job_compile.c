/* SPDX-License-Identifier: Apache-2.0 */
/* job_compile.c - jobs on the network of net.json: compiled, emitted and run, quantized by trials, calibrated on samples
 * and in shards. */
#include "quern/calibrate.h"
#include "quern/measure.h"
#include "tests/robust/job.h"

static qn_status
compile(qn_ctx *ctx, workshop *w, const qn_compile_opts *like, qn_model **m)
{
	qn_compile_opts opts = *like;
	qn_array *x = NULL;
	qn_status status = qn_load(ctx, job_path(w, "net.json"), m);

	if (status == QN_OK)
		status = qn_array_load(ctx, job_path(w, "x.npy"), &x);
	opts.calib = &x;
	opts.ncalib = 1;
	return status == QN_OK ? qn_compile(*m, &opts) : status;
}

qn_status
job_emit(qn_ctx *ctx, workshop *w)
{
	qn_model *m;
	qn_array *x = NULL;
	qn_emit_info info;
	qn_status status = compile(ctx, w, &(qn_compile_opts){0}, &m);

	if (status == QN_OK)
		status = qn_array_load(ctx, job_path(w, "x.npy"), &x);
	if (status == QN_OK)
		status = qn_emit(m, w->out, &(qn_emit_opts){.test = &x, .ntest = 1}, &info);
	return status;
}

qn_status
job_run(qn_ctx *ctx, workshop *w)
{
	qn_model *m;
	qn_array *x = NULL, *y = NULL;
	qn_status status = qn_load(ctx, job_path(w, "net.json"), &m);

	if (status == QN_OK)
		status = qn_array_load(ctx, job_path(w, "x.npy"), &x);
	if (status == QN_OK)
		status = qn_run(m, 1, &x, 1, 1, &y);
	return status == QN_OK ? qn_array_save(y, job_path(w, "out/y.npy")) : status;
}

static int
swallow(void *user, const char *text, size_t n)
{
	*(size_t *)user += n + (text[0] == '\0');
	return 0;
}

qn_status
job_opt(qn_ctx *ctx, workshop *w)
{
	size_t seen = 0;
	qn_model *m;
	qn_compile_opts opts = {.print_after = "all",
				.print = swallow,
				.print_user = &seen,
				.stop_after = "requantize",
				.method = "percentile",
				.weight_method = QN_WEIGHTS_BY_MSE,
				.weight_rounding = QN_WEIGHTS_ADAPTIVE,
				.bias_correction = 1,
				.weights = QN_WEIGHTS_PER_TENSOR};
	qn_status status = compile(ctx, w, &opts, &m);

	if (status == QN_OK)
		status = qn_print(m, QN_FORMAT_IR, swallow, &seen);
	if (status == QN_OK)
		status = qn_print(m, QN_FORMAT_JSON, swallow, &seen);
	if (status == QN_OK)
		status = qn_print(m, QN_FORMAT_SUMMARY, swallow, &seen);
	if (status == QN_OK)
		status = qn_print(m, QN_FORMAT_SUMMARY_JSON, swallow, &seen);
	if (status == QN_OK)
		status = qn_save_text(m, job_path(w, "out/m.qir"));
	return status == QN_OK ? qn_save(m, job_path(w, "out/m.json"), 1) : status;
}

/* What is found by trials: the network is quantized again and again, and restored. */
static qn_status
found_by_trials(qn_ctx *ctx, workshop *w, const qn_compile_opts *opts)
{
	qn_model *m;
	qn_status status = compile(ctx, w, opts, &m);

	return status == QN_OK ? qn_save_text(m, job_path(w, "out/m.qir")) : status;
}

/* Scales of channels. */
qn_status
job_equalize(qn_ctx *ctx, workshop *w)
{
	return found_by_trials(ctx, w,
			       &(qn_compile_opts){.equalize = 1,
						  .weights = QN_WEIGHTS_PER_TENSOR,
						  .stop_after = "equalize"});
}

/* 16-bit activations for layers. */
qn_status
job_widen(qn_ctx *ctx, workshop *w)
{
	return found_by_trials(
		ctx, w,
		&(qn_compile_opts){.activations = QN_ACTIVATIONS_AUTO, .stop_after = "quantize"});
}

/* Narrower ranges. */
qn_status
job_narrow(qn_ctx *ctx, workshop *w)
{
	return found_by_trials(ctx, w,
			       &(qn_compile_opts){.narrow_ranges = 1, .stop_after = "repair"});
}

/* Samples that are read on demand: rows of a table to calibrate on, a picture to run. */
qn_status
job_samples(qn_ctx *ctx, workshop *w)
{
	const qn_data_opts scaled = {.input_scale = 0.125};
	qn_model *m;
	qn_array *x = NULL, *y = NULL;
	size_t n = 0;
	qn_status status = qn_load(ctx, job_path(w, "net.json"), &m);

	if (status == QN_OK)
		status = qn_samples_open(ctx, job_path(w, "x.csv"), NULL, 1, &x, &n);
	if (status == QN_OK)
		status = qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = n});
	if (status == QN_OK)
		status = qn_samples_open(ctx, job_path(w, "p.pgm"), &scaled, 1, &x, &n);
	if (status == QN_OK)
		status = qn_run(m, n, &x, 1, 1, &y);
	return status == QN_OK ? qn_array_save(y, job_path(w, "out/y.npy")) : status;
}

/* Two shards of a method with two passes, written, read, merged, taken to the end and compiled. */
qn_status
job_stats(qn_ctx *ctx, workshop *w)
{
	qn_model *m;
	qn_array *x = NULL;
	qn_stats *s[2] = {NULL, NULL}, *first = NULL, *all = NULL;
	size_t seen = 0;
	qn_compile_opts opts = {.method = "percentile_ort:bins=16", .calib = &x, .ncalib = 1};
	qn_status status = qn_load(ctx, job_path(w, "net.json"), &m);

	if (status == QN_OK)
		status = qn_array_load(ctx, job_path(w, "x.npy"), &x);
	for (size_t i = 0; status == QN_OK && i < 2; i++)
		status = qn_calibrate(m, &opts, i + 1, 2, &s[i]);
	if (status == QN_OK)
		status = qn_stats_merge(ctx, 2, s, NULL, &first);
	if (status == QN_OK)
		status = qn_stats_save(first, job_path(w, "out/first.json"));
	if (status == QN_OK)
		status = qn_stats_load(ctx, job_path(w, "out/first.json"), &first);
	opts.stats = first;
	if (status == QN_OK)
		status = qn_calibrate(m, &opts, 0, 0, &all);
	if (status == QN_OK)
		status = qn_stats_save(all, job_path(w, "out/all.json"));
	opts.stats = all;
	if (status == QN_OK)
		status = qn_stats_explain(m, all, NULL, 0, NULL, swallow, &seen);
	if (status == QN_OK)
		status = qn_stats_explain(m, all, "c.x", 1, &x, swallow, &seen);
	return status == QN_OK ? qn_compile(m, &opts) : status;
}
