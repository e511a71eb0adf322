/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - quern run and quern eval: results and accuracy of a model on samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* ---- run ---- */

static void
print_result(const qn_model *m, size_t k, const qn_array *y)
{
	printf("%s : %s[", qn_model_output_name(m, k), qn_array_dtype(y));
	for (int i = 0; i < qn_array_rank(y); i++)
		printf(i > 0 ? ",%lld" : "%lld", (long long)qn_array_dim(y, i));
	printf("]\n");
}

static qn_status
run(qn_ctx *ctx, const options *o)
{
	qn_model *m;
	sample_list in = {0};
	qn_array *out[MAX_VALUES] = {0};
	qn_status status = program_load_model(ctx, o, &m);
	qn_status loaded = program_load_samples(ctx, o, o->narg, o->arg, &in);

	if (status == QN_OK)
		status = loaded;
	if (status == QN_OK)
		status = program_check_used(o, &in, NULL);
	if (status != QN_OK)
		return status;
	size_t nout = qn_model_describe(m).outputs;
	if (nout > MAX_VALUES) {
		fprintf(stderr,
			"quern run: the model has %zu outputs; at most %d can be run here\n", nout,
			(int)MAX_VALUES);
		return QN_EUNSUPPORTED;
	}
	if (o->nout > 0 && (size_t)o->nout != nout) {
		fprintf(stderr,
			"quern run: outputs of the model: %zu, files given with -o: %d; give one "
			"for each output, in order\n",
			nout, o->nout);
		return QN_EUSAGE;
	}
	status = qn_run(m, in.n, in.array, o->real, nout, out);
	for (size_t k = 0; status == QN_OK && k < nout; k++) {
		if (o->nout > 0)
			status = qn_array_save(out[k], o->out[k]);
		else
			print_result(m, k, out[k]);
	}
	return status;
}

/* Results are NumPy files; 0 or 2 after a message. */
static int
check_outputs(const options *o)
{
	for (int i = 0; i < o->nout; i++) {
		size_t n = strlen(o->out[i]);

		if ((n > 4 && strcmp(o->out[i] + n - 4, ".npy") == 0) ||
		    strncmp(o->out[i], "/dev/", 5) == 0)
			continue;
		fprintf(stderr, "quern run: -o '%s': results are NumPy files, called FILE.npy\n",
			o->out[i]);
		return QN_EUSAGE;
	}
	return 0;
}

int
cmd_run(const options *o)
{
	if (check_outputs(o) != 0)
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, run(ctx, o));
}

/* ---- eval ---- */

static double
percent(const qn_accuracy *a)
{
	return a->samples > 0 ? 100.0 * (double)a->correct / (double)a->samples : 0.0;
}

static void
print_accuracy(const char *what, const qn_accuracy *a)
{
	printf("%-12s %6.2f %%  (%llu of %llu)\n", what, percent(a), (unsigned long long)a->correct,
	       (unsigned long long)a->samples);
}

/* Compiles as far as real values stand beside quantized ones, and compares them there. */
static qn_status
measure(qn_model *m, const sample_list *data, qn_compile_opts *opts)
{
	qn_noise n;

	opts->stop_after = "bind";
	qn_status status = qn_compile(m, opts);
	if (status == QN_OK)
		status = qn_measure_noise(m, data->n, data->array, &n);
	if (status == QN_OK)
		printf("%-12s %6.2f dB (mean of %zu values; least %.2f dB, %s)\n", "sqnr", n.mean,
		       n.values, n.least, n.worst != NULL ? n.worst : "-");
	/* what these options changed is in the model now; asked for again they would be late */
	*opts = (qn_compile_opts){.rounding = opts->rounding,
				  .no_approx = opts->no_approx,
				  .merge_always = opts->merge_always,
				  .require_int = opts->require_int,
				  .align = opts->align,
				  .print_after = opts->print_after,
				  .print = opts->print};
	return status;
}

/* The graph as it is, and, when it is not integer yet, the integer graph made from it. */
static qn_status
eval(qn_ctx *ctx, const options *o, double gate)
{
	qn_model *m;
	sample_list data = {0};
	sample_list calib = {0};
	qn_array *labels = NULL;
	qn_compile_opts opts;
	qn_accuracy a;
	qn_status status = program_compile_opts(ctx, o, &calib, &opts);
	const qn_status loaded[] = {
		program_load_samples(ctx, o, o->ndata, o->data, &data),
		program_load_labels(ctx, o->labels, &labels),
		program_load_model(ctx, o, &m),
		program_check_used(o, &data, &calib),
	};

	for (size_t i = 0; i < sizeof loaded / sizeof loaded[0]; i++)
		if (status == QN_OK)
			status = loaded[i];
	if (status == QN_OK)
		status = qn_evaluate(m, data.n, data.array, labels, &a);
	if (status != QN_OK)
		return status;
	print_accuracy(qn_model_stage(m), &a);
	if (program_has_ranges(o) && strcmp(qn_model_stage(m), "integer") != 0) {
		status = o->sqnr ? measure(m, &data, &opts) : QN_OK;
		if (status == QN_OK)
			status = qn_compile(m, &opts);
		if (status == QN_OK)
			status = qn_evaluate(m, data.n, data.array, labels, &a);
		if (status != QN_OK)
			return status;
		print_accuracy(qn_model_stage(m), &a);
	}
	if (percent(&a) < gate) {
		fprintf(stderr, "quern eval: accuracy %.2f %% is below --min-accuracy %.2f\n",
			percent(&a), gate);
		return QN_EACCURACY;
	}
	return QN_OK;
}

int
cmd_eval(const options *o)
{
	double gate = 0;
	char *end = NULL;

	if (o->ndata == 0) {
		fprintf(stderr,
			"quern eval: --data is needed, and --labels unless it is a folder of "
			"classes\ntry: quern eval --help\n");
		return QN_EUSAGE;
	}
	if (o->min_accuracy != NULL)
		gate = strtod(o->min_accuracy, &end);
	if (end != NULL &&
	    (end == o->min_accuracy || *end != '\0' || !(gate >= 0 && gate <= 100))) {
		fprintf(stderr, "quern eval: --min-accuracy: '%s' is no number from 0 to 100\n",
			o->min_accuracy);
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, eval(ctx, o, gate));
}
