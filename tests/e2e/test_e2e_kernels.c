/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_kernels.c - kernels of a host for built-in operators, from the public headers alone: which one a
 * node gets and why, how it goes away again, and where memory runs out. */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/e2e/host_kernels.h"
#include "tests/unit/host_heap.h"

static const char *const q8_forms[] = {"i8", "i8 block 32"};

/* ---- which kernel ---- */

static int
declines(void *user, const qn_kernel_call *c, const char **why)
{
	assert_string_equal(c->op, "dense");
	assert_string_equal(c->attrs, "");
	assert_int_equal(c->nin, 2);
	assert_string_equal(c->in[0]->form, "i8");
	assert_string_equal(c->in[1]->form, "i8 block 32");
	assert_string_equal(c->out->form, "i32");
	assert_true(c->in[1]->is_constant && !c->in[0]->is_constant);
	assert_non_null(plane_of(c->in[1], "qs")->data);
	assert_null(plane_of(c->in[0], "qs")->data);
	assert_int_equal(plane_of(c->in[1], "d")->rank, 2);
	assert_int_equal(plane_of(c->in[1], "d")->dim[1], 2);
	assert_int_equal(plane_of(c->in[0], "d")->bytes, sizeof(double));
	++*(int *)user;
	*why = "it wants 128 inputs";
	return 0;
}

static void
dispatches_by_salience(void **state)
{
	rig *r = open_rig(QN_ACTIVATIONS_I8);
	qn_kernel_desc wide = q8, more = q8, equal = q8;
	int8_t want[SAMPLES * OUT];
	int asked = 0;

	(void)state;
	outputs(r, want);
	expect_explained(r, "dense + requantize: qn_dense_blocks_by4");
	expect_outputs(r, want, 0);
	add(r, &q8);
	expect_outputs(r, want, SAMPLES);
	expect_explained(r, "dense: dense_q8, the kernel test.dense_q8 of the host, salience 0");
	/* one that declines is asked first */
	wide.name = "test.wide";
	wide.c_name = wide.c_text = NULL;
	wide.in = q8_forms;
	wide.salience = 5;
	wide.can_run = declines;
	wide.user = &asked;
	add(r, &wide);
	expect_outputs(r, want, SAMPLES);
	assert_true(asked > 0);
	expect_explained(r, "the kernel test.dense_q8 of the host, salience 0");
	expect_explained(r, "not test.wide of the host: it wants 128 inputs");
	/* a larger salience wins; of equal ones the one that was registered last */
	more.name = "test.more";
	more.c_name = "dense_q8_more";
	more.c_text =
		"static void dense_q8_more(const int32_t *p, const void *const *in, void *out) "
		"{ (void)p; (void)in; (void)out; }";
	more.salience = 3;
	add(r, &more);
	expect_explained(r, "dense_q8_more, the kernel test.more of the host, salience 3");
	equal = more;
	equal.name = "test.equal";
	equal.c_name = "dense_q8_equal";
	equal.c_text = "static void dense_q8_equal(const int32_t *p, const void *const *in, void "
		       "*out) { (void)p; (void)in; (void)out; }";
	add(r, &equal);
	expect_explained(r, "the kernel test.equal of the host");
	/* away again */
	assert_int_equal(qn_kernel_unregister(r->ctx, "test.equal"), QN_OK);
	expect_explained(r, "the kernel test.more of the host");
	assert_int_equal(qn_kernel_unregister(r->ctx, "test.more"), QN_OK);
	assert_int_equal(qn_kernel_unregister(r->ctx, "test.dense_q8"), QN_OK);
	expect_outputs(r, want, 0);
	expect_explained(r, "dense + requantize: qn_dense_blocks_by4");
	expect_explained(r, "not test.wide of the host: it wants 128 inputs");
	assert_int_equal(qn_kernel_unregister(r->ctx, "test.wire"), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r->ctx, 0).id, "kernel.unknown");
	assert_non_null(strstr(qn_diag_get(r->ctx, 0).message, "'test.wide'"));
	qn_close(r->ctx);
}

/* Forms that do not fit: Quern's own kernel is used, and nothing is asked. */
static void
matches_forms(void **state)
{
	static const char *const forms[][2] = {{"i8", "i8"},          {"i8", "i8 block 16"},
					       {"i8", "i4 block 32"}, {"u8", "i8 block *"},
					       {"i8 block *", "*"},   {"i16", NULL}};
	rig *r = open_rig(QN_ACTIVATIONS_I8);
	int8_t want[SAMPLES * OUT];

	(void)state;
	outputs(r, want);
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		qn_kernel_desc d = q8;

		d.in = forms[i];
		add(r, &d);
		expect_outputs(r, want, 0);
		assert_int_equal(qn_kernel_unregister(r->ctx, q8.name), QN_OK);
	}
	static const char *const fit[][2] = {
		{"*", NULL}, {NULL, "i8 block *"}, {"i8", "* block 32"}, {"i8", "i8 block 32"}};
	for (size_t i = 0; i < sizeof fit / sizeof fit[0]; i++) {
		qn_kernel_desc d = q8;

		d.in = fit[i];
		add(r, &d);
		expect_outputs(r, want, SAMPLES);
		assert_int_equal(qn_kernel_unregister(r->ctx, q8.name), QN_OK);
	}
	qn_close(r->ctx);
}

