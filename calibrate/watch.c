/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - which symbols need values, and what has to be observed for each.
 *
 *   %q = quantize %x : $s   %r = quantize %y : $s   ->   one watch of $s, which looks at x and y
 *
 *   %q = quantize %x : axis 2, $s of 3 numbers          ->   three watches of $s, each of which looks at one channel of x
 *
 * Quantizes that share a symbol have one pair of parameters, or one for each channel: the values of all
 * are observed as one. */
#include "calibrate/calibrate.h"
#include "ir/diag.h"

/* A value that several quantizes of the watch take is looked at once. */
static void
look(qn_calibration *c, size_t watch, qn_id value, int32_t axis)
{
	qn_observation *l;

	for (l = c->by_value[value]; l != NULL && l->watch == watch; l = l->next)
		if (l->axis == axis)
			return;
	l = QN_NEW(c->m->scratch, qn_observation, 1);
	*l = (qn_observation){watch, axis, c->nlook++, c->by_value[value]};
	c->by_value[value] = l;
}

void
qn_calibration_watch(qn_calibration *c, const qn_watch *like)
{
	for (const qn_use *u = like->use; u != NULL; u = u->next) {
		const qn_id value = c->map[u->quantize->in[0]];

		if (qn_graph_node(c->real, value)->op != QN_OP_const)
			look(c, c->nwatch, value,
			     like->channel >= 0 ? u->quantize->type->elem->axis[0] : -1);
	}
	c->watch[c->nwatch++] = *like;
}

/* The watches of a symbol: one, or one for each channel. */
static void
watch_symbol(qn_calibration *c, qn_watch w)
{
	if (w.channel < 0) {
		qn_calibration_watch(c, &w);
		return;
	}
	for (; w.channel < w.sym->len; w.channel++) {
		qn_buf b;

		qn_buf_init(&b, c->m->arena);
		qn_buff(&b, "%s[%lld]", w.sym->name, (long long)w.channel);
		w.name = qn_buf_str(&b);
		qn_calibration_watch(c, &w);
	}
}

/* Quantizes that share a symbol have one storage, so that the symbol's pair means the same to all. */
static qn_status
check_shared(const qn_calibration *c, const qn_node *first, const qn_node *q, const qn_symbol *sym)
{
	const qn_elem *a = first->type->elem;
	const qn_elem *b = q->type->elem;
	qn_buf text[2];

	if (a->qmin == b->qmin && a->qmax == b->qmax && a->bits == b->bits)
		return QN_OK;
	for (int i = 0; i < 2; i++) {
		qn_buf_init(&text[i], c->m->scratch);
		qn_elem_print(&text[i], i == 0 ? a : b);
	}
	return qn_report(c->m->env, QN_EINVALID, "calibrate.shared", q->name,
			 "$%s is shared with '%s', which stores %s, and this one stores %s; give "
			 "one of them its own symbol",
			 sym->name, first->name, qn_buf_str(&text[0]), qn_buf_str(&text[1]));
}

/* All quantizes of one symbol, in the order of the graph. */
typedef struct users {
	const qn_symbol *sym;
	qn_use *first, *last;
	const qn_node *activation; /* the first that takes one; NULL: all take constants */
	qn_mask mask;
} users;

static qn_status
add_user(qn_calibration *c, users *s, qn_id id)
{
	const qn_node *q = qn_graph_node(c->g, id);
	qn_use *u = QN_NEW(c->m->scratch, qn_use, 1);

	u->quantize = q;
	if (s->first == NULL) {
		s->first = s->last = u;
		s->mask = c->mask[id];
	} else {
		QN_TRY(check_shared(c, s->first->quantize, q, s->sym));
		s->last->next = u;
		s->last = u;
		s->mask = c->mask[id] < s->mask ? c->mask[id] : s->mask;
	}
	if (s->activation == NULL && qn_graph_node(c->real, c->map[q->in[0]])->op != QN_OP_const)
		s->activation = q;
	return QN_OK;
}

/* The symbols without a value, in the order of their first quantize. */
static qn_status
find_users(qn_calibration *c, users *list, size_t *n)
{
	qn_status status = QN_OK;
	qn_map known;

	qn_map_init(&known, c->m->scratch);
	for (qn_id id = 1; id < c->g->n; id++) {
		const qn_symbol *sym = qn_symbol_to_calibrate(qn_graph_node(c->g, id));

		if (sym == NULL || sym->bound)
			continue;
		users *s = qn_map_get(&known, &sym, sizeof sym);
		if (s == NULL) {
			s = &list[(*n)++];
			*s = (users){.sym = sym};
			qn_map_put(&known, &sym, sizeof sym, s);
		}
		if (add_user(c, s, id) != QN_OK)
			status = QN_EINVALID;
	}
	return status;
}

qn_status
qn_calibration_watch_all(qn_calibration *c)
{
	qn_arena *a = c->m->scratch;
	users *list = QN_NEW(a, users, c->g->n);
	size_t n = 0, most = 0;

	c->by_value = QN_NEW(a, qn_observation *, c->real->n);
	QN_TRY(find_users(c, list, &n));
	for (size_t i = 0; i < n; i++)
		most += list[i].activation == NULL || list[i].sym->len == 0
				? 1
				: (size_t)list[i].sym->len;
	c->watch = QN_NEW(a, qn_watch, most);
	c->constant = QN_NEW(a, qn_watch, n);
	for (size_t i = 0; i < n; i++) {
		const users *s = &list[i];
		const qn_node *q = s->activation != NULL ? s->activation : s->first->quantize;
		const qn_watch w = {.quantize = q,
				    .sym = s->sym,
				    .name = s->sym->name,
				    .value = qn_graph_node(c->real, c->map[q->in[0]])->name,
				    .channel = s->activation != NULL && s->sym->len > 0 ? 0 : -1,
				    .mask = s->mask,
				    .use = s->first};

		if (s->activation == NULL)
			c->constant[c->nconstant++] = w;
		else
			watch_symbol(c, w);
	}
	return QN_OK;
}
