/* SPDX-License-Identifier: Apache-2.0 */
/* importer.h - what the readers of foreign files share: adding nodes with folding, messages with
 * the place in the file, and small compositions of operators.
 *
 *   qn_importer_at(im, "conv1", "Conv", 11);           what messages name from here on
 *   qn_id y = qn_importer_op(im, QN_OP_relu, 1, &x, NULL, NULL);
 *   if (y == 0)
 *           …has been reported, the node's results are unknown: go on with the next
 *
 * A node whose inputs are all constants becomes a constant, so shape arithmetic is folded before
 * a shape is needed. */
#ifndef QN_IMPORT_IMPORTER_H
#define QN_IMPORT_IMPORTER_H

#include "import/import.h"

/* No dimension and no number of elements is beyond this: sums of such integers cannot overflow. */
#define QN_IMPORT_MOST (INT64_C(1) << 40)

/* Steps of unrolled loops in one file. */
enum { QN_IMPORT_STEPS = 4096 };

typedef struct qn_importer {
	qn_model *m;
	qn_graph *g;       /* being made */
	qn_arena *scratch; /* until the read ends */
	const char *file;  /* for messages */
	const qn_import_how *how;
	const char *node, *op; /* of the file, that is being read; node "": without a name */
	int64_t version;       /* of op */
	/* the layer of the file that nodes stand for which have another name than it; NULL: that of
	 * their name */
	const char *layer;
	/* of both for messages, and of which node; NULL: not made yet */
	const char *place, *placed;
	bool part_names; /* nodes of compositions are named after the values of their text, too: NODE.VALUE */
	qn_id loop;    /* the number of the loop whose nodes are made (importer_steps.h); 0: none */
	uint64_t room; /* bytes that constants may still take beside those of the file */
	uint64_t work; /* elements that may still be computed for folding */
	uint64_t
		tables; /* elements of a value that are computed in any case: the caller asked for them; 0: the limit */
	uint64_t nodes;    /* that may be made in all */
	uint64_t steps;    /* of unrolled loops so far */
	uint64_t compared; /* elements that may still be */
	size_t problems;
	size_t behind;            /* nodes that were not looked at, after one that failed */
	const char *first_behind; /* name of the first of them */
	qn_status why;            /* of the first but missing features of Quern; QN_OK: none */
	bool full;                /* no further node may be added, which was reported */
	bool *dim_used;           /* of how->dim; NULL: none yet */
	struct qn_lib *lib;       /* of importer_lib.c; NULL: no composition was called yet */
	const char *batch; /* the name of an open dimension 0, which is 1 wherever it stands */
} qn_importer;

/* Starts a graph "main" of a file of `bytes`.  The model must be empty. */
void qn_importer_begin(qn_importer *im, qn_model *m, const char *file, size_t bytes,
		       const qn_import_how *how);
void qn_importer_at(qn_importer *im, const char *node, const char *op, int64_t version);
/* Removes what no output needs, adds the graph to the model, which is calibrated when values are quantized, and
 * returns QN_EUNSUPPORTED when problems were reported, or im->why. */
qn_status qn_importer_end(qn_importer *im) QN_MUST_CHECK;

/* A dimension of an input that the file leaves open: as `how` says, 1 for a batch (axis 0, logged); false
 * after a report (import.dim).  name: "" when it has none.  Then: reports numbers that no dimension took. */
bool qn_importer_dim(qn_importer *im, const char *input, int32_t axis, const char *name,
		     int64_t *out);
void qn_importer_dims_used(qn_importer *im);
/* Only what the caller said. */
bool qn_importer_dim_option(qn_importer *im, const char *input, int32_t axis, const char *name,
			    int64_t *out);

/* Reports that the current node cannot be taken: violated condition, actual value, way out.  Returns 0, for
 * `return qn_importer_refuse(…)`. */
