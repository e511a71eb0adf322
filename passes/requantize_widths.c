/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_widths.c - quantized values in storage types that kernels have.
 *
 *   u4<0:15>, scale 0.5, zero point 7      ->   u8<0:15>, scale 0.5, zero point 7          i4, i2, u2 likewise
 *   u16, scale 0.1, zero point 32768       ->   i16, scale 0.1, zero point 0               each value less 32768
 *   u16, scale 0.1, zero point 0           ->   i16<0:32767>, scale 0.1 * 65535 / 32767    symmetric, the same range
 *   i16, scale 0.1, zero point 5           ->   i16, symmetric likewise
 *
 * Kernels of i16 have zero point 0. The symmetric type has the range of the other type, with up to
 * twice the step; a constant whose values fit keeps its scale. What comes in and goes out as integers
 * keeps its parameters (u16 less 32768) and is requantized at the ports; plain uint16 ports stay.
 * Weights of 4 bits stay, as kernels take them. */
#include <math.h>

#include "ir/clamp.h"
#include "ir/diag.h"
#include "passes/requantize.h"
#include "runtime/impls.h"

enum { HALF = 32768, MOST_STEPS_UP = 64 };

typedef struct widths {
	qn_model *m;
	const qn_graph *g;
	qn_graph *to;
	qn_id *map;
	bool *weights; /* by id of g: constants that products take as weights */
	bool *behind;  /* constants that dequantizes alone read */
} widths;

/* ---- types ---- */

static const qn_elem *
made(qn_types *t, const qn_elem *d)
{
	const qn_elem *e = NULL;

	return qn_elem_make(t, "stored", d, &e) == QN_OK ? e : NULL;
}

static bool
is_stored(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->bits <= 16 && e->gran == QN_PER_TENSOR &&
	       !qn_elem_has_symbol(e);
}

/* At the ports: u16 less 32768; all else as the kernels have it, but for the zero point of i16. */
static const qn_elem *
port_elem(qn_types *t, const qn_elem *e)
{
	double scale;
	int64_t zp;

	if (!is_stored(e) || e->bits == 8 || (e->bits == 16 && e->is_signed))
		return e;
	qn_elem_param(t, e, 0, &scale, &zp);
	const int64_t by = e->bits > 8 && !e->is_signed ? HALF : 0;
	qn_elem d = qn_elem_desc(e->bits > 8 ? 16 : 8, by != 0 || e->is_signed);
	d.expressed = e->expressed;
	d.scale = e->scale;
	d.zp = zp - by;
	d.qmin = e->qmin - by;
	d.qmax = e->qmax - by;
	return made(t, &d);
}

/* i16 without a zero point for values from lo to hi steps of e. */
static const qn_elem *
symmetric(qn_types *t, const qn_elem *e, int64_t lo, int64_t hi)
{
	const double reach = fmax((double)hi, -(double)lo);
	qn_elem d = qn_elem_desc(16, true);
	double scale, by = 1;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	d.expressed = e->expressed;
	d.scale = e->scale;
	if (reach > INT16_MAX) {
		const double wide = (double)(float)(scale * reach / INT16_MAX);

		by = scale / wide;
		d.scale = qn_scale_const(t, wide);
	}
	d.qmin = (int64_t)fmax(rint((double)lo * by), INT16_MIN);
	d.qmax = (int64_t)fmin(rint((double)hi * by), INT16_MAX);
	return made(t, &d);
}

/* The type in which kernels take values of e; NULL after an error. */
static const qn_elem *
stored_elem(qn_types *t, const qn_elem *e)
{
	const qn_elem *p = port_elem(t, e);
	double scale;
	int64_t zp;

	if (p == NULL || !is_stored(p) || p->bits <= 8)
		return p;
	qn_elem_param(t, p, 0, &scale, &zp);
	return zp == 0 ? p : symmetric(t, p, p->qmin - zp, p->qmax - zp);
}

static const qn_type *
stored_type(qn_types *t, const qn_type *type)
{
	if (!type->is_tuple) {
		const qn_elem *e = stored_elem(t, type->elem);

		return e == NULL || e == type->elem ? type : qn_type_with_elem(t, type, e);
	}
	const qn_type **field = QN_NEW(t->arena, const qn_type *, type->nfield);
	for (uint32_t i = 0; i < type->nfield; i++)
		field[i] = stored_type(t, type->field[i]);
	return qn_type_tuple(t, type->nfield, field);
}

/* Weights that kernels take as they are: of less than 8 bits. */
static bool
stays(const widths *w, qn_id id)
{
	return w->weights[id] && qn_graph_node(w->g, id)->type->elem->bits < 8;
}

/* ---- constants ---- */

