/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_writer.h - small ONNX files for tests, written byte by byte (protobuf's wire format, field numbers of
 * onnx.proto).
 *
 *   onx t;
 *   onx_begin(&t);
 *   onx_input(&t, "x", ONX_FLOAT, "N,3,?");            dims: a number, a name, ? for none
 *   onx_floats(&t, "w", "3", (const float[]){1, 2, 3}); an initializer
 *   onx_int(&t, "axis", 1);                            attributes of the next node
 *   onx_node(&t, "Softmax", "x", "y");                 inputs and outputs with commas between
 *   onx_output(&t, "y");
 *   const uint8_t *bytes = onx_end(&t, 13, &n);        of operator set 13 */
#ifndef TESTS_UNIT_ONNX_WRITER_H
#define TESTS_UNIT_ONNX_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/little.h"
#include "tests/unit/onnx_wire.h"

enum {
	ONX_FLOAT = 1,
	ONX_UINT8 = 2,
	ONX_INT8 = 3,
	ONX_UINT16 = 4,
	ONX_INT16 = 5,
	ONX_INT32 = 6,
	ONX_INT64 = 7,
	ONX_STRING = 8,
	ONX_BOOL = 9,
	ONX_FLOAT16 = 10,
	ONX_INT4 = 22,
	ONX_UINT2 = 25,
	ONX_INT2 = 26
};

typedef struct onx {
	onx_bytes graph, functions, function, attrs, file, work, inner, tensor;
	bool in_function;
	const char *domain; /* of the next node; NULL: none */
} onx;

/* ---- types and tensors ---- */

