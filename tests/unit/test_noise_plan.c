/* SPDX-License-Identifier: Apache-2.0 */
/* test_noise_plan.c - what a host learns of each value: its noise of quantization, and its place in the
 * activation arena. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/measure.h"

typedef struct noises {
	size_t n, finite;
	double sum, least;
	char worst[100];
} noises;

static void
take_noise(void *user, const qn_value_noise *v)
{
	noises *s = user;

	assert_int_equal(v->size, sizeof *v);
	assert_true(v->name[0] != '\0' && v->layers[0] != '\0');
	s->n++;
	if (!(v->signal > 0 && v->noise > 0)) {
		assert_true(isinf(v->db));
		return;
	}
	assert_true(fabs(v->db - 10 * log10(v->signal / v->noise)) < 1e-9);
	s->sum += v->db;
	if (s->finite++ == 0 || v->db < s->least) {
		s->least = v->db;
		strcpy(s->worst, v->layers);
	}
}

static qn_model *
compiled(qn_ctx *ctx, qn_array **calib, const char *stop_after)
{
	qn_model *m;

	assert_int_equal(qn_load(ctx, "examples/digits/digits.json", &m), QN_OK);
	assert_int_equal(qn_array_load(ctx, "examples/digits/calib.npy", calib), QN_OK);
	qn_compile_opts o = {.calib = calib, .ncalib = 1, .stop_after = stop_after};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	return m;
}

static void
noise_of_each_value(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x;
	qn_model *m = compiled(ctx, &x, "bind");
	noises s = {0};
	qn_noise sum, alone;

	(void)state;
	assert_int_equal(qn_measure_noise(m, 1, &x, take_noise, &s, &sum), QN_OK);
	assert_true(s.n > 5);
	assert_int_equal(s.finite, sum.values);
	assert_true(fabs(s.sum / (double)s.finite - sum.mean) < 1e-9);
	assert_true(s.least == sum.least);
	assert_string_equal(s.worst, sum.worst);
	assert_int_equal(qn_measure_noise(m, 1, &x, NULL, NULL, &alone), QN_OK);
	assert_true(alone.mean == sum.mean && alone.values == sum.values);
	qn_close(ctx);
}

enum { MOST = 100 };

typedef struct plan {
	qn_plan_buffer b[MOST];
	size_t n;
} plan;

static void
take_buffer(void *user, const qn_plan_buffer *b)
{
	plan *p = user;

	assert_true(p->n < MOST);
	assert_int_equal(b->size, sizeof *b);
	assert_true(b->name[0] != '\0' && b->bytes > 0 && b->first <= b->last);
	p->b[p->n++] = *b;
}

/* Buffers lie inside of the arena, and those that live at the same steps do not overlap, but where a
 * result takes an operand's place at its last step. */
static void
plan_of_a_model(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x;
	qn_model *m = compiled(ctx, &x, NULL);
	qn_emit_info info;
	plan p = {.n = 0};
	size_t end = 0;

	(void)state;
	assert_int_equal(qn_memory_plan(m, NULL, take_buffer, &p, &info), QN_OK);
	assert_true(p.n > 2);
	for (size_t i = 0; i < p.n; i++) {
		const qn_plan_buffer *a = &p.b[i];

		assert_true(a->last < info.steps);
		end = a->offset + a->bytes > end ? a->offset + a->bytes : end;
		for (size_t k = 0; k < i; k++) {
			const qn_plan_buffer *b = &p.b[k];
			const int apart = a->offset + a->bytes <= b->offset ||
					  b->offset + b->bytes <= a->offset;

			assert_true(apart || b->last < a->first || a->last < b->first ||
				    (a->first == b->last && a->offset == b->offset));
		}
	}
	assert_true(end <= info.scratch_bytes && end + 16 > info.scratch_bytes);
	/* the same sizes as an emission, the same budgets */
	assert_int_equal(
		qn_memory_plan(m, &(qn_emit_opts){.max_arena_bytes = 1}, take_buffer, &p, NULL),
		QN_EBUDGET);
	assert_int_equal(qn_memory_plan(m, NULL, NULL, NULL, NULL), QN_EUSAGE);
	qn_close(ctx);
}

typedef struct steps {
	size_t n, layers;
	uint64_t instructions, macs, bytes;
} steps;

static void
take_step(void *user, const qn_plan_step *s)
{
	steps *all = user;

	assert_int_equal(s->size, sizeof *s);
	assert_true(s->name[0] != '\0');
	for (size_t i = 0; i < s->layers; i++)
		assert_true(s->layer[i][0] != '\0');
	all->n++;
	all->layers += s->layers;
	all->instructions += s->instructions;
	all->macs += s->macs;
	all->bytes += s->weight_bytes;
}

/* What steps take adds up to what the program takes. */
static void
steps_of_a_model(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x;
	qn_model *m = compiled(ctx, &x, NULL);
	qn_emit_info info;
	steps all = {0};

	(void)state;
	assert_int_equal(qn_plan_steps(m, NULL, take_step, &all, &info), QN_OK);
	assert_int_equal(all.n, info.steps);
	assert_true(all.layers >= 11); /* conv1 … probs */
	assert_int_equal(all.instructions, info.instructions);
	assert_true(all.instructions > all.macs && all.macs == 109824);
	assert_int_equal(qn_plan_steps(m, NULL, NULL, NULL, NULL), QN_EUSAGE);
	qn_close(ctx);
}

static void
plans_integer_models_alone(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x;
	qn_model *m = compiled(ctx, &x, "bind");
	plan p = {.n = 0};

	(void)state;
	assert_int_equal(qn_memory_plan(m, NULL, take_buffer, &p, NULL), QN_EINVALID);
	assert_string_equal(qn_diag_get(ctx, qn_diag_count(ctx) - 1).id, "emit.stage");
	assert_int_equal(p.n, 0);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_of_each_value),
		cmocka_unit_test(plan_of_a_model),
		cmocka_unit_test(steps_of_a_model),
		cmocka_unit_test(plans_integer_models_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
