/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the fuzz targets share: memory with an end, and properties that must hold.
 *
 *   bytes ──LLVMFuzzerTestOneInput──▶ fuzz_run(target) ──▶ read, verify, print, read again: equal?
 *
 * A target is a file fuzz_NAME.c.  With -DQUERN_FUZZ=ON it is linked with libFuzzer (scripts/fuzz);
 * otherwise with replay.c, which runs the files of tests/fuzz/corpus/NAME through it (ctest). */
#ifndef QN_TESTS_FUZZ_H
#define QN_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_MEMORY = 256 << 20 }; /* more than this is out of memory, and that is tested too */

typedef struct fuzz {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	size_t live;
	bool bounded; /* memory must not run out */
} fuzz;

typedef void fuzz_fn(fuzz *f, const char *data, size_t n);

/* A property that does not hold ends the program: that is a finding. */
#define FUZZ_CHECK(ok)                                                                             \
	do {                                                                                       \
		if (!(ok)) {                                                                       \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #ok);           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static inline void *
fuzz_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	size_t *live = user;

	if (new_size > FUZZ_MEMORY || *live - old_size + new_size > FUZZ_MEMORY)
		return NULL;
	*live = *live - (p != NULL ? old_size : 0) + new_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	p = realloc(p, new_size);
	FUZZ_CHECK(p != NULL);
	return p;
}

/* Runs fn; memory that runs out ends it in order. */
static inline void
fuzz_run(fuzz_fn *fn, const uint8_t *data, size_t size)
{
	fuzz *f = calloc(1, sizeof *f);
	jmp_buf oom;

	FUZZ_CHECK(f != NULL);
	f->env = (qn_env){.alloc = fuzz_alloc, .alloc_user = &f->live, .diags = &f->diags};
	f->env.oom = &oom;
	qn_arena_init(&f->arena, &f->env);
	if (setjmp(oom) == 0)
		fn(f, (const char *)data, size);
	else
		FUZZ_CHECK(!f->bounded);
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	FUZZ_CHECK(f->live == 0);
	free(f);
}

static inline qn_model *
fuzz_model(fuzz *f)
{
	qn_model *m = QN_NEW(&f->arena, qn_model, 1);

	qn_model_init(m, &f->env, &f->arena, "m");
	return m;
}

static inline const char *
fuzz_text(fuzz *f, const qn_model *m)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_model_print(&b, m);
	return qn_buf_str(&b);
}

/* How many bytes stand before the sections of a golden test. */
static inline size_t
fuzz_cut(const uint8_t *data, size_t size)
{
	size_t n = 0;

	while (n < size && !(size - n > 4 && memcmp(data + n, "\n--- ", 5) == 0))
		n++;
	return n;
}

/* Whether an error was reported: a failure without one tells the user nothing. */
static inline bool
fuzz_told(const fuzz *f)
{
	return f->diags.nerrors > 0;
}

#endif
