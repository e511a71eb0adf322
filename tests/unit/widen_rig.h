/* SPDX-License-Identifier: Apache-2.0 */
/* widen_rig.h - for tests of 16-bit activations where a range needs it: networks in which layers are planted. */
#ifndef TESTS_UNIT_WIDEN_RIG_H
#define TESTS_UNIT_WIDEN_RIG_H

#include "graph_fixture.h"

#include <stdio.h>

#include "quern/calibrate.h"
#include "quern/measure.h"

enum { SAMPLES = 64, WIDE = 16, TEXT = 1 << 17 };

static uint32_t seed;

/* -1 … 1 */
static inline double
draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (double)(seed >> 8) / (1 << 23) - 1;
}

static char text[TEXT];
static size_t length;

static inline void
put(const char *more)
{
	const size_t n = strlen(more);

	assert_true(length + n < TEXT);
	memcpy(text + length, more, n + 1);
	length += n;
}

/* A matrix of WIDE rows and columns: of the first row times `row`, of the first column times `column`. */
static inline void
put_weights(const char *name, double row, double column)
{
	char piece[80];

	(void)snprintf(piece, sizeof piece, "  %%%s = const : tensor<%dx%dxf32> [", name, WIDE,
		       WIDE);
	put(piece);
	for (int i = 0; i < WIDE; i++)
		for (int k = 0; k < WIDE; k++) {
			(void)snprintf(piece, sizeof piece, "%s%.6f", i + k > 0 ? ", " : "",
				       draw() * (i == 0 ? row : 1) * (k == 0 ? column : 1));
			put(piece);
		}
	put("]\n");
}

/* Where a range is so wide that 8 bits are of no use: an element that is 300 times as large as the others, and that the
 * layers which read it do not count.  IN_CHAIN: sums and quotients before the layers, of which one alone brings nothing. */
typedef enum plant { NOWHERE, IN_INPUT, IN_ONE, IN_TWO, IN_SHARED, IN_CHAIN } plant;

/* (x * 0.02 + c - c) / 0.02 with large numbers c, as data is normalized. */
static inline void
put_chain(void)
{
	put("  %far = const : tensor<16xf32> rand 4\n  %k = const : tensor<f32> [8.0]\n  %c = mul "
	    "%far, %k\n"
	    "  %s = const : tensor<f32> [0.02]\n  %small = mul %x, %s\n  %raw = add %small, %c\n"
	    "  %centred = sub %raw, %c\n  %from = div %centred, %s\n");
}

static inline void
make_text(plant p)
{
	const bool one = p == IN_ONE || p == IN_TWO;

	length = 0;
	seed = 7;
	put("model \"net\" stage float\ngraph @main(%x: tensor<1x16xf32>) {\n");
	put_weights("w1", p == IN_TWO ? 300 : 1, p == IN_INPUT ? 0 : 1);
	if (p == IN_CHAIN)
		put_chain();
	put(p == IN_CHAIN ? "  %fc1 = dense %from, %w1\n" : "  %fc1 = dense %x, %w1\n");
	put("  %r1 = relu %fc1\n");
	put_weights("w2", one ? 300 : 1, p == IN_TWO ? 0 : 1);
	put("  %fc2 = dense %r1, %w2\n  %r2 = relu %fc2\n");
	put_weights("w3", p == IN_SHARED ? 300 : 1, one ? 0 : 1);
	put("  %fc3 = dense %r2, %w3\n  %r3 = relu %fc3\n");
	put_weights("w4", 1, p == IN_SHARED ? 0 : 1);
	put("  %fc4 = dense %r3, %w4\n");
	put_weights("w5", 1, p == IN_SHARED ? 0 : 1);
	put("  %fc5 = dense %r3, %w5\n  return %fc4, %fc5\n}\n");
}

typedef struct rig {
	qn_ctx *ctx;
	qn_model *m, *real;
	qn_array *x;
} rig;

/* held: what the samples that are held back are multiplied with. */
static inline rig
make(plant p, int threads, float held)
{
	rig r = {.ctx = qn_open(&(qn_config){.threads = threads})};
	const int64_t shape[] = {SAMPLES, WIDE};
	float data[SAMPLES * WIDE];

	seed = 5;
	for (int i = 0; i < SAMPLES * WIDE; i++) {
		data[i] = (float)draw() * (p == IN_INPUT && i % WIDE == 0 ? 300.0f : 1.0f);
		data[i] *= i / WIDE % 4 == 3 ? held : 1;
	}
	make_text(p);
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, shape, data, &r.x), QN_OK);
	assert_int_equal(qn_file_add(r.ctx, "net.qir", text, length), QN_OK);
	assert_int_equal(qn_load(r.ctx, "net.qir", &r.m), QN_OK);
	assert_int_equal(qn_load(r.ctx, "net.qir", &r.real), QN_OK);
	return r;
}

static inline qn_status
compile(rig *r, qn_compile_opts o)
{
	o.calib = &r->x;
	o.ncalib = 1;
	return qn_compile(r->m, &o);
}

static const qn_compile_opts narrow = {.activations = QN_ACTIVATIONS_I8},
			     wide = {.activations = QN_ACTIVATIONS_I16},
			     automatic = {.activations = QN_ACTIVATIONS_AUTO};

#endif
