/* SPDX-License-Identifier: Apache-2.0 */
/* quantizing.c - what quantize callbacks build their quantized nodes with.
 *
 *   qn_qb_quantize(b, x, "fc", "x")       ->  %fc.x = quantize %x : …<i8:f32, $fc.x:$fc.x>
 *   qn_qb_quantize_bias(b, c, "b", x, w)  ->  %b_1 = quantize %b : …<i32:f32:0, $fc.w*$fc.x> */
#include "patterns/quantizing.h"
#include "patterns/stored.h"

qn_graph *
qn_qb_graph(qn_quantizing *b)
{
	return b->dst;
}

const qn_quant_opts *
qn_qb_opts(const qn_quantizing *b)
{
	return b->opts;
}

const qn_node *
qn_qb_root(const qn_quantizing *b)
{
	return qn_graph_node(b->composite, b->inside->root);
}

const qn_node *
qn_qb_matched(const qn_quantizing *b, int slot)
{
	return qn_graph_node(b->composite, b->inside->at[slot]);
}

const qn_graph *
qn_qb_before(const qn_quantizing *b)
{
	return b->composite;
}

qn_id
qn_qb_value(const qn_quantizing *b, qn_id v)
{
	return v < b->composite->n ? b->arg[v] : 0;
}

qn_id
qn_qb_input(const qn_quantizing *b, uint32_t i)
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

qn_storage
qn_result_storage(const qn_quant_opts *opts)
{
	return opts->mixes && opts->wide_result ? QN_STORAGE_I16 : opts->activations;
}

bool
qn_activation_symmetric(const qn_quant_opts *opts)
{
	return opts->scheme == QN_SCHEME_RFC || opts->activations == QN_STORAGE_I16;
}

/* axis < 0: one scale. */
static qn_id
quantize_symbol(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		qn_elem e, bool symmetric, int axis, const char *method)
{
	const char *name = fresh(m, owner, operand);
	const qn_type *type = qn_graph_node(g, x)->type;
	const int32_t axes[1] = {axis};
	qn_symbol *sym;

	if (qn_symbol_declare(&m->types, name, name,
			      symmetric ? QN_SYM_SYMMETRIC : QN_SYM_ASYMMETRIC,
			      axis < 0 ? 0 : type->dim[axis], &sym) != QN_OK)
		return 0;
	sym->method = method != NULL ? qn_arena_str(m->arena, method) : NULL;
	if (axis >= 0) {
		e.gran = QN_PER_AXIS;
		e.naxis = 1;
		e.axis = axes;
	}
	e.scale = qn_scale_sym(&m->types, sym);
	e.zp_sym = symmetric ? NULL : sym;
	return quantize(m, g, x, name, &e);
}

/* The last axis, where the channels of activations are; -1: one scale is for all of them. */
static int
channel_axis(const qn_type *t, const qn_quant_opts *opts)
{
	return opts->per_axis && t->rank >= 2 && t->dim[t->rank - 1] > 1 ? t->rank - 1 : -1;
}

/* The parameters of a carried value, which all who read it share; NULL: x is none, or has another storage. */
static const qn_elem *
carried_elem(const qn_graph *g, qn_id x, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(g, x);
	const qn_node *c = n->op == QN_OP_dequantize ? qn_graph_node(g, n->in[0]) : n;
	const qn_elem want = qn_activation_desc(opts), *e = c->type->elem;

	return c->op == QN_OP_loop_carry && e->bits == want.bits && e->qmin == want.qmin &&
			       e->qmax == want.qmax && channel_axis(c->type, opts) < 0
		       ? e
		       : NULL;
}

qn_id
qn_quantize_real(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		 const qn_quant_opts *opts)
{
	const qn_elem *e = qn_stored_elem(m, g, x, opts);

	if (e == NULL)
		e = carried_elem(g, x, opts);
	if (e != NULL)
		return qn_graph_op(g, QN_OP_quantize, fresh(m, owner, operand), 1, &x, NULL,
				   qn_type_with_elem(&m->types, qn_graph_node(g, x)->type, e));
	return quantize_symbol(m, g, x, owner, operand, qn_activation_desc(opts),
			       qn_activation_symmetric(opts),
			       channel_axis(qn_graph_node(g, x)->type, opts), opts->method);
}

