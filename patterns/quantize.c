/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.c - quantizes each composite, and gives every graph input and output parameters
 * of its own.
 *
 *   %y = call @fc.dense %x, %w    ->   %fc.x = quantize %x : …<i8:f32, $fc.x:$fc.x>      %fc.w = quantize %w : …<i8<-127:127>:f32:0, $fc.w>
 *                                      %fc.acc = dense %fc.x, %fc.w : …<i32:f32:1, $fc.w*$fc.x>       %fc = dequantize %fc.acc
 *
 * What a loop carries gets parameters of its own too, the same in all its steps (quantize_loops.c).
 *
 * requires: a partitioned graph.  leaves: a symbolic graph without calls of composites; values between
 * partitions are float. */
#include "ir/diag.h"
#include "ir/foreign_names.h"
#include "patterns/kept.h"
#include "patterns/quantizing.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"

/* Whether a constant is not read by values from `first` on: another one, made of it, is. */
static bool
is_replaced(const qn_graph *g, qn_id constant, qn_id first)
{
	if (qn_graph_node(g, constant)->op != QN_OP_const)
		return false;
	for (qn_id id = first; id < g->n; id++)
		for (uint32_t i = 0; i < qn_graph_node(g, id)->nin; i++)
			if (qn_graph_node(g, id)->in[i] == constant)
				return false;
	return true;
}

/* Notes what became of a call, whose values begin at `first` and whose result is `got`, after *last. */
static void
add_part(qn_graph *dst, const qn_node *call, const qn_id *map, qn_id first, qn_id got,
	 const char *method, const qn_part ***last)
{
	const char **in = QN_NEW(dst->arena, const char *, call->nin);
	uint32_t n = 0;

	for (uint32_t i = 0; i < call->nin; i++)
		if (!is_replaced(dst, map[call->in[i]], first))
			in[n++] = qn_graph_node(dst, map[call->in[i]])->name;
	*last = qn_graph_add_part(dst, *last,
				  &(qn_part){.pattern = call->callee->pattern,
					     .out = qn_graph_node(dst, got)->name,
					     .nin = n,
					     .in = in,
					     .method = method});
}

/* Symbols may be shared; each is reported once. */
static void
add_name(qn_explained *e, const char **symbol, const char *name)
{
	for (size_t i = 0; i < e->nsymbol; i++)
		if (symbol[i] == name)
			return;
	symbol[e->nsymbol++] = name;
}

/* Reports a call to the host with its names in g, and the symbols of quantizes from value `first` of
 * dst on. */
static void
explain(const qn_quant_opts *opts, const qn_graph *g, const qn_node *call, const qn_graph *dst,
	qn_id first)
{
	if (opts->explain == NULL)
		return;
	qn_arena *a = dst->model->arena;
	const char **in = QN_NEW(a, const char *, call->nin);
	qn_explained e = {.pass = "quantize",
			  .pattern = qn_arena_str(a, call->callee->pattern),
			  .root = qn_arena_str(a, call->name),
			  .nin = call->nin,
			  .in = in};

	for (uint32_t i = 0; i < call->nin; i++)
		in[i] = qn_arena_str(a, qn_graph_node(g, call->in[i])->name);
	const char **symbol = QN_NEW(a, const char *, dst->n - first);
	e.symbol = symbol;
	for (qn_id id = first; id < dst->n; id++) {
		const qn_node *n = qn_graph_node(dst, id);

		if (n->op == QN_OP_quantize && n->type->elem->scale->kind == QN_SCALE_SYM)
			add_name(&e, symbol, n->type->elem->scale->sym->name);
	}
	opts->explain(opts->explain_user, &e);
}

/* Where storages are mixed, what reads a result may be stored in another way: an op that has no
 * parameters for its result so far gets them in its own storage, or in 16 bits if something reads it so. */
static qn_id
result_pair(qn_model *m, qn_graph *dst, const qn_node *call, qn_id y, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(dst, y);
	qn_quant_opts own = *opts;

	if (y == 0 || !opts->mixes || !qn_type_is_f32(n->type) || n->op == QN_OP_dequantize ||
	    qn_opinfo_of(n)->behaviour == QN_ACC)
		return y;
	own.activations = qn_result_storage(opts);
	qn_id q = qn_quantize_real(m, dst, y, call->name, "result", &own);
	return q == 0 ? 0 : qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL);
}

/* Gives a graph input its own parameters: later quantizes of it become requantizes, or are
 * removed where they are equal. */
