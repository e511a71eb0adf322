/* SPDX-License-Identifier: Apache-2.0 */
/* job_types.c - jobs of quantized types: weights in blocks, channels with scales of their own, aligned scales; the
 * solver; casts and rescaling as plain operations; types that are normalized and stripped. */
#include "quern/measure.h"
#include "tests/robust/job.h"

#include <string.h>

static const char recipe[] = "{\"rules\": [{\"activations\": \"i8 per-axis\"}, "
			     "{\"op\": \"dense\", \"weights\": \"i4 block 8\"}]}";

static const char casts[] = "model \"casts\" stage calibrated\n"
			    "graph @main(%x: tensor<2x8x!quant.uniform<i8:f32:{0:1, 1:4}, {{1.0, "
			    "2.0}, {0.5, 3.0}}>>, %y: tensor<?x3xf32>) {\n"
			    "  %d = dequantize %x\n  %q = quantize %y : "
			    "tensor<?x3x!quant.uniform<u8:f32:1, {0.5:3, 0.25, 1.0:7}>>\n"
			    "  %e = dequantize %q\n  return %d, %e\n}\n";

static qn_status
load(qn_ctx *ctx, workshop *w, qn_model **m, qn_array **x)
{
	const qn_status status = qn_load(ctx, job_path(w, "net.json"), m);

	return status == QN_OK ? qn_array_load(ctx, job_path(w, "x.npy"), x) : status;
}

qn_status
job_blocks(qn_ctx *ctx, workshop *w)
{
	qn_model *m;
	qn_array *x = NULL;
	qn_status status = load(ctx, w, &m, &x);

	if (status == QN_OK)
		status = qn_compile(m, &(qn_compile_opts){.calib = &x,
							  .ncalib = 1,
							  .recipe = recipe,
							  .align = 8,
							  .weight_method = QN_WEIGHTS_BY_MSE});
	return status == QN_OK ? qn_save_text(m, job_path(w, "out/m.qir")) : status;
}

qn_status
job_solver(qn_ctx *ctx, workshop *w)
{
	qn_model *m;
	qn_array *x = NULL;
	qn_compile_opts opts = {.solver = QN_SOLVER_COUPLE_SUMS, .stop_after = "instrument"};
	qn_status status = load(ctx, w, &m, &x);

	opts.calib = &x;
	opts.ncalib = 1;
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	if (status == QN_OK)
		status = qn_save(m, job_path(w, "out/stats.json"), 1);
	opts.stop_after = NULL;
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	return status == QN_OK ? qn_save_text(m, job_path(w, "out/m.qir")) : status;
}

/* Passes of a model after those that others have made. */
static qn_status
pass(qn_model *m, const char *name)
{
	const int normalizes = strcmp(name, "normalize-quant-types") == 0;

	return qn_compile(m, &(qn_compile_opts){.passes = name,
						.expand_blocks = normalizes,
						.collapse_scales = normalizes});
}

qn_status
job_lower(qn_ctx *ctx, workshop *w)
{
	static const char *const names[] = {"normalize-quant-types", "lower-quant"};
	qn_model *m;
	qn_array *x = NULL;
	qn_status status = load(ctx, w, &m, &x);
	qn_compile_opts opts = {.ncalib = 1};

	opts.calib = &x;
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	if (status == QN_OK)
		status = pass(m, "lower-fixed-point");
	if (status == QN_OK)
		status = qn_save_text(m, job_path(w, "out/fixed.qir"));
	if (status == QN_OK)
		status = load(ctx, w, &m, &x);
	opts.calib = &x;
	opts.stop_after = "bind";
	opts.recipe = recipe;
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	for (size_t i = 0; status == QN_OK && i < sizeof names / sizeof names[0]; i++)
		status = pass(m, names[i]);
	if (status == QN_OK)
		status = qn_save(m, job_path(w, "out/plain.json"), 1);
	if (status == QN_OK)
		status = qn_file_add(ctx, "casts.qir", casts, sizeof casts - 1);
	if (status == QN_OK)
		status = qn_load(ctx, "casts.qir", &m);
	if (status == QN_OK)
		status = pass(m, "strip-quant");
	return status == QN_OK ? qn_save_text(m, job_path(w, "out/stripped.qir")) : status;
}

/* A device that always answers the same. */
static int
answer(void *user, size_t sample, const void *in, size_t nin, void *to, size_t n, char *why,
       size_t room)
{
	(void)user;
	(void)sample;
	(void)in;
	(void)nin;
	(void)why;
	(void)room;
	memset(to, 1, n);
	return 0;
}

qn_status
job_validate(qn_ctx *ctx, workshop *w)
{
	const qn_device device = {.run = answer};
	qn_model *m = NULL;
	qn_array *x = NULL;
	qn_validation v;
	qn_status status = qn_load(ctx, job_path(w, "net.json"), &m);

	if (status == QN_OK)
		status = qn_array_load(ctx, job_path(w, "x.npy"), &x);
	if (status == QN_OK)
		status = qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = 1});
	if (status == QN_OK)
		status = qn_emit(m, w->out, &(qn_emit_opts){.validation = 1}, NULL);
	return status == QN_OK ? qn_validate(ctx, w->out, 1, &x, NULL, &device, &v) : status;
}
