/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - quantizes the points of a float graph whose range or type is known.
 *
 *   %s = stats %x {layer=[-1.0,1.0]}         %q = quantize %x : <i8:f32, 2/255:-1>
 *   %y = dense %s, %w                  ->    %d = dequantize %q
 *   %t = stats %y {layer=[0.0,4.0]}          %v = dequantize(quantize(%w) : <i8<-127:127>:f32:0, {…}>)
 *   return %t                                %y = dense %d, %v;   quantize and dequantize of it
 *
 * Each class of points has one symbol, which is bound to its merged range by the rule of the scheme.  What has no
 * range stays in float; a warning names it.  requantize fuses the pairs, as those of any calibrated graph.
 *
 * requires: a float or calibrated graph.   leaves: a calibrated graph without statistics and couplings. */
#include <math.h>

#include "ir/diag.h"
#include "ir/loops.h"
#include "passes/passes.h"
#include "passes/transform_impl.h"
#include "patterns/quantizer.h"
#include "patterns/rewrite.h"

/* ---- types ---- */

/* "$name.range", or with a number where that is taken. */
static const char *
symbol_name(qn_model *m, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, m->arena);
	for (int k = 0;; k++) {
		b.n = 0;
		qn_buff(&b, k == 0 ? "%s.range" : "%s.range_%d", name, k);
		if (qn_symbol_find(&m->types, qn_buf_str(&b)) == NULL)
			return qn_arena_str(m->arena, qn_buf_str(&b));
	}
}

qn_status
qn_transform_symbol(const transform *t, const char *owner, double lo, double hi, bool wide,
		    const qn_elem **out)
{
	qn_types *types = &t->m->types;
	const bool symmetric = wide || t->opts->symmetric;
	const char *name = symbol_name(t->m, owner);
	qn_elem d = wide ? qn_elem_desc(16, true) : t->opts->activations;
	qn_symbol *sym;
	double scale;
	int64_t zp;

	qn_range_to_params(lo, hi, &d, symmetric, &scale, &zp);
	QN_TRY(qn_symbol_declare(types, owner, name,
				 symmetric ? QN_SYM_SYMMETRIC : QN_SYM_ASYMMETRIC, 0, &sym));
	QN_TRY(qn_symbol_bind(types, owner, name, 1, &scale, symmetric ? NULL : &zp));
	d.scale = qn_scale_sym(types, sym);
	d.zp_sym = symmetric ? NULL : sym;
	return qn_elem_make(types, owner, &d, out);
}

static qn_status
choose(const transform *t, qn_class *c)
{
	if (c->type != NULL) {
		c->elem = c->type->gran == QN_PER_TENSOR ? c->type : NULL;
		return QN_OK;
	}
	if (c->fixed != NULL)
		c->elem = c->fixed;
	else if (c->has_range && c->first != 0)
		return qn_transform_symbol(t, qn_graph_node(t->g, c->first)->name, c->lo, c->hi,
					   c->wide, &c->elem);
	return QN_OK;
}

/* ---- nodes ---- */

qn_id
qn_transform_pair(const transform *t, qn_id x, const qn_elem *e)
{
	const qn_type *type = qn_type_with_elem(&t->m->types, qn_graph_node(t->dst, x)->type, e);
	qn_id q = qn_graph_op(t->dst, QN_OP_quantize, NULL, 1, &x, NULL, type);

	return q != 0 ? qn_graph_op(t->dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL) : 0;
}

/* The exponent of a pow is 1 or -1 in units of itself. */
static qn_status
exponent_elem(const transform *t, const qn_node *c, const qn_elem **out)
{
	qn_elem d = t->opts->activations;

	d.zp = d.is_signed ? 0 : INT64_C(1) << (d.bits - 1);
	d.scale = qn_scale_const(&t->m->types, fabs(qn_tensor_f64(c->value, 0)));
	return qn_elem_make(&t->m->types, c->name, &d, out);
}

/* What a constant operand is quantized to; NULL: it stays as it is. */
static qn_status
constant_elem(const transform *t, const qn_node *n, uint32_t i, const qn_elem **out)
{
	const qn_node *c = qn_graph_node(t->g, n->in[i]);
	const qn_behaviour b = qn_opinfo_of(n)->behaviour;
	qn_class *own = qn_point_class(&t->p, n->in[i]);

	*out = NULL;
	if (qn_point_is_bias(&t->p, n, i) || qn_type_count(c->type) < 1 || n->op == QN_OP_quantize)
		return QN_OK;
	if (b == QN_ACC && i == 1)
		return qn_transform_weights(t, n, c, out);
	if (n->op == QN_OP_pow)
		return i == 1 && qn_type_count(c->type) == 1 && qn_tensor_f64(c->value, 0) != 0
			       ? exponent_elem(t, c, out)
			       : QN_OK;
	if (own->elem == NULL && own->first == 0 && own->has_range && own->type == NULL &&
	    qn_couples(t->g, n, i, false)) /* a table that is moved, or selected from, alone */
		QN_TRY(qn_transform_symbol(t, c->name, own->lo, own->hi, false, &own->elem));
	*out = own->elem;
	if (*out == NULL && (b == QN_MIX || b == QN_ACC) && own->has_range)
		return qn_transform_symbol(t, c->name, own->lo, own->hi, false, out);
	return QN_OK;
}

