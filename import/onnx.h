/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.h - what the converters of ONNX operators share.  Operators that are graphs of others are texts
 * instead of rows (onnx_lib.c, lib/lib.h).
 *
 *   static void
 *   compress(qn_onnx *o, const qn_onnx_node *n, qn_id *out)     reads: adds nodes, gives the results
 *
 *   const char *
 *   qn_onnx_write_softmax(qn_onnx_out *o, const qn_node *n, const char *op)     writes: onnx_write_op.h
 *
 *   const qn_onnx_row qn_onnx_norm[] = {
 *           QN_ONNX_READ("", "Compress", 1, compress, 0),
 *           QN_ONNX_WRITE("Sigmoid", qn_onnx_write_gated, 0, EACH, QN_OP_silu),
 *           QN_ONNX_BOTH("Softmax", 1, softmax, qn_onnx_write_softmax, 0, ANY, QN_OP_softmax),
 *           {0}};
 *
 * Each family of operators is a file import/onnx_FAMILY.c with such a table, listed in onnx_ops.c;
 * element-wise functions have their rows in ir/ops.def.
 * Values are NCHW as in the file; what is computed NHWC has transposes around it.
 * f16, bf16 and f64 values are f32 values here. */
#ifndef QN_IMPORT_ONNX_H
#define QN_IMPORT_ONNX_H

#include "import/importer.h"
#include "lib/lib.h"

struct Onnx__GraphProto;
struct Onnx__ModelProto;
struct Onnx__NodeProto;
struct Onnx__FunctionProto;
struct Onnx__TensorProto;
struct Onnx__SparseTensorProto;
struct Onnx__GraphProto;
struct Onnx__AttributeProto;

enum { QN_ONNX_NEWEST = INT32_MAX };

/* A function of the model, with what it says of attributes that a call leaves out. */
typedef struct qn_onnx_function {
	const struct Onnx__FunctionProto *proto;
	size_t npreset;
	struct Onnx__AttributeProto **preset;
	qn_map versions; /* its own operator sets */
} qn_onnx_function;

/* Names of values: of the graph, of a body inside it (outer: what is around it), or of one call of a function
 * of the model. */
typedef struct qn_onnx_scope {
	qn_map values;
	const struct qn_onnx_scope *outer;  /* whose names are seen too; NULL: none */
	const qn_onnx_function *function;   /* NULL: none */
	const struct Onnx__NodeProto *call; /* of the function: gives values to its attributes */
	const struct qn_onnx_scope *caller;
	int depth; /* of calls and bodies */
} qn_onnx_scope;

typedef struct qn_onnx {
	qn_importer im;
	const uint8_t *data; /* the file */
	const char *folder;  /* of external data, NULL: none is read */
	qn_map external;     /* opened files by name */
	const qn_map *
		versions; /* domain -> (int64_t *) version of the operator set, where nodes are read now */
	const qn_map *sets;                   /* the same of the main graph */
	const struct Onnx__GraphProto *graph; /* the main one */
	qn_map *lacks;                        /* of onnx_unsupported.c; NULL: none so far */
	qn_map orders;                        /* of onnx_order.c, by list of nodes */
	qn_map declared;                      /* of onnx_lib.c: name -> Onnx__ValueInfoProto */
	bool declared_read;                   /* it is complete */
	qn_map functions;                     /* "domain/name" -> qn_onnx_function */
	qn_onnx_scope *scope;
	bool keeps_quantized; /* the file quantizes activations, and its parameters are wanted */
	bool unsliced;        /* the loop that is read cannot be one: of onnx_loop_slice.c */
	uint64_t nodes;       /* converted so far, those of functions at each call */
	qn_map sums;          /* of onnx_integer_product.c: qn_id -> what is known of the value */
	qn_map scales; /* of onnx_dynamic.c: qn_id -> the scale of run time that the value is */
} qn_onnx;

/* A node being converted. */
typedef struct qn_onnx_node {
	const char *op;
	int64_t version; /* of the operator set */
	uint32_t nin, nout;
	const qn_id *in; /* 0: left out; from nin on too (see qn_onnx_in) */
	const struct Onnx__NodeProto *proto;
	int32_t arg; /* of the row */
} qn_onnx_node;

/* Gives the results in out[0] .. out[nout - 1], zeroed before.  One that stays 0 although the node has it has been
 * reported. */
typedef void qn_onnx_fn(qn_onnx *o, const qn_onnx_node *n, qn_id *out);

