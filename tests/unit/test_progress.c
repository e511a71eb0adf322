/* SPDX-License-Identifier: Apache-2.0 */
/* test_progress.c - how far a call is, and a host that ends it at each moment: the status is its own,
 * and model and files are as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/calibrate.h"
#include "quern/measure.h"
#include "tests/unit/top1.h"

typedef struct watch {
	size_t calls, end; /* ends at this call, counted from 1; 0: never */
	char stage[400];   /* each stage once, in the order in which they begin */
	const char *last;
	uint64_t done, total;
	int wrong; /* done above total, or falling within a stage */
} watch;

static int
progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
	watch *w = user;

	w->calls++;
	w->wrong += done > total || total == 0;
	if (w->last == NULL || strcmp(w->last, stage) != 0) {
		if (strstr(w->stage, stage) == NULL) {
			(void)strcat(w->stage, stage);
			(void)strcat(w->stage, " ");
		}
	} else if (w->total == total) {
		w->wrong += done < w->done && done > 1; /* a stage may begin again */
	}
	w->last = stage;
	w->done = done;
	w->total = total;
	return w->end != 0 && w->calls >= w->end;
}

typedef struct text {
	char *s;
	size_t n;
} text;

static int
append(void *user, const char *piece, size_t n)
{
	text *t = user;

	t->s = realloc(t->s, t->n + n + 1);
	assert_non_null(t->s);
	memcpy(t->s + t->n, piece, n);
	t->n += n;
	t->s[t->n] = '\0';
	return 0;
}

static int
add_file(void *user, const char *name, const char *piece, size_t n)
{
	(void)name;
	return append(user, piece, n);
}

static char *
json_of(qn_model *m)
{
	text t = {NULL, 0};

	assert_int_equal(qn_print(m, QN_FORMAT_JSON, append, &t), QN_OK);
	return t.s;
}

static qn_array *
array(qn_ctx *ctx, const char *name)
{
	char path[100];
	qn_array *x;

	(void)snprintf(path, sizeof path, "examples/digits/%s", name);
	assert_int_equal(qn_array_load(ctx, path, &x), QN_OK);
	return x;
}

typedef struct world {
	watch w;
	qn_ctx *ctx;
	qn_model *m;
	qn_array *calib, *x, *y;
} world;

static void
begin(world *b, int threads)
{
	memset(b, 0, sizeof *b);
	b->ctx = qn_open(
		&(qn_config){.progress = progress, .progress_user = &b->w, .threads = threads});
	assert_non_null(b->ctx);
	assert_int_equal(qn_load(b->ctx, "examples/digits/digits.json", &b->m), QN_OK);
	assert_string_equal(b->w.stage, "load ");
	b->calib = array(b->ctx, "calib.npy");
	b->x = array(b->ctx, "test_x.npy");
	b->y = array(b->ctx, "test_y.npy");
	b->w = (watch){.calls = 0};
}

static qn_status
compile(world *b)
{
	return qn_compile(
		b->m,
		&(qn_compile_opts){.calib = &b->calib, .ncalib = 1, .method = "output:steps=2"});
}

static qn_status
observe(world *b)
{
	qn_stats *s;
	const qn_status status =
		qn_calibrate(b->m, &(qn_compile_opts){.calib = &b->calib, .ncalib = 1}, 1, 2, &s);

	assert_true((s != NULL) == (status == QN_OK));
	return status;
}

static qn_status
run(world *b)
{
	qn_array *y;
	const qn_status status = qn_run(b->m, 1, &b->x, 0, 1, &y);

	assert_true((y != NULL) == (status == QN_OK));
	return status;
}

static qn_status
measure(world *b)
{
	top1 t;

	return top1_of(b->m, b->x, b->y, &t);
}

/* Ends the call at each of its moments, or at some forty of them. */
static void
end_each(qn_status (*call)(world *b), const char *stages, int threads)
{
	world b;
	size_t step;
	char *was, *is;

	begin(&b, threads);
	assert_int_equal(call(&b), QN_OK);
	assert_string_equal(b.w.stage, stages);
	assert_int_equal(b.w.wrong, 0);
	step = b.w.calls / 40 + 1;
	const size_t most = b.w.calls;
	char *want = json_of(b.m);
	qn_close(b.ctx);
	assert_true(most > 2);
	begin(&b, threads);
	was = json_of(b.m);
	for (size_t end = 1; end <= most; end += step) {
		b.w = (watch){.end = end};
		assert_int_equal(call(&b), QN_ECANCELLED);
		assert_int_equal(b.w.calls, end); /* nothing is asked after it */
		is = json_of(b.m);
		assert_string_equal(is, was);
		free(is);
		assert_int_equal(qn_diag_count(b.ctx), 1);
		assert_string_equal(qn_diag_get(b.ctx, 0).id, "cancelled");
		qn_diag_clear(b.ctx);
	}
	/* what was ended so often still works, and gives the same */
	b.w = (watch){.calls = 0};
	assert_int_equal(call(&b), QN_OK);
	is = json_of(b.m);
	assert_string_equal(is, want);
	free(is);
	free(was);
	free(want);
	qn_close(b.ctx);
}

static void
ends_a_compile(void **state)
{
	(void)state;
	end_each(compile, "samples passes calibrate search ", 1);
	end_each(compile, "samples passes calibrate search ", 3);
}

static void
ends_a_calibration(void **state)
{
	(void)state;
	end_each(observe, "samples passes calibrate ", 1);
}

static void
ends_runs(void **state)
{
	(void)state;
	end_each(run, "samples run ", 1);
	end_each(run, "samples run ", 3);
	end_each(measure, "samples measure ", 2);
}

static void
ends_a_load(void **state)
{
	watch w = {.end = 1};
	qn_ctx *ctx = qn_open(&(qn_config){.progress = progress, .progress_user = &w});
	qn_model *m;

	(void)state;
	for (w.end = 1; w.end <= 2; w.end++) {
		w.calls = 0;
		assert_int_equal(qn_load(ctx, "examples/digits/digits.json", &m), QN_ECANCELLED);
		assert_null(m);
	}
	qn_close(ctx);
}

static void
ends_before_anything_is_written(void **state)
{
	world b;
	text t = {NULL, 0};

	(void)state;
	begin(&b, 1);
	assert_int_equal(qn_compile(b.m, &(qn_compile_opts){.calib = &b.calib, .ncalib = 1}),
			 QN_OK);
	b.w = (watch){.calls = 0};
	assert_int_equal(qn_emit_to(b.m, NULL, add_file, &t, NULL), QN_OK);
	assert_string_equal(b.w.stage, "emit ");
	free(t.s);
	t = (text){NULL, 0};
	const size_t most = b.w.calls;
	for (size_t end = 1; end <= most; end++) {
		b.w = (watch){.end = end};
		assert_int_equal(qn_emit_to(b.m, NULL, add_file, &t, NULL), QN_ECANCELLED);
		assert_null(t.s);
		b.w = (watch){.end = end};
		assert_int_equal(qn_emit(b.m, "/tmp/quern-never", NULL, NULL), QN_ECANCELLED);
		assert_null(fopen("/tmp/quern-never/digits.c", "rb"));
	}
	qn_close(b.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_a_compile),
		cmocka_unit_test(ends_a_calibration),
		cmocka_unit_test(ends_runs),
		cmocka_unit_test(ends_a_load),
		cmocka_unit_test(ends_before_anything_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
