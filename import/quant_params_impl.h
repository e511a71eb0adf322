/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params_impl.h - what finding the layers of quant_params.json and changing them share. */
#ifndef QN_IMPORT_QUANT_PARAMS_IMPL_H
#define QN_IMPORT_QUANT_PARAMS_IMPL_H

#include "formats/quant_params_read.h"
#include "ir/graph.h"

/* One layer of the text in the graph. */
typedef struct qn_params_target {
	qn_params_layer l;
	const char *name;
	qn_id node, weight, bias; /* 0: there is none */
} qn_params_target;

/* A text that is applied to a model: g becomes `to`. */
typedef struct qn_params_model {
	qn_params_text p;
	qn_model *m;
	const qn_graph *g;
	qn_graph *to;
	qn_id *map; /* of g's values */
	size_t n;
	qn_params_target *layer;
	size_t *of; /* by id, of products, weights and biases: the layer, from 1 */
} qn_params_model;

/* Fills in layer, n and of. */
qn_status qn_params_find_layers(qn_params_model *x) QN_MUST_CHECK;

#endif
