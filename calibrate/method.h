/* SPDX-License-Identifier: Apache-2.0 */
/* method.h - how a range is chosen from what the observers saw: a table of methods, each a row.
 *
 *   "percentile:p=99.9"  ──qn_method_parse──▶  row "percentile", param {99.9}
 *   pass 0 over the samples, then plan() and another pass while the row requires one, then finish()
 *
 * finish sees one value at a time and is a function of what was observed alone, so values may be
 * finished in any order and side by side.  search begins with the findings of all values and sees
 * one partition at a time, in topological order. */
#ifndef QN_CALIBRATE_METHOD_H
#define QN_CALIBRATE_METHOD_H

#include "calibrate/observer.h"
#include "ir/graph.h"
#include "quern/calibrate.h"

enum { QN_METHOD_PARAMS = 3 };

/* What observers keep besides smallest and largest. */
enum {
	QN_OBSERVE_GRID = 1, /* the power-of-two histogram */
	QN_OBSERVE_PAIRS = 2 /* the range of each batch */
};

typedef struct qn_method_opts {
	const struct qn_method *method;
	double param[QN_METHOD_PARAMS];
	bool mse_weights; /* scales of constants by least squared error; else by their largest value */
} qn_method_opts;

/* One value, all its batches observed. */
typedef struct qn_seen {
	const qn_method_opts *opts;
	const qn_observer *o;
	uint64_t nbatch, batch; /* samples in one */
	bool symmetric;         /* the range will be [-t, t] */
	int64_t qmin, qmax;     /* of the storage */
	const char *name;       /* of its symbol, for methods of the host */
} qn_seen;

/* The range, or with `pair` the parameters themselves. */
typedef struct qn_finding {
	double lo, hi;
	bool pair;
	double scale;
	int64_t zp;
	const qn_observer *seen; /* what it was found from; NULL: no samples */
	double may_clip;         /* share of the elements that the method is to cut off */
	double growth;           /* by each further sample, as a share of it (growth.h) */
	uint64_t samples;        /* that it was found from */
	bool refused;            /* a method of the host failed, or set no range */
} qn_finding;

/* Of the elements of a value: methods with a guard cut off no more by default (clip=1), others are
 * warned of. */
#define QN_CLIP_MOST 0.01

typedef struct qn_param_row {
	const char *name; /* NULL: no further parameter */
	double otherwise, least, most;
	bool whole; /* an integer */
	bool silent; /* not printed where it has its default: it came later than texts of the method */
} qn_param_row;

typedef struct qn_method {
	const char *name;
	const char *help;  /* one line, with the parameters */
	unsigned observes; /* QN_OBSERVE_… */
	unsigned passes;   /* over the samples; 0: none are needed */
	qn_param_row param[QN_METHOD_PARAMS + 1];
	/* The bins of a pass (kind, n and where they lie; the caller has zeroed *out and gives it
	 * memory).  before: those of the pass before, NULL when a file is read.  NULL: no bins. */
	void (*plan)(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out);
	/* s->o->n > 0 unless passes is 0. */
	void (*finish)(const qn_seen *s, qn_arena *scratch, qn_finding *out);
	/* finish may cut off any share of the elements: clip.h keeps it to that of the parameter clip. */
	bool guarded;
	/* A calibration callback (callback.h) for every partition that has none of its own; opts:
	 * the qn_method_opts.  NULL: what finish found stays. */
	qn_status (*search)(void *opts, qn_info *info);
	/* What finish takes for a value, in steps as a run's are counted (docs/limits.md), where that is
	 * more than to look at what was seen a few times; NULL: it is not. */
	uint64_t (*cost)(const qn_seen *s);
} qn_method;

/* Checks desc and adds it to env->methods; memory from arena a, which must live as long as env.  Id:
 * method.register. */
qn_status qn_method_add(qn_env *env, qn_arena *a, const qn_method_desc *desc) QN_MUST_CHECK;
/* The method of the host with the n characters at name, or NULL; and method i. */
const qn_method *qn_method_of_host(const qn_env *env, const char *name, size_t n);
const qn_method *qn_method_host_row(const qn_env *env, size_t i);

/* Row i, NULL past the last. */
const qn_method *qn_method_row(size_t i);
/* NAME[:PARAM=VALUE,…]; NULL or "": minmax.  Ids: method.unknown, method.param, method.value. */
qn_status qn_method_parse(qn_env *env, qn_arena *a, const char *text,
			  qn_method_opts *out) QN_MUST_CHECK;
/* … of this place. */
qn_status qn_method_parse_at(qn_env *env, qn_arena *a, const char *place, const char *text,
			     qn_method_opts *out) QN_MUST_CHECK;
/* The same text for equal options: all parameters that are not silent, in the row's order. */
void qn_method_print(qn_buf *b, const qn_method_opts *o);

/* [-t, t] when symmetric, else [min, max] cut by it; t at most the largest |x|. */
void qn_finding_limit(const qn_seen *s, double t, qn_finding *out);
/* The range outside of which lies `outside` of the elements at most, on both sides together: edges of
 * the grid's bins.  s->o->has_grid. */
void qn_grid_range(const qn_seen *s, double outside, qn_finding *out);
/* Quantized values on the side of 0 that has more of them: 128 for i8 with values of both signs. */
int64_t qn_seen_levels(const qn_seen *s);

/* The finish, plan and search functions of the rows; what they do is in docs/calibration.md. */
void qn_finish_global(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_minmax(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_avgmax(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_avgmax_pr(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_ema(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_percentile(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_percentile_tvm(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_percentile_ort(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_kl(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_kl_tvm(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_kl_ort(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_finish_mse(const qn_seen *s, qn_arena *scratch, qn_finding *out);
void qn_plan_percentile_tvm(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out);
void qn_plan_percentile_ort(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out);
void qn_plan_kl(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out);
uint64_t qn_cost_kl(const qn_seen *s);
uint64_t qn_cost_kl_bins(const qn_seen *s);
uint64_t qn_cost_mse(const qn_seen *s);
qn_status qn_search_output_of(void *opts, qn_info *info) QN_MUST_CHECK;

#endif
