/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - finding a recipe: for each layer the storage of its weights and activations, so that the
 * network is as accurate as it can be within given bytes and instructions, or as small as it can be
 * at a given accuracy (docs/tuning.md).
 *
 *   qn_compile_opts how = {.size = sizeof how, .calib = &calib, .ncalib = 1};
 *   qn_measure_opts by = {.size = sizeof by, .labels = labels};
 *   qn_tune_opts opts = {.size = sizeof opts, .compile = &how, .ndata = 1, .data = &samples,
 *                        .measure = &by, .target = "cortex-m4", .max_weight_bytes = 16384};
 *   qn_tuned best;
 *   qn_tune(m, &opts, print_point, NULL, &best);         best.recipe is the text of a recipe
 *
 * Candidates are chosen by what each layer costs alone (qn_analyze); then each of them is compiled
 * as a whole and measured.  The result depends on the model, the samples and the options alone. */
#ifndef QUERN_TUNE_H
#define QUERN_TUNE_H

#include "quern/measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to minimize where an accuracy is given. */
typedef enum qn_tune_cost {
	QN_TUNE_WEIGHTS = 0, /* bytes of all constants */
	QN_TUNE_ARENA = 1, /* bytes of the activation arena, with the kernels that need the least */
	QN_TUNE_INSTRUCTIONS = 2
} qn_tune_cost;

typedef struct qn_tune_opts { /* all zero: defaults, but for compile */
	size_t size;
	/* How candidates are compiled.  calib is needed; recipe, recipe_file, weights_type,
	 * weight_block, passes and stop_after must be 0.  weight_rounding and bias_correction are
	 * the repairs that candidates have; with equalize the best one is tried equalized, too.
	 * Repairs become rules of the recipes. */
	const qn_compile_opts *compile;
	/* Samples that candidates are measured on; ndata 0: those of calib. */
	size_t ndata;
	qn_array *const *data;
	/* labels, against, score, window: as in qn_measure; NULL, or without labels and against:
	 * the model itself is the reference.  target and top must be 0. */
	const qn_measure_opts *measure;
	/* What decides, of several outputs that of the worst: a name of qn_metric_name; NULL: auc with labels and a score, score-error
	 * with a score, top1 with labels, else agreement, sqnr where an output has one element. */
	const char *metric;
	/* 1: the least cost is wanted at which the metric is not worse than `threshold` */
	int has_threshold;
	double threshold;
	qn_tune_cost cost;
	/* What the C is written for, as in qn_emit_opts. */
	const char *target, *optimize;
	/* As in qn_stream: costs are those of the streamed network, whose outputs are those of the
	 * window; NULL: it is not streamed. */
	const char *stream;
	/* Budgets; 0: none. */
	size_t max_weight_bytes, max_arena_bytes;
	uint64_t max_instructions; /* estimated, of one inference */
	/* 1: candidates with 16-bit activations even without a budget for arena or instructions */
	int wide_activations;
	/* Files that are written after each candidate and at the end; NULL: they are not.
	 * Everything that was measured; the best recipe so far, and the front: the texts of
	 * qn_tuned. */
	const char *journal, *recipe_file, *front_file;
	/* Such files, of an earlier call or of shards: what they have is not measured again.  One
	 * of another model, other samples or options is QN_EUSAGE (tune.journal). */
	size_t nfrom;
	const char *const *from;
	/* Of `shards` parts of each round of candidates this one, from 1; 0: all.  The call ends
	 * where a candidate of another shard is missing: merge the journals and call again. */
	size_t shard, shards;
	/* Called before each candidate that is compiled; anything but 0 ends the search, and the
	 * result is the best so far.  NULL: not called. */
	int (*stop)(void *user);
	void *stop_user;
	size_t rounds; /* in which the best candidates are changed; 0: 3 */
} qn_tune_opts;

/* A candidate that was measured.  Texts live for the call. */
typedef struct qn_tune_point {
	size_t size;                        /* of the struct in this library */
	const char *recipe;                 /* JSON, without comments */
	qn_weight_rounding weight_rounding; /* repairs in the recipe */
	int bias_correction, equalize;
	size_t weight_bytes, arena_bytes;
	uint64_t instructions;
	double metric, sqnr; /* of all float outputs against the reference, in dB */
	int within;          /* the budgets and the threshold */
	int front;           /* none of those so far costs less and is better */
	int best;            /* of those so far */
	size_t number;       /* of candidates measured, this one included */
} qn_tune_point;
typedef void qn_tune_fn(void *user, const qn_tune_point *point);

/* The result.  Texts live as long as the model. */
typedef struct qn_tuned {
	const char *recipe; /* of the best one, with comments; NULL: none could be compiled */
	const char *front;  /* JSON (docs/quern-front.schema.json) */
	int complete;       /* 0: candidates of other shards are missing, or `stop` ended it */
	int within;         /* the best one is within budgets and threshold */
	size_t candidates;  /* measured */
	const char *metric, *unit; /* what decided */
	double real;               /* the metric of the float model */
	qn_tune_point best;
} qn_tuned;

/* Searches.  fn (may be NULL) is called for each candidate, in the order in which they are
 * measured; those of the journal first.  m is a float model and stays one.  If none is within
 * budgets and threshold, `out` says so.  Ids: tune.options, tune.metric, tune.journal,
 * tune.stage. */
QN_API qn_status qn_tune(qn_model *m, const qn_tune_opts *opts, qn_tune_fn *fn, void *user,
			 qn_tuned *out);

/* Writes the union of journals of one search.  Ids: tune.journal, tune.merge. */
QN_API qn_status qn_tune_merge(qn_ctx *ctx, size_t n, const char *const *journal, const char *to);

#ifdef __cplusplus
}
#endif
#endif
