/* SPDX-License-Identifier: Apache-2.0 */
/* search_rig.h - for tests of the method "output": a model, its samples and the quantized text. */
#ifndef TESTS_UNIT_SEARCH_RIG_H
#define TESTS_UNIT_SEARCH_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "quern/measure.h"
#include "quern/patterns.h"

enum { IN = 8, OUT = 4, SAMPLES = 40, TEXT = 1 << 14 };

static const char quantized[] = "clean,partition,quantize,calibrate,bind";

typedef struct rig {
	qn_ctx *ctx;
	qn_array *x;
	qn_model *m;
} rig;

static inline qn_status
compile(rig *r, qn_compile_opts o)
{
	o.calib = &r->x;
	o.ncalib = 1;
	return qn_compile(r->m, &o);
}

/* Quantizes a dense: its data and weights, with its sums. */
static inline qn_id
quantize_dense(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_graph *before = qn_quantizing_before(q);
	const qn_id fc = qn_match_root(qn_quantizing_match(q));
	const char *name = qn_value(before, fc).name;
	qn_id in[2];

	(void)user;
	in[0] = qn_quantize_activation(q, qn_match_get(m, "x"), name, "x");
	in[1] = qn_quantize_weights(q, qn_match_get(m, "w"), name, "w", -1);
	return qn_dequantize(q, qn_quantizing_op(q, fc, "fc.acc", 2, in), name);
}

#endif
