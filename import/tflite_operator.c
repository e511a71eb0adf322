/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_operator.c - one operator of a TFLite file: its row, its operands, the function that reads it.
 *
 *   operator: code 3, inputs 0 17 3, outputs 22    ->    row CONV_2D of tflite_conv.c */
#include "import/tflite.h"
#include "lib/lib.h"

static const char *const builtin_names[] = {
#define X(name) #name,
	QN_TFL_BUILTINS(X)
#undef X
};

static const qn_tfl_row *const families[] = {
	qn_tfl_conv_rows,     qn_tfl_dense_rows, qn_tfl_pool_rows,    qn_tfl_binary_rows,
	qn_tfl_unary_rows,    qn_tfl_move_rows,  qn_tfl_reduce_rows,  qn_tfl_cast_rows,
	qn_tfl_slice_rows,    qn_tfl_shape_rows, qn_tfl_space_rows,   qn_tfl_logic_rows,
	qn_tfl_lstm_rows,     qn_tfl_index_rows, qn_tfl_scatter_rows, qn_tfl_rnn_rows,
	qn_tfl_variable_rows, qn_tfl_svdf_rows,  qn_tfl_control_rows,
};

static const qn_tfl_row *
row_of(int64_t code)
{
	for (size_t i = 0; i < QN_COUNT(families); i++)
		for (const qn_tfl_row *row = families[i]; row->read != NULL; row++)
			if ((int64_t)row->code == code)
				return row;
	return NULL;
}

qn_import_op
qn_tflite_op_at(size_t i)
{
	for (size_t k = 0; k < QN_COUNT(families); k++)
		for (const qn_tfl_row *row = families[k]; row->read != NULL; row++)
			if (i-- == 0)
				return (qn_import_op){"", builtin_names[row->code], 0, 0};
	return (qn_import_op){0};
}

/* Letters that may stand in a name, printed instead of what may not. */
static const char *
clean_text(qn_tfl *f, const qn_flat_vector *v)
{
	size_t n = v->n < 200 ? v->n : 200;
	char *s = QN_NEW(f->im.scratch, char, n + 1);

	for (size_t i = 0; i < n; i++) {
		int64_t c = qn_flat_int_at(v, i, QN_FLAT_U8);

		s[i] = c >= 0x20 && c < 0x7f ? (char)c : '_';
	}
	return s;
}

const char *
qn_tfl_code_name(qn_tfl *f, const qn_flat_table *code, int64_t *number)
{
	int64_t now = qn_flat_int(code, QN_TFL_FIELD_code_builtin, QN_FLAT_I32, 0);
	int64_t old = qn_flat_int(code, QN_TFL_FIELD_code_deprecated, QN_FLAT_I8, 0);
	qn_flat_vector custom = qn_flat_text_in(code, QN_TFL_FIELD_code_custom);

	*number = now > old ? now : old;
	if (*number < 0 || *number >= (int64_t)QN_TFL_NBUILTIN)
		return "unknown";
	return *number == QN_TFL_CUSTOM && custom.n > 0 ? clean_text(f, &custom)
							: builtin_names[*number];
}

int64_t
qn_tfl_code_of(qn_tfl *f, const qn_flat_table *op)
{
	const size_t index = (size_t)qn_flat_int(op, QN_TFL_FIELD_operator_code, QN_FLAT_U32, 0);
	const qn_flat_table code = qn_flat_table_at(&f->operator_codes, index);
	const int64_t now = qn_flat_int(&code, QN_TFL_FIELD_code_builtin, QN_FLAT_I32, 0);
	const int64_t old = qn_flat_int(&code, QN_TFL_FIELD_code_deprecated, QN_FLAT_I8, 0);

	return op->at == 0 || code.at == 0 ? -1 : now > old ? now : old;
}

qn_status
qn_tfl_tensor_at(qn_tfl *f, const qn_flat_vector *v, size_t i, qn_tfl_tensor **out)
{
	int64_t k = qn_flat_int_at(v, i, QN_FLAT_I32);

	*out = NULL;
	if (k == -1)
		return QN_OK;
	if (k < 0 || (size_t)k >= f->now->ntensor)
		return qn_importer_damaged(&f->im, "tensor %lld is used, but the file has %zu",
					   (long long)k, f->now->ntensor);
	*out = &f->now->tensor[k];
	return QN_OK;
}

/* Inputs and outputs of an operator; those of a refused one count as made, so that their
 * values are not looked for. */
static qn_status
operands(qn_tfl *f, const qn_flat_table *t, qn_tfl_op *o)
{
	qn_flat_vector in = qn_flat_vector_in(t, QN_TFL_FIELD_operator_inputs, 4);
	qn_flat_vector out = qn_flat_vector_in(t, QN_TFL_FIELD_operator_outputs, 4);

	o->nin = in.n < QN_TFL_MOST_INPUTS ? (uint32_t)in.n : QN_TFL_MOST_INPUTS;
	o->nout = out.n < QN_TFL_MOST_OUTPUTS ? (uint32_t)out.n : QN_TFL_MOST_OUTPUTS;
	for (uint32_t i = 0; i < o->nin; i++)
		QN_TRY(qn_tfl_tensor_at(f, &in, i, &o->from[i]));
	for (uint32_t i = 0; i < o->nout; i++) {
		QN_TRY(qn_tfl_tensor_at(f, &out, i, &o->to[i]));
		if (o->to[i] == NULL)
			return qn_importer_damaged(&f->im, "result %u is missing", i);
		if (o->to[i]->is_made)
			return qn_importer_damaged(&f->im, "tensor '%s' is computed twice",
						   o->to[i]->name);
		qn_tfl_of_run(f, o->to[i]);
	}
	if (in.n > o->nin || out.n > o->nout)
		(void)qn_importer_refuse(
			&f->im, "import.input",
			"%zu inputs and %zu results; at most %d and %d are supported", in.n, out.n,
			(int)QN_TFL_MOST_INPUTS, (int)QN_TFL_MOST_OUTPUTS);
	return QN_OK;
}

