/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - the public arrays whose samples are read on demand: files, folders, the host. */
#include <math.h>
#include <string.h>

#include "calibrate/open.h"
#include "driver/host_struct.h"
#include "driver/context.h"

typedef struct samples_call {
	qn_ctx *ctx;
	const char *path;
	const qn_data_opts *opts;
	const char *dtype;
	int rank;
	const int64_t *shape;
	qn_sample_fn *fn;
	void *user;
	size_t most, n;
	qn_array **out;
} samples_call;

/* ---- options ---- */

static qn_status
bad_option(qn_env *env, const char *option, double v, const char *what)
{
	return qn_report(env, QN_EUSAGE, "data.option", option, "invalid value %g: %s", v, what);
}

static qn_status
check_numbers(qn_env *env, const char *option, const double *v, size_t n, bool zero)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]) || (v[i] == 0 && !zero))
			return bad_option(env, option, v[i],
					  zero ? "it must be finite"
					       : "it must be finite and not 0");
	return QN_OK;
}

/* The public options as those of calibrate/open.h; their numbers are copied into the arena. */
static qn_status
read_options(const qn_data_opts *o, qn_arena *a, qn_open_opts *out)
{
	qn_env *env = a->env;

	*out = (qn_open_opts){
		.has_dtype = o->dtype != NULL, .has_shape = o->rank > 0, .rank = (int32_t)o->rank};
	if (o->dtype != NULL && (out->dtype = qn_dtype_named(env, o->dtype)) == QN_NPLAIN)
		return QN_EUSAGE;
	if (o->rank < 0 || o->rank >= QN_MAX_RANK)
		return bad_option(env, "shape", o->rank, "a sample must have 1 to 7 dimensions");
	QN_TRY(qn_host_list(env, "shape", (size_t)o->rank, o->shape));
	for (int i = 0; i < o->rank; i++) {
		if (o->shape[i] <= 0 || o->shape[i] > INT32_MAX)
			return bad_option(env, "shape", (double)o->shape[i],
					  "a dimension must be 1 to 2^31 - 1");
		out->dim[i] = o->shape[i];
	}
	if (o->layout != QN_NHWC && o->layout != QN_NCHW)
		return bad_option(env, "layout", (double)o->layout,
				  "it must be QN_NHWC or QN_NCHW");
	QN_TRY(qn_host_list(env, "mean", o->nmean, o->mean));
	QN_TRY(qn_host_list(env, "std", o->nstd, o->std));
	QN_TRY(check_numbers(env, "input-scale", &o->input_scale, 1, true));
	QN_TRY(check_numbers(env, "input-zero", &o->input_zero, 1, true));
	QN_TRY(check_numbers(env, "mean", o->mean, o->nmean, true));
	QN_TRY(check_numbers(env, "std", o->std, o->nstd, false));
	out->prep = (qn_prep){.given = o->input_scale != 0 || o->input_zero != 0 ||
				       o->nmean + o->nstd > 0,
			      .zero = o->input_zero,
			      .scale = o->input_scale != 0 ? o->input_scale : 1,
			      .nmean = o->nmean,
			      .nstd = o->nstd,
			      .channels_first = o->layout == QN_NCHW};
	if (o->nmean > 0)
		out->prep.mean = qn_arena_copy(a, o->mean, o->nmean * sizeof *o->mean);
	if (o->nstd > 0)
		out->prep.std = qn_arena_copy(a, o->std, o->nstd * sizeof *o->std);
	return QN_OK;
}

/* ---- files and folders ---- */

/* Array k of a file.  Each opens the file for itself, so that any of them can be freed. */
static qn_status
open_one(samples_call *c, size_t k, size_t *count)
{
	const qn_data_opts *o = c->opts;
	qn_array *x = c->out[k] = qn_array_alloc(c->ctx);
	qn_open_opts opts;

	c->n = k + 1;
	const qn_source *source = NULL;
	x->name = qn_arena_str(&x->arena, c->path);
	QN_TRY(read_options(o, &x->arena, &opts));
	QN_TRY(qn_source_open(&x->types, &x->arena, x->name, &opts, k, count, &source));
	if (*count > c->most)
		return qn_report(&c->ctx->env, QN_EUSAGE, "data.count", x->name,
				 "the file has %zu arrays, more than the %zu that fit", *count,
				 c->most);
	qn_source *s = qn_arena_copy(&x->arena, source, sizeof *s);
	if (o->input != NULL && *count == 1) {
		s->input = qn_arena_str(&x->arena, o->input);
		s->must = true;
	} else if (o->input != NULL && s->input == NULL) {
		return qn_report(&c->ctx->env, QN_EUSAGE, "data.option", x->name,
				 "the folder has %zu tensors, one for each input in order; remove "
				 "'%s=', or give the file of this input",
				 *count, o->input);
	} else if (o->input != NULL) {
		return qn_report(
			&c->ctx->env, QN_EUSAGE, "data.option", x->name,
			"the file has %zu arrays with their own names; remove '%s=', and give the "
			"array of this input its name (numpy: np.savez(FILE, %s=x)) or save it as "
			".npy",
			*count, o->input, o->input);
	}
	x->source = s;
	x->tensor = s->tensor;
	x->type = s->type;
	return QN_OK;
}

