/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_model.h - bytes as a model file through the public interface: all passes on made-up samples, one run,
 * the emitted texts.
 *
 * A model that would compute for long is left alone: its size says nothing about its defects.
 * The file that includes this first defines _POSIX_C_SOURCE (getpid, unlink). */
#ifndef QN_TESTS_FUZZ_MODEL_H
#define QN_TESTS_FUZZ_MODEL_H

#include "tests/fuzz/fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

#include "codegen/emit.h"
#include "driver/context.h"
#include "quern/measure.h"

enum { MOST_INPUTS = 4, MOST_ELEMENTS = 1 << 14, MOST_MACS = 1 << 20, MOST_NODES = 200 };

/* How a model is read and compiled; all zero: as by default. */
typedef struct fuzz_how_to {
	qn_import_opts read;
	qn_compile_opts compile;
	const char *then; /* passes that change no value, run after; NULL: none */
} fuzz_how_to;

/* end: of the file's name, ".json". */
static inline qn_status
fuzz_load(qn_ctx *ctx, const char *end, const uint8_t *data, size_t size, const fuzz_how_to *how,
	  qn_model **m)
{
	char path[64];

	snprintf(path, sizeof path, "/tmp/quern-fuzz-%ld%s", (long)getpid(), end);
	FILE *f = fopen(path, "wb");
	FUZZ_CHECK(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
	qn_status status = qn_import(ctx, path, &how->read, m);
	FUZZ_CHECK(unlink(path) == 0);
	return status;
}

static inline bool
fuzz_is_small(const qn_model *m)
{
	for (size_t i = 0; i < m->ngraph; i++) {
		const qn_graph *g = m->graph[i];

		if (g->n > MOST_NODES || m->ngraph > 4)
			return false;
		for (qn_id id = 1; id < g->n; id++)
			if (!qn_graph_node(g, id)->type->is_tuple &&
			    qn_type_count(qn_graph_node(g, id)->type) > MOST_ELEMENTS)
				return false;
	}
	return qn_model_describe(m).macs <= MOST_MACS;
}

/* Ones and minus ones for each input, in floats; false when there are too many of them or an
 * input's size is not known. */
static inline bool
fuzz_samples(qn_ctx *ctx, const qn_model *m, qn_array **x)
{
	const qn_graph *g = qn_model_entry(m);
	float v[MOST_ELEMENTS];

	for (int i = 0; i < MOST_ELEMENTS; i++)
		v[i] = (float)(i * 37 % 128) / 64.0f - 1.0f;
	if (g->ninput > MOST_INPUTS)
		return false;
	for (size_t k = 0; k < g->ninput; k++) {
		const qn_type *t = qn_graph_node(g, g->input[k])->type;

		if (qn_type_count(t) < 0 ||
		    qn_array_new(ctx, "f32", t->rank, t->dim, v, &x[k]) != QN_OK)
			return false;
	}
	return true;
}

typedef struct fuzz_emission {
	qn_model *m;
} fuzz_emission;

static inline qn_status
fuzz_emit(void *arg, qn_arena *a)
{
	qn_model *m = ((fuzz_emission *)arg)->m;
	qn_emitted file[QN_EMITTED_FILES];
	qn_plan *plan;

	QN_TRY(qn_plan_make(qn_model_entry(m), "fuzzed", &(qn_plan_opts){.target = qn_target_at(0)},
			    a, &plan));
	return qn_emit_c(plan, &(qn_emit_style){"", 0, .proof = true, .shared_kernels = true}, NULL,
			 a, file);
}

/* Compiles; a failure is reported. */
static inline bool
fuzz_compile(qn_ctx *ctx, qn_model *m, const qn_compile_opts *opts)
{
	const qn_status status = qn_compile(m, opts);

	FUZZ_CHECK(status != QN_EINTERNAL);
	FUZZ_CHECK(status == QN_OK || qn_diag_count(ctx) > 0);
	return status == QN_OK;
}

/* Runs once; false: it cannot. */
static inline bool
fuzz_infer(qn_model *m, qn_array *const *x, qn_array **y)
{
	const qn_graph *g = qn_model_entry(m);

	return g->noutput <= MOST_INPUTS && qn_run(m, g->ninput, x, 1, g->noutput, y) == QN_OK;
}

static inline size_t
fuzz_bytes(const qn_array *x)
{
	const char *type = qn_array_dtype(x);
	size_t n = strcmp(type, "bool") == 0
			   ? 1
			   : strtoul(type + strcspn(type, "0123456789"), NULL, 10) / 8;

	for (int i = 0; i < qn_array_rank(x); i++)
		n *= (size_t)qn_array_dim(x, i);
	return n;
}

/* Passes that change no value leave all outputs as they were. */
static inline void
fuzz_change(qn_ctx *ctx, qn_model *m, const fuzz_how_to *how, qn_array *const *x,
	    qn_array *const *before)
{
	qn_compile_opts opts = how->compile;
	qn_array *after[MOST_INPUTS] = {0};

	opts.passes = how->then;
	opts.stop_after = NULL;
	if (!fuzz_compile(ctx, m, &opts))
		return;
	FUZZ_CHECK(fuzz_infer(m, x, after));
	for (size_t k = 0; k < qn_model_entry(m)->noutput; k++) {
		const size_t n = fuzz_bytes(before[k]);

		FUZZ_CHECK(n == fuzz_bytes(after[k]) &&
			   memcmp(qn_array_data(before[k]), qn_array_data(after[k]), n) == 0);
	}
}

static inline void
fuzz_work(qn_ctx *ctx, qn_model *m, const fuzz_how_to *how)
{
	qn_compile_opts opts = how->compile;
	qn_array *x[MOST_INPUTS] = {0};
	qn_array *y[MOST_INPUTS] = {0};

	if (!fuzz_is_small(m) || !fuzz_samples(ctx, m, x))
		return;
	(void)fuzz_infer(m, x, y);
	opts.calib = x;
	opts.ncalib = qn_model_entry(m)->ninput;
	if (!fuzz_compile(ctx, m, &opts))
		return;
	if (fuzz_infer(m, x, y) && how->then != NULL)
		fuzz_change(ctx, m, how, x, y);
	const qn_status status = qn_guard_model(m, fuzz_emit, &(fuzz_emission){m});
	FUZZ_CHECK(status != QN_EINTERNAL);
	FUZZ_CHECK(status == QN_OK || qn_diag_count(ctx) > 0);
}

/* The whole job: load, run, compile, emit. */
static inline void
fuzz_model_run_as(const char *end, const uint8_t *data, size_t size, const fuzz_how_to *how)
{
	size_t live = 0;
	qn_ctx *ctx = qn_open(&(qn_config){.alloc = fuzz_alloc, .alloc_user = &live});
	qn_model *m = NULL;

	FUZZ_CHECK(ctx != NULL);
	if (fuzz_load(ctx, end, data, size, how, &m) == QN_OK)
		fuzz_work(ctx, m, how);
	else
		FUZZ_CHECK(qn_diag_count(ctx) > 0);
	qn_close(ctx);
	FUZZ_CHECK(live == 0);
}

static inline void
fuzz_model_run(const char *end, const uint8_t *data, size_t size)
{
	fuzz_model_run_as(end, data, size, &(fuzz_how_to){0});
}

#endif