static qn_id
input_pair(qn_model *m, qn_graph *dst, qn_id x, const qn_kept *as, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(dst, x);
	qn_quant_opts own = qn_recipe_for_value(opts, "input", n->name);

	if (opts->scheme == QN_SCHEME_RFC || !qn_type_is_f32(n->type))
		return x;
	own.per_axis = false; /* the caller's arrays have one scale */
	if (as->storage == QN_KEPT_WIDE && !qn_recipe_stores_input(opts->recipe, n->name))
		own.activations = QN_STORAGE_I16;
	qn_id q = as->storage == QN_KEPT_PCM ? qn_quantize_pcm(m, dst, x, n->name, "input")
		  : as->storage == QN_KEPT_NOISE
			  ? qn_quantize_sound(m, dst, x, n->name, "input", as->sound)
			  : qn_quantize_real(m, dst, x, n->name, "input", &own);
	return q == 0 ? 0 : qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL);
}

/* Whether an output has 16 bits for what it adds up inside of a loop or from run to run alone. */
static bool
is_too_wide(const qn_graph *dst, const qn_node *stored, const qn_quant_opts *own)
{
	const qn_op from = stored->nin > 0 ? qn_graph_node(dst, stored->in[0])->op : QN_NOP;

	return own->accumulates && !own->mixes && own->activations != QN_STORAGE_I16 &&
	       stored->type->elem->bits == 16 && from != QN_OP_log_mel && from != QN_OP_mfcc;
}

/* The same for an output, unless its value has parameters of an activation already. */
static qn_id
output_pair(qn_model *m, qn_graph *dst, const qn_output *out, qn_id y, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(dst, y);
	qn_quant_opts own = qn_recipe_for_value(opts, "output", out->name);

	if (opts->scheme == QN_SCHEME_RFC || !qn_type_is_f32(n->type))
		return y;
	if (n->op == QN_OP_dequantize && qn_graph_node(dst, n->in[0])->type->elem->bits <= 16 &&
	    !is_too_wide(dst, qn_graph_node(dst, n->in[0]), &own))
		return y;
	own.per_axis = false;
	qn_id q = qn_quantize_real(m, dst, y, out->name, "output", &own);
	return q == 0 ? 0 : qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL);
}

/* The next value of a state has the parameters of the state, which is stored in their place; state: what
 * input_pair made of it. */
static qn_id
next_pair(qn_graph *dst, qn_id state, qn_id y)
{
	const qn_node *pair = qn_graph_node(dst, state);

	if (pair->op != QN_OP_dequantize)
		return y;
	const qn_type *type = qn_graph_node(dst, pair->in[0])->type;
	qn_id q = qn_graph_op(dst, QN_OP_quantize, NULL, 1, &y, NULL, type);
	return q == 0 ? 0 : qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL);
}

static qn_id
copy_node(qn_model *m, qn_graph *dst, const qn_node *like, const qn_id *map)
{
	qn_node n = *like;
	qn_id *in = QN_NEW(m->scratch, qn_id, n.nin);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = map[n.in[i]];
	n.in = in;
	return qn_graph_add(dst, &n);
}

/* A dynamic_fake_quant of the graph reads 16-bit values, as those that options set. */
static qn_id
copy_dynamic(qn_model *m, qn_graph *dst, const qn_node *like, const qn_id *map,
	     const qn_quant_opts *opts)
{
	qn_node n = *like;
	const qn_id x = qn_quantize_levels(m, dst, map[n.in[0]], n.name, "x", opts);

	n.in = &x;
	return x == 0 ? 0 : qn_graph_add(dst, &n);
}

/* Whether the nodes from `first` on multiply data whose scale is computed at run time. */
static bool
has_dynamic(const qn_graph *dst, qn_id first)
{
	for (qn_id id = first; id < dst->n; id++)
		if (qn_opinfo_of(qn_graph_node(dst, id))->behaviour == QN_ACC &&
		    qn_from_dynamic(dst, qn_graph_node(dst, id)->in[0]))
			return true;
	return false;
}

/* A function of one value: a table of more results than its operand has values says no more. */
static bool
is_table(const qn_graph *composite)
{
	const qn_node *root = qn_graph_node(composite, composite->output[0].value);

	return qn_opinfo_of(root)->behaviour == QN_LUT;
}

/* Quantizes a composite, and appends its part after *last. */
static qn_id
write_call(qn_model *m, qn_matcher *s, qn_graph *dst, const qn_quant_opts *opts, const qn_graph *g,
	   const qn_node *call, const qn_kept *as, const qn_id *map, const qn_part ***last)
{
	qn_quant_opts own = qn_kept_options(as, opts, call->callee);
	const qn_id first = dst->n;

	if (!qn_recipe_agrees(opts->recipe, call->callee, call->name))
		return 0;
	own.mixes = opts->mixes || (opts->accumulates && (as->accumulates || qn_kept_wide(as)));
	own.wide_result = qn_kept_wide(as) && !is_table(call->callee);
	qn_id y = qn_quantize_call(m, s, dst, &own, call, map);

	y = result_pair(m, dst, call, y, &own);
	if (y == 0)
		return 0;
	if (own.recipe != NULL)
		qn_recipe_use_dynamic(own.recipe, call->callee, has_dynamic(dst, first));
	add_part(dst, call, map, first, y, own.method, last);
	explain(opts, g, call, dst, first);
	return y;
}

