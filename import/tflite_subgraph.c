/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_subgraph.c - subgraphs that operators run, read in the place of the operator.
 *
 *   IF condition, x    subgraph 1 of x: y      ->    the operators of subgraph 1, if the condition is true
 *
 * A subgraph is read again each time that it is run; its constants are made once.  It cannot run itself. */
#include "import/tflite.h"

enum { MOST_DEPTH = 64, RESOURCE = 13 /* TensorType */ };

bool
qn_tfl_is_handle(const qn_tfl_tensor *t)
{
	return qn_flat_int(&t->t, QN_TFL_FIELD_tensor_type, QN_FLAT_I8, 0) == RESOURCE;
}

void
qn_tfl_of_run(qn_tfl *f, qn_tfl_tensor *t)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): operands() refuses NULL */
	if (!t->is_of_run)
		f->now->of_run[f->now->nof_run++] = t;
	t->is_of_run = true;
}

/* What the last run left; a tensor that is a variable stays one. */
static void
forget(qn_tfl_frame *frame)
{
	for (size_t i = 0; i < frame->nof_run; i++) {
		qn_tfl_tensor *t = frame->of_run[i];

		t->id = t->real = 0;
		t->counter = NULL;
		t->variable = qn_tfl_is_variable(t) ? t->variable : NULL;
		t->is_made = t->is_of_run = false;
	}
	frame->nof_run = 0;
}

/* ---- values in and out ---- */

qn_id
qn_tfl_as(qn_tfl_op *o, qn_tfl_tensor *t, qn_id x)
{
	const qn_type *to = x != 0 ? qn_tfl_type(o->f, t) : NULL;
	const qn_type *from = x != 0 ? qn_importer_type(o->im, x) : NULL;

	if (to == NULL || from->elem == to->elem)
		return to != NULL ? x : 0;
	if (from->is_tuple || from->elem->plain != to->elem->plain ||
	    qn_elem_is_quant(from->elem) != qn_elem_is_quant(to->elem))
		return qn_importer_refuse(o->im, "import.type",
					  "tensor '%s' of a subgraph has another element type than "
					  "the value that it gets",
					  t->name);
	return qn_tfl_retyped(o, x, to->elem);
}

static bool
set_input(qn_tfl_op *o, const qn_flat_vector *list, uint32_t i, const qn_tfl_held *x)
{
	qn_tfl *f = o->f;
	qn_tfl_tensor *t;
	qn_status status = qn_tfl_tensor_at(f, list, i, &t);

	if (status == QN_OK && (t == NULL || t->is_made || t->is_of_run))
		status = qn_importer_damaged(
			&f->im, "input %u of a subgraph is missing or listed twice", i);
	if (status != QN_OK) {
		qn_importer_failed(&f->im, status);
		return false;
	}
	qn_tfl_of_run(f, t);
	t->counter = x->counter;
	t->is_made = x->variable == NULL; /* a handle is refused as a value */
	if (x->variable != NULL)
		t->variable = x->variable;
	else if (x->id != 0)
		t->id = qn_tfl_as(o, t, x->id);
	return x->id == 0 || t->id != 0;
}

static bool
result(qn_tfl_op *o, const qn_flat_vector *list, uint32_t i, qn_tfl_held *out)
{
	qn_tfl *f = o->f;
	qn_tfl_tensor *t;
	const qn_status status = qn_tfl_tensor_at(f, list, i, &t);

	if (status != QN_OK || t == NULL) {
		qn_importer_failed(
			&f->im, status != QN_OK
					? status
					: qn_importer_damaged(
						  &f->im, "output %u of a subgraph is missing", i));
		return false;
	}
	*out = (qn_tfl_held){.variable = t->variable, .counter = t->counter};
	if (t->variable != NULL && qn_tfl_is_handle(t))
		return true;
	out->variable = NULL;
	out->id = qn_tfl_value(f, t);
	return out->id != 0 || out->counter != NULL;
}

