/* SPDX-License-Identifier: Apache-2.0 */
/* points.c - see solver.h.  One sweep unites the points that must share parameters, a second one merges what is
 * known of each class. */
#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "passes/solver.h"

static bool
is_real(const qn_node *n)
{
	return !n->type->is_tuple && qn_elem_is_float(n->type->elem);
}

static qn_id
find(const qn_points *p, qn_id id)
{
	while (p->root[id] != id)
		id = p->root[id] = p->root[p->root[id]];
	return id;
}

qn_class *
qn_point_class(const qn_points *p, qn_id id)
{
	return &p->known[find(p, id)];
}

void
qn_points_unite(const qn_points *p, qn_id a, qn_id b)
{
	const qn_id x = find(p, a), y = find(p, b);

	p->root[x > y ? x : y] = x < y ? x : y;
}

/* ---- who shares ---- */

/* The value that a part of a split is of. */
static qn_id
split_operand(const qn_graph *g, const qn_node *n)
{
	const qn_node *split = n->op == QN_OP_get ? qn_graph_node(g, n->in[0]) : NULL;

	return split != NULL && split->op == QN_OP_split && is_real(n) ? split->in[0] : 0;
}

static void
unite_all(const qn_points *p, bool sums)
{
	const qn_graph *g = p->g;
	qn_map keys;

	qn_map_init(&keys, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_id whole = split_operand(g, n);

		for (uint32_t i = 0; i < n->nin; i++)
			if (qn_couples(g, n, i, sums))
				qn_points_unite(p, id, n->in[i]);
		if (whole != 0)
			qn_points_unite(p, id, whole);
		if (n->op != QN_OP_coupled_ref)
			continue;
		qn_id *first = qn_map_gets(&keys, n->attr->coupled_ref.key);
		if (first != NULL) {
			qn_points_unite(p, id, *first);
		} else {
			first = QN_NEW(g->model->scratch, qn_id, 1);
			*first = id;
			qn_map_puts(&keys, n->attr->coupled_ref.key, first);
		}
	}
}

/* ---- what is known ---- */

static void
widen(qn_class *c, double lo, double hi)
{
	c->lo = c->has_range && c->lo < lo ? c->lo : lo;
	c->hi = c->has_range && c->hi > hi ? c->hi : hi;
	c->has_range = true;
}

static void
add_stats(qn_class *c, const qn_attrs_stats *a)
{
	if (a->layer.n == 2)
		widen(c, a->layer.v[0], a->layer.v[1]);
	for (size_t i = 0; a->layer.n != 2 && i + 1 < a->axis_stats.n; i += 2)
		widen(c, a->axis_stats.v[i], a->axis_stats.v[i + 1]);
}

/* A value that is not observed, if a mask does not leave it out. */
static void
add_value(qn_class *c, double v, qn_mask kind)
{
	if (qn_mask_leaves_out(kind, v))
		c->masked = kind > c->masked ? kind : c->masked;
	else if (kind == QN_MASK_FACTOR && v < QN_MASK_LEAST_FACTOR)
		widen(c, QN_MASK_LEAST_FACTOR, QN_MASK_LEAST_FACTOR);
	else if (isfinite(v))
		widen(c, v, v);
}

/* The elements of a constant that is a data operand. */
static void
add_constant(qn_class *c, const qn_node *n, qn_mask kind)
{
	for (int64_t i = 0; i < qn_type_count(n->type); i++)
		add_value(c, qn_tensor_f64(n->value, i), kind);
}

/* Room below the others for what masks leave out. */
static void
add_masked(const qn_points *p)
{
	for (qn_id id = 1; id < p->g->n; id++) {
		qn_class *c = &p->known[id];

		if (p->root[id] != id || c->masked == QN_MASK_NONE)
			continue;
		qn_mask_widen(c->masked, &c->lo, &c->hi, c->has_range);
		c->has_range = true;
	}
}

static const char *
elem_text(const qn_model *m, const qn_elem *e)
{
	qn_buf b;

	qn_buf_init(&b, m->arena);
	qn_elem_print(&b, e);
	return qn_buf_str(&b);
}

