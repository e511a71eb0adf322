/* SPDX-License-Identifier: Apache-2.0 */
/* test_tune_journal.c - journals of quern tune as somebody may hand them over: cut off, with bytes changed, with
 * numbers beyond what a network has. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp, chdir */
#endif
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/context.h"
#include "driver/tune_journal.h"

static const char name[] = "net.journal.json", merged[] = "merged.journal.json";
static const char recipe[] =
	"{\"rules\": [{\"weights\": \"i4\", \"weight-rounding\": \"adaptive\", "
	"\"bias-correction\": true, "
	"\"equalize\": true}, {\"name\": \"fc\", \"weights\": \"i8\", \"activations\": \"i16\"}]}";
static const char other_recipe[] = "{\"rules\": [{\"weights\": \"i2 block 16\"}]}";

typedef struct fixture {
	qn_ctx *ctx;
	qn_arena a;
	qn_tune_layer layer[2];
	qn_tune_entry entry;
} fixture;

static void
make(fixture *f)
{
	f->layer[0] = (qn_tune_layer){.name = "conv \"1\"\n",
				      .op = "conv2d",
				      .has_weights = true,
				      .weights = 1e-3,
				      .data = 1e12,
				      .bytes = 288,
				      .instructions = 77943};
	f->layer[1] = (qn_tune_layer){.name = "relu", .op = "relu"};
	f->entry = (qn_tune_entry){.item = {recipe, true},
				   .weight_bytes = 7247,
				   .arena_bytes = 3072,
				   .instructions = (uint64_t)1 << 44,
				   .metric = 99.5,
				   .sqnr = (double)INFINITY,
				   .nlayer = 2,
				   .layer = f->layer};
}

/* The journal with the entry and one that failed. */
static const char *
journal_of(fixture *f)
{
	const qn_tune_entry failed = {.item = {other_recipe, false}, .failed = true};
	qn_tune_search s = {.of_model = 0x1234abcd, .of_samples = 7, .a = &f->a};
	qn_model m = {.env = &f->ctx->env};
	char *text;

	s.m = &m;
	qn_tune_add(&s.entries, &f->entry, &f->a);
	qn_tune_add(&s.entries, &failed, &f->a);
	assert_int_equal(qn_tune_journal_write(&s, name), QN_OK);
	FILE *in = fopen(name, "rb");
	assert_non_null(in);
	text = qn_arena_alloc(&f->a, 1 << 14, 1);
	text[fread(text, 1, (1 << 14) - 1, in)] = '\0';
	assert_int_equal(fclose(in), 0);
	return text;
}

static qn_status
read_text(fixture *f, const char *text, size_t n)
{
	const char *const journals[] = {name};

	qn_diag_clear(f->ctx);
	assert_int_equal(qn_file_add(f->ctx, name, text, n), QN_OK);
	const qn_status status = qn_tune_merge(f->ctx, 1, journals, merged);
	assert_int_equal(qn_file_remove(f->ctx, name), 1);
	return status;
}

static void
expect_refused(fixture *f, const char *text, size_t n)
{
	assert_int_equal(read_text(f, text, n), QN_EINVALID);
	const qn_diagnostic d = qn_diag_get(f->ctx, qn_diag_count(f->ctx) - 1);
	assert_string_equal(d.id, "tune.journal");
	assert_memory_equal(d.place, name, strlen(name));
	assert_non_null(strstr(d.message, "remove"));
}

/* What was read, written again. */
static void
expect_merged(const char *text)
{
	char again[1 << 14];
	FILE *in = fopen(merged, "rb");

	assert_non_null(in);
	again[fread(again, 1, sizeof again - 1, in)] = '\0';
	assert_int_equal(fclose(in), 0);
	assert_string_equal(again, text);
}

static void
comes_back(void **state)
{
	fixture *f = *state;
	const char *text = journal_of(f);

	assert_int_equal(read_text(f, text, strlen(text)), QN_OK);
	expect_merged(text);
}

static void
refuses_all_that_is_cut_off(void **state)
{
	fixture *f = *state;
	const char *text = journal_of(f);
	const size_t end = strlen(text) - 2; /* behind it is a line end */

	for (size_t n = 0; n < end; n++)
		expect_refused(f, text, n);
}