qn_id qn_importer_refuse(qn_importer *im, const char *id, const char *fmt, ...) QN_PRINTF(3, 4);
/* "model.onnx: node 'conv1' (Conv, version 11)", the place of messages. */
const char *qn_importer_place(qn_importer *im);
/* Counts a problem that was reported and lies in a file, not in what Quern can do: QN_EINVALID, QN_EIO … */
void qn_importer_failed(qn_importer *im, qn_status why);
/* The current node was passed over: an input comes of one that failed.  The end says how many there are. */
void qn_importer_count_skipped(qn_importer *im);
/* " (3 nodes, the first of them here)" for a message about several nodes, "" for one. */
const char *qn_importer_nodes(qn_importer *im, size_t n);
/* Reports that the file is damaged; QN_EINVALID. */
qn_status qn_importer_damaged(qn_importer *im, const char *fmt, ...) QN_PRINTF(2, 3);

/* ---- budgets: what a file of few bytes may cost (importer_budget.c) ---- */

/* n of what a file may cost, as many times as the caller allows; " …" that says how to allow more, for the
 * message when n is exceeded. */
uint64_t qn_importer_most(const qn_importer *im, uint64_t n);
const char *qn_importer_more(qn_importer *im);
/* What a file of that many bytes may take, on top of what there is. */
void qn_importer_grant(qn_importer *im, size_t bytes);
/* Tables of up to this many elements that the caller asks for, not the file: their nodes are folded, `nodes` of them. */
void qn_importer_grant_tables(qn_importer *im, uint64_t elements, uint64_t nodes);
/* Takes bytes of im->room for a constant or a table; false after a report (import.size).  Before anything
 * is allocated by a number of the file. */
bool qn_importer_take(qn_importer *im, uint64_t bytes);
/* The same for all elements of a value of this type. */
bool qn_importer_take_type(qn_importer *im, const qn_type *type);
/* Whether a node is to be folded; takes its work and its bytes then. */
bool qn_importer_may_fold(qn_importer *im, const qn_node *n);
/* Whether n more elements may be compared, for what is not folded node by node; false after a report
 * (import.size). */
bool qn_importer_may_compare(qn_importer *im, uint64_t n);
/* Whether one more node may be made; false after a report, which is made once. */
bool qn_importer_may_add(qn_importer *im);
/* Whether one more step of a loop may be unrolled, of all loops of a file QN_IMPORT_STEPS, those inside others at each
 * step; counts it; false after a report, which is made once (import.size). */
bool qn_importer_step(qn_importer *im);
/* The same for one more node of the file to be read, those of a function at each call; counts it. */
bool qn_importer_may_read(qn_importer *im, uint64_t *read);

/* The value that the caller fixes an input at, NULL: none; number: SIZE_MAX, or its position among those
 * without a value in the file.  Then: the constant that the input becomes, 0 after a report.  In the end:
 * reports those that no input took. */
qn_pin *qn_importer_pin(qn_importer *im, const char *name, size_t number);
qn_id qn_importer_pinned(qn_importer *im, const qn_pin *pin, const char *name, const qn_type *type);
void qn_importer_pins_used(qn_importer *im, size_t ninput, const char *const *input);

/* The value x is called `name` in the file, beside names that it has already; so are values before x
 * that differ from it by a transpose or a rounding to quantized values alone, if the current node made them
 * (those from `from` on). */
void qn_importer_add_name(qn_importer *im, const char *name, qn_id x, qn_id from);

/* The constant x has all names of the constant `of` too: its elements are those of `of`, perhaps in
 * another order or as float values, so that parameters of one are those of the other. */
void qn_importer_copy_names(qn_importer *im, qn_id x, qn_id of);

/* Adds a node named after the current one.  attrs NULL: defaults.  type NULL: inferred.  Folds when all
 * inputs are constants and folding is possible.  0: an input is 0, or a problem was reported. */
qn_id qn_importer_op(qn_importer *im, qn_op op, uint32_t nin, const qn_id *in,
		     const qn_attrs *attrs, const qn_type *type);
