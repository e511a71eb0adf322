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
#include <string.h>

#include "ir/block_scales.h"
#include "ir/diag.h"
#include "passes/passes.h"
#include "passes/solver.h"
#include "patterns/quantizer.h"
#include "patterns/rewrite.h"

typedef struct transform {
	qn_model *m;
	const qn_graph *g;
	const qn_solver_opts *opts;
	qn_points p;
	qn_graph *dst;
	qn_id *map;
} transform;

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

/* A symbol for a range, of this storage; its value is that of the range. */
static qn_status
symbol_elem(const transform *t, const char *owner, double lo, double hi, const qn_elem **out)
{
	qn_types *types = &t->m->types;
	const bool symmetric = t->opts->symmetric;
	const char *name = symbol_name(t->m, owner);
	qn_elem d = t->opts->activations;
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
		return symbol_elem(t, qn_graph_node(t->g, c->first)->name, c->lo, c->hi, &c->elem);
	return QN_OK;
}

/* The axis of the weights along which each index has a scale, -1: one for all. */
static int32_t
weight_axis(const transform *t, const qn_node *n)
{
	const int32_t rank = qn_graph_node(t->g, n->in[1])->type->rank;

	if (t->opts->per_tensor_weights || (n->op == QN_OP_matmul && rank != 2))
		return -1;
	return n->op == QN_OP_matmul && n->attr->matmul.transpose_b == 0 ? 1 : 0;
}

/* The blocks of the weights of a product; false: there are none. */
static bool
weight_blocks(const transform *t, const qn_node *n, qn_blocks *out)
{
	const qn_type *w = qn_graph_node(t->g, n->in[1])->type;
	const int64_t each = t->opts->weight_block;

	if (n->op != QN_OP_matmul)
		return qn_weight_blocks(w, each, 2 * each, out);
	if (w->rank != 2)
		return false;
	if (n->attr->matmul.transpose_b != 0)
		return qn_weight_blocks(w, each, 2 * each, out);
	const int64_t turned[2] = {w->dim[1], w->dim[0]};
	if (!qn_weight_blocks(qn_type_plain(&t->m->types, QN_PLAIN_f32, 2, turned), each, 2 * each,
			      out))
		return false;
	out->block[1] = out->block[0];
	out->block[0] = each < w->dim[0] ? each : w->dim[0];
	return true;
}

static uint8_t
weight_bits(const transform *t)
{
	const uint8_t bits = t->opts->weight_bits;

	return bits == 2 || bits == 4 ? bits : 8;
}

/* Scales of the largest absolute values of n groups of elements of w, by the type that says which they are. */
static double *
group_scales(const transform *t, const qn_node *w, const qn_type *groups, size_t n)
{
	double *scale = QN_NEW(t->m->scratch, double, n);
	int64_t idx[QN_MAX_RANK] = {0}, zp;

	for (int64_t i = 0; i < qn_type_count(w->type); i++) {
		const double v = fabs(qn_tensor_f64(w->value, i));
		const size_t k = qn_type_param_index(groups, idx);

		scale[k] = v > scale[k] ? v : scale[k];
		for (int32_t d = w->type->rank - 1; d >= 0 && ++idx[d] == w->type->dim[d]; d--)
			idx[d] = 0;
	}
	for (size_t k = 0; k < n; k++)
		qn_range_to_params(-scale[k], scale[k], groups->elem, true, &scale[k], &zp);
	return scale;
}

/* The same elem with these scales, n of them in the given shape; NULL: all are 1. */
static qn_status
with_scales(const transform *t, const qn_node *w, qn_elem d, size_t n, const int64_t *shape,
	    const double *scale, const qn_elem **out)
{
	const char *name = scale != NULL ? w->name : NULL;
	double *ones = QN_NEW(t->m->scratch, double, n);
	const int32_t rank = d.gran == QN_SUB_CHANNEL ? w->type->rank : 1;
	const qn_params *vec;

	for (size_t k = 0; k < n; k++)
		ones[k] = 1;
	QN_TRY(qn_params_intern(&t->m->types, w->name, name, n, rank,
				d.gran == QN_SUB_CHANNEL ? shape : NULL,
				scale != NULL ? scale : ones, NULL, &vec));
	d.scale = qn_scale_vec(&t->m->types, vec);
	return qn_elem_make(&t->m->types, w->name, &d, out);
}

