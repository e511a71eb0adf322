/* SPDX-License-Identifier: Apache-2.0 */
/* random_blocks.h - texts of random constants in blocks, for graphs as files have them. */
#ifndef QN_TESTS_RANDOM_BLOCKS_H
#define QN_TESTS_RANDOM_BLOCKS_H

#include <stdarg.h>
#include <stdio.h>

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
	int count[4], blocks = 0;
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

#endif
