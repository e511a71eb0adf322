/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - graphs in Graphviz's DOT language.
 *
 *   digraph "digits" {
 *     subgraph cluster0 { label="main";
 *       n0_1 [label="image\ninput\n1x8x8x1 f32", fillcolor="#dce9f7"];
 *       n0_1 -> n0_3; } } */
#include "driver/draw.h"

#include "driver/summary.h"

typedef enum kind { REAL, CODES, SUM, CAST, CONSTANT, NKINDS } kind;

static const struct {
	const char *colour, *meaning;
} looks[NKINDS] = {
	[REAL] = {"#dce9f7", "real values"},
	[CODES] = {"#d9f0d3", "codes of up to 16 bits"},
	[SUM] = {"#fde0c5", "accumulators"},
	[CAST] = {"#f9d5e5", "between real values and codes"},
	[CONSTANT] = {"#eeeeee", "constants"},
};

static kind
kind_of(const qn_node *n)
{
	if (n->op == QN_OP_const)
		return CONSTANT;
	if (qn_opinfo_of(n)->behaviour == QN_EDGE)
		return CAST;
	if (n->type->is_tuple || qn_elem_is_float(n->type->elem))
		return REAL;
	return n->type->elem->bits > 16 ? SUM : CODES;
}

/* Text inside a quoted DOT string. */
static void
put_text(qn_buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			qn_buf_putc(b, '\\');
		qn_buf_putc(b, (unsigned char)*s < 0x20 ? ' ' : *s);
	}
}

/* "1x8x8x16 i8 0.0138:-128": long lists of scales as their number. */
static void
put_type(qn_buf *b, const qn_type *t)
{
	if (t->is_tuple) {
		qn_buff(b, "tuple of %u", t->nfield);
		return;
	}
	for (int32_t i = 0; i < t->rank; i++)
		qn_buff(b, i > 0 ? "x%lld" : "%lld", (long long)t->dim[i]);
	qn_buf_puts(b, t->rank < 0 ? "unranked " : t->rank == 0 ? "scalar " : " ");
	if (t->elem->kind != QN_ELEM_UNIFORM) {
		qn_elem_print(b, t->elem);
		return;
	}
	qn_buff(b, "%c%d ", t->elem->is_signed ? 'i' : 'u', (int)t->elem->bits);
	if (t->elem->gran == QN_PER_TENSOR) {
		qn_scale_print(b, t->elem->scale);
		if (t->elem->zp != 0)
			qn_buff(b, ":%lld", (long long)t->elem->zp);
	} else {
		qn_buff(b, "%zu scales", qn_elem_nparams(t->elem));
	}
}

static void
draw_node(qn_buf *b, const qn_graph *g, size_t k, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);
	uint64_t macs = qn_node_macs(g, n);

	qn_buff(b, "    n%zu_%u [label=\"", k, id);
	put_text(b, n->name);
	qn_buff(b, "\\n%s\\n", qn_opinfo_of(n)->name);
	put_type(b, n->type);
	if (macs > 0)
		qn_buff(b, "\\n%llu MACs", (unsigned long long)macs);
	qn_buff(b, "\", fillcolor=\"%s\"%s];\n", looks[kind_of(n)].colour,
		n->op == QN_OP_const ? ", shape=note, fontsize=8" : "");
	for (uint32_t i = 0; i < n->nin; i++)
		qn_buff(b, "    n%zu_%u -> n%zu_%u;\n", k, n->in[i], k, id);
}

static void
draw_graph(qn_buf *b, const qn_graph *g, size_t k)
{
	qn_buff(b, "  subgraph cluster%zu {\n    label=\"", k);
	put_text(b, g->name);
	qn_buf_puts(b, "\";\n");
	for (qn_id id = 1; id < g->n; id++)
		draw_node(b, g, k, id);
	for (size_t i = 0; i < g->noutput; i++) {
		qn_buff(b, "    o%zu_%zu [label=\"", k, i);
		put_text(b, g->output[i].name);
		qn_buff(b, "\", shape=oval];\n    n%zu_%u -> o%zu_%zu;\n", k, g->output[i].value, k,
			i);
	}
	qn_buf_puts(b, "  }\n");
}

void
qn_draw(qn_buf *b, const qn_model *m)
{
	b->decimal = true;
	qn_buf_puts(b, "digraph \"");
	put_text(b, m->name);
	qn_buf_puts(
		b,
		"\" {\n  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\", "
		"fontsize=10];\n  label=\"");
	put_text(b, m->name);
	qn_buff(b, " (%s)\"; labelloc=t; fontname=\"sans-serif\";\n", qn_stage_names[m->stage]);
	for (size_t i = 0; i < m->ngraph; i++)
		draw_graph(b, m->graph[i], i);
	qn_buf_puts(b, "  subgraph cluster_legend {\n    label=\"colours\"; fontsize=8;\n");
	for (int k = 0; k < NKINDS; k++)
		qn_buff(b, "    legend%d [label=\"%s\", fillcolor=\"%s\", fontsize=8];\n", k,
			looks[k].meaning, looks[k].colour);
	qn_buf_puts(b, "  }\n}\n");
}
