/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.c - see encodings.h: the symbols that the names of a file stand for
 * (encodings_read.c reads it). */
#include "calibrate/calibrate.h"

#include <string.h>

#include "calibrate/encodings_file.h"
#include "ir/diag.h"
#include "ir/foreign_names.h"

const qn_node *
qn_encoded_value(const qn_graph *g, const qn_node *quantize)
{
	const qn_node *of = qn_graph_node(g, quantize->in[0]);

	while (of->op == QN_OP_dequantize && qn_graph_node(g, of->in[0])->op == QN_OP_quantize)
		of = qn_graph_node(g, qn_graph_node(g, of->in[0])->in[0]);
	return of;
}

/* By the names that a value has: of its quantize, its own, and those in the file that it was read
 * from.  A node that has the name of another value of that file does not count. */
static const qn_encoding *
named(const qn_encodings *e, const qn_graph *g, const qn_node *q, const qn_node *of)
{
	const qn_map *names =
		&e->map[of->op == QN_OP_const ? QN_ENCODING_PARAMS : QN_ENCODING_ACTIVATIONS];
	const qn_model *m = g->model;
	const qn_encoding *own = qn_model_is_taken(m, q) ? NULL : qn_map_gets(names, q->name);

	if (own == NULL && !qn_model_is_taken(m, of))
		own = qn_map_gets(names, of->name);
	for (const qn_foreign_name *c = qn_model_foreign_names(m, of); c != NULL && own == NULL;
	     c = c->next)
		own = qn_map_gets(names, c->name);
	return own;
}

/* Whether the value has the parameters of its operand: elements are moved or chosen, none is
 * limited. */
static bool
keeps_grid(const qn_node *n)
{
	const bool limits = n->op == QN_OP_relu || n->op == QN_OP_relu6 || n->op == QN_OP_clip ||
			    n->op == QN_OP_clamp;

	return qn_opinfo_of(n)->behaviour == QN_SAME && !limits && n->nin > 0;
}

static const qn_encoding *
encoding_of(const qn_encodings *e, const qn_graph *g, const qn_node *q)
{
	const qn_node *of = qn_encoded_value(g, q);
	const qn_encoding *found = named(e, g, q, of);

	while (found == NULL && keeps_grid(of)) {
		const qn_node *x = qn_graph_node(g, of->in[0]);

		of = x->op == QN_OP_dequantize && qn_graph_node(g, x->in[0])->op == QN_OP_quantize
			     ? qn_encoded_value(g, qn_graph_node(g, x->in[0]))
			     : x;
		if (of->op != QN_OP_const)
			found = named(e, g, of, of);
	}
	return found;
}

/* A symmetric grid has 0 in the middle, with as many values on both sides or one more below. */
static int64_t
zero_point(const qn_encoding_pair *p, const qn_elem *t, bool symmetric)
{
	const int64_t half = (int64_t)1 << (p->bits - 1);

	if ((p->symmetric || symmetric) && (p->offset == -half || p->offset == 1 - half))
		return t->is_signed ? 0 : half;
	return t->qmin - p->offset;
}

static qn_status
check_pair(const qn_encodings *e, qn_model *m, const qn_node *q, const qn_encoding_pair *p,
	   int64_t zp, bool symmetric)
{
	const qn_elem *t = q->type->elem;

	if (p->bits != t->bits)
		return qn_report(m->env, QN_EINVALID, "encodings.bitwidth",
				 qn_json_place(&e->doc, e->a, p->bits_at),
				 "has %lld bits, but '%s' is stored in %d; choose its storage type "
				 "with --activations, --weights-type or --recipe",
				 (long long)p->bits, q->name, (int)t->bits);
	if (zp < t->qmin || zp > t->qmax)
		return qn_report(m->env, QN_EINVALID, "encodings.value",
				 qn_json_place(&e->doc, e->a, p->offset_at),
				 "has offset %lld, with which '%s' cannot represent 0",
				 (long long)p->offset, q->name);
	if (symmetric && zp != 0)
		return qn_report(m->env, QN_EINVALID, "encodings.symmetric",
				 qn_json_place(&e->doc, e->a, p->offset_at),
				 "has offset %lld, but '%s' is stored without a zero point: its "
				 "offset is %lld or %lld",
				 (long long)p->offset, q->name, -(1LL << (p->bits - 1)),
				 1 - (1LL << (p->bits - 1)));
	return QN_OK;
}

/* What the file leaves in float is not quantized, unless the options say so. */
static qn_status
refuse_real(const qn_encodings *e, qn_model *m, const qn_node *q, const qn_encoding *from)
{
	return qn_report(m->env, QN_EINVALID, "encodings.float",
			 qn_json_place(&e->doc, e->a, from->at),
			 "'%s' is float in the file, but '%s' quantizes it; leave its users in "
			 "float with --skip name:GLOB, or remove the entry",
			 from->name, q->name);
}

