/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - gives the symbols of a symbolic graph values: runs its float graph on samples,
 * observes each value that a quantize takes, and chooses a range by a method (calibrate/method.h).
 *
 *   new ──start──▶ statistics ──observe (each pass)──▶ find ──▶ bind
 *                     └── written, read, merged (calibrate/statistics.h) ──┘ */
#ifndef QN_CALIBRATE_CALIBRATE_H
#define QN_CALIBRATE_CALIBRATE_H

#include "calibrate/callback.h"
#include "calibrate/dataset.h"
#include "calibrate/encodings.h"
#include "ir/mask.h"
#include "calibrate/statistics.h"

/* A quantize. */
typedef struct qn_use {
	const qn_node *quantize;
	const struct qn_use *next;
} qn_use;

/* A symbol whose range is wanted, and the quantizes that share it: all that they quantize is
 * observed as one.  A symbol with a scale for each channel has a watch for each of them, one after
 * the other. */
typedef struct qn_watch {
	const qn_node *quantize; /* the first one, of a variable value if there is one */
	const qn_symbol *sym;
	const char *name;  /* of the symbol, and "[3]" of channel 3: in statistics and messages */
	const char *value; /* name of what it quantizes */
	int64_t channel;   /* -1: all elements */
	qn_mask mask;      /* the least of all */
	const qn_use *use; /* all quantizes, constants' too, in the order of the graph */
} qn_watch;

/* A value that is observed for a watch. */
typedef struct qn_observation {
	size_t watch;
	int32_t axis;                /* of the watch's channel */
	size_t number;               /* among all */
	struct qn_observation *next; /* of the same value */
} qn_observation;

typedef struct qn_calibration {
	qn_model *m;
	const qn_graph *g;         /* the symbolic graph */
	const qn_graph *real;      /* its float graph */
	const qn_id *map;          /* id -> id of `real` */
	const qn_mask *mask;       /* by id of g */
	qn_observation **by_value; /* by id of `real` */
	size_t nlook;
	qn_watch *watch; /* in the order of their first quantize */
	size_t nwatch;
	qn_watch *constant; /* symbols of constants alone */
	size_t nconstant;
} qn_calibration;

/* Where statistics come from, in words that are compared when they are merged. */
typedef struct qn_samples_id {
	size_t n;
	const char *const *name;    /* "calib.npy:1f0c3a55", one per input */
	const qn_prep *const *prep; /* what they went through, one per input; NULL: not known */
	uint32_t hash;              /* of the model */
} qn_samples_id;

typedef struct qn_calib_opts {
	qn_method_opts method;             /* method NULL: minmax */
	const qn_statistics *observed;     /* instead of samples; complete, and of this model */
	const qn_calib_callback *callback; /* of patterns that find their symbols themselves */
	size_t ncallback;
	bool warn_few; /* of ranges that still grow (growth.h) */
	/* parameters that stand; not with callbacks or searches; NULL: none */
	const qn_encodings *given;
	/* values with fixed parameters are quantized while samples run */
	bool keep_fixed;
} qn_calib_opts;

/* The float graph of one with quantize and dequantize nodes: they become their operand,
 * everything is inferred again.  map: id -> id.  all false: only those whose parameters are symbols;
 * the rest of the graph stays quantized. */
qn_status qn_erase_quantization(qn_model *m, const qn_graph *g, bool all, qn_graph **out,
				qn_id **map) QN_MUST_CHECK;

/* The float graph to compare the values of g, the model's entry, with: that before repairs, if there were
 * some; its nodes are found by name, map is 0 for those that repairs added.  repair.unknown: repairs were
 * made before the model was saved. */
qn_status qn_float_reference(qn_model *m, const qn_graph *g, const qn_graph **out,
			     const qn_id **map) QN_MUST_CHECK;

/* What to do where samples are missing, for messages: of a model that reads tokens, how to make them of a text. */
const char *qn_samples_advice(const qn_model *m);
/* Binds every symbol of the model: those of constants from the constants, the others from the
 * samples.  Warns of a range that is 0 (calibrate.zero-range; idle.c).  data may be NULL when only
 * constants have symbols, or the method needs none; calibrate.no-data otherwise, encodings.missing
 * with opts->given, which binds first. */
qn_status qn_calibrate_model(qn_model *m, qn_dataset *data,
			     const qn_calib_opts *opts) QN_MUST_CHECK;

/* ---- the same in steps ---- */

/* Whether the model is at a stage that is calibrated; reports (pass.stage). */
qn_status qn_calibration_check_stage(const qn_model *m) QN_MUST_CHECK;
/* Finds what has to be observed.  Ids: pass.stage, calibrate.shared. */
qn_status qn_calibration_new(qn_model *m, qn_calibration **out) QN_MUST_CHECK;
/* Fills watch and constant of c, whose graphs are set (watch.c). */
qn_status qn_calibration_watch_all(qn_calibration *c) QN_MUST_CHECK;
/* One more symbol to be observed; c has room for it. */
void qn_calibration_watch(qn_calibration *c, const qn_watch *like);
/* Statistics that have seen nothing yet.  histograms: also for methods that need none. */
qn_statistics *qn_calibration_start(const qn_calibration *c, const qn_method_opts *method,
				    const qn_dataset *data, const qn_samples_id *id,
				    bool histograms);