/* Quantized values of 8 bits with a scale and no zero point: correct, but seldom meant. */
static void
warn_zero(qn_env *env, const qn_data_opts *o, const qn_source *s)
{
	if (o->input_zero_unknown == 0 || o->input_zero != 0 || o->nmean > 0 ||
	    o->input_scale == 0 || o->input_scale == 1 || s->stored == NULL ||
	    s->stored->elem->plain != QN_PLAIN_i8)
		return;
	qn_warn(env, "data.zero", s->name,
		"elements of type i8 are multiplied by %g without a zero point: quantized values "
		"mostly have one, which is subtracted first; give it with --input-zero, or 0 if "
		"they have none",
		o->input_scale);
}

static qn_status
open_all(void *arg, qn_arena *scratch)
{
	samples_call *c = arg;
	size_t count = 1;

	(void)scratch;
	if (c->most == 0)
		return qn_report(&c->ctx->env, QN_EUSAGE, "data.count", c->path, "no array fits");
	for (size_t k = 0; k < count; k++)
		QN_TRY(open_one(c, k, &count));
	for (size_t k = 0; k < count; k++)
		warn_zero(&c->ctx->env, c->opts, c->out[k]->source);
	return QN_OK;
}

qn_status
qn_samples_open(qn_ctx *ctx, const char *path, const qn_data_opts *opts, size_t most,
		qn_array **out, size_t *n)
{
	QN_TRY(QN_GIVEN(ctx, path, out, n));
	qn_data_opts known;
	samples_call c = {.ctx = ctx, .path = path, .opts = &known, .most = most, .out = out};
	qn_status status = QN_TAKE(&ctx->env, qn_data_opts, opts, &known);

	*n = 0;
	if (status == QN_OK)
		status = qn_guard(ctx, open_all, &c);
	if (status == QN_OK)
		*n = c.n;
	for (size_t k = 0; status != QN_OK && k < c.n; k++) {
		qn_array_free(out[k]);
		out[k] = NULL;
	}
	return status;
}

/* ---- the host's samples ---- */

static qn_status
create(void *arg, qn_arena *scratch)
{
	samples_call *c = arg;
	qn_array *x = c->out[0] = qn_array_alloc(c->ctx);

	(void)scratch;
	c->n = 1;
	const qn_type *type = qn_array_type(x, c->dtype, c->rank, c->shape);
	if (type == NULL)
		return QN_EUSAGE;
	if (type->rank < 1)
		return qn_report(&c->ctx->env, QN_EUSAGE, "array.rank", "",
				 "samples need a dimension 0 that counts them");
	qn_source *s = qn_source_host(&x->arena, type, x->name, c->fn, c->user);
	if (c->path != NULL) {
		s->input = qn_arena_str(&x->arena, c->path);
		s->must = true;
	}
	x->source = s;
	x->type = type;
	return QN_OK;
}

qn_status
qn_samples_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape, const char *input,
	       qn_sample_fn *fn, void *user, qn_array **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, dtype, fn, out));
	samples_call c = {.ctx = ctx,
			  .path = input,
			  .dtype = dtype,
			  .rank = rank,
			  .shape = shape,
			  .fn = fn,
			  .user = user,
			  .out = out};
	qn_status status = qn_guard(ctx, create, &c);

	if (status != QN_OK) {
		if (c.n > 0)
			qn_array_free(*out);
		*out = NULL;
	}
	return status;
}

const char *
qn_array_name(const qn_array *x)
{
	return x != NULL && x->source != NULL && x->source->input != NULL ? x->source->input : "";
}
