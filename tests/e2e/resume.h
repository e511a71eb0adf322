/* SPDX-License-Identifier: Apache-2.0 */
/* resume.h - networks, options and steps for tests that stop a compilation and start it again.
 *
 *   resume_case c = {.net = …, .row = …};
 *   resume_load(&c, path)          a model and samples for it, in a context of its own
 *   resume_compile(&c, 3, 5)       passes 3 and 4 of the list, with the options that they still read
 *   resume_end(&c)                 what came out: files, or the graph; and all that was reported */
#ifndef QN_TESTS_RESUME_H
#define QN_TESTS_RESUME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/quern.h"

/* ---- texts that grow ---- */

typedef struct resume_text {
	char *data;
	size_t n, cap;
} resume_text;

static inline void
resume_append(resume_text *t, const char *data, size_t n)
{
	if (t->n + n + 1 > t->cap) {
		t->cap = (t->n + n + 1) * 2;
		t->data = realloc(t->data, t->cap);
		assert_non_null(t->data);
	}
	memcpy(t->data + t->n, data, n);
	t->n += n;
	t->data[t->n] = '\0';
}

static inline int
resume_write(void *user, const char *text, size_t n)
{
	resume_append(user, text, n);
	return 0;
}

static inline int
resume_file(void *user, const char *name, const char *text, size_t n)
{
	(void)name;
	resume_append(user, text, n);
	return 0;
}

static inline void
resume_free(resume_text *t)
{
	free(t->data);
	*t = (resume_text){0};
}

/* ---- networks ---- */

typedef struct resume_net {
	const char *name;
	const char *text; /* in text form, or NULL: a file */
	const char *file; /* of the source's folder or, with `data`, of that of QUERN_DATA */
	bool data;
	const char *skip, *recipe; /* that hold for something in it */
	size_t samples;
} resume_net;

/* ---- rows of options ---- */

typedef struct resume_row {
	const char *name;
	bool skip, recipe;
	const char *method;
	int align;
	qn_rounding rounding;
	qn_scheme_kind scheme;
	bool repairs;
	bool slow; /* in the quick tier for networks of this file alone */
} resume_row;

static const resume_row resume_rows[] = {
	{.name = "defaults"},
	{.name = "skip", .skip = true},
	{.name = "recipe", .recipe = true},
	{.name = "output", .method = "output:steps=3", .slow = true},
	{.name = "align, single", .align = 12, .rounding = QN_ROUND_SINGLE},
	{.name = "rfc", .scheme = QN_RFC},
	{.name = "repairs", .repairs = true},
	{.name = "skip, recipe, output",
	 .skip = true,
	 .recipe = true,
	 .method = "output:steps=3",
	 .slow = true},
};

/* ---- a compilation ---- */

typedef struct resume_case {
	const resume_net *net;
	const resume_row *row;
	qn_ctx *ctx;
	qn_model *m;
	qn_array *x[4];
	size_t nin;
	qn_status status;
	resume_text out; /* reports of all steps, then what came out */
} resume_case;

enum {
	RESUME_INLINE_BODIES,
	RESUME_AXES,
	RESUME_CLEAN,
	RESUME_FAKE_QUANT,
	RESUME_EQUALIZE,
	RESUME_PARTITION,
	RESUME_QUANTIZE,
	RESUME_INSTRUMENT,
	RESUME_TRANSFORM,
	RESUME_CALIBRATE,
	RESUME_REPAIR,
	RESUME_BIND,
	RESUME_SIMPLIFY,
	RESUME_REQUANTIZE,
	RESUME_ALIGN
};

/* The passes of a straight run; those that run on request alone are the last of the list. */
static inline size_t
resume_passes(void)
{
	size_t n = 0;

	while (qn_pass_name(n) != NULL && strcmp(qn_pass_name(n), "lower-fixed-point") != 0)
		n++;
	return n;
}

/* The passes of a row by default: align is one of them only when asked for, and so are those of the
 * solver; fake-quant and inline-bodies where the graph has such nodes, which none of these has. */
static inline bool
resume_runs(const resume_row *row, size_t pass)
{
	if (pass == RESUME_INLINE_BODIES || pass == RESUME_FAKE_QUANT || pass == RESUME_EQUALIZE ||
	    pass == RESUME_INSTRUMENT || pass == RESUME_TRANSFORM || pass == RESUME_SIMPLIFY ||
	    (pass == RESUME_REPAIR && !row->repairs))
		return false;
	return row->align != 0 || strcmp(qn_pass_name(pass), "align") != 0;
}