/* ---- what is wrong ---- */

static void
checks_what_it_is_given(void **state)
{
	static const char *const bad_form[] = {"i8", "i9"}, *const half_form[] = {"i8", "i8 block"};
	static const char *const no_form[] = {"i8", "i8 block 0"}, *const real_form[] = {"f32",
											 NULL};
	static const char *const long_form[] = {"i8", "i8 block 32 x"};
	static const char *const names[] = {"qn_dense_by4_s8",
					    "memcpy",
					    "int32_t",
					    "9q",
					    "while",
					    "a.b",
					    "",
					    "s",
					    "main",
					    "exp"};
	rig *r = open_rig(QN_ACTIVATIONS_I8);
	qn_kernel_desc bad[15];
	const size_t n = sizeof bad / sizeof bad[0];

	(void)state;
	for (size_t i = 0; i < n; i++)
		bad[i] = q8;
	bad[0].name = "dense_q8";
	bad[1].op = "dence";
	bad[2].op = "reshape"; /* no call */
	bad[3].op = "loop_carry";
	bad[4].nin = 4;
	bad[5].in = NULL;
	bad[6].run = NULL;
	bad[7].c_text = NULL;
	bad[8].c_name = "other";
	bad[9].in = bad_form;
	bad[10].in = half_form;
	bad[11].in = no_form;
	bad[12].in = real_form;
	bad[13].in = long_form;
	bad[14].out = "i32 blocks";
	for (size_t i = 0; i < n; i++) {
		if (qn_kernel_register(r->ctx, &bad[i]) != QN_EUSAGE)
			fail_msg("descriptor %zu is taken", i);
		assert_int_equal(qn_diag_count(r->ctx), 1);
		assert_string_equal(qn_diag_get(r->ctx, 0).id,
				    i == 5 ? "array.null" : "kernel.register");
		qn_diag_clear(r->ctx);
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		qn_kernel_desc d = q8;

		d.c_name = d.c_text = names[i];
		if (qn_kernel_register(r->ctx, &d) != QN_EUSAGE)
			fail_msg("a function '%s' is taken", names[i]);
	}
	add(r, &q8);
	assert_int_equal(qn_kernel_register(r->ctx, &q8), QN_EUSAGE); /* the name is taken */
	qn_kernel_desc other = q8;
	other.name = "test.other"; /* one text of its function is one function */
	assert_int_equal(qn_kernel_register(r->ctx, &other), QN_OK);
	other.name = "test.third";
	other.c_text = "static void dense_q8(void) {}";
	assert_int_equal(qn_kernel_register(r->ctx, &other), QN_EUSAGE);
	qn_close(r->ctx);
}

/* A call without memory changes nothing, and the context can be used on. */
static void
survives_without_memory(void **state)
{
	size_t failed = 0;

	(void)state;
	for (size_t k = 1; k < 1000; k++) {
		heap h = {.fail_at = 0};
		const qn_config config = {
			.size = sizeof config, .alloc = host_alloc, .alloc_user = &h};
		qn_ctx *ctx = qn_open(&config);
		qn_array *x = samples_of(ctx), *y;
		qn_model *m;

		assert_int_equal(qn_file_add(ctx, "t.qir", net, sizeof net - 1), QN_OK);
		assert_int_equal(qn_load(ctx, "t.qir", &m), QN_OK);
		const qn_compile_opts opts = {.calib = &x, .ncalib = 1};
		assert_int_equal(qn_compile(m, &opts), QN_OK);
		h.fail_at = h.calls + k;
		const qn_status status = qn_kernel_register(ctx, &q8);
		if (status != QN_OK) {
			assert_int_equal(status, QN_ENOMEM);
			h.fail_at = 0;
			assert_int_equal(qn_kernel_unregister(ctx, q8.name), QN_EUSAGE);
			assert_int_equal(qn_kernel_register(ctx, &q8), QN_OK);
		}
		const qn_status ran = qn_run(m, 1, &x, 0, 1, &y);
		assert_true(ran == QN_OK || ran == QN_ENOMEM);
		const bool done = h.fail_at != 0 && h.calls < h.fail_at;
		failed += status != QN_OK || ran != QN_OK;
		h.fail_at = 0;
		assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_OK);
		qn_close(ctx);
		assert_int_equal(h.live, 0);
		if (done)
			break;
	}
	assert_true(failed > 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dispatches_by_salience),
		cmocka_unit_test(matches_forms),
		cmocka_unit_test(checks_what_it_is_given),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
