/* SPDX-License-Identifier: Apache-2.0 */
/* graph_print.c - writes the canonical text form of models: two equal models have equal text.
 *
 *   model "m" stage float
 *   param @w.q = {…}
 *   symbol $c.x : asym
 *   graph @main(%x: tensor<4xf32>) {
 *     %y = clip %x {min=0.0} : tensor<4xf32>
 *     return %y
 *   } */
#include <string.h>

#include "ir/graph_text.h"
#include "ir/type_impl.h"

/* The values of one named vector, nested by its shape. */
static void
print_values(qn_buf *b, const qn_params *p, int32_t level, size_t *at)
{
	bool innermost = level == p->rank - 1;

	qn_buf_putc(b, '{');
	for (int64_t i = 0; i < p->shape[level]; i++) {
		if (i > 0)
			qn_buf_puts(b, p->rank > 1 ? ", " : ",");
		if (!innermost) {
			print_values(b, p, level + 1, at);
			continue;
		}
		qn_print_real(b, p->scale[*at], QN_PLAIN_f32);
		if (p->zp != NULL && p->zp[*at] != 0)
			qn_buff(b, ":%lld", (long long)p->zp[*at]);
		++*at;
	}
	qn_buf_putc(b, '}');
}

/* {…} * u6 {…} */
static void
print_super(qn_buf *b, const qn_params *p)
{
	const qn_super *s = p->super;
	const qn_params scales = {.rank = p->rank, .shape = s->shape, .scale = s->scale};
	const qn_params integers = {.rank = p->rank, .shape = p->shape, .scale = s->sub};
	size_t at = 0;

	print_values(b, &scales, 0, &at);
	qn_buff(b, " * u%d ", s->bits);
	at = 0;
	print_values(b, &integers, 0, &at);
}

static void
print_param(qn_buf *b, const qn_params *p)
{
	size_t at = 0;

	qn_buf_puts(b, "param ");
	qn_print_name(b, '@', p->name);
	qn_buf_puts(b, " = ");
	if (p->super != NULL)
		print_super(b, p);
	else
		print_values(b, p, 0, &at);
	qn_buf_putc(b, '\n');
}

static void
print_symbol(qn_buf *b, const qn_symbol *s)
{
	qn_buf_puts(b, "symbol ");
	qn_print_name(b, '$', s->name);
	qn_buf_puts(b, s->kind == QN_SYM_SYMMETRIC ? " : sym" : " : asym");
	if (s->len > 0)
		qn_buff(b, ", len %lld", (long long)s->len);
	if (s->method != NULL && !s->bound) { /* it has found its values */
		qn_buf_puts(b, ", method ");
		qn_buf_quoted(b, s->method);
	}
	if (s->bound) {
		qn_buf_puts(b, " = ");
		if (s->len > 0)
			qn_print_params(b, s->vec, QN_PLAIN_f32, false);
		else
			qn_print_real(b, s->scale, QN_PLAIN_f32);
		if (s->len == 0 && s->zp != 0)
			qn_buff(b, ":%lld", (long long)s->zp);
	}
	qn_buf_putc(b, '\n');
}

size_t
qn_attrs_print(qn_buf *b, const qn_node *n, const char *before)
{
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;
	size_t printed = 0;

	for (size_t i = 0; i < set->nattr; i++) {
		const qn_attr_info *info = &set->attr[i];

		if (qn_attr_is_default(set, info, n->attr))
			continue;
		qn_buff(b, "%s%s=", printed++ > 0 ? ", " : before, info->name);
		qn_attr_print(b, info, n->attr);
	}
	return printed;
}

static void
print_facts(qn_buf *b, const qn_facts *f)
{
	qn_buf_puts(b, f->skipped ? " skipped" : "");
	if (f->note != NULL) {
		qn_buf_puts(b, " note ");
		qn_buf_quoted(b, f->note);
	}
	for (uint32_t i = 0; i < f->norigin; i++) {
		qn_buf_puts(b, i > 0 ? ", " : " from [");
		qn_buf_quoted(b, f->origin[i]);
	}
	qn_buf_puts(b, f->norigin > 0 ? "]" : "");
}