/* Places differ: a line of the one file is none of the other. */
static inline void
resume_take_reports(resume_case *c)
{
	for (size_t i = 0; i < qn_diag_count(c->ctx); i++) {
		const qn_diagnostic d = qn_diag_get(c->ctx, i);

		resume_append(&c->out, d.id, strlen(d.id));
		resume_append(&c->out, ": ", 2);
		resume_append(&c->out, d.message, strlen(d.message));
		resume_append(&c->out, "\n", 1);
	}
	qn_diag_clear(c->ctx);
}

static inline void
resume_samples(resume_case *c)
{
	const size_t n = c->net->samples;

	for (c->nin = 0; qn_model_input_name(c->m, c->nin) != NULL; c->nin++) {
		const char *type = qn_model_input_type(c->m, c->nin);
		int64_t dim[8] = {0}, count = 1;
		int rank = 0;

		assert_non_null(type);
		assert_true(c->nin < 4);
		for (const char *s = strchr(type, '<') + 1; *s >= '0' && *s <= '9'; s++)
			dim[rank++] = strtoll(s, (char **)(uintptr_t)&s, 10);
		dim[0] *= (int64_t)n;
		for (int i = 0; i < rank; i++)
			count *= dim[i];
		float *v = calloc((size_t)count, sizeof *v);
		uint32_t seed = 7;
		assert_non_null(v);
		for (int64_t i = 0; i < count; i++) {
			seed = seed * 1664525u + 1013904223u;
			v[i] = (float)(seed >> 16) / 65536.0f * 4 - 1;
		}
		assert_int_equal(qn_array_new(c->ctx, "f32", rank, dim, v, &c->x[c->nin]), QN_OK);
		free(v);
	}
}

/* Reads the model; the samples are made when it is read for the first time. */
static inline void
resume_load(resume_case *c, const char *path)
{
	if (qn_load(c->ctx, path, &c->m) != QN_OK) {
		resume_take_reports(c);
		fail_msg("%s: %s", path, c->out.data);
	}
	resume_take_reports(c);
	if (c->nin == 0)
		resume_samples(c);
}

/* Passes from…to - 1, with the options that these still read. */
static inline void
resume_compile(resume_case *c, size_t from, size_t to)
{
	const bool quantizes = from <= RESUME_QUANTIZE;
	const bool calibrates = from <= RESUME_CALIBRATE;
	const resume_row *r = c->row;
	const bool repairs = r->repairs && from <= RESUME_REPAIR && to > RESUME_REPAIR;
	/* a recipe without rules that skip is of no use to partition, and refused there */
	const bool recipe = r->recipe && quantizes &&
			    to > (strstr(c->net->recipe, "\"skip\"") != NULL ? RESUME_PARTITION
									     : RESUME_QUANTIZE);
	const qn_compile_opts opts = {
		.scheme = quantizes ? r->scheme : QN_TFLITE,
		.skip = r->skip && from <= RESUME_PARTITION && to > RESUME_PARTITION ? c->net->skip
										     : NULL,
		.recipe = recipe ? c->net->recipe : NULL,
		.method = calibrates ? r->method : NULL,
		.align = from <= RESUME_ALIGN && to > RESUME_ALIGN ? r->align : 0,
		.rounding = from <= RESUME_AXES ? r->rounding : QN_ROUND_DEFAULT,
		.calib = c->x,
		.ncalib = calibrates || repairs ? c->nin : 0,
		.weights_type = quantizes && r->repairs ? QN_WEIGHTS_I4 : QN_WEIGHTS_I8,
		.weight_rounding = repairs ? QN_WEIGHTS_GPTQ : QN_WEIGHTS_NEAREST,
		.bias_correction = repairs,
		.stop_after = to < resume_passes() ? qn_pass_name(to - 1) : NULL,
	};

	c->status = qn_compile(c->m, &opts);
	resume_take_reports(c);
}

/* The files of an integer model, else the graph as the last pass left it. */
static inline void
resume_end(resume_case *c)
{
	const qn_emit_opts with_test = {.test = c->x, .ntest = c->nin, .test_samples = 2};
	qn_status status = strcmp(qn_model_stage(c->m), "integer") == 0
				   ? qn_emit_to(c->m, &with_test, resume_file, &c->out, NULL)
				   : qn_print(c->m, QN_FORMAT_IR, resume_write, &c->out);

	resume_take_reports(c);
	assert_int_equal(status, QN_OK);
}

static inline void
resume_open(resume_case *c, const resume_net *net, const resume_row *row, const qn_config *config)
{
	*c = (resume_case){.net = net, .row = row};
	c->ctx = qn_open(config);
	assert_non_null(c->ctx);
}

static inline void
resume_close(resume_case *c)
{
	qn_close(c->ctx);
	resume_free(&c->out);
}

#endif
