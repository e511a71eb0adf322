/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_protobuf.h - writes a small ONNX model, reads it into the model of a test and runs it.
 *
 *   onnx_begin(13);
 *   onnx_input("x", ONNX_FLOAT, DIMS(1, 4));
 *   onnx_const("s", ONNX_FLOAT, DIMS(0), (const double[]){0.5});
 *   onnx_node("", "QuantizeLinear", "x s", "q");      names with blanks between, "-" for one left out
 *   onnx_int("axis", 0);                              an attribute of the last node
 *   onnx_output("q");
 *   onnx_read(); */
#ifndef TESTS_UNIT_ONNX_PROTOBUF_H
#define TESTS_UNIT_ONNX_PROTOBUF_H

#include "tests/unit/run_util.h"

#include <onnx/onnx.pb-c.h>

#include "import/import.h"

enum {
	ONNX_FLOAT = 1,
	ONNX_U8 = 2,
	ONNX_I8 = 3,
	ONNX_I32 = 6,
	ONNX_BOOL = 9,
	ONNX_I4 = 22,
	ONNX_F4 = 23,
	ONNX_MOST = 64
};

#define NO_DIMS                                                                                    \
	0, (const int64_t[])                                                                       \
	{                                                                                          \
		0                                                                                  \
	}
#define DIMS(...)                                                                                  \
	(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])               \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

typedef struct onnx_file {
	Onnx__ModelProto model;
	Onnx__OperatorSetIdProto set[2], *sets[2];
	Onnx__GraphProto graph;
	Onnx__NodeProto *node[ONNX_MOST];
	Onnx__TensorProto *tensor[ONNX_MOST];
	Onnx__ValueInfoProto *input[ONNX_MOST], *output[ONNX_MOST];
} onnx_file;

static onnx_file onnx;
static qn_import_how onnx_how;

static inline void *
onnx_new(size_t bytes)
{
	return qn_arena_alloc(&rg->arena, bytes, 1);
}

static inline char *
onnx_text(const char *s)
{
	return qn_arena_copy(&rg->arena, s, strlen(s) + 1);
}

static inline void
onnx_begin(int64_t version)
{
	memset(&onnx, 0, sizeof onnx);
	onnx_how = (qn_import_how){0};
	onnx__model_proto__init(&onnx.model);
	onnx__graph_proto__init(&onnx.graph);
	for (int i = 0; i < 2; i++) {
		onnx__operator_set_id_proto__init(&onnx.set[i]);
		onnx.sets[i] = &onnx.set[i];
	}
	onnx.set[0].version = version;
	onnx.set[0].has_version = 1;
	onnx.set[1].domain = onnx_text("com.microsoft");
	onnx.set[1].version = 1;
	onnx.set[1].has_version = 1;
	onnx.model.n_opset_import = 2;
	onnx.model.opset_import = onnx.sets;
	onnx.model.graph = &onnx.graph;
	onnx.graph.node = onnx.node;
	onnx.graph.initializer = onnx.tensor;
	onnx.graph.input = onnx.input;
	onnx.graph.output = onnx.output;
}

static inline Onnx__ValueInfoProto *
onnx_value(const char *name)
{
	Onnx__ValueInfoProto *v = onnx_new(sizeof *v);

	onnx__value_info_proto__init(v);
	v->name = onnx_text(name);
	return v;
}

static inline void
onnx_input(const char *name, int type, int rank, const int64_t *dim)
{
	Onnx__ValueInfoProto *v = onnx_value(name);
	Onnx__TypeProto__Tensor *t = onnx_new(sizeof *t);

	v->type = onnx_new(sizeof *v->type);
	onnx__type_proto__init(v->type);
	onnx__type_proto__tensor__init(t);
	v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	v->type->tensor_type = t;
	t->has_elem_type = 1;
	t->elem_type = type;
	t->shape = onnx_new(sizeof *t->shape);
	onnx__tensor_shape_proto__init(t->shape);
	t->shape->n_dim = (size_t)rank;
	t->shape->dim = onnx_new((size_t)rank * sizeof *t->shape->dim);
	for (int i = 0; i < rank; i++) {
		Onnx__TensorShapeProto__Dimension *d = onnx_new(sizeof *d);

		onnx__tensor_shape_proto__dimension__init(d);
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		d->dim_value = dim[i];
		t->shape->dim[i] = d;
	}
	onnx.input[onnx.graph.n_input++] = v;
}

static inline void
onnx_output(const char *name)
{
	onnx.output[onnx.graph.n_output++] = onnx_value(name);
}

