/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy.h - what the files of the benchmark of accuracy share: networks, their samples, and what is measured. */
#ifndef QN_BENCH_ACCURACY_H
#define QN_BENCH_ACCURACY_H

#include "quern/graph.h"
#include "quern/tune.h"

typedef struct network {
	const char *name, *real,
		*quantized;           /* files in models/; quantized NULL: nobody quantized it */
	const char *samples, *labels; /* files in samples/; labels NULL: there are none */
	double zero, scale;           /* a sample's real value is (value - zero) * scale */
	size_t calib;                 /* samples that calibrate */
	const char *metric,
		*score; /* metric: of the rows; labels or the float model are the reference */
} network;

extern const network networks[];
extern const size_t nnetworks;
/* Whether it is the network before with another metric. */
int is_repeated(size_t i);

/* Samples first, first + 1 … of an array, as real values. */
typedef struct part {
	const qn_array *x;
	size_t first, each; /* elements of a sample */
	double zero, scale;
} part;

typedef struct session {
	qn_ctx *ctx;
	const char *folder;
	qn_compile_opts how;
} session;

typedef struct wanted {
	const char *metric;
	double value;
	const char *unit;
} wanted;

typedef struct figures {
	wanted real, made, other;
	qn_emit_info made_info, other_info;
} figures;

/* The parts of a network's samples. */
typedef struct parts {
	part first, rest;
	qn_array *calib, *test, *labels; /* labels NULL: there are none */
	size_t count;                    /* of test */
} parts;

/* Returns 1, after telling what went wrong. */
int fail(const session *s, const char *what);
qn_model *load_model(const session *s, const char *name);
int load_parts(const session *s, const network *n, parts *p);

/* A model, the integer model made by s->how, and another tool's, on the samples behind those that calibrate. */
int measure(const session *s, const network *n, const parts *p, const qn_array *labels, figures *f);
void print_figure(const wanted *w); /* as a cell of a table */

/* The recipe that qn_tune finds where all constants may have the bytes of int8 less 40 % of those of its weights, which are
 * twice what 4 bits save; decided on the samples that calibrate.  NULL: it failed. */
const char *find_recipe(session *s, const network *n, const parts *p, size_t int8_bytes,
			size_t int4_bytes);

/* accuracy_bars.c: one table of the networks whose name has the word in it. */
int bars(session *s, const char *word);

#endif