/* In blocks, with scales as integers of one unit for each output channel (ir/block_scales.h). */
static qn_status
block_elem(const transform *t, const qn_node *n, const qn_node *w, const qn_blocks *blocks,
	   const qn_elem **out)
{
	qn_elem d = qn_elem_desc(weight_bits(t), true);
	int64_t shape[QN_MAX_RANK];

	d.qmin++;
	d.gran = QN_SUB_CHANNEL;
	d.naxis = w->type->rank;
	d.axis = blocks->axis;
	d.block = blocks->block;
	d.partial = blocks->partial;
	for (int32_t k = 0; k < w->type->rank; k++)
		shape[k] = (w->type->dim[k] + blocks->block[k] - 1) / blocks->block[k];
	QN_TRY(with_scales(t, w, d, (size_t)blocks->n, shape, NULL, out));
	const qn_type *groups = qn_type_with_elem(&t->m->types, w->type, *out);
	double *scale = group_scales(t, w, groups, (size_t)blocks->n);
	if (n->op != QN_OP_matmul) /* whose columns are turned first */
		qn_block_scales_make(groups, (size_t)blocks->n, scale);
	return with_scales(t, w, d, (size_t)blocks->n, shape, scale, out);
}

static qn_status
weight_elem(const transform *t, const qn_node *n, const qn_node *w, const qn_elem **out)
{
	const int32_t axis = weight_axis(t, n);
	qn_elem d = qn_elem_desc(weight_bits(t), true);
	qn_blocks blocks;

	if (weight_blocks(t, n, &blocks))
		return block_elem(t, n, w, &blocks, out);
	d.qmin++;
	d.scale = qn_scale_const(&t->m->types, 1);
	QN_TRY(qn_elem_make(&t->m->types, w->name, &d, out));
	if (axis < 0) {
		d.scale = qn_scale_const(
			&t->m->types,
			group_scales(t, w, qn_type_with_elem(&t->m->types, w->type, *out), 1)[0]);
		return qn_elem_make(&t->m->types, w->name, &d, out);
	}
	const size_t count = (size_t)w->type->dim[axis];
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	QN_TRY(with_scales(t, w, d, count, NULL, NULL, out));
	return with_scales(
		t, w, d, count, NULL,
		group_scales(t, w, qn_type_with_elem(&t->m->types, w->type, *out), count), out);
}

/* ---- nodes ---- */

/* dequantize(quantize(x) : e); 0 after an error. */
static qn_id
add_pair(const transform *t, qn_id x, const qn_elem *e)
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
	const qn_class *own = qn_point_class(&t->p, n->in[i]);

	*out = NULL;
	if (qn_point_is_bias(&t->p, n, i) || qn_type_count(c->type) < 1 || n->op == QN_OP_quantize)
		return QN_OK;
	if (b == QN_ACC && i == 1)
		return weight_elem(t, n, c, out);
	if (n->op == QN_OP_pow)
		return i == 1 && qn_type_count(c->type) == 1 && qn_tensor_f64(c->value, 0) != 0
			       ? exponent_elem(t, c, out)
			       : QN_OK;
	*out = own->elem;
	if (*out == NULL && (b == QN_MIX || b == QN_ACC) && own->has_range)
		return symbol_elem(t, c->name, own->lo, own->hi, out);
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
		    qn_point_is_source(&t->p, n->in[i]))
			return false;
	}
	return true;
}

static qn_status
operand(const transform *t, const qn_node *n, uint32_t i, bool known, qn_id *out)
{
	const qn_node *x = qn_graph_node(t->g, n->in[i]);
	const qn_elem *e = NULL;

	*out = t->map[n->in[i]];
	if (x->op != QN_OP_const || !qn_type_is_f32(x->type) || !known)
		return QN_OK;
	QN_TRY(constant_elem(t, n, i, &e));
	if (e != NULL)
		*out = add_pair(t, *out, e);
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

	if (is_note(n.op)) {
		t->map[id] = t->map[n.in[0]];
		return QN_OK;
	}
	for (uint32_t i = 0; i < n.nin; i++)
		QN_TRY(operand(t, &n, i, known, &in[i]));
	n.in = in;
	n.type = n.op == QN_OP_input || n.type->is_tuple || qn_elem_is_quant(n.type->elem)
			 ? without_range(t->m, n.type)
			 : n.type;
	t->map[id] = qn_graph_add(t->dst, &n);
	if (t->map[id] == 0)
		return QN_EINVALID;
	if (c->elem != NULL && qn_point_is_source(&t->p, id) && c->elem->expressed == QN_PLAIN_f32)
		t->map[id] = add_pair(t, t->map[id], c->elem);
	return t->map[id] != 0 ? QN_OK : QN_EINVALID;
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
	qn_graph_copy_outputs(t.dst, g, t.map);
	warn_of_unknown(&t);
	qn_model_set_graph(m, t.dst);
	m->stage = QN_STAGE_SYMBOLIC;
	m->quantized_here = !came;
	return qn_bind(m);
}
