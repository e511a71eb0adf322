/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.h - what the files of the TFLite reader share.
 *
 *   tflite.c         the file: its tables, the subgraph, operators one after the other
 *   tflite_operator.c one operator: its row and its operands
 *   tflite_tensor.c  names, shapes and types
 *   tflite_constant.c constants, float values of quantized ones
 *   tflite_option.c  options, constant inputs, axes
 *   tflite_sparse.c  constants stored without their zeros
 *   tflite_result.c    results: fused activations, parameters of the file
 *   tflite_product.c convolutions and dense layers of quantized values
 *   tflite_exact.c   operators of quantized values whose kernels do not round once
 *   tflite_sequence.c what is done step by step
 *   tflite_subgraph.c subgraphs that operators run
 *   tflite_while.c   loops whose number of steps is known
 *   tflite_KIND.c    operators as rows {number, function, op}, by family; of element-wise functions the
 *                    rows are in ir/ops.def
 *
 * A function of a row finds its inputs in o->in, all of them there and of known type, and sets
 * each result once:
 *
 *   static void plain(qn_tfl_op *o)
 *   {
 *           qn_tfl_set_result(o, 0, qn_tfl_node(o, o->op, NULL));
 *   }
 *
 * Numbers of fields and operators are those of tensorflow/lite/schema/schema.fbs. */
#ifndef QN_IMPORT_TFLITE_H
#define QN_IMPORT_TFLITE_H

#include "import/flatbuffer.h"
#include "import/importer.h"
#include "import/tflite_schema.h"

enum { QN_TFL_MOST_INPUTS = 255, QN_TFL_MOST_OUTPUTS = 64 };

/* What lasts from run to run (tflite_variable.c). */
typedef struct qn_tfl_variable qn_tfl_variable;

/* What one step of a loop knows of a variable that counts its steps (tflite_while.c). */
typedef struct qn_tfl_counter qn_tfl_counter;

/* A tensor of the subgraph. */
typedef struct qn_tfl_tensor {
	qn_flat_table t;
	const char *name;
	const qn_elem *elem; /* of the file; NULL before it is read or after it was refused */
	int32_t rank;
	int64_t dim[QN_MAX_RANK];      /* of the file, batch included */
	qn_id id;                      /* its value; 0: none (yet) */
	qn_id real;                    /* the same in f32; 0: not needed yet */
	qn_tfl_variable *variable;     /* that it is, or is the handle of; NULL: none yet */
	const qn_tfl_counter *counter; /* it has no value, but counts; NULL: it does not */
	bool looked_at, is_made; /* an input, or an operator's result, also of a refused one */
	bool is_of_run; /* of an input or a result: forgotten when the subgraph runs again */
} qn_tfl_tensor;

/* A subgraph of the file, with what its tensors are in its last run. */
typedef struct qn_tfl_frame {
	size_t ntensor;
	qn_tfl_tensor *tensor;  /* NULL: not read yet */
	qn_map named;           /* whole name -> the first tensor that has it (qn_tfl_tensor) */
	qn_tfl_tensor **of_run; /* [ntensor] those that are */
	size_t nof_run;
	struct qn_tfl_op *op; /* that is read */
	bool is_called, runs; /* an operator runs it; it is being run */
} qn_tfl_frame;

typedef struct qn_tfl {
	qn_importer im;
	qn_flat flat;
	qn_flat_vector buffers, operator_codes, graphs;
	qn_map *lacks;                         /* of tflite_unsupported.c; NULL: none so far */
	bool has_fakes;                        /* a FAKE_QUANT was read */
	qn_tfl_frame *frame, *now;             /* by subgraph; the one whose operators are read */
	uint32_t depth;                        /* of subgraphs in subgraphs */
	uint64_t read;                         /* operators so far, of subgraphs at each run */
	uint64_t assigned;                     /* assignments to variables so far */
	bool initializes;                      /* the operators of such a subgraph are read */
	qn_map handles;                        /* name -> the resource variable (qn_tfl_variable) */
	qn_map outputs;                        /* names of the graph's outputs */
	qn_tfl_variable *states, **states_end; /* those that are read before they are assigned */
} qn_tfl;

typedef struct qn_tfl_op {
	qn_tfl *f;
	qn_importer *im;
	qn_flat_table options;                /* at 0: none, all defaults */
	qn_flat_vector custom_options;        /* bytes */
	const struct qn_lib_operator *custom; /* the composition that a user gave it; NULL: none */
	qn_op op;                             /* of the row */
	bool is_read;                         /* by qn_tfl_reads_counter */
	uint32_t nin, nout;
	qn_id in[QN_TFL_MOST_INPUTS];            /* 0: left out */
	qn_tfl_tensor *from[QN_TFL_MOST_INPUTS]; /* NULL: left out */
	qn_tfl_tensor *to[QN_TFL_MOST_OUTPUTS];
} qn_tfl_op;

