/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write.h - a graph as an ONNX file: what the files of the writer share.
 *
 *   onnx_write.c   names, initializers, nodes and attributes of the file
 *   onnx_write_params.c  scales, zero points, limits
 *   onnx_settle.c  the graph as it is written: quantized values wherever that is exact
 *   onnx_axes.c   which values have their channels first in the file
 *   onnx_value.c   float and quantized values under their names
 *   onnx_value_constant.c constants, in the storage and order of the file
 *   onnx_export.c  the walk over the graph
 *   onnx_pack.c    the bytes of the file
 *   onnx_write_*.c   the operators
 *   onnx_metadata.c    the graph itself, for who reads the file back */
#ifndef QN_IMPORT_ONNX_WRITE_H
#define QN_IMPORT_ONNX_WRITE_H

#include "import/onnx.h"

struct Onnx__GraphProto;
struct Onnx__ModelProto;
struct Onnx__NodeProto;

/* Where the value of a constant stands. */
typedef struct qn_onnx_held {
	size_t tensor;       /* 1 + number of the initializer, 0: none has it as it is */
	const int64_t *perm; /* its axes are in this order; NULL: as they are */
	int64_t channels; /* 0, or its last axis is [channels, positions] instead of [positions, channels] */
} qn_onnx_held;

/* The order of a value's axes in the file. */
typedef enum qn_onnx_layout {
	QN_ORDER_PLAIN, /* as in the graph: N, …, C */
	QN_ORDER_FIRST, /* N, C, … */
	QN_NORDER
} qn_onnx_layout;

typedef struct qn_onnx_out {
	qn_model *m;
	const qn_graph *g;       /* as it is written */
	const qn_graph *kept;    /* as who reads the file gets it back */
	const qn_id *origin;     /* a constant of g -> that of `kept` */
	const char *const *base; /* what values of g are called in the file */
	qn_arena *a;
	struct Onnx__GraphProto *graph;
	struct Onnx__NodeProto *node; /* the last one */
	size_t node_cap, tensor_cap, input_cap, output_cap;
	qn_map used;   /* names that are taken */
	qn_map params; /* name of a value -> its scale and zero point (onnx_write_params.c) */
	const char **real
		[QN_NORDER]; /* name of value id as f32 or plain integers, NULL: not written yet */
	const char **quantized[QN_NORDER]; /* quantized, in the storage of the file */
	const char *
		*raw; /* quantized, in the storage of the graph: an input, bits of another type */
	const char ***parts;   /* of a tuple */
	qn_onnx_layout *order; /* in which a value is computed */
	int64_t *
		flat; /* channels of a matrix whose columns are [channels, positions]; 0: of another one */
	bool *weights;        /* a constant that only products take, not as their first operand */
	qn_id id;             /* the node that is written */
	qn_onnx_layout now;   /* what qn_onnx_out_value gives */
	int32_t rank;         /* of the result that is written in QN_ORDER_FIRST */
	qn_onnx_held *held;   /* constants of `kept` */
	uint64_t bytes, most; /* of initializers; no more than most are wanted, 0: all are */
	int64_t version;      /* of the operator set that is needed */
	size_t problems;
} qn_onnx_out;

/* ---- of the file (onnx_write.c) ---- */

/* A new name like `base`. */
const char *qn_onnx_out_name(qn_onnx_out *o, const char *base);
/* How many initializers there are. */
size_t qn_onnx_out_tensors(const qn_onnx_out *o);
/* A name: base, an underscore, what. */
const char *qn_onnx_out_named(qn_onnx_out *o, const char *base, const char *what);
/* A constant; quantized values are integers of their storage.  Returns its name. */
const char *qn_onnx_out_tensor(qn_onnx_out *o, const char *base, const qn_tensor *x);
const char *qn_onnx_out_i64s(qn_onnx_out *o, const char *base, int32_t n, const int64_t *v);
const char *qn_onnx_out_f32s(qn_onnx_out *o, const char *base, int32_t rank, int64_t n,
			     const double *v);
