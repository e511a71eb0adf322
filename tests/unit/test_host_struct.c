/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_struct.c - each struct of the interface, through its function: hosts that were compiled with the header of
 * an older or of a newer release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/context.h"
#include "quern/kernels.h"
#include "quern/layout.h"
#include "quern/measure.h"
#include "quern/patterns.h"

typedef struct bench {
	qn_ctx *ctx;
	qn_model *m;
} bench;

static qn_status
open_another(const bench *b, const void *s)
{
	qn_ctx *ctx = qn_open(s);

	qn_close(ctx);
	if (ctx != NULL)
		return QN_OK;
	return qn_report(b->m->env, QN_EUSAGE, "struct.size", "qn_config", "not opened");
}

static qn_status
import(const bench *b, const void *s)
{
	qn_model *m;

	return qn_import(b->ctx, "model.none", s, &m);
}

static qn_status
register_op(const bench *b, const void *s)
{
	return qn_op_register(b->ctx, s);
}

static qn_status
register_method(const bench *b, const void *s)
{
	return qn_method_register(b->ctx, s);
}

static qn_status
register_layout(const bench *b, const void *s)
{
	return qn_layout_register(b->ctx, s);
}

static qn_stored *
two_values(const bench *b)
{
	qn_array *x;
	qn_stored *t;

	assert_int_equal(
		qn_array_new(b->ctx, "f32", 1, (const int64_t[]){2}, (const float[]){1, 2}, &x),
		QN_OK);
	assert_int_equal(qn_stored_of_array(b->ctx, "t", x, &t), QN_OK);
	return t;
}

static qn_status
repack(const bench *b, const void *s)
{
	qn_stored *out;

	return qn_stored_repack(two_values(b), "plain", s, &out);
}

static qn_status
quantize_stored(const bench *b, const void *s)
{
	qn_stored *out;

	return qn_stored_quantize(two_values(b), s, &out);
}

static qn_status
register_kernel(const bench *b, const void *s)
{
	return qn_kernel_register(b->ctx, s);
}

static qn_status
set_rules(const bench *b, const void *s)
{
	return qn_kernel_rules_set(b->ctx, s);
}

static qn_status
match(const bench *b, const void *s)
{
	return qn_pattern_match(qn_pat_any(b->ctx), qn_model_main(b->m), 0, s, NULL, NULL, NULL);
}

static qn_status
cut(const bench *b, const void *s)
{
	return qn_cut_model(b->m, qn_pat_number(b->ctx, 5), s, NULL);
}

static qn_status
rewrite(const bench *b, const void *s)
{
	return qn_rewrite_model(b->m, 0, NULL, s, NULL);
}

static qn_status
compile(const bench *b, const void *s)
{
	return qn_compile(b->m, s);
}

static qn_status
observe(const bench *b, const void *s)
{
	qn_stats *out;

	return qn_calibrate(b->m, s, 0, 0, &out);
}

static void
ignore(void *user, const qn_metric *metric)
{
	(void)user;
	(void)metric;
}

static qn_status
measure(const bench *b, const void *s)
{
	return qn_measure(b->m, 0, NULL, s, ignore, NULL);
}

static qn_status
emit(const bench *b, const void *s)
{
	return qn_emit(b->m, "/tmp/quern-never", s, NULL);
}

static qn_status
validate(const bench *b, const void *s)
{
	qn_validation v;

	return qn_validate(b->ctx, "/tmp/quern-never", 0, NULL, s, &(qn_device){0}, &v);
}

static qn_status
validate_on(const bench *b, const void *s)
{
	qn_validation v;

	return qn_validate(b->ctx, "/tmp/quern-never", 0, NULL, NULL, s, &v);
}

static qn_id
quantize_relu(void *user, qn_quantizing *q, const qn_match *m)
{
	qn_id x = qn_quantize_activation(q, qn_match_get(m, "x"), "r", "x");

	(void)user;
	x = qn_quantizing_op(q, qn_match_root(qn_quantizing_match(q)), "r.codes", 1, &x);
	return qn_dequantize(q, x, "r");
}

/* A relu whose input is quantized as the struct says; without bits it is refused. */
static qn_id
quantize_typed(void *user, qn_quantizing *q, const qn_match *m)
{
	return qn_quantize_symbol(q, qn_match_get(m, "x"), "r", "x", user);
}

static qn_model *
relu_model(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	qn_id y = qn_add_input(qn_model_main(m), "x", "tensor<1x2xf32>");
	y = qn_add_op(qn_model_main(m), "relu", "y", 1, &y, NULL, NULL);
	assert_int_equal(qn_add_output(qn_model_main(m), "y", y), QN_OK);
	return m;
}

static qn_status
quantize_as(const bench *b, const void *s)
{
	const qn_quantizer relu = {.name = "relu",
				   .text = "relu(x)",
				   .quantize = quantize_typed,
				   .user = (void *)(uintptr_t)s};

	const qn_compile_opts o = {.quantizers = &relu, .nquantizers = 1, .stop_after = "quantize"};

	/* the compile itself fails by the callback, after the report of the callback */
	return qn_compile(relu_model(b->ctx), &o) == QN_OK ? QN_OK : QN_EUSAGE;
}

/* One element of an array may say a size of 0, as any struct. */
static qn_status
one_quantizer(const bench *b, const void *s)
{
	return qn_compile(
		relu_model(b->ctx),
		&(qn_compile_opts){.quantizers = s, .nquantizers = 1, .stop_after = "partition"});
}

static qn_status
one_rule(const bench *b, const void *s)
{
	return qn_rewrite_model(relu_model(b->ctx), 1, s, NULL, NULL);
}

