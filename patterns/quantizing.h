/* SPDX-License-Identifier: Apache-2.0 */
/* quantizing.h - what the quantize pass shares with the helpers of its callbacks (private to
 * quantize.c, expand.c and quantizing.c). */
#ifndef QN_PATTERNS_QUANTIZING_H
#define QN_PATTERNS_QUANTIZING_H

#include "patterns/kept.h"
#include "patterns/quantizer.h"

struct qn_quantizing {
	qn_model *m;
	qn_graph *dst;
	const qn_quant_opts *opts;
	const qn_graph *composite;
	const qn_match *inside;  /* the match of the pattern in the composite */
	const qn_id *arg;        /* composite value id -> value in dst, 0 for inner nodes */
	qn_quantizing_info info; /* opts as the host's callbacks see them */
};

/* The storage of activations that is that of the type; NULL: i8. */
static inline qn_storage
qn_storage_like(const qn_elem *e)
{
	if (e != NULL && e->bits > 8)
		return QN_STORAGE_I16;
	return e == NULL || e->is_signed ? QN_STORAGE_I8 : QN_STORAGE_U8;
}

/* quantize(x) with a fresh symbol, stored as activations are; bytes of a file with the parameters that it says. */
qn_id qn_quantize_real(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		       const qn_quant_opts *opts);

/* quantize(x) to i16 samples of sound. */
qn_id qn_quantize_pcm(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand);
/* quantize(x) to i16 values with the parameters that the features of node `sound` have; operand NULL: it is called as
 * its owner. */
qn_id qn_quantize_sound(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
			const qn_node *sound);

/* Whether the value is that of a dynamic_fake_quant, moved or not. */
bool qn_from_dynamic(const qn_graph *g, qn_id x);
/* x in 16 bits, as the operand of a dynamic_fake_quant; 0 after an error. */
qn_id qn_quantize_levels(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
			 const qn_quant_opts *opts);

/* Quantizes a call of a composite: its value; 0 after an error.  map: value of the graph of the
 * call -> value of dst. */
qn_id qn_quantize_call(qn_model *m, qn_matcher *s, qn_graph *dst, const qn_quant_opts *opts,
		       const qn_node *call, const qn_id *map);
bool qn_pattern_is_standard(const qn_qpattern *p);

/* ---- what loops carry (quantize_loops.c) ---- */

/* Whether the op carries values from one step of a loop to the next, or out of it. */
bool qn_carries(qn_op op);
/* Node `id` of g, whose op is one of these, in dst; map: the values of dst so far.  What is carried has
 * parameters of its own, the same in all steps; as: how it is kept for its readers, NULL: as the options say.
 * 0 after a report. */
qn_id qn_quantize_carried(qn_model *m, const qn_graph *g, qn_id id, qn_graph *dst, const qn_id *map,
			  const qn_kept *as, const qn_quant_opts *opts);

#endif