static qn_status
add_type(const qn_points *p, qn_id id, const qn_elem *e)
{
	qn_class *c = qn_point_class(p, id);
	const qn_graph *g = p->g;

	if (c->type != NULL && c->type != e)
		return qn_report(g->model->env, QN_EINVALID, "solver.conflict",
				 qn_node_place(g, qn_graph_node(g, id)),
				 "'%s' is %s, and '%s', which must have the same parameters, is "
				 "%s; give both one type, or requantize between them",
				 qn_graph_node(g, c->typed)->name, elem_text(g->model, c->type),
				 qn_graph_node(g, id)->name, elem_text(g->model, e));
	c->type = e;
	c->typed = id;
	return QN_OK;
}

/* The parameters of softmax and the like; a class with others gets the range that they stand for. */
static qn_status
add_fixed(const qn_points *p, const qn_node *n, qn_id id, const qn_solver_opts *opts)
{
	qn_types *t = &p->g->model->types;
	qn_class *c = qn_point_class(p, id);
	qn_elem d = opts->activations;
	const qn_elem *e = NULL;
	double scale;

	qn_fixed_output(n, &d, &scale, &d.zp);
	d.scale = qn_scale_const(t, scale);
	QN_TRY(qn_elem_make(t, n->name, &d, &e));
	widen(c, (double)(d.qmin - d.zp) * scale, (double)(d.qmax - d.zp) * scale);
	c->fixed = !c->wide && (c->fixed == NULL || c->fixed == e) ? e : NULL;
	return QN_OK;
}

static qn_status
add_known(const qn_points *p, qn_id id, const qn_solver_opts *opts)
{
	const qn_node *n = qn_graph_node(p->g, id);
	qn_class *c = qn_point_class(p, id);

	if (n->op == QN_OP_dequantize)
		return add_type(p, id, qn_graph_node(p->g, n->in[0])->type->elem);
	if (!is_real(n))
		return QN_OK;
	if (n->op == QN_OP_stats)
		add_stats(c, &n->attr->stats);
	if (n->type->elem->kind == QN_ELEM_CALIBRATED)
		widen(c, n->type->elem->cal_min, n->type->elem->cal_max);
	if (n->op == QN_OP_const)
		add_constant(c, n, p->mask[id]);
	if (n->op == QN_OP_pad && n->attr->pad.mode == QN_PAD_constant)
		add_value(c, n->attr->pad.value, p->mask[id]);
	if (qn_has_fixed_range(n) && qn_point_is_source(p, id))
		return add_fixed(p, n, id, opts);
	return QN_OK;
}

/* Constants and pads alone say nothing of the values that they are joined with. */
static void
forget_constants(const qn_points *p)
{
	const qn_graph *g = p->g;
	bool *varies = QN_NEW(g->model->scratch, bool, g->n);
	bool *observed = QN_NEW(g->model->scratch, bool, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_id root = find(p, id);

		varies[root] = varies[root] || qn_point_is_source(p, id);
		observed[root] = observed[root] || n->op == QN_OP_stats ||
				 (is_real(n) && n->type->elem->kind == QN_ELEM_CALIBRATED) ||
				 qn_has_fixed_range(n);
	}
	for (qn_id id = 1; id < g->n; id++)
		if (varies[id] && !observed[id])
			p->known[id].has_range = false;
}

/* ---- the points ---- */

static bool
is_computed(const qn_node *n)
{
	switch ((int)qn_opinfo_of(n)->behaviour) {
	case QN_ACC:
	case QN_MIX:
	case QN_LUT:
	case QN_MEAN:
	case QN_FIXED:
		return true;
	default:
		return false;
	}
}

bool
qn_point_is_bias(const qn_points *p, const qn_node *n, uint32_t i)
{
	const qn_node *x = qn_graph_node(p->g, n->in[0]);

	if (i == 2 && qn_opinfo_of(n)->behaviour == QN_ACC)
		return true;
	return i == 1 && n->op == QN_OP_bias_add && qn_opinfo_of(x)->behaviour == QN_ACC &&
	       x->nin == 2 && p->uses[n->in[0]] == 1;
}