static void
print_part(qn_buf *b, const qn_part *p)
{
	qn_buf_puts(b, "  part ");
	qn_buf_quoted(b, p->pattern);
	for (uint32_t i = 0; i < p->nin; i++) {
		qn_buf_puts(b, i > 0 ? ", " : " ");
		qn_print_name(b, '%', p->in[i]);
	}
	qn_buf_puts(b, " -> ");
	qn_print_name(b, '%', p->out);
	if (p->method != NULL) {
		qn_buf_puts(b, " method ");
		qn_buf_quoted(b, p->method);
	}
	qn_buf_putc(b, '\n');
}

static void
print_node(qn_buf *b, const qn_graph *g, const qn_node *n)
{
	qn_buf_puts(b, "  ");
	qn_print_name(b, '%', n->name);
	qn_buff(b, " = %s", qn_opinfo_of(n)->name);
	if (n->op == QN_OP_call) {
		qn_buf_putc(b, ' ');
		qn_print_name(b, '@', n->callee->name);
	}
	for (uint32_t i = 0; i < n->nin; i++) {
		qn_buf_puts(b, i > 0 ? ", " : " ");
		qn_print_name(b, '%', qn_graph_node(g, n->in[i])->name);
	}
	if (qn_attrs_print(b, n, " {") > 0)
		qn_buf_putc(b, '}');
	qn_buf_puts(b, " : ");
	qn_type_print(b, n->type);
	if (n->op == QN_OP_const) {
		qn_buf_putc(b, ' ');
		qn_const_print(b, n->value);
	}
	if (n->facts != NULL)
		print_facts(b, n->facts);
	qn_buf_putc(b, '\n');
}

/* state [0.5, 0.25]: after the type of an input; without values where all are 0. */
static void
print_state(qn_buf *b, const qn_tensor *init)
{
	qn_buf_puts(b, " state");
	if (init != NULL) {
		qn_buf_putc(b, ' ');
		qn_const_print(b, init);
	}
}

static void
print_signature(qn_buf *b, const qn_graph *g)
{
	qn_buf_puts(b, "graph ");
	qn_print_name(b, '@', g->name);
	qn_buf_putc(b, '(');
	for (size_t i = 0; i < g->ninput; i++) {
		const qn_node *n = qn_graph_node(g, g->input[i]);

		qn_buf_puts(b, i > 0 ? ", " : "");
		qn_print_name(b, '%', n->name);
		qn_buf_puts(b, ": ");
		qn_type_print(b, n->type);
		if (i >= qn_graph_fed(g))
			print_state(b, g->init[i - qn_graph_fed(g)]);
	}
	qn_buf_puts(b, ")");
	if (g->pattern != NULL) {
		qn_buf_puts(b, " pattern ");
		qn_buf_quoted(b, g->pattern);
	}
	for (size_t i = 0; i < g->nattr; i++) {
		qn_buf_puts(b, i > 0 ? ", " : " attrs {");
		qn_buf_quoted(b, g->attr[i].key);
		qn_buf_putc(b, '=');
		qn_buf_quoted(b, g->attr[i].value);
	}
	qn_buf_puts(b, g->nattr > 0 ? "}" : "");
	qn_buf_puts(b, " {\n");
}

