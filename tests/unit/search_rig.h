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

#endif
