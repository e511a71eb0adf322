/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - a stateful network call by call gives what one sequence gives; sessions are independent of each other
 * and of the model that they come from; mistakes change no state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/measure.h"
#include "tests/unit/host_heap.h"

enum { STEPS = 12, IN = 4, OUT = 3 };

static const char net[] =
	"model \"gru\" stage float\ngraph @main(%x: tensor<1x4xf32>, %h: tensor<1x8xf32> state) {\n"
	"  %wx = const : tensor<8x4xf32> rand 1\n  %wh = const : tensor<8x8xf32> rand 2\n"
	"  %wy = const : tensor<3x8xf32> rand 3\n  %a = dense %x, %wx\n  %b = dense %h, %wh\n"
	"  %far = const : tensor<1x24xf32> rand 4\n  %near = slice %far {begin=[0,0], end=[1,24]}\n"
	"  %part = slice %near {begin=[0,16], end=[1,24]}\n  %s = add %a, %b\n  %t = add %s, "
	"%part\n"
	"  %n = tanh %t\n  %table = const : tensor<8x3xf32> rand 5\n  %i = argmax %n {axis=1}\n"
	"  %g = gather %table, %i {axis=0}\n  %d = dense %n, %wy\n  %y = add %d, %g\n"
	"  return %y, %n to %h\n}\n";

typedef struct rig {
	qn_ctx *ctx;
	qn_model *m;
	qn_array *all, *step[STEPS];
} rig;

static rig
open_rig(void)
{
	rig r = {.ctx = qn_open(NULL)};
	float x[STEPS * IN];

	for (int i = 0; i < STEPS * IN; i++)
		x[i] = (float)(i * 7 % 23 - 11) / 8;
	assert_int_equal(qn_file_add(r.ctx, "gru.qir", net, sizeof net - 1), QN_OK);
	assert_int_equal(qn_load(r.ctx, "gru.qir", &r.m), QN_OK);
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (const int64_t[]){STEPS, IN}, x, &r.all),
			 QN_OK);
	for (int i = 0; i < STEPS; i++)
		assert_int_equal(qn_array_new(r.ctx, "f32", 2, (const int64_t[]){1, IN}, x + IN * i,
					      &r.step[i]),
				 QN_OK);
	return r;
}

/* Steps first … last - 1 of the session give those of the sequence. */
static void
expect_steps(const rig *r, qn_session *s, const float *want, int first, int last)
{
	for (int i = first; i < last; i++) {
		qn_array *y;

		assert_int_equal(qn_session_run(s, 1, &r->step[i], 1, 1, &y), QN_OK);
		assert_memory_equal(qn_array_data(y), want + (size_t)OUT * (size_t)i,
				    OUT * sizeof *want);
		qn_array_free(y);
	}
}

static void
goes_on(rig *r)
{
	float want[STEPS * OUT];
	qn_session *s, *other;
	qn_array *y;

	assert_int_equal(qn_run(r->m, 1, &r->all, 1, 1, &y), QN_OK);
	memcpy(want, qn_array_data(y), sizeof want);
	assert_int_equal(qn_session_new(r->m, &s), QN_OK);
	expect_steps(r, s, want, 0, 5);
	assert_int_equal(qn_session_new(r->m, &other), QN_OK);
	expect_steps(r, other, want, 0, 2);
	expect_steps(r, s, want, 5, 8);
	qn_session_reset(s);
	qn_set_sequence(r->ctx, 5); /* means nothing here */
	assert_int_equal(qn_session_run(s, 1, &r->all, 1, 1, &y), QN_OK);
	assert_memory_equal(qn_array_data(y), want, sizeof want);
	qn_set_sequence(r->ctx, 0);
	expect_steps(r, other, want, 2, STEPS);
	qn_session_free(s);
	assert_int_equal(qn_diag_count(r->ctx), 0);
}

static void
float_and_integer(void **state)
{
	rig r = open_rig();
	qn_compile_opts o = {.calib = &r.all, .ncalib = 1, .activations = QN_ACTIVATIONS_I16};

	(void)state;
	goes_on(&r);
	assert_int_equal(qn_compile(r.m, &o), QN_OK);
	qn_diag_clear(r.ctx); /* few samples */
	goes_on(&r);
	qn_close(r.ctx);
}

static void
outlives_the_model(void **state)
{
	rig r = open_rig();
	float want[STEPS * OUT];
	qn_session *s;
	qn_array *y, *none[1] = {NULL};

	(void)state;
	assert_int_equal(qn_run(r.m, 1, &r.all, 1, 1, &y), QN_OK);
	memcpy(want, qn_array_data(y), sizeof want);
	assert_int_equal(qn_session_new(r.m, &s), QN_OK);
	qn_model_free(r.m);
	expect_steps(&r, s, want, 0, 3);
	assert_int_equal(qn_session_run(s, 1, none, 1, 1, &y), QN_EUSAGE);
	assert_null(y);
	assert_int_equal(qn_session_run(s, 1, &r.step[3], 1, 2, (qn_array *[2]){NULL}), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r.ctx, 1).id, "run.outputs");
	assert_int_not_equal(qn_session_run(s, 1, &y, 1, 1, &y), QN_OK);
	expect_steps(&r, s, want, 3, STEPS);
	qn_session_free(NULL);
	qn_close(r.ctx); /* frees the session */
}

static void
refuses_what_cannot_run(void **state)
{
	rig r = open_rig();
	qn_compile_opts o = {.stop_after = "quantize"};
	qn_session *s;

	(void)state;
	assert_int_equal(qn_compile(r.m, &o), QN_OK);
	assert_int_equal(qn_session_new(r.m, &s), QN_EINVALID);
	assert_null(s);
	assert_string_equal(qn_diag_get(r.ctx, 0).id, "run.stage");
	qn_close(r.ctx);
}

/* A call without memory fails as a whole, and the session goes on. */
static void
survives_without_memory(void **state)
{
	static const float x[IN] = {1, -1, 0.5f, 2};
	size_t failed = 0;
	bool done = false;

	(void)state;
	for (size_t k = 1; !done; k++) {
		heap h = {.fail_at = 0};
		qn_ctx *ctx = qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = &h});
		qn_array *in, *y;
		qn_session *s;
		qn_model *m;

		assert_int_equal(qn_file_add(ctx, "gru.qir", net, sizeof net - 1), QN_OK);
		assert_int_equal(qn_load(ctx, "gru.qir", &m), QN_OK);
		assert_int_equal(qn_array_new(ctx, "f32", 2, (const int64_t[]){1, IN}, x, &in),
				 QN_OK);
		h.fail_at = h.calls + k;
		qn_status status = qn_session_new(m, &s);
		if (status == QN_OK)
			status = qn_session_run(s, 1, &in, 1, 1, &y);
		done = h.calls < h.fail_at;
		h.fail_at = 0;
		assert_int_equal(status, done ? QN_OK : QN_ENOMEM);
		failed += !done;
		if (s != NULL)
			assert_int_equal(qn_session_run(s, 1, &in, 1, 1, &y), QN_OK);
		qn_close(ctx);
		assert_int_equal(h.live, 0);
	}
	assert_true(failed > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(float_and_integer),
		cmocka_unit_test(outlives_the_model),
		cmocka_unit_test(refuses_what_cannot_run),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