/* A node with one result, whose name it returns; inputs may be NULL at the end: left out. */
const char *qn_onnx_out_node(qn_onnx_out *o, const char *op, const char *base, size_t nin,
			     const char *const *in);
/* One more result of the last node. */
const char *qn_onnx_out_more(qn_onnx_out *o, const char *base);
/* A scalar; and a Cast. */
const char *qn_onnx_out_number(qn_onnx_out *o, const char *base, qn_plain plain, double v);
const char *qn_onnx_out_cast(qn_onnx_out *o, const char *base, const char *x, qn_plain to);
/* Attributes of the last node. */
void qn_onnx_out_int(qn_onnx_out *o, const char *name, int64_t v);
void qn_onnx_out_real(qn_onnx_out *o, const char *name, double v);
void qn_onnx_out_text(qn_onnx_out *o, const char *name, const char *v);
void qn_onnx_out_ints(qn_onnx_out *o, const char *name, int32_t n, const int64_t *v);
/* Inputs and outputs of the graph. */
void qn_onnx_out_input(qn_onnx_out *o, const char *name, const qn_type *type);
void qn_onnx_out_output(qn_onnx_out *o, const char *name, const qn_type *type);

/* ---- the graph as it is written (onnx_settle.c), the order of axes (onnx_axes.c) ---- */

/* Sets o->g and o->origin from o->kept: the same values, with each quantize as near to where its
 * value is computed as it gives the same integers, and no value quantized twice alike.  false
 * after a report. */
bool qn_onnx_out_settle(qn_onnx_out *o);
/* Sets o->order, o->flat and o->weights. */
void qn_onnx_out_arrange(qn_onnx_out *o);
/* Whether qn_onnx_out_value gives the operands of the node in its own order. */
bool qn_onnx_out_follows(const qn_onnx_out *o, const qn_node *n);

/* ---- values (onnx_value.c, onnx_value_constant.c) ---- */

/* The constant whose float values node id has; 0: it is not one. */
qn_id qn_onnx_out_constant_of(const qn_onnx_out *o, qn_id id);
/* Constant `id` as float.  how: its axes or columns; it has at least `rank` of them. */
const char *qn_onnx_out_constant(qn_onnx_out *o, qn_id id, qn_onnx_held how, int32_t rank);
/* Integers of x in the storage of another type, which begins elsewhere. */
const qn_tensor *qn_onnx_out_in_storage(qn_onnx_out *o, const qn_tensor *x, const qn_elem *to);
/* The name of the float value, or, of plain integers, its name; in the order o->now. */
const char *qn_onnx_out_value(qn_onnx_out *o, qn_id id);
const char *qn_onnx_out_value_in(qn_onnx_out *o, qn_id id, qn_onnx_layout order);
/* A constant matrix whose columns, [positions, channels], are stored as [channels, positions]. */
const char *qn_onnx_out_columns(qn_onnx_out *o, qn_id id, int64_t channels);
/* x [n, first * rest] with columns [first, rest] as [rest, first]. */
const qn_tensor *qn_onnx_out_turned(qn_onnx_out *o, const qn_tensor *x, int64_t first);
/* The quantized value in the storage of the graph, or its plain integers; NULL: it is a sum, which
 * the file has as float alone. */
const char *qn_onnx_out_stored(qn_onnx_out *o, qn_id id);
/* The element type of a quantized value in the file. */
const qn_elem *qn_onnx_out_elem(const qn_onnx_out *o, const qn_node *n);
/* perm as transpose has it, of rank 3 and more. */
void qn_onnx_out_order_perm(qn_onnx_layout order, int32_t rank, int64_t *perm);
/* Whether the two orders of a value are the same bytes. */
bool qn_onnx_out_order_is_free(const qn_type *type);
/* The name of the value with axes in another order (perm as transpose has it, over the graph's
 * own); a constant is moved itself. */
