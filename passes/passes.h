/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - graph -> graph functions.  Each file is one pass with one public function; the
 * order is in driver/pass_rows.c. */
#ifndef QN_PASSES_PASSES_H
#define QN_PASSES_PASSES_H

#include "ir/graph.h"
#include "ir/pin.h"

/* Writes out the steps of all loops; the bytes of the outputs stay.  Ids: limit.nodes. */
qn_status qn_inline_bodies(qn_model *m) QN_MUST_CHECK;

/* Moves transposes to where they meet, or to the ends of the graph, and drops them. */
qn_status qn_axes(qn_model *m) QN_MUST_CHECK;

/* Ends the entry graph at n values, by the names of outputs or nodes, when a model has been read.  place: the file, for
 * messages (import.cut). */
qn_status qn_cut(qn_model *m, const char *place, size_t n, const char *const *name) QN_MUST_CHECK;

/* Makes constants of inputs of the entry graph, when a model has been read.  place: the file, for messages
 * (import.value). */
qn_status qn_pin_inputs(qn_model *m, const char *place, size_t n, qn_pin *pin) QN_MUST_CHECK;

/* Makes states of inputs and outputs of the entry graph, when a model has been read.  text: "OUTPUT=INPUT";
 * pin: first values of such inputs.  place: the file, for messages (import.tie, import.value). */
qn_status qn_tie_states(qn_model *m, const char *place, size_t n, const char *const *text,
			size_t npin, qn_pin *pin) QN_MUST_CHECK;

/* Computes features of sound before an input of the entry graph, when a model has been read.  text:
 * "[INPUT=]OP[:ATTRIBUTE=VALUE,…]", OP log_mel or mfcc.  place: as above (import.front-end). */
qn_status qn_front_end(qn_model *m, const char *place, const char *text) QN_MUST_CHECK;

/* Folds constants and batch norms; prepares a float graph for the quantizer. */
qn_status qn_clean(qn_model *m) QN_MUST_CHECK;

/* Moves slices up past what joins or arranges values, where they end at whole values or at channels of layers.
 * (passes/hoist_slices.c) */
qn_status qn_hoist_slices(qn_model *m) QN_MUST_CHECK;

/* Makes a layer of each part of the channels that slices and splits take of one.  (passes/split_layers.c) */
qn_status qn_split_layers(qn_model *m) QN_MUST_CHECK;

/* Replaces each const_fake_quant by a quantize and a dequantize with its type.  float -> calibrated
 * where there is one; else nothing changes. */
qn_status qn_fake_quant(qn_model *m) QN_MUST_CHECK;
/* Whether a graph of the model has a node of this op.  (passes/fake_quant.c) */
bool qn_has_op(const qn_model *m, qn_op op);

/* Puts the values of bound symbols into all types; fails while one is unbound. symbolic ->
 * calibrated. */
qn_status qn_bind(qn_model *m) QN_MUST_CHECK;

/* Quantizes the result of a layer once, to the finest of the types of 8 bits that its readers quantize it to, where no
 * reader needs more; then no sums are stored for them.  calibrated -> calibrated.  (passes/share_values.c) */
qn_status qn_share_values(qn_model *m) QN_MUST_CHECK;

typedef struct qn_requant_opts { /* all zero: defaults */
	bool exact; /* no averages of quantized values, which round twice: avg_pool and resize_bilinear stay float */
	bool merge_always; /* chains of requantizes become one even where the values in between saturate */
	bool require_int; /* fail (QN_EUNSUPPORTED), listing what stays in float, each with its reason */
	bool measured; /* samples give ranges: none is derived but where it keeps all quantized values */
} qn_requant_opts;

/* Folds dequantize/quantize pairs so that values stay integer.  calibrated -> calibrated.  opts
 * NULL: defaults. */
qn_status qn_requantize(qn_model *m, const qn_requant_opts *opts) QN_MUST_CHECK;

/* Moves quantizes up to the float inputs that nothing else reads, past what moves them: the first
 * step of legalize.  *out is g where there are none. */
