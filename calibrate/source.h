/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - samples of one input, by index: in memory, or read on demand.
 *
 *   file, folder, host ──▶ source ──scaled──▶ source ──converted──▶ source ──▶ dataset (calibrate/dataset.h)
 *
 * A source is never changed after it was made, so that several threads may fetch from it. */
#ifndef QN_CALIBRATE_SOURCE_H
#define QN_CALIBRATE_SOURCE_H

#include "ir/graph.h"
#include "ir/prep.h"

/* Which shapes of an input a source's samples fit. */
typedef enum qn_fit {
	QN_FIT_SHAPE, /* its own, or one that differs in dims of 1: [28,28,1] for [28,28] */
	QN_FIT_COUNT  /* all of as many elements: the source knows no shape */
} qn_fit;

typedef struct qn_source {
	const qn_type *type; /* of all samples: dimension 0 counts them */
	const char *name;    /* the file or folder, for messages */
	const char *read_as; /* " (a table …)", for messages on its shape; NULL: nothing */
	const char *input;   /* the model's input that it is for; NULL: by order */
	bool must;           /* input was said by the user: it has to be there */
	qn_fit fit;
	const qn_tensor *tensor; /* all samples, where they lie in memory; else NULL */
	/* Sample `index` into dst (qn_source_bytes).  tmp: for the time of the call. */
	qn_status (*fetch)(const struct qn_source *s, size_t index, qn_arena *tmp, void *dst);
	const char *const *path;       /* a file for each sample, for messages; else NULL */
	const qn_prep *prep;           /* what its values went through; NULL: nothing */
	const qn_type *stored;         /* its type before that; NULL: the same */
	const struct qn_source *whole; /* samples that these are the steps of; NULL: none */
	const int64_t *label;          /* a class for each sample; else NULL */
	size_t nclass;                 /* of labels that have names */
	const char *const *class_name;
	const void *user;
} qn_source;

size_t qn_source_count(const qn_source *s);
size_t qn_source_bytes(const qn_source *s); /* of one sample */
/* "file", or "folder/file" of a sample. */
const char *qn_source_place(const qn_source *s, size_t index);

/* The samples of a tensor of rank 1 or more. */
qn_source *qn_source_tensor(qn_arena *a, const qn_tensor *x, const char *name);

/* With qn_prep; s itself when it is not given.  Id: data.channels. */
qn_status qn_source_scaled(qn_types *t, qn_arena *a, const qn_source *s, const qn_prep *p,
			   const qn_source **out) QN_MUST_CHECK;
/* f64 samples as f32. */
const qn_source *qn_source_real(qn_types *t, qn_arena *a, const qn_source *s);
/* f32 or f64 samples, quantized to a uniform element type. */
const qn_source *qn_source_quantized(qn_types *t, qn_arena *a, const qn_source *s,
				     const qn_elem *e);

/* All samples as a tensor in the arena. */
qn_status qn_source_load(const qn_source *s, qn_arena *a, const qn_tensor **out) QN_MUST_CHECK;

#endif
