/* SPDX-License-Identifier: Apache-2.0 */
/* share_values.c - the result of a layer that several readers quantize to different steps is quantized once, to the
 * finest of them.
 *
 *   %r = relu %acc                                %r = dequantize(quantize {0.1}(relu %acc))
 *   quantize {0.1}(max_pool %r)             ->    quantize {0.1}(max_pool %r)                   as before
 *   quantize {0.2}(concat %r, %u)                 quantize {0.2}(concat %r, %u)                 8 bits are rescaled
 *
 * So is one that is read with 8 and with 16 bits, if all of these are its own.
 *
 * Skips of U-Nets, parts of a concat.  Without it, the sums of 32 bits are stored, and each reader requantizes them:
 * four times the memory, for as long as the last reader is not reached.
 *
 * requires: a calibrated graph that Quern quantized.  leaves: a calibrated graph. */
#include <string.h>

#include "ir/map.h"
#include "ir/window.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { ROOT };
enum { BYTE_BITS = 8, WIDE_BITS = 16, SUM_BITS = 32, WIDE_SUM_BITS = 64 };

/* How a value comes from the one that is looked at: all of its elements are among those of the value, or all of the
 * value's elements are among its own, too. */
typedef enum reach { NOT, SOME, ALL } reach;

typedef struct sharing {
	qn_model *m;
	const qn_graph *g;
	const uint32_t *uses;
	reach *reach;          /* by node, of the value that is looked at; else NOT */
	const qn_elem *some;   /* a type to which it is quantized */
	const qn_elem *finest; /* that of the smallest step whose range has all elements in it */
	double least;          /* the smallest step */
	bool differs;          /* there are several types */
	bool wide;             /* one of them has 16 bits */
	bool signs;            /* those of 8 bits are signed, and others are not */
} sharing;

static double
step_of(const sharing *s, const qn_elem *e)
{
	double scale;
	int64_t zp;

	qn_elem_param(&s->m->types, e, 0, &scale, &zp);
	return scale;
}

static bool
is_byte(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->bits == BYTE_BITS && e->gran == QN_PER_TENSOR &&
	       !qn_elem_has_symbol(e);
}

static bool
is_wide(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->bits == WIDE_BITS && e->is_signed && e->zp == 0 &&
	       e->gran == QN_PER_TENSOR && !qn_elem_has_symbol(e);
}

/* Whether the value is 0 or more. */
static bool
is_positive(const qn_node *n)
{
	return n->op == QN_OP_relu || n->op == QN_OP_relu6 ||
	       (n->op == QN_OP_clip && n->attr->clip.min >= 0);
}

/* Whether the windows of a pool leave no element out: they are as wide as their stride, or wider. */
static bool
covers(const qn_node *n)
{
	const qn_pooling p = qn_pooling_of(n);

	for (int32_t k = 0; k < p.axes; k++)
		if (p.kernel[k] < p.stride[k] || p.dilation[k] > 1)
			return false;
	return true;
}

/* What an op makes of the elements that it reads. */
static reach
passes_on(const qn_node *n, bool positive)
{
	switch ((int)n->op) {
	case QN_OP_concat:
	case QN_OP_reshape:
	case QN_OP_flatten:
	case QN_OP_transpose:
	case QN_OP_squeeze:
	case QN_OP_expand_dims:
	case QN_OP_expand:
	case QN_OP_tile:
	case QN_OP_reverse:
	case QN_OP_pad:
	case QN_OP_depth_to_space:
	case QN_OP_space_to_depth:
		return ALL;
	case QN_OP_max_pool:
		return positive && covers(n) ? ALL : SOME; /* else the least ones have gone */
	case QN_OP_slice:
	case QN_OP_resize_nearest:
		return SOME;
	default:
		return NOT;
	}
}

/* A type to which the value is quantized; false: it cannot be derived from values of another one. */
static bool
note(sharing *s, const qn_elem *e, reach r)
{
	if (!is_byte(e) && !is_wide(e))
		return false;
	s->wide = s->wide || is_wide(e);
	s->signs = s->signs || (s->some != NULL && e->is_signed != s->some->is_signed);
	s->differs = s->differs || (s->some != NULL && e != s->some);
	s->some = e;
	if (s->least == 0 || step_of(s, e) < s->least)
		s->least = step_of(s, e);
	if (r == ALL && (s->finest == NULL || step_of(s, e) < step_of(s, s->finest)))
		s->finest = e;
	return true;
}