/* Whether the operands that vary have known parameters: else the node stays in float, and so do its constants. */
static bool
is_known(const transform *t, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(t->g, n->in[i]);

		if (x->op != QN_OP_const && qn_type_is_f32(x->type) &&
		    qn_point_class(&t->p, n->in[i])->elem == NULL && x->op != QN_OP_dequantize &&
		    (qn_point_is_source(&t->p, n->in[i]) || x->op == QN_OP_loop_carry))
			return false;
	}
	return true;
}

static qn_status
operand(transform *t, qn_id id, uint32_t i, bool known, qn_id *out)
{
	const qn_node *n = qn_graph_node(t->g, id);
	const qn_node *x = qn_graph_node(t->g, n->in[i]);
	const qn_elem *e = NULL;

	*out = t->map[n->in[i]];
	if (x->op != QN_OP_const)
		return qn_transform_narrow(t, id, i, out);
	if (!qn_type_is_f32(x->type) || !known)
		return QN_OK;
	QN_TRY(constant_elem(t, n, i, &e));
	if (e != NULL)
		*out = qn_transform_pair(t, *out, e);
	return *out != 0 ? QN_OK : QN_EINVALID;
}

static bool
is_note(qn_op op)
{
	return op == QN_OP_stats || op == QN_OP_stats_ref || op == QN_OP_coupled_ref;
}

/* A type with an observed range becomes a plain one: the range is used up. */
static const qn_type *
without_range(qn_model *m, const qn_type *type)
{
	if (type->is_tuple || type->elem->kind != QN_ELEM_CALIBRATED)
		return type;
	return qn_type_with_elem(&m->types, type, qn_elem_plain(&m->types, type->elem->expressed));
}

static qn_status
add_node(transform *t, qn_id id)
{
	qn_node n = *qn_graph_node(t->g, id);
	qn_id *in = QN_NEW(t->m->scratch, qn_id, n.nin);
	const bool known = is_known(t, &n);
	const qn_class *c = qn_point_class(&t->p, id);

	if (n.op == QN_OP_loop_carry || n.op == QN_OP_loop_end)
		return qn_transform_carried(t, id);
	if (is_note(n.op)) {
		t->map[id] = t->map[n.in[0]];
		return QN_OK;
	}
	for (uint32_t i = 0; i < n.nin; i++)
		QN_TRY(operand(t, id, i, known, &in[i]));
	n.in = in;
	n.type = n.op == QN_OP_input || n.type->is_tuple || qn_elem_is_quant(n.type->elem)
			 ? without_range(t->m, n.type)
			 : n.type;
	t->map[id] = qn_graph_add(t->dst, &n);
	if (t->map[id] == 0)
		return QN_EINVALID;
	if (c->elem != NULL && qn_point_is_source(&t->p, id) && c->elem->expressed == QN_PLAIN_f32)
		return qn_transform_store(t, id, &t->map[id]);
	return QN_OK;
}

/* One warning for all points that nothing is known of. */
static void
warn_of_unknown(const transform *t)
{
	enum { SHOWN = 8 };
	size_t n = 0;
	qn_buf b;

	qn_buf_init(&b, t->m->scratch);
	for (qn_id id = 1; id < t->g->n; id++) {
		const qn_node *x = qn_graph_node(t->g, id);

		if (!qn_point_is_source(&t->p, id) || !qn_type_is_f32(x->type) || is_note(x->op) ||
		    qn_point_class(&t->p, id)->elem != NULL)
			continue;
		if (n++ < SHOWN)
			qn_buff(&b, "%s'%s'", b.n > 0 ? ", " : "", x->name);
	}
	if (n > 0)
		qn_warn(t->m->env, "solver.no-range", t->m->name,
			"%zu values have no range and stay in float: %s%s; give samples, or "
			"statistics of them (stats)",
			n, qn_buf_str(&b), n > SHOWN ? " …" : "");
}

qn_status
qn_transform(qn_model *m, const qn_solver_opts *opts)
{
	const qn_graph *g;
	const bool came = qn_came_quantized(m);
	transform t = {.m = m, .opts = opts};

	QN_TRY(qn_solver_stage(m, "transform"));
	QN_TRY(qn_fake_quant(m));
	t.g = g = qn_model_entry(m);
	QN_TRY(qn_points_find(m, g, opts, &t.p));
	t.dst = qn_graph_new(m, g->name);
	t.map = QN_NEW(m->scratch, qn_id, g->n);
	qn_graph_copy_facts(t.dst, g);
	for (qn_id id = 1; id < g->n; id++)
		if (t.p.root[id] == id)
			QN_TRY(choose(&t, &t.p.known[id]));
	for (qn_id id = 1; id < g->n; id++)
		QN_TRY(add_node(&t, id));
	QN_TRY(qn_transform_outputs(&t));
	warn_of_unknown(&t);
	QN_TRY(qn_loops_gather(&t.dst, m->scratch,
			       NULL)); /* weights and first values stand before */
	qn_model_set_graph(m, t.dst);
	m->stage = QN_STAGE_SYMBOLIC;
	m->quantized_here = !came;
	return qn_bind(m);
}
