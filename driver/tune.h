/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - a search for a recipe: what it knows, and its parts.
 *
 *   round 0   one storage for all layers ──▶ what each layer costs with it    (tune_layers.c)
 *   round 1   the least noise for some budgets, by those costs                 (tune_plan.c, tune_rounds.c)
 *   round 2…  what is near the best so far
 *   the last  the best one without each of its repairs, and with channels equalized
 *
 * The list of a round follows from what earlier rounds measured (tune_measure.c) and from nothing else, so that any
 * process can measure any part of it (tune_journal.c). */
#ifndef QN_DRIVER_TUNE_H
#define QN_DRIVER_TUNE_H

#include "driver/model_copy.h"
#include "quern/tune.h"

/* How weights may be stored, as recipes say it; the first is what others are compared with. */
enum { QN_TUNE_I8, QN_TUNE_STORAGES = 7 };
extern const char *const qn_tune_storage[QN_TUNE_STORAGES];
uint8_t qn_tune_storage_named(const char *name); /* QN_TUNE_STORAGES: no storage has it */

/* A candidate's layer: its weights and its activations. */
typedef struct qn_tune_pick {
	uint8_t storage; /* of qn_tune_storage */
	bool wide;       /* 16-bit activations */
} qn_tune_pick;

/* What all layers are repaired with, where it helps: members of the first rule of a recipe. */
typedef struct qn_tune_repairs {
	qn_weight_rounding rounding;
	bool bias, equalize;
} qn_tune_repairs;

/* What is compiled. */
typedef struct qn_tune_item {
	const char *recipe; /* its text, without comments: equal ones are one candidate */
	bool by_layer;      /* what each layer costs is measured too */
} qn_tune_item;

/* A layer in a compiled candidate.  Noise is relative to the signal of the network's outputs, when nothing else is
 * quantized. */
typedef struct qn_tune_layer {
	const char *name, *op;
	bool has_weights;
	double weights, data; /* noise of its constants, of its other operands */
	uint64_t bytes, instructions;
} qn_tune_layer;

/* A candidate that was measured. */
typedef struct qn_tune_entry {
	qn_tune_item item;
	bool failed; /* it could not be compiled; the rest is 0 */
	uint64_t weight_bytes, arena_bytes, instructions;
	double metric, sqnr;
	size_t nlayer; /* 0: not by layer */
	qn_tune_layer *layer;
} qn_tune_entry;

/* Those that were measured, in any order. */
typedef struct qn_tune_entries {
	qn_tune_entry *of;
	size_t n, cap;
} qn_tune_entries;

/* A layer of the network with each storage: what tune_plan.c chooses from. */
typedef struct qn_tune_row {
	const char *name, *op;
	bool has_weights;
	bool can[QN_TUNE_STORAGES];
	double weights[QN_TUNE_STORAGES], data[2]; /* noise; data: by `wide` */
	uint64_t bytes[QN_TUNE_STORAGES], instructions[QN_TUNE_STORAGES];
	uint64_t wide_bytes, wide_instructions; /* with 16-bit activations and 8-bit weights */
} qn_tune_row;

typedef struct qn_tune_table {
	size_t n;
	qn_tune_row *row;
	bool wide;                    /* 16-bit activations were measured */
	uint64_t bytes, instructions; /* of what no row has */
} qn_tune_table;

typedef struct qn_tune {
	qn_model *m;
	const qn_tune_opts *o;
	qn_compile_opts compile;
	qn_measure_opts measure;
	qn_array **reference; /* what the float model gives, an array for each output */
	size_t nreference;
	size_t ndata;
	qn_array *const *data;
	const char *metric, *unit;
	bool more_is_better;
	double real; /* of the float model */
	size_t samples;
	qn_model_source source;
	qn_arena *a;
	uint32_t of_model, of_samples, of_options; /* for the journal */
	qn_tune_entries entries;                   /* all that are known */
	const qn_tune_entry **list;                /* those of complete rounds, in their order */
	size_t nlist, list_cap;
	size_t measured; /* by this call or an earlier one, of those that were needed */
	bool stopped;
	const qn_tune_entry *best;
	qn_tune_fn *fn;
	void *user;
} qn_tune_search;

/* tune_recipe.c: rules for the rows' picks, the most frequent storage first. */
const char *qn_tune_recipe(const qn_tune_table *t, const qn_tune_pick *pick,
			   const qn_tune_repairs *r, qn_arena *a);
