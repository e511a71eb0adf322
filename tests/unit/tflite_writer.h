/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_writer.h - small TFLite files for tests, written field by field.
 *
 *   tfl_file *t = tfl_begin();
 *   int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(1, 4), NULL, 0);
 *   int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(1, 4), NULL, 0);
 *   tfl_op(t, QN_TFL_RELU, INTS(x), INTS(y));
 *   const uint8_t *bytes = tfl_end(t, INTS(x), INTS(y), &n);      … free(t)
 *
 * Tables are written from the root on: each has a vtable of its own in front of it and 8 bytes a
 * field, so that everything is aligned as readers of others want it. */
#ifndef TESTS_UNIT_TFLITE_WRITER_H
#define TESTS_UNIT_TFLITE_WRITER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "import/tflite_schema.h"
#include "tests/unit/little.h"
#include "tests/unit/tflite_parts.h"

/* ---- bytes ---- */

static inline void
tfl_put(tfl_file *t, size_t at, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		t->b[at + i] = (uint8_t)(v >> (8 * i));
}

static inline size_t
tfl_room(tfl_file *t, size_t bytes)
{
	size_t at = (t->n + 7) / 8 * 8;

	t->n = at + bytes;
	assert(t->n <= TFL_BYTES);
	return at;
}

/* A table of so many fields, all absent. */
static inline size_t
tfl_table(tfl_file *t, uint32_t fields)
{
	size_t vtable = tfl_room(t, 4 + 2 * (size_t)fields);
	size_t at = tfl_room(t, 8 + 8 * (size_t)fields);

	tfl_put(t, vtable, 4 + 2 * (uint64_t)fields, 2);
	tfl_put(t, vtable + 2, 8 + 8 * (uint64_t)fields, 2);
	tfl_put(t, at, at - vtable, 4);
	return at;
}

/* Makes a field present; where it lies. */
static inline size_t
tfl_field(tfl_file *t, size_t table, uint32_t field)
{
	size_t vtable = table - (t->b[table] | (size_t)t->b[table + 1] << 8);

	tfl_put(t, vtable + 4 + 2 * field, 8 + 8 * (uint64_t)field, 2);
	return table + 8 + 8 * field;
}

static inline void
tfl_set(tfl_file *t, size_t table, uint32_t field, int64_t v, size_t bytes)
{
	tfl_put(t, tfl_field(t, table, field), (uint64_t)v, bytes);
}

static inline void
tfl_set_real(tfl_file *t, size_t table, uint32_t field, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, 4);
	tfl_set(t, table, field, (int64_t)bits, 4);
}

/* The offset at `at` leads to `to`. */
static inline void
tfl_lead(tfl_file *t, size_t at, size_t to)
{
	tfl_put(t, at, to - at, 4);
}

static inline void
tfl_link(tfl_file *t, size_t table, uint32_t field, size_t to)
{
	tfl_lead(t, tfl_field(t, table, field), to);
}

/* A vector; its elements are written from the returned place + 4 on. */
static inline size_t
tfl_vector(tfl_file *t, size_t n, size_t each)
{
	size_t at = tfl_room(t, 8 + n * each) + 4; /* elements of 8 bytes are aligned */

	t->n += 8;
	tfl_put(t, at, n, 4);
	return at;
}

static inline size_t
tfl_i32s(tfl_file *t, int n, const int32_t *v)
{
	size_t at = tfl_vector(t, (size_t)n, 4);

	for (int i = 0; i < n; i++)
		tfl_put(t, at + 4 + 4 * (size_t)i, (uint64_t)(int64_t)v[i], 4);
	return at;
}

/* Bytes of an element. */
static inline size_t
tfl_each(int type)
{
	return type == TFL_FLOAT32 || type == TFL_INT32   ? 4
	       : type == TFL_FLOAT16 || type == TFL_INT16 ? 2
	       : type == TFL_INT64                        ? 8
							  : 1;
}

