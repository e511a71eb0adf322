/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - graphs: building one value by value, reading one, the table of operators.
 *
 *   qn_model *m;
 *   qn_status s = qn_model_new(ctx, "net", &m);
 *   qn_graph *g = qn_model_main(m);
 *   qn_id x = qn_add_input(g, "image", "tensor<1x8x8x1xf32>");
 *   qn_id w = qn_add_const(g, "w", weights);                    a qn_array of shape 4x3x3x1
 *   qn_id y = qn_add_op(g, "conv2d", "conv", 2, (qn_id[]){x, w}, "padding=same", NULL);
 *   s = qn_add_output(g, "features", y);
 *
 * Operators, types and attributes are texts, as docs/ir.md and docs/types.md have them.  A
 * function that adds returns 0 after reporting an error, and so does one that is passed a 0 (an
 * array that is NULL), without a report: only the last result needs to be checked. */
#ifndef QUERN_GRAPH_H
#define QUERN_GRAPH_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A float model whose one graph, "main", is empty. */
QN_API qn_status qn_model_new(qn_ctx *ctx, const char *name, qn_model **out);
/* The entry graph; lives until the next pass. */
QN_API qn_graph *qn_model_main(qn_model *m);

/* ---- build ----
 *
 * Names are unique in a graph: one that is taken becomes NAME_1, NAME_2, …; NULL: the operator's
 * name and a number. */

/* type: "tensor<1x8x8x1xf32>" (docs/types.md). */
QN_API qn_id qn_add_input(qn_graph *g, const char *name, const char *type);
/* Copies the array; its element type is the constant's. */
QN_API qn_id qn_add_const(qn_graph *g, const char *name, const qn_array *value);
/* op: a name of qn_supported_op; its n inputs in the order of docs/ir.md.  attrs: "stride=[2,2],
 * padding=same", NULL: defaults.  type: of the result where the operator does not derive it
 * (quantize, cast …), else NULL. */
QN_API qn_id qn_add_op(qn_graph *g, const char *op, const char *name, size_t n, const qn_id *in,
		       const char *attrs, const char *type);
/* QN_EINVALID: the value is 0, or another output has the name. */
QN_API qn_status qn_add_output(qn_graph *g, const char *name, qn_id value);

/* ---- read ---- */

/* Number of values of a graph: they are 1 … n. */
QN_API size_t qn_graph_size(const qn_graph *g);

typedef struct qn_value_info {
	const char *name, *op; /* op "input" or "const": no inputs */
	size_t nin;
	const qn_id *in;
	int rank;             /* -1: not known, or a tuple */
	const int64_t *shape; /* rank dims; -1: dynamic */
	/* const: the elements, row-major, of `bytes` bytes, not aligned; else NULL */
	const void *data;
	size_t bytes;
} qn_value_info;

/* What value v is; all members live as long as the graph.  op is NULL when the graph has no value
 * v. */
QN_API qn_value_info qn_value(const qn_graph *g, qn_id v);
/* The value of this name, or 0. */
QN_API qn_id qn_value_find(const qn_graph *g, const char *name);
/* Type and attributes as qn_add_op takes them; texts live as long as the model; NULL when out of
 * memory. */
QN_API const char *qn_value_type(qn_graph *g, qn_id v);
QN_API const char *qn_value_attrs(qn_graph *g, qn_id v);

/* ---- operators ---- */

typedef struct qn_op_support {
	const char *name;
	int float32; /* 1: has a float kernel (f32) */
	int int8;    /* 1: has an integer kernel for signed 8-bit values */
	int uint8;   /* … for unsigned 8-bit values */
	int int16;   /* … for 16-bit values */
	int emitted; /* 1: its integer kernel can be emitted as C */
} qn_op_support;

/* Operator i of the built-in table; name NULL after the last.  Structure (input, const, call …)
 * is left out. */
QN_API qn_op_support qn_supported_op(size_t i);

/* An operator of another tool's files that qn_load takes (docs/importing.md). */
typedef struct qn_source_op {
	const char *format;        /* "ONNX" or "TFLite" */
	const char *domain, *name; /* domain "": the format's own; "Conv", "CONV_2D" */
	int min, max; /* versions of ONNX's operator set; max 0: the newest.  TFLite: 0, 0 */
} qn_source_op;

/* Operator i, by format, domain and name, versions rising; name NULL after the last.  ONNX is
 * left out where the library was built without it. */
QN_API qn_source_op qn_supported_source_op(size_t i);

#ifdef __cplusplus
}
#endif
#endif
