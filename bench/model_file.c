/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - writes large .onnx and .tflite files, for scripts/bench-import.
 *
 *   bench_model_file N BYTES FILE       n0 -> Relu -> n1 -> Mul n0 -> n2 -> Add w -> n3 …, N nodes, of [1,8]
 *
 * BYTES: of a weight matrix [8, BYTES / 32] of zeros behind them, a hole of the file; 0: none. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/tflite_schema.h"

enum { WIDTH = 8, FEATURES = 4 * WIDTH };

/* Bytes that grow. */
typedef struct bytes {
	uint8_t *data;
	size_t n, room;
} bytes;

static size_t
put(bytes *b, const void *data, size_t n)
{
	size_t at = b->n;

	if (b->n + n > b->room) {
		b->room = 2 * (b->n + n);
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			exit(1);
	}
	if (data != NULL)
		memcpy(b->data + at, data, n);
	else
		memset(b->data + at, 0, n);
	b->n += n;
	return at;
}

/* ---- protobuf's wire format, field numbers of onnx.proto ---- */

static void
varint(bytes *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		put(b, &(uint8_t){(uint8_t)(v | 128)}, 1);
	put(b, &(uint8_t){(uint8_t)v}, 1);
}

static void
number(bytes *b, unsigned field, uint64_t v)
{
	varint(b, field << 3);
	varint(b, v);
}

static void
head(bytes *b, unsigned field, size_t n)
{
	varint(b, field << 3 | 2);
	varint(b, n);
}

/* A message from inner, which is emptied. */
static void
message(bytes *b, unsigned field, bytes *inner)
{
	head(b, field, inner->n);
	put(b, inner->data, inner->n);
	inner->n = 0;
}

static void
text(bytes *b, unsigned field, const char *s)
{
	head(b, field, strlen(s));
	put(b, s, strlen(s));
}

static void
onnx_node(bytes *g, const char *op, const char *x, const char *second, const char *y)
{
	static bytes node;

	text(&node, 1, x);
	if (second != NULL)
		text(&node, 1, second);
	text(&node, 2, y);
	text(&node, 4, op);
	message(g, 1, &node);
}

/* "n7" */
static const char *
name_of(char room[32], long k)
{
	(void)snprintf(room, 32, "n%ld", k);
	return room;
}

static void
onnx_value(bytes *g, unsigned field, const char *name)
{
	static bytes info, type, tensor, shape, dim;

	number(&dim, 1, 1);
	message(&shape, 1, &dim);
	number(&dim, 1, WIDTH);
	message(&shape, 1, &dim);
	number(&tensor, 1, 1);
	message(&tensor, 2, &shape);
	message(&type, 1, &tensor);
	text(&info, 1, name);
	message(&info, 2, &type);
	message(g, field, &info);
}

/* A weight matrix of n bytes stands last in the graph: its bytes are what the file is longer by. */
static bool
write_onnx(long n, size_t payload, FILE *f)
{
	static bytes g, w, file, front;
	char a[32], b[32];
	const float one[WIDTH] = {1, 1, 1, 1, 1, 1, 1, 1};

	text(&g, 2, "net");
	number(&w, 1, WIDTH);
	number(&w, 2, 1);
	text(&w, 8, "w");
	head(&w, 9, sizeof one);
	put(&w, one, sizeof one);
	message(&g, 5, &w);
	for (long k = 0; k < n; k++)
		onnx_node(&g,
			  k % 3 == 0   ? "Relu"
			  : k % 3 == 1 ? "Mul"
				       : "Add",
			  name_of(a, k),
			  k % 3 == 0   ? NULL
			  : k % 3 == 1 ? "n0"
				       : "w",
			  name_of(b, k + 1));
	if (payload > 0)
		onnx_node(&g, "MatMul", name_of(a, n), "big", "y");
	onnx_value(&g, 11, "n0");
	if (payload > 0)
		text(&w, 1, "y"); /* an output without a type */
	else
		text(&w, 1, name_of(a, n));
	message(&g, 12, &w);
	if (payload > 0) {
		number(&w, 1, WIDTH);
		number(&w, 1, payload / FEATURES);
		number(&w, 2, 1);
		text(&w, 8, "big");
		head(&w, 9, payload);
		head(&g, 5, w.n + payload);
		put(&g, w.data, w.n);
	}
	number(&front, 2, 13);
	number(&file, 1, 8);
	message(&file, 8, &front);
	head(&file, 7, g.n + payload);
	put(&file, g.data, g.n);
	return fwrite(file.data, 1, file.n, f) == file.n && fflush(f) == 0 &&
	       ftruncate(fileno(f), (off_t)(file.n + payload)) == 0;
}