static inline size_t
tfl_bytes(tfl_file *t, const void *data, size_t n, size_t each)
{
	size_t at = tfl_vector(t, n, 1);

	if (n > 0)
		put_little(t->b + at + 4, data, n, each);
	return at;
}

/* ---- writing ---- */

static inline void
tfl_write_quantization(tfl_file *t, size_t tensor, const tfl_tensor_of *x)
{
	size_t q = tfl_table(t, 7), scale, zp;

	tfl_link(t, tensor, QN_TFL_FIELD_tensor_quantization, q);
	if (x->block > 0) {
		const size_t b = tfl_table(t, 3);

		tfl_set(t, q, QN_TFL_FIELD_quantization_details_type, QN_TFL_DETAILS_BLOCKWISE, 1);
		tfl_link(t, q, QN_TFL_FIELD_quantization_details, b);
		tfl_set(t, b, QN_TFL_FIELD_blockwise_scales, x->scales, 4);
		tfl_set(t, b, QN_TFL_FIELD_blockwise_zero_points, x->zeros, 4);
		tfl_set(t, b, QN_TFL_FIELD_blockwise_block_size, x->block, 4);
		return;
	}
	scale = tfl_vector(t, (size_t)x->nscale, 4);
	for (int i = 0; i < x->nscale; i++)
		put_little(t->b + scale + 4 + 4 * (size_t)i, &x->scale[i], 4, 4);
	tfl_link(t, q, QN_TFL_FIELD_quantization_scale, scale);
	zp = tfl_vector(t, (size_t)x->nscale, 8);
	for (int i = 0; i < x->nscale; i++)
		tfl_put(t, zp + 4 + 8 * (size_t)i, (uint64_t)x->zp[i], 8);
	tfl_link(t, q, QN_TFL_FIELD_quantization_zero_point, zp);
	tfl_set(t, q, QN_TFL_FIELD_quantization_axis, x->axis, 4);
}

/* An Int32Vector as a union: its type, and a table around it. */
static inline void
tfl_union(tfl_file *t, size_t table, uint32_t field, int n, const int32_t *v)
{
	size_t at = tfl_table(t, 1);

	tfl_set(t, table, field, 1, 1);
	tfl_link(t, table, field + 1, at);
	tfl_link(t, at, 0, tfl_i32s(t, n, v));
}

static inline void
tfl_write_sparsity(tfl_file *t, size_t tensor, const tfl_tensor_of *x)
{
	size_t s = tfl_table(t, 3), dims, dim[2];

	tfl_link(t, tensor, QN_TFL_FIELD_tensor_sparsity, s);
	tfl_link(t, s, QN_TFL_FIELD_sparsity_traversal_order, tfl_i32s(t, DIMS(0, 1)));
	dims = tfl_vector(t, 2, 4);
	tfl_link(t, s, QN_TFL_FIELD_sparsity_dims, dims);
	for (size_t i = 0; i < 2; i++) {
		dim[i] = tfl_table(t, 6);
		tfl_lead(t, dims + 4 + 4 * i, dim[i]);
	}
	tfl_set(t, dim[0], QN_TFL_FIELD_sparse_dim_dense_size, x->dim[0], 4);
	tfl_set(t, dim[1], QN_TFL_FIELD_sparse_dim_format, 1, 1);
	tfl_union(t, dim[1], QN_TFL_FIELD_sparse_dim_segments_type, x->dim[0] + 1, x->segments);
	tfl_union(t, dim[1], QN_TFL_FIELD_sparse_dim_indices_type, x->nindices, x->indices);
}