typedef struct qn_tfl_row {
	qn_tfl_builtin code;
	void (*read)(qn_tfl_op *o);
	qn_op op; /* qn_tfl_op.op, for functions that read several operators; 0: the function alone says it */
	/* nout 0: as many as the file says, 1 at least; QN_TFL_NO_RESULT: none */
	uint32_t least_in, most_in, nout;
	uint32_t
		most_left_out; /* the number of last inputs that may be -1; if several, also variables, which are not read */
} qn_tfl_row;

#define QN_TFL_NO_RESULT UINT32_MAX

/* Rows of a family, ended by one without function. */
extern const qn_tfl_row qn_tfl_conv_rows[], qn_tfl_dense_rows[], qn_tfl_pool_rows[],
	qn_tfl_binary_rows[], qn_tfl_unary_rows[], qn_tfl_move_rows[], qn_tfl_reduce_rows[],
	qn_tfl_cast_rows[], qn_tfl_slice_rows[], qn_tfl_shape_rows[], qn_tfl_space_rows[],
	qn_tfl_logic_rows[], qn_tfl_lstm_rows[], qn_tfl_rnn_rows[], qn_tfl_index_rows[],
	qn_tfl_scatter_rows[], qn_tfl_variable_rows[], qn_tfl_svdf_rows[], qn_tfl_control_rows[];

/* MediaPipe's transposed convolution with a bias, by its custom code; NULL: it is another operator (tflite_conv.c). */
const qn_tfl_row *qn_tfl_custom_conv(const char *name);
/* Custom operators that a user defines (tflite_custom.c). */
extern const qn_tfl_row qn_tfl_custom_row;

/* Refuses an operator that is not read, once for all of its name, with how many there are (tflite_unsupported.c). */
void qn_tfl_refuse_unsupported(qn_tfl_op *o, int64_t code, const char *name);
/* The error for a damaged file. */
qn_status qn_tfl_damage(qn_tfl *f) QN_MUST_CHECK;
/* Name and number of an operator's code; that of a custom one is its own. */
const char *qn_tfl_code_name(qn_tfl *f, const qn_flat_table *code, int64_t *number);

/* Of a file of which only some values are wanted (tflite_cut.c): which of its operators are read, NULL: all; and its
 * outputs. */
const bool *qn_tfl_needed(qn_tfl *f, const qn_flat_vector *ops);
qn_status qn_tfl_cut_outputs(qn_tfl *f) QN_MUST_CHECK;

/* One operator (tflite_operator.c); those of a subgraph in their order (tflite.c). */
qn_status qn_tfl_read_operator(qn_tfl *f, const qn_flat_table *t) QN_MUST_CHECK;
qn_status qn_tfl_read_operators(qn_tfl *f, const qn_flat_table *graph) QN_MUST_CHECK;
/* Element i of a list of tensors; NULL for -1; an error for a number that no tensor has
 * (tflite_operator.c). */
qn_status qn_tfl_tensor_at(qn_tfl *f, const qn_flat_vector *v, size_t i,
			   qn_tfl_tensor **out) QN_MUST_CHECK;
/* Number of an operator, -1: the file gives it none. */
int64_t qn_tfl_code_of(qn_tfl *f, const qn_flat_table *op);
/* A name for an output of the graph, with a number if it is taken (tflite.c). */
const char *qn_tfl_output_name(qn_tfl *f, const char *name);

/* ---- subgraphs (tflite_subgraph.c) ---- */

/* What a tensor of a subgraph stands for: a value, a variable of which it is the handle, or a count. */
typedef struct qn_tfl_held {
	qn_id id;
	qn_tfl_variable *variable;
	const qn_tfl_counter *counter;
} qn_tfl_held;

/* t is an input or a result of the run. */
void qn_tfl_of_run(qn_tfl *f, qn_tfl_tensor *t);
/* Reads the operators of a subgraph, which set variables to constants. */
void qn_tfl_initialize(qn_tfl *f, size_t graph);
/* Reads the operators of subgraph `index` with these inputs; false after a report. */
bool qn_tfl_run(qn_tfl_op *o, int64_t index, uint32_t nin, const qn_tfl_held *in, uint32_t nout,
		qn_tfl_held *out);
