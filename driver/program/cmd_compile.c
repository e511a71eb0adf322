/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compile.c - quern compile: a float model and samples become integer-only C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "networks.h"
#include "program.h"

static void
print_summary(qn_model *m, const char *folder, const qn_emit_info *e, const qn_emit_opts *opts,
	      const qn_model_info *window)
{
	qn_model_info i = qn_model_describe(m);
	const bool has_samples = opts->ntest > 0;
	const bool has_test = opts->no_self_test == 0 && (has_samples || opts->drawn_test != 0);

	printf("model        %s\n", qn_model_name(m));
	for (size_t k = 0; k < i.inputs; k++)
		printf("input        %s : %s\n", qn_model_input_name(m, k),
		       qn_model_input_type(m, k));
	for (size_t k = 0; k < i.outputs; k++)
		printf("output       %s : %s\n", qn_model_output_name(m, k),
		       qn_model_output_type(m, k));
	printf("parameters   %llu\n", (unsigned long long)i.parameters);
	printf("MACs         %llu\n", (unsigned long long)i.macs);
	if (i.states > window->states)
		printf("window       %llu MACs without states\n", (unsigned long long)window->macs);
	if (i.pruned > 0)
		printf("pruned       %llu channels of %zu layers: %llu bytes of weights, %llu "
		       "MACs\n",
		       (unsigned long long)i.pruned_channels, i.pruned,
		       (unsigned long long)i.pruned_bytes, (unsigned long long)i.pruned_macs);
	if (i.widened > 0)
		printf("widened      %zu layer%s 16-bit activations\n", i.widened,
		       i.widened > 1 ? "s have" : " has");
	if (i.repairable > 0)
		printf("repaired     %zu of %zu layers: mean SQNR of their outputs %.2f dB, before "
		       "%.2f "
		       "dB\n",
		       i.repaired, i.repairable, i.sqnr_after, i.sqnr_before);
	printf("weights      %zu bytes\n", e->weight_bytes);
	if (i.states > 0)
		printf("state        %llu bytes, %zu values\n", (unsigned long long)i.state_bytes,
		       i.states);
	printf("arena        %zu bytes (at least %zu with these kernels)\n", e->scratch_bytes,
	       e->scratch_lower_bound);
	if (opts->target != NULL && strcmp(opts->target, "generic") != 0 &&
	    strcmp(e->instructions_of, "generic") == 0)
		printf("instructions about %llu on a Cortex-M4 with the portable kernels (%s: not "
		       "counted)\n",
		       (unsigned long long)e->instructions, opts->target);
	else
		printf("instructions about %llu (figures of %s)\n",
		       (unsigned long long)e->instructions, e->instructions_of);
	printf("nodes        %zu in %zu step%s: %s\n", i.nodes, e->steps, e->steps == 1 ? "" : "s",
	       qn_model_kinds(m));
	if (!has_test)
		printf("self-test    none%s\n",
		       has_samples || opts->no_self_test != 0
			       ? ""
			       : " (it needs samples: --calib; --self-test 4 draws them)");
	else if (!has_samples)
		printf("self-test    %zu sample%s of pseudo-random values\n", opts->test_samples,
		       opts->test_samples == 1 ? "" : "s");
	printf("files        %s/%s%s\n", folder, e->name, e->files);
}

/* An integer from 0 to most; `otherwise` when the option is not there, -1 after a message. */
static long
number(const char *option, const char *text, long otherwise, long most)
{
	char *end;

	if (text == NULL)
		return otherwise;
	long n = strtol(text, &end, 10);
	if (*end == '\0' && end != text && n >= 0 && n <= most)
		return n;
	char range[48];

	(void)snprintf(range, sizeof range, "an integer from 0 to %ld", most);
	(void)program_bad_value(option, text, range);
	return -1;
}

/* The model o->model, compiled. */
static qn_status
load_and_compile(qn_ctx *ctx, const options *o, sample_list *calib, qn_model **m,
		 qn_model_info *window)
{
	qn_compile_opts opts;
	qn_status status = program_compile_opts(ctx, o, calib, &opts);
	qn_status loaded = program_load_model(
		ctx, o, m); /* the model's problems too, whatever is wrong with the samples */

	if (status == QN_OK)
		status = program_check_used(o, calib, NULL);
	if (status == QN_OK)
		status = loaded;
	return status == QN_OK ? program_compile(o, *m, &opts, window) : status;
}

static qn_emit_opts
emit_options(const options *o, const sample_list *calib, const qn_emit_opts *numbers)
{
	qn_emit_opts emit = *numbers;

	emit.name = o->name;
	emit.target = o->emit_target;
	emit.constants = o->constants;
	emit.optimize = o->optimize;
	emit.explain = o->explain_kernels != 0 ? program_write_stdout : NULL;
	emit.proof = o->proof;
	emit.validation = o->validation;
	emit.shared_kernels = o->shared_kernels || o->narg > 0;
	emit.test = calib->array;
	emit.ntest = calib->n;
	emit.no_self_test = emit.test_samples == 0;
	emit.drawn_test = o->self_test != NULL;
	return emit;
}