static inline void
tfl_write_tensors(tfl_file *t, size_t graph)
{
	size_t v = tfl_vector(t, (size_t)t->ntensor, 4);

	tfl_link(t, graph, QN_TFL_FIELD_graph_tensors, v);
	for (int i = 0; i < t->ntensor; i++) {
		const tfl_tensor_of *x = &t->tensor[i];
		size_t at = tfl_table(t, 8);

		tfl_lead(t, v + 4 + 4 * (size_t)i, at);
		tfl_link(t, at, QN_TFL_FIELD_tensor_shape, tfl_i32s(t, x->rank, x->dim));
		tfl_set(t, at, QN_TFL_FIELD_tensor_type, x->type, 1);
		tfl_set(t, at, QN_TFL_FIELD_tensor_buffer, x->data != NULL ? i + 1 : 0, 4);
		tfl_link(t, at, QN_TFL_FIELD_tensor_name,
			 tfl_bytes(t, x->name, strlen(x->name), 1));
		if (x->nscale > 0 || x->block > 0)
			tfl_write_quantization(t, at, x);
		if (x->is_variable)
			tfl_set(t, at, QN_TFL_FIELD_tensor_is_variable, 1, 1);
		if (x->nindices > 0)
			tfl_write_sparsity(t, at, x);
		if (x->signature != NULL)
			tfl_link(t, at, QN_TFL_FIELD_tensor_shape_signature,
				 tfl_i32s(t, x->rank, x->signature));
	}
}

/* Whether the options are those of the second union. */
static inline bool
tfl_is_new(const tfl_op_of *o)
{
	return o->code > (int)QN_TFL_RIGHT_SHIFT;
}

static inline void
tfl_write_op(tfl_file *t, size_t at, const tfl_op_of *o, int code)
{
	size_t options = 0;

	tfl_set(t, at, QN_TFL_FIELD_operator_code, code, 4);
	tfl_link(t, at, QN_TFL_FIELD_operator_inputs, tfl_i32s(t, o->nin, o->in));
	tfl_link(t, at, QN_TFL_FIELD_operator_outputs, tfl_i32s(t, o->nout, o->out));
	if (o->noption > 0) {
		options = tfl_table(t, 10);
		tfl_link(t, at,
			 tfl_is_new(o) ? QN_TFL_FIELD_operator_options_2
				       : QN_TFL_FIELD_operator_options,
			 options);
		if (o->options_type != 0)
			tfl_set(t, at, QN_TFL_FIELD_operator_options_type, o->options_type, 1);
	}
	if (o->ncustom > 0)
		tfl_link(t, at, QN_TFL_FIELD_operator_custom_options,
			 tfl_bytes(t, o->custom, o->ncustom, 1));
	for (int i = 0; i < o->noption; i++) {
		const tfl_option *p = &o->option[i];

		if (p->kind == 'f')
			tfl_set_real(t, options, p->field, (float)p->value);
		else if (p->kind == 's')
			tfl_link(t, options, p->field, tfl_bytes(t, p->text, strlen(p->text), 1));
		else if (p->kind == 'v')
			tfl_link(t, options, p->field, tfl_i32s(t, p->n, p->v));
		else
			tfl_set(t, options, p->field, (int64_t)p->value, p->kind == 'b' ? 1 : 4);
	}
}

/* The operators first … last - 1, all of a subgraph; each has a code of its own. */
static inline void
tfl_write_ops(tfl_file *t, size_t codes, size_t graph, int first, int last)
{
	size_t v = tfl_vector(t, (size_t)(last - first), 4);

	tfl_link(t, graph, QN_TFL_FIELD_graph_operators, v);
	for (int i = first; i < last; i++) {
		size_t at = tfl_table(t, tfl_is_new(&t->op[i])  ? 13
					 : t->op[i].ncustom > 0 ? 6
								: 5),
		       code = tfl_table(t, 4);

		tfl_lead(t, v + 4 + 4 * (size_t)(i - first), at);
		tfl_lead(t, codes + 4 + 4 * (size_t)i, code);
		tfl_set(t, code, QN_TFL_FIELD_code_builtin, t->op[i].code, 4);
		tfl_set(t, code, QN_TFL_FIELD_code_deprecated,
			t->op[i].code < 127 ? t->op[i].code : 127, 1);
		if (t->custom != NULL)
			tfl_link(t, code, QN_TFL_FIELD_code_custom,
				 tfl_bytes(t, t->custom, strlen(t->custom), 1));
		tfl_write_op(t, at, &t->op[i], i);
	}
}