struct qn_onnx_out;
/* Writes node n with operator `op`; the name of its result, NULL after a report. */
typedef const char *qn_onnx_write_fn(struct qn_onnx_out *o, const qn_node *n, const char *op);

/* How an operator takes the order of its operands' axes when it is written. */
typedef enum qn_onnx_axis_order {
	QN_AXES_PLAIN, /* that of the graph alone */
	QN_AXES_FIRST, /* that of ONNX's convolutions, of the first operand and the result */
	QN_AXES_ANY,   /* either, the same for operands and result */
	QN_AXES_EACH   /* either, element by element */
} qn_onnx_axis_order;

enum { QN_ONNX_MOST_OPS = 4 };

/* One operator of ONNX: how its nodes are read, and which ops are written as it.  An op is written by the one row
 * that has it. */
typedef struct qn_onnx_row {
	const char *domain, *op; /* "": ai.onnx */
	/* In versions min … max of the operator set of its domain; none: it is not read. */
	int32_t min, max;
	qn_onnx_fn *read;
	int32_t arg; /* for readers of several operators: often a qn_op */
	qn_onnx_write_fn *write;
	int64_t since; /* the operator set that it needs, 0: the lowest that is written */
	qn_onnx_axis_order takes;
	qn_op ops[QN_ONNX_MOST_OPS]; /* that are written so; ends at 0, which is never written */
} qn_onnx_row;

/* An operator that is only read, from version `first` on; one that ops are only written as; and both, where the
 * reader's argument is the first of the ops. */
#define QN_ONNX_READ(in_domain, name, first, reader, argument)                                     \
	{                                                                                          \
		.domain = in_domain, .op = name, .min = first, .max = QN_ONNX_NEWEST,              \
		.read = reader, .arg = argument                                                    \
	}
#define QN_ONNX_WRITE(name, writer, needs, order, ...)                                             \
	{                                                                                          \
		.domain = "", .op = name, .min = 1, .write = writer, .since = needs,               \
		.takes = QN_AXES_##order,                                                          \
		.ops = { __VA_ARGS__ }                                                             \
	}
#define QN_ONNX_BOTH(name, first, reader, writer, needs, order, ...)                               \
	{                                                                                          \
		.domain = "", .op = name, .min = first, .max = QN_ONNX_NEWEST, .read = reader,     \
		.arg = QN_ONNX_FIRST(__VA_ARGS__, 0), .write = writer, .since = needs,             \
		.takes = QN_AXES_##order,                                                          \
		.ops = { __VA_ARGS__ }                                                             \
	}
#define QN_ONNX_FIRST(x, ...) x

/* Converts the node as if it were operator `op` of ai.onnx with these inputs, its attributes being the same. */
void qn_onnx_run_as(qn_onnx *o, const qn_onnx_node *n, const char *op, int64_t version,
		    uint32_t nin, const qn_id *in, qn_id *out);
/* Whether the file quantizes values that a run computes, not only its weights (onnx_quant.c). */
bool qn_onnx_quantizes(qn_onnx *o, const struct Onnx__ModelProto *model);
/* Whether the graph does nothing but move, choose and dequantize the int8 or uint8 integers of its inputs. */
bool qn_onnx_moves_integers(const struct Onnx__GraphProto *g);

/* The row that reads an operator; the one that writes an op.  NULL when there is none. */
const qn_onnx_row *qn_onnx_written(qn_op op);
const qn_onnx_row *qn_onnx_find(const char *domain, const char *op, int64_t version);

/* The composition that an operator is; NULL: none.  Its nodes then (onnx_lib.c). */
const qn_lib_operator *qn_onnx_composition(const qn_onnx *o, const char *domain, const char *op,
					   int64_t version);
void qn_onnx_compose(qn_onnx *o, const qn_onnx_node *n, const qn_lib_operator *op, qn_id *out);

/* From which version on an operator is read, and up to which; false: it is not. */
bool qn_onnx_versions(const char *domain, const char *op, int32_t *min, int32_t *max);
/* Reports a node's operator in this version, which is not read: once, with how many nodes have it.  Then: the
 * same of all nodes in a node's bodies and function that are not read (onnx_unsupported.c). */
void qn_onnx_refuse_unsupported(qn_onnx *o, const struct Onnx__NodeProto *p, int64_t version);
void qn_onnx_refuse_unsupported_inside(qn_onnx *o, const struct Onnx__NodeProto *p);
/* Reports that input i has to be a constant of at most 2^20 elements, why, and where the model can be cut before the node
 * (import.constant). */