qn_id
qn_quantize_pcm(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand)
{
	qn_elem e = qn_elem_desc(16, true);

	e.scale = qn_scale_const(&m->types, QN_PCM_SCALE);
	return quantize(m, g, x, fresh(m, owner, operand), &e);
}

qn_id
qn_quantize_sound(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		  const qn_node *sound)
{
	qn_elem e = qn_elem_desc(16, true);
	double scale;

	if (x == 0)
		return 0;
	qn_fixed_output(sound, &e, &scale, &e.zp);
	e.scale = qn_scale_const(&m->types, scale);
	return quantize(m, g, x, operand != NULL ? fresh(m, owner, operand) : owner, &e);
}

qn_id
qn_qb_quantize_symbol(qn_quantizing *b, qn_id x, const char *owner, const char *operand,
		      const qn_elem *desc, bool symmetric, int axis)
{
	return x == 0 ? 0
		      : quantize_symbol(b->m, b->dst, x, owner, operand, *desc, symmetric, axis,
					b->opts->method);
}

qn_id
qn_qb_quantize(qn_quantizing *b, qn_id x, const char *owner, const char *operand)
{
	return x == 0 ? 0 : qn_quantize_real(b->m, b->dst, x, owner, operand, b->opts);
}

bool
qn_from_dynamic(const qn_graph *g, qn_id x)
{
	const qn_node *n = qn_graph_node(g, x);

	while (qn_opinfo_of(n)->behaviour == QN_SAME)
		n = qn_graph_node(g, n->in[0]);
	return n->op == QN_OP_dynamic_fake_quant;
}

bool
qn_qb_is_dynamic(const qn_quantizing *b, qn_id x)
{
	return b->opts->when != QN_STATIC || (x != 0 && qn_from_dynamic(b->dst, x));
}

qn_id
qn_quantize_levels(qn_model *m, qn_graph *g, qn_id x, const char *owner, const char *operand,
		   const qn_quant_opts *opts)
{
	qn_quant_opts own = *opts;

	own.per_axis = false;
	own.activations = QN_STORAGE_I16;
	x = x == 0 ? 0 : qn_quantize_real(m, g, x, owner, operand, &own);
	return x == 0 ? 0 : qn_graph_op(g, QN_OP_dequantize, NULL, 1, &x, NULL, NULL);
}

qn_id
qn_qb_dynamic(qn_quantizing *b, qn_id x, const char *owner, const char *operand)
{
	qn_attrs attr = {.dynamic = {.rows = b->opts->when == QN_AT_RUN_TIME_BY_ROW}};
	qn_buf name;

	if (x == 0 || qn_from_dynamic(b->dst, x))
		return x;
	qn_buf_init(&name, b->m->scratch);
	qn_buff(&name, "%s.dynamic", owner);
	x = qn_quantize_levels(b->m, b->dst, x, owner, operand, b->opts);
	return x == 0 ? 0 : qn_qb_op(b, QN_OP_dynamic_fake_quant, qn_buf_str(&name), 1, &x, &attr);
}

/* Symmetric storage of weights. */
static qn_elem
weight_desc(const qn_quant_opts *o)
{
	qn_elem e =
		qn_elem_desc(o->weight_bits == 2 || o->weight_bits == 4 ? o->weight_bits : 8, true);

	e.qmin = -e.qmax;
	return e;
}

qn_id
qn_qb_quantize_tensor(qn_quantizing *b, qn_id x, const char *owner, const char *operand)
{
	qn_quant_opts own = *b->opts;

	own.per_axis = false;
	return x == 0 ? 0 : qn_quantize_real(b->m, b->dst, x, owner, operand, &own);
}

