/* SPDX-License-Identifier: Apache-2.0 */
/* Emitted arithmetic on plain integers against the interpreter's own form of it: every op, every width, both signs,
 * repeated operands, the ends of the types, division by 0 and by -1. */
#include "tests/e2e/e2e.h"

enum { SAMPLES = 4 };

static const char *const types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};

/* Numbers at which an op could go wrong; u64 has its own. */
static const char *const ends[] = {
	"[-128, -1, 0, 127, 7, -7]",
	"[0, 1, 255, 254, 128, 9]",
	"[-32768, -1, 0, 32767, 7, -7]",
	"[0, 1, 65535, 3, 32768, 9]",
	"[-2147483648, -1, 0, 2147483647, 7, -7]",
	"[0, 1, 4294967295, 3, 2147483648, 9]",
	"[-9223372036854775807, -1, 0, 9223372036854775807, 7, -7]",
	"[0, 1, 3, 5, 64, 9]",
};

/* %a and %b of a type, and all ops of them in one graph. */
static void
check(const char *type, const char *values, bool bits)
{
	static const char *const arithmetic[] = {
		"add",       "sub",     "mul",     "div",        "squared_difference",
		"floor_div", "minimum", "maximum", "mod",        "equal",
		"not_equal", "less",    "greater", "less_equal", "greater_equal"};
	static const char *const logic[] = {"bitwise_and", "bitwise_or", "bitwise_xor",
					    "shift_left", "shift_right"};
	builder b, text;
	qn_buf all, results;

	build_begin(&text, "text", 1);
	qn_buf_init(&all, &text.arena);
	qn_buf_init(&results, &text.arena);
	qn_buff(&all,
		"model \"plain\" stage integer\n"
		"graph @main(%%x: tensor<2x3x6x%s>, %%z: tensor<3x1x%s>) {\n"
		"  %%k = const : tensor<6x%s> %s\n",
		type, type, type, values);
	for (size_t i = 0; i < QN_COUNT(arithmetic); i++) {
		qn_buff(&all, "  %%a%zu = %s %%x, %%k\n  %%b%zu = %s %%z, %%x\n", i, arithmetic[i],
			i, arithmetic[i]);
		qn_buff(&results, "%s%%a%zu, %%b%zu", i > 0 ? ", " : "", i, i);
	}
	qn_buf_puts(&all, "  %r = mod %x, %k {fmod=1}\n");
	for (size_t i = 0; bits && i < QN_COUNT(logic); i++) {
		qn_buff(&all, "  %%c%zu = %s %%x, %%k\n", i, logic[i]);
		qn_buff(&results, ", %%c%zu", i);
	}
	qn_buff(&all, "  %%n = bitwise_not %%x\n  return %s, %%r, %%n\n}\n", qn_buf_str(&results));
	build_parse(&b, qn_buf_str(&all));
	e2e_check(&b, SAMPLES);
	build_end(&b);
	build_end(&text);
}

static void
all_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(types); i++)
		check(types[i], ends[i], true);
}

/* Sums, products and the greatest along axes, running sums in both directions, places. */
static void
along_axes(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(types); i++) {
		builder b, text;
		qn_buf all;

		build_begin(&text, "text", 1);
		qn_buf_init(&all, &text.arena);
		qn_buff(&all,
			"model \"plain\" stage integer\n"
			"graph @main(%%x: tensor<2x3x6x%s>) {\n"
			"  %%a = reduce_sum %%x {axes=[1]}\n  %%b = reduce_sum %%x {axes=[0, 1, "
			"2], keepdims=1}\n"
			"  %%c = reduce_max %%x {axes=[2]}\n  %%d = reduce_min %%x {axes=[0, 1]}\n"
			"  %%e = reduce_prod %%x {axes=[1, 2]}\n  %%f = cumsum %%x {axis=1}\n"
			"  %%g = cumsum %%x {axis=2, reverse=1}\n  %%h = cumsum %%x {axis=0, "
			"exclusive=1}\n"
			"  %%i = cumsum %%x {axis=-1, exclusive=1, reverse=1}\n"
			"  %%m = argmax %%x {axis=1}\n  %%n = argmin %%x {axis=2, keepdims=1, "
			"select_last_index=1}\n"
			"  %%o = argmax %%x {axis=0, select_last_index=1}\n  %%p = argmin %%x "
			"{axis=-1}\n"
			"  return %%a, %%b, %%c, %%d, %%e, %%f, %%g, %%h, %%i, %%m, %%n, %%o, "
			"%%p\n}\n",
			types[i]);
		build_parse(&b, qn_buf_str(&all));
		e2e_check(&b, SAMPLES);
		build_end(&b);
		build_end(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_types),
					   cmocka_unit_test(along_axes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