const char *qn_onnx_out_permuted(qn_onnx_out *o, qn_id id, int32_t rank, const int64_t *perm);
/* The same elements with axes in another order (perm as transpose has it); the axis of scales
 * goes along. */
const qn_tensor *qn_onnx_out_moved(qn_onnx_out *o, const qn_tensor *x, const int64_t *perm);

/* Everything of the file's graph, from o->m; false after a report, or where it grew beyond
 * o->most. */
bool qn_onnx_out_fill(qn_onnx_out *o);

/* ---- quantized values (onnx_write_params.c) ---- */

/* Whether ONNX has a type for its storage. */
bool qn_onnx_out_has_storage(const qn_elem *e);
/* Wider than 16 bits: a sum that is not stored, which is a float value in the file. */
bool qn_onnx_out_is_sum(const qn_elem *e);
/* QuantizeLinear or DequantizeLinear (op) of x with the parameters of e; n: for messages. */
const char *qn_onnx_out_convert(qn_onnx_out *o, const qn_node *n, const qn_elem *e, const char *op,
				const char *name, const char *x);
/* What node n is called in the file. */
const char *qn_onnx_out_base(const qn_onnx_out *o, const qn_node *n);

/* A constant quantized in blocks, as values with a scale and a zero point for each (onnx_write_blocks.c). */
typedef struct qn_onnx_blocks {
	const qn_tensor *stored, *scale, *zp; /* of one shape */
	bool has_zp;                          /* some are not 0 */
} qn_onnx_blocks;

qn_onnx_blocks qn_onnx_out_split(qn_onnx_out *o, const qn_tensor *x);
/* Its float values; n is the constant, e its element, whose sizes of blocks are tried. */
const char *qn_onnx_out_blocks(qn_onnx_out *o, const qn_node *n, const qn_elem *e,
			       const qn_onnx_blocks *b);

/* x limited to the float values of the quantized values lo … hi of e, if these are not the whole
 * storage range. */
const char *qn_onnx_out_limited(qn_onnx_out *o, const qn_node *n, const char *x, const qn_elem *e,
				int64_t lo, int64_t hi);

/* ---- operators (onnx_write_op.c) ---- */

/* Node `n` cannot be written, for this reason; NULL. */
const char *qn_onnx_out_refuse(qn_onnx_out *o, const qn_node *n, const char *why);
/* Writes the operator of node n; the name of its first result, NULL after a report. */
const char *qn_onnx_out_op(qn_onnx_out *o, const qn_node *n);
/* How it takes the order of its operands' axes. */
qn_onnx_axis_order qn_onnx_out_axis_order(const qn_node *n);
/* The operator set that the node needs, 0: the lowest. */
int64_t qn_onnx_out_since(const qn_node *n);
/* How an operator of the table is written: with this one of ONNX (name), or not as one (why). 
 * Both NULL: unknown. */
typedef struct qn_onnx_export_row {
	const char *name, *why;
} qn_onnx_export_row;
qn_onnx_export_row qn_onnx_out_how(qn_op op);

/* ---- the graph itself (onnx_metadata.c) ---- */

typedef struct qn_onnx_pair {
	const char *key, *value;
} qn_onnx_pair;

/* The entry graph as it is written: constants are stored as quantized values, and without
 * nodes that no output needs.  In the arena of temporary data; NULL after a report. */
qn_graph *qn_onnx_out_graph(qn_model *m);
/* Metadata by which the graph is found again; false: there are none. */
bool qn_onnx_out_metadata(qn_onnx_out *o, qn_onnx_pair pair[2]);
/* Whether writing the model gives the nodes, constants, inputs and outputs of the file, whose
 * bytes are `data`. */
bool qn_onnx_is_written(qn_model *m, const struct Onnx__ModelProto *file, const void *data);
/* Makes the graph of the file's metadata the entry graph of the model that is read; false: there
 * is none that has been written so, and nothing has been reported. */
bool qn_onnx_read_metadata(struct qn_onnx *o, const struct Onnx__ModelProto *file);

#endif
