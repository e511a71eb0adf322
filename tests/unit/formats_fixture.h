/* SPDX-License-Identifier: Apache-2.0 */
/* formats_fixture.h - a context, a type table and a folder of its own for each test of files and
 * JSON; and the cutting and changing of bytes: a valid file is cut at every length and changed
 * at every byte, and the result must be a diagnostic or a good value, never a bad access (run
 * under ASan and UBSan; each variant lives in memory of exactly its size). */
#ifndef QN_TESTS_FORMATS_FIXTURE_H
#define QN_TESTS_FORMATS_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/file.h"
#include "ir/diag.h"
#include "ir/graph.h"

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_types t;
	char folder[64];
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

static inline void
restart(fixture *f)
{
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	qn_types_init(&f->t, &f->arena);
}

static inline int
setup(void **state)
{
	fixture *f = calloc(1, sizeof *f);

	f->env = (qn_env){.alloc = heap, .diags = &f->diags};
	qn_arena_init(&f->arena, &f->env);
	qn_types_init(&f->t, &f->arena);
	(void)snprintf(f->folder, sizeof f->folder, "/tmp/quern-test-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	*state = f;
	return 0;
}

/* The files and folders in a folder; with `remove` they are gone afterwards. */
static inline int
entries_of(const char *folder, bool remove)
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
		char path[512];

		if (e->d_name[0] == '.')
			continue;
		n++;
		(void)snprintf(path, sizeof path, "%.200s/%.255s", folder, e->d_name);
		if (remove && unlink(path) != 0) {
			(void)entries_of(path, true);
			(void)rmdir(path);
		}
	}
	(void)closedir(d);
	return n;
}

static inline int
entries(const fixture *f, bool remove)
{
	return entries_of(f->folder, remove);
}

static inline int
teardown(void **state)
{
	fixture *f = *state;

	(void)entries(f, true);
	(void)rmdir(f->folder);
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	free(f);
	return 0;
}

static inline const char *
last_id(const fixture *f)
{
	return f->diags.n > 0 ? f->diags.item[f->diags.n - 1].id : "";
}

static inline const char *
in_folder(fixture *f, const char *name)
{
	return qn_path_join(&f->arena, f->folder, name);
}

/* ---- models ---- */

static inline const char *
all_diags(fixture *f)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	for (size_t i = 0; i < f->diags.n; i++)
		qn_buff(&b, "%s: %s: %s\n", f->diags.item[i].place, f->diags.item[i].id,
			f->diags.item[i].message);
	return qn_buf_str(&b);
}

static inline qn_model *
new_model(fixture *f)
{
	qn_model *m = QN_NEW(&f->arena, qn_model, 1);

	qn_model_init(m, &f->env, &f->arena, "none");
	return m;
}

/* ---- every cut and every changed byte ---- */

typedef qn_status parse_fn(fixture *f, const char *s, size_t n);

static inline void
try_bytes(fixture *f, parse_fn *parse, const char *s, size_t n)
{
	char *exact = malloc(n > 0 ? n : 1);
	size_t errors = 0;

	memcpy(exact, s, n);
	qn_status status = parse(f, exact, n);
	errors = f->diags.nerrors;
	if ((status == QN_OK) != (errors == 0))
		fail_msg("status %d with %zu diagnostics", (int)status, errors);
	restart(f);
	free(exact);
}

static inline void
hurt(fixture *f, parse_fn *parse, const char *s, size_t n)
{
	static const unsigned char masks[] = {0xff, 0x01, 0x02, 0x08, 0x20, 0x80};
	char *copy = malloc(n);

	memcpy(copy, s, n); /* s may lie in the arena that is released */
	try_bytes(f, parse, copy, n);
	for (size_t i = 0; i < n; i++)
		try_bytes(f, parse, copy, i);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof masks; k++) {
			copy[i] = (char)((unsigned char)copy[i] ^ masks[k]);
			try_bytes(f, parse, copy, n);
			copy[i] = (char)((unsigned char)copy[i] ^ masks[k]);
		}
	}
	free(copy);
}

#endif
