/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c - an emitted program on a device beside the interpreter, sample after sample.
 *
 *   sample ─┬─▶ interpreter ─▶ CRC of each step, outputs ─┐
 *           └─▶ device      ─▶ CRC of each step, outputs ─┴─▶ equal?  errors, cosine, hits */
#include <math.h>
#include <string.h>

#include "codegen/traces.h"
#include "driver/emitted.h"
#include "driver/host_struct.h"
#include "driver/metric.h"
#include "driver/run.h"
#include "driver/score.h"
#include "ir/progress.h"
#include "runtime/interp.h"

enum { CRC_BYTES = 4, MOST_REASON = 400 };

typedef struct output {
	const qn_type *type, *real; /* real: of quantized values as float ones; else NULL */
	size_t bytes, each, rows;   /* elements of a row; rows: samples of a batch, or 1 */
	qn_output_check check;
	qn_difference sum;
} output;

typedef struct validation {
	qn_ctx *ctx;
	const char *folder;
	size_t nin;
	qn_array *const *in;
	qn_validate_opts o;
	qn_device device;
	qn_validation *out;
	/* while it runs */
	qn_emitted_program p;
	const qn_graph *g;
	qn_dataset *d;
	qn_interp *interp;
	const int64_t *label;
	qn_traces traces;    /* as the interpreter has them */
	qn_step_check *step; /* of each trace */
	output *output;
	size_t in_bytes, out_bytes, traced;
	uint8_t *sent, *answer; /* of one batch */
	double *got, *want;     /* the largest row */
	float *real;
} validation;

/* ---- before the first sample ---- */

static qn_status
set_up_outputs(validation *v, qn_arena *a)
{
	qn_types *types = &v->p.model->types;
	size_t most = 1;

	v->output = QN_NEW(a, output, qn_graph_given(v->g) + 1);
	for (size_t k = 0; k < qn_graph_given(v->g); k++) {
		const qn_type *t = qn_graph_node(v->g, v->g->output[k].value)->type;
		const size_t n = (size_t)qn_type_count(t);
		const bool rows = t->rank > 0 && t->dim[0] == (int64_t)v->d->batch;
		output *o = &v->output[k];

		*o = (output){.type = t,
			      .bytes = qn_type_bytes(t),
			      .rows = rows ? v->d->batch : 1,
			      .check = {.size = sizeof o->check,
					.name = v->g->output[k].name,
					.first_sample = v->d->nbatch}};
		o->each = n / o->rows;
		if (t->elem->kind == QN_ELEM_UNIFORM)
			o->real = qn_type_with_elem(types, t, qn_elem_plain(types, QN_PLAIN_f32));
		v->out_bytes += o->bytes;
		most = n > most ? n : most;
	}
	v->got = QN_NEW(a, double, most);
	v->want = QN_NEW(a, double, most);
	v->real = QN_NEW(a, float, most);
	return QN_OK;
}

/* "h, first run": a trace of a step in a loop. */
static const char *
trace_name(const validation *v, size_t trace, qn_arena *a)
{
	const uint32_t i = v->traces.step[trace];
	qn_buf b;

	if (v->traces.first[i] == 0)
		return v->p.step[i].name;
	qn_buf_init(&b, a);
	qn_buff(&b, "%s, %s run", v->p.step[i].name, trace < v->traces.nstep ? "last" : "first");
	return qn_buf_str(&b);
}

static void
set_up_traces(validation *v, qn_arena *a)
{
	qn_id *node = QN_NEW(a, qn_id, v->p.nstep + 1);

	for (size_t i = 0; i < v->p.nstep; i++)
		node[i] = v->p.step[i].value;
	qn_traces_init(&v->traces, v->g, v->p.nstep, node, a);
	v->traces.crc = QN_NEW(a, uint32_t, v->traces.n + 1);
	v->step = QN_NEW(a, qn_step_check, v->traces.n + 1);
	for (size_t i = 0; i < v->traces.n; i++)
		v->step[i] = (qn_step_check){.size = sizeof *v->step,
					     .index = v->traces.step[i],
					     .name = trace_name(v, i, a),
					     .layers = v->p.step[v->traces.step[i]].layers};
}

/* Classes of the first output, where it has a row of them for each sample. */
static qn_status
set_up_labels(validation *v, qn_arena *a)
{
	const qn_array *labels = v->o.labels;
	const qn_source *samples = v->nin > 0 ? v->in[0]->source : NULL;
	const size_t n = qn_dataset_results(v->d) * v->d->batch;

	QN_TRY(qn_labels_for(v->p.model, labels, samples, n, a, &v->label));
	if (qn_graph_given(v->g) == 0 || v->output[0].rows != v->d->batch || v->output[0].each < 2)
		v->label = NULL;
	if (v->label == NULL && labels != NULL)
		return qn_report(a->env, QN_EINVALID, "data.labels", labels->name,
				 "the first output has no number for each class, with which labels "
				 "could be compared: leave them out");
	if (v->label == NULL)
		return QN_OK;
	return qn_labels_below(a->env, v->label, n, (int64_t)v->output[0].each,
			       labels != NULL ? labels->name : samples->name);
}

