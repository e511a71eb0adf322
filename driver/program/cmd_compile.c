/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compile.c - quern compile: a float model and samples become integer-only C. */
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

static void
print_summary(qn_model *m, const char *folder, const char *name, const qn_emit_info *e)
{
	qn_model_info i = qn_model_describe(m);

	printf("model        %s\n", qn_model_name(m));
	for (size_t k = 0; k < i.inputs; k++)
		printf("input        %s : %s\n", qn_model_input_name(m, k), qn_model_input_type(m, k));
	for (size_t k = 0; k < i.outputs; k++)
		printf("output       %s : %s\n", qn_model_output_name(m, k), qn_model_output_type(m, k));
	printf("parameters   %llu\n", (unsigned long long)i.parameters);
	printf("MACs         %llu\n", (unsigned long long)i.macs);
	printf("weights      %zu bytes\n", e->weight_bytes);
	printf("scratch      %zu bytes (lower bound %zu)\n", e->scratch_bytes, e->scratch_lower_bound);
	printf("nodes        %zu in %zu steps\n", i.nodes, e->steps);
	printf("files        %s/%s.{h,c,report.json}, %s_weights.c, %s_selftest.c\n", folder, name, name, name);
}

static int
self_test_samples(const options *o)
{
	char *end;

	if (o->self_test == NULL)
		return 4;
	long n = strtol(o->self_test, &end, 10);
	if (*end == '\0' && end != o->self_test && n >= 0 && n <= 1000)
		return (int)n;
	fprintf(stderr, "quern compile: --self-test: '%s' is no number from 0 to 1000\n", o->self_test);
	return -1;
}

static qn_status
compile(qn_ctx *ctx, const options *o, int test_samples)
{
	qn_model *m = NULL;
	qn_array *calib[MAX_VALUES] = {0};
	const char *names[MAX_VALUES];
	qn_compile_opts opts;
	qn_emit_info info;
	const char *folder = o->nout > 0 ? o->out[0] : "out";
	qn_status status = program_compile_opts(ctx, o, calib, names, &opts);
	qn_status loaded = qn_load(ctx, o->model, &m); /* the model's problems too, whatever is wrong with the samples */

	if (status == QN_OK)
		status = loaded;
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	if (status != QN_OK)
		return status;
	if (o->stop_after != NULL)
		return qn_print(m, QN_FORMAT_IR, program_write_stdout, NULL);
	qn_emit_options emit = {.name = o->name, .test = calib, .ntest = test_samples > 0 ? (size_t)o->ncalib : 0, .test_samples = (size_t)test_samples};
	status = qn_emit(m, folder, &emit, &info);
	if (status == QN_OK)
		print_summary(m, folder, o->name != NULL ? o->name : qn_model_name(m), &info);
	return status;
}

int
cmd_compile(const options *o)
{
	int samples = self_test_samples(o);

	if (o->list_passes) {
		program_list_passes();
		return 0;
	}
	if (samples < 0)
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, compile(ctx, o, samples));
}
