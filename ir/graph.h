/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - models, graphs, nodes.  One node, one value: a value is the id of its node.
 *
 *   model ── types, symbols, named parameters
 *     └─ graph "main"                node 1  input  image                 : tensor<1x8x8x1xf32>
 *                                    node 2  const  conv1.w               : tensor<16x3x3x1xf32>
 *                                    node 3  conv2d conv1 (1, 2) {…}      : tensor<1x8x8x16xf32>
 *                                    outputs: probs = 3
 *
 * A node's inputs have smaller ids than the node (the order is topological); nodes are never
 * changed after they are added: a pass builds a new graph by copying.  Names are unique within a
 * graph.  A `call` node calls an earlier graph of the model (a composite). */
#ifndef QN_IR_GRAPH_H
#define QN_IR_GRAPH_H

#include "ir/hashes.h"
#include "ir/ops.h"
#include "ir/prep.h"

typedef uint32_t qn_id; /* number of a node of a graph; 0: no value */

/* What is known of a node beside what it computes.  It decides what later passes do and how messages
 * name the node, so every pass copies it, and both file forms hold it.  Never changed; lives as long
 * as the model. */
typedef struct qn_facts {
	bool skipped; /* stays in float: --skip, a recipe or the host says so.  Text: skipped */
	/* why no quantizer pattern took it, for messages; NULL: one did, or none was tried.
	 * Text: note "…" */
	const char *note;
	/* the layers of the source's file that it stands for; 0: that of its own name, or none
	 * (qn_node_origin).  Text: from ["…", …] */
	uint32_t norigin;
	const char *const *origin;
} qn_facts;

struct qn_node {
	qn_op op;
	uint32_t nin;
	const qn_id *in;
	/* NULL: the op's set is `none`.  Only the member named like the set may be read; no more
	 * is there */
	const qn_attrs *attr;
	const qn_type *type;    /* never NULL in a graph */
	const char *name;       /* unique in the graph */
	const qn_tensor *value; /* const */
	const qn_graph *callee; /* call */
	const qn_facts *facts;  /* NULL: none but those that follow from its name */
	/* where it was read (file:line:column or file:/pointer), "" when made by a pass */
	const char *place;
};

/* ---- layers (facts.c) ---- */

/* Whether a node is a layer of its own where nothing else is said: not constants, inputs, calls and
 * conversions between types. */
bool qn_node_computes(const qn_node *n);
/* The names of the layers that a node stands for; they live as long as the node. */
size_t qn_node_origin(const qn_node *n, const char *const **names);

/* Names of layers, each once, in the order in which they were added; those beyond the most that a
 * node remembers are left out. */
enum { QN_MOST_LAYERS = 32 };
typedef struct qn_layers {
	const char *name[QN_MOST_LAYERS];
	uint32_t n;
} qn_layers;
void qn_layers_add(qn_layers *l, size_t n, const char *const *names);
void qn_layers_add_node(qn_layers *l, const qn_node *n);
/* The facts of n (its op and name are looked at) when it stands for these layers and is otherwise
 * like `like`, which may be NULL; NULL when they follow from its name. */
const qn_facts *qn_facts_make(qn_model *m, const qn_node *n, const qn_facts *like,
			      const qn_layers *layers);
/* Those of n, which had the name `before`. */
const qn_facts *qn_facts_renamed(qn_model *m, const qn_node *n, const char *before);

/* Other facts for a node of a graph that is not finished yet: its maker's alone. */
void qn_graph_set_facts(qn_graph *g, qn_id id, const qn_facts *facts);
/* " (layers 'a', 'b')" where the source's file knows the node by other names than its own, else "";
 * in arena a. */
const char *qn_node_layers(const qn_node *n, qn_arena *a);

/* The attributes of a node whose op has some. */
void qn_attrs_of(const qn_node *n, qn_attrs *out);

/* What a composite became when it was quantized: a part of the entry graph.  Values by name: names
 * survive. */
typedef struct qn_part {
	const char *pattern; /* the quantizer pattern's name */
	const char *out;     /* the value that it gives */
	uint32_t nin;
	/* the values that it takes, in the order of the composite's inputs */
	const char *const *in;
	const char *method;         /* of its symbols (qn_symbol); NULL: that of the options */
	const struct qn_part *next; /* the one that stands after it in the graph */
} qn_part;

typedef struct qn_output {
	const char *name;
	qn_id value;
} qn_output;

typedef struct qn_graph_attr {
	const char *key, *value; /* texts, not empty */
} qn_graph_attr;

enum { QN_NODE_BLOCK = 64 }; /* nodes */