static qn_status
emit(qn_model *m, const char *folder, const qn_emit_opts *opts, const qn_model_info *window,
     qn_emit_info *info)
{
	qn_status status = qn_emit(m, folder, opts, info);

	if (status == QN_OK)
		print_summary(m, folder, info, opts, window);
	return status;
}

static qn_status
compile(qn_ctx *ctx, const options *o, const char *folder, const qn_emit_opts *numbers)
{
	qn_model *m = NULL;
	sample_list calib = {0};
	qn_model_info window;
	qn_emit_info info;
	qn_status status = load_and_compile(ctx, o, &calib, &m, &window);

	if (status != QN_OK)
		return status;
	if (o->stop_after != NULL)
		return qn_print(m, QN_FORMAT_IR, program_write_stdout, NULL);
	const qn_emit_opts opts = emit_options(o, &calib, numbers);
	return emit(m, folder, &opts, &window, &info);
}

static int
discard(void *user, const char *name, const char *text, size_t n)
{
	(void)user;
	(void)name;
	(void)text;
	(void)n;
	return 0;
}

/* The models of the command line, compiled, and what emitting each would write: its budgets are kept
 * and its name is that of no other. */
static qn_status
prepare_all(qn_ctx *ctx, const options *o, const qn_emit_opts *numbers, qn_model **m,
	    qn_emit_info *info, qn_model_info *window)
{
	qn_status status = QN_OK;

	for (size_t i = 0; status == QN_OK && i <= (size_t)o->narg; i++) {
		options one = *o;
		sample_list none = {0};
		qn_emit_opts opts = emit_options(o, &none, numbers);

		one.model = i == 0 ? o->model : o->arg[i - 1];
		opts.explain = NULL;
		status = load_and_compile(ctx, &one, &none, &m[i], &window[i]);
		if (status == QN_OK)
			status = qn_emit_to(m[i], &opts, discard, NULL, &info[i]);
		if (status == QN_OK)
			status = networks_check_name(info, i);
	}
	return status;
}

/* Several models: nothing is written before all of them can be. */
static qn_status
compile_all(qn_ctx *ctx, const options *o, const char *folder, const qn_emit_opts *numbers)
{
	const size_t n = 1 + (size_t)o->narg;
	qn_model **m = calloc(n, sizeof *m);
	qn_emit_info *info = calloc(n, sizeof *info);
	qn_model_info *window = calloc(n, sizeof *window);
	const sample_list none = {0};
	qn_emit_opts opts = emit_options(o, &none, numbers);
	qn_status status = m != NULL && info != NULL && window != NULL
				   ? prepare_all(ctx, o, numbers, m, info, window)
				   : QN_ENOMEM;

	for (size_t i = 0; status == QN_OK && i < n; i++) {
		opts.name = info[i].name; /* a second warning would say nothing new */
		printf("%s", i > 0 ? "\n" : "");
		status = emit(m[i], folder, &opts, &window[i], &info[i]);
	}
	if (status == QN_OK)
		status = networks_write(ctx, folder, info, n);
	if (status == QN_OK)
		printf("\nnetworks     %s/networks.h, .c: all of them, each kernel once\n", folder);
	free(m);
	free(info);
	free(window);
	return status;
}

/* The folder is there before the work: what is wrong with it is said at once. */
static int
compile_into(const options *o, const qn_emit_opts *numbers)
{
	const char *folder = o->output != NULL ? o->output : "out";
	const bool writes = o->stop_after == NULL;
	output_folder made = {0};
	qn_ctx *ctx = program_open(o);

	if (ctx == NULL)
		return 1;
	signals_folder(&made);
	qn_status status = writes ? output_folder_make(folder, &made) : QN_OK;
	if (status == QN_OK)
		status = o->narg > 0 ? compile_all(ctx, o, folder, numbers)
				     : compile(ctx, o, folder, numbers);
	signals_folder(NULL);
	if (status != QN_OK)
		output_folder_drop(&made);
	return program_close(ctx, status);
}

int
cmd_compile(const options *o)
{
	const long samples = number("--self-test", o->self_test, 4, 1000);
	uint64_t scratch, weights, ram;
	const bool sizes = program_read_size("--max-arena", o->max_arena, 1, 1024, &scratch) &&
			   program_read_size("--max-weights", o->max_weights, 1, 1024, &weights) &&
			   program_read_size("--max-ram", o->max_ram, 1, 1024, &ram);

	if (samples < 0 || !sizes)
		return QN_EUSAGE;
	qn_emit_opts numbers = {.test_samples = (size_t)samples,
				.max_arena_bytes = (size_t)scratch,
				.max_weight_bytes = (size_t)weights,
				.max_ram_bytes = (size_t)ram};

	if (o->list_passes) {
		program_list_passes();
		return 0;
	}
	if (o->narg > 0 && networks_check_options(o) != 0)
		return QN_EUSAGE;
	return compile_into(o, &numbers);
}
