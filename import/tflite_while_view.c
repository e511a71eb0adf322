/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_while_view.c - see tflite_while_view.h. */
#include "import/tflite_while_view.h"

bool
qn_tfl_view_open(const qn_tfl_while *w, int64_t index, uint32_t nout, qn_tfl_view *v)
{
	const qn_tfl *f = w->o->f;

	*v = (qn_tfl_view){.w = w};
	if (index < 1 || (uint64_t)index >= f->graphs.n)
		return false;
	const qn_flat_table graph = qn_flat_table_at(&f->graphs, (size_t)index);
	v->in = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_inputs, 4);
	v->out = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_outputs, 4);
	v->tensors = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_tensors, 4);
	v->ops = qn_flat_vector_in(&graph, QN_TFL_FIELD_graph_operators, 4);
	return v->in.n == w->n && v->out.n == nout;
}

qn_tfl_view_op
qn_tfl_view_op_at(const qn_tfl_view *v, size_t i)
{
	const qn_flat_table t = qn_flat_table_at(&v->ops, i);

	const int64_t code = qn_tfl_code_of(v->w->o->f, &t);

	return (qn_tfl_view_op){.code = code,
				.in = qn_flat_vector_in(&t, QN_TFL_FIELD_operator_inputs, 4),
				.out = qn_flat_vector_in(&t, QN_TFL_FIELD_operator_outputs, 4),
				.options = qn_tfl_options_of(&t, code)};
}

int64_t
qn_tfl_view_element(const qn_flat_vector *list, size_t i)
{
	return i < list->n ? qn_flat_int_at(list, i, QN_FLAT_I32) : -1;
}

bool
qn_tfl_view_maker(const qn_tfl_view *v, int64_t tensor, qn_tfl_view_op *out)
{
	for (size_t i = 0; i < v->ops.n; i++) {
		*out = qn_tfl_view_op_at(v, i);
		if (tensor >= 0 && qn_tfl_view_element(&out->out, 0) == tensor)
			return true;
	}
	return false;
}

int32_t
qn_tfl_view_input(const qn_tfl_view *v, int64_t tensor)
{
	for (size_t i = 0; i < v->in.n && tensor >= 0; i++)
		if (qn_tfl_view_element(&v->in, i) == tensor)
			return (int32_t)i;
	return -1;
}

qn_flat_table
qn_tfl_view_tensor(const qn_tfl_view *v, int64_t tensor)
{
	const qn_flat_table none = {0};

	return tensor >= 0 ? qn_flat_table_at(&v->tensors, (size_t)tensor) : none;
}

static int64_t
type_of(const qn_flat_table *t)
{
	return qn_flat_int(t, QN_TFL_FIELD_tensor_type, QN_FLAT_I8, 0);
}

/* The only element of a constant; false: it is none. */
bool
qn_tfl_view_constant(const qn_tfl_view *v, int64_t tensor, int64_t *out)
{
	enum { INT32 = 2, INT64 = 4 };
	const qn_flat_table t = qn_tfl_view_tensor(v, tensor);
	const int64_t type = type_of(&t);
	const size_t buffer = (size_t)qn_flat_int(&t, QN_TFL_FIELD_tensor_buffer, QN_FLAT_U32, 0);
	const qn_flat_table b = qn_flat_table_at(&v->w->o->f->buffers, buffer);
	const qn_flat_vector bytes = qn_flat_vector_in(&b, QN_TFL_FIELD_buffer_data, 1);
	qn_flat_vector value = bytes;

	if (t.at == 0 || b.at == 0 || (type != INT32 && type != INT64) ||
	    bytes.n != (type == INT32 ? 4U : 8U))
		return false;
	value.n = 1;
	value.each = (uint32_t)bytes.n;
	*out = qn_importer_near(
		qn_flat_int_at(&value, 0, type == INT32 ? QN_FLAT_I32 : QN_FLAT_I64));
	return true;
}