/* A value of `from` as one of `to`. */
static int64_t
restored(const qn_types *t, const qn_elem *from, const qn_elem *to, int64_t code)
{
	double was, is;
	int64_t zf, zt;

	qn_elem_param(t, from, 0, &was, &zf);
	qn_elem_param(t, to, 0, &is, &zt);
	const int64_t v = (int64_t)rint((double)(code - zf) * (was / is)) + zt;
	return qn_clamp_i64(v, to->qmin, to->qmax);
}

/* The type of a constant: with its own scale where its values fit. */
static const qn_type *
constant_type(widths *w, qn_id id, const qn_node *n)
{
	qn_types *t = &w->m->types;
	const qn_elem *e = n->type->elem, *p;
	double scale;
	int64_t zp, lo = 0, hi = 0;

	if (stays(w, id))
		return n->type;
	if (!w->behind[id] || !is_stored(e) || e->bits <= 8 || (p = port_elem(t, e)) == NULL)
		return stored_type(t, n->type);
	qn_elem_param(t, e, 0, &scale, &zp);
	if (p->zp == 0)
		return qn_type_with_elem(t, n->type, p);
	for (int64_t i = 0; i < qn_type_count(n->type); i++) {
		const int64_t v = qn_tensor_i64(n->value, i) - zp;

		lo = v < lo ? v : lo;
		hi = v > hi ? v : hi;
	}
	e = symmetric(t, e, lo, hi > 0 ? hi : 1);
	return e != NULL ? qn_type_with_elem(t, n->type, e) : stored_type(t, n->type);
}

static const qn_tensor *
restored_const(widths *w, const qn_tensor *x, const qn_type *to)
{
	void *data;
	qn_tensor *out = qn_tensor_new(w->m->arena, to, &data);

	for (int64_t i = 0; i < qn_type_count(to); i++)
		qn_store_i64(data, to->elem->plain, i,
			     restored(&w->m->types, x->type->elem, to->elem, qn_tensor_i64(x, i)));
	return out;
}

/* Up from the weights of a product to the constant; through moves and a dequantize. */
static void
mark_weights(widths *w, qn_id id)
{
	for (int i = 0; i < MOST_STEPS_UP; i++) {
		const qn_node *n = qn_graph_node(w->g, id);

		w->weights[id] = n->op == QN_OP_const || n->op == QN_OP_quantize;
		if (n->nin == 0 || w->weights[id])
			break;
		if (n->op != QN_OP_dequantize && !qn_rqz_moves(w->g, n))
			break;
		id = n->in[0];
	}
	const qn_node *n = qn_graph_node(w->g, id);
	if (n->op == QN_OP_quantize)
		w->weights[id] = qn_graph_node(w->g, n->in[0])->op == QN_OP_const;
}

static void
find_constants(widths *w)
{
	for (qn_id id = 1; id < w->g->n; id++) {
		const qn_node *n = qn_graph_node(w->g, id);

		w->behind[id] = true;
		for (uint32_t i = 0; i < n->nin && n->op != QN_OP_dequantize; i++)
			w->behind[n->in[i]] = false;
		if (qn_opinfo_of(n)->behaviour == QN_ACC && n->nin > 1)
			mark_weights(w, n->in[1]);
	}
	for (size_t i = 0; i < w->g->noutput; i++)
		w->behind[w->g->output[i].value] = false;
}

/* ---- nodes ---- */

static qn_id
requantized(widths *w, qn_id x, const qn_elem *e)
{
	if (x == 0 || e == NULL)
		return 0;
	const qn_type *type = qn_graph_node(w->to, x)->type;
	if (type->elem == e)
		return x;
	return qn_graph_op(w->to, QN_OP_requantize, qn_graph_node(w->to, x)->name, 1, &x, NULL,
			   qn_type_with_elem(&w->m->types, type, e));
}

static qn_id
scast(widths *w, const char *name, qn_id x, const qn_elem *e)
{
	return x != 0 && e != NULL
		       ? qn_graph_op(
				 w->to, QN_OP_scast, name, 1, &x, NULL,
				 qn_type_with_elem(&w->m->types, qn_graph_node(w->to, x)->type, e))
		       : 0;
}

/* Plain integers x of 16 bits as those of the other sign, 32768 less or more: the highest bit
 * changes. */
static qn_id
flipped(widths *w, const char *name, qn_id x, qn_plain to)
{
	qn_types *t = &w->m->types;
	void *data;

	if (x == 0)
		return 0;
	const qn_type *type = qn_graph_node(w->to, x)->type;
	qn_tensor *bit =
		qn_tensor_new(w->m->arena, qn_type_plain(t, type->elem->plain, 0, NULL), &data);
	qn_store_i64(data, type->elem->plain, 0, type->elem->is_signed ? INT16_MIN : HALF);
	qn_id in[2] = {x, qn_graph_const(w->to, NULL, bit)};
	x = in[1] != 0 ? qn_graph_op(w->to, QN_OP_bitwise_xor, NULL, 2, in, NULL, NULL) : 0;
	return x != 0 ? qn_graph_op(w->to, QN_OP_cast, name, 1, &x, NULL,
				    qn_type_with_elem(t, type, qn_elem_plain(t, to)))
		      : 0;
}

