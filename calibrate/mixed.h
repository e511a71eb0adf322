/* SPDX-License-Identifier: Apache-2.0 */
/* mixed.h - a network of which one layer is quantized and the others are float, or the other way round.
 *
 *   float        x ─▶ a ─▶ b ─▶ c ─▶ y              quantized    x ─▶ A ─▶ B ─▶ C ─▶ y
 *   b alone      a ─▶ B ─▶ c ─▶ y                   without b    A ─▶ b ─▶ C ─▶ y
 *
 * A function that is infinite or undefined somewhere is limited to the values that it is quantized to.  So are the
 * float ones: what comes before may reach such places with its error, and the integer network has no infinity.
 *
 * It begins at the values of the rest before the layer, which are the same for every other such network: they
 * are computed once (evaluate.h). */
#ifndef QN_CALIBRATE_MIXED_H
#define QN_CALIBRATE_MIXED_H

#include "calibrate/network_layers.h"

/* A network as a float and as a quantized graph. */
typedef struct qn_two_forms {
	const qn_graph *symbolic; /* its ids are those of layers and of `quantized` */
	const qn_graph *
		quantized; /* its symbols have values, what depends on constants alone is constant */
	const qn_graph *real; /* float */
	const qn_id *map;     /* ids of `symbolic` -> of `real`; 0: it is not there */
} qn_two_forms;

/* The quantized graph of a symbolic one whose symbols are bound. */
qn_status qn_two_forms_quantize(const qn_graph *symbolic, qn_arena *a,
				const qn_graph **out) QN_MUST_CHECK;

/* The quantized result of a function that is not finite everywhere, as log at 0, which quantized operands reach: its
 * quantize, which limits it; 0 of other values. */
qn_id qn_two_forms_limited(const qn_two_forms *two, qn_id id);

typedef struct qn_mixed {
	qn_graph *g; /* its outputs are the wanted values, its inputs … */
	size_t nsource;
	qn_id *source; /* … these values of the rest, in order */
} qn_mixed;

/* quantized: the rest is, and the layer is float; else the layer is quantized.  want: values of the rest's graph. */
qn_status qn_mixed_make(const qn_two_forms *two, const qn_network_layer *l, bool quantized,
			size_t nwant, const qn_id *want, qn_arena *a, qn_mixed *out) QN_MUST_CHECK;

#endif
