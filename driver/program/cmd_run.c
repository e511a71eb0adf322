/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - quern run: results of a model on samples. */
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "quern/measure.h"
#include "traced.h"

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
	if (status == QN_OK)
		status = program_stream(o, m);
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
	size_t lines = 0;
	status = qn_run_traced(m, in.n, in.array, o->real, nout, out,
			       o->trace_ops ? program_print_traced : NULL, &lines);
	if (status == QN_OK && o->trace_ops && lines == 0)
		fprintf(stderr,
			"quern run: --trace-ops: the graph has no trace op that an output depends "
			"on (docs/ir.md)\n");
	if (status == QN_OK && o->nout > 0)
		return qn_arrays_save(ctx, nout, (const qn_array *const *)out, o->out);
	for (size_t k = 0; status == QN_OK && k < nout; k++)
		print_result(m, k, out[k]);
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
		fprintf(stderr, "quern run: -o '%s': results are NumPy files: FILE.npy\n",
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