/* scast between plain integers and quantized values whose type changes. */
static qn_id
cast_again(widths *w, const qn_node *n)
{
	qn_types *t = &w->m->types;
	const qn_elem *from = qn_graph_node(w->g, n->in[0])->type->elem, *to = n->type->elem;
	const bool in = qn_elem_is_quant(to);
	const qn_elem *e = in ? to : from;
	const bool flips = is_stored(e) && e->bits == 16 && !e->is_signed;
	const qn_elem *mid = flips ? port_elem(t, e) : e;
	qn_id x = w->map[n->in[0]];

	if (in) {
		x = flips ? flipped(w, n->name, x, QN_PLAIN_i16) : x;
		return requantized(w, scast(w, n->name, x, mid), stored_elem(t, to));
	}
	x = requantized(w, x, mid);
	x = scast(w, n->name, x, flips ? qn_elem_plain(t, QN_PLAIN_i16) : to);
	return flips ? flipped(w, n->name, x, QN_PLAIN_u16) : x;
}

/* The numbers among the attributes that are quantized values of type `from`. */
static void
restore_attrs(const widths *w, const qn_node *n, const qn_elem *from, const qn_elem *to,
	      qn_attrs *a)
{
	const qn_types *t = &w->m->types;

	if (n->op == QN_OP_requantize || n->op == QN_OP_clamp) {
		if (a->clamp.lo > INT32_MIN)
			a->clamp.lo = restored(t, from, to, a->clamp.lo);
		if (a->clamp.hi < INT32_MAX)
			a->clamp.hi = restored(t, from, to, a->clamp.hi);
	}
	if (n->op == QN_OP_pad && a->pad.code != INT32_MIN)
		a->pad.code = restored(t, from, to, a->pad.code);
}

static bool
changes(widths *w, const qn_type *type)
{
	return stored_type(&w->m->types, type) != type;
}

static qn_id
copy(widths *w, qn_id id, const qn_node *n)
{
	qn_types *t = &w->m->types;
	qn_node like = *n;
	qn_id *in = QN_NEW(w->m->scratch, qn_id, n->nin);
	qn_attrs a;

	for (uint32_t i = 0; i < n->nin; i++)
		if ((in[i] = w->map[n->in[i]]) == 0)
			return 0;
	like.in = in;
	if (n->op == QN_OP_scast &&
	    (changes(w, n->type) || changes(w, qn_graph_node(w->g, n->in[0])->type)))
		return cast_again(w, n);
	if (n->op == QN_OP_const)
		like.type = constant_type(w, id, n);
	else
		like.type =
			n->op == QN_OP_input || stays(w, id) ? n->type : stored_type(t, n->type);
	if (n->op == QN_OP_const && like.type != n->type)
		like.value = restored_const(w, n->value, like.type);
	if (n->op == QN_OP_input && !n->type->is_tuple) {
		like.type = qn_type_with_elem(t, n->type, port_elem(t, n->type->elem));
		return requantized(w, qn_graph_add(w->to, &like), stored_elem(t, n->type->elem));
	}
	if (n->attr != NULL && !n->type->is_tuple && like.type != n->type) {
		qn_attrs_of(n, &a);
		restore_attrs(w, n, n->type->elem, like.type->elem, &a);
		like.attr = &a;
	}
	return qn_graph_add(w->to, &like);
}

qn_status
qn_rqz_widths(qn_model *m, qn_graph *g, qn_graph **out)
{
	widths w = {.m = m, .g = g};
	bool any = false;

	*out = g;
	w.weights = QN_NEW(m->scratch, bool, g->n);
	w.behind = QN_NEW(m->scratch, bool, g->n);
	find_constants(&w);
	for (qn_id id = 1; id < g->n && !any; id++)
		any = !stays(&w, id) && changes(&w, qn_graph_node(g, id)->type);
	if (!any)
		return QN_OK;
	w.to = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	w.map = QN_NEW(m->scratch, qn_id, g->n);
	for (qn_id id = 1; id < g->n; id++)
		if ((w.map[id] = copy(&w, id, qn_graph_node(g, id))) == 0)
			return QN_EINVALID;
	for (size_t i = 0; i < g->noutput; i++) {
		const qn_node *n = qn_graph_node(g, g->output[i].value);
		qn_id x = w.map[g->output[i].value];

		if (!n->type->is_tuple && qn_elem_is_quant(n->type->elem) && n->op != QN_OP_const)
			x = requantized(&w, x, port_elem(&m->types, n->type->elem));
		if (x == 0)
			return QN_EINVALID;
		qn_graph_output(w.to, g->output[i].name, x);
	}
	qn_graph_copy_states(w.to, g);
	return qn_graph_sweep(m, w.to, NULL, out);
}