struct qn_graph {
	qn_model *model;
	qn_arena *arena; /* of its nodes, names and attributes; tensors and types are the model's */
	const char *name;
	/* a composite: the name of the quantizer pattern that made it; else NULL.  Text: graph
	 * @name(…) pattern "conv2d" {  JSON: "pattern" */
	const char *pattern;
	/* what a partition says of a composite; nothing reads it here.  Text: graph @name(…)
	 * attrs {key="value"} {  JSON: "attrs" */
	qn_graph_attr *attr;
	size_t nattr, attr_cap;
	qn_node **block; /* of QN_NODE_BLOCK nodes, which never move; node 0 is unused */
	size_t block_cap;
	uint32_t n;         /* number of nodes, the unused one included: ids are 1 .. n-1 */
	uint32_t first_cap; /* nodes in block 0: small graphs have a smaller one */
	qn_id *input;       /* `input` nodes in the order of the signature */
	size_t ninput, input_cap;
	qn_output *output;
	size_t noutput, output_cap;
	/* of an entry graph, values that are kept from one run to the next (docs/state.md): the last
	 * nstate inputs are their values before a run, the last nstate outputs those after it, in
	 * the same order and with the same types.  Text: %h: tensor<4xf32> state … return %n to %h */
	size_t nstate, state_cap;
	const qn_tensor *
		*init; /* [nstate] the first values (qn_state_init_type); NULL: all are 0 */
	/* of a symbolic graph: what the matches of quantizer patterns became.  Text: part
	 * "dense" %x, %w -> %y */
	const qn_part *parts;
	qn_hashes names; /* name -> node */
	qn_map counters; /* base name -> the last number appended to it */
};

typedef enum qn_stage {
	QN_STAGE_FLOAT,      /* no quantized types */
	QN_STAGE_SYMBOLIC,   /* scales may be symbols */
	QN_STAGE_CALIBRATED, /* all scales are numbers; float and integer nodes mixed */
	QN_STAGE_INTEGER     /* no value of a float type */
} qn_stage;

extern const char *const qn_stage_names[4]; /* "float", "symbolic", "calibrated", "integer" */

/* Names that a value has in the file of another tool, the one that other tools know first: of a
 * constant, that of the file's initializer. */
typedef struct qn_foreign_name {
	const char *name;
	bool constant; /* it is that of a constant */
	struct qn_foreign_name *next;
} qn_foreign_name;

/* What the range of a symbol cuts off of the values that were observed.  For the report. */
typedef struct qn_clipped {
	const char *value;          /* the symbol's name */
	uint64_t outside, elements; /* of all elements that many, at least 1, lie wholly outside */
} qn_clipped;

/* A layer that lost channels that are the same for all inputs, or that are not read.  For the report. */
typedef struct qn_pruned {
	const char *value;          /* the layer's node */
	uint64_t removed, channels; /* of its `channels` outputs that many */
	uint64_t bytes, macs;       /* its constants and its multiplications are that many less */
} qn_pruned;

/* A layer whose constants the pass repair looked at.  For the report. */
typedef struct qn_repaired {
	const char *value; /* the layer's output */
	double before,
		after; /* its SQNR on the samples held back: hundredths of dB, -99.99 … 999.99 dB */
	bool weights, bias; /* what was changed; neither: nothing helped */
} qn_repaired;

/* A layer whose activations got 16 bits because the outputs need them.  For the report. */
typedef struct qn_widened {
	const char *value; /* the layer, as recipes name it */
	double gain;       /* of the outputs' SQNR on the samples held back: hundredths of dB */
} qn_widened;

/* What the pass stream made of a network over a window. */
typedef struct qn_streamed {
	const char *input; /* which takes hops */
	int32_t axis;
	int64_t hop, window; /* rows of a run, and of the window */
} qn_streamed;

