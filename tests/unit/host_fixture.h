/* SPDX-License-Identifier: Apache-2.0 */
/* host_fixture.h - a host with a heap of its own, a small model, and the files that it was handed. */
#ifndef QN_TESTS_HOST_FIXTURE_H
#define QN_TESTS_HOST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"

enum { HOST_FILES = 6, HOST_TEXT = 1 << 18 };

typedef struct host_file {
	char name[64];
	size_t n, pieces;
	char *text;
} host_file;

/* Unlocked on purpose: ThreadSanitizer sees when two threads call one heap at once. */
typedef struct host {
	size_t live, blocks, foreign; /* foreign: blocks that another heap gave out */
	size_t until_failure; /* allocations; the one that makes it 0 returns NULL; 0: none does */
	float step;           /* of the weights: another model for each host */
	qn_ctx *ctx;
	qn_model *m;
	qn_array *x;
	qn_status status;
	size_t nfile, calls, stop_at; /* stop_at: the call that fails; 0: none */
	host_file file[HOST_FILES];
} host;

/* Stands before each block, and keeps it aligned. */
typedef union host_tag {
	const host *owner;
	max_align_t align;
} host_tag;

static void *
host_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	host *h = user;
	host_tag *tag = p != NULL ? (host_tag *)p - 1 : NULL;

	if (new_size > (size_t)1 << 36)
		return NULL;
	if (new_size > 0 && h->until_failure > 0 && --h->until_failure == 0)
		return NULL;
	if (tag != NULL) {
		h->foreign += tag->owner != h;
		h->live -= old_size;
		h->blocks--;
	}
	if (new_size == 0) {
		free(tag);
		return NULL;
	}
	tag = realloc(tag, sizeof *tag + new_size);
	assert_non_null(tag);
	tag->owner = h;
	h->live += new_size;
	h->blocks++;
	return tag + 1;
}

static inline int
host_take(void *user, const char *name, const char *text, size_t n)
{
	host *h = user;
	host_file *f = &h->file[h->nfile > 0 ? h->nfile - 1 : 0];

	if (++h->calls == h->stop_at)
		return 1;
	assert_true(n > 0);
	if (h->nfile == 0 || strcmp(f->name, name) != 0) {
		assert_true(h->nfile < HOST_FILES);
		assert_true(strlen(name) < sizeof f->name);
		f = &h->file[h->nfile++];
		f->text = malloc(HOST_TEXT);
		assert_non_null(f->text);
		memcpy(f->name, name, strlen(name) + 1);
	}
	assert_true(n <= HOST_TEXT - f->n);
	memcpy(f->text + f->n, text, n);
	f->n += n;
	f->pieces++;
	return 0;
}

static void
host_drop_files(host *h)
{
	for (size_t i = 0; i < h->nfile; i++)
		free(h->file[i].text);
	memset(h->file, 0, sizeof h->file);
	h->nfile = h->calls = 0;
}

/* ---- what a host does, step by step ---- */

static void
host_open(host *h)
{
	h->ctx = qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = h, .threads = 2});
	assert_non_null(h->ctx);
}

/* relu(dense(x, w)) of 8 to 3. */
static void
host_build(host *h)
{
	float w[3 * 8], x[20 * 8];
	qn_array *weights;

	for (int i = 0; i < 3 * 8; i++)
		w[i] = h->step * (float)(i * 5 % 11 - 5);
	for (int i = 0; i < 20 * 8; i++)
		x[i] = 0.125f * (float)(i * 7 % 31 - 15);
	assert_int_equal(qn_array_new(h->ctx, "f32", 2, (const int64_t[]){3, 8}, w, &weights), 0);
	assert_int_equal(qn_array_new(h->ctx, "f32", 2, (const int64_t[]){20, 8}, x, &h->x), 0);
	assert_int_equal(qn_model_new(h->ctx, "net", &h->m), QN_OK);
	qn_graph *g = qn_model_main(h->m);
	qn_id in[2] = {qn_add_input(g, "x", "tensor<1x8xf32>"), qn_add_const(g, "w", weights)};
	qn_id y = qn_add_op(g, "dense", "fc", 2, in, NULL, NULL);
	y = qn_add_op(g, "relu", "y", 1, &y, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
}

static void
host_compile(host *h)
{
	assert_int_equal(qn_compile(h->m, &(qn_compile_opts){.calib = &h->x, .ncalib = 1}), QN_OK);
}

static void
host_emit(host *h)
{
	h->status =
		qn_emit_to(h->m, &(qn_emit_opts){.test = &h->x, .ntest = 1}, host_take, h, NULL);
}

static void
host_close(host *h)
{
	qn_close(h->ctx);
	h->ctx = NULL;
}

#endif
