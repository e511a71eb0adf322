/* SPDX-License-Identifier: Apache-2.0 */
/* conformance_integer.c - a case of ONNX's backend tests in integers.
 *
 *   graph @main(%x: …f32) …   ->  FOLDER/net.qir  ->  qn_compile, calibrated on the case's own input
 *                             ->  FOLDER/net.c, net_weights.c, net_selftest.c  ->  cc  ->  FOLDER/net
 *
 * The self-test holds the emitted C to the integer interpreter byte for byte, at each step. */
#include "tests/conformance_integer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/buf.h"
#include "ir/tensor.h"
#include "quern/measure.h"

const char *const integer_names[NINTEGER] = {"integer", "integer_far", "integer_refused",
					     "integer_fail"};

/* Largest error of an output that counts as near, as a part of its largest value.  One code is 1/255 of a range, and ops of
 * which a small input makes a large output (exp, 1/x, x^y) carry it on. */
static const double FAR = 0.15;

typedef struct job {
	qn_ctx *ctx;
	qn_model *m;
	qn_array *in[MAX_VALUES], *out[MAX_VALUES];
	size_t nin, nout;
	qn_activations storage;
	const char *folder;
	char *reason;
	size_t room;
} job;

static integer_verdict
said(const job *j, qn_status status)
{
	bool infinite = false;

	for (size_t i = 0; i < qn_diag_count(j->ctx); i++) {
		qn_diagnostic d = qn_diag_get(j->ctx, i);
		const char *last = strrchr(d.id, '.');

		if (d.severity != QN_ERROR)
			continue;
		(void)snprintf(j->reason, j->room, "%s: %s", d.id, d.message);
		infinite = last != NULL && strcmp(last, ".nonfinite") == 0; /* no range holds it */
		break;
	}
	return status == QN_EUNSUPPORTED || infinite ? INTEGER_REFUSED : INTEGER_FAIL;
}

static bool
write_graph(const qn_model *m, const char *path)
{
	qn_buf text;
	FILE *f = fopen(path, "wb");

	if (f == NULL)
		return false;
	qn_buf_init(&text, m->scratch);
	qn_model_print(&text, m);
	bool ok = fputs(qn_buf_str(&text), f) >= 0;
	return fclose(f) == 0 && ok;
}

/* The values of a run as arrays: f32 whatever float type the file had, plain integers as they are; one
 * without dimensions is one sample. */
static qn_status
give_inputs(job *j, const qn_tensor *const *in)
{
	static const int64_t one[1] = {1};

	for (size_t i = 0; i < j->nin; i++) {
		const qn_type *t = in[i]->type;
		const char *dtype = qn_plain_table[t->elem->plain].name;

		if (qn_type_count(t) < 1) {
			(void)snprintf(j->reason, j->room, "input %zu has no elements", i);
			return QN_EUNSUPPORTED;
		}
		if (qn_array_new(j->ctx, dtype, t->rank > 0 ? t->rank : 1,
				 t->rank > 0 ? t->dim : one, in[i]->data, &j->in[i]) != QN_OK)
			return QN_EINVALID;
	}
	return QN_OK;
}

/* The part of an output of plain elements that is not as it should be: places of equal codes, comparisons of near ones. */
static double
wrong_of(const qn_array *y, const qn_tensor *want)
{
	const char *have = qn_array_data(y), *should = want->data;
	int64_t n = qn_type_count(want->type), wrong = 0;
	size_t size = n > 0 ? want->bytes / (size_t)n : 0;

	for (int64_t i = 0; i < n; i++)
		wrong += memcmp(have + (size_t)i * size, should + (size_t)i * size, size) != 0;
	return n > 0 ? (double)wrong / (double)n : 0.0;
}

/* max |y - w| / max |w| over an output. */
static double
error_of(const qn_array *y, const qn_tensor *want)
{
	const float *have = qn_array_data(y);
	int64_t n = qn_type_count(want->type);
	double worst = 0.0, largest = 0.0;

	for (int64_t i = 0; i < n; i++) {
		double w = qn_tensor_f64(want, i);

		worst = fmax(worst, fabs((double)have[i] - w));
		largest = fmax(largest, fabs(w));
	}
	return largest > 0.0 ? worst / largest : worst;
}