struct qn_model {
	qn_arena *arena; /* types, symbols and constants live here */
	/* new graphs; a pass gets one of its own, given back when later graphs stand */
	qn_arena *graphs;
	qn_arena *scratch; /* tables of the pass or call that runs; at first the model's arena */
	qn_env *env;
	qn_types types;
	const char *name;
	qn_stage stage;
	/* the options of passes, for the emitted files: "scheme=tflite weights=per-channel …";
	 * "" before */
	const char *options;
	/* the last pass that ran over it (a name of driver/pass_rows.c); NULL: none did.  Text:
	 * after "clean" */
	const char *after;
	/* QN_RQ_DOUBLE 0, QN_RQ_SINGLE 1, QN_RQ_NEAREST 2 or QN_RQ_EVEN 3: how integer nodes
	 * round (runtime/fixed.h) */
	int32_t rounding;
	qn_graph **graph; /* callees before callers; the last one is the entry */
	size_t ngraph, graph_cap;
	/* node name -> the names that its value has in the file of another tool
	 * (qn_foreign_name); NULL: it was read from none.  Text: tensor %n "a", "b" constant */
	qn_map *tensors;
	/* each of those names, also of removed values -> one that has it
	 * (qn_foreign_name); NULL as tensors.  Text, of removed values: tensor "c" */
	qn_map *tensor_names;
	const qn_foreign_name **named; /* those, in the order in which they were added */
	size_t nnamed, named_cap;
	/* the passes quantize or calibrate gave it its parameters, it did not come with them.
	 * Text: quantized */
	bool quantized_here;
	/* samples were given for values that it came without parameters for.  Text: opened */
	bool opened;
	/* what calibration cut off, each value once; never changed in place.  Text: clipped
	 * "conv1.x" 20 of 204800 */
	const qn_clipped *clipped;
	size_t nclipped;
	/* what the pass prune removed, each layer once; never changed in place.  Text: pruned
	 * "conv1" 5 of 16, bytes 720, macs 5120 */
	const qn_pruned *pruned;
	size_t npruned;
	/* layers for which the pass quantize chose 16 bits, each once; never changed in place.  Text:
	 * widened "conv1" 12.5 dB */
	const qn_widened *widened;
	size_t nwidened;
	/* what the pass repair did, each layer once; never changed in place.  Text: repaired
	 * "conv1" 18.25 to 24.1 dB, weights, bias */
	const qn_repaired *repaired;
	size_t nrepaired;
	/* the float graph before that, to compare with; no file holds it */
	const qn_graph *unrepaired;
	/* what the samples of each of nprep inputs went through before it was calibrated, NULL: nothing; no file of a
	 * model holds it, one of statistics does */
	const qn_prep *const *prep;
	size_t nprep;
	/* NULL: it was not streamed.  Text: streamed "x" axis 1, 2 of 49 */
	const qn_streamed *streamed;
};

/* Adds to what was removed of this layer before. */
void qn_model_pruned(qn_model *m, const qn_pruned *p);
/* Notes that a layer got 16 bits, in place of what was noted of it before. */
void qn_model_widened(qn_model *m, const qn_widened *w);
/* Notes what a repair did, in place of what was noted of this layer before. */
void qn_model_repaired(qn_model *m, const qn_repaired *r);
void qn_model_streamed(qn_model *m, const qn_streamed *s);
/* Notes what a range cuts off, in place of what was noted of this value before. */
void qn_model_clipped(qn_model *m, const qn_clipped *c);

extern const char *const qn_rounding_names[4]; /* "double", "single", "nearest", "even" */

void qn_model_init(qn_model *m, qn_env *env, qn_arena *arena, const char *name);
/* Appends to m->options, a blank between. */
void qn_model_record(qn_model *m, const char *fmt, ...) QN_PRINTF(2, 3);
qn_graph *qn_model_entry(const qn_model *m); /* NULL when there is no graph */
qn_graph *qn_model_graph(const qn_model *m, const char *name);
/* A new empty graph that is not yet part of the model; add appends it. */
qn_graph *qn_graph_new(qn_model *m, const char *name);
/* The same in an arena of the caller's, for a graph that only a pass needs. */
qn_graph *qn_graph_new_in(qn_model *m, const char *name, qn_arena *arena);
/* Appends an attribute; texts are copied. */
void qn_graph_add_attr(qn_graph *g, const char *key, const char *value);
/* NULL when the key is missing. */
const char *qn_graph_attr_value(const qn_graph *g, const char *key);
/* What is known of a graph beside its nodes: pattern, attributes and parts. */
void qn_graph_copy_facts(qn_graph *to, const qn_graph *from);
/* Appends a part after *last and copies its texts; returns where the next one goes. */
const qn_part **qn_graph_add_part(qn_graph *g, const qn_part **last, const qn_part *part);
void qn_model_add_graph(qn_model *m, qn_graph *g);

/* Adds a node (copied, with its inputs, attributes and name; `like->type` is the declared type
 * or NULL) after checking arity and inferring its type. A name that is NULL or taken is replaced
 * by "<base>_<k>", base being the given name or the op's.  Returns 0 after reporting an error.
 * Ids: op.arity, op.input, type.mismatch and those of the shape rules (shape.…, attr.…). */
qn_id qn_graph_add(qn_graph *g, const qn_node *like);

/* Short forms.  attr NULL: defaults.  type NULL: inferred. */
qn_id qn_graph_input(qn_graph *g, const char *name, const qn_type *type);
qn_id qn_graph_const(qn_graph *g, const char *name, const qn_tensor *value);
qn_id qn_graph_op(qn_graph *g, qn_op op, const char *name, uint32_t nin, const qn_id *in,
		  const qn_attrs *attr, const qn_type *type);
void qn_graph_output(qn_graph *g, const char *name, qn_id value);
/* The nodes of `from` in an order (all ids; NULL: their own), but those that `map` has already, and those that are not
 * needed (NULL: all are); map: their values in `to`.  false after a report. */
