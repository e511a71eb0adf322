/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - whole jobs on a small model, for tests that make one of a job's steps fail.
 *
 *   job_begin(&w, "memory");              a folder with net.json, w.safetensors, b.npy, x.npy, x.csv, p.pgm,
 *                                       net.tflite, net.onnx
 *   jobs[i].run(ctx, &w);                 writes below w.out and nowhere else
 *   job_check(&w, i, status);             what is there is what a job without faults leaves */
#ifndef QN_TESTS_JOB_H
#define QN_TESTS_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "quern/quern.h"

typedef struct workshop {
	char folder[64]; /* made by job_begin, removed by job_end */
	char out[80];    /* where jobs write */
	char text[4096]; /* scratch for paths */
	int fd;          /* the lowest that is free */
} workshop;

typedef struct job {
	const char *name;
	qn_status (*run)(qn_ctx *ctx, workshop *w);
	bool makes_folder; /* w->out is not there before and goes again with a failure */
} job;

/* job_compile.c */
qn_status job_emit(qn_ctx *ctx, workshop *w);
qn_status job_run(qn_ctx *ctx, workshop *w);
qn_status job_opt(qn_ctx *ctx, workshop *w);
qn_status job_equalize(qn_ctx *ctx, workshop *w);
qn_status job_widen(qn_ctx *ctx, workshop *w);
qn_status job_narrow(qn_ctx *ctx, workshop *w);
qn_status job_samples(qn_ctx *ctx, workshop *w);
qn_status job_stats(qn_ctx *ctx, workshop *w);

/* job_types.c */
qn_status job_blocks(qn_ctx *ctx, workshop *w);
qn_status job_solver(qn_ctx *ctx, workshop *w);
qn_status job_lower(qn_ctx *ctx, workshop *w);
qn_status job_validate(qn_ctx *ctx, workshop *w);

/* job_tune.c */
qn_status job_analyze(qn_ctx *ctx, workshop *w);
qn_status job_tune(qn_ctx *ctx, workshop *w);

extern const job jobs[];
extern const size_t njobs;
/* Where a job stands in jobs; njobs for an unknown name. */
size_t job_find(const char *name);

/* Also runs each job once and keeps its output as the measure. */
void job_begin(workshop *w, const char *name);
void job_end(workshop *w);
/* An empty w->out, or none. */
void job_clear(workshop *w, size_t i);
/* Fails the test unless every file in w->out is whole, all are there after QN_OK, and no file is
 * left open. */
void job_check(workshop *w, size_t i, qn_status status, const char *when);
/* The path of a file of w->folder, in w->text. */
const char *job_path(workshop *w, const char *name);
/* Writes a file of w->folder: head, then data. */
void job_put(workshop *w, const char *name, const char *head, size_t nhead, const void *data,
	     size_t n);

#endif
