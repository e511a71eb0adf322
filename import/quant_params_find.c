/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params_find.c - which nodes and constants of a graph the layers of quant_params.json are. */
#include <string.h>

#include "import/quant_params_impl.h"
#include "ir/diag.h"

/* "a.b" is the beginning of "/a/b/Gemm_output_0", as PyTorch names what a module computes. */
static bool
is_module(const char *value, const char *layer)
{
	if (*value++ != '/')
		return false;
	for (; *layer != '\0'; layer++, value++)
		if (*value != (*layer == '.' ? '/' : *layer))
			return false;
	return *value == '/' && strchr(value + 1, '/') == NULL;
}

/* Whether the value has the name, or is what the layer of that name computes. */
static bool
has_name(const qn_params_model *x, const qn_node *n, const char *name, bool module)
{
	if (strcmp(n->name, name) == 0 && !qn_model_is_taken(x->m, n))
		return true;
	for (const qn_foreign_name *f = qn_model_foreign_names(x->m, n); f != NULL; f = f->next)
		if (strcmp(f->name, name) == 0 || (module && is_module(f->name, name)))
			return true;
	return false;
}

static bool
is_const(const qn_params_model *x, qn_id id)
{
	return qn_graph_node(x->g, id)->op == QN_OP_const &&
	       qn_type_is_f32(qn_graph_node(x->g, id)->type);
}

/* A float layer with a constant weight. */
static bool
is_product(const qn_params_model *x, const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_ACC && n->nin >= 2 && is_const(x, n->in[1]) &&
	       qn_type_is_f32(n->type);
}

static qn_id
find_const(const qn_params_model *x, const char *layer, const char *end)
{
	qn_buf b;

	qn_buf_init(&b, x->p.a);
	qn_buff(&b, "%s.%s", layer, end);
	for (qn_id id = 1; id < x->g->n; id++)
		if (is_const(x, id) && has_name(x, qn_graph_node(x->g, id), qn_buf_str(&b), false))
			return id;
	return 0;
}

/* The node of a layer: by its weight, else by its name. */
static qn_id
find_node(const qn_params_model *x, const char *layer)
{
	const qn_id weight = find_const(x, layer, "weight");

	for (qn_id id = 1; id < x->g->n; id++) {
		const qn_node *n = qn_graph_node(x->g, id);

		if (is_product(x, n) &&
		    (weight != 0 ? n->in[1] == weight : has_name(x, n, layer, true)))
			return id;
	}
	return 0;
}

/* A value that an output of attention stands for. */
static qn_id
find_value(const qn_params_model *x, const char *name)
{
	for (qn_id id = 1; id < x->g->n; id++)
		if (qn_type_is_f32(qn_graph_node(x->g, id)->type) &&
		    has_name(x, qn_graph_node(x->g, id), name, true))
			return id;
	return 0;
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
find_layer(qn_params_model *x, const qn_json *v)
{
	qn_params_target *t = &x->layer[x->n];

	QN_TRY(qn_params_layer_read(&x->p, v, &t->l));
	t->name = v->key;
	t->node = t->l.attention ? find_value(x, v->key) : find_node(x, v->key);
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
		t->bias = n->nin > 2 ? n->in[2] : find_const(x, v->key, "bias");
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

	x->layer = QN_NEW(x->p.a, qn_params_target, n + 1);
	x->of = QN_NEW(x->p.a, size_t, x->g->n);
	for (size_t i = 0; i < n; i++)
		QN_TRY(find_layer(x, &x->p.doc.root->child[i]));
	return QN_OK;
}