/* Any byte of the entries becomes another one: what is read is what was written, as with another space, or nothing. */
static void
refuses_changed_entries(void **state)
{
	static const char other[] = "\"{}[]:,-.e0179ntf\\ \x01\xff";
	fixture *f = *state;
	char *text = qn_arena_alloc(&f->a, 1 << 14, 1);
	const char *original = journal_of(f);
	size_t refused = 0;

	strcpy(text, original);
	char *const begin = strstr(text, "{\"recipe");
	for (char *p = begin; p < text + strlen(text) - 8; p++) {
		const char was = *p;

		*p = other[(size_t)(p - begin) * 7 % (sizeof other - 1)];
		if (read_text(f, text, strlen(text)) == QN_OK)
			expect_merged(original);
		else
			refused++;
		*p = was;
	}
	assert_true(refused > 500);
}

/* What would make sums overflow, or is no noise: written with a check sum that fits. */
static void
refuses_what_no_network_has(void **state)
{
	static const double noise[] = {-1e-9, 2e12, (double)INFINITY, -(double)INFINITY,
				       (double)NAN};
	fixture *f = *state;
	const char *text;

	for (size_t i = 0; i < 2 * QN_COUNT(noise); i++) {
		make(f);
		*(i % 2 == 0 ? &f->layer[0].weights : &f->layer[0].data) = noise[i / 2];
		text = journal_of(f);
		expect_refused(f, text, strlen(text));
	}
	uint64_t *const count[] = {&f->layer[0].bytes, &f->layer[0].instructions,
				   &f->entry.weight_bytes, &f->entry.arena_bytes,
				   &f->entry.instructions};
	for (size_t i = 0; i < QN_COUNT(count); i++) {
		make(f);
		*count[i] = ((uint64_t)1 << 44) + 1;
		text = journal_of(f);
		expect_refused(f, text, strlen(text));
	}
	make(f);
	f->entry.metric = (double)NAN;
	text = journal_of(f);
	expect_refused(f, text, strlen(text));
}

/* Recipes that the search would not write, so that nothing depends on them. */
static void
refuses_other_recipes(void **state)
{
	static const char *const texts[] = {
		"",
		"[",
		"[]",
		"{}",
		"{\"rules\": []}",
		"{\"rules\": [{}]}",
		"{\"rules\": [\"i8\"]}",
		"{\"rules\": [{\"weights\": \"i3\"}]}",
		"{\"rules\": [{\"weights\": 8}]}",
		"{\"rules\": [{\"weights\": \"i8\", \"op\": \"dense\"}]}",
		"{\"rules\": [{\"name\": \"a\", \"weights\": \"i8\"}]}",
		"{\"rules\": [{\"weights\": \"i8\"}, {\"weights\": \"i4\"}]}",
		"{\"rules\": [{\"weights\": \"i8\"}, {\"name\": \"a\"}]}",
		"{\"rules\": [{\"weights\": \"i8\"}, {\"name\": \"a\", \"activations\": \"u8\"}]}",
		"{\"rules\": [{\"weights\": \"i8\"}, null]}",
		"{\"rules\": [{\"weights\": \"i8\", \"equalize\": false}]}",
		"{\"rules\": [{\"weights\": \"i8\", \"weight-rounding\": true}]}",
		"{\"rules\": [{\"weights\": \"i8\", \"weight-rounding\": \"nearest\"}]}",
		"{\"rules\": [{\"weights\": \"i8\", \"bias-correction\": \"gptq\"}]}",
		"{\"rules\": [{\"weights\": \"i8\"}, {\"name\": \"a\", \"equalize\": true}]}",
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(texts); i++) {
		f->entry.item.recipe = texts[i];
		const char *text = journal_of(f);
		expect_refused(f, text, strlen(text));
	}
}

static char folder[] = "/tmp/quern-journal.XXXXXX";

static int
set_up(void **state)
{
	static fixture f;

	f.ctx = qn_open(NULL);
	if (f.ctx == NULL)
		return 1;
	qn_arena_init(&f.a, &f.ctx->env);
	make(&f);
	*state = &f;
	return 0;
}

static int
clean_up(void **state)
{
	fixture *f = *state;

	qn_arena_release(&f->a);
	qn_close(f->ctx);
	return 0;
}

static int
enter(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int
leave(void **state)
{
	(void)state;
	(void)remove(name);
	(void)remove(merged);
	return chdir("/") != 0 || rmdir(folder) != 0;
}

#define WITH_CONTEXT(test) cmocka_unit_test_setup_teardown(test, set_up, clean_up)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CONTEXT(comes_back),
		WITH_CONTEXT(refuses_all_that_is_cut_off),
		WITH_CONTEXT(refuses_changed_entries),
		WITH_CONTEXT(refuses_what_no_network_has),
		WITH_CONTEXT(refuses_other_recipes),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