static qn_status
bind(const qn_encodings *e, qn_model *m, const qn_node *q, const qn_symbol *sym,
     const qn_encoding *from)
{
	const size_t n = sym->len > 0 ? (size_t)sym->len : 1;
	const bool symmetric = sym->kind == QN_SYM_SYMMETRIC;
	double *scale = QN_NEW(m->scratch, double, n);
	int64_t *zp = QN_NEW(m->scratch, int64_t, n);

	if (from->real)
		return refuse_real(e, m, q, from);
	if (from->n != 1 && from->n != n)
		return qn_report(m->env, QN_EINVALID, "encodings.length",
				 qn_json_place(&e->doc, e->a, from->at),
				 "has %zu encodings, but '%s' has %zu (--weights per-channel or "
				 "per-tensor)",
				 from->n, q->name, n);
	for (size_t k = 0; k < n; k++) {
		const size_t i = from->n == 1 ? 0 : k;

		scale[k] = from->pair[i].scale;
		zp[k] = zero_point(&from->pair[i], q->type->elem, symmetric);
		QN_TRY(check_pair(e, m, q, &from->pair[i], zp[k], symmetric));
	}
	return qn_symbol_bind(&m->types, qn_json_place(&e->doc, e->a, from->at), sym->name, n,
			      scale, symmetric ? NULL : zp);
}

enum { MOST_NAMES = 12 };

/* The names of the file that the model was read from, of values that there still are. */
static void
take_tensors(const qn_graph *g, qn_map *names)
{
	qn_map_init(names, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_foreign_name *c = qn_model_foreign_names(g->model, qn_graph_node(g, id));

		for (; c != NULL; c = c->next)
			if (qn_map_gets(names, c->name) == NULL)
				qn_map_puts(names, c->name, (void *)(uintptr_t)c);
	}
}

/* Values that are computed may have been taken into others (a convolution into its relu); a weight
 * that was removed became another one, which has no parameters from the file. */
static bool
is_known(const qn_graph *g, const qn_map *tensors, const char *name)
{
	const qn_map *all = g->model->tensor_names;
	const qn_foreign_name *of = all != NULL ? qn_map_gets(all, name) : NULL;

	return (of != NULL && !of->constant) || qn_map_gets(tensors, name) != NULL ||
	       qn_graph_find(g, name) != 0;
}

static void
warn_unused(const qn_encodings *e, qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	size_t n = 0;
	qn_map tensors;
	qn_buf b;

	take_tensors(g, &tensors);
	qn_buf_init(&b, m->scratch);
	for (int k = 0; k < QN_ENCODING_SECTIONS; k++)
		for (size_t i = 0; i < e->n[k]; i++) {
			const char *name = e->list[k][i].name;

			if (name != NULL && !is_known(g, &tensors, name) && n++ < MOST_NAMES)
				qn_buff(&b, "%s'%s'", n > 1 ? ", " : "", name);
		}
	if (n > 0)
		qn_warn(m->env, "encodings.unused", e->doc.file, "names %zu unknown values: %s%s",
			n, qn_buf_str(&b), n > MOST_NAMES ? ", …" : "");
}

static bool
is_same(const qn_encoding *a, const qn_encoding *b)
{
	bool same = a == b || (!a->real && !b->real && a->n == b->n);

	for (size_t k = 0; a != b && same && k < a->n; k++)
		same = a->pair[k].bits == b->pair[k].bits &&
		       a->pair[k].offset == b->pair[k].offset &&
		       !(a->pair[k].scale < b->pair[k].scale) &&
		       !(a->pair[k].scale > b->pair[k].scale);
	return same;
}

/* Quantizes that share a symbol have one encoding: of the first one that has any. */
static qn_status
bind_shared(const qn_encodings *e, qn_model *m, const qn_node *q, qn_map *bound)
{
	const qn_symbol *sym = q->type->elem->scale->sym;
	const qn_encoding *first = qn_map_get(bound, &sym, sizeof sym);
	const qn_encoding *from;

	if (sym->bound && first == NULL)
		return QN_OK; /* before */
	from = encoding_of(e, qn_model_entry(m), q);
	if (from == NULL || (first != NULL && is_same(first, from)))
		return QN_OK;
	if (first != NULL)
		return qn_report(m->env, QN_EINVALID, "encodings.shared",
				 qn_json_place(&e->doc, e->a, from->at),
				 "'%s' has other parameters than '%s', with which it shares $%s; "
				 "give both the same, or remove one",
				 from->name, first->name, sym->name);
	qn_map_put(bound, &sym, sizeof sym, (void *)(uintptr_t)from);
	return bind(e, m, q, sym, from);
}

qn_status
qn_encodings_bind(qn_model *m, const qn_encodings *e)
{
	const qn_graph *g = qn_model_entry(m);
	qn_status status = QN_OK;
	qn_map bound; /* symbol -> its encoding */

	qn_map_init(&bound, m->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *q = qn_graph_node(g, id);

		if (qn_symbol_to_calibrate(q) != NULL && bind_shared(e, m, q, &bound) != QN_OK)
			status = QN_EINVALID;
	}
	warn_unused(e, m);
	return status;
}

qn_status
qn_encodings_missing(const qn_encodings *e, qn_model *m, const char *names)
{
	return qn_report(m->env, QN_EINVALID, "encodings.missing", e->doc.file,
			 "has no activation_encodings for %s; add them, or give samples to "
			 "calibrate on (--calib FILE.npy)",
			 names);
}
