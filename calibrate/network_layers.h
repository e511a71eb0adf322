/* SPDX-License-Identifier: Apache-2.0 */
/* network_layers.h - the matches of quantizer patterns (qn_part) by the layers of the source that their
 * nodes stand for.
 *
 *   conv1, bn1     one match            %conv1 = … conv2d …
 *   lstm           305 matches          %lstm_5 = … dense …   %lstm_10 = … sigmoid …   %lstm_13 = … mul …
 *
 * Matches whose nodes stand for the same layers are one layer here: a file's recurrent layer, say, which was
 * unrolled. */
#ifndef QN_CALIBRATE_NETWORK_LAYERS_H
#define QN_CALIBRATE_NETWORK_LAYERS_H

#include "ir/graph.h"

/* Values are ids of the symbolic graph, each once, in ascending order where nothing else is said. */
typedef struct qn_network_layer {
	const char *
		name; /* a rule of a recipe with this name matches all of it, and of the others as few as can be */
	qn_layers source; /* the layers of the file; none: `name` is all that is known */
	size_t nout;
	qn_id *out; /* what the matches give, in the order of the graph */
	size_t nin;
	qn_id *in; /* values that they take, but constants; not quantized, the same in the float graph */
	size_t nconstant;
	qn_id *constant; /* f32 constants that they take */
	size_t nexit;
	qn_id *exit; /* of `out`: those that other layers take, or are outputs */
	size_t nnode;
	qn_id *node; /* between the values that a match takes and the one that it gives */
	qn_id core;  /* the node with the most multiplications; else that of the last match */
} qn_network_layer;

typedef struct qn_network_layers {
	size_t n;
	qn_network_layer *layer; /* by their first nodes */
	size_t *owner;           /* by id: the layer that it is a node of, from 1; 0: none */
} qn_network_layers;

/* map: ids of g -> of its float graph, 0: it is not there.  Matches without an f32 result, or that do not
 * compute anything, are left out. */
qn_network_layers qn_network_layers_find(const qn_graph *g, const qn_id *map, qn_arena *a);

/* The layers whose results layer k takes, as they are or moved by ops that no pattern matched; ascending. */
size_t *qn_network_layers_before(const qn_graph *g, const qn_network_layers *all, size_t k,
				 qn_arena *a, size_t *n);

/* What recipes call a node: an accumulator is named after the node of the float graph, "conv1.acc". */
const char *qn_layer_node_name(const qn_node *n, qn_arena *a);

#endif
