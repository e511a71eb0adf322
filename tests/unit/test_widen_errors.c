/* SPDX-License-Identifier: Apache-2.0 */
/* test_widen_errors.c - 16-bit activations where a range needs it: what cannot be, and models with states. */
#include "tests/unit/widen_rig.h"

static void
refused(rig *r, qn_compile_opts o, const char *id)
{
	const qn_status status = qn_compile(r->m, &o);

	assert_int_equal(status, QN_EUSAGE);
	assert_string_equal(qn_diag_get(r->ctx, qn_diag_count(r->ctx) - 1).id, id);
	assert_string_equal(qn_model_stage(r->m), "float");
}

static void
errors(void **state)
{
	rig r = make(IN_ONE, 1, 1);
	qn_compile_opts o = automatic;
	qn_stats *stats;

	(void)state;
	refused(&r, o, "widen.no-data");
	o.calib = &r.x;
	o.ncalib = 1;
	o.encodings = "none.json";
	refused(&r, o, "widen.ranges");
	o.encodings = NULL;
	o.solver = QN_SOLVER_ON;
	refused(&r, o, "pass.absent");
	o.solver = QN_SOLVER_OFF;
	assert_int_equal(qn_calibrate(r.m, &o, 0, 0, &stats), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r.ctx, qn_diag_count(r.ctx) - 1).id, "widen.ranges");
	o.dynamic = "op:dense"; /* all layers */
	assert_int_equal(qn_compile(r.m, &o), QN_OK);
	assert_string_equal(qn_diag_get(r.ctx, qn_diag_count(r.ctx) - 2).id, "widen.settled");
	assert_string_equal(qn_diag_get(r.ctx, qn_diag_count(r.ctx) - 1).id, "accuracy.low");
	o.dynamic = NULL;
	assert_int_equal(qn_compile(r.m, &o), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r.ctx, qn_diag_count(r.ctx) - 1).id, "option.late");
	qn_close(r.ctx);
}

/* Steps of a stateful network are tried one by one, from the states that the float network has there. */
static void
states(void **state)
{
	static const char net[] = "model \"net\" stage float\n"
				  "graph @main(%x: tensor<1x4xf32>, %h: tensor<1x4xf32> state) {\n"
				  "  %w = const : tensor<4x4xf32> rand 1\n"
				  "  %s = add %x, %h\n"
				  "  %y = dense %s, %w\n"
				  "  return %y, %s to %h\n"
				  "}\n";
	qn_ctx *ctx = qn_open(NULL);
	const int64_t shape[] = {8, 4};
	const float data[32] = {1, 2, 3};
	rig r = {.ctx = ctx};

	(void)state;
	assert_int_equal(qn_array_new(ctx, "f32", 2, shape, data, &r.x), QN_OK);
	assert_int_equal(qn_file_add(ctx, "net.qir", net, strlen(net)), QN_OK);
	assert_int_equal(qn_load(ctx, "net.qir", &r.m), QN_OK);
	assert_int_equal(compile(&r, automatic), QN_OK);
	assert_int_equal(compile(&r, narrow), QN_OK);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors),
		cmocka_unit_test(states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
