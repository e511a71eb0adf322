/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.c - writes each composite in its quantized form and gives every graph input and
 * output parameters of its own.
 *
 *   %y = call @fc.dense %x, %w    ->   %fc.x = quantize %x : …<i8:f32, $fc.x:$fc.x>      %fc.w = quantize %w : …<i8<-127:127>:f32:0, $fc.w>
 *                                      %fc.acc = dense %fc.x, %fc.w : …<i32:f32:1, $fc.w*$fc.x>       %fc = dequantize %fc.acc
 *
 * requires: a partitioned graph.   leaves: a symbolic graph without calls of composites; values between partitions are real. */
#include "ir/diag.h"
#include "patterns/quantizer.h"
#include "patterns/rewrite.h"

struct qn_qbuild {
	qn_model *m;
	qn_graph *dst;
	const qn_quant_opts *opts;
	const qn_graph *composite;
	const qn_match *inside; /* the match of the pattern in the composite */
	const qn_id *arg;       /* composite value id -> value in dst, 0 for inner nodes */
};

qn_graph *
qn_qb_graph(qn_qbuild *b)
{
	return b->dst;
}

const qn_quant_opts *
qn_qb_opts(const qn_qbuild *b)
{
	return b->opts;
}

const qn_node *
qn_qb_root(const qn_qbuild *b)
{
	return qn_graph_node(b->composite, b->inside->root);
}

const qn_node *
qn_qb_matched(const qn_qbuild *b, int slot)
{
	return qn_graph_node(b->composite, b->inside->at[slot]);
}

qn_id
qn_qb_input(const qn_qbuild *b, uint32_t i)
{
	return b->arg[qn_qb_root(b)->in[i]];
}

/* A name for a symbol that is not taken. */
static const char *
fresh(qn_model *m, const char *owner, const char *operand)
{
	for (int k = 0;; k++) {
		qn_buf b;

		qn_buf_init(&b, m->scratch);
		qn_buff(&b, "%s.%s", owner, operand);
		if (k > 0)
			qn_buff(&b, "_%d", k);
		if (qn_symbol_find(&m->types, qn_buf_str(&b)) == NULL)
			return qn_buf_str(&b);
	}
}

/* quantize(x) to the element described by e; 0 after an error. */
static qn_id
quantize(qn_model *m, qn_graph *g, qn_id x, const char *name, const qn_elem *desc)
{
	const qn_elem *e;

	if (x == 0 || qn_elem_make(&m->types, name, desc, &e) != QN_OK)
		return 0;
	const qn_type *type = qn_type_with_elem(&m->types, qn_graph_node(g, x)->type, e);
	return qn_graph_op(g, QN_OP_quantize, name, 1, &x, NULL, type);
}

qn_elem
qn_activation_desc(const qn_quant_opts *opts)
{
	return qn_elem_desc(opts->activations == QN_STORAGE_I16 ? 16 : 8,
			    opts->activations != QN_STORAGE_U8);
}

bool
qn_activation_symmetric(const qn_quant_opts *opts)
{
	return opts->scheme == QN_SCHEME_RFC || opts->activations == QN_STORAGE_I16;
}

static qn_id
quantize_symbol(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		qn_elem e, bool symmetric, int axis)
{
	const char *name = fresh(m, owner, operand);
	const qn_type *type = qn_graph_node(g, x)->type;
	const int32_t axes[1] = {axis};
	qn_symbol *sym;

	if (qn_symbol_declare(&m->types, name, name,
			      symmetric ? QN_SYM_SYMMETRIC : QN_SYM_ASYMMETRIC,
			      axis < 0 ? 0 : type->dim[axis], &sym) != QN_OK)
		return 0;
	if (axis >= 0) {
		e.gran = QN_PER_AXIS;
		e.naxis = 1;
		e.axis = axes;
	}
	e.scale = qn_scale_sym(&m->types, sym);
	e.zp_sym = symmetric ? NULL : sym;
	return quantize(m, g, x, name, &e);
}

static qn_id
quantize_activation(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		    const qn_quant_opts *opts)
{
	return quantize_symbol(m, g, x, owner, operand, qn_activation_desc(opts),
			       qn_activation_symmetric(opts), -1);
}

qn_id
qn_qb_quantize(qn_qbuild *b, qn_id x, const char *owner, const char *operand)
{
	return x == 0 ? 0 : quantize_activation(b->m, b->dst, x, owner, operand, b->opts);
}

qn_id
qn_qb_quantize_weights(qn_qbuild *b, qn_id x, const char *owner, const char *operand, int axis)
{
	qn_elem e = qn_elem_desc(b->opts->weight_bits == 4 ? 4 : 8, true);

	e.qmin = -e.qmax;
	return x == 0 ? 0 : quantize_symbol(b->m, b->dst, x, owner, operand, e, true, axis);
}

qn_id
qn_qb_quantize_bias(qn_qbuild *b, qn_id x, const char *name, qn_id a, qn_id w)
{
	const int32_t axes[1] = {0};
	qn_elem e = qn_elem_desc(b->opts->activations == QN_STORAGE_I16 ? 64 : 32, true);

	if (x == 0 || a == 0 || w == 0)
		return 0;
	const qn_elem *ea = qn_graph_node(b->dst, a)->type->elem;
	const qn_elem *ew = qn_graph_node(b->dst, w)->type->elem;
	e.scale = qn_scale_op(&b->m->types, QN_SCALE_MUL, ea->scale, ew->scale);
	e.gran = ew->gran;
	e.naxis = ew->naxis;
	e.axis = ew->naxis > 0 ? axes : NULL;
	return quantize(b->m, b->dst, x, name, &e);
}