void qn_onnx_refuse_unknown(qn_onnx *o, const qn_onnx_node *n, uint32_t i, const char *why);

/* The first nin inputs are there (import.input). */
bool qn_onnx_need(qn_onnx *o, const qn_onnx_node *n, uint32_t nin);
/* Input i, 0 when it is left out. */
qn_id qn_onnx_in(const qn_onnx_node *n, uint32_t i);
/* The type of a value (not 0). */
const qn_type *qn_onnx_type(const qn_onnx *o, qn_id x);
qn_plain qn_onnx_plain(const qn_onnx *o, qn_id x);
/* The integers that the floats x are, moved alike, if f32 has them all; to: what x becomes (onnx_labels.c).  0: x is
 * something else, or other integers than i32 and i64 are to come of it. */
qn_id qn_onnx_before_floats(qn_onnx *o, qn_id x, qn_plain to);
/* Whether the axis counts in a value of this rank (import.attr); *axis counts from the front then. */
bool qn_onnx_axis(qn_onnx *o, int64_t given, int32_t rank, int32_t *axis);
/* The integers of input i, which must be a constant of at most `most` elements (import.constant): their
 * number, -1 after a report. */
int32_t qn_onnx_const_ints(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int32_t most, int64_t *v);
/* The number of a constant input of one element; dflt when it is left out; false after a report. */
bool qn_onnx_const_real(qn_onnx *o, const qn_onnx_node *n, uint32_t i, double dflt, double *v);

/* ---- attributes; names are those of the standard ---- */

bool qn_onnx_has(const qn_onnx *o, const qn_onnx_node *n, const char *name);
/* The node in the file but for that attribute. */
const struct Onnx__NodeProto *qn_onnx_without(qn_onnx *o, const qn_onnx_node *n, const char *name);
int64_t qn_onnx_int(const qn_onnx *o, const qn_onnx_node *n, const char *name, int64_t dflt);
double qn_onnx_float(const qn_onnx *o, const qn_onnx_node *n, const char *name, double dflt);
const char *qn_onnx_string(const qn_onnx *o, const qn_onnx_node *n, const char *name,
			   const char *dflt);
/* The place of a text attribute in a list of `count` words, or in QN_ENUM_…; -1 after a report. */
int32_t qn_onnx_choice(qn_onnx *o, const qn_onnx_node *n, const char *name, const char *dflt,
		       size_t count, const char *const *words);
int32_t qn_onnx_enum(qn_onnx *o, const qn_onnx_node *n, const char *name, const char *dflt,
		     int32_t list);
/* A list of at most QN_MAX_RANK integers that is an attribute before version `since` and input i from it on: its
 * length, -1 when it is left out, -2 after a report. */
int32_t qn_onnx_list(qn_onnx *o, const qn_onnx_node *n, const char *name, uint32_t i, int64_t since,
		     int64_t *v);
/* At most `most` integers: their number, -1 when the attribute is missing or has more (reported). */
int32_t qn_onnx_ints(qn_onnx *o, const qn_onnx_node *n, const char *name, int32_t most, int64_t *v);
int32_t qn_onnx_floats(qn_onnx *o, const qn_onnx_node *n, const char *name, int32_t most,
		       double *v);
/* How many elements a list has, 0 when there is none; text k of one. */
size_t qn_onnx_count(const qn_onnx *o, const qn_onnx_node *n, const char *name);
const char *qn_onnx_text(const qn_onnx *o, const qn_onnx_node *n, const char *name, size_t k);
/* NULL: there is none, or it was reported. */
const qn_tensor *qn_onnx_tensor(qn_onnx *o, const qn_onnx_node *n, const char *name);
const struct Onnx__GraphProto *qn_onnx_graph(const qn_onnx *o, const qn_onnx_node *n,
					     const char *name);
/* The attribute itself, that of the call inside a function. */
const struct Onnx__AttributeProto *qn_onnx_attr(const qn_onnx *o, const qn_onnx_node *n,
						const char *name);

/* ---- types and tensors ---- */

/* The element type that a number of TensorProto.DataType has here; false: none (texts, complex numbers …). */
bool qn_onnx_data_type(int64_t number, qn_plain *plain);
/* The type that it has in the file; number is one that qn_onnx_data_type knows. */
qn_plain qn_onnx_stored_type(int64_t number);
/* The bytes of a tensor in a file beside the model; *n: those of its shape before, those that it is said to
 * have then.  NULL after a report. */
