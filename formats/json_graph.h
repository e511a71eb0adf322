/* SPDX-License-Identifier: Apache-2.0 */
/* json_graph.h - models as JSON, at every stage, without loss (docs/json-format.md,
 * docs/quern-model.schema.json). */
#ifndef QN_FORMATS_JSON_GRAPH_H
#define QN_FORMATS_JSON_GRAPH_H

#include "formats/json_out.h"
#include "ir/graph.h"

/* Reads `path` into the empty model m.  Tensors in other files (safetensors, npy) are found
 * beside it.  All problems are reported, with "file:/json/pointer" as place.  Ids:
 * json.syntax, json.key.duplicate, json.key.unknown, json.key.missing, json.kind, json.version,
 * json.cycle, tensor.missing, tensor.type, tensor.nonfinite, and those of the types and shape
 * rules. */
qn_status qn_json_read(qn_model *m, const char *path) QN_MUST_CHECK;

/* The same from bytes; folder: where other files are looked for, with its '/', or NULL: such
 * references are errors. */
qn_status qn_json_parse(qn_model *m, const char *file, const char *folder, const char *s,
			size_t n) QN_MUST_CHECK;

typedef struct qn_json_opts {
	const char *
		/* constants of more than inline_limit elements are referred to in this
		 * safetensors file; NULL: all inline */
		weights_file;
	int64_t inline_limit; /* 0: 16 */
	/* only what says what is computed, no facts: equal for models that compute alike */
	bool values_only;
	/* with the CRC-32 of each constant in that file, which reading compares */
	bool seal;
} qn_json_opts;

/* The model's text, one line per node.  weights: receives the safetensors file's bytes when
 * opts->weights_file is set. */
void qn_json_print(qn_buf *b, const qn_model *m, const qn_json_opts *opts, qn_buf *weights);

/* "pruned": what the pass prune removed, where it removed something; also for the report. */
void qn_json_put_pruned(qn_json_out *o, const qn_model *m);
/* "widened": the layers that got 16-bit activations; also for the report. */
void qn_json_put_widened(qn_json_out *o, const qn_model *m);
/* "repaired": the layers that the pass repair looked at; also for the report. */
void qn_json_put_repaired(qn_json_out *o, const qn_model *m);
/* "streamed": the hops that a network takes; also for the report. */
void qn_json_put_streamed(qn_json_out *o, const qn_model *m);

#endif
