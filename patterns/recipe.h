/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.h - rules that say for parts of a graph how they are stored.
 *
 *   {"rules": [{"activations": "i8"}, {"name": "conv1*", "activations": "i16"}, {"op": "dense", "weights": "i4", "method": "kl"}]}
 *
 * A rule holds for a match if one of its nodes has the name and the op; for a graph input or
 * output, which are of the ops "input" and "output", by its name.  Each key is taken from the last
 * rule that holds and has it. */
#ifndef QN_PATTERNS_RECIPE_H
#define QN_PATTERNS_RECIPE_H

#include "patterns/group.h"
#include "patterns/quantizer.h"

typedef struct qn_recipe_rule {
	const char *place;     /* in the recipe, for messages */
	const char *name, *op; /* NULL: any; name: a glob (glob.h) */
	bool has_activations, has_weights, has_granularity, has_skip;
	qn_storage activations;
	bool automatic; /* … is to be chosen: i8, or i16 where the outputs need it */
	bool widens; /* of no text: i16 was chosen, for what is automatic by the rules before it */
	bool per_axis;      /* … with a scale for each channel */
	qn_scale_time when; /* not QN_STATIC: `activations` says nothing */
	uint8_t weight_bits;
	int32_t weight_block; /* 0: none */
	bool per_tensor, skip;
	const char *method; /* of calibration; NULL: the rule has none */
	bool has_rounding, has_bias, has_equalize, has_narrow;
	qn_weight_rounding rounding;
	bool bias, equalize, narrow;
} qn_recipe_rule;

typedef struct qn_recipe {
	const qn_recipe_rule *rule;
	size_t n;
	bool *used;    /* rules that held somewhere, so far */
	bool *dynamic; /* rules by which a layer got its scale at run time */
	uint32_t crc;  /* of the text */
} qn_recipe;

/* Whether a rule holds for a node of a graph: for it, or for one of the layers that it came from. */
bool qn_recipe_rule_holds(const qn_recipe_rule *r, const qn_node *n);

/* … for something of this op and name. */
bool qn_recipe_rule_matches(const qn_recipe_rule *r, const char *op, const char *name);
bool qn_recipe_has_skip(const qn_recipe *r);
/* The options for a composite; for a graph's input or output of this name. */
qn_quant_opts qn_recipe_for_graph(const qn_quant_opts *opts, const qn_graph *composite);
qn_quant_opts qn_recipe_for_value(const qn_quant_opts *opts, const char *op, const char *name);
/* Why the group is skipped, in arena a; NULL: it is not. */
const char *qn_recipe_skips(const qn_recipe *r, qn_arena *a, const qn_graph *g, const qn_group *gr);
/* Whether no rule skips the composite of this call: partition would have left it out (recipe.late). */
bool qn_recipe_agrees(const qn_recipe *r, const qn_graph *composite, const char *name);
/* Reports rules that match nothing: no node of the graph, no input and no output has their name and
 * op (recipe.nothing, with the nearest names). */
qn_status qn_recipe_check(const qn_recipe *r, const qn_graph *g) QN_MUST_CHECK;
/* Whether some rule leaves it open how activations are stored. */
bool qn_recipe_is_automatic(const qn_recipe *r);
/* Whether a rule about inputs, or of this name, says how the input is stored. */
bool qn_recipe_stores_input(const qn_recipe *r, const char *name);
/* Marks the rules with scales at run time that hold for a composite: it was written with one, or a later rule says
 * otherwise. */
void qn_recipe_use_dynamic(const qn_recipe *r, const qn_graph *composite, bool computed);
/* Reports rules with scales at run time by which no layer got one (recipe.dynamic). */
qn_status qn_recipe_check_dynamic(const qn_recipe *r, const qn_graph *g) QN_MUST_CHECK;

/* ---- rules that have an effect (recipe_used.c) ---- */

/* Whether a rule says something of weights and nothing else. */
bool qn_recipe_rule_is_of_weights(const qn_recipe_rule *r);
/* Whether storages of activations may differ in a partitioned graph: then each match gives its result
 * parameters of its own.  Rules that leave it open do not count. */
bool qn_recipe_mixes(const qn_recipe *r, const qn_graph *g);
/* Marks the rules of weights alone that hold for a composite with constant operands. */
void qn_recipe_use_weights(const qn_recipe *r, const qn_graph *g);
/* Marks the rules that skip and held for something when the model was partitioned. */
void qn_recipe_use_skips(const qn_recipe *r, const qn_model *m);
/* Warns of rules that changed nothing of a partitioned graph, and says why (recipe.unused). */
void qn_recipe_warn(const qn_recipe *r, const qn_graph *g);

/* ---- repairs (recipe_repairs.c) ---- */

/* What is repaired at a layer. */
typedef struct qn_recipe_repair {
	qn_weight_rounding rounding;
	bool bias;
	bool equalize, says_equalize; /* the latter: a rule says so */
	bool narrow, says_narrow;
} qn_recipe_repair;

/* Whether rules ask for something that the pass repair does: for other weights or biases of layers, for narrower ranges;
 * for the pass equalize. */
bool qn_recipe_repairs(const qn_recipe *r);
bool qn_recipe_repairs_layers(const qn_recipe *r);
bool qn_recipe_narrows(const qn_recipe *r);
bool qn_recipe_equalizes(const qn_recipe *r);
/* What the rules say for a layer of g replaces what is in `out`.  uses: of qn_graph_uses. */
void qn_recipe_repair_layer(const qn_recipe *r, const qn_graph *g, const uint32_t *uses,
			    qn_id layer, qn_recipe_repair *out);

#endif
