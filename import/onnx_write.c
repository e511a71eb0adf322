/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write.c - names, initializers, nodes and attributes of an ONNX file being made. */
#include "import/onnx_write.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

/* TensorProto.DataType of the plain types; 0: none. */
static int
number_of(qn_plain plain)
{
	static const int numbers[QN_NPLAIN] = {
		[QN_PLAIN_bool] = 9, [QN_PLAIN_i2] = 26,  [QN_PLAIN_u2] = 25,   [QN_PLAIN_i4] = 22,
		[QN_PLAIN_u4] = 21,  [QN_PLAIN_i8] = 3,   [QN_PLAIN_u8] = 2,    [QN_PLAIN_i16] = 5,
		[QN_PLAIN_u16] = 4,  [QN_PLAIN_i32] = 6,  [QN_PLAIN_u32] = 12,  [QN_PLAIN_i64] = 7,
		[QN_PLAIN_u64] = 13, [QN_PLAIN_f16] = 10, [QN_PLAIN_bf16] = 16, [QN_PLAIN_f32] = 1,
		[QN_PLAIN_f64] = 11,
	};

	return numbers[plain];
}

static char *
copy(qn_onnx_out *o, const char *s)
{
	return qn_arena_copy(o->a, s, strlen(s) + 1);
}

const char *
qn_onnx_out_name(qn_onnx_out *o, const char *base)
{
	const char *name = copy(o, base != NULL ? base : "value");
	qn_buf b;

	for (int k = 1; qn_map_gets(&o->used, name) != NULL; k++) {
		qn_buf_init(&b, o->a);
		qn_buff(&b, "%s_%d", base != NULL ? base : "value", k);
		name = qn_buf_str(&b);
	}
	qn_map_puts(&o->used, name, o);
	return name;
}

const char *
qn_onnx_out_named(qn_onnx_out *o, const char *base, const char *what)
{
	qn_buf b;

	qn_buf_init(&b, o->a);
	qn_buff(&b, "%s_%s", base, what);
	return qn_buf_str(&b);
}

/* ---- initializers ---- */

size_t
qn_onnx_out_tensors(const qn_onnx_out *o)
{
	return o->graph->n_initializer;
}

/* Quantized values of 2 or 4 bits, as many per byte as fit, the first in the lowest bits. */
static uint8_t *
packed(qn_onnx_out *o, const qn_tensor *x, size_t bits, size_t *bytes)
{
	const size_t n = (size_t)qn_type_count(x->type), each = 8 / bits;
	uint8_t *to = QN_NEW(o->a, uint8_t, (n + each - 1) / each);

	for (size_t i = 0; i < n; i++) {
		unsigned code = (unsigned)qn_tensor_i64(x, (int64_t)i) & ((1U << bits) - 1);
		to[i / each] = (uint8_t)(to[i / each] | code << (i % each * bits));
	}
	*bytes = (n + each - 1) / each;
	return to;
}

const char *
qn_onnx_out_tensor(qn_onnx_out *o, const char *base, const qn_tensor *x)
{
	Onnx__TensorProto *t = QN_NEW(o->a, Onnx__TensorProto, 1);
	const qn_type *type = x->type;
	const char *name = qn_onnx_out_name(o, base);
	const uint8_t bits = qn_plain_table[type->elem->plain].bits;

	onnx__tensor_proto__init(t);
	t->name = copy(o, name);
	t->has_data_type = 1;
	t->data_type = number_of(type->elem->plain);
	t->n_dims = (size_t)type->rank;
	t->dims = QN_NEW(o->a, int64_t, t->n_dims + 1);
	for (int32_t i = 0; i < type->rank; i++)
		t->dims[i] = type->dim[i];
	t->has_raw_data = 1;
	if (bits == 2 || bits == 4) {
		t->raw_data.data = packed(o, x, bits, &t->raw_data.len);
	} else {
		t->raw_data.len = x->bytes;
		t->raw_data.data = qn_arena_copy(o->a, qn_tensor_file_bytes(o->a, x), x->bytes);
	}
	o->bytes += t->raw_data.len;
	o->graph->initializer =
		qn_arena_grow(o->a, (void *)o->graph->initializer, &o->tensor_cap,
			      o->graph->n_initializer + 1, sizeof(Onnx__TensorProto *));
	o->graph->initializer[o->graph->n_initializer++] = t;
	return name;
}

const char *
qn_onnx_out_i64s(qn_onnx_out *o, const char *base, int32_t n, const int64_t *v)
{
	int64_t dim = n;
	void *data;
	qn_tensor *x =
		qn_tensor_new(o->a, qn_type_plain(&o->m->types, QN_PLAIN_i64, 1, &dim), &data);

	for (int32_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, v[i]);
	return qn_onnx_out_tensor(o, base, x);
}

const char *
qn_onnx_out_f32s(qn_onnx_out *o, const char *base, int32_t rank, int64_t n, const double *v)
{
	void *data;
	qn_tensor *x =
		qn_tensor_new(o->a, qn_type_plain(&o->m->types, QN_PLAIN_f32, rank, &n), &data);

	for (int64_t i = 0; i < n; i++)
		qn_store_f64(data, QN_PLAIN_f32, i, v[i]);
	return qn_onnx_out_tensor(o, base, x);
}

/* ---- nodes ---- */