qn_id
qn_qb_quantize_fixed(qn_qbuild *b, qn_id x, const char *name, const qn_elem *storage, double scale,
		     int64_t zp)
{
	qn_elem e = *storage;

	e.scale = qn_scale_const(&b->m->types, scale);
	e.zp = zp;
	return quantize(b->m, b->dst, x, name, &e);
}

qn_id
qn_qb_dequantize(qn_qbuild *b, qn_id x, const char *name)
{
	return x == 0 ? 0 : qn_graph_op(b->dst, QN_OP_dequantize, name, 1, &x, NULL, NULL);
}

qn_id
qn_qb_op(qn_qbuild *b, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	 const qn_attrs *attr)
{
	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	return qn_graph_op(b->dst, op, name, nin, in, attr, NULL);
}

/* The quantized form of one call; 0 after an error. */
static qn_id
expand(qn_model *m, qn_matcher *s, qn_graph *dst, const qn_quant_opts *opts, const qn_node *call,
       const qn_id *map)
{
	const qn_graph *c = call->callee;
	const qn_qpattern *p = qn_pattern_find(c->pattern);
	qn_id *arg = QN_NEW(m->scratch, qn_id, c->n);
	qn_match inside, outside;
	qn_qbuild b = {m, dst, opts, c, &inside, arg};

	for (size_t i = 0; i < c->ninput; i++)
		arg[c->input[i]] = map[call->in[i]];
	if (p == NULL || c->noutput != 1 ||
	    !qn_match_at(s, c, p->pattern, c->output[0].value, &inside)) {
		(void)qn_report(m->env, QN_EINVALID, "quantize.pattern", c->name,
				"composite '%s' does not match its pattern '%s'", c->name,
				c->pattern);
		return 0;
	}
	outside = inside;
	outside.root = 0;
	for (size_t i = 0; i < QN_MAX_SLOTS; i++)
		outside.at[i] = arg[inside.at[i]];
	qn_id got = p->quantize(&b, &outside);
	if (got != 0 && qn_graph_node(dst, got)->type != call->type) {
		(void)qn_report(m->env, QN_EINTERNAL, "quantize.type", c->name,
				"pattern '%s' changed the type of the value", p->name);
		return 0;
	}
	return got;
}

/* Notes what became of a call whose value is `got`. */
static qn_part *
part_of(const qn_graph *dst, const qn_node *call, const qn_id *map, qn_id got)
{
	qn_arena *a = dst->model->arena;
	const char **in = QN_NEW(a, const char *, call->nin);
	qn_part *part = QN_NEW(a, qn_part, 1);

	for (uint32_t i = 0; i < call->nin; i++)
		in[i] = qn_arena_str(a, qn_graph_node(dst, map[call->in[i]])->name);
	*part = (qn_part){.pattern = qn_arena_str(a, call->callee->pattern),
			  .out = qn_arena_str(a, qn_graph_node(dst, got)->name),
			  .nin = call->nin,
			  .in = in};
	return part;
}

/* Gives a graph input its own parameters: later quantizes of it become requantizes, or vanish
 * where they are equal. */
static qn_id
input_pair(qn_model *m, qn_graph *dst, qn_id x, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(dst, x);

	if (opts->scheme == QN_SCHEME_RFC || !qn_type_is_f32(n->type))
		return x;
	qn_id q = quantize_activation(m, dst, x, n->name, "input", opts);
	return q == 0 ? 0 : qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL);
}

/* The same for an output, unless its value has parameters of an activation already. */
static qn_id
output_pair(qn_model *m, qn_graph *dst, const qn_output *out, qn_id y, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(dst, y);

	if (opts->scheme == QN_SCHEME_RFC || !qn_type_is_f32(n->type))
		return y;
	if (n->op == QN_OP_dequantize && qn_graph_node(dst, n->in[0])->type->elem->bits <= 16)
		return y;
	qn_id q = quantize_activation(m, dst, y, out->name, "output", opts);
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

qn_status
qn_quantize_model(qn_model *m, const qn_quant_opts *opts)
{
	const qn_graph *g = qn_model_entry(m);
	qn_graph *dst = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	const qn_part **last = &m->parts;
	qn_matcher *s = qn_matcher_new(m->scratch, 0);

	m->parts = NULL;
	if (m->stage != QN_STAGE_FLOAT)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "quantize takes a partitioned float graph; this one is %s",
				 qn_stage_names[m->stage]);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_call && n->callee->pattern != NULL)
			map[id] = expand(m, s, dst, opts, n, map);
		else
			map[id] = copy_node(m, dst, n, map);
		if (map[id] != 0 && n->op == QN_OP_input)
			map[id] = input_pair(m, dst, map[id], opts);
		if (map[id] == 0)
			return QN_EINVALID;
		if (n->op == QN_OP_call && n->callee->pattern != NULL) {
			qn_part *part = part_of(dst, n, map, map[id]);

			*last = part;
			last = &part->next;
		}
	}
	for (size_t i = 0; i < g->noutput; i++) {
		qn_id y = output_pair(m, dst, &g->output[i], map[g->output[i].value], opts);

		if (y == 0)
			return QN_EINVALID;
		qn_graph_output(dst, g->output[i].name, y);
	}
	m->stage = QN_STAGE_SYMBOLIC;
	QN_TRY(qn_graph_sweep(m, dst, NULL, &dst));
	qn_model_set_graph(m, dst);
	return QN_OK;
}