qn_status qn_requantize_inputs(qn_model *m, qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* QN_EUNSUPPORTED and the list of a requantized graph's nodes that stay float, inputs and outputs
 * apart: legalize makes those integer.  exact: averages were to stay float (--no-approx).
 * (passes/legalize.c) */
qn_status qn_require_integer(qn_model *m, qn_graph *g, bool exact) QN_MUST_CHECK;

/* Lists the nodes that keep a graph from being integer, each with the reason (legalize.float).
 * QN_OK: there are none.  (passes/float_left.c) */
qn_status qn_report_float(qn_model *m, const qn_graph *g, bool exact) QN_MUST_CHECK;

/* The graph that qn_require_integer looks at.  (passes/legalize.c) */
qn_status qn_integer_graph(qn_model *m, qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* The names of the nodes that keep such a graph from being integer, inputs among them.
 * (passes/float_left.c) */
void qn_float_names(const qn_graph *g, qn_map *names);

/* In a model that came quantized, quantizes values that nothing quantizes, and which would stay in
 * float: *npair of them, *nsymbol with symbols of their own that calibrate binds.  calibrated ->
 * symbolic, or calibrated without symbols; to be called again after they are bound, until *npair
 * is 0.  opts: of the requantize that follows.
 * *stays: a node stays in float as the graph is. */
qn_status qn_open_values(qn_model *m, const qn_requant_opts *opts, size_t *npair, size_t *nsymbol,
			 bool *stays) QN_MUST_CHECK;

/* In such a model, gives symbols to what quantize writes in a form of its own, an lrn and what loops carry: *nopened
 * of them.  calibrated -> symbolic, or calibrated where there are none.  (passes/open_written.c) */
qn_status qn_open_written(qn_model *m, size_t *nopened) QN_MUST_CHECK;
/* g where what its loops carry in float has the type that a quantized graph says of it; g itself where it says none.
 * derives: or else one that reaches as far as the values of all steps can. */
qn_status qn_carried_types(qn_model *m, qn_graph *g, bool derives, qn_graph **out) QN_MUST_CHECK;
/* Whether there is such a type, said or derived, of all that they carry. */
bool qn_knows_carried(qn_model *m);

/* Whether a model that has its parameters came with them: Quern did not choose what to quantize.
 * (passes/float_imported.c) */
bool qn_came_quantized(const qn_model *m);

/* Makes every scale a fixed-point number of that many bits, QN_FIX_LEAST to QN_FIX_MOST, and sums of
 * quantized values exact; warns (align.loss) of sums whose operands lie far apart.  calibrated ->
 * calibrated. */
qn_status qn_align_model(qn_model *m, int32_t bits) QN_MUST_CHECK;

/* Gives the products of 8-bit data weights of 7 bits, twice their scales, and biases to match.
 * calibrated -> calibrated.  (passes/reduce_range.c) */
qn_status qn_reduce_range_of(qn_model *m) QN_MUST_CHECK;

/* Of the products of 8-bit data, those with two neighbouring weights whose products with unsigned
 * data can sum to more than 16 bits. */
typedef struct qn_saturation {
	size_t products, saturating;
	const qn_node *first; /* that can saturate, NULL: none */
} qn_saturation;
qn_saturation qn_saturation_of(const qn_model *m);

/* Makes inputs and outputs integer and quantizes attributes; fails (QN_EUNSUPPORTED)
 * with a list of the nodes that stay float and the reasons. calibrated -> integer. */
qn_status qn_legalize(qn_model *m) QN_MUST_CHECK;

/* Makes simpler types of those with blocks that are equal to one; flags: QN_NORMALIZE_… (type.h).  Any
 * stage. */
qn_status qn_normalize_quant_types(qn_model *m, unsigned flags) QN_MUST_CHECK;
/* Of values that are not stored, blocks along one axis become a scale for each of its indices: kernels have these.  *out: g,
 * or a graph for the time of the call. */
qn_status qn_expand_activations(qn_model *m, qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* A graph like g, for the time of the call, whose inputs have these types: those of g with dimensions that g leaves
 * open (ids of the shape rules). */
qn_status qn_specialize(const qn_graph *g, const qn_type *const *input,
			qn_graph **out) QN_MUST_CHECK;

/* quantize and dequantize as plain arithmetic with the same bits.  Any stage but symbolic.  Id:
 * lower.quant, for what cannot be lowered (QN_EUNSUPPORTED). */
qn_status qn_lower_quant(qn_model *m) QN_MUST_CHECK;
/* g with constants that are stored as floats of few bits as f32; g itself where there are none. */
qn_status qn_unpack_floats(qn_model *m, qn_graph *g, qn_graph **out) QN_MUST_CHECK;
/* Of one graph; pass: for messages. */
qn_status qn_lower_quant_graph(qn_model *m, qn_graph *g, const char *pass,
			       qn_graph **out) QN_MUST_CHECK;

/* The same, and plain integers in place of all quantized types.  Any stage but symbolic -> float.  Id:
 * strip.computes, for ops that compute with quantized values (QN_EUNSUPPORTED). */
qn_status qn_strip_quant(qn_model *m) QN_MUST_CHECK;

/* Removes channels that are the same for all inputs, or that are not read; the bytes of the outputs
 * stay.  Leaves the graph as it is where there are none.  integer -> integer. */
qn_status qn_prune(qn_model *m) QN_MUST_CHECK;

/* Writes requantize, sums, products and dense as operations on plain integers; the bytes of all values stay.
 * integer -> integer. */
qn_status qn_lower_fixed_point(qn_model *m) QN_MUST_CHECK;

/* Computes each function of one 8-bit value that takes several steps by one table; the bytes of the
 * outputs stay.  integer -> integer. */
qn_status qn_tables(qn_model *m) QN_MUST_CHECK;

/* Computes layers between values of 8 and of 16 bits on values of 16 bits, for which there are kernels.  The bytes of results
 * of 8 bits stay; those of 16 bits can differ by one.  integer -> integer. */
qn_status qn_mixed_storage(qn_model *m) QN_MUST_CHECK;

/* Makes a network over a hop of rows, with states, of one over a window; the bytes of the outputs stay once the window
 * is full.  text: "[INPUT:]axis=A,hop=H[,window=NODE]".  Any stage.  Ids: stream.… */
qn_status qn_stream_model(qn_model *m, const char *text) QN_MUST_CHECK;
/* Whether the text is one for this model, before other passes run. */
qn_status qn_stream_option(qn_model *m, const char *text) QN_MUST_CHECK;

#endif