/* The bytes of x as elements like those of t; 0 after a report. */
qn_id qn_tfl_as(qn_tfl_op *o, qn_tfl_tensor *t, qn_id x);
/* Input k of a subgraph; NULL after a report. */
qn_tfl_tensor *qn_tfl_input_of(qn_tfl *f, int64_t index, uint32_t k);
/* Result k of an operator that runs subgraphs. */
void qn_tfl_set_held(qn_tfl_op *o, uint32_t k, const qn_tfl_held *x);
/* The options of an operator with this code, which lie in one of two unions. */
qn_flat_table qn_tfl_options_of(const qn_flat_table *op, int64_t code);
/* The subgraphs that an operator runs, by the options that name them; how many. */
uint32_t qn_tfl_graphs_of(int64_t code, const qn_flat_table *options, int64_t index[2]);
/* Subgraphs that are run, if only by operators that are not reached, are called. */
void qn_tfl_find_called(qn_tfl *f);
bool qn_tfl_is_handle(const qn_tfl_tensor *t);

/* ---- loops (tflite_while.c) ---- */

/* Reads a WHILE as a loop, if it computes the same in each of a known number of steps; false: it is to be
 * unrolled. */
bool qn_tfl_while_loop(qn_tfl_op *o);
/* Reads an operator of which an input is a count; false: none is. */
bool qn_tfl_reads_counter(qn_tfl_op *o, int64_t code);

/* ---- variables (tflite_variable.c) ---- */

/* The value of a tensor that is a variable, at this operator: a state of the graph, or what was assigned
 * before; 0 after a report. */
qn_id qn_tfl_read_variable(qn_tfl *f, qn_tfl_tensor *t);
void qn_tfl_assign_variable(qn_tfl *f, qn_tfl_tensor *t, qn_id x);
/* Returns the next values of all states; false after a report. */
bool qn_tfl_variables_end(qn_tfl *f);

/* ---- tensors (tflite_tensor.c) ---- */

/* Reads name, type and shape of all tensors; QN_EINVALID: damaged.  Problems of a type wait until an operator uses
 * the tensor. */
qn_status qn_tfl_tensors(qn_tfl *f, const qn_flat_table *graph) QN_MUST_CHECK;
/* The printable name of a tensor or subgraph, up to the first ';'; "tINDEX" without one. */
const char *qn_tfl_name_of(qn_tfl *f, const qn_flat_vector *text, size_t index);
/* Type and shape of the file; NULL after a report. */
const qn_type *qn_tfl_type(qn_tfl *f, qn_tfl_tensor *t);
/* The value of t, a constant being made at its first use; 0: it is the result of a refused
 * operator, or was refused here. */
qn_id qn_tfl_value(qn_tfl *f, qn_tfl_tensor *t);
/* The value id is called like t in the file: by its whole name, "a;b;c". */
void qn_tfl_add_name(qn_tfl *f, const qn_tfl_tensor *t, qn_id id, qn_id from);
/* The value of a constant as the file has it, whose type has been read; NULL: none, or reported. */
const qn_tensor *qn_tfl_constant(qn_tfl *f, qn_tfl_tensor *t);
/* The element of tensor t that is quantized in blocks, whose quantization is q; NULL after a report (tflite_blocks.c). */
const qn_elem *qn_tfl_blocks(qn_tfl *f, const qn_tfl_tensor *t, const qn_flat_table *q,
			     const qn_plain_info *storage);
/* Lasts from run to run. */
bool qn_tfl_is_variable(const qn_tfl_tensor *t);
/* Takes that many bytes of what the file may make (qn_importer_take); false after a report. */
bool qn_tfl_take(qn_tfl *f, uint64_t bytes);
/* The elements of a constant of which only some are stored; NULL after a report.  each: bytes of an
 * element. */
const void *qn_tfl_dense_bytes(qn_tfl *f, const qn_tfl_tensor *t, const qn_flat_table *sparsity,
			       const void *data, size_t bytes, size_t each, int64_t count);

/* ---- inputs and options (tflite_option.c) ---- */

/* Input i in f32: constants are converted, quantized values are dequantized. 0: left out. */
qn_id qn_tfl_real(qn_tfl_op *o, uint32_t i);
/* Whether result 0 holds quantized values. */
bool qn_tfl_result_is_quantized(qn_tfl_op *o);
bool qn_tfl_is_quantized(const qn_tfl_op *o, qn_id x);
int64_t qn_tfl_option(const qn_tfl_op *o, uint32_t field, int64_t absent); /* an i32 */
int64_t qn_tfl_flag(const qn_tfl_op *o, uint32_t field, int64_t absent); /* a byte: bool or enum */
double qn_tfl_option_real(const qn_tfl_op *o, uint32_t field, double absent);
/* The integers of input i, which must be constant (import.input); -1 after a report. */
int32_t qn_tfl_ints(qn_tfl_op *o, uint32_t i, int32_t most, int64_t *v);
/* The same of an input that says n dimensions of result 0, from `from` on: where it is only known at run time, those that the
 * file gives the result. */