const uint8_t *qn_onnx_external(qn_onnx *o, const struct Onnx__TensorProto *t, size_t *n);
/* "FLOAT8E4M3FN", "STRING" …, for messages. */
const char *qn_onnx_type_name(int64_t number);
/* A tensor of the file; NULL after a report. */
const qn_tensor *qn_onnx_read_tensor(qn_onnx *o, const struct Onnx__TensorProto *t);
const qn_tensor *qn_onnx_read_sparse(qn_onnx *o, const struct Onnx__SparseTensorProto *t);

/* ---- values by name (onnx_nodes.c) ---- */

void qn_onnx_define(qn_onnx *o, const char *name, qn_id id);
/* 0: known, but could not be converted; *known false: there is none.  Constants are read at their first use. */
qn_id qn_onnx_value(qn_onnx *o, const char *name, bool *known);
bool qn_onnx_known(const qn_onnx *o, const char *name); /* whether it is defined */
bool qn_onnx_defined_here(const qn_onnx *o,
			  const char *name); /* and not by what is around this scope */
void qn_onnx_define_tensors(qn_onnx *o, const struct Onnx__GraphProto *g);
/* The domain of a node's operator, "" for ai.onnx; its name, that of its first result when it has none. */
const char *qn_onnx_domain(const struct Onnx__NodeProto *p);
const char *qn_onnx_name(const struct Onnx__NodeProto *p);
/* The function of the model that a node calls; NULL: none. */
const qn_onnx_function *qn_onnx_function_of(qn_onnx *o, const struct Onnx__NodeProto *p);
/* The version of a domain's operator set, 1 when the file gives none. */
int64_t qn_onnx_version(const qn_map *versions, const char *domain);
/* The order in which nodes are converted (onnx_order.c): at NULL, as in the file.  broken: names of values that a cycle
 * leaves without one, which was reported. */
typedef struct qn_onnx_order {
	size_t n; /* nodes to read */
	uint32_t *at;
	const char **broken;
	size_t nbroken, cap;
} qn_onnx_order;
const qn_onnx_order *qn_onnx_order_of(qn_onnx *o, size_t n, struct Onnx__NodeProto *const *node);

/* Converts all nodes, whatever their order in the file. */
void qn_onnx_nodes(qn_onnx *o, size_t n, struct Onnx__NodeProto *const *node);
/* The nodes of a body with its inputs (at most as many as it has) and outputs, as If and Loop take one. */
void qn_onnx_body(qn_onnx *o, const struct Onnx__GraphProto *g, uint32_t nin, const qn_id *in,
		  uint32_t nout, qn_id *out);
/* Gather and Slice by the number of the step of a loop (onnx_loop_slice.c): what the step reads.  0, false: the node is
 * another one.  A Slice that differs between steps in another way sets o->unsliced, and its result means nothing. */
qn_id qn_onnx_step_gather(qn_onnx *o, const qn_onnx_node *n, int64_t axis);
bool qn_onnx_step_part(qn_onnx *o, const qn_onnx_node *n, qn_id *out);
/* Whether a value is a sequence; whether an operator takes such values (onnx_sequence.c). */
bool qn_onnx_is_list(const qn_onnx *o, qn_id x);
bool qn_onnx_takes_lists(const char *op);

/* ---- the tables ---- */

/* The operator `arg` of two inputs, with the broadcasting of its version. */
void qn_onnx_binary(qn_onnx *o, const qn_onnx_node *n, qn_id *out);

void qn_onnx_prelu(qn_onnx *o, const qn_onnx_node *n, qn_id *out);

extern const qn_onnx_row qn_onnx_elementwise[], qn_onnx_conv[], qn_onnx_move[], qn_onnx_reduce[],
	qn_onnx_norm[], qn_onnx_product[], qn_onnx_constant[], qn_onnx_control[], qn_onnx_quant[],
	qn_onnx_pool[], qn_onnx_resizes[], qn_onnx_pads[], qn_onnx_einsums[], qn_onnx_logic[],
	qn_onnx_index[], qn_onnx_unpools[], qn_onnx_slices[];

extern const qn_onnx_row qn_onnx_qlinear[], qn_onnx_spreads[], qn_onnx_sequences[],
	qn_onnx_signals[], qn_onnx_functions[], qn_onnx_fuseds[], qn_onnx_rois[], qn_onnx_chosen[],
	qn_onnx_qonnx[], qn_onnx_gather_blocks[], qn_onnx_matmul_blocks[], qn_onnx_flexes[],
	qn_onnx_quant_layers[];

#endif