void
qn_tfl_set_held(qn_tfl_op *o, uint32_t k, const qn_tfl_held *x)
{
	o->im->node = o->to[k]->name;
	if (x->variable != NULL)
		o->to[k]->variable = x->variable;
	else
		qn_tfl_set_result(o, k, qn_tfl_as(o, o->to[k], x->id));
}

/* ---- a run ---- */

/* The tables of subgraph `index`; at 0 after a report. */
static qn_flat_table
graph_at(qn_tfl *f, int64_t index)
{
	const qn_flat_table none = {0};

	if (index < 1 || (uint64_t)index >= f->graphs.n) {
		qn_importer_failed(&f->im, qn_importer_damaged(&f->im,
							       "subgraph %lld is run, but the file "
							       "has %zu",
							       (long long)index, f->graphs.n));
		return none;
	}
	const qn_flat_table graph = qn_flat_table_at(&f->graphs, (size_t)index);
	if (graph.at == 0)
		qn_importer_failed(&f->im, qn_importer_damaged(&f->im, "subgraph %lld is missing",
							       (long long)index));
	return graph;
}

/* Reads the tensors of a subgraph once; false after a report. */
static bool
has_tensors(qn_tfl *f, const qn_flat_table *graph, qn_tfl_frame *frame)
{
	qn_tfl_frame *const outer = f->now;
	qn_status status = QN_OK;

	f->now = frame;
	if (frame->tensor == NULL)
		status = qn_tfl_tensors(f, graph);
	f->now = outer;
	if (status != QN_OK)
		qn_importer_failed(&f->im, status);
	return status == QN_OK;
}

qn_tfl_tensor *
qn_tfl_input_of(qn_tfl *f, int64_t index, uint32_t k)
{
	const qn_flat_table graph = graph_at(f, index);
	const qn_flat_vector inputs = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_inputs, 4);
	qn_tfl_frame *const outer = f->now;
	qn_tfl_tensor *t = NULL;

	if (graph.at == 0 || !has_tensors(f, &graph, &f->frame[index]))
		return NULL;
	f->now = &f->frame[index];
	qn_status status = qn_tfl_tensor_at(f, &inputs, k, &t);
	f->now = outer;
	if (status == QN_OK && t == NULL)
		status = qn_importer_damaged(&f->im, "input %u of a subgraph is missing", k);
	if (status != QN_OK)
		qn_importer_failed(&f->im, status);
	return t;
}

/* Makes a subgraph the one that is read; false after a report. */
static bool
enter(qn_tfl *f, const qn_flat_table *graph, size_t index)
{
	qn_tfl_frame *frame = &f->frame[index];

	if (frame->runs || f->depth == MOST_DEPTH) {
		(void)qn_importer_refuse(&f->im, "import.nesting",
					 frame->runs ? "subgraph %zu runs itself"
						     : "subgraph %zu: more than 64 subgraphs that "
						       "run each other",
					 index);
		return false;
	}
	if (!has_tensors(f, graph, frame))
		return false;
	forget(frame);
	f->now = frame;
	f->depth++;
	return frame->is_called = frame->runs = true;
}

static void
leave(qn_tfl *f, qn_tfl_frame *outer)
{
	f->now->runs = false;
	f->now = outer;
	f->depth--;
}

bool
qn_tfl_run(qn_tfl_op *o, int64_t index, uint32_t nin, const qn_tfl_held *in, uint32_t nout,
	   qn_tfl_held *out)
{
	qn_tfl *f = o->f;
	qn_tfl_frame *const outer = f->now;
	const char *const node = f->im.node, *const op = f->im.op;
	const int64_t version = f->im.version;
	const size_t problems = f->im.problems;
	const qn_flat_table graph = graph_at(f, index);
	const qn_flat_vector inputs = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_inputs, 4);
	const qn_flat_vector outputs = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_outputs, 4);

	if (graph.at == 0)
		return false;
	if (inputs.n != nin || outputs.n != nout)
		return qn_importer_refuse(&f->im, "import.input",
					  "subgraph %lld has %zu inputs and %zu outputs; it is run "
					  "with %u and %u",
					  (long long)index, inputs.n, outputs.n, nin, nout) != 0;
	if (!enter(f, &graph, (size_t)index))
		return false;
	bool ok = true;
	for (uint32_t i = 0; i < nin && ok; i++)
		ok = set_input(o, &inputs, i, &in[i]);
	if (ok) {
		const qn_status status = qn_tfl_read_operators(f, &graph);

		if (status != QN_OK)
			qn_importer_failed(&f->im, status);
	}
	qn_importer_at(&f->im, node, op, version);
	for (uint32_t i = 0; i < nout && ok && f->im.problems == problems; i++)
		ok = result(o, &outputs, i, &out[i]);
	leave(f, outer);
	return ok && f->im.problems == problems;
}

