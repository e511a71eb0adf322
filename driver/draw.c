/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - graphs in Graphviz's DOT language: a box for each node, constants inside the boxes that read
 * them, and below them the lines of `quern inspect`, to which the boxes link.
 *
 *   digraph "digits" {
 *     subgraph cluster0 { label="main";
 *       n0_1 [label="image\ninput\n1x8x8x1 f32", fillcolor="#dce9f7", URL="#a_l0_1"];
 *       n0_1 -> n0_3; }
 *     text0 [label=<<TABLE>…<TD HREF="#n0_1">…</TD>…</TABLE>>]; } */
#include "driver/draw.h"

#include "ir/macs.h"

typedef enum kind { FLOAT, QUANTIZED, SUM, CAST, CONSTANT, NKINDS } kind;

static const struct {
	const char *colour, *meaning;
} looks[NKINDS] = {
	[FLOAT] = {"#dce9f7", "float"},       [QUANTIZED] = {"#d9f0d3", "quantized"},
	[SUM] = {"#fde0c5", "accumulator"},   [CAST] = {"#f9d5e5", "quantize, dequantize"},
	[CONSTANT] = {"#eeeeee", "constant"},
};

typedef struct drawing {
	qn_buf *b;
	const qn_graph *g;
	size_t k;    /* of g in the model */
	bool *drawn; /* by id: constants that outputs or no node read have a box too */
	qn_buf text; /* for pieces that have to be escaped */
	bool used[NKINDS];
} drawing;

static kind
kind_of(const qn_node *n)
{
	if (n->op == QN_OP_const)
		return CONSTANT;
	if (qn_opinfo_of(n)->behaviour == QN_EDGE)
		return CAST;
	if (n->type->is_tuple || qn_elem_is_float(n->type->elem))
		return FLOAT;
	return n->type->elem->bits > 16 ? SUM : QUANTIZED;
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

/* Text inside an HTML-like label. */
static void
put_html(qn_buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '&')
			qn_buf_puts(b, "&amp;");
		else if (*s == '<')
			qn_buf_puts(b, "&lt;");
		else if (*s == '>')
			qn_buf_puts(b, "&gt;");
		else
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
	if (t->rank < 0)
		qn_buf_puts(b, "unranked ");
	else
		qn_buf_puts(b, t->rank == 0 ? "scalar " : " ");
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

/* The window of a convolution, then attributes that are not the default: "kernel=[3,3], stride=[2,2]". */
static void
put_attributes(drawing *d, const qn_node *n)
{
	d->text.n = 0;
	if ((n->op == QN_OP_conv2d || n->op == QN_OP_conv2d_transpose) && n->nin > 1) {
		const qn_type *w = qn_graph_node(d->g, n->in[1])->type;

		if (w->rank == 4)
			qn_buff(&d->text, "kernel=[%lld,%lld]", (long long)w->dim[1],
				(long long)w->dim[2]);
	}
	if (qn_attrs_print(&d->text, n, d->text.n > 0 ? ", " : "") == 0 && d->text.n == 0)
		return;
	qn_buf_puts(d->b, "\\n");
	put_text(d->b, qn_buf_str(&d->text));
}

/* The constants that it reads: "conv1.w 16x3x3x1 f32". */
static void
put_constants(drawing *d, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(d->g, n->in[i]);

		if (d->drawn[n->in[i]])
			continue;
		qn_buf_puts(d->b, "\\n");
		put_text(d->b, x->name);
		qn_buf_putc(d->b, ' ');
		put_type(d->b, x->type);
	}
}

/* The line of a node, as `quern inspect` has it but for the type: "conv1 = conv2d image, conv1.w : 1x8x8x16
 * f32". */
static const char *
line_of(drawing *d, const qn_node *n)
{
	qn_buf *b = &d->text;
	const uint64_t macs = qn_node_macs(d->g, n);

	b->n = 0;
	qn_buff(b, "%s = %s", n->name, qn_opinfo_of(n)->name);
	for (uint32_t i = 0; i < n->nin; i++)
		qn_buff(b, "%s%s", i == 0 ? " " : ", ", qn_graph_node(d->g, n->in[i])->name);
	qn_buf_puts(b, " : ");
	put_type(b, n->type);
	if (macs > 0)
		qn_buff(b, "  %llu MACs", (unsigned long long)macs);
	return qn_buf_str(b);
}

