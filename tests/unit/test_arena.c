/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: objects are zeroed and apart from each other, arrays grow in place where they can, and
 * under AddressSanitizer what no object has is out of bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/arena.h"
#include "ir/diag.h"
#include "ir/poison.h"

typedef struct world {
	qn_diags diags;
	qn_env env;
	qn_arena a;
} world;

static void *
allocate(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user, (void)old_size;
	if (new_size > 0)
		return realloc(p, new_size);
	free(p);
	return NULL;
}

static int
setup(void **state)
{
	static world w;

	w = (world){0};
	w.env.diags = &w.diags;
	w.env.alloc = allocate;
	qn_arena_init(&w.a, &w.env);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	world *w = *state;

	qn_arena_release(&w->a);
	return 0;
}

static void
test_objects(void **state)
{
	world *w = *state;
	unsigned char *p[100];

	for (size_t i = 0; i < 100; i++) {
		p[i] = QN_NEW(&w->a, unsigned char, i * 7);
		for (size_t k = 0; k < i * 7; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)i, i * 7);
	}
	for (size_t i = 0; i < 100; i++)
		for (size_t k = 0; k < i * 7; k++)
			assert_int_equal(p[i][k], i);
}

static void
test_growth(void **state)
{
	world *w = *state;
	size_t cap = 0;
	int *v = NULL;

	for (int i = 0; i < 50000; i++) {
		v = qn_arena_grow(&w->a, v, &cap, (size_t)i + 1, sizeof *v);
		assert_int_equal(v[i], 0);
		v[i] = i;
		if (i % 1000 == 0) /* no longer the newest object */
			(void)QN_NEW(&w->a, char, 5);
	}
	for (int i = 0; i < 50000; i++)
		assert_int_equal(v[i], i);
}

static void
test_bounds(void **state)
{
#ifdef QN_HAS_ASAN
	world *w = *state;
	size_t cap = 0;
	char *small = QN_NEW(&w->a, char, 5);
	char *next = QN_NEW(&w->a, char, 3);

	assert_false(__asan_address_is_poisoned(small + 4));
	assert_true(__asan_address_is_poisoned(small + 5));
	assert_true(__asan_address_is_poisoned(next - 1));
	assert_true(__asan_address_is_poisoned(next + 3));
	char *v = qn_arena_grow(&w->a, NULL, &cap, 10, 1);
	assert_false(__asan_address_is_poisoned(v + cap - 1));
	assert_true(__asan_address_is_poisoned(v + cap));
	v = qn_arena_grow(&w->a, v, &cap, cap + 1, 1);
	assert_false(__asan_address_is_poisoned(v + cap - 1));
	assert_true(__asan_address_is_poisoned(v + cap));
#else
	(void)state;
	skip();
#endif
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {TEST(test_objects), TEST(test_growth),
					   TEST(test_bounds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