/* A graph without f32 values has nothing that may differ. */
static integer_verdict
distance(job *j, const qn_tensor *const *want, bool real)
{
	double worst = 0.0;

	for (size_t k = 0; k < j->nout; k++) {
		const char *dtype = qn_array_dtype(j->out[k]);

		if (qn_type_is_f32(want[k]->type))
			worst = fmax(worst, error_of(j->out[k], want[k]));
		else if (strcmp(dtype, qn_plain_table[want[k]->type->elem->plain].name) == 0)
			worst = fmax(worst, wrong_of(j->out[k], want[k]));
		/* else the case has codes, which qn_run gave as real values */
	}
	(void)snprintf(j->reason, j->room, "within %.2g", worst);
	if (!real && worst > 0.0)
		return INTEGER_FAIL;
	return worst <= FAR ? INTEGER_PASS : INTEGER_FAR;
}

/* Compiles the C files and runs the self-test. */
static bool
self_test(const job *j)
{
	const char *cc = getenv("CC");
	char command[8192];

	(void)snprintf(
		command, sizeof command,
		"cd '%s' && %s -std=c99 -Wall -Wextra -Wpedantic -Werror -O1 -DNET_SELFTEST_MAIN "
		"net.c net_weights.c net_selftest.c -o net >log 2>&1 && ./net >>log 2>&1",
		j->folder, cc != NULL ? cc : "cc");
	return system(command) == 0;
}

static integer_verdict
run(job *j, const char *path, const qn_tensor *const *in, const qn_tensor *const *want)
{
	qn_compile_opts opts = {
		.size = sizeof opts, .calib = j->in, .ncalib = j->nin, .activations = j->storage};
	qn_emit_opts emit = {.size = sizeof emit, .name = "net", .test = j->in, .ntest = j->nin};
	qn_emit_info info;
	bool real = false;
	qn_status status = give_inputs(j, in);

	for (size_t i = 0; i < j->nin; i++)
		real = real || qn_type_is_f32(in[i]->type);
	for (size_t k = 0; k < j->nout; k++)
		real = real || qn_type_is_f32(want[k]->type);
	if (status == QN_OK)
		status = qn_load(j->ctx, path, &j->m);
	if (status == QN_OK && strcmp(qn_model_stage(j->m), "float") != 0)
		opts.activations = QN_ACTIVATIONS_I8; /* its file says how it is stored */
	if (status == QN_OK)
		status = qn_compile(j->m, &opts);
	if (status == QN_OK)
		status = qn_emit(j->m, j->folder, &emit, &info);
	if (status != QN_OK)
		return said(j, status);
	if (!self_test(j)) {
		(void)snprintf(j->reason, j->room, "see %s/log", j->folder);
		return INTEGER_FAIL;
	}
	status = qn_run(j->m, j->nin, j->in, 1, j->nout, j->out);
	if (status == QN_OK)
		return distance(j, want, real);
	/* A graph whose outputs are no batches has nothing that a run of batches could give. */
	return said(j, status) == INTEGER_REFUSED ? INTEGER_PASS : INTEGER_FAIL;
}

integer_verdict
integer_run(const qn_model *m, qn_activations storage, size_t nin, const qn_tensor *const *in,
	    size_t nout, const qn_tensor *const *want, const char *folder, char *reason,
	    size_t room)
{
	job j = {.storage = storage,
		 .nin = nin,
		 .nout = nout,
		 .folder = folder,
		 .reason = reason,
		 .room = room};
	char path[4096];

	(void)snprintf(reason, room, "cannot write into %s", folder);
	(void)snprintf(path, sizeof path, "%s/net.qir", folder);
	(void)mkdir(folder, 0777);
	j.ctx = qn_open(NULL);
	if (j.ctx == NULL || !write_graph(m, path)) {
		qn_close(j.ctx);
		return INTEGER_FAIL;
	}
	integer_verdict v = run(&j, path, in, want);
	qn_close(j.ctx);
	return v;
}