static void
draw_node(drawing *d, qn_id id)
{
	const qn_node *n = qn_graph_node(d->g, id);
	qn_buf *b = d->b;

	d->used[kind_of(n)] = true;
	qn_buff(b, "    n%zu_%u [label=\"", d->k, id);
	put_text(b, n->name);
	qn_buff(b, "\\n%s", qn_opinfo_of(n)->name);
	put_attributes(d, n);
	put_constants(d, n);
	qn_buf_puts(b, "\\n");
	put_type(b, n->type);
	qn_buff(b, "\", fillcolor=\"%s\", id=\"n%zu_%u\", URL=\"#a_l%zu_%u\", tooltip=\"",
		looks[kind_of(n)].colour, d->k, id, d->k, id);
	put_text(b, line_of(d, n));
	qn_buf_puts(b, "\"];\n");
	for (uint32_t i = 0; i < n->nin; i++)
		if (d->drawn[n->in[i]])
			qn_buff(b, "    n%zu_%u -> n%zu_%u;\n", d->k, n->in[i], d->k, id);
}

/* Constants are inside the boxes of the nodes that read them, if only nodes do. */
static void
choose_drawn(drawing *d)
{
	bool *read = QN_NEW(d->text.arena, bool, d->g->n);

	for (qn_id id = 1; id < d->g->n; id++)
		for (uint32_t i = 0; i < qn_graph_node(d->g, id)->nin; i++)
			read[qn_graph_node(d->g, id)->in[i]] = true;
	for (qn_id id = 1; id < d->g->n; id++)
		d->drawn[id] = qn_graph_node(d->g, id)->op != QN_OP_const || !read[id];
	for (size_t i = 0; i < d->g->noutput; i++)
		d->drawn[d->g->output[i].value] = true;
}

/* The lines of `quern inspect`. */
static void
draw_text(drawing *d)
{
	qn_buf *b = d->b;

	qn_buff(b,
		"  text%zu [shape=plaintext, style=\"\", label=<<TABLE BORDER=\"0\" "
		"CELLSPACING=\"0\" "
		"CELLPADDING=\"1\">\n    <TR><TD ALIGN=\"LEFT\">graph ",
		d->k);
	put_html(b, d->g->name);
	qn_buf_puts(b, "</TD></TR>\n");
	for (qn_id id = 1; id < d->g->n; id++) {
		if (!d->drawn[id])
			continue;
		qn_buff(b,
			"    <TR><TD ALIGN=\"LEFT\" TITLE=\"the box\" ID=\"l%zu_%u\" "
			"HREF=\"#n%zu_%u\">",
			d->k, id, d->k, id);
		put_html(b, line_of(d, qn_graph_node(d->g, id)));
		qn_buf_puts(b, "</TD></TR>\n");
	}
	qn_buf_puts(b, "  </TABLE>>];\n");
	for (size_t i = 0; i < d->g->noutput; i++) /* below the graph */
		qn_buff(b, "  o%zu_%zu -> text%zu [style=invis];\n", d->k, i, d->k);
}

static void
draw_graph(drawing *d)
{
	const qn_graph *g = d->g;
	qn_buf *b = d->b;

	d->drawn = QN_NEW(d->text.arena, bool, g->n);
	choose_drawn(d);
	qn_buff(b, "  subgraph cluster%zu {\n    label=\"", d->k);
	put_text(b, g->name);
	qn_buf_puts(b, "\";\n");
	for (qn_id id = 1; id < g->n; id++)
		if (d->drawn[id])
			draw_node(d, id);
	for (size_t i = 0; i < g->noutput; i++) {
		qn_buff(b, "    o%zu_%zu [label=\"", d->k, i);
		put_text(b, g->output[i].name);
		qn_buff(b, "\", shape=oval];\n    n%zu_%u -> o%zu_%zu;\n", d->k, g->output[i].value,
			d->k, i);
	}
	qn_buf_puts(b, "  }\n");
	draw_text(d);
}

/* The colours that stand in the graphs, in one row. */
static void
draw_legend(drawing *d)
{
	qn_buf *b = d->b;

	qn_buf_puts(b,
		    "  legend [shape=plaintext, style=\"\", fontsize=8, label=<<TABLE BORDER=\"0\" "
		    "CELLSPACING=\"2\"><TR>");
	for (int k = 0; k < NKINDS; k++)
		if (d->used[k])
			qn_buff(b, "<TD BGCOLOR=\"%s\">%s</TD>", looks[k].colour, looks[k].meaning);
	qn_buf_puts(b, "</TR></TABLE>>];\n");
}

void
qn_draw(qn_buf *b, const qn_model *m)
{
	drawing d = {.b = b};

	b->decimal = true;
	qn_buf_init(&d.text, b->arena);
	d.text.decimal = true;
	qn_buf_puts(b, "digraph \"");
	put_text(b, m->name);
	qn_buf_puts(
		b,
		"\" {\n  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\", "
		"fontsize=10];\n  label=\"");
	put_text(b, m->name);
	qn_buff(b, " (%s)\"; labelloc=t; fontname=\"sans-serif\";\n", qn_stage_names[m->stage]);
	for (d.k = 0; d.k < m->ngraph; d.k++) {
		d.g = m->graph[d.k];
		draw_graph(&d);
	}
	draw_legend(&d);
	qn_buf_puts(b, "}\n");
}