int32_t qn_tfl_dims(qn_tfl_op *o, uint32_t i, int32_t from, int32_t most, int64_t *v);
/* An axis in 0 … rank-1; false after a report. */
bool qn_tfl_axis(qn_tfl_op *o, int64_t axis, int32_t rank, int32_t *out);
int32_t qn_tfl_rank(const qn_tfl_op *o, uint32_t i);

/* ---- results (tflite_result.c) ---- */

/* The element that the file gives result k; f32 where parameters are not wanted. */
const qn_elem *qn_tfl_result(qn_tfl_op *o, uint32_t k);
/* A node whose result, where it has parameters of its own, has those of result 0. */
qn_id qn_tfl_op_of(qn_tfl_op *o, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs);
/* The same of all of the operator's inputs, in f32 where the result is float. */
qn_id qn_tfl_node(qn_tfl_op *o, qn_op op, const qn_attrs *attrs);
/* Result k is x, requantized, quantized or dequantized as its type requires. */
void qn_tfl_set_result(qn_tfl_op *o, uint32_t k, qn_id x);
/* After a fused activation (ActivationFunctionType). */
void qn_tfl_set_activated(qn_tfl_op *o, qn_id x, int64_t activation);
qn_id qn_tfl_activated(qn_tfl_op *o, qn_id x, int64_t activation);
/* Whether the activation is supported, for quantized or float values; reports. */
bool qn_tfl_activation_ok(qn_tfl_op *o, int64_t activation, bool quantized);

/* ---- products (tflite_product.c) ---- */

/* A convolution or dense of x, weights and bias (0: none), requantized to result 0 after the
 * activation.  f32_product: with one scale for all weights the product of the scales is rounded to f32,
 * as TFLite does it for fully connected layers. */
qn_id qn_tfl_product(qn_tfl_op *o, qn_op op, qn_id x, qn_id w, qn_id bias, const qn_attrs *attrs,
		     bool f32_product, int64_t activation);
/* A product whose accumulator has the scale of acc, the f32 product of the scales: the shape rule
 * finds its shape. */
qn_id qn_tfl_product_as(qn_tfl_op *o, qn_op op, uint32_t nin, const qn_id *in,
			const qn_attrs *attrs, const qn_elem *acc);
/* The accumulator of an integer matmul, whose one scale is the product rounded to f32, as in TFLite. */
qn_id qn_tfl_matmul(qn_tfl_op *o, qn_id x, qn_id w, const qn_attrs *attrs);
/* Input i as it is, in f32 where the result is. */
qn_id qn_tfl_moved(qn_tfl_op *o, uint32_t i);
/* f32 quantized, halves rounded away from 0; a constant becomes a constant. */
qn_id qn_tfl_quantized(qn_tfl_op *o, qn_id x, const qn_elem *to);
/* The same, dequantized again; a constant stays quantized. */
qn_id qn_tfl_faked(qn_tfl_op *o, qn_id x, const qn_elem *to);
/* The same quantized values with other parameters. */
qn_id qn_tfl_retyped(qn_tfl_op *o, qn_id x, const qn_elem *to);
/* ---- TFLite's own arithmetic (tflite_exact.c) ---- */

/* op of input 0 as a table of quantized values, as TFLite's kernel computes it; 0, without a report: none. */
qn_id qn_tfl_table(qn_tfl_op *o, qn_op op);
/* Input 0 under a scale that makes the multiplier to result 0 the f32 quotient of the scales. */
qn_id qn_tfl_divided(qn_tfl_op *o);
/* LEAKY_RELU and ABS of quantized values; 0: not supported, or something was reported. */
qn_id qn_tfl_leaky(qn_tfl_op *o, double alpha);
qn_id qn_tfl_absolute(qn_tfl_op *o);

/* The range lo..hi to which a fused activation limits the quantized values of e. */
void qn_tfl_limits(qn_tfl_op *o, const qn_elem *e, int64_t activation, int64_t *lo, int64_t *hi);
/* n parts concatenated along an axis, by as many nodes as an op's limit of inputs requires. */
qn_id qn_tfl_joined(qn_tfl_op *o, int64_t n, const qn_id *part, int64_t axis);
/* Requantizes x to the type of result k, inside the limits lo..hi. */
qn_id qn_tfl_requantized(qn_tfl_op *o, uint32_t k, qn_id x, int64_t lo, int64_t hi);
/* The same with any quantized type. */
qn_id qn_tfl_requantized_to(qn_tfl_op *o, qn_id x, const qn_elem *to, int64_t lo, int64_t hi);

#endif