void
qn_tfl_initialize(qn_tfl *f, size_t index)
{
	qn_tfl_frame *const outer = f->now;
	const char *const node = f->im.node, *const op = f->im.op;
	const qn_flat_table graph = graph_at(f, (int64_t)index);

	if (graph.at == 0 || !enter(f, &graph, index))
		return;
	f->initializes = true;
	const qn_status status = qn_tfl_read_operators(f, &graph);
	if (status != QN_OK)
		qn_importer_failed(&f->im, status);
	f->initializes = false;
	leave(f, outer);
	qn_importer_at(&f->im, node, op, 1);
}

/* ---- who runs whom ---- */

qn_flat_table
qn_tfl_options_of(const qn_flat_table *op, int64_t code)
{
	return qn_flat_table_in(op, code > (int64_t)QN_TFL_RIGHT_SHIFT
					    ? QN_TFL_FIELD_operator_options_2
					    : QN_TFL_FIELD_operator_options);
}

uint32_t
qn_tfl_graphs_of(int64_t code, const qn_flat_table *options, int64_t index[2])
{
	static const struct {
		qn_tfl_builtin code;
		uint32_t first, n; /* fields of the options */
	} rows[] = {{QN_TFL_IF, 0, 2},
		    {QN_TFL_WHILE, 0, 2},
		    {QN_TFL_CALL, 0, 1},
		    {QN_TFL_CALL_ONCE, 0, 1},
		    {QN_TFL_STABLEHLO_COMPOSITE, 1, 1}};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		if ((int64_t)rows[i].code != code)
			continue;
		for (uint32_t k = 0; k < rows[i].n; k++)
			index[k] = qn_flat_int(options, rows[i].first + k, QN_FLAT_I32, 0);
		return rows[i].n;
	}
	return 0;
}

/* Notes the subgraphs that an operator runs and that were not called before; how many are listed then. */
static size_t
note(qn_tfl *f, const qn_flat_table *op, size_t n, size_t *list)
{
	const int64_t code = qn_tfl_code_of(f, op);
	const qn_flat_table options = qn_tfl_options_of(op, code);
	int64_t index[2];
	const uint32_t graphs = qn_tfl_graphs_of(code, &options, index);

	for (uint32_t k = 0; k < graphs; k++)
		if (index[k] > 0 && (uint64_t)index[k] < f->graphs.n &&
		    !f->frame[index[k]].is_called) {
			f->frame[index[k]].is_called = true;
			list[n++] = (size_t)index[k];
		}
	return n;
}

void
qn_tfl_find_called(qn_tfl *f)
{
	size_t *list = QN_NEW(f->im.scratch, size_t, f->graphs.n + 1), n = 0;

	for (size_t i = 0; i < f->graphs.n; i++)
		if (i == 0 || f->frame[i].is_called)
			list[n++] = i;
	for (size_t i = 0; i < n; i++) {
		const qn_flat_table graph = qn_flat_table_at(&f->graphs, list[i]);
		const qn_flat_vector ops =
			qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_operators, 4);

		for (size_t k = 0; k < ops.n && qn_importer_may_read(&f->im, &f->read); k++) {
			const qn_flat_table op = qn_flat_table_at(&ops, k);

			n = note(f, &op, n, list);
		}
	}
}