/* A scalar has rank 0. */
static inline void
onnx_const(const char *name, int type, int rank, const int64_t *dim, const double *v)
{
	Onnx__TensorProto *t = onnx_new(sizeof *t);
	size_t n = 1;

	onnx__tensor_proto__init(t);
	t->name = onnx_text(name);
	t->has_data_type = 1;
	t->data_type = type;
	t->n_dims = (size_t)rank;
	t->dims = qn_arena_copy(&rg->arena, dim, (size_t)(rank > 0 ? rank : 1) * sizeof *dim);
	for (int i = 0; i < rank; i++)
		n *= (size_t)dim[i];
	float *f = onnx_new(n * sizeof *f);
	int32_t *k = onnx_new(n * sizeof *k);
	for (size_t i = 0; i < n; i++) {
		f[i] = (float)v[i];
		k[i] = (int32_t)v[i];
	}
	if (type == ONNX_I4 || type == ONNX_F4) { /* two in a number of 8 bits */
		for (size_t i = 0; i < n; i += 2)
			k[i / 2] = (k[i] & 15) | (i + 1 < n ? (k[i + 1] & 15) << 4 : 0);
		n = (n + 1) / 2;
	}
	if (type == ONNX_FLOAT) {
		t->n_float_data = n;
		t->float_data = f;
	} else {
		t->n_int32_data = n;
		t->int32_data = k;
	}
	onnx.tensor[onnx.graph.n_initializer++] = t;
}

static inline size_t
onnx_names(const char *names, char ***out)
{
	size_t n = 0;

	*out = onnx_new(ONNX_MOST * sizeof **out);
	while (*names != '\0') {
		size_t k = strcspn(names, " ");
		char *s = onnx_new(k + 1);

		memcpy(s, names, k);
		s[k] = '\0';
		(*out)[n++] = strcmp(s, "-") == 0 ? onnx_text("") : s;
		names += names[k] == ' ' ? k + 1 : k;
	}
	return n;
}

static inline void
onnx_node(const char *domain, const char *op, const char *in, const char *out)
{
	Onnx__NodeProto *n = onnx_new(sizeof *n);

	onnx__node_proto__init(n);
	n->domain = onnx_text(domain);
	n->op_type = onnx_text(op);
	n->name = onnx_text(out);
	n->n_input = onnx_names(in, &n->input);
	n->n_output = onnx_names(out, &n->output);
	n->attribute = onnx_new(ONNX_MOST * sizeof *n->attribute);
	onnx.node[onnx.graph.n_node++] = n;
}

static inline Onnx__AttributeProto *
onnx_attribute(const char *name, int type)
{
	Onnx__NodeProto *n = onnx.node[onnx.graph.n_node - 1];
	Onnx__AttributeProto *a = onnx_new(sizeof *a);

	onnx__attribute_proto__init(a);
	a->name = onnx_text(name);
	a->has_type = 1;
	a->type = (Onnx__AttributeProto__AttributeType)type;
	n->attribute[n->n_attribute++] = a;
	return a;
}

static inline void
onnx_int(const char *name, int64_t v)
{
	Onnx__AttributeProto *a = onnx_attribute(name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

	a->has_i = 1;
	a->i = v;
}

static inline void
onnx_real(const char *name, float v)
{
	Onnx__AttributeProto *a =
		onnx_attribute(name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

	a->has_f = 1;
	a->f = v;
}

static inline void
onnx_ints(const char *name, int n, const int64_t *v)
{
	Onnx__AttributeProto *a = onnx_attribute(name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

	a->n_ints = (size_t)n;
	a->ints = qn_arena_copy(&rg->arena, v, (size_t)n * sizeof *v);
}

static inline qn_status
onnx_try(void)
{
	size_t n = onnx__model_proto__get_packed_size(&onnx.model);
	uint8_t *bytes = onnx_new(n);

	onnx__model_proto__pack(&onnx.model, bytes);
	qn_status status = qn_onnx_read(&rg->m, "f.onnx", NULL, bytes, n, &onnx_how);
	if (status == QN_OK)
		status = qn_model_verify(&rg->m);
	if (status == QN_OK)
		rg->g = qn_model_entry(&rg->m);
	return status;
}

static inline void
onnx_read(void)
{
	qn_status status = onnx_try();

	no_errors();
	assert_int_equal(status, QN_OK);
}

static inline void
onnx_fails(const char *id, const char *words)
{
	assert_int_not_equal(onnx_try(), QN_OK);
	assert_true(rg->diags.n > 0);
	assert_string_equal(rg->diags.item[0].id, id);
	if (strstr(rg->diags.item[0].message, words) == NULL)
		fail_msg("'%s' lacks '%s'", rg->diags.item[0].message, words);
	qn_diags_clear(&rg->env, &rg->diags);
}

#endif
