/* SPDX-License-Identifier: Apache-2.0 */
/* graph_fixture.h - an empty model for each test of graphs, and an allocator that can run dry. */
#ifndef QN_TESTS_GRAPH_FIXTURE_H
#define QN_TESTS_GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/diag.h"
#include "ir/graph.h"

/* ---- fixture ---- */

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_model m;
	long left; /* allocations that succeed; -1: all */
} fixture;

static inline void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	fixture *f = user;

	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	if (f->left == 0)
		return NULL;
	f->left -= f->left > 0;
	return realloc(p, new_size);
}

static inline void
open_model(fixture *f)
{
	f->env = (qn_env){.alloc = heap, .alloc_user = f, .diags = &f->diags};
	qn_arena_init(&f->arena, &f->env);
	qn_model_init(&f->m, &f->env, &f->arena, "model");
}

static inline void
close_model(fixture *f)
{
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
}

static inline int
setup(void **state)
{
	fixture *f = calloc(1, sizeof *f);

	f->left = -1;
	open_model(f);
	*state = f;
	return 0;
}

static inline int
teardown(void **state)
{
	close_model(*state);
	free(*state);
	return 0;
}

static inline qn_status
parse(fixture *f, const char *text)
{
	return qn_model_parse(&f->m, "t", text, strlen(text));
}

static inline qn_graph *
graph_of(fixture *f, const char *text)
{
	assert_int_equal(parse(f, text), QN_OK);
	return qn_model_entry(&f->m);
}

/* The ids of all errors so far, which are then forgotten. */
static inline void
assert_ids(fixture *f, const char *want)
{
	char got[1000] = "";

	for (size_t i = 0; i < f->diags.n; i++) {
		if (i > 0)
			strncat(got, " ", sizeof got - strlen(got) - 1);
		strncat(got, f->diags.item[i].id, sizeof got - strlen(got) - 1);
	}
	assert_string_equal(got, want);
	qn_diags_clear(&f->env, &f->diags);
}

#endif