/* A sum that gets a bias, a value that a clamp alone reads, one that has a quantize: what reads it decides. */
static bool
is_absorbed(const qn_points *p, qn_id id)
{
	const qn_node *n = qn_graph_node(p->g, id);
	const qn_node *reader = p->reader[id] != 0 ? qn_graph_node(p->g, p->reader[id]) : NULL;

	if (reader == NULL || p->uses[id] != 1)
		return false;
	if (reader->op == QN_OP_quantize)
		return true;
	if (!is_computed(n))
		return false;
	return reader->op == QN_OP_relu || reader->op == QN_OP_relu6 || reader->op == QN_OP_clip ||
	       (reader->in[0] == id && qn_point_is_bias(p, reader, 1));
}

bool
qn_point_is_source(const qn_points *p, qn_id id)
{
	const qn_node *n = qn_graph_node(p->g, id);

	if (!is_real(n) || n->op == QN_OP_const || n->op == QN_OP_dequantize ||
	    n->op == QN_OP_loop_carry || split_operand(p->g, n) != 0 || is_absorbed(p, id))
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_couples(p->g, n, i, false))
			return false; /* its operands have the parameters already */
	return n->op == QN_OP_input || n->nin > 0;
}

bool
qn_point_wants_statistics(const qn_points *p, qn_id id)
{
	const qn_node *n = qn_graph_node(p->g, id);
	const qn_class *c = qn_point_class(p, id);
	const bool quantizable = n->op == QN_OP_input || is_computed(n) ||
				 qn_opinfo_of(n)->behaviour == QN_SAME || p->reader[id] == 0;

	return quantizable && qn_point_is_source(p, id) && qn_type_is_f32(n->type) &&
	       c->type == NULL && c->fixed == NULL && !c->has_range;
}

qn_status
qn_solver_stage(const qn_model *m, const char *pass)
{
	if (m->stage == QN_STAGE_FLOAT || m->stage == QN_STAGE_CALIBRATED)
		return QN_OK;
	return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
			 "%s takes a float or calibrated graph; this one is %s", pass,
			 qn_stage_names[m->stage]);
}

static qn_status
check_keys(const qn_graph *g)
{
	qn_map keys;

	qn_map_init(&keys, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_stats_ref)
			continue;
		const qn_node *other = qn_map_gets(&keys, n->attr->stats_ref.key);
		if (other != NULL)
			return qn_report(g->model->env, QN_EINVALID, "solver.key",
					 qn_node_place(g, n),
					 "'%s' and '%s' have the same key '%s'; every point of "
					 "statistics needs one of its own",
					 other->name, n->name, n->attr->stats_ref.key);
		qn_map_puts(&keys, n->attr->stats_ref.key, (void *)(uintptr_t)n);
	}
	return QN_OK;
}

qn_status
qn_points_find(qn_model *m, const qn_graph *g, const qn_solver_opts *opts, qn_points *p)
{
	*p = (qn_points){.g = g,
			 .uses = qn_graph_uses(g, m->scratch),
			 .reader = QN_NEW(m->scratch, qn_id, g->n),
			 .root = QN_NEW(m->scratch, qn_id, g->n),
			 .known = QN_NEW(m->scratch, qn_class, g->n),
			 .mask = qn_mask_values(g, m->scratch)};
	QN_TRY(check_keys(g));
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		p->root[id] = id;
		for (uint32_t i = 0; i < n->nin; i++)
			p->reader[n->in[i]] = id;
	}
	unite_all(p, opts->couple_sums);
	qn_points_carry(p, opts);
	for (qn_id id = 1; id < g->n; id++)
		QN_TRY(add_known(p, id, opts));
	add_masked(p);
	forget_constants(p);
	qn_points_begin(p);
	for (qn_id id = 1; id < g->n; id++) {
		qn_class *c = qn_point_class(p, id);

		if (c->first == 0 &&
		    (qn_point_is_source(p, id) || qn_graph_node(g, id)->op == QN_OP_loop_carry))
			c->first = id;
	}
	return QN_OK;
}
