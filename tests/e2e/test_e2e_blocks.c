/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in blocks, each with a scale of its own: random layers as files have them, dequantized weights and
 * a float product, become integers alone.  These give what the float graph gives, within the one step of
 * their roundings, and the emitted C the bytes of the interpreter. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>

#include "passes/passes.h"
#include "tests/e2e/random_blocks.h"

enum { SAMPLES = 4, EXTREMES = 3, GRAPHS = 8, FULL_GRAPHS = 60, LAYERS = 5 };

enum { DENSE, MATMUL, CONV1D, CONV2D, TRANSPOSED, CONV3D, KINDS };

typedef struct layer {
	int kind, rank, x[5], w[5], stride, dilation, groups;
	bool same; /* padding */
} layer;

static layer
random_layer(maker *m)
{
	static const int rank[KINDS] = {2, 2, 3, 4, 4, 5};
	layer l = {.kind = pick(m, 0, KINDS - 1),
		   .stride = pick(m, 1, 2),
		   .dilation = pick(m, 1, 2),
		   .groups = 1,
		   .same = pick(m, 0, 1) != 0};
	const int in = pick(m, 1, 40), out = pick(m, 1, 9);

	l.rank = rank[l.kind];
	if (l.rank == 2) {
		l.x[0] = pick(m, 1, 3);
		l.x[1] = in;
		l.w[0] = l.kind == DENSE ? out : in;
		l.w[1] = l.kind == DENSE ? in : out;
		return l;
	}
	l.groups = pick(m, 0, 2) == 0 ? pick(m, 2, 4) : 1;
	l.x[0] = 1;
	const bool large = l.kind == TRANSPOSED || l.kind == CONV3D; /* in results or weights */
	for (int i = 1; i < l.rank - 1; i++) {
		l.x[i] = large ? pick(m, 3, 5) : pick(m, 5, 8);
		l.w[i] = pick(m, 1, l.kind == CONV3D ? 2 : 3);
	}
	l.w[l.rank - 1] = pick(m, 1, l.groups > 1 ? 3 : large ? 8 : 20);
	l.x[l.rank - 1] = l.w[l.rank - 1] * l.groups;
	l.w[0] = l.groups * pick(m, 1, l.groups > 1 ? 2 : 7);
	return l;
}

static int
windows(const layer *l, int axis)
{
	if (l->kind == TRANSPOSED)
		return l->same ? l->x[axis] * l->stride
			       : (l->x[axis] - 1) * l->stride + (l->w[axis] - 1) * l->dilation + 1;
	return l->same ? (l->x[axis] + l->stride - 1) / l->stride
		       : (l->x[axis] - l->dilation * (l->w[axis] - 1) - 1) / l->stride + 1;
}

static void
put_result(maker *m, int k, const layer *l)
{
	put(m, "  %%r%d = quantize %%y%d : tensor<%dx", k, k, l->x[0]);
	for (int i = 1; i < l->rank - 1; i++)
		put(m, "%dx", windows(l, i));
	put(m, "%dx", l->kind == MATMUL ? l->w[1] : l->w[0]);
	put_activation(m, 0.3 * pick(m, 1, 6));
	put(m, ">\n");
}

/* An attribute of convolutions, the same along all axes. */
static void
put_sizes(maker *m, const char *name, int axes, int size)
{
	put(m, ", %s = ", name);
	for (int i = 0; i < axes; i++)
		put(m, "%s%d", i > 0 ? ", " : axes > 1 ? "[" : "", size);
	if (axes > 1)
		put(m, "]");
}