/* Batches span.first … span.last - 1 of the current pass, none of which was observed before. */
qn_status qn_calibration_observe(const qn_calibration *c, qn_dataset *data, qn_span span,
				 qn_statistics *s) QN_MUST_CHECK;
/* All passes from where s stands. */
qn_status qn_calibration_finish(const qn_calibration *c, qn_dataset *data,
				qn_statistics *s) QN_MUST_CHECK;
/* Whether s is of this model (stats.mismatch otherwise). */
qn_status qn_calibration_check(const qn_calibration *c, uint32_t hash,
			       const qn_statistics *s) QN_MUST_CHECK;
/* The ranges, one a watch, in the model's arena.  Ids: calibrate.nonfinite, calibrate.zero-point,
 * stats.incomplete, stats.pass. */
qn_status qn_calibration_find(const qn_calibration *c, const qn_statistics *s,
			      qn_finding **out) QN_MUST_CHECK;
/* Gives values that are 0 on all samples the scale of what they are added to (idle.c). */
void qn_calibration_idle(const qn_calibration *c, const qn_finding *found);
/* The parameters of a finding for its value. */
void qn_finding_params(const qn_watch *w, const qn_finding *f, double *scale, int64_t *zp);
qn_status qn_calibration_bind(const qn_calibration *c, const qn_finding *f) QN_MUST_CHECK;
/* The same, and each callback binds its partitions' symbols after it, in the order of the graph. */
qn_status qn_calibration_call_back(const qn_calibration *c, const qn_finding *found,
				   qn_dataset *data, const qn_calib_opts *o) QN_MUST_CHECK;
/* Binds the symbol of watch i, which has channels, to a scale for each and one zero point for all. */
qn_status qn_channels_bind(const qn_calibration *c, const qn_finding *f, size_t i) QN_MUST_CHECK;

/* ---- the method of each value (choose.c) ---- */

/* The method of the options first, then those that a recipe gives to values. */
typedef struct qn_methods {
	size_t n;
	const char **text; /* as qn_symbol's; text[0] is NULL */
	qn_method_opts *opts;
} qn_methods;

qn_status qn_methods_of(const qn_calibration *c, const qn_method_opts *o,
			qn_methods *out) QN_MUST_CHECK;
/* stats.method when there are others than the first: statistics hold one. */
qn_status qn_methods_only_one(const qn_calibration *c, const qn_methods *methods) QN_MUST_CHECK;
/* The findings of all values, each by its method.  observed: instead of samples, for the first
 * method.  Ids: calibrate.no-data, calibrate.zero-point, stats.method, those of
 * qn_calibration_find. */
qn_status qn_methods_find(const qn_calibration *c, qn_dataset *data, const qn_statistics *observed,
			  const qn_methods *methods, qn_finding **out) QN_MUST_CHECK;
/* Adds the searches of methods to the callbacks of o (calibrate.no-data). */
qn_status qn_methods_search(const qn_calibration *c, const qn_dataset *data, qn_methods *methods,
			    qn_calib_opts *o) QN_MUST_CHECK;

/* Constants of zeros, but for weights, are exact in any scale: with this one what they are added to or compared with
 * has the coarser one, unless its values are below 2^-9 in 16 bits; the arithmetic of both follows that. */
#define QN_SCALE_OF_ZEROS 0x1p-24

/* Binds the symbols of constants alone, from the constants; mse: by least squared error. */
qn_status qn_calibrate_constants(const qn_calibration *c, bool mse) QN_MUST_CHECK;

/* The range of the constants that share the watch's symbol with activations, and 0; false: there are
 * none. */
bool qn_constants_range(const qn_calibration *c, const qn_watch *w, double *lo, double *hi);

/* The symbol that a quantize node finds values for, NULL when its scale is not a single symbol. */
const qn_symbol *qn_symbol_to_calibrate(const qn_node *n);
/* Binds a symbol to the parameters of a range; warns when it is 0. */
qn_status qn_bind_range(qn_model *m, const qn_node *q, const qn_symbol *sym, double lo,
			double hi) QN_MUST_CHECK;

/* Where a bias in units of scale(x) * scale(w) would exceed 2^30, raises that channel's weight
 * scale until it is 2^30: it leaves room for the sum, and the weights of such a channel are tiny
 * against its bias.  real, map: as from qn_erase_quantization. */
qn_status qn_widen_bias_scales(qn_model *m, const qn_graph *g, const qn_graph *real,
			       const qn_id *map) QN_MUST_CHECK;

/* What a message calls the model: its stage, or "quantized" where it came so. */
const char *qn_stage_text(const qn_model *m);

#endif