/* ---- FlatBuffers: tables from the root on, each with a vtable in front of it and 8 bytes a field ---- */

static void
little(bytes *b, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->data[at + i] = (uint8_t)(v >> (8 * i));
}

static size_t
room(bytes *b, size_t n)
{
	put(b, NULL, (8 - b->n % 8) % 8);
	return put(b, NULL, n);
}

/* All fields absent. */
static size_t
table(bytes *b, unsigned fields)
{
	size_t vtable = room(b, 4 + 2 * (size_t)fields);
	size_t at = room(b, 8 + 8 * (size_t)fields);

	little(b, vtable, 4 + 2 * (uint64_t)fields, 2);
	little(b, vtable + 2, 8 + 8 * (uint64_t)fields, 2);
	little(b, at, at - vtable, 4);
	return at;
}

static void
set(bytes *b, size_t at, unsigned field, uint64_t v, size_t n)
{
	size_t vtable = at - (b->data[at] | (size_t)b->data[at + 1] << 8);

	little(b, vtable + 4 + 2 * (size_t)field, 8 + 8 * (uint64_t)field, 2);
	little(b, at + 8 + 8 * (size_t)field, v, n);
}

static void
lead(bytes *b, size_t table_at, unsigned field, size_t to)
{
	set(b, table_at, field, to - (table_at + 8 + 8 * (size_t)field), 4);
}

static size_t
vector(bytes *b, size_t n, size_t each)
{
	size_t at = room(b, 4 + n * each);

	little(b, at, n, 4);
	return at;
}

/* Element i of a vector of tables becomes a new one. */
static size_t
element(bytes *b, size_t v, size_t i, unsigned fields)
{
	size_t at = table(b, fields);

	little(b, v + 4 + 4 * i, at - (v + 4 + 4 * i), 4);
	return at;
}

static void
ints(bytes *b, size_t table_at, unsigned field, size_t n, const long *v)
{
	size_t at = vector(b, n, 4);

	for (size_t i = 0; i < n; i++)
		little(b, at + 4 + 4 * i, (uint64_t)v[i], 4);
	lead(b, table_at, field, at);
}

/* ---- TFLite: tensors n0 … nN, then w; then big and y where there is a payload ---- */

enum { CODES = 4 };
static const int codes[CODES] = {QN_TFL_RELU, QN_TFL_MUL, QN_TFL_ADD, QN_TFL_FULLY_CONNECTED};

static void
tflite_tensors(bytes *b, size_t graph, long n, size_t payload)
{
	const long columns = (long)(payload / FEATURES);
	size_t v = vector(b, (size_t)n + 2 + (payload > 0 ? 2 : 0), 4);
	char name[32];

	lead(b, graph, QN_TFL_FIELD_graph_tensors, v);
	for (long k = 0; k < n + 2 + (payload > 0 ? 2 : 0); k++) {
		size_t at = element(b, v, (size_t)k, 4);
		const long shape[] = {k == n + 2 ? columns : 1, k == n + 3 ? columns : WIDTH};

		ints(b, at, QN_TFL_FIELD_tensor_shape, 2, shape);
		set(b, at, QN_TFL_FIELD_tensor_buffer, k > n && k < n + 3 ? (uint64_t)(k - n) : 0,
		    4);
		size_t length = strlen(name_of(name, k));
		size_t text_at = vector(b, length, 1);
		memcpy(b->data + text_at + 4, name, length);
		lead(b, at, QN_TFL_FIELD_tensor_name, text_at);
	}
}

