/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - what a calibration has observed of all values: it can be written, read, added up
 * and taken to the next pass, so that parts of the samples may be observed anywhere.
 *
 *   batches 0 … 24 ──▶ s1 ─┐
 *   batches 25 … 49 ─▶ s2 ─┴─merge──▶ all ──(methods of several passes: next)──▶ findings
 *
 * Everything in it is exact and independent of the order, so parts make the same whole however the
 * samples were dealt out.  The file is described in docs/calibration.md. */
#ifndef QN_CALIBRATE_STATISTICS_H
#define QN_CALIBRATE_STATISTICS_H

#include "calibrate/method.h"
#include "ir/prep.h"

typedef struct qn_span { /* batches first … last - 1 */
	uint64_t first, last;
} qn_span;

typedef struct qn_value_stats {
	const char *name; /* of the symbol, without '$' */
	bool symmetric;
	int64_t qmin, qmax;
	qn_observer o;
} qn_value_stats;

typedef struct qn_statistics {
	const char *model; /* its name, for messages */
	uint32_t hash;     /* of the symbolic model's content */
	qn_method_opts method;
	size_t ndata;
	const char *const *data; /* "calib.npy:1f0c3a55": name and CRC-32 of each input's samples */
	const qn_prep *const *prep; /* what these went through, NULL: nothing; NULL: not known */
	uint64_t nbatch, batch;     /* of the whole data set; samples in a batch */
	unsigned pass;              /* from 0 */
	size_t nspan;
	const qn_span *span; /* observed in this pass; ascending, with gaps between */
	size_t n;
	qn_value_stats *value;
} qn_statistics;

/* What a finish function gets of value i. */
qn_seen qn_statistics_seen(const qn_statistics *s, size_t i);
/* Samples of which all of this pass were observed. */
bool qn_statistics_complete(const qn_statistics *s);
/* The bins of pass s->pass, empty.  before: the bins of the pass before, by value; NULL when they
 * are not known. */
void qn_statistics_plan(qn_statistics *s, qn_arena *a, const qn_bins *before);
/* … and what they take. */
uint64_t qn_statistics_plan_bytes(const qn_statistics *s);
/* On to the next pass.  Ids: stats.incomplete, stats.done. */
qn_status qn_statistics_next(qn_env *env, qn_arena *a, qn_statistics *s) QN_MUST_CHECK;
/* Reports that batches are missing (stats.incomplete) or a further pass (stats.pass). */
qn_status qn_statistics_check_done(qn_env *env, const qn_statistics *s) QN_MUST_CHECK;
/* Adds `from`, called `name` in messages, which stays as it is.  Ids: stats.mismatch,
 * stats.overlap. */
qn_status qn_statistics_merge(qn_env *env, qn_arena *a, qn_statistics *into, const char *name,
			      const qn_statistics *from) QN_MUST_CHECK;

/* The checksum at the end of a file. */
typedef enum qn_seal { QN_SEAL_WHOLE, QN_SEAL_BROKEN, QN_SEAL_NONE } qn_seal;

qn_seal qn_statistics_sealed(const char *text, size_t n);
/* Writes it into the text of a file; false when that has no place for one. */
bool qn_statistics_seal(char *text, size_t n);

/* The file.  Ids: stats.checksum, stats.size, stats.version, stats.value, stats.mismatch, those of JSON and of
 * the method. */
void qn_statistics_print(qn_buf *b, const qn_statistics *s);
qn_status qn_statistics_read(qn_env *env, qn_arena *a, const char *file, const char *text, size_t n,
			     qn_statistics **out) QN_MUST_CHECK;

#endif