static void
call_it(qn_map *called, const qn_node *n, const qn_foreign_name *c)
{
	if (c != NULL && qn_map_gets(called, n->name) == NULL)
		qn_map_puts(called, n->name, (void *)(uintptr_t)c);
}

/* A name may be taken before its value comes, by the quantize of a bias say: what values are called in
 * the file goes along with them, and is said of the value before it was quantized.  Constants that
 * patterns have made keep their names. */
static void
copy_foreign_names(qn_model *m, const qn_graph *g, const qn_graph *dst, const qn_id *map)
{
	qn_map *called;

	if (m->tensors == NULL)
		return;
	called = QN_NEW(m->arena, qn_map, 1);
	qn_map_init(called, m->arena);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_foreign_name *c = qn_model_foreign_names(m, qn_graph_node(g, id));
		const qn_node *n = qn_graph_node(dst, map[id]);

		call_it(called, n, c);
		while (n->op == QN_OP_dequantize) {
			const qn_node *q = qn_graph_node(dst, n->in[0]);

			if (q->op != QN_OP_quantize)
				break;
			n = qn_graph_node(dst, q->in[0]);
			call_it(called, n, c);
		}
	}
	for (qn_id id = 1; id < dst->n; id++) {
		const qn_node *n = qn_graph_node(dst, id);

		if (n->op == QN_OP_const)
			call_it(called, n, qn_model_foreign_names(m, n));
	}
	m->tensors = called;
}

/* false after a report. */
static bool
write_outputs(qn_model *m, const qn_graph *g, qn_graph *dst, const qn_id *map,
	      const qn_quant_opts *opts)
{
	for (size_t i = 0; i < g->noutput; i++) {
		const size_t given = qn_graph_given(g);
		qn_id y = map[g->output[i].value];

		y = i < given ? output_pair(m, dst, &g->output[i], y, opts)
			      : next_pair(dst, map[g->input[qn_graph_fed(g) + i - given]], y);
		if (y == 0)
			return false;
		qn_graph_output(dst, g->output[i].name, y);
	}
	return true;
}

qn_status
qn_quantize_model(qn_model *m, const qn_quant_opts *like)
{
	const qn_graph *g = qn_model_entry(m);
	qn_quant_opts own = *like;
	const qn_quant_opts *opts = &own;
	qn_graph *dst = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	const qn_part **last = &dst->parts;
	qn_matcher *s = qn_matcher_new(m->scratch, 0);

	if (m->stage != QN_STAGE_FLOAT)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "quantize takes a partitioned float graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_recipe_check(opts->recipe, g)); /* partition may have run without it */
	const qn_kept *as = qn_kept_of(g, m->scratch, opts);
	own.mixes = qn_recipe_mixes(opts->recipe, g);
	own.accumulates = qn_kept_accumulate(as, g->n);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_call && n->callee->pattern != NULL) {
			map[id] = write_call(m, s, dst, opts, g, n, &as[id], map, &last);
		} else if (n->op == QN_OP_dynamic_fake_quant) {
			map[id] = copy_dynamic(m, dst, n, map, opts);
		} else if (qn_carries(n->op)) {
			map[id] = qn_quantize_carried(m, g, id, dst, map, &as[id], opts);
		} else {
			map[id] = copy_node(m, dst, n, map);
			if (map[id] != 0 && n->op == QN_OP_input)
				map[id] = input_pair(m, dst, map[id], &as[id], opts);
		}
		if (map[id] == 0)
			return QN_EINVALID;
	}
	if (!write_outputs(m, g, dst, map, opts))
		return QN_EINVALID;
	qn_graph_copy_states(dst, g);
	copy_foreign_names(m, g, dst, map);
	m->stage = QN_STAGE_SYMBOLIC;
	qn_recipe_use_skips(opts->recipe, m);
	qn_recipe_use_weights(opts->recipe, g);
	QN_TRY(qn_recipe_check_dynamic(opts->recipe, g));
	qn_recipe_warn(opts->recipe, g);
	QN_TRY(qn_graph_sweep(m, dst, NULL, &dst));
	qn_model_set_graph(m, dst);
	return QN_OK;
}