const char *qn_tune_uniform(uint8_t storage, bool wide, const qn_tune_repairs *r, qn_arena *a);
/* The repairs of a recipe of these two; the same recipe with others. */
qn_tune_repairs qn_tune_repairs_of(const char *recipe, qn_arena *a);
const char *qn_tune_repaired(const char *recipe, const qn_tune_repairs *r, qn_arena *a);
/* Whether these two have written it: rules of such storages, the first one of all layers. */
bool qn_tune_recipe_is_ours(const char *recipe, qn_arena *a);
/* The picks that a recipe of qn_tune_recipe or qn_tune_uniform means. */
qn_tune_pick *qn_tune_picks_of(const qn_tune_table *t, const char *recipe, qn_arena *a);

/* tune_layers.c: from the entries of round 0. */
qn_tune_table qn_tune_table_of(const qn_tune_search *s, qn_arena *a);

/* tune_plan.c: picks of the least noise.  by_instructions: of at most `budget` estimated instructions, else bytes of
 * constants; price: of the other cost, in noise. */
typedef struct qn_tune_wish {
	bool by_instructions, wide;
	uint64_t budget;
	double price;
} qn_tune_wish;
typedef struct qn_tune_sum {
	double noise;
	uint64_t bytes, instructions;
} qn_tune_sum;
/* NULL: the least that the rows can have is more. */
qn_tune_pick *qn_tune_plan(const qn_tune_table *t, const qn_tune_wish *w, qn_arena *a);
/* The sum of the least costs of all rows, and of the largest. */
void qn_tune_range(const qn_tune_table *t, const qn_tune_wish *w, uint64_t *least, uint64_t *most);
/* Ways to store row i with 8-bit activations, or with 16-bit ones too; at most QN_TUNE_WAYS. */
enum { QN_TUNE_WAYS = QN_TUNE_STORAGES + 1 };
typedef struct qn_tune_way {
	qn_tune_pick pick;
	double noise;
	uint64_t bytes, instructions;
} qn_tune_way;
size_t qn_tune_ways_of(const qn_tune_row *r, bool wide, qn_tune_way *to);
qn_tune_sum qn_tune_sum_of(const qn_tune_table *t, const qn_tune_pick *pick);

/* tune_near.c: the n picks of the least noise that differ from `from` in one layer or two and cost at most this much,
 * those that are measured left out; returns how many there are. */
size_t qn_tune_near(const qn_tune_search *s, const qn_tune_table *t, const qn_tune_pick *from,
		    const qn_tune_sum *most, bool wide, size_t n, const char **recipe, qn_arena *a);

/* tune_rounds.c: the items of a round, 0 … qn_tune_rounds - 1.  Those of rounds before are in s->list. */
size_t qn_tune_rounds(const qn_tune_search *s);
size_t qn_tune_round(const qn_tune_search *s, size_t round, qn_arena *a, qn_tune_item **out);
bool qn_tune_may_be_wide(const qn_tune_search *s);
/* Whether the activation arena is the cost to minimize: candidates then have the kernels that need the least. */
bool qn_tune_saves_arena(const qn_tune_search *s);
/* What candidates are repaired with before the last round. */
qn_tune_repairs qn_tune_usual_repairs(const qn_tune_search *s);

/* tune_measure.c */
qn_status qn_tune_measure_float(qn_tune_search *s) QN_MUST_CHECK;
qn_status qn_tune_measure(qn_tune_search *s, const qn_tune_item *item,
			  qn_tune_entry *out) QN_MUST_CHECK;

/* tune_rank.c */
bool qn_tune_is_within(const qn_tune_search *s, const qn_tune_entry *e);
bool qn_tune_is_front(const qn_tune_search *s, const qn_tune_entry *e);
const qn_tune_entry *qn_tune_best(const qn_tune_search *s);
double qn_tune_tolerance(const qn_tune_search *s);
uint64_t qn_tune_cost_of(const qn_tune_search *s, const qn_tune_entry *e);

/* tune_text.c: the recipe with comments, the front. */
const char *qn_tune_recipe_text(const qn_tune_search *s, const qn_tune_entry *e, qn_arena *a);
const char *qn_tune_front_text(const qn_tune_search *s, qn_arena *a);

/* tune_journal.c */
qn_status qn_tune_journal_read(qn_tune_search *s, const char *path) QN_MUST_CHECK;
qn_status qn_tune_journal_write(const qn_tune_search *s, const char *path) QN_MUST_CHECK;
const qn_tune_entry *qn_tune_find(const qn_tune_entries *e, const qn_tune_item *item);
void qn_tune_add(qn_tune_entries *e, const qn_tune_entry *one, qn_arena *a);

#endif
