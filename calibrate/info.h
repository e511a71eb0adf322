/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - what a calibration callback sees of its partition, and where it puts what it found.
 *
 *   float      x ──conv2d──▶ y                  what the float graph computes
 *   quantized  x ─q($x)─▶ x_q ─conv2d─▶ … ─dq─▶ y'       from the outputs of partitions calibrated before
 *
 * Partitions are calibrated in topological order.  Those before have their final values; a value
 * that needs a symbol of a later one is refused (calibrate.future).  In a loop a value is that of all
 * steps, and the quantized ones are computed from the float ones that the partition reads. */
#ifndef QN_CALIBRATE_INFO_H
#define QN_CALIBRATE_INFO_H

#include "calibrate/evaluate.h"
#include "ir/loops.h"
#include "quern/calibrate.h"

/* What a partition has set a symbol to, which another one may share. */
typedef struct qn_symbol_setting {
	const qn_part *part; /* the first */
	bool range;          /* as the range lo to hi, which others may widen */
	double lo, hi;
} qn_symbol_setting;

/* The whole of a calibration with callbacks: evaluators that all partitions share. */
typedef struct qn_info_graphs {
	qn_model *m;
	const qn_graph *g;              /* symbolic */
	const qn_id *map;               /* id -> id of the float graph */
	qn_dataset *data;               /* NULL: there are no samples */
	qn_evaluator *real, *quantized; /* NULL without samples */
	/* What the method of the options finds for a symbol of one pair; NULL: there is none.
	 * False: it saw nothing of this symbol. */
	bool (*method)(const void *user, const qn_symbol *sym, double *scale, int64_t *zp);
	const void *user;
	qn_map *given;  /* symbol -> qn_symbol_setting, of those that partitions have set */
	qn_loops loops; /* of g */
	uint32_t *uses; /* by id of a quantize that wants a symbol: quantizes that want this one */
	/* for the search for a partition's nodes, by id */
	bool *mark; /* all false between searches */
	qn_id *stack;
	uint64_t *looked; /* nodes that were looked at so far, in all searches */
} qn_info_graphs;

/* A quantize whose symbol the partition has to find.  Where pairs share a symbol, all have what was
 * set for one; ranges that were set for each are merged. */
typedef struct qn_info_pair {
	qn_id quantize;
	qn_symbol *sym;
	bool set;
	bool range; /* by a range of its own, lo to hi */
	double lo, hi;
	/* what was set */
	size_t n;
	const double *scale;
	const int64_t *zp;
} qn_info_pair;

struct qn_info {
	/* partitions with a callback: those before this one, all; for the progress */
	uint64_t done, total;
	const qn_info_graphs *graphs;
	const qn_part *part;
	qn_arena *arena;
	size_t npair;
	qn_info_pair *pair;
	size_t nin; /* the pairs' inputs first, in their order, then the composite's others */
	qn_id *in;
	size_t nouter;
	qn_id *outer; /* what comes from outside of the partition, once each */
	qn_id out;
	bool kept;         /* the outer inputs as the quantized graph computes them */
	qn_symbol *before; /* by pair: room for what an evaluation changes */
	/* by pair: the values of the last evaluation, whose plan may serve again */
	qn_symbol *planned;
	qn_arena *steps; /* of the last evaluation in a loop; NULL: there was none */
};

/* budget: bytes of values that are kept between evaluations. */
void qn_info_graphs_init(qn_info_graphs *s, qn_model *m, const qn_graph *g, const qn_graph *real,
			 const qn_id *map, qn_dataset *data, size_t budget, qn_arena *a);

/* A partition of the symbolic graph; calibrate.partition when its values are not there.  Symbols
 * that have values, those of constants, count as set. */
qn_status qn_info_new(const qn_info_graphs *s, const qn_part *part, qn_arena *a,
		      qn_info **out) QN_MUST_CHECK;

/* A value of one batch; valid until the next call.  QN_INFO_CODES, QN_INFO_OUTPUT and a QN_INFO_INPUT that
 * is computed inside of the partition need values for the partition's symbols: those of the trials, else
 * those that were set, else calibrate.future. */
qn_status qn_info_get(qn_info *i, qn_info_value what, size_t k, size_t batch, size_t ntrial,
		      const qn_symbol_value *trial, const qn_tensor **out) QN_MUST_CHECK;

/* The quantized value `id` of the partition, which is in a loop: of all steps, stacked (info_steps.c).  The partition's
 * symbols have the values of the evaluation. */
qn_status qn_info_steps(qn_info *i, qn_id id, size_t batch, const qn_tensor **out) QN_MUST_CHECK;

/* Gives a symbol of the partition its values.  calibrate.extra: it belongs to another one, or to
 * none; what qn_symbol_bind reports. */
qn_status qn_info_store(qn_info *i, const qn_symbol_value *value) QN_MUST_CHECK;

/* … those of a range of float values, or those that the method finds (calibrate.method: it finds
 * none). */
qn_status qn_info_store_range(qn_info *i, size_t k, double lo, double hi) QN_MUST_CHECK;
qn_status qn_info_store_default(qn_info *i, size_t k) QN_MUST_CHECK;

/* The first pair of a symbol (calibrate.extra: there is none); gives its symbol these values. */
qn_status qn_info_pair_of(qn_info *i, const char *symbol, qn_info_pair **out) QN_MUST_CHECK;
qn_status qn_info_bind(qn_info *i, const qn_info_pair *p, size_t n, const double *scale,
		       const int64_t *zp) QN_MUST_CHECK;
/* Whether pair k's symbol is that of another quantize of this partition before it, or of one
 * outside. */
bool qn_info_is_repeated(const qn_info *i, size_t k);
bool qn_info_is_shared(const qn_info *i, size_t k);
/* Whether the partition, or a quantize of it, runs once for each step of a loop. */
bool qn_info_is_in_loop(const qn_info *i);

/* Binds what was set; calibrate.missing names each symbol that was not, calibrate.shared one that
 * another partition has set to other values. */
qn_status qn_info_end(qn_info *i) QN_MUST_CHECK;

#endif
