/* SPDX-License-Identifier: Apache-2.0 */
/* host_kernels.h - a network with a dense layer whose weights are in q8_0, and a kernel of a host for it. */
#ifndef QN_TESTS_HOST_KERNELS_H
#define QN_TESTS_HOST_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"
#include "quern/kernels.h"
#include "quern/measure.h"
#include "tests/e2e/both.h"

enum { SAMPLES = 6, IN = 64, OUT = 5, TEXT_MOST = 1 << 16 };

static const char net[] = "model \"t\" stage float\ngraph @main(%x: tensor<1x64xf32>) {\n"
			  "  %w = const : tensor<5x64x!quant.uniform<i8:f32:{0:1, 1:32}, {{0.01, "
			  "0.02}, {0.03, 0.01}, "
			  "{0.005, 0.01}, {0.02, 0.02}, {0.01, 0.04}}>> rand 1\n"
			  "  %dw = dequantize %w\n"
			  "  %fc = dense %x, %dw\n"
			  "  %y = relu %fc\n"
			  "  return %y\n}\n";

/* ---- a dense layer with weights in q8_0 ---- */

static size_t runs; /* of the function; contexts of these tests have one thread */

/* Of data of one byte, signed (p[4] 1) or not. */
BOTH(
	dense_q8, static void dense_q8(const int32_t *p, const void *const *in, void *out) {
		const int8_t *x = (const int8_t *)in[0];
		const int8_t *w = (const int8_t *)in[1];
		int32_t *y = (int32_t *)out;
		int32_t n, o, k, v, sum, part;

		for (n = 0; n < p[0]; n++)
			for (o = 0; o < p[2]; o++) {
				sum = 0;
				part = 0;
				for (k = 0; k < p[1]; k++) {
					v = x[n * p[1] + k];
					if (p[4] == 0 && v < 0)
						v += 256;
					part += (v - p[3]) * w[o * p[1] + k];
					if (k % 32 == 31 || k + 1 == p[1]) {
						sum += part *
						       p[5 + o * ((p[1] + 31) / 32) + k / 32];
						part = 0;
					}
				}
				y[n * p[2] + o] = sum;
			}
	})

static inline void
counted(const int32_t *param, const void *const *in, void *out)
{
	runs++;
	dense_q8(param, in, out);
}

static inline const qn_plane_view *
plane_of(const qn_kernel_operand *x, const char *name)
{
	for (size_t i = 0; i < x->nplane; i++)
		if (strcmp(x->plane[i].name, name) == 0)
			return &x->plane[i];
	return NULL;
}

static inline int
prepare_q8(void *user, const qn_kernel_call *c, int32_t *param, int cap, const char **why)
{
	const qn_plane_view *m = plane_of(c->in[1], "mantissa");
	const int n = m != NULL ? 5 + (int)(m->dim[0] * m->dim[1]) : -1;

	(void)user;
	*why = "the scales of its blocks are not integers";
	if (n > cap || n < 0)
		return n;
	param[0] = (int32_t)c->in[0]->numbers->shape[0];
	param[1] = (int32_t)c->in[0]->numbers->shape[1];
	param[2] = (int32_t)c->in[1]->numbers->shape[0];
	param[3] = (int32_t)c->in[0]->numbers->zero_point;
	param[4] = c->in[0]->numbers->is_signed;
	for (int i = 5; i < n; i++)
		param[i] = ((const int16_t *)m->data)[i - 5];
	return n;
}

static const char *const any_forms[] = {"*", "* block *"};

static const qn_kernel_desc q8 = {.size = sizeof q8,
				  .name = "test.dense_q8",
				  .op = "dense",
				  .nin = 2,
				  .in = any_forms,
				  .out = "i32",
				  .prepare = prepare_q8,
				  .run = counted,
				  .c_name = "dense_q8",
				  .c_text = dense_q8_text};

/* ---- a model ---- */

static inline qn_array *
samples_of(qn_ctx *ctx)
{
	float data[SAMPLES * IN];
	uint32_t state = 7;
	qn_array *x;

	for (size_t i = 0; i < SAMPLES * IN; i++) {
		state = state * 1664525u + 1013904223u;
		data[i] = 3.0f * (float)(state >> 8) / 16777216.0f - 1.0f;
	}
	assert_int_equal(qn_array_new(ctx, "f32", 2, (const int64_t[]){SAMPLES, IN}, data, &x),
			 QN_OK);
	return x;
}

typedef struct rig {
	qn_ctx *ctx;
	qn_model *m;
	qn_array *x;
	char text[TEXT_MOST]; /* what was printed last */
	size_t n;
} rig;

static inline int
take_text(void *user, const char *text, size_t n)
{
	rig *r = user;

	assert_true(r->n + n < TEXT_MOST);
	memcpy(r->text + r->n, text, n);
	r->n += n;
	r->text[r->n] = '\0';
	return 0;
}

static inline int
drop(void *user, const char *name, const char *text, size_t n)
{
	(void)user;
	(void)name;
	(void)text;
	(void)n;
	return 0;
}

static inline rig *
open_rig(qn_activations activations)
{
	static rig r;

	r = (rig){.ctx = qn_open(NULL)};
	r.x = samples_of(r.ctx);
	assert_int_equal(qn_file_add(r.ctx, "t.qir", net, sizeof net - 1), QN_OK);
	assert_int_equal(qn_load(r.ctx, "t.qir", &r.m), QN_OK);
	const qn_compile_opts opts = {.calib = &r.x, .ncalib = 1, .activations = activations};
	if (qn_compile(r.m, &opts) != QN_OK)
		fail_msg("%s", qn_diag_get(r.ctx, 0).message);
	qn_diag_clear(r.ctx); /* a warning: the samples are few */
	runs = 0;
	return &r;
}

static inline void
add(rig *r, const qn_kernel_desc *d)
{
	if (qn_kernel_register(r->ctx, d) != QN_OK)
		fail_msg("%s", qn_diag_get(r->ctx, 0).message);
}

/* The outputs of all samples; 1: there were that many runs of the host's function. */
static inline void
expect_outputs(rig *r, const int8_t *want, size_t wanted_runs)
{
	qn_array *y;

	runs = 0;
	assert_int_equal(qn_run(r->m, 1, &r->x, 0, 1, &y), QN_OK);
	assert_memory_equal(qn_array_data(y), want, SAMPLES * OUT);
	assert_int_equal(runs, wanted_runs);
	qn_array_free(y);
}

static inline void
outputs(rig *r, int8_t *out)
{
	qn_array *y;

	assert_int_equal(qn_run(r->m, 1, &r->x, 0, 1, &y), QN_OK);
	memcpy(out, qn_array_data(y), SAMPLES * OUT);
}

/* What --explain kernels prints has these words. */
static inline void
expect_explained(rig *r, const char *words)
{
	const qn_emit_opts opts = {.explain = take_text, .explain_user = r};

	r->n = 0;
	assert_int_equal(qn_emit_to(r->m, &opts, drop, NULL, NULL), QN_OK);
	if (strstr(r->text, words) == NULL)
		fail_msg("'%s' is not in\n%s", words, r->text);
}

#endif