static void
tflite_operators(bytes *b, size_t graph, long n, size_t payload)
{
	size_t v = vector(b, (size_t)n + (payload > 0), 4);

	lead(b, graph, QN_TFL_FIELD_graph_operators, v);
	for (long k = 0; k < n + (payload > 0); k++) {
		long code = k == n ? 3 : k % 3;
		size_t at = element(b, v, (size_t)k, 3);
		const long in[] = {k, code == 1 ? 0 : code == 2 ? n + 1 : n + 2};
		const long out[] = {k == n ? n + 3 : k + 1};

		set(b, at, QN_TFL_FIELD_operator_code, (uint64_t)code, 4);
		ints(b, at, QN_TFL_FIELD_operator_inputs, code == 0 ? 1 : 2, in);
		ints(b, at, QN_TFL_FIELD_operator_outputs, 1, out);
	}
}

/* Buffer 0 is empty, 1 is w; 2, the payload, is what the file is longer by. */
static void
tflite_buffers(bytes *b, size_t model, size_t payload)
{
	const uint8_t one[4] = {0, 0, 0x80, 0x3f};
	size_t v = vector(b, payload > 0 ? 3 : 2, 4);

	lead(b, model, QN_TFL_FIELD_model_buffers, v);
	(void)element(b, v, 0, 1);
	size_t w = element(b, v, 1, 1);
	size_t data = vector(b, 4 * (size_t)WIDTH, 1);
	for (size_t i = 0; i < WIDTH; i++)
		memcpy(b->data + data + 4 + 4 * i, one, sizeof one);
	lead(b, w, QN_TFL_FIELD_buffer_data, data);
	if (payload == 0)
		return;
	size_t big = element(b, v, 2, 1);
	data = vector(b, 0, 1);
	little(b, data, payload, 4);
	lead(b, big, QN_TFL_FIELD_buffer_data, data);
}

static bool
write_tflite(long n, size_t payload, FILE *f)
{
	static bytes b;
	const long from[] = {0}, to[] = {payload > 0 ? n + 3 : n};

	put(&b, "\0\0\0\0TFL3", 8);
	size_t model = table(&b, 5);
	little(&b, 0, model, 4);
	set(&b, model, QN_TFL_FIELD_model_version, 3, 4);
	size_t v = vector(&b, CODES, 4);
	lead(&b, model, QN_TFL_FIELD_model_operator_codes, v);
	for (size_t i = 0; i < CODES; i++) {
		size_t at = element(&b, v, i, 4);

		set(&b, at, QN_TFL_FIELD_code_deprecated, (uint64_t)codes[i], 1);
		set(&b, at, QN_TFL_FIELD_code_builtin, (uint64_t)codes[i], 4);
	}
	v = vector(&b, 1, 4);
	lead(&b, model, QN_TFL_FIELD_model_subgraphs, v);
	size_t graph = element(&b, v, 0, 4);
	ints(&b, graph, QN_TFL_FIELD_graph_inputs, 1, from);
	ints(&b, graph, QN_TFL_FIELD_graph_outputs, 1, to);
	tflite_tensors(&b, graph, n, payload);
	tflite_operators(&b, graph, n, payload);
	tflite_buffers(&b, model, payload);
	return fwrite(b.data, 1, b.n, f) == b.n && fflush(f) == 0 &&
	       ftruncate(fileno(f), (off_t)(b.n + payload)) == 0;
}

int
main(int argc, char **argv)
{
	FILE *f = argc == 4 ? fopen(argv[3], "wb") : NULL;

	if (f == NULL) {
		(void)fprintf(stderr, "usage: bench_model_file N BYTES FILE\n");
		return 2;
	}
	const char *end = strrchr(argv[3], '.');
	bool tflite = end != NULL && strcmp(end, ".tflite") == 0;
	bool ok = (tflite ? write_tflite : write_onnx)(strtol(argv[1], NULL, 10),
						       strtoull(argv[2], NULL, 10), f);
	ok = fclose(f) == 0 && ok;
	if (!ok)
		perror(argv[3]);
	return !ok;
}
