/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - writes large .onnx files, for scripts/bench-import.
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

int
main(int argc, char **argv)
{
	FILE *f = argc == 4 ? fopen(argv[3], "wb") : NULL;

	if (f == NULL) {
		(void)fprintf(stderr, "usage: bench_model_file N BYTES FILE\n");
		return 2;
	}
	bool ok = write_onnx(strtol(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), f);
	ok = fclose(f) == 0 && ok;
	if (!ok)
		perror(argv[3]);
	return !ok;
}
