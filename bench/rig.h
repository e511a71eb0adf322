/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - what the measurements share: a graph under construction, ready to run, and a clock.
 *
 *   bench b;
 *   bench_begin(&b, &oom);                  where to jump to without memory
 *   bench_prepare(&b, some_op(&b.k, …), 1);
 *   seconds = bench_smallest(bench_run, &b); */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include <setjmp.h>

#include "bench/networks.h"
#include "calibrate/observer.h"
#include "ir/diag.h"
#include "runtime/interp.h"

typedef struct bench {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	maker k;
	qn_interp *in;
	const qn_tensor *x;
	size_t bundle;
	qn_observer *seen; /* by value id */
} bench;

void bench_begin(bench *b, jmp_buf *oom);
/* y: the graph's output; most: batches in a bundle. */
void bench_prepare(bench *b, qn_id y, size_t most);

/* Runs work until 0.25 s have passed, at least three times; the smallest time in seconds. */
double bench_smallest(void (*work)(void *), void *arg);

/* One batch of a bench. */
void bench_run(void *b);

#endif