static void
put_layer(maker *m, int k, const layer *l)
{
	static const char *const op[] = {"dense",  "matmul",           "conv1d",
					 "conv2d", "conv2d_transpose", "conv3d"};
	const bool bias = l->kind != MATMUL && pick(m, 0, 1) != 0;
	const char *padding = l->same ? "same" : "valid";

	put(m, "  %%dx%d = dequantize %%x%d\n", k, k);
	put_weights(m, k, l->rank, l->w, l->kind == MATMUL ? 1 : 0);
	if (bias)
		put(m, "  %%b%d = const : tensor<%dxf32> rand %d\n", k, l->w[0], pick(m, 1, 9999));
	put(m, "  %%y%d = %s %%dx%d, %%dw%d", k, op[l->kind], k, k);
	if (bias)
		put(m, ", %%b%d", k);
	if (l->rank > 2) {
		put(m, " {padding = %s, groups = %d", padding, l->groups);
		put_sizes(m, "stride", l->rank - 2, l->stride);
		put_sizes(m, "dilation", l->rank - 2, l->dilation);
		put(m, "}");
	}
	put(m, "\n");
	put_result(m, k, l);
}

/* Layers beside each other, each with an input of its own. */
static void
make_text(maker *m)
{
	layer l[LAYERS];

	put(m, "model \"blocks\" stage calibrated\ngraph @main(");
	for (int k = 0; k < LAYERS; k++) {
		l[k] = random_layer(m);
		put(m, "%s%%x%d: tensor<", k > 0 ? ", " : "", k);
		for (int i = 0; i < l[k].rank; i++)
			put(m, "%dx", l[k].x[i]);
		put_activation(m, 0.05);
		put(m, ">");
	}
	put(m, ") {\n");
	for (int k = 0; k < LAYERS; k++)
		put_layer(m, k, &l[k]);
	put(m, "  return ");
	for (int k = 0; k < LAYERS; k++)
		put(m, "%s%%r%d", k > 0 ? ", " : "", k);
	put(m, "\n}\n");
}

static void
check(builder *b)
{
	int64_t inside;
	const int64_t n = check_within_one_step(b, &inside);

	assert_true(inside > n / 4); /* not all of them saturate */
	e2e_check(b, SAMPLES);
}

static void
random_layers(void **state)
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

/* One row of so many blocks of 32 weights -8, mantissas 255 but for one, and data 255 from its zero point. */
static void
put_row(maker *m, int blocks)
{
	m->n = 0;
	put(m,
	    "model \"row\" stage calibrated\n"
	    "graph @main(%%x: tensor<1x%dx!quant.uniform<i8:f32, 0.5:-128>>) {\n"
	    "  %%w = const : tensor<1x%dx!quant.uniform<i4:f32:{0:1, 1:32}, {{1.0",
	    32 * blocks, 32 * blocks);
	for (int i = 1; i < blocks; i++)
		put(m, ", 255.0");
	put(m, "}}>> splat -8\n  %%dx = dequantize %%x\n  %%dw = dequantize %%w\n"
	       "  %%y = dense %%dx, %%dw\n"
	       "  %%r = quantize %%y : tensor<1x1x!quant.uniform<i8:f32, 10000000.0:127>>\n"
	       "  return %%r\n}\n");
}

/* The accumulator has 32 bits as long as no data can make it overflow, then 64. */
static void
accumulators(void **state)
{
	static const struct {
		int blocks, bits;
	} rows[] = {{129, 32}, {130, 32}, {131, 64}, {256, 64}};
	static char text[BLOCKS_CHARS];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		builder b;
		maker m = {.b = &b, .text = text};

		put_row(&m, rows[i].blocks);
		build_parse(&b, text);
		build_check(&b, qn_requantize(&b.model, &(qn_requant_opts){.require_int = true}) ==
					QN_OK);
		build_check(&b, qn_legalize(&b.model) == QN_OK);
		b.g = qn_model_entry(&b.model);
		for (qn_id id = 1; id < b.g->n; id++)
			if (qn_graph_node(b.g, id)->op == QN_OP_dense)
				assert_int_equal(qn_graph_node(b.g, id)->type->elem->bits,
						 rows[i].bits);
		e2e_check(&b, EXTREMES); /* of all, avr-gcc's arrays end at 32 KB */
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_layers),
		cmocka_unit_test(accumulators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