static qn_status
set_up(validation *v, qn_arena *a)
{
	if (qn_graph_fed(v->g) == 0)
		return qn_report(a->env, QN_EINVALID, "validate.input", v->p.name,
				 "the model has no input, so there are no samples to validate it "
				 "on; run its self-test");
	QN_TRY(qn_samples_for(v->g, a, v->nin, v->in, NULL, &v->d));
	QN_TRY(qn_dataset_check(v->d, a, &(qn_check){0}));
	QN_TRY(qn_interp_new(v->g, a, &v->interp));
	QN_TRY(set_up_outputs(v, a));
	QN_TRY(set_up_labels(v, a));
	v->in_bytes = v->g->nstate > 0 ? 1 : 0;
	for (size_t k = 0; k < qn_graph_fed(v->g); k++)
		v->in_bytes += qn_type_bytes(qn_graph_node(v->g, v->g->input[k])->type);
	set_up_traces(v, a);
	v->sent = QN_NEW(a, uint8_t, v->in_bytes + 1);
	return QN_OK;
}

/* ---- a sample ---- */

static qn_status
device_failed(const validation *v, const char *why)
{
	return qn_report(&v->ctx->env, QN_EIO, "validate.device", v->p.name, "%s",
			 why[0] != '\0' ? why : "the device failed");
}

static qn_status
start(validation *v, qn_arena *a)
{
	const qn_program p = {.size = sizeof p,
			      .name = v->p.name,
			      .target = v->p.target,
			      .content = v->p.content,
			      .steps = v->traces.n,
			      .samples = v->d->nbatch,
			      .in_bytes = v->in_bytes,
			      .resets = v->g->nstate > 0,
			      .out_bytes = v->out_bytes};
	char why[MOST_REASON] = "";

	if (v->device.start != NULL &&
	    v->device.start(v->device.user, &p, &v->traced, why, sizeof why) != 0)
		return device_failed(v, why);
	if (v->traced > v->traces.n)
		return device_failed(v, "the device sends more CRCs than the program has steps");
	v->answer = QN_NEW(a, uint8_t, CRC_BYTES * v->traced + v->out_bytes + 1);
	return QN_OK;
}

/* The quantized or plain values of a tensor as double, `each` of row `row`. */
static void
read_row(validation *v, const output *o, const qn_tensor *x, size_t row, double *to)
{
	qn_tensor y = *x;

	if (o->real != NULL) {
		qn_dequantize_into(&v->p.model->types, x, QN_PLAIN_f32, v->real);
		y = (qn_tensor){.type = o->real, .data = v->real};
	}
	qn_row_get(&y, o->each, row, to);
}

static void
count_equal(qn_output_check *c, const uint8_t *got, const uint8_t *want, size_t bytes, size_t width)
{
	for (size_t i = 0; i < bytes; i += width) {
		size_t same = 0;

		for (size_t j = i; j < i + width; j++)
			same += got[j] == want[j];
		c->equal_bytes += same;
		c->equal += same == width;
	}
	c->bytes += bytes;
	c->elements += bytes / width;
}

static void
compare_output(validation *v, size_t k, const uint8_t *bytes, size_t sample, qn_arena *tmp)
{
	output *o = &v->output[k];
	const qn_tensor *want = qn_interp_output(v->interp, k);
	const qn_tensor *got = qn_tensor_view_file(tmp, o->type, bytes);
	size_t at;

	if (memcmp(got->data, want->data, o->bytes) != 0 && o->check.first_sample > sample)
		o->check.first_sample = sample;
	count_equal(&o->check, got->data, want->data, o->bytes,
		    qn_plain_table[o->type->elem->plain].bytes);
	const bool gives = qn_dataset_gives(v->d, sample, &at);
	for (size_t r = 0; r < o->rows; r++) {
		read_row(v, o, got, r, v->got);
		read_row(v, o, want, r, v->want);
		const qn_difference d = qn_difference_of(v->got, v->want, o->each);
		qn_difference_add(&o->sum, &d);
		if (k > 0 || v->label == NULL || !gives)
			continue;
		const int64_t label = v->label[at * v->d->batch + r];
		v->out->labels++;
		v->out->hits += qn_rank_of(v->want, o->each, (size_t)label) == 0;
		v->out->device_hits += qn_rank_of(v->got, o->each, (size_t)label) == 0;
	}
}

static void
compare_steps(validation *v, size_t sample)
{
	bool leads = true;

	for (size_t i = 0; i < v->traced; i++) {
		const uint8_t *p = v->answer + CRC_BYTES * i;
		const uint32_t crc =
			p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		qn_step_check *s = &v->step[i];

		if (crc == v->traces.crc[i])
			continue;
		if (s->wrong++ == 0)
			s->first_sample = sample;
		s->leads += leads;
		leads = false;
	}
}

