/* SPDX-License-Identifier: Apache-2.0 */
/* Gather from constant tables in blocks, or with a scale for each index, by random indices: what the float graph gives,
 * within one step, and the emitted C the bytes of the interpreter. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "passes/passes.h"
#include "tests/e2e/random_blocks.h"

enum { SAMPLES = 3, GRAPHS = 9, FULL_GRAPHS = 60, TABLES = 4 };

typedef struct table {
	int rank, dim[4], axis, index_rank, index[2];
	bool wide, constant; /* indices: i64; of a constant */
} table;

static table
random_table(maker *m)
{
	table t = {.rank = pick(m, 2, 4),
		   .index_rank = pick(m, 0, 2),
		   .wide = pick(m, 0, 1) != 0,
		   .constant = pick(m, 0, 3) == 0};

	for (int i = 0; i < t.rank; i++)
		t.dim[i] = pick(m, 1, t.rank == 2 ? 20 : 6);
	for (int i = 0; i < t.index_rank; i++)
		t.index[i] = pick(m, 1, 4);
	t.axis = pick(m, 0, 2) == 0 ? pick(m, 1, t.rank - 1) : 0;
	return t;
}

static void
put_dims(maker *m, int n, const int *dim)
{
	for (int i = 0; i < n; i++)
		put(m, "%dx", dim[i]);
}

/* A scale for each index of the axis. */
static void
put_rows(maker *m, int k, const table *t)
{
	static const char *const storage[] = {"i8", "i4", "i2", "u4"};

	put(m, "  %%w%d = const : tensor<", k);
	put_dims(m, t->rank, t->dim);
	put(m, "!quant.uniform<%s:f32:%d, ", storage[pick(m, 0, 3)], t->axis);
	put_scales(m, 1, &t->dim[t->axis], 0);
	put(m, ">> rand %d\n  %%dw%d = dequantize %%w%d\n", pick(m, 1, 9999), k, k);
}

static void
put_index(maker *m, int k, const table *t)
{
	int count = 1;

	put(m, "  %%i%d = const : tensor<", k);
	put_dims(m, t->index_rank, t->index);
	put(m, "%s> ", t->wide ? "i64" : "i32");
	for (int i = 0; i < t->index_rank; i++)
		count *= t->index[i];
	for (int i = 0; i < count; i++)
		put(m, "%s%d", i > 0 ? ", " : "[", pick(m, -t->dim[t->axis], t->dim[t->axis] - 1));
	put(m, "]\n");
}

static void
put_table(maker *m, int k, const table *t)
{
	if (pick(m, 0, 2) == 0)
		put_rows(m, k, t);
	else
		put_weights(m, k, t->rank, t->dim, pick(m, 0, t->rank) - 1);
	if (t->constant)
		put_index(m, k, t);
	put(m, "  %%y%d = gather %%dw%d, %%i%d {axis=%d}\n  %%r%d = quantize %%y%d : tensor<", k, k,
	    k, t->axis, k, k);
	put_dims(m, t->axis, t->dim);
	put_dims(m, t->index_rank, t->index);
	put_dims(m, t->rank - t->axis - 1, t->dim + t->axis + 1);
	put_activation(m, 0.01 * pick(m, 1, 8));
	put(m, ">\n");
}

/* The indices of the first table vary, as a graph has an input. */
static void
make_text(maker *m)
{
	table t[TABLES];

	put(m, "model \"embedding\" stage calibrated\ngraph @main(");
	for (int k = 0; k < TABLES; k++) {
		t[k] = random_table(m);
		t[k].constant = t[k].constant && k > 0;
		if (t[k].constant)
			continue;
		put(m, "%s%%i%d: tensor<", k > 0 ? ", " : "", k);
		put_dims(m, t[k].index_rank, t[k].index);
		put(m, "%s>", t[k].wide ? "i64" : "i32");
	}
	put(m, ") {\n");
	for (int k = 0; k < TABLES; k++)
		put_table(m, k, &t[k]);
	put(m, "  return ");
	for (int k = 0; k < TABLES; k++)
		put(m, "%s%%r%d", k > 0 ? ", " : "", k);
	put(m, "\n}\n");
}

static void
check(builder *b)
{
	int64_t inside;

	(void)check_within_one_step(b, &inside);
	e2e_check(b, SAMPLES);
}

static void
random_tables(void **state)
{
	static const char *const storage[] = {"i8", "u8", "i16"};
	static char text[BLOCKS_CHARS];
	const char *full = getenv("QUERN_FULL");
	const int graphs = full != NULL && strcmp(full, "1") == 0 ? FULL_GRAPHS : GRAPHS;

	(void)state;
	for (int k = 0; k < graphs; k++) {
		builder b;
		maker m = {.b = &b, .storage = storage[k % 3], .text = text};

		build_begin(&b, "draw", (uint64_t)k + 1);
		make_text(&m);
		build_end(&b);
		build_parse(&b, text);
		check(&b);
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_tables)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