bool
qn_qb_has_channels(const qn_quantizing *b, qn_id x)
{
	return x != 0 && qn_graph_node(b->dst, x)->type->elem->gran == QN_PER_AXIS;
}

qn_id
qn_qb_quantize_weights(qn_quantizing *b, qn_id x, const char *owner, const char *operand, int axis)
{
	const qn_elem e = weight_desc(b->opts);

	return qn_qb_quantize_symbol(b, x, owner, operand, &e, true, axis);
}

bool
qn_weight_blocks(const qn_type *w, int64_t each, int64_t shortest, qn_blocks *out)
{
	int64_t left = each, row = 1;

	*out = (qn_blocks){.n = 1};
	for (int32_t i = 1; i < w->rank; i++)
		row *= w->dim[i];
	if (left == 0 || row < shortest)
		return false;
	for (int32_t i = w->rank - 1; i >= 0; i--) {
		const int64_t block = i == 0 ? 1 : left < w->dim[i] ? left : w->dim[i];

		out->axis[i] = i;
		out->block[i] = block;
		out->n *= (w->dim[i] + block - 1) / block;
		out->partial = out->partial || w->dim[i] % block != 0;
		left /= block;
		left = left > 0 ? left : 1;
	}
	return true;
}

bool
qn_qb_blocks(const qn_quantizing *b, const qn_type *w, int64_t shortest, qn_blocks *out)
{
	return qn_weight_blocks(w, b->opts->weight_block, shortest, out);
}

bool
qn_qb_product_blocks(const qn_quantizing *b, const qn_type *w, qn_blocks *out)
{
	return qn_qb_blocks(b, w, 2 * (int64_t)b->opts->weight_block, out);
}

qn_id
qn_qb_quantize_blocks(qn_quantizing *b, qn_id x, const char *owner, const char *operand,
		      const qn_blocks *blocks)
{
	const char *name = fresh(b->m, owner, operand);
	qn_elem e = weight_desc(b->opts);
	qn_symbol *sym;

	if (x == 0 ||
	    qn_symbol_declare(&b->m->types, name, name, QN_SYM_SYMMETRIC, blocks->n, &sym) != QN_OK)
		return 0;
	e.gran = QN_SUB_CHANNEL;
	e.naxis = qn_graph_node(b->dst, x)->type->rank;
	e.axis = blocks->axis;
	e.block = blocks->block;
	e.partial = blocks->partial;
	e.scale = qn_scale_sym(&b->m->types, sym);
	return quantize(b->m, b->dst, x, name, &e);
}

qn_id
qn_qb_quantize_bias(qn_quantizing *b, qn_id x, const char *name, qn_id a, qn_id w)
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
qn_qb_quantize_fixed(qn_quantizing *b, qn_id x, const char *name, const qn_elem *storage,
		     double scale, int64_t zp)
{
	qn_elem e = *storage;

	e.scale = qn_scale_const(&b->m->types, scale);
	e.zp = zp;
	return quantize(b->m, b->dst, x, name, &e);
}

qn_id
qn_qb_quantize_result(qn_quantizing *b, qn_id x, const char *name, const qn_node *like)
{
	const qn_quant_opts of_result = {.activations = qn_result_storage(b->opts)};
	qn_elem activation = qn_activation_desc(&of_result);
	double scale;
	int64_t zp;

	if (x == 0)
		return 0;
	qn_fixed_output(like, &activation, &scale, &zp);
	return qn_qb_quantize_fixed(b, x, name, &activation, scale, zp);
}

qn_id
qn_qb_dequantize(qn_quantizing *b, qn_id x, const char *name)
{
	return x == 0 ? 0 : qn_graph_op(b->dst, QN_OP_dequantize, name, 1, &x, NULL, NULL);
}

qn_id
qn_qb_op(qn_quantizing *b, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	 const qn_attrs *attr)
{
	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	return qn_graph_op(b->dst, op, name, nin, in, attr, NULL);
}