/* qn_search is given to a calibrate callback. */
static qn_status
search(const bench *b, const void *s)
{
	const qn_quantizer relu = {.name = "relu",
				   .text = "relu(x)",
				   .quantize = quantize_relu,
				   .calibrate = qn_search_output,
				   .user = (void *)(uintptr_t)s};
	const float data[4] = {-1, 0.5f, 0.25f, 1};
	qn_model *m = relu_model(b->ctx);
	qn_array *x;

	assert_int_equal(qn_array_new(b->ctx, "f32", 2, (const int64_t[]){2, 2}, data, &x), QN_OK);
	return qn_compile(m, &(qn_compile_opts){.quantizers = &relu,
						.nquantizers = 1,
						.stop_after = "calibrate",
						.calib = &x,
						.ncalib = 1});
}

#define ROW(T, fn, plain)                                                                          \
	{                                                                                          \
#T, sizeof(T), fn, plain                                                           \
	}

static void
holds_for_every_struct(void **state)
{
	/* plain: what a struct of zeros gives. */
	static const struct {
		const char *name;
		size_t size;
		qn_status (*call)(const bench *b, const void *s);
		const char *plain;
	} rows[] = {
		ROW(qn_config, open_another, NULL),
		ROW(qn_import_opts, import, "file.open"),
		ROW(qn_op_desc, register_op, "op.register"),
		ROW(qn_kernel_desc, register_kernel, "kernel.register"),
		ROW(qn_kernel_rules, set_rules, NULL),
		ROW(qn_match_opts, match, NULL),
		ROW(qn_match_opts, rewrite, NULL),
		ROW(qn_cut_opts, cut, NULL),
		ROW(qn_search, search, NULL),
		ROW(qn_compile_opts, compile, "model.empty"),
		ROW(qn_compile_opts, observe, "calibrate.no-data"),
		ROW(qn_measure_opts, measure, "data.count"),
		ROW(qn_emit_opts, emit, "emit.stage"),
		ROW(qn_validate_opts, validate, "array.null"),
		ROW(qn_device, validate_on, "array.null"),
		ROW(qn_method_desc, register_method, "method.register"),
		ROW(qn_quant_type, quantize_as, "quantize.bits"),
		ROW(qn_quantizer, one_quantizer, "quantizer.register"),
		ROW(qn_rewrite_rule, one_rule, "pattern.context"),
		ROW(qn_layout_desc, register_layout, "layout.register"),
		ROW(qn_repack_opts, repack, NULL),
		ROW(qn_scaled_quantizer_opts, quantize_stored, "quantizer.dtype"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		union {
			size_t size;
			max_align_t align;
			unsigned char byte[2048];
		} s;
		bench b = {qn_open(NULL), NULL};

		memset(&s, 0, sizeof s);
		assert_true(rows[i].size + 8 < sizeof s);
		assert_int_equal(qn_model_new(b.ctx, "m", &b.m), QN_OK);
		qn_id x = qn_add_input(qn_model_main(b.m), "x", "tensor<2xf32>");
		if (rows[i].call != compile)
			assert_int_equal(qn_add_output(qn_model_main(b.m), "x", x), QN_OK);
		/* A host of the first release, of this one, of a newer one. */
		const size_t sizes[] = {0, rows[i].size, rows[i].size + 8, sizeof s};
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
			s.size = sizes[k];
			assert_int_equal(rows[i].call(&b, &s) == QN_OK, rows[i].plain == NULL);
			if (rows[i].plain != NULL)
				assert_string_equal(qn_diag_get(b.ctx, 0).id, rows[i].plain);
			qn_diag_clear(b.ctx);
		}
		s.size = rows[i].size + 8;
		s.byte[rows[i].size + 7] = 1;
		assert_int_equal(rows[i].call(&b, &s), QN_EUSAGE);
		/* … a callback that is refused is a second one */
		assert_int_equal(qn_diag_count(b.ctx), rows[i].call == quantize_as ? 2 : 1);
		assert_string_equal(qn_diag_get(b.ctx, 0).id, "struct.size");
		assert_string_equal(qn_diag_get(b.ctx, 0).place, rows[i].name);
		s.size = rows[i].size; /* what lies behind this release's struct is not read */
		assert_int_equal(rows[i].call(&b, &s) == QN_OK, rows[i].plain == NULL);
		qn_close(b.ctx);
	}
}

/* In an array the elements lie as far apart as the first one says, which is larger for a newer host. */
static void
steps_through_arrays_by_their_size(void **state)
{
	typedef struct newer {
		qn_quantizer known;
		int64_t more;
	} newer;
	newer list[2] = {
		{{.size = sizeof(newer), .name = "a", .text = "relu(x)", .quantize = quantize_relu},
		 0},
		{{.size = sizeof(newer), .name = "b", .text = "tanh(x)", .quantize = quantize_relu},
		 0}};
	qn_compile_opts o = {
		.quantizers = &list[0].known, .nquantizers = 2, .stop_after = "partition"};
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	assert_int_equal(qn_compile(relu_model(ctx), &o), QN_OK);
	list[1].known.text = NULL; /* the second one is looked at too */
	assert_int_equal(qn_compile(relu_model(ctx), &o), QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "quantizer.register");
	list[1].known.text = "tanh(x)";
	list[1].more = 1; /* what this release does not know */
	for (size_t size = 0; size <= sizeof(newer); size += sizeof(newer)) {
		qn_diag_clear(ctx);
		list[0].known.size = size; /* 0: nobody knows where the second one is */
		assert_int_equal(qn_compile(relu_model(ctx), &o), QN_EUSAGE);
		assert_string_equal(qn_diag_get(ctx, 0).id, "struct.size");
	}
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_for_every_struct),
		cmocka_unit_test(steps_through_arrays_by_their_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
