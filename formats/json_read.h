/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.h - what the readers of one model file share (private to json_*.c).
 *
 *   json_graph_read.c ─▶ model, symbols, parameters
 *     json_nodes.c    ─▶ one graph: names, order, nodes, outputs
 *       json_node.c   ─▶ one node by itself
 *       json_attrs.c  ─▶ one node's attributes (and their way back)
 *       json_facts.c  ─▶ what is known of a node, and parts (and their way back)
 *   json_model_facts.c ─▶ what is known of the model (and its way back)
 *       json_const.c  ─▶ one constant: inline, or in another file
 *       json_archive.c ─▶ one in an archive, as it is stored there */
#ifndef QN_FORMATS_JSON_READ_H
#define QN_FORMATS_JSON_READ_H

#include "formats/archive.h"
#include "formats/json_out.h"
#include "formats/json_tree.h"
#include "ir/graph.h"

typedef struct qn_json_reader {
	qn_model *m;
	qn_arena *tmp; /* the tree and all that is needed only while reading */
	qn_json_doc doc;
	const char *folder; /* NULL: no other files */
	qn_map files;       /* file name -> what it holds, once opened */
	qn_map broken; /* names of functions with errors: calls of these are skipped without a report */
} qn_json_reader;

/* Reports an error at v. */
void qn_json_error(qn_json_reader *r, const qn_json *v, const char *id, const char *fmt, ...)
	QN_PRINTF(4, 5);

/* The place of v in the model's arena, for nodes. */
const char *qn_json_at(qn_json_reader *r, const qn_json *v);

/* The type in the string v; NULL after reporting. */
const qn_type *qn_json_type(qn_json_reader *r, const qn_json *v);

/* A constant {"type", "data" | "file", "tensor"}; NULL after reporting. */
const qn_tensor *qn_json_const(qn_json_reader *r, const qn_json *v);
/* The numbers `data` of v, which is called `name` in messages, as a tensor of this type. */
const qn_tensor *qn_json_inline(qn_json_reader *r, const qn_json *v, const char *name,
				const qn_json *data, const qn_type *type);

/* Whether a file of this name is an archive whose tensors have layouts. */
bool qn_json_is_archive(const char *file);
qn_status qn_json_archive_open(qn_json_reader *r, const char *path,
			       qn_archive_data **out) QN_MUST_CHECK;
/* Its tensor of that name as it is stored, or where type (may be NULL) is of f32 elements, the values of
 * a quantized one; NULL after reporting. */
const qn_tensor *qn_json_archive_tensor(qn_json_reader *r, const qn_json *name,
					const qn_archive_data *d, const qn_type *type);

/* The attributes of node (v: its "attrs", or NULL); false after reporting all that is wrong. */
bool qn_json_attrs(qn_json_reader *r, const qn_json *node, const qn_json *v, const qn_opinfo *op,
		   qn_attrs *out);
/* The same for what is said of a graph, a text for each key; v may be NULL. */
void qn_json_graph_attrs(qn_json_reader *r, const qn_json *v, qn_graph *g);
void qn_json_put_graph_attrs(qn_json_out *o, const qn_graph *g);
/* Writes "attrs" unless all have their default. */
void qn_json_put_attrs(qn_json_out *o, const qn_attr_set_info *set, const qn_attrs *attrs);

/* A copy of the text at key, in the model's arena; NULL when it is not there or, after a report, is
 * empty or no text.  need: reports that it is missing. */
const char *qn_json_text(qn_json_reader *r, const qn_json *v, const char *key, bool need);
/* What is known of a node (docs/json-format.md), in the model's arena; v: the node.  NULL: nothing.
 * *ok becomes false after a report. */
const qn_facts *qn_json_facts(qn_json_reader *r, const qn_json *v, bool *ok);
void qn_json_put_facts(qn_json_out *o, const qn_facts *f);
/* The parts of a graph whose nodes have been read. */
void qn_json_parts(qn_json_reader *r, const qn_json *array, qn_graph *g);
void qn_json_put_parts(qn_json_out *o, const qn_graph *g);

/* What is known of the model: names in other tools' files, what was cut off, where its parameters come
 * from. */
void qn_json_model_facts(qn_json_reader *r);
void qn_json_put_model_facts(qn_json_out *o, const qn_model *m);

/* One graph, which is not yet part of the model; NULL after reporting.  name: when the file
 * gives none (NULL: it must). */
qn_graph *qn_json_graph(qn_json_reader *r, const qn_json *v, const char *name);

#endif
