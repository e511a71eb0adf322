/* SPDX-License-Identifier: Apache-2.0 */
/* random_blocks.h - texts of random constants in blocks, for graphs as files have them. */
#ifndef QN_TESTS_RANDOM_BLOCKS_H
#define QN_TESTS_RANDOM_BLOCKS_H

#include <stdarg.h>
#include <stdio.h>

#include "passes/passes.h"
#include "tests/e2e/e2e.h"

enum { BLOCKS_CHARS = 60000 };

typedef struct maker {
	builder *b;
	const char *storage; /* of activations */
	char *text;
	size_t n;
} maker;

static inline int
pick(maker *m, int lo, int hi)
{
	return (int)build_random(m->b, lo, hi);
}

__attribute__((format(printf, 2, 3))) static inline void
put(maker *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->n += (size_t)vsnprintf(m->text + m->n, BLOCKS_CHARS - m->n, format, args);
	va_end(args);
	assert_true(m->n < BLOCKS_CHARS);
}

/* "i8:f32, 0.1:3": an activation's parameters. */
static inline void
put_activation(maker *m, double scale)
{
	const int zp = m->storage[1] == '1' ? 0 : pick(m, m->storage[0] == 'u' ? 0 : -128, 127);

	scale *= (double)pick(m, 50, 150) / (m->storage[1] == '1' ? 20000 : 100);
	put(m, "!quant.uniform<%s:f32, %.6f:%d>", m->storage, scale, zp);
}

/* Nested lists of scales: multiples of 2^-12, those of a channel not all alike. */
static inline void
put_scales(maker *m, int rank, const int *count, int zero)
{
	put(m, "{");
	for (int i = 0; i < count[0]; i++) {
		put(m, "%s", i > 0 ? ", " : "");
		if (rank > 1) {
			put_scales(m, rank - 1, count + 1, zero);
			continue;
		}
		put(m, "%.12f", (double)pick(m, 1, pick(m, 0, 3) == 0 ? 1023 : 200) / 4096);
		if (zero > 0)
			put(m, ":%d", pick(m, 0, zero));
	}
	put(m, "}");
}

/* A constant of this shape in blocks; along axis `whole` each index has its own. */
static inline void
put_weights(maker *m, int k, int rank, const int *dim, int whole)
{
	static const char *const storage[] = {"i8", "i4", "i2", "u4", "i4"};
	const int which = pick(m, 0, 4);
	int count[5], blocks = 0;
	bool partial = false;

	put(m, "  %%w%d = const : tensor<", k);
	for (int i = 0; i < rank; i++)
		put(m, "%dx", dim[i]);
	put(m, "!quant.uniform<%s:f32:{", storage[which]);
	for (int i = 0; i < rank; i++) {
		const int block = i == whole ? pick(m, 1, 2) : pick(m, 1, dim[i]);

		count[i] = 1;
		if (i != whole && pick(m, 0, 3) == 0)
			continue; /* one block */
		put(m, "%s%d:%d", blocks++ > 0 ? ", " : "", i, block < dim[i] ? block : dim[i]);
		count[i] = (dim[i] + block - 1) / block;
		partial = partial || dim[i] % (block < dim[i] ? block : dim[i]) != 0;
	}
	put(m, "}%s, ", partial ? "+" : "");
	put_scales(m, rank, count, which == 3 ? 15 : 0);
	put(m, ">> rand %d\n  %%dw%d = dequantize %%w%d\n", pick(m, 1, 9999), k, k);
}

enum { BLOCKS_MOST_OUTPUT = 8192, BLOCKS_MOST_INPUTS = 8 };

/* The outputs of the builder's graph for random inputs, the same at each call: any quantized value, or indices from -25
 * to 25. */
static inline int64_t
run_outputs(builder *b, int64_t *y)
{
	const qn_tensor *x[BLOCKS_MOST_INPUTS];
	qn_interp *interp;
	int64_t n = 0;
	uint64_t seed = b->seed;

	assert_true(b->g->ninput <= BLOCKS_MOST_INPUTS);
	for (size_t k = 0; k < b->g->ninput; k++) {
		const qn_type *type = qn_graph_node(b->g, b->g->input[k])->type;
		const bool is_index = !qn_elem_is_quant(type->elem);
		void *data;

		x[k] = qn_tensor_new(&b->arena, type, &data);
		for (int64_t i = 0; i < qn_type_count(type); i++)
			qn_store_i64(data, type->elem->plain, i,
				     build_random(b, is_index ? -25 : type->elem->qmin,
						  is_index ? 25 : type->elem->qmax));
	}
	b->seed = seed;
	build_check(b, qn_interp_new(b->g, &b->arena, &interp) == QN_OK);
	build_check(b, qn_interp_run(interp, x, NULL, NULL) == QN_OK);
	for (size_t k = 0; k < b->g->noutput; k++) {
		const qn_tensor *out = qn_interp_output(interp, k);

		assert_true(n + qn_type_count(out->type) <= BLOCKS_MOST_OUTPUT);
		for (int64_t i = 0; i < qn_type_count(out->type); i++)
			y[n++] = qn_tensor_i64(out, i);
	}
	return n;
}

/* Makes the graph integer: its outputs stay within one step of the float ones.  Returns how many there are; *inside: how
 * many of them do not saturate. */
static inline int64_t
check_within_one_step(builder *b, int64_t *inside)
{
	static int64_t real[BLOCKS_MOST_OUTPUT], integer[BLOCKS_MOST_OUTPUT];
	const qn_elem *e = qn_graph_node(b->g, b->g->output[0].value)->type->elem;
	const int64_t n = run_outputs(b, real);

	build_check(b, qn_requantize(&b->model, &(qn_requant_opts){.require_int = true}) == QN_OK);
	build_check(b, qn_legalize(&b->model) == QN_OK);
	b->g = qn_model_entry(&b->model);
	assert_int_equal(run_outputs(b, integer), n);
	*inside = 0;
	for (int64_t i = 0; i < n; i++) {
		if (llabs(real[i] - integer[i]) > 1)
			fail_msg("%s: output %lld is %lld, in float %lld", b->model.name,
				 (long long)i, (long long)integer[i], (long long)real[i]);
		*inside += real[i] > e->qmin && real[i] < e->qmax;
	}
	return n;
}

#endif
