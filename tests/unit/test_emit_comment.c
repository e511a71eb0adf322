/* SPDX-License-Identifier: Apache-2.0 */
/* test_emit_comment.c - texts of a model in comments and strings of emitted C: one '_' for each character that is not
 * ASCII, never a trigraph or the end of the comment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/emitter.h"
#include "driver/context.h"

static void
replaces_what_c_reads(void **state)
{
	static const char *const rows[][2] = {
		{"conv1/bias", "conv1/bias"},
		{"\xc3\xa9t\xc3\xa9", "_t_"},         /* été */
		{"\xe5\xb1\x82\xe5\xb1\x82)", "__)"}, /* two characters of three bytes */
		{"\xf0\x9f\x98\x80)", "_)"},          /* one of four */
		{"\x80\xff\xc3", "___"},              /* not UTF-8 */
		{"a\\b\tc\nd", "a_b_c_d"},
		{"a\?\?)b\?\?\?/", "a? ?)b? ? ?/"},
		{"a*/b/*c", "a* /b/ *c"},
	};
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_buf b;

		qn_buf_init(&b, &ctx->arena);
		qn_emit_comment(&b, rows[i][0]);
		assert_string_equal(qn_buf_str(&b), rows[i][1]);
	}
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(replaces_what_c_reads)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