/* The same without folding: a quantized constant stays quantized. */
qn_id qn_importer_op_unfolded(qn_importer *im, qn_op op, uint32_t nin, const qn_id *in,
			      const qn_attrs *attrs, const qn_type *type);
/* An input of the graph; 0 after a report. */
qn_id qn_importer_input(qn_importer *im, const char *name, const qn_type *type);
qn_id qn_importer_unary(qn_importer *im, qn_op op, qn_id x);
qn_id qn_importer_binary(qn_importer *im, qn_op op, qn_id a, qn_id b);

/* Whether no product of dims, zeros left out, is beyond what a value may have. */
bool qn_importer_dims_fit(int32_t rank, const int64_t *dim);

/* The op's attributes with their defaults. */
qn_attrs qn_importer_attrs(qn_op op);

/* Constants. */
qn_id qn_importer_const(qn_importer *im, const char *name, const qn_tensor *value);
qn_id qn_importer_f32(qn_importer *im, double value);                 /* a scalar */
qn_id qn_importer_i64(qn_importer *im, int64_t v);                    /* a scalar */
qn_id qn_importer_i64s(qn_importer *im, int32_t n, const int64_t *v); /* a vector */
/* The value of a constant, NULL when x is not a constant. */
const qn_tensor *qn_importer_known(const qn_importer *im, qn_id x);
/* The integers of a constant of at most `most` elements; their number, -1 when x is not a constant or
 * has more (not reported). */
int32_t qn_importer_ints(const qn_importer *im, qn_id x, int32_t most, int64_t *v);

/* The integer, or where it is beyond all dimensions -QN_IMPORT_MOST or QN_IMPORT_MOST: files write the largest
 * number for "to the end". */
int64_t qn_importer_near(int64_t v);

/* The scale of a file as that of a type.  Converters give a channel whose weights are all 0 a scale of 0, and kernels
 * multiply its sums by 0.  Types need a positive scale: this one leaves nothing of any sum. */
double qn_importer_scale(double scale);

const qn_type *qn_importer_type(const qn_importer *im, qn_id x);

/* Compositions.  reshape: dims are known.  transpose: perm of the rank of x, x itself when it is the identity. */
qn_id qn_importer_reshape(qn_importer *im, qn_id x, int32_t rank, const int64_t *dim);
qn_id qn_importer_transpose(qn_importer *im, qn_id x, const int64_t *perm);
/* x as often as `repeats` says along each axis, by several tiles where kernels cannot copy along so many axes. */
qn_id qn_importer_tile(qn_importer *im, qn_id x, int32_t n, const int64_t *repeats);
/* A transpose of a constant of any type and size, scales along with their axis; perm is one. */
qn_id qn_importer_permuted(qn_importer *im, qn_id x, const int64_t *perm);
/* Between N C D1 … and N D1 … C, of any rank >= 2. */
qn_id qn_importer_channels_last(qn_importer *im, qn_id x);
qn_id qn_importer_channels_first(qn_importer *im, qn_id x);
/* A view with dims of 1 put in at axes (counted in the result) or left out. */
qn_id qn_importer_expand_dim(qn_importer *im, qn_id x, int32_t axis);
qn_id qn_importer_drop_dim(qn_importer *im, qn_id x, int32_t axis);
/* A matrix: rows of the axes before `axis`, columns of those from it on. */
qn_id qn_importer_matrix(qn_importer *im, qn_id x, int32_t axis);
/* A slice of step 1 along one axis. */
qn_id qn_importer_slice(qn_importer *im, qn_id x, int32_t axis, int64_t begin, int64_t end);
/* n >= 1 values joined along an axis. */
qn_id qn_importer_join(qn_importer *im, int64_t n, const qn_id *x, int32_t axis);
/* A reduction over axes of the front (reduce_mean …). */
qn_id qn_importer_reduce(qn_importer *im, qn_op op, qn_id x, int32_t naxes, const int64_t *axes,
			 bool keepdims);
/* The value in another plain element type; x itself when it has it. */
qn_id qn_importer_cast(qn_importer *im, qn_id x, qn_plain to);

#endif
