/* SPDX-License-Identifier: Apache-2.0 */
/* summary_json.c - the summary of a model for programs (docs/quern-inspect.schema.json). */
#include "driver/summary.h"

#include "calibrate/calibrate.h"
#include "driver/context.h"
#include "formats/json_out.h"

void
qn_summary_put_type(qn_json_out *o, const qn_graph *g, const qn_type *t, qn_buf *text)
{
	double scale = 1;
	int64_t zp = 0;

	text->n = 0;
	qn_type_print(text, t);
	qn_json_put_string(o, "type", qn_buf_str(text));
	if (t->is_tuple || t->elem->kind != QN_ELEM_UNIFORM || t->elem->gran != QN_PER_TENSOR ||
	    qn_elem_has_symbol(t->elem))
		return;
	qn_elem_param(&g->model->types, t->elem, 0, &scale, &zp);
	qn_json_put_f64(o, "scale", scale);
	qn_json_put_i64(o, "zero_point", zp);
}

/* next: of a state, the value that it is in the next run; else NULL. */
static void
put_value(qn_json_out *o, const qn_graph *g, const char *name, const qn_type *t, const char *next,
	  qn_buf *text)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "name", name);
	qn_summary_put_type(o, g, t, text);
	if (!t->is_tuple && t->rank >= 0) {
		qn_json_open(o, "shape", '[', QN_JSON_FLAT);
		for (int32_t i = 0; i < t->rank; i++)
			qn_json_put_i64(o, NULL, t->dim[i]);
		qn_json_close(o);
	}
	if (!t->is_tuple && qn_type_count(t) >= 0)
		qn_json_put_u64(o, "bytes", qn_type_bytes(t));
	if (next != NULL)
		qn_json_put_string(o, "next", next);
	qn_json_close(o);
}

static void
put_values(qn_json_out *o, const qn_graph *g, qn_buf *text)
{
	qn_json_open(o, "inputs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < qn_graph_fed(g); i++)
		put_value(o, g, qn_graph_node(g, g->input[i])->name,
			  qn_graph_node(g, g->input[i])->type, NULL, text);
	qn_json_close(o);
	qn_json_open(o, "outputs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < qn_graph_given(g); i++)
		put_value(o, g, g->output[i].name, qn_graph_node(g, g->output[i].value)->type, NULL,
			  text);
	qn_json_close(o);
	qn_json_open(o, "states", '[', QN_JSON_LINES);
	for (size_t k = 0; k < g->nstate; k++)
		put_value(o, g, qn_graph_state(g, k)->name, qn_graph_state(g, k)->type,
			  g->output[qn_graph_given(g) + k].name, text);
	qn_json_close(o);
}

static void
put_kinds(qn_json_out *o, const qn_model *m)
{
	size_t count[QN_NOP];

	qn_summary_count(m, count);
	qn_json_open(o, "kinds", '{', QN_JSON_FLAT);
	for (qn_op op = 0; op < QN_NOP; op++)
		if (count[op] > 0)
			qn_json_put_u64(o, qn_opinfo_get(op)->name, count[op]);
	qn_json_close(o);
}

static void
put_graph(qn_json_out *o, const qn_graph *g, qn_buf *text)
{
	qn_json_open(o, NULL, '{', QN_JSON_LINES);
	qn_json_put_string(o, "name", g->name);
	qn_json_open(o, "nodes", '[', QN_JSON_LINES);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_input || n->op == QN_OP_const)
			continue;
		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "name", n->name);
		qn_json_put_string(o, "op", qn_opinfo_of(n)->name);
		qn_json_open(o, "inputs", '[', QN_JSON_FLAT);
		for (uint32_t i = 0; i < n->nin; i++)
			qn_json_put_string(o, NULL, qn_graph_node(g, n->in[i])->name);
		qn_json_close(o);
		qn_summary_put_type(o, g, n->type, text);
		qn_json_put_u64(o, "macs", qn_node_macs(g, n));
		qn_json_close(o);
	}
	qn_json_close(o);
	qn_json_close(o);
}

void
qn_summary_print_json(qn_buf *b, const qn_model *m)
{
	const qn_model_info info = qn_model_describe(m);
	qn_json_out o;
	qn_buf text;

	qn_buf_init(&text, b->arena);
	text.decimal = true;
	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&o, "quern_inspect", 1);
	qn_json_put_string(&o, "version", qn_version());
	qn_json_put_string(&o, "model", m->name);
	qn_json_put_string(&o, "stage", qn_stage_text(m));
	put_values(&o, qn_model_entry(m), &text);
	qn_json_put_u64(&o, "parameters", info.parameters);
	qn_json_put_u64(&o, "constant_bytes", info.constant_bytes);
	qn_json_put_u64(&o, "macs", info.macs);
	put_kinds(&o, m);
	qn_json_open(&o, "graphs", '[', QN_JSON_LINES);
	for (size_t i = 0; i < m->ngraph; i++)
		put_graph(&o, m->graph[i], &text);
	qn_json_close(&o);
	qn_json_close(&o);
}