/* Subgraph k > 0. */
static inline void
tfl_write_graph(tfl_file *t, size_t graphs, size_t codes, int k)
{
	const tfl_graph_of *g = &t->graph[k - 1];
	const size_t at = tfl_table(t, 5);

	tfl_lead(t, graphs + 4 + 4 * (size_t)k, at);
	tfl_write_tensors(t, at);
	tfl_link(t, at, QN_TFL_FIELD_graph_inputs, tfl_i32s(t, g->nin, g->in));
	tfl_link(t, at, QN_TFL_FIELD_graph_outputs, tfl_i32s(t, g->nout, g->out));
	tfl_write_ops(t, codes, at, g->first, k < t->ngraph ? g[1].first : t->nop);
}

static inline void
tfl_write_buffers(tfl_file *t, size_t model)
{
	size_t v = tfl_vector(t, (size_t)t->ntensor + 1, 4);

	tfl_link(t, model, QN_TFL_FIELD_model_buffers, v);
	for (int i = 0; i <= t->ntensor; i++) {
		size_t at = tfl_table(t, 3);
		const tfl_tensor_of *x = i > 0 ? &t->tensor[i - 1] : NULL;

		tfl_lead(t, v + 4 + 4 * (size_t)i, at);
		if (x != NULL && x->data != NULL && x->is_outside) {
			size_t place = tfl_room(t, (size_t)x->nbyte);

			put_little(t->b + place, x->data, (size_t)x->nbyte, tfl_each(x->type));
			tfl_set(t, at, QN_TFL_FIELD_buffer_offset, (int64_t)place, 8);
			tfl_set(t, at, QN_TFL_FIELD_buffer_size, x->nbyte, 8);
		} else if (x != NULL && x->data != NULL)
			tfl_link(t, at, QN_TFL_FIELD_buffer_data,
				 tfl_bytes(t, x->data, (size_t)x->nbyte, tfl_each(x->type)));
	}
}

static inline const uint8_t *
tfl_end(tfl_file *t, int nin, const int32_t *in, int nout, const int32_t *out, size_t *n)
{
	const int ngraph = t->ngraph + 1 > t->subgraphs ? t->ngraph + 1 : t->subgraphs;
	size_t model, graphs, graph, codes;

	t->n = 8;
	memcpy(t->b + 4, "TFL3", 4);
	model = tfl_table(t, 5);
	tfl_lead(t, 0, model);
	tfl_set(t, model, QN_TFL_FIELD_model_version, 3, 4);
	graphs = tfl_vector(t, (size_t)ngraph, 4);
	tfl_link(t, model, QN_TFL_FIELD_model_subgraphs, graphs);
	graph = tfl_table(t, 5);
	for (int i = 0; i < ngraph; i++)
		tfl_lead(t, graphs + 4 + 4 * (size_t)i, graph);
	tfl_write_tensors(t, graph);
	if (t->name != NULL)
		tfl_link(t, graph, QN_TFL_FIELD_graph_name,
			 tfl_bytes(t, t->name, strlen(t->name), 1));
	tfl_link(t, graph, QN_TFL_FIELD_graph_inputs, tfl_i32s(t, nin, in));
	tfl_link(t, graph, QN_TFL_FIELD_graph_outputs, tfl_i32s(t, nout, out));
	codes = tfl_vector(t, (size_t)t->nop, 4);
	tfl_link(t, model, QN_TFL_FIELD_model_operator_codes, codes);
	tfl_write_ops(t, codes, graph, 0, t->ngraph > 0 ? t->graph[0].first : t->nop);
	for (int k = 1; k <= t->ngraph; k++)
		tfl_write_graph(t, graphs, codes, k);
	tfl_write_buffers(t, model);
	*n = t->n;
	return t->b;
}

#endif