static qn_status
run_sample(validation *v, size_t sample, qn_arena *a)
{
	const qn_tensor *const *x = NULL;
	char why[MOST_REASON] = "";
	uint8_t *to = v->sent;

	QN_TRY(v->d->get(v->d, sample, a, &x));
	qn_traces_begin(&v->traces);
	if (sample % v->d->sequence == 0)
		qn_interp_reset(v->interp);
	if (v->g->nstate > 0)
		*to++ = sample % v->d->sequence == 0;
	QN_TRY(qn_interp_run(v->interp, x, qn_traces_take, &v->traces));
	for (size_t k = 0; k < qn_graph_fed(v->g); to += x[k++]->bytes)
		memcpy(to, qn_tensor_file_bytes(a, x[k]), x[k]->bytes);
	const size_t crcs = CRC_BYTES * v->traced;
	if (v->device.run(v->device.user, sample, v->sent, v->in_bytes, v->answer,
			  crcs + v->out_bytes, why, sizeof why) != 0)
		return device_failed(v, why);
	compare_steps(v, sample);
	const uint8_t *from = v->answer + crcs;
	for (size_t k = 0; k < qn_graph_given(v->g); from += v->output[k++].bytes)
		compare_output(v, k, from, sample, a);
	return QN_OK;
}

/* ---- after the last one ---- */

static void
tell(validation *v)
{
	qn_validation *out = v->out;

	out->samples = v->d->nbatch * v->d->batch;
	out->traced = v->traced;
	for (size_t i = 0; i < v->traced; i++) {
		if (v->step[i].wrong == 0)
			continue;
		out->wrong_steps++;
		if (v->o.step != NULL)
			v->o.step(v->o.user, &v->step[i]);
	}
	for (size_t k = 0; k < qn_graph_given(v->g); k++) {
		const qn_difference *d = &v->output[k].sum;
		qn_output_check *c = &v->output[k].check;

		c->max_error = d->most;
		c->rmse = d->elements > 0 ? sqrt(d->square / (double)d->elements) : 0;
		c->cosine = d->yy > 0 && d->ww > 0   ? d->yw / sqrt(d->yy * d->ww) /* equal: 1 */
			    : d->yy > 0 || d->ww > 0 ? 0
						     : 1;
		out->bytes += c->bytes;
		out->equal_bytes += c->equal_bytes;
		if (v->o.output != NULL)
			v->o.output(v->o.user, c);
	}
	out->equal = out->wrong_steps == 0 && out->bytes == out->equal_bytes;
}

static qn_status
run_all(void *arg, qn_arena *a)
{
	validation *v = arg;

	v->g = v->p.g;
	QN_TRY(set_up(v, a));
	QN_TRY(start(v, a));
	for (size_t i = 0; i < v->d->nbatch; i++) {
		qn_arena *tmp = qn_arena_child(a);

		QN_TRY(qn_progress(&v->ctx->env, "validate", i, v->d->nbatch));
		QN_TRY(run_sample(v, i, tmp));
		qn_arena_release(tmp);
	}
	QN_TRY(qn_progress(&v->ctx->env, "validate", v->d->nbatch, v->d->nbatch));
	tell(v);
	return QN_OK;
}

static qn_status
validate(void *arg, qn_arena *a)
{
	validation *v = arg;

	QN_TRY(qn_host_pointers(&v->ctx->env, "in", v->nin, v->in));
	qn_status status = qn_emitted_program_read(v->ctx, v->folder, v->o.name, a, &v->p);
	if (status == QN_OK && v->p.model->stage != QN_STAGE_INTEGER)
		status = qn_report(&v->ctx->env, QN_EINVALID, "validate.report", v->p.name,
				   "the model beside the report is not an integer one; compile the "
				   "model again with --validation");
	if (status == QN_OK)
		status = qn_guard_model(v->p.model, run_all, v);
	qn_model_free(v->p.model);
	return status;
}

qn_status
qn_validate(qn_ctx *ctx, const char *folder, size_t nin, qn_array *const *in,
	    const qn_validate_opts *opts, const qn_device *device, qn_validation *out)
{
	validation v = {.ctx = ctx, .folder = folder, .nin = nin, .in = in, .out = out};

	QN_TRY(QN_GIVEN(ctx, folder, device, out));
	*out = (qn_validation){0};
	QN_TRY(QN_TAKE(&ctx->env, qn_validate_opts, opts, &v.o));
	QN_TRY(QN_TAKE(&ctx->env, qn_device, device, &v.device));
	const bool run = v.device.run != NULL;
	QN_TRY(QN_GIVEN(ctx, run));
	return qn_guard(ctx, validate, &v);
}
