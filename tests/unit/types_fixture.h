/* SPDX-License-Identifier: Apache-2.0 */
/* types_fixture.h - what the tests of types share: a table of types on the heap, and text to
 * type and back in one call. */
#ifndef QN_TESTS_TYPES_FIXTURE_H
#define QN_TESTS_TYPES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/diag.h"
#include "ir/type.h"

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_types t;
} fixture;

static inline void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

static inline int
setup(void **state)
{
	fixture *f = calloc(1, sizeof *f);

	f->env = (qn_env){.alloc = heap, .diags = &f->diags};
	qn_arena_init(&f->arena, &f->env);
	qn_types_init(&f->t, &f->arena);
	*state = f;
	return 0;
}

static inline int
teardown(void **state)
{
	fixture *f = *state;

	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	free(f);
	return 0;
}

static inline const qn_elem *
elem(fixture *f, const char *s)
{
	qn_text text;
	const qn_elem *e = NULL;

	qn_text_init(&text, "", s, strlen(s));
	if (qn_elem_parse(&f->t, &text, &e) != QN_OK)
		return NULL;
	return text.at == text.end ? e : NULL;
}

static inline const qn_type *
type(fixture *f, const char *s)
{
	const qn_type *type = NULL;

	return qn_type_parse_str(&f->t, "t", s, &type) == QN_OK ? type : NULL;
}

static inline const char *
elem_text(fixture *f, const qn_elem *e)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_elem_print(&b, e);
	return qn_buf_str(&b);
}

static inline const char *
type_text(fixture *f, const qn_type *x)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_type_print(&b, x);
	return qn_buf_str(&b);
}

static inline const char *
scale_text(fixture *f, const qn_scale *s)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_scale_print(&b, s);
	return qn_buf_str(&b);
}

/* Exactly one diagnostic, this one; then the list is emptied. */
static inline void
expect_diag(fixture *f, const char *id, const char *what)
{
	if (f->diags.n != 1 || strcmp(f->diags.item[0].id, id) != 0)
		fail_msg("%s: expected %s, got %zu: %s (%s)", what, id, f->diags.n,
			 f->diags.n > 0 ? f->diags.item[0].id : "none",
			 f->diags.n > 0 ? f->diags.item[0].message : "");
	qn_diags_clear(&f->env, &f->diags);
}

static inline const qn_symbol *
declare(fixture *f, const char *name, qn_sym_kind kind, int64_t len)
{
	qn_symbol *s = NULL;

	assert_int_equal(qn_symbol_declare(&f->t, "", name, kind, len, &s), QN_OK);
	return s;
}

#endif