/* Goes from value v to all that read it; false: a reader takes other types than bytes.  *last: the last node that was
 * looked at. */
static bool
follow(sharing *s, qn_id v, qn_id *last)
{
	const qn_graph *g = s->g;
	const bool positive = is_positive(qn_graph_node(g, v));
	uint64_t open = s->uses[v]; /* uses that were not met */

	s->reach[v] = ALL;
	for (qn_id id = v + 1; id < g->n && open > 0; id++) {
		const qn_node *n = qn_graph_node(g, id);
		reach from = NOT;

		for (uint32_t i = 0; i < n->nin; i++) {
			open -= s->reach[n->in[i]] != NOT;
			from = s->reach[n->in[i]] > from ? s->reach[n->in[i]] : from;
		}
		*last = id;
		if (from == NOT)
			continue;
		if (n->op == QN_OP_quantize) {
			if (!note(s, n->type->elem, from))
				return false;
			continue;
		}
		s->reach[id] = passes_on(n, positive);
		if (s->reach[id] == NOT)
			return false;
		s->reach[id] = s->reach[id] < from ? s->reach[id] : from;
		open += s->uses[id];
	}
	return true;
}

/* The type that all readers of value v can do with; NULL: there is none, or they have one already. */
static const qn_elem *
shared_type(sharing *s, qn_id v)
{
	qn_id last = v;

	s->some = s->finest = NULL;
	s->least = 0;
	s->differs = s->wide = s->signs = false;
	const bool known = follow(s, v, &last);
	memset(s->reach + v, 0, (last + 1 - v) * sizeof(*s->reach));
	if (!known || !s->differs || s->finest == NULL || s->least != step_of(s, s->finest))
		return NULL;
	/* 16 bits become any 8 bits; 8 bits are not worth 16, nor made of those with another sign */
	const bool derives = is_wide(s->finest) || (!s->wide && !s->signs);
	return derives ? s->finest : NULL;
}

/* Whether a value is the sums of a layer, or what a limit leaves of them. */
static bool
is_sum(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	while (n->op == QN_OP_relu || n->op == QN_OP_relu6 || n->op == QN_OP_clip)
		n = qn_graph_node(g, n->in[0]);
	if (n->op != QN_OP_dequantize)
		return false;
	const qn_elem *e = qn_graph_node(g, n->in[0])->type->elem;
	return e->kind == QN_ELEM_UNIFORM && (e->bits == SUM_BITS || e->bits == WIDE_SUM_BITS);
}

static qn_id
to_shared(qn_rw *rw, const qn_match *m)
{
	qn_model *model = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, m->root);
	const qn_elem *const *e = name != NULL ? qn_map_gets(qn_rw_user(rw), name) : NULL;

	if (e == NULL)
		return qn_rw_decline(rw, "its readers do not quantize it to several types");
	const qn_id q = qn_rw_add(rw, QN_OP_quantize, qn_rw_derived_name(rw, m->root, "shared"), 1,
				  &m->root, NULL, qn_type_with_elem(&model->types, n->type, *e));
	return q != 0 ? qn_rw_add(rw, QN_OP_dequantize, NULL, 1, &q, NULL, n->type) : 0;
}

static const qn_rule rules[] = {
	{"share-value", QN_P_OPN(dequantize, ROOT), to_shared},
	{"share-value", QN_P_OPN(relu, ROOT), to_shared},
	{"share-value", QN_P_OPN(relu6, ROOT), to_shared},
	{"share-value", QN_P_OPN(clip, ROOT), to_shared},
};

qn_status
qn_share_values(qn_model *m)
{
	qn_graph *g = qn_model_entry(m);
	sharing s = {.m = m,
		     .g = g,
		     .uses = qn_graph_uses(g, m->scratch),
		     .reach = QN_NEW(m->scratch, reach, g->n)};
	const qn_elem **type = QN_NEW(m->scratch, const qn_elem *, g->n);
	qn_map shared;

	qn_map_init(&shared, m->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->name != NULL && is_sum(g, id))
			type[id] = shared_type(&s, id);
		if (type[id] != NULL)
			qn_map_puts(&shared, n->name, &type[id]);
	}
	if (qn_map_count(&shared) == 0)
		return QN_OK;
	QN_TRY(qn_rewrite(m, g, rules, QN_COUNT(rules), &shared, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
