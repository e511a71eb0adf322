/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c - quern validate: an emitted program on a device beside the interpreter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "json_values.h"
#include "program.h"

enum { TIME_LIMIT = 60, MOST_STEPS = 10, REASON = 400 };

/* What the library tells during the call, which is printed after it. */
typedef struct result {
	const options *o;
	bool out_of_memory;
	qn_step_check *step; /* with copies of the names */
	size_t nstep;
	qn_output_check *output;
	size_t noutput;
	qn_program program;
	device device;
} result;

static char *
copy(result *r, const char *s)
{
	const size_t n = strlen(s) + 1;
	char *to = malloc(n);

	r->out_of_memory = r->out_of_memory || to == NULL;
	return to != NULL ? memcpy(to, s, n) : NULL;
}

/* Room for one more element of `size` bytes; NULL when there is none. */
static void *
grow(result *r, void *list, size_t n, size_t size)
{
	void *more = realloc(list, (n + 1) * size);

	r->out_of_memory = r->out_of_memory || more == NULL;
	return more;
}

static void
add_step(void *user, const qn_step_check *s)
{
	result *r = user;
	qn_step_check *more = grow(r, r->step, r->nstep, sizeof *more);

	if (more == NULL)
		return;
	r->step = more;
	more[r->nstep] = *s;
	more[r->nstep].name = copy(r, s->name);
	more[r->nstep++].layers = copy(r, s->layers);
}

static void
add_output(void *user, const qn_output_check *c)
{
	result *r = user;
	qn_output_check *more = grow(r, r->output, r->noutput, sizeof *more);

	if (more == NULL)
		return;
	r->output = more;
	more[r->noutput] = *c;
	more[r->noutput++].name = copy(r, c->name);
}

static int
start(void *user, const qn_program *p, size_t *traced, char *why, size_t room)
{
	result *r = user;

	r->program = *p;
	r->program.name = copy(r, p->name);
	r->program.target = copy(r, p->target);
	return device_start(&r->device, p, traced, why, room);
}

static int
run(void *user, size_t sample, const void *in, size_t nin, void *answer, size_t n, char *why,
    size_t room)
{
	return device_run(&((result *)user)->device, sample, in, nin, answer, n, why, room);
}

static void
release(result *r)
{
	for (size_t i = 0; i < r->nstep; i++) {
		free((char *)r->step[i].name);
		free((char *)r->step[i].layers);
	}
	for (size_t i = 0; i < r->noutput; i++)
		free((char *)r->output[i].name);
	free((char *)r->program.name);
	free((char *)r->program.target);
	free(r->step);
	free(r->output);
	device_close(&r->device);
}

/* ---- text ---- */

static double
percent(uint64_t hits, uint64_t of)
{
	return of > 0 ? 100 * (double)hits / (double)of : 0;
}

static void
print_steps(const result *r, const qn_validation *v)
{
	if (v->traced == 0) {
		printf("steps        not compared: the device was built without %s\n",
		       "NAME_TRACE");
		return;
	}
	printf("steps        %zu of %zu equal\n", v->traced - v->wrong_steps, v->traced);
	for (size_t i = 0; i < r->nstep && i < MOST_STEPS; i++) {
		const qn_step_check *s = &r->step[i];

		printf("step %-7zu %s (%s) differs in %zu of %zu samples, from sample %zu on; "
		       "first "
		       "to differ in %zu\n",
		       s->index, s->name, s->layers, s->wrong, v->samples, s->first_sample,
		       s->leads);
	}
	if (r->nstep > MOST_STEPS)
		printf("… and %zu more steps; --json lists all\n", r->nstep - MOST_STEPS);
}

static void
print_text(const result *r, const qn_validation *v)
{
	printf("program      %s (%s), %zu step%s\n", r->program.name, r->program.target,
	       r->program.steps, r->program.steps == 1 ? "" : "s");
	printf("device       %s\n", r->device.command != NULL ? r->device.command : "this machine");
	printf("samples      %zu\n", v->samples);
	for (size_t i = 0; i < r->noutput; i++) {
		const qn_output_check *c = &r->output[i];

		printf("output       %s: %llu of %llu bytes equal, max error %.6g, RMSE %.6g, "
		       "cosine %.6f\n",
		       c->name, (unsigned long long)c->equal_bytes, (unsigned long long)c->bytes,
		       c->max_error, c->rmse, c->cosine);
	}
	if (v->labels > 0)
		printf("top1         device %.2f %%, interpreter %.2f %% (%llu and %llu of %llu)\n",
		       percent(v->device_hits, v->labels), percent(v->hits, v->labels),
		       (unsigned long long)v->device_hits, (unsigned long long)v->hits,
		       (unsigned long long)v->labels);
	print_steps(r, v);
	printf("result       %s\n", v->equal != 0 ? "equal" : "different");
}

/* ---- JSON ---- */

