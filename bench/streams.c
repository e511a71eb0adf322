/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c - one graph a row: an operator on an image [1, side, side, 16] of f32. */
#include "bench/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 16 };

static qn_id
made(maker *k, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs)
{
	qn_id id = qn_graph_op(k->g, op, NULL, nin, in, attrs, NULL);

	if (id == 0) {
		fprintf(stderr, "bench: %s does not take this\n", qn_opinfo_get(op)->name);
		exit(1);
	}
	return id;
}

static qn_id
simple(maker *k, qn_op op, qn_id x)
{
	return made(k, op, 1, &x, NULL);
}

static qn_id
both(maker *k, qn_op op, qn_id x, qn_id y)
{
	return made(k, op, 2, (const qn_id[]){x, y}, NULL);
}

static qn_id
vector(maker *k)
{
	void *data;
	const qn_type *t = qn_type_plain(&k->m.types, QN_PLAIN_f32, 1, (int64_t[]){CHANNELS});
	qn_tensor *x = qn_tensor_new(k->m.arena, t, &data);

	for (int i = 0; i < CHANNELS; i++)
		((float *)data)[i] = maker_random(k);
	return qn_graph_const(k->g, NULL, x);
}

static qn_id
relu(maker *k, qn_id x)
{
	return simple(k, QN_OP_relu, x);
}

static qn_id
add(maker *k, qn_id x)
{
	return both(k, QN_OP_add, x, x);
}

static qn_id
sub(maker *k, qn_id x)
{
	return both(k, QN_OP_sub, x, x);
}

static qn_id
maximum(maker *k, qn_id x)
{
	return both(k, QN_OP_maximum, x, x);
}

static qn_id
add_vector(maker *k, qn_id x)
{
	return both(k, QN_OP_add, x, vector(k));
}

static qn_id
mul_vector(maker *k, qn_id x)
{
	return both(k, QN_OP_mul, x, vector(k));
}

static qn_id
chain(maker *k, qn_id x)
{
	return relu(k, add_vector(k, mul_vector(k, x)));
}

static qn_id
transposed(maker *k, qn_id x, const int64_t perm[4])
{
	qn_attrs *a = QN_NEW(k->m.arena, qn_attrs, 1);

	a->perm.perm = (qn_list){4, {perm[0], perm[1], perm[2], perm[3]}};
	return made(k, QN_OP_transpose, 1, &x, a);
}

static qn_id
channels_first(maker *k, qn_id x)
{
	return transposed(k, x, (const int64_t[]){0, 3, 1, 2});
}

static qn_id
columns_first(maker *k, qn_id x)
{
	return transposed(k, x, (const int64_t[]){0, 2, 1, 3});
}

static qn_id
pad(maker *k, qn_id x)
{
	qn_attrs *a = QN_NEW(k->m.arena, qn_attrs, 1);

	qn_attrs_default(QN_ATTRS(pad), a);
	a->pad.before = (qn_list){4, {0, 1, 1, 0}};
	a->pad.after = (qn_list){4, {0, 1, 1, 0}};
	return made(k, QN_OP_pad, 1, &x, a);
}

/* Every other column. */
static qn_id
slice(maker *k, qn_id x)
{
	qn_attrs *a = QN_NEW(k->m.arena, qn_attrs, 1);
	const int64_t *dim = qn_graph_node(k->g, x)->type->dim;

	qn_attrs_default(QN_ATTRS(slice), a);
	a->slice.begin = (qn_list){4, {0, 0, 0, 0}};
	a->slice.end = (qn_list){4, {dim[0], dim[1], dim[2], dim[3]}};
	a->slice.step = (qn_list){4, {1, 1, 2, 1}};
	return made(k, QN_OP_slice, 1, &x, a);
}

static const struct {
	const char *name;
	qn_id (*build)(maker *k, qn_id x);
	int steps; /* nodes that read and write all of it */
} rows[] = {
	{"relu", relu, 1},
	{"add", add, 1},
	{"sub", sub, 1},
	{"maximum", maximum, 1},
	{"add a vector", add_vector, 1},
	{"mul by a vector", mul_vector, 1},
	{"mul, add, relu", chain, 3},
	{"transpose 0 3 1 2", channels_first, 1},
	{"transpose 0 2 1 3", columns_first, 1},
	{"pad", pad, 1},
	{"slice by 2", slice, 1},
};

typedef struct copy {
	char *from, *to;
	size_t bytes;
} copy;

static void
run_copy(void *arg)
{
	copy *c = arg;

	memcpy(c->to, c->from, c->bytes);
}

/* Prints GB/s and the ratio to a memcpy of as many bytes as the last result has. */
static void
time_row(size_t row, int64_t side)
{
	bench b;
	jmp_buf oom;

	bench_begin(&b, &oom);
	if (setjmp(oom) != 0)
		exit(1);
	qn_id x = maker_input(&b.k, 4, (int64_t[]){1, side, side, CHANNELS});
	qn_id y = rows[row].build(&b.k, x);
	bench_prepare(&b, y, 1);
	size_t bytes = qn_type_bytes(qn_graph_node(b.k.g, y)->type);
	copy in = {QN_NEW(&b.arena, char, b.x->bytes), QN_NEW(&b.arena, char, b.x->bytes),
		   b.x->bytes};
	copy out = {in.to, QN_NEW(&b.arena, char, bytes), bytes};
	double load = bench_smallest(run_copy, &in); /* of the input into its place */
	double own = bench_smallest(bench_run, &b) - load;
	double other = bench_smallest(run_copy, &out) * rows[row].steps;

	printf(" %8.1f %7.2f", 2e-9 * (double)bytes * rows[row].steps / own, other / own);
	qn_arena_release(&b.arena);
}

void
time_streams(void)
{
	printf("\n%-18s %8s %7s %8s %7s   GB/s read and written, beside memcpy\n", "op", "64 KiB",
	       "ratio", "16 MiB", "ratio");
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		printf("%-18s", rows[i].name);
		time_row(i, 32);
		time_row(i, 512);
		printf("\n");
	}
}