void
qn_graph_print(qn_buf *b, const qn_graph *g)
{
	print_signature(b, g);
	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op != QN_OP_input)
			print_node(b, g, qn_graph_node(g, id));
	for (const qn_part *p = g->parts; p != NULL; p = p->next)
		print_part(b, p);
	qn_buf_puts(b, "  return");
	for (size_t i = 0; i < g->noutput; i++) {
		const char *name = qn_graph_node(g, g->output[i].value)->name;

		qn_buf_puts(b, i > 0 ? ", " : " ");
		qn_print_name(b, '%', name);
		if (strcmp(name, g->output[i].name) != 0) {
			qn_buf_puts(b, " as ");
			qn_buf_quoted(b, g->output[i].name);
		}
		if (i >= qn_graph_given(g)) {
			qn_buf_puts(b, " to ");
			qn_print_name(b, '%', qn_graph_state(g, i - qn_graph_given(g))->name);
		}
	}
	qn_buf_puts(b, "\n}\n");
}

/* What compiles have noted of values. */
static void
print_records(qn_buf *b, const qn_model *m)
{
	for (size_t i = 0; i < m->nclipped; i++) {
		const qn_clipped *c = &m->clipped[i];

		qn_buf_puts(b, "clipped ");
		qn_buf_quoted(b, c->value);
		qn_buff(b, " %llu of %llu\n", (unsigned long long)c->outside,
			(unsigned long long)c->elements);
	}
	for (size_t i = 0; i < m->npruned; i++) {
		const qn_pruned *p = &m->pruned[i];

		qn_buf_puts(b, "pruned ");
		qn_buf_quoted(b, p->value);
		qn_buff(b, " %llu of %llu, bytes %llu, macs %llu\n", (unsigned long long)p->removed,
			(unsigned long long)p->channels, (unsigned long long)p->bytes,
			(unsigned long long)p->macs);
	}
	for (size_t i = 0; i < m->nwidened; i++) {
		qn_buf_puts(b, "widened ");
		qn_buf_quoted(b, m->widened[i].value);
		qn_buf_putc(b, ' ');
		qn_buf_f64(b, m->widened[i].gain);
		qn_buf_puts(b, " dB\n");
	}
	for (size_t i = 0; i < m->nrepaired; i++) {
		const qn_repaired *r = &m->repaired[i];

		qn_buf_puts(b, "repaired ");
		qn_buf_quoted(b, r->value);
		qn_buf_putc(b, ' ');
		qn_buf_f64(b, r->before);
		qn_buf_puts(b, " to ");
		qn_buf_f64(b, r->after);
		qn_buff(b, " dB%s%s\n", r->weights ? ", weights" : "", r->bias ? ", bias" : "");
	}
	if (m->streamed != NULL) {
		qn_buf_puts(b, "streamed ");
		qn_buf_quoted(b, m->streamed->input);
		qn_buff(b, " axis %d, %lld of %lld\n", (int)m->streamed->axis,
			(long long)m->streamed->hop, (long long)m->streamed->window);
	}
}

void
qn_model_print(qn_buf *b, const qn_model *m)
{
	qn_buf_puts(b, "model ");
	qn_buf_quoted(b, m->name);
	qn_buff(b, " stage %s", qn_stage_names[m->stage]);
	qn_buf_puts(b, m->quantized_here ? " quantized" : "");
	qn_buf_puts(b, m->opened ? " opened" : "");
	if (m->after != NULL) {
		qn_buf_puts(b, " after ");
		qn_buf_quoted(b, m->after);
	}
	if (m->rounding != 0)
		qn_buff(b, " rounding %s", qn_rounding_names[m->rounding]);
	if (m->options[0] != '\0') {
		qn_buf_puts(b, " options ");
		qn_buf_quoted(b, m->options);
	}
	qn_buf_putc(b, '\n');
	print_records(b, m);
	qn_foreign_names_print(b, m);
	for (size_t i = 0; i < m->types.nparam; i++)
		print_param(b, m->types.param[i]);
	for (size_t i = 0; i < m->types.nsymbol; i++)
		print_symbol(b, m->types.symbol[i]);
	for (size_t i = 0; i < m->ngraph; i++)
		qn_graph_print(b, m->graph[i]);
}