static void
print_json_outputs(const result *r, const qn_validation *v)
{
	for (size_t i = 0; i < r->noutput; i++) {
		const qn_output_check *c = &r->output[i];

		printf("%s\n    {\"name\": ", i > 0 ? "," : "");
		json_text(stdout, c->name);
		printf(", \"elements\": %llu, \"equal\": %llu, \"bytes\": %llu, \"equal_bytes\": "
		       "%llu, "
		       "\"max_error\": ",
		       (unsigned long long)c->elements, (unsigned long long)c->equal,
		       (unsigned long long)c->bytes, (unsigned long long)c->equal_bytes);
		json_number(stdout, c->max_error);
		printf(", \"rmse\": ");
		json_number(stdout, c->rmse);
		printf(", \"cosine\": ");
		json_number(stdout, c->cosine);
		if (c->first_sample < v->samples)
			printf(", \"first_sample\": %zu", c->first_sample);
		printf("}");
	}
}

static void
print_json_steps(const result *r)
{
	for (size_t i = 0; i < r->nstep; i++) {
		const qn_step_check *s = &r->step[i];

		printf("%s\n    {\"index\": %zu, \"name\": ", i > 0 ? "," : "", s->index);
		json_text(stdout, s->name);
		printf(", \"layers\": ");
		json_text(stdout, s->layers);
		printf(", \"samples\": %zu, \"first_sample\": %zu, \"leads\": %zu}", s->wrong,
		       s->first_sample, s->leads);
	}
}

static void
print_json(const result *r, const qn_validation *v)
{
	printf("{\"quern_validate\": 1, \"version\": \"%s\", \"program\": ", qn_version());
	json_text(stdout, r->program.name);
	printf(", \"target\": ");
	json_text(stdout, r->program.target);
	printf(", \"content\": \"%08x\", \"samples\": %zu, \"equal\": %s,\n  \"outputs\": [",
	       (unsigned)r->program.content, v->samples, v->equal != 0 ? "true" : "false");
	print_json_outputs(r, v);
	printf("],\n  \"steps\": {\"count\": %zu, \"compared\": %zu, \"different\": [",
	       r->program.steps, v->traced);
	print_json_steps(r);
	printf("]}");
	if (v->labels > 0)
		printf(",\n  \"top1\": {\"samples\": %llu, \"device\": %llu, \"interpreter\": "
		       "%llu}",
		       (unsigned long long)v->labels, (unsigned long long)v->device_hits,
		       (unsigned long long)v->hits);
	printf("}\n");
}

/* ---- the command ---- */

static qn_status
finish(result *r, const qn_validation *v)
{
	char why[REASON] = "";

	if (r->out_of_memory) {
		fprintf(stderr, "quern validate: out of memory\n");
		return QN_ENOMEM;
	}
	if (device_finish(&r->device, why, sizeof why) != 0) {
		fprintf(stderr, "%s: error: %s [validate.device]\n", r->program.name, why);
		return QN_EIO;
	}
	if (r->o->json)
		print_json(r, v);
	else
		print_text(r, v);
	return v->equal != 0 ? QN_OK : QN_EACCURACY;
}

static qn_status
validate(qn_ctx *ctx, const options *o, result *r)
{
	const qn_device d = {.size = sizeof d, .start = start, .run = run, .user = r};
	sample_list data = {0};
	qn_array *labels = NULL;
	qn_validation v;

	qn_status status = program_load_samples(ctx, o, o->ndata, o->data, &data);
	if (status == QN_OK)
		status = program_check_used(o, &data, NULL);
	if (status == QN_OK && o->labels != NULL)
		status = qn_labels_open(ctx, o->labels, o->label_column,
					data.n > 0 ? data.array[0] : NULL, &labels);
	const qn_validate_opts opts = {.size = sizeof opts,
				       .name = o->name,
				       .labels = labels,
				       .step = add_step,
				       .output = add_output,
				       .user = r};
	if (status == QN_OK)
		status = qn_validate(ctx, o->model, data.n, data.array, &opts, &d, &v);
	return status == QN_OK ? finish(r, &v) : status;
}

int
cmd_validate(const options *o)
{
	result r = {.o = o,
		    .device = {.command = o->device,
			       .folder = o->model,
			       .time_limit = o->time_limit > 0 ? o->time_limit : TIME_LIMIT}};

	if (o->ndata == 0) {
		fprintf(stderr, "quern validate: missing option: --data FILE\ntry: quern validate "
				"--help\n");
		return QN_EUSAGE;
	}
	if (o->label_column != NULL && o->labels == NULL) {
		fprintf(stderr, "quern validate: --label-column '%s' is for --labels FILE.csv\n",
			o->label_column);
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	if (ctx == NULL)
		return 1;
	const qn_status status = validate(ctx, o, &r);
	release(&r);
	return program_close(ctx, status);
}