const char *
qn_onnx_out_node(qn_onnx_out *o, const char *op, const char *base, size_t nin,
		 const char *const *in)
{
	Onnx__NodeProto *n = QN_NEW(o->a, Onnx__NodeProto, 1);
	const char *out = qn_onnx_out_name(o, base);

	while (nin > 0 && in[nin - 1] == NULL)
		nin--;
	onnx__node_proto__init(n);
	n->op_type = copy(o, op);
	n->name = copy(o, out);
	n->n_input = nin;
	n->input = QN_NEW(o->a, char *, nin + 1);
	for (size_t i = 0; i < nin; i++)
		n->input[i] = copy(o, in[i] != NULL ? in[i] : "");
	n->n_output = 1;
	n->output = QN_NEW(o->a, char *, 1);
	n->output[0] = copy(o, out);
	o->graph->node = qn_arena_grow(o->a, (void *)o->graph->node, &o->node_cap,
				       o->graph->n_node + 1, sizeof(Onnx__NodeProto *));
	o->graph->node[o->graph->n_node++] = n;
	o->node = n;
	return out;
}

const char *
qn_onnx_out_more(qn_onnx_out *o, const char *base)
{
	const char *out = qn_onnx_out_name(o, base);
	char **list = QN_NEW(o->a, char *, o->node->n_output + 1);

	memcpy(list, o->node->output, o->node->n_output * sizeof *list);
	list[o->node->n_output++] = copy(o, out);
	o->node->output = list;
	return out;
}

const char *
qn_onnx_out_number(qn_onnx_out *o, const char *base, qn_plain plain, double v)
{
	void *data;
	qn_tensor *x = qn_tensor_new(o->a, qn_type_plain(&o->m->types, plain, 0, NULL), &data);

	if (qn_plain_table[plain].is_float)
		qn_store_f64(data, plain, 0, v);
	else
		qn_store_i64(data, plain, 0, (int64_t)v);
	return qn_onnx_out_tensor(o, base, x);
}

static Onnx__AttributeProto *
attribute(qn_onnx_out *o, const char *name, Onnx__AttributeProto__AttributeType type)
{
	Onnx__AttributeProto *a = QN_NEW(o->a, Onnx__AttributeProto, 1);
	Onnx__AttributeProto **list =
		QN_NEW(o->a, Onnx__AttributeProto *, o->node->n_attribute + 1);

	onnx__attribute_proto__init(a);
	a->name = copy(o, name);
	a->has_type = 1;
	a->type = type;
	for (size_t i = 0; i < o->node->n_attribute; i++)
		list[i] = o->node->attribute[i];
	list[o->node->n_attribute++] = a;
	o->node->attribute = list;
	return a;
}

void
qn_onnx_out_int(qn_onnx_out *o, const char *name, int64_t v)
{
	Onnx__AttributeProto *a = attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

	a->has_i = 1;
	a->i = v;
}

void
qn_onnx_out_real(qn_onnx_out *o, const char *name, double v)
{
	Onnx__AttributeProto *a = attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

	a->has_f = 1;
	a->f = (float)v;
}

void
qn_onnx_out_text(qn_onnx_out *o, const char *name, const char *v)
{
	Onnx__AttributeProto *a = attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

	a->has_s = 1;
	a->s.len = strlen(v);
	a->s.data = (uint8_t *)copy(o, v);
}

void
qn_onnx_out_ints(qn_onnx_out *o, const char *name, int32_t n, const int64_t *v)
{
	Onnx__AttributeProto *a = attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

	a->n_ints = (size_t)n;
	a->ints = qn_arena_copy(o->a, v, (size_t)n * sizeof *v);
}

const char *
qn_onnx_out_cast(qn_onnx_out *o, const char *base, const char *x, qn_plain to)
{
	if (x == NULL)
		return NULL;
	x = qn_onnx_out_node(o, "Cast", base, 1, &x);
	qn_onnx_out_int(o, "to", number_of(to));
	return x;
}

/* ---- inputs and outputs ---- */

static Onnx__ValueInfoProto *
value_info(qn_onnx_out *o, const char *name, const qn_type *type)
{
	Onnx__ValueInfoProto *v = QN_NEW(o->a, Onnx__ValueInfoProto, 1);
	Onnx__TypeProto__Tensor *t = QN_NEW(o->a, Onnx__TypeProto__Tensor, 1);

	onnx__value_info_proto__init(v);
	v->name = copy(o, name);
	v->type = QN_NEW(o->a, Onnx__TypeProto, 1);
	onnx__type_proto__init(v->type);
	onnx__type_proto__tensor__init(t);
	v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	v->type->tensor_type = t;
	t->has_elem_type = 1;
	t->elem_type = number_of(type->elem->plain);
	t->shape = QN_NEW(o->a, Onnx__TensorShapeProto, 1);
	onnx__tensor_shape_proto__init(t->shape);
	t->shape->n_dim = (size_t)type->rank;
	t->shape->dim = QN_NEW(o->a, Onnx__TensorShapeProto__Dimension *, t->shape->n_dim + 1);
	for (int32_t i = 0; i < type->rank; i++) {
		t->shape->dim[i] = QN_NEW(o->a, Onnx__TensorShapeProto__Dimension, 1);
		onnx__tensor_shape_proto__dimension__init(t->shape->dim[i]);
		t->shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		t->shape->dim[i]->dim_value = type->dim[i];
	}
	return v;
}

void
qn_onnx_out_input(qn_onnx_out *o, const char *name, const qn_type *type)
{
	o->graph->input = qn_arena_grow(o->a, (void *)o->graph->input, &o->input_cap,
					o->graph->n_input + 1, sizeof(Onnx__ValueInfoProto *));
	o->graph->input[o->graph->n_input++] = value_info(o, name, type);
}

void
qn_onnx_out_output(qn_onnx_out *o, const char *name, const qn_type *type)
{
	o->graph->output = qn_arena_grow(o->a, (void *)o->graph->output, &o->output_cap,
					 o->graph->n_output + 1, sizeof(Onnx__ValueInfoProto *));
	o->graph->output[o->graph->n_output++] = value_info(o, name, type);
}