static inline int64_t
onx_digits(const char *s, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

static inline void
onx_value_info(onx *t, int field, const char *name, int elem, const char *dims)
{
	onx_bytes *shape = &t->inner, *tensor = &t->tensor, *info = &t->work;

	shape->n = tensor->n = info->n = 0;
	for (const char *s = dims; dims != NULL && *s != '\0';) {
		size_t n = strcspn(s, ",");
		onx_bytes *dim = tensor;
		dim->n = 0;
		if (onx_digits(s, n) >= 0)
			onx_number(dim, 1, onx_digits(s, n));
		else if (*s != '?')
			onx_field(dim, 2, s, n);
		onx_field(shape, 1, dim->data, dim->n);
		s += n + (s[n] == ',');
	}
	tensor->n = 0;
	onx_number(tensor, 1, elem);
	if (dims != NULL)
		onx_field(tensor, 2, shape->data, shape->n);
	shape->n = 0;
	onx_field(shape, 1, tensor->data, tensor->n); /* TypeProto.tensor_type */
	onx_text(info, 1, name);
	onx_field(info, 2, shape->data, shape->n);
	onx_field(&t->graph, field, info->data, info->n);
}

static inline void
onx_input(onx *t, const char *name, int elem, const char *dims)
{
	onx_value_info(t, 11, name, elem, dims);
}

static inline void
onx_output(onx *t, const char *name)
{
	onx_value_info(t, 12, name, ONX_FLOAT, NULL);
}

/* Bytes of an element. */
static inline size_t
onx_each(int elem)
{
	switch (elem) {
	case ONX_INT64:
		return 8;
	case ONX_FLOAT:
	case ONX_INT32:
		return 4;
	case ONX_UINT16:
	case ONX_INT16:
	case ONX_FLOAT16:
		return 2;
	default:
		return 1;
	}
}

/* A TensorProto in t->tensor. */
static inline void
onx_make_tensor(onx *t, const char *name, int elem, const char *dims, const void *data, size_t n)
{
	t->tensor.n = 0;
	for (const char *s = dims; *s != '\0';) {
		size_t k = strcspn(s, ",");
		onx_number(&t->tensor, 1, onx_digits(s, k));
		s += k + (s[k] == ',');
	}
	onx_number(&t->tensor, 2, elem);
	onx_text(&t->tensor, 8, name);
	if (data != NULL) {
		static uint8_t bytes[ONX_ROOM];
		bool fits = n <= sizeof bytes;

		if (fits)
			put_little(bytes, data, n, onx_each(elem));
		onx_field(&t->tensor, 9, bytes, fits ? n : 0);
	}
}

static inline void
onx_tensor(onx *t, const char *name, int elem, const char *dims, const void *data, size_t n)
{
	onx_make_tensor(t, name, elem, dims, data, n);
	onx_field(&t->graph, 5, t->tensor.data, t->tensor.n);
}

/* How many elements "2,3" has. */
static inline size_t
onx_count(const char *dims)
{
	size_t n = 1;

	for (const char *s = dims; *s != '\0';) {
		size_t k = strcspn(s, ",");
		n *= (size_t)onx_digits(s, k);
		s += k + (s[k] == ',');
	}
	return n;
}

static inline void
onx_floats(onx *t, const char *name, const char *dims, const float *v)
{
	onx_tensor(t, name, ONX_FLOAT, dims, v, 4 * onx_count(dims));
}

static inline void
onx_ints64(onx *t, const char *name, const char *dims, const int64_t *v)
{
	onx_tensor(t, name, ONX_INT64, dims, v, 8 * onx_count(dims));
}

/* Data in another file. */
static inline void
onx_external(onx *t, const char *name, int elem, const char *dims, const char *path,
	     const char *offset)
{
	const char *const rows[][2] = {{"location", path}, {"offset", offset}};

	onx_make_tensor(t, name, elem, dims, NULL, 0);
	for (int i = 0; i < 2; i++) {
		t->inner.n = 0;
		onx_text(&t->inner, 1, rows[i][0]);
		onx_text(&t->inner, 2, rows[i][1]);
		onx_field(&t->tensor, 13, t->inner.data, t->inner.n);
	}
	onx_number(&t->tensor, 14, 1);
	onx_field(&t->graph, 5, t->tensor.data, t->tensor.n);
}

/* ---- attributes and nodes ---- */

static inline void
onx_attr_begin(onx *t, const char *name)
{
	t->work.n = 0;
	onx_text(&t->work, 1, name);
}

static inline void
onx_attr_end(onx *t)
{
	onx_field(&t->attrs, 5, t->work.data, t->work.n);
}

static inline void
onx_int(onx *t, const char *name, int64_t v)
{
	onx_attr_begin(t, name);
	onx_number(&t->work, 3, v);
	onx_number(&t->work, 20, 2);
	onx_attr_end(t);
}

static inline void
onx_real(onx *t, const char *name, float v)
{
	onx_attr_begin(t, name);
	onx_float(&t->work, 2, v);
	onx_number(&t->work, 20, 1);
	onx_attr_end(t);
}

static inline void
onx_string(onx *t, const char *name, const char *v)
{
	onx_attr_begin(t, name);
	onx_text(&t->work, 4, v);
	onx_number(&t->work, 20, 3);
	onx_attr_end(t);
}

static inline void
onx_list(onx *t, const char *name, int n, const int64_t *v)
{
	onx_attr_begin(t, name);
	for (int i = 0; i < n; i++)
		onx_number(&t->work, 8, v[i]);
	onx_number(&t->work, 20, 7);
	onx_attr_end(t);
}

static inline void
onx_reals(onx *t, const char *name, int n, const float *v)
{
	onx_attr_begin(t, name);
	for (int i = 0; i < n; i++)
		onx_float(&t->work, 7, v[i]);
	onx_number(&t->work, 20, 6);
	onx_attr_end(t);
}

static inline void
onx_strings(onx *t, const char *name, int n, const char *const *v)
{
	onx_attr_begin(t, name);
	for (int i = 0; i < n; i++)
		onx_text(&t->work, 9, v[i]);
	onx_number(&t->work, 20, 8);
	onx_attr_end(t);
}

/* In a function: the attribute of the call. */
static inline void
onx_refer(onx *t, const char *name, const char *attribute)
{
	onx_attr_begin(t, name);
	onx_text(&t->work, 21, attribute);
	onx_attr_end(t);
}

/* A body: the nodes, tensors and outputs of another writer. */
static inline void
onx_body(onx *t, const char *name, const onx *body)
{
	onx_attr_begin(t, name);
	onx_field(&t->work, 6, body->graph.data, body->graph.n);
	onx_number(&t->work, 20, 5);
	onx_attr_end(t);
}

static inline void
onx_node(onx *t, const char *op, const char *in, const char *out)
{
	t->work.n = 0;
	onx_words(&t->work, 1, in);
	onx_words(&t->work, 2, out);
	onx_text(&t->work, 4, op);
	onx_raw(&t->work, t->attrs.data, t->attrs.n);
	if (t->domain != NULL)
		onx_text(&t->work, 7, t->domain);
	t->attrs.n = 0;
	onx_field(t->in_function ? &t->function : &t->graph, t->in_function ? 7 : 1, t->work.data,
		  t->work.n);
}

/* ---- functions and the file ---- */

/* Nodes up to onx_function_end are the function's. */
static inline void
onx_function(onx *t, const char *domain, const char *name, const char *in, const char *out)
{
	t->function.n = 0;
	onx_text(&t->function, 1, name);
	onx_text(&t->function, 10, domain);
	onx_words(&t->function, 4, in);
	onx_words(&t->function, 5, out);
	t->in_function = true;
}

static inline void
onx_sets(onx *t, onx_bytes *b, int field, int64_t version)
{
	t->inner.n = 0;
	onx_text(&t->inner, 1, "");
	onx_number(&t->inner, 2, version);
	onx_field(b, field, t->inner.data, t->inner.n);
}

static inline void
onx_function_end(onx *t, int64_t version)
{
	onx_sets(t, &t->function, 9, version);
	onx_field(&t->functions, 25, t->function.data, t->function.n);
	t->in_function = false;
}

static inline void
onx_begin(onx *t)
{
	t->graph.n = t->functions.n = t->attrs.n = t->file.n = 0;
	t->in_function = false;
	t->domain = NULL;
}

static inline const uint8_t *
onx_end(onx *t, int64_t version, size_t *n)
{
	t->file.n = 0;
	onx_number(&t->file, 1, 8);
	onx_sets(t, &t->file, 8, version);
	onx_field(&t->file, 7, t->graph.data, t->graph.n);
	onx_raw(&t->file, t->functions.data, t->functions.n);
	*n = t->file.n;
	return t->file.data;
}

#endif
