/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_names_built.c - models, inputs, outputs and constants with names that C, C++, their headers and compilers know:
 * the files compile and run. */
#include "tests/e2e/e2e.h"

/* Every word of C99 to C23 and C++98 to C++23. */
static const char keywords[] =
	"alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
	"char32_t char8_t class co_await co_return co_yield compl concept const const_cast "
	"consteval constexpr constinit continue decltype default delete do double dynamic_cast "
	"else enum explicit export extern false final float for friend goto if import inline int "
	"long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override "
	"private protected public register reinterpret_cast requires restrict return short signed "
	"sizeof static static_assert static_cast struct switch template this thread_local throw "
	"true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void "
	"volatile wchar_t while xor xor_eq";

#define TYPE "tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>"

static const char *const builds[] = {
	"cc -std=c99 -I.",
	"cc -std=gnu2x -I.",
	"g++ -std=c++11 -x c++ -I.",
	"g++ -std=gnu++20 -x c++ -I.",
};

static void
check_builds(builder *b, e2e *t)
{
	for (size_t i = 0; i < QN_COUNT(builds); i++) {
		int r = e2e_build_run(b, t, builds[i], i % 2 == 0);

		if (r != 0)
			fail_msg("model '%s', files %s in %s: %s", b->model.name, t->plan->name,
				 t->dir, r < 0 ? "does not compile" : "self-test fails");
	}
	e2e_remove(b, t);
}

/* Inputs and outputs of all these names at once. */
static void
ports(void **state)
{
	static const char more[] =
		"int8_t uint8_t int16_t int32_t uint32_t int64_t INT8_MIN INT8_MAX SIZE_MAX "
		"INT32_MIN UINT8_C NULL EOF SEEK_SET BUFSIZ stdout memcpy printf remove index a.b "
		"a_b A_B a__b crc scratch in out s LEN in_a a_LEN unused linux unix I M_PI";
	const char *lists[] = {keywords, more};
	builder b;
	e2e t;

	(void)state;
	build_begin(&b, "net", 1);
	for (size_t i = 0; i < QN_COUNT(lists); i++)
		for (const char *w = lists[i]; *w != '\0';) {
			size_t n = strcspn(w, " ");
			const char *name = qn_arena_strn(&b.arena, w, n);
			qn_id x = build_input(&b, name, TYPE);
			qn_attrs a = build_attrs(QN_OP_clamp);

			a.clamp.lo = -30;
			a.clamp.hi = 30;
			qn_id y = build_op(&b, QN_OP_clamp, NULL, IDS(x), &a, NULL);

			qn_graph_output(b.g, name, y);
			w += n + (w[n] == ' ');
		}
	e2e_prepare(&b, &t, 2);
	e2e_write(&b, &t);
	check_builds(&b, &t);
	build_end(&b);
}

static void
check_model(const char *name)
{
	static const char net[] =
		"model \"%s\" stage integer\n"
		"graph @main(%%run: " TYPE ") {\n"
		"  %%w = const : tensor<3x4x!quant.uniform<i8:f32, 0.02>> rand 1\n"
		"  %%d = dense %%run, %%w : tensor<1x3x!quant.uniform<i32:f32, 0.5*0.02>>\n"
		"  %%y = requantize %%d : tensor<1x3x!quant.uniform<i8:f32, 0.25:1>>\n"
		"  return %%y as \"puts\"\n"
		"}\n";
	char text[2048];
	builder b;
	e2e t;

	snprintf(text, sizeof(text), net, name);
	build_parse(&b, text);
	e2e_prepare(&b, &t, 2);
	e2e_write(&b, &t);
	/* a program of the user's, which includes the headers from this folder */
	assert_true(e2e_shell(
		&b,
		"printf '#include <stdint.h>\\n#include <string.h>\\n#include <math.h>\\n"
		"#include <stdio.h>\\nint main(void) { return (int)(sqrt(4.0) + "
		"INT8_MAX + (double)strlen(\"\") + EOF) - 128; }\\n' >user.c && cc -I. user.c -lm "
		"-o user && ./user",
		t.dir, NULL));
	check_builds(&b, &t);
	build_end(&b);
}

static void
models(void **state)
{
	char longest[301];

	(void)state;
	memset(longest, 'a', 300);
	longest[300] = '\0';
	static const char *const name[] = {"stdint",     "String",  "math",   "stdio",
					   "features",   "strings", "int",    "qn",
					   "qn_requant", "in",      "strtok", "aux"};
	for (size_t i = 0; i < QN_COUNT(name); i++)
		check_model(name[i]);
	check_model(longest);
}

/* Constants that meet the model's macros, those of another length, and each other. */
static void
constants(void **state)
{
	static const char net[] =
		"model \"%s\" stage integer\n"
		"graph @main(%%x: " TYPE ") {\n"
		"  %%%s = const : tensor<3x4x!quant.uniform<i8:f32, 0.02>> rand 1\n"
		"  %%%s = const : tensor<3x!quant.uniform<i32:f32, 0.5*0.02>> [1, 2, 3]\n"
		"  %%fc = dense %%x, %%%s, %%%s : tensor<1x3x!quant.uniform<i32:f32, 0.5*0.02>>\n"
		"  %%q = requantize %%fc : tensor<1x3x!quant.uniform<i8:f32, 0.25:1>>\n"
		"  %%c = clamp %%q {lo=-9, hi=9} : tensor<1x3x!quant.uniform<i8:f32, 0.25:1>>\n"
		"  return %%c as \"y\"\n"
		"}\n";
	static const char *const row[][3] = {
		{"GRU", "H", "STEPS"},
		{"GRU", "CONTENT", "IN_X_LEN"},
		{"GRU", "OUT_Y_SCALE", "SCRATCH_ALIGN"},
		{"strtok", "r", "s"},
		{"size", "t", "T"},
		{"int8", "t", "max"},
		{"getc", "unlocked", "a.b"},
		{"net", "a.b", "a_b"},
		{"net", "scratch_fits_fc", "run"},
		{"bad", "step", "sample"},
		{"NET", "WEIGHTS_ATTR", "TRACED"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(row); i++) {
		char text[2048];
		builder b;
		e2e t;

		snprintf(text, sizeof(text), net, row[i][0], row[i][1], row[i][2], row[i][1],
			 row[i][2]);
		build_parse(&b, text);
		e2e_prepare(&b, &t, 2);
		e2e_write(&b, &t);
		check_builds(&b, &t);
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports),
		cmocka_unit_test(models),
		cmocka_unit_test(constants),
	};

	/* the programs of this machine; for another one there is one compiler, given by its name */
	return e2e_target_cc() != NULL ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