bool qn_graph_copy_nodes(qn_graph *to, const qn_graph *from, const qn_id *order, const bool *need,
			 qn_id *map);
/* The outputs and states of `from`; map: its values in g. */
void qn_graph_copy_outputs(qn_graph *g, const qn_graph *from, const qn_id *map);

/* ---- states (state.c) ---- */

/* The input that was added last is a state with these first values, NULL: all are 0. */
void qn_graph_add_state(qn_graph *g, const qn_tensor *init);
/* The states of `from`, whose inputs and outputs g has or will have. */
void qn_graph_copy_states(qn_graph *g, const qn_graph *from);
/* Inputs that the caller of a run feeds, and outputs that it gets: the first ones. */
static inline size_t
qn_graph_fed(const qn_graph *g)
{
	return g->ninput - g->nstate;
}
static inline size_t
qn_graph_given(const qn_graph *g)
{
	return g->noutput - g->nstate;
}
/* Whether it reads a sequence of tokens, one in each run: its only input is a plain integer, and it has states and one
 * output. */
bool qn_graph_reads_tokens(const qn_graph *g);
/* State k's input node. */
const qn_node *qn_graph_state(const qn_graph *g, size_t k);
/* The type of a state's first values: of a quantized one the float type that it expresses. */
const qn_type *qn_state_init_type(qn_types *t, const qn_type *state);
/* State k before the first run, in its own type, which is static and without symbols, in arena a. */
const qn_tensor *qn_graph_state_init(const qn_graph *g, size_t k, qn_arena *a);
/* What is wrong with states; reports. */
void qn_states_verify(const qn_graph *g);
/* Whether two graphs' states start with the same values. */
bool qn_states_equal(const qn_graph *a, const qn_graph *b);

static inline const qn_node *
qn_graph_node(const qn_graph *g, qn_id id)
{
	return &g->block[id / QN_NODE_BLOCK][id % QN_NODE_BLOCK];
}

/* A copy of g in arena a, with the values of symbols in its types. */
qn_status qn_graph_bind(const qn_graph *g, qn_arena *a, qn_graph **out) QN_MUST_CHECK;
/* A copy of g in arena a whose values have the types that retype makes of theirs (NULL: reported), with
 * the same bytes per element. */
typedef const qn_type *qn_retype_fn(const qn_graph *g, qn_id id, const void *user);
qn_status qn_graph_retype(const qn_graph *g, qn_retype_fn *retype, const void *user, qn_arena *a,
			  qn_graph **out) QN_MUST_CHECK;
/* A graph in arena a that computes the values `out` of g from the values `in`, which become its
 * inputs in this order; bind: as qn_graph_bind does. */
qn_status qn_graph_extract(const qn_graph *g, size_t nin, const qn_id *in, size_t nout,
			   const qn_id *out, bool bind, qn_arena *a, qn_graph **part) QN_MUST_CHECK;

/* 0 when there is none. */
qn_id qn_graph_find(const qn_graph *g, const char *name);
/* Number of uses of each value (node inputs and outputs), an array of g->n, in arena a. */
uint32_t *qn_graph_uses(const qn_graph *g, qn_arena *a);
/* "node 'conv1'" with the place it was read from, for diagnostics; in the arena for temporary data. */
const char *qn_node_place(const qn_graph *g, const qn_node *n);

/* ---- text form (docs/ir.md) and verifier ---- */

/* Reads a model from its text form.  name: for messages. */
qn_status qn_model_parse(qn_model *m, const char *file, const char *s, size_t n) QN_MUST_CHECK;
/* The same with a text whose memory is limited: splat and rand make at most 2^20 elements. */
qn_status qn_model_parse_small(qn_model *m, const char *file, const char *s,
			       size_t n) QN_MUST_CHECK;
void qn_model_print(qn_buf *b, const qn_model *m);
void qn_graph_print(qn_buf *b, const qn_graph *g);
/* "stride=[2,2], padding=same": the attributes that differ from their defaults, with `before`
 * before the first; returns their number. */
size_t qn_attrs_print(qn_buf *b, const qn_node *n, const char *before);
/* Reads such a text.  place: for messages (attr.unknown, attr.value, attr.missing …). */
qn_status qn_attrs_parse(qn_model *m, const qn_opinfo *op, const char *place, const char *text,
			 qn_attrs *out) QN_MUST_CHECK;

/* All rules of the graphs at the model's stage: topological order, arity, types as inferred, no
 * symbol unbound from `calibrated` on, no quantized type in `float`, no float type in `integer`
 * (verify.float, with the node).  Reports all problems. */
qn_status qn_model_verify(const qn_model *m) QN_MUST_CHECK;

/* Two models with equal text are equal; graphs compare by structure, ignoring names of nodes. */
bool qn_graph_equal(const qn_graph *a, const qn_graph *b);

#endif
