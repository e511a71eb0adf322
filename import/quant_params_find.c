/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params_find.c - which nodes and constants of a graph the layers of quant_params.json are. */
#include <stdint.h>
#include <string.h>

#include "import/quant_params_impl.h"
#include "ir/diag.h"
#include "ir/foreign_names.h"

/* What layers may be called: ids by name, the first of each. */
typedef struct name_index {
	qn_map consts;   /* f32 constants */
	qn_map products; /* float layers with a constant weight */
	qn_map values;   /* f32 */
	qn_id *user;     /* by id of a constant: the first product whose weight it is */
} name_index;

static bool
is_const(const qn_params_model *x, qn_id id)
{
	return qn_graph_node(x->g, id)->op == QN_OP_const &&
	       qn_type_is_f32(qn_graph_node(x->g, id)->type);
}

static bool
is_product(const qn_params_model *x, const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_ACC && n->nin >= 2 && is_const(x, n->in[1]) &&
	       qn_type_is_f32(n->type);
}

static void
put(qn_map *m, const char *name, qn_id id)
{
	if (qn_map_gets(m, name) == NULL)
		qn_map_puts(m, name, (void *)(uintptr_t)id);
}

static qn_id
get(const qn_map *m, const char *name)
{
	return (qn_id)(uintptr_t)qn_map_gets(m, name);
}

/* "/a/b/Gemm_output_0", as PyTorch names what the module a.b computes; NULL: another name. */
static const char *
module_of(qn_arena *a, const char *value)
{
	const char *end = strrchr(value, '/');

	if (*value != '/' || end == value)
		return NULL;
	char *name = qn_arena_strn(a, value + 1, (size_t)(end - value) - 1);
	for (char *c = name; *c != '\0'; c++)
		if (*c == '/')
			*c = '.';
	return name;
}

static void
put_all(const qn_params_model *x, name_index *at, qn_id id, const char *name)
{
	if (is_const(x, id))
		put(&at->consts, name, id);
	if (is_product(x, qn_graph_node(x->g, id)))
		put(&at->products, name, id);
	put(&at->values, name, id);
}

/* All f32 values: by their names, then by those of modules, which are not as sure. */
static void
build(const qn_params_model *x, name_index *at)
{
	qn_map_init(&at->consts, x->p.a);
	qn_map_init(&at->products, x->p.a);
	qn_map_init(&at->values, x->p.a);
	at->user = QN_NEW(x->p.a, qn_id, x->g->n);
	for (int modules = 0; modules < 2; modules++)
		for (qn_id id = 1; id < x->g->n; id++) {
			const qn_node *n = qn_graph_node(x->g, id);
			const qn_foreign_name *f = qn_model_foreign_names(x->m, n);

			if (!qn_type_is_f32(n->type))
				continue;
			if (is_product(x, n) && at->user[n->in[1]] == 0)
				at->user[n->in[1]] = id;
			if (modules == 0 && !qn_model_is_taken(x->m, n))
				put_all(x, at, id, n->name);
			for (; f != NULL; f = f->next) {
				const char *name = modules ? module_of(x->p.a, f->name) : f->name;

				if (name != NULL)
					put_all(x, at, id, name);
			}
		}
}

static qn_id
find_const(const qn_params_model *x, const name_index *at, const char *layer, const char *end)
{
	qn_buf b;

	qn_buf_init(&b, x->p.a);
	qn_buff(&b, "%s.%s", layer, end);
	return get(&at->consts, qn_buf_str(&b));
}

/* The node of a layer: by its weight, else by its name. */
static qn_id
find_node(const qn_params_model *x, const name_index *at, const char *layer)
{
	const qn_id weight = find_const(x, at, layer, "weight");

	return weight != 0 ? at->user[weight] : get(&at->products, layer);
}

static qn_status
claim(const qn_params_model *x, qn_id id, size_t layer)
{
	if (id != 0 && x->of[id] != 0)
		return qn_report(x->p.env, QN_EINVALID, "quant-params.layer",
				 qn_json_place(&x->p.doc, x->p.a, x->layer[layer].l.json),
				 "'%s' belongs to layer '%s' already",
				 qn_graph_node(x->g, id)->name, x->layer[x->of[id] - 1].name);
	if (id != 0)
		x->of[id] = layer + 1;
	return QN_OK;
}

static qn_status
find_layer(qn_params_model *x, const name_index *at, const qn_json *v)
{
	qn_params_target *t = &x->layer[x->n];

	QN_TRY(qn_params_layer_read(&x->p, v, &t->l));
	t->name = v->key;
	t->node = t->l.attention ? get(&at->values, v->key) : find_node(x, at, v->key);
	if (t->node == 0)
		return qn_params_bad(&x->p, v, "quant-params.layer",
				     t->l.attention
					     ? "the model has no float value of this name"
					     : "the model has no float layer of this name, nor one "
					       "with a constant '….weight'");
	QN_TRY(claim(x, t->node, x->n));
	if (t->l.quantized) {
		const qn_node *n = qn_graph_node(x->g, t->node);

		t->weight = n->in[1];
		t->bias = n->nin > 2 ? n->in[2] : find_const(x, at, v->key, "bias");
		if (t->bias != 0 && !is_const(x, t->bias))
			t->bias = 0;
		QN_TRY(claim(x, t->weight, x->n));
		QN_TRY(claim(x, t->bias, x->n));
	}
	x->n++;
	return QN_OK;
}

qn_status
qn_params_find_layers(qn_params_model *x)
{
	const size_t n = x->p.doc.root->n;
	name_index at;

	build(x, &at);
	x->layer = QN_NEW(x->p.a, qn_params_target, n + 1);
	x->of = QN_NEW(x->p.a, size_t, x->g->n);
	for (size_t i = 0; i < n; i++)
		QN_TRY(find_layer(x, &at, &x->p.doc.root->child[i]));
	return QN_OK;
}
