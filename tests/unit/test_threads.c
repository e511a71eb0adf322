/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c - samples side by side: the same bytes as one after the other, the host's
 * allocator called by one thread at a time, and memory that runs out in any thread. */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "driver/context.h"
#include "tests/unit/host_heap.h"
#include "quern/measure.h"
#include "tests/unit/top1.h"

static const char *
digits(const char *name)
{
	static _Thread_local char path[512];
	const char *source = getenv("QUERN_SOURCE");

	(void)snprintf(path, sizeof path, "%s/examples/digits/%s", source != NULL ? source : ".",
		       name);
	return path;
}

static qn_ctx *
context(heap *h, int threads)
{
	qn_ctx *ctx =
		qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = h, .threads = threads});

	assert_non_null(ctx);
	return ctx;
}

static qn_array *
array(qn_ctx *ctx, const char *name)
{
	qn_array *x = NULL;

	assert_int_equal(qn_array_load(ctx, digits(name), &x), QN_OK);
	return x;
}

static qn_model *
model(qn_ctx *ctx)
{
	qn_model *m = NULL;

	assert_int_equal(qn_load(ctx, digits("digits.json"), &m), QN_OK);
	return m;
}

typedef struct text {
	char *s;
	size_t n;
} text;

static int
append(void *user, const char *s, size_t n)
{
	text *t = user;
	char *more = realloc(t->s, t->n + n);

	assert_non_null(more);
	memcpy(more + t->n, s, n);
	*t = (text){more, t->n + n};
	return 0;
}

/* What a run of all commands leaves: the integer model's text, results, accuracy. */
typedef struct outcome {
	text model;
	size_t bytes;
	void *real, *wave; /* results of the integer and of the float model */
	top1 accuracy;
} outcome;

static void *
results(qn_model *m, qn_array *x, size_t *bytes)
{
	qn_array *y = NULL;

	assert_int_equal(qn_run(m, 1, &x, 1, 1, &y), QN_OK);
	assert_string_equal(qn_array_dtype(y), "f32");
	*bytes = (size_t)(qn_array_dim(y, 0) * qn_array_dim(y, 1)) * sizeof(float);
	void *copy = malloc(*bytes);
	assert_non_null(copy);
	memcpy(copy, qn_array_data(y), *bytes);
	return copy;
}

/* bundle_bytes: as in qn_env. */
static outcome
everything(int threads, const char *method, size_t bundle_bytes)
{
	heap h = {0};
	outcome o = {0};
	qn_ctx *ctx = context(&h, threads);
	ctx->env.bundle_bytes = bundle_bytes;
	qn_model *m = model(ctx);
	qn_array *calib = array(ctx, "calib.npy"), *x = array(ctx, "test_x.npy");
	qn_compile_opts opts = {.calib = &calib, .ncalib = 1, .method = method};

	o.wave = results(m, x, &o.bytes);
	assert_int_equal(qn_compile(m, &opts), QN_OK);
	o.real = results(m, x, &o.bytes);
	assert_int_equal(top1_of(m, x, array(ctx, "test_y.npy"), &o.accuracy), QN_OK);
	assert_int_equal(qn_print(m, QN_FORMAT_JSON, append, &o.model), QN_OK);
	qn_close(ctx);
	assert_int_equal(h.live, 0);
	return o;
}

static void
drop(outcome *o)
{
	free(o->model.s);
	free(o->real);
	free(o->wave);
}

static void
same_outcome(const outcome *one, const outcome *other)
{
	assert_int_equal(one->model.n, other->model.n);
	assert_memory_equal(one->model.s, other->model.s, one->model.n);
	assert_memory_equal(one->wave, other->wave, one->bytes);
	assert_memory_equal(one->real, other->real, one->bytes);
	assert_int_equal(one->accuracy.samples, other->accuracy.samples);
	assert_int_equal(one->accuracy.correct, other->accuracy.correct);
}

/* Any number of threads, any size of a bundle: 1, 2 …, as many as there may be. */
static void
test_same_bytes(void **state)
{
	static const struct {
		int threads;
		size_t bundle_bytes;
	} way[] = {{4, 1}, {7, 0}, {1, 0}, {1, 10000}, {3, 25000}, {2, SIZE_MAX}};

	static const char *const method[] = {"percentile", "ema", "percentile_tvm"};

	(void)state;
	for (size_t k = 0; k < sizeof method / sizeof method[0]; k++) {
		outcome one = everything(1, method[k], 1);

		for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
			/* a host's rounding must not reach the threads */
			assert_int_equal(fesetround(FE_UPWARD), 0);
			outcome other = everything(way[i].threads, method[k], way[i].bundle_bytes);
			assert_int_equal(fesetround(FE_TONEAREST), 0);

			same_outcome(&one, &other);
			drop(&other);
		}
		drop(&one);
	}
}

static void *
everything_thread(void *out)
{
	*(outcome *)out = everything(3, NULL, 0);
	return NULL;
}

/* Contexts in different threads, each with threads of its own. */
static void
test_two_contexts(void **state)
{
	outcome one = everything(1, NULL, 0), two[2];
	pthread_t id[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&id[i], NULL, everything_thread, &two[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(id[i], NULL), 0);
	for (int i = 0; i < 2; i++) {
		same_outcome(&one, &two[i]);
		drop(&two[i]);
	}
	drop(&one);
}

/* Allocations of compiling and running fail, those of the workers among them: every one of a run,
 * every ninth of a compilation. */
static void
test_memory_runs_out(void **state)
{
	size_t failures = 0;

	(void)state;
	for (int run = 0; run < 2; run++) {
		qn_status status = QN_ENOMEM;

		for (size_t n = 1; status != QN_OK; n += run ? 1 : 9, failures++) {
			heap h = {0};
			qn_ctx *ctx = context(&h, 4);
			qn_model *m = model(ctx);
			qn_array *calib = array(ctx, "calib.npy"), *y = NULL;

			h.fail_at = h.calls + n;
			status = run ? qn_run(m, 1, &calib, 1, 1, &y)
				     : qn_compile(m,
						  &(qn_compile_opts){.calib = &calib, .ncalib = 1});
			assert_true(status == QN_OK || status == QN_ENOMEM);
			qn_close(ctx);
			assert_int_equal(h.live, 0);
		}
	}
	assert_true(failures > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_two_contexts),
		cmocka_unit_test(test_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
