/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - sizes and counts of a model. */
#include "driver/summary.h"

#include <string.h>

#include "calibrate/calibrate.h"
#include "driver/context.h"
#include "formats/json_graph.h"
#include "ir/loops.h"

static void
add_graph(const qn_graph *g, qn_model_info *info)
{
	qn_loop_walk loops = {0};

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		info->macs += qn_node_macs(g, n) * qn_loop_walk_to(&loops, g, id);
		if (n->op == QN_OP_const) {
			info->parameters += (uint64_t)qn_type_count(n->type);
			info->constant_bytes += n->value->bytes;
		} else if (n->op != QN_OP_input) {
			info->nodes++;
		}
	}
}

static void
add_repairs(const qn_model *m, qn_model_info *info)
{
	info->widened = m->nwidened;
	info->repairable = m->nrepaired;
	for (size_t i = 0; i < m->nrepaired; i++) {
		const qn_repaired *r = &m->repaired[i];

		info->repaired += r->weights || r->bias;
		info->sqnr_before += r->before / (double)m->nrepaired;
		info->sqnr_after += r->after / (double)m->nrepaired;
	}
}

static void
add_pruned(const qn_model *m, qn_model_info *info)
{
	info->pruned = m->npruned;
	for (size_t i = 0; i < m->npruned; i++) {
		info->pruned_channels += m->pruned[i].removed;
		info->pruned_bytes += m->pruned[i].bytes;
		info->pruned_macs += m->pruned[i].macs;
	}
}

qn_model_info
qn_model_describe(const qn_model *m)
{
	if (m == NULL)
		return (qn_model_info){0};
	const qn_graph *g = qn_model_entry(m);
	qn_model_info info = {.inputs = qn_graph_fed(g),
			      .outputs = qn_graph_given(g),
			      .states = g->nstate,
			      .reads_tokens = qn_graph_reads_tokens(g)};

	for (size_t k = 0; k < g->nstate; k++)
		info.state_bytes += qn_type_bytes(qn_graph_state(g, k)->type);

	for (size_t i = 0; i < m->ngraph; i++)
		add_graph(m->graph[i], &info);
	add_repairs(m, &info);
	add_pruned(m, &info);
	return info;
}

void
qn_summary_count(const qn_model *m, size_t count[QN_NOP])
{
	memset(count, 0, QN_NOP * sizeof count[0]);
	for (size_t i = 0; i < m->ngraph; i++)
		for (qn_id id = 1; id < m->graph[i]->n; id++)
			count[qn_graph_node(m->graph[i], id)->op]++;
	count[QN_OP_input] = count[QN_OP_const] = 0;
}

void
qn_summary_kinds(qn_buf *b, const qn_model *m)
{
	size_t count[QN_NOP];
	const char *sep = "";

	qn_summary_count(m, count);
	for (qn_op op = 0; op < QN_NOP; op++) {
		if (count[op] == 0)
			continue;
		qn_buff(b, "%s%s %zu", sep, qn_opinfo_get(op)->name, count[op]);
		sep = ", ";
	}
}

static void
print_graph(qn_buf *b, const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_input || n->op == QN_OP_const)
			continue;
		qn_buff(b, "  %s = %s", n->name, qn_opinfo_of(n)->name);
		for (uint32_t i = 0; i < n->nin; i++)
			qn_buff(b, "%s%s", i == 0 ? " " : ", ", qn_graph_node(g, n->in[i])->name);
		qn_buf_puts(b, " : ");
		qn_type_print(b, n->type);
		uint64_t macs = qn_node_macs(g, n);
		if (macs > 0)
			qn_buff(b, "  %llu MACs", (unsigned long long)macs);
		qn_buf_putc(b, '\n');
	}
}

void
qn_summary_print(qn_buf *b, const qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	qn_model_info info = qn_model_describe(m);

	b->decimal = true;
	qn_buff(b, "model        %s (%s)\n", m->name, qn_stage_text(m));
	for (size_t i = 0; i < qn_graph_fed(g); i++) {
		qn_buff(b, "input        %s : ", qn_graph_node(g, g->input[i])->name);
		qn_type_print(b, qn_graph_node(g, g->input[i])->type);
		qn_buf_putc(b, '\n');
	}
	for (size_t i = 0; i < qn_graph_given(g); i++) {
		qn_buff(b, "output       %s : ", g->output[i].name);
		qn_type_print(b, qn_graph_node(g, g->output[i].value)->type);
		qn_buf_putc(b, '\n');
	}
	for (size_t k = 0; k < g->nstate; k++) {
		qn_buff(b, "state        %s : ", qn_graph_state(g, k)->name);
		qn_type_print(b, qn_graph_state(g, k)->type);
		qn_buff(b, ", next %s\n", g->output[qn_graph_given(g) + k].name);
	}
	qn_buff(b, "parameters   %llu (%llu bytes)\n", (unsigned long long)info.parameters,
		(unsigned long long)info.constant_bytes);
	qn_buff(b, "MACs         %llu\n", (unsigned long long)info.macs);
	qn_buf_puts(b, "nodes        ");
	qn_summary_kinds(b, m);
	qn_buf_putc(b, '\n');
	for (size_t i = 0; i < m->ngraph; i++) {
		qn_buff(b, "graph        %s\n", m->graph[i]->name);
		print_graph(b, m->graph[i]);
	}
}

static void
add_crc(void *user, const char *text, size_t n)
{
	uint32_t *crc = user;

	*crc = qn_crc32(*crc, text, n);
}

/* Constants stand first in the JSON form.  The weights are printed when it is whole. */
uint32_t
qn_model_hash(const qn_model *m, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	uint32_t crc = 0;
	qn_buf json, weights;

	qn_buf_to(&json, tmp, add_crc, &crc);
	qn_buf_to(&weights, tmp, add_crc, &crc);
	qn_json_print(&json, m, &(qn_json_opts){.weights_file = "weights", .values_only = true},
		      &weights);
	qn_buf_end(&weights);
	qn_arena_release(tmp);
	return crc;
}
