/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h - the channels of an integer graph's values, one index each, and what is known of them.
 *
 *   %x  tensor<1x8x8x4x…>    channels 0 to 3     the last axis
 *   %y  tensor<1x10x…>       channels 4 to 13
 *
 * Values that are not followed (tuples, floats, more channels than are worth it) have no indices. */
#ifndef QN_PASSES_CHANNELS_H
#define QN_PASSES_CHANNELS_H

#include "ir/graph.h"

/* All integers from lo to hi. */
typedef struct qn_interval {
	int64_t lo, hi;
} qn_interval;

/* What an op does to channels. */
typedef enum qn_flow {
	QN_FLOW_OTHER, /* anything: nothing is known of its result, and it reads all of its operands */
	QN_FLOW_SAME,    /* channel c of the result depends on channel c of the operands alone */
	QN_FLOW_REGROUP, /* the same elements in other dims */
	QN_FLOW_CONCAT,
	QN_FLOW_LAYER, /* sums of products with constant weights */
} qn_flow;

/* A dense layer or a convolution with constant weights [out, …, depth]. */
typedef struct qn_summing {
	const qn_tensor *w, *bias; /* bias NULL: none */
	int64_t out, depth;        /* channels of the result; of the input, of one group */
	int64_t terms;             /* products of one result: depth times the size of the window */
	int64_t groups, zero;      /* zero: the input's zero point */
	int64_t least, most;       /* what the input's storage holds */
	bool padded;               /* some product is with padding, which counts as `zero` */
} qn_summing;

typedef struct qn_channels {
	const qn_graph *g;
	uint32_t *
		first; /* by node: the index of its channel 0; QN_NO_CHANNELS: it is not followed */
	size_t n;
	qn_flow *flow; /* by node */
	qn_interval *
		range; /* by channel, of all elements of it, for all inputs that the storage can hold */
	bool *known; /* by node: its ranges are not just those of its storage */
} qn_channels;

#define QN_NO_CHANNELS UINT32_MAX

/* The forward analysis, in the model's arena of temporary data. */
void qn_channels_of(qn_model *m, const qn_graph *g, qn_channels *out);

/* Channels of a value that is followed. */
static inline int64_t
qn_channel_count(const qn_graph *g, qn_id id)
{
	const qn_type *t = qn_graph_node(g, id)->type;

	return t->dim[t->rank - 1];
}

/* What the storage of an element can hold. */
qn_interval qn_storage_interval(const qn_elem *e);
/* What the node, which is a dense layer or a convolution, multiplies; false where its operands are not
 * of that kind or its sums may leave the accumulator. */
bool qn_summing_of(const qn_graph *g, const qn_node *n, qn_summing *out);
/* Which group of the input's channels output channel o reads. */
static inline int64_t
qn_summing_group(const qn_summing *l, int64_t o)
{
	return o / (l->out / l->groups);
}

/* What the op does to ranges. */
typedef enum qn_growth {
	QN_GROWS_UNKNOWN,
	QN_GROWS,   /* it never falls when its operands grow */
	QN_CORNERS, /* it grows or falls with each operand as long as the other stays */
	QN_OF_EACH  /* an element of the result depends on one element of the operand */
} qn_growth;
qn_flow qn_flow_of(const qn_graph *g, const qn_node *n, qn_growth *growth);

#endif
