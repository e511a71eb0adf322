/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.c - TFLite files: the model's tables, one subgraph, its operators in their order.
 *
 * Everything that is not supported is reported in one run; what is missing in an operator after a
 * refused one is not reported again. */
#include "import/tflite.h"
#include "lib/lib.h"

#include <string.h>

#include "ir/diag.h"

enum { MOST_OUTPUTS = 1024 };

qn_status
qn_tfl_damage(qn_tfl *f)
{
	return qn_importer_damaged(&f->im,
				   "the file is damaged: %s (byte %zu); fetch or convert it again",
				   f->flat.damage, f->flat.damage_at);
}

/* ---- the graph ---- */

/* Dimensions that the file leaves open (-1 of its shape signature) are stored as 1, which is right for a batch.
 * stored: those that no option set, else -1. */
static void
open_dims(qn_tfl *f, const qn_tfl_tensor *t, const int64_t *stored)
{
	const qn_flat_vector open =
		qn_flat_vector_in(&t->t, QN_TFL_FIELD_tensor_shape_signature, 4);

	for (int32_t k = 1; k < t->rank && (size_t)t->rank == open.n; k++)
		if (stored[k] >= 0 && qn_flat_int_at(&open, (size_t)k, QN_FLAT_I32) < 0)
			qn_warn(f->im.m->env, "import.open", t->name,
				"dimension %d of this input is open in the file; it is taken as "
				"the %lld that is stored there: give it the number that is meant, "
				"--input-dim %s:%d=N",
				(int)k, (long long)stored[k], t->name, (int)k);
}

static qn_status
graph_inputs(qn_tfl *f, const qn_flat_table *graph)
{
	qn_flat_vector in = qn_flat_vector_in(graph, QN_TFL_FIELD_graph_inputs, 4);
	const char **names = QN_NEW(f->im.scratch, const char *, in.n + 1);

	for (size_t i = 0; i < in.n; i++) {
		qn_tfl_tensor *t;

		QN_TRY(qn_tfl_tensor_at(f, &in, i, &t));
		if (t == NULL || t->is_made)
			return qn_importer_damaged(&f->im, "input %zu is missing or given twice",
						   i);
		qn_importer_at(&f->im, t->name, "input", 1);
		t->is_made = true; /* for good: the graph is read once */
		names[i] = t->name;
		qn_pin *pin = qn_importer_pin(&f->im, t->name, i);
		if (pin != NULL)
			qn_pin_dims(pin, t->rank, t->dim);
		int64_t stored[QN_MAX_RANK];
		for (int32_t k = 0; k < t->rank; k++) {
			stored[k] = t->dim[k];
			if (qn_importer_dim_option(&f->im, t->name, k, "", &t->dim[k]))
				stored[k] = -1;
		}
		if (pin == NULL)
			open_dims(f, t, stored);
		const qn_type *type = qn_tfl_type(f, t);
		if (type != NULL)
			t->id = pin != NULL ? qn_importer_pinned(&f->im, pin, t->name, type)
					    : qn_importer_input(&f->im, t->name, type);
		qn_tfl_add_name(f, t, t->id, t->id);
	}
	qn_importer_at(&f->im, "", "", 0);
	qn_importer_dims_used(&f->im);
	qn_importer_pins_used(&f->im, in.n, names);
	return QN_OK;
}

/* Outputs of one name, or one tensor listed twice, are distinguished by a number. */
const char *
qn_tfl_output_name(qn_tfl *f, const char *name)
{
	const char *taken = name;

	for (uint32_t k = 1; qn_map_gets(&f->outputs, taken) != NULL; k++) {
		qn_buf b;

		qn_buf_init(&b, f->im.m->arena);
		qn_buff(&b, "%s_%u", name, k);
		taken = qn_buf_str(&b);
	}
	qn_map_puts(&f->outputs, taken, f);
	return taken;
}

static qn_status
graph_outputs(qn_tfl *f, const qn_flat_table *graph)
{
	qn_flat_vector out = qn_flat_vector_in(graph, QN_TFL_FIELD_graph_outputs, 4);

	if (out.n == 0)
		return qn_importer_damaged(&f->im, "the subgraph has no outputs");
	if (out.n > MOST_OUTPUTS)
		(void)qn_importer_refuse(&f->im, "import.input",
					 "the subgraph has %zu outputs; at most %d are supported",
					 out.n, (int)MOST_OUTPUTS);
	if (f->im.how->ncut > 0)
		return qn_tfl_cut_outputs(f);
	for (size_t i = 0; i < out.n && i < MOST_OUTPUTS; i++) {
		qn_tfl_tensor *t;

		QN_TRY(qn_tfl_tensor_at(f, &out, i, &t));
		if (t == NULL)
			return qn_importer_damaged(&f->im, "output %zu is missing", i);
		qn_importer_at(&f->im, t->name, "output", 1);
		qn_id id = qn_tfl_value(f, t);
		if (id != 0)
			qn_graph_output(f->im.g, qn_tfl_output_name(f, t->name), id);
	}
	return QN_OK;
}

