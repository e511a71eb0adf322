/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_struct_take.c - a struct of a host that was compiled with the header of an older or of a newer release is
 * taken as far as both know it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/host_struct.h"
#include "quern/context.h"

/* One struct in three releases; the library has the second. */
typedef struct first {
	size_t size;
	int64_t a;
} first;

typedef struct second {
	size_t size;
	int64_t a, b;
} second;

typedef struct third {
	size_t size;
	int64_t a, b, c;
} third;

static qn_status
take(const void *from, second *to)
{
	return qn_host_struct_take(NULL, "second", sizeof(first), from, sizeof *to, to);
}

static void
takes_what_both_know(void **state)
{
	second x = {.size = 99, .a = 99, .b = 99};

	(void)state;
	assert_int_equal(take(NULL, &x), QN_OK);
	assert_true(x.a == 0 && x.b == 0);
	/* Behind an older host's struct lies something else. */
	second older = {.size = sizeof(first), .a = 1, .b = 77};
	assert_int_equal(take(&older, &x), QN_OK);
	assert_true(x.a == 1 && x.b == 0);
	older.size = 0; /* the first release */
	assert_int_equal(take(&older, &x), QN_OK);
	assert_true(x.a == 1 && x.b == 0);
	assert_int_equal(take(&(second){.size = sizeof(second), .a = 1, .b = 2}, &x), QN_OK);
	assert_true(x.a == 1 && x.b == 2);
	assert_int_equal(x.size, sizeof(second));
	assert_int_equal(take(&(third){.size = sizeof(third), .a = 1, .b = 2}, &x), QN_OK);
	assert_true(x.a == 1 && x.b == 2);
}

static void
refuses_what_it_does_not_know(void **state)
{
	third newer = {.size = sizeof(third), .a = 1};
	second x;

	(void)state;
	for (size_t i = 0; i < sizeof newer.c; i++) {
		unsigned char *byte = (unsigned char *)&newer.c + i;

		*byte = 1;
		assert_int_equal(take(&newer, &x), QN_EUSAGE);
		*byte = 0;
		assert_int_equal(take(&newer, &x), QN_OK);
	}
	/* Sizes that none has: nothing is read there. */
	assert_int_equal(take(&(first){.size = 1}, &x), QN_EUSAGE);
	assert_int_equal(take(&(first){.size = sizeof(size_t) - 1}, &x), QN_EUSAGE);
	assert_int_equal(take(&(first){.size = SIZE_MAX}, &x), QN_EUSAGE);
	assert_int_equal(take(&(first){.size = 1 << 20}, &x), QN_EUSAGE);
}

/* A host that has no member behind alloc_user. */
static void
reads_no_member_that_an_older_host_lacks(void **state)
{
	qn_config config;
	qn_ctx *ctx;

	(void)state;
	memset(&config, 0xa5, sizeof config);
	config.size = offsetof(qn_config, log);
	config.alloc = NULL;
	ctx = qn_open(&config); /* a log callback at 0xa5a5… would be called */
	assert_non_null(ctx);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_both_know),
		cmocka_unit_test(refuses_what_it_does_not_know),
		cmocka_unit_test(reads_no_member_that_an_older_host_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