static bool
arity_ok(qn_tfl_op *o, const qn_tfl_row *row)
{
	const uint32_t nout = row->nout == QN_TFL_NO_RESULT ? 0 : row->nout;
	const bool any = row->nout == 0;

	if (o->nin < row->least_in || o->nin > row->most_in ||
	    (any ? o->nout < 1 : o->nout != nout))
		return qn_importer_refuse(o->im, "import.input",
					  "%u inputs and %u results; it has %u to %u and %u",
					  o->nin, o->nout, row->least_in, row->most_in,
					  any ? 1 : nout) != 0;
	for (uint32_t i = 0; i < o->nin && i + row->most_left_out < row->most_in; i++)
		if (o->from[i] == NULL)
			return qn_importer_refuse(o->im, "import.input", "input %u is missing (-1)",
						  i) != 0;
	return true;
}

/* Whether input i, or result i of a VAR_HANDLE or of what runs subgraphs, names a variable and has no value. */
static bool
may_be_handle(const qn_tfl_row *row, uint32_t i, const qn_tfl_tensor *t)
{
	const qn_flat_table none = {0};
	int64_t graph[2];

	if (i == 0 && (row->code == QN_TFL_READ_VARIABLE || row->code == QN_TFL_ASSIGN_VARIABLE ||
		       row->code == QN_TFL_VAR_HANDLE))
		return true;
	return qn_tfl_is_handle(t) && qn_tfl_graphs_of(row->code, &none, graph) > 0;
}

/* Whether all inputs have values; what has none was reported. */
static bool
inputs_known(qn_tfl_op *o, const qn_tfl_row *row)
{
	bool ok = true;

	for (uint32_t i = 0; i < o->nin; i++) {
		if (o->from[i] == NULL || may_be_handle(row, i, o->from[i]) ||
		    (row->most_left_out > 1 && qn_tfl_is_variable(o->from[i])))
			continue;
		o->in[i] = qn_tfl_value(o->f, o->from[i]);
		ok = ok && o->in[i] != 0;
	}
	for (uint32_t i = 0; i < o->nout; i++)
		ok = ((row->code != QN_TFL_READ_VARIABLE && may_be_handle(row, i, o->to[i])) ||
		      qn_tfl_type(o->f, o->to[i]) != NULL) &&
		     ok;
	return ok;
}

static void
take(qn_tfl_op *o, const qn_tfl_row *row, int64_t code, const char *name)
{
	const size_t problems = o->im->problems;
	const qn_id from = o->im->g->n;

	o->op = row != NULL ? row->op : 0;
	if (o->f->initializes && code != QN_TFL_VAR_HANDLE && code != QN_TFL_ASSIGN_VARIABLE)
		(void)qn_importer_refuse(o->im, "import.op",
					 "%s in a subgraph that CALL_ONCE runs, which may only "
					 "assign constants to variables",
					 name);
	else if (row == NULL)
		qn_tfl_refuse_unsupported(o, code, name);
	else if (arity_ok(o, row) && !qn_tfl_reads_counter(o, code) && inputs_known(o, row))
		row->read(o);
	else if (o->im->problems == problems && !o->is_read)
		qn_importer_count_skipped(o->im);
	for (uint32_t i = 0; i < o->nout; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): operands() refuses NULL */
		o->to[i]->is_made = o->to[i]->variable == NULL; /* a handle is refused as a value */
		qn_tfl_add_name(o->f, o->to[i], o->to[i]->id, from);
	}
}

qn_status
qn_tfl_read_operator(qn_tfl *f, const qn_flat_table *t)
{
	if (f->now->op == NULL)
		f->now->op = QN_NEW(f->im.scratch, qn_tfl_op, 1);
	qn_tfl_op *o = f->now->op; /* one for all operators: it is large */
	size_t index = (size_t)qn_flat_int(t, QN_TFL_FIELD_operator_code, QN_FLAT_U32, 0);
	qn_flat_table code = qn_flat_table_at(&f->operator_codes, index);
	int64_t number;

	if (code.at == 0)
		return f->flat.damage != NULL
			       ? qn_tfl_damage(f)
			       : qn_importer_damaged(
					 &f->im, "operator code %zu is used, but the file has %zu",
					 index, f->operator_codes.n);
	const char *name = qn_tfl_code_name(f, &code, &number);
	*o = (qn_tfl_op){.f = f, .im = &f->im};
	qn_importer_at(&f->im, "", name,
		       qn_flat_int(&code, QN_TFL_FIELD_code_version, QN_FLAT_I32, 1));
	o->options = qn_tfl_options_of(t, number);
	o->custom_options = qn_flat_vector_in(t, QN_TFL_FIELD_operator_custom_options, 1);
	if (number == QN_TFL_CUSTOM)
		o->custom = qn_lib_added(f->im.m->env, true, "", name);
	QN_TRY(operands(f, t, o));
	if (o->nout > 0) /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): likewise */
		f->im.node = o->to[0]->name;
	const qn_tfl_row *row = number == QN_TFL_CUSTOM ? qn_tfl_custom_conv(name) : row_of(number);
	take(o, o->custom != NULL ? &qn_tfl_custom_row : row, number, name);
	return f->flat.damage != NULL ? qn_tfl_damage(f) : QN_OK;
}
