/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - integer graphs in a few lines, for tests of code generation.
 *
 *   builder b;
 *   build_begin(&b, "net", 1);
 *   qn_id x = build_input(&b, "x", "tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>");
 *   qn_id y = build_op(&b, QN_OP_relu, "y", IDS(x), NULL, NULL);
 *   qn_graph_output(b.g, "y", y);
 *   build_end(&b);
 *
 * A mistake in a graph fails the test and prints the diagnostics. */
#ifndef QN_TESTS_BUILD_H
#define QN_TESTS_BUILD_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/graph.h"

#define IDS(...)                                                                                   \
	(uint32_t)(sizeof((qn_id[]){__VA_ARGS__}) / sizeof(qn_id)), (const qn_id[])                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

typedef struct builder {
	qn_env env;
	qn_diags diags;
	jmp_buf oom;
	qn_arena arena;
	qn_model model;
	qn_graph *g;
	uint64_t seed;
	const uint8_t *byte; /* a fuzzer's bytes: each draw takes one of the nbyte left */
	size_t nbyte;
} builder;

static inline void *
build_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	p = realloc(p, new_size);
	if (p == NULL)
		abort();
	return p;
}

static inline void
build_begin(builder *b, const char *name, uint64_t seed)
{
	memset(b, 0, sizeof(*b));
	b->env.alloc = build_alloc;
	b->env.diags = &b->diags;
	b->env.oom = &b->oom;
	b->seed = seed;
	qn_arena_init(&b->arena, &b->env);
	qn_model_init(&b->model, &b->env, &b->arena, name);
	b->model.stage = QN_STAGE_INTEGER;
	b->g = qn_graph_new(&b->model, "main");
}

static inline void
build_end(builder *b)
{
	qn_diags_clear(&b->env, &b->diags);
	qn_arena_release(&b->arena);
}

/* Fails the test with all diagnostics unless ok. */
static inline void
build_check(builder *b, bool ok)
{
	size_t i;

	for (i = 0; !ok && i < b->diags.n; i++)
		print_error("%s: %s: %s\n", b->diags.item[i].id, b->diags.item[i].place,
			    b->diags.item[i].message);
	if (!ok)
		fail_msg("model '%s'", b->model.name != NULL ? b->model.name : "");
}

/* A model from its text form. */
static inline void
build_parse(builder *b, const char *text)
{
	build_begin(b, "", 1);
	build_check(b, qn_model_parse(&b->model, "test", text, strlen(text)) == QN_OK);
	b->g = qn_model_entry(&b->model);
}

/* Whether a diagnostic with this id was reported. */
static inline bool
build_reported(const builder *b, const char *id)
{
	size_t i;

	for (i = 0; i < b->diags.n; i++)
		if (strcmp(b->diags.item[i].id, id) == 0)
			return true;
	return false;
}

/* A number in [lo, hi]. */
static inline int64_t
build_random(builder *b, int64_t lo, int64_t hi)
{
	if (b->nbyte > 0) {
		b->seed += *b->byte++;
		b->nbyte--;
	}
	b->seed = b->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t n = (uint64_t)hi - (uint64_t)lo + 1; /* 0: 2^64 */
	return lo + (int64_t)(n > 0 ? (b->seed >> 33) % n : b->seed >> 33);
}

static inline const qn_type *
build_type(builder *b, const char *text)
{
	const qn_type *t = NULL;

	if (text != NULL)
		build_check(b, qn_type_parse_str(&b->model.types, "test", text, &t) == QN_OK);
	return t;
}

static inline qn_id
build_input(builder *b, const char *name, const char *type)
{
	qn_id id = qn_graph_input(b->g, name, build_type(b, type));

	build_check(b, id != 0);
	return id;
}

/* A constant of random codes in [lo, hi]. */
static inline qn_id
build_const(builder *b, const char *name, const char *type, int64_t lo, int64_t hi)
{
	const qn_type *t = build_type(b, type);
	int64_t count = qn_type_count(t), i;
	void *data;
	qn_tensor *x = qn_tensor_new(&b->arena, t, &data);
	qn_id id;

	for (i = 0; i < count; i++)
		qn_store_i64(data, t->elem->plain, i, build_random(b, lo, hi));
	id = qn_graph_const(b->g, name, x);
	build_check(b, id != 0);
	return id;
}

static inline qn_id
build_op(builder *b, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	 const qn_attrs *attr, const char *type)
{
	qn_id id = qn_graph_op(b->g, op, name, nin, in, attr, build_type(b, type));

	build_check(b, id != 0);
	return id;
}

/* printf into the builder's arena, up to 255 characters. */
static inline const char *
build_printf(builder *b, const char *format, ...)
{
	char s[256];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(s, sizeof(s), format, args);
	va_end(args);
	return qn_arena_str(&b->arena, s);
}

/* Attributes of an op with their defaults. */
static inline qn_attrs
build_attrs(qn_op op)
{
	qn_attrs a;

	memset(&a, 0, sizeof(a));
	qn_attrs_default(qn_opinfo_get(op)->attrs, &a);
	return a;
}

static inline qn_list
build_list(int32_t n, const int64_t *v)
{
	qn_list l = {.n = n};

	memcpy(l.v, v, (size_t)n * sizeof(v[0]));
	return l;
}

#define LIST(...)                                                                                  \
	build_list((int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                  \
		   (const int64_t[]){__VA_ARGS__})

#endif