qn_status
qn_tfl_read_operators(qn_tfl *f, const qn_flat_table *graph)
{
	const qn_flat_vector ops = qn_flat_vector_in(graph, QN_TFL_FIELD_graph_operators, 4);
	const bool *needed = f->now == f->frame ? qn_tfl_needed(f, &ops) : NULL;

	for (size_t i = 0; i < ops.n && qn_importer_may_read(&f->im, &f->read); i++) {
		if (needed != NULL && !needed[i])
			continue;
		qn_flat_table t = qn_flat_table_at(&ops, i);

		if (t.at == 0)
			return f->flat.damage != NULL
				       ? qn_tfl_damage(f)
				       : qn_importer_damaged(&f->im, "operator %zu is missing", i);
		qn_importer_at(&f->im, "", "operator", (int64_t)i);
		QN_TRY(qn_tfl_read_operator(f, &t));
	}
	return QN_OK;
}

/* Subgraphs that no operator runs are other signatures of the file.  TFLite runs the first one unless it is told another. */
static void
check_graphs(qn_tfl *f)
{
	enum { MOST_NAMES = 8 };
	size_t unread = 0;
	qn_buf b;

	if (f->im.problems == 0)
		qn_tfl_find_called(f);
	qn_buf_init(&b, f->im.scratch);
	for (size_t i = 1; i < f->graphs.n && f->im.problems == 0; i++) {
		const qn_flat_table graph = qn_flat_table_at(&f->graphs, i);

		if (f->frame[i].is_called || ++unread > MOST_NAMES)
			continue;
		const qn_flat_vector name = qn_flat_text_in(&graph, QN_TFL_FIELD_graph_name);
		qn_buff(&b, "%s%zu ('%s')", unread > 1 ? ", " : "", i, qn_tfl_name_of(f, &name, i));
	}
	if (unread > 0 && f->flat.damage == NULL)
		qn_warn(f->im.m->env, "import.signature", f->im.file,
			"only subgraph 0 of %zu is read, which TFLite runs unless told another "
			"one, and what it runs; others of the file are %s%s: if one of "
			"these is meant, convert the model with that signature alone",
			f->graphs.n, qn_buf_str(&b), unread > MOST_NAMES ? ", …" : "");
}

static qn_status
read_graph(qn_tfl *f, const qn_flat_table *graph)
{
	QN_TRY(qn_tfl_tensors(f, graph));
	QN_TRY(graph_inputs(f, graph));
	QN_TRY(qn_tfl_read_operators(f, graph));
	QN_TRY(graph_outputs(f, graph));
	if (f->im.problems == 0 && !qn_tfl_variables_end(f))
		return QN_OK; /* qn_importer_end returns what was reported */
	qn_importer_at(&f->im, "", "", 0);
	check_graphs(f);
	return f->flat.damage != NULL ? qn_tfl_damage(f) : QN_OK;
}

/* Tables of the model. */
static qn_status
open_model(qn_tfl *f, qn_flat_table *graph)
{
	if (!qn_flat_is(&f->flat, "TFL3"))
		return qn_importer_damaged(&f->im,
					   "not a TFLite file: the letters TFL3 are not at byte 4");
	qn_flat_table model = qn_flat_root(&f->flat);
	qn_flat_vector graphs = qn_flat_vector_in(&model, QN_TFL_FIELD_model_subgraphs, 4);
	f->operator_codes = qn_flat_vector_in(&model, QN_TFL_FIELD_model_operator_codes, 4);
	f->buffers = qn_flat_vector_in(&model, QN_TFL_FIELD_model_buffers, 4);
	*graph = qn_flat_table_at(&graphs, 0);
	if (f->flat.damage != NULL)
		return qn_tfl_damage(f);
	if (graph->at == 0)
		return qn_importer_damaged(&f->im, "the file has no subgraph");
	f->graphs = graphs;
	f->frame = f->now = QN_NEW(f->im.scratch, qn_tfl_frame, graphs.n);
	f->frame->runs = true;
	f->states_end = &f->states;
	qn_map_init(&f->handles, f->im.scratch);
	qn_map_init(&f->outputs, f->im.scratch);
	return QN_OK;
}

qn_status
qn_tflite_read(qn_model *m, const char *file, const void *data, size_t n, const qn_import_how *how)
{
	qn_tfl *f = QN_NEW(m->scratch, qn_tfl, 1);
	qn_flat_table graph;

	qn_importer_begin(&f->im, m, file, n, how);
	f->flat = (qn_flat){.data = data, .n = n};
	QN_TRY(open_model(f, &graph));
	QN_TRY(read_graph(f, &graph));
	qn_importer_at(&f->im, "", "", 0);
	return qn_importer_end(&f->im);
}
