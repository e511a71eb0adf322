/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph_text.c - the text form of models under stress: places, hostile texts, texts cut short
 * and changed at random, large ones, memory that runs out. */
#include "tests/unit/graph_fixture.h"

static void
test_places(void **state)
{
	fixture *f = *state;

	assert_int_equal(parse(f, "# one\n\ngraph @main(%x: tensor<2xf32>) {\n  %a = relu %x\n\t%b "
				  "= add %a, %nothing\n"
				  "  %c = relu6 %x, %x\n  return %a }"),
			 QN_EINVALID);
	assert_string_equal(f->diags.item[0].place, "t:5:15");
	assert_string_equal(f->diags.item[1].place, "t:6:3: node 'c'");
	assert_ids(f, "graph.value.undefined op.arity");
	assert_string_equal(qn_graph_node(qn_model_entry(&f->m), 2)->place, "t:4:3");
}

/* Lists of scales one inside the other: the ninth is refused where it stands, whatever follows. */
static void
test_nested_scales(void **state)
{
	fixture *f = *state;
	char text[64];

	for (int n = 8; n <= 12; n++) {
		memcpy(text, "param @p = ", 11);
		memset(text + 11, '{', (size_t)n);
		memcpy(text + 11 + n, "!", 2);
		assert_int_equal(parse(f, text), QN_EINVALID);
		assert_int_equal(strstr(f->diags.item[0].message, "nested at most 8 deep") != NULL,
				 n > 8);
		qn_diags_clear(&f->env, &f->diags);
	}
}

static void
test_hostile(void **state)
{
	static const struct {
		const char *text;
		const char *ids;
	} rows[] = {
		{"", "graph.syntax"},
		{"graph", "graph.syntax"},
		{"model \"\\u0000\"", "graph.syntax"},
		{"model \"a\" stage bad", "graph.syntax"},
		{"graph @m(%x: tensor<1xf32>) { return %x } junk", "graph.syntax"},
		{"graph @m() { %a = const : tensor<1000000000x1000000000x1000000000xf32> [1]\n "
		 "return %a }",
		 "const.type"},
		{"graph @m() { %a = const : tensor<1000000000xf32> [1]\n return %a }",
		 "const.count"},
		{"graph @m() { %a = const : tensor<1000000000xf32> bytes \"00\"\n return %a }",
		 "const.count"},
		{"graph @m() { %a = const : tensor<1000000000xf32> rand 1\n return %a }",
		 "const.count"},
		{"graph @m() { %a = const : tensor<0x9000000000000000000xf32> []\n return %a }",
		 "shape.size"},
		{"graph @m(%x: tensor<0x9000000000000000000xf32>) { return %x }", "shape.size"},
		{"graph @m(%x: tensor<1000000x1000000xf32>, %y: tensor<1000000x1x1000000xf32>) { "
		 "%z = add %x, %y\n return %z }",
		 "shape.size"},
		{"graph @m(%x: tensor<1x4x4x1xf32>, %w: tensor<1x1x1x1xf32>)\n"
		 "{ %z = conv2d %x, %w {pad=[2147483647,2147483647,2147483647,2147483647]}\n "
		 "return %z }",
		 "shape.size"},
		{"graph @m(%x: tensor<1x4x4x1xf32>, %w: tensor<1x1x1x1xf32>) { %z = conv2d %x, %w "
		 "{stride=[99999999999999999999,1]}\n"
		 " return %z }",
		 "attr.value"},
		{"graph @m(%x: tensor<2xf32>) { %z = concat %x {axis=-9223372036854775808}\n "
		 "return %z }",
		 "attr.value"},
		{"graph @m(%x: tensor<2xf32>) { %z = reshape %x {shape=[[[[[[2]]]]]]}\n return %z "
		 "}",
		 "attr.value"},
		{"graph @m(%x: tuple<tensor<2xf32>>) { return %x }", "type.tuple"},
		{"param @p = {{{{{{{{{{{{1.0}}}}}}}}}}}}", "graph.syntax"},
		{"param @p = {1.0, {2.0}}", "graph.syntax"},
		{"param @p = {{1.0, 2.0}, {2.0}}", "graph.syntax"},
		{"param @p = {}", "graph.syntax"},
		{"symbol $s : sym, len 99999999999\ngraph @m(%x: tensor<1xf32>) { return %x }",
		 "symbol.len"},
		{"symbol $s : sym = {{1.0}}\ngraph @m(%x: tensor<1xf32>) { return %x }",
		 "symbol.len"},
		{"symbol $s : sym = {@p}\ngraph @m(%x: tensor<1xf32>) { return %x }",
		 "type.param.unknown"},
		{"graph @m(%x: tensor<1xf32>) { %a = relu %x {", "graph.syntax"},
		{"graph @m(%x: tensor<1xf32>) { %a = nothing %x {a=\"", "op.unknown graph.syntax"},
		{"graph @m(%x: tensor<1xf32>) { %a = relu @m %x\n return %a }", "graph.syntax"},
		{"graph @m(%x: tensor<1xf32>) { %a = call @m %x\n return %a }",
		 "graph.callee.undefined"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_model_init(&f->m, &f->env, &f->arena, "model");
		assert_int_equal(parse(f, rows[i].text), QN_EINVALID);
		assert_ids(f, rows[i].ids);
	}
}

static const char sample[] =
	"model \"m\" stage symbolic rounding nearest\nsymbol $x : asym = 0.5:3\nsymbol $w : sym, "
	"len 2\n"
	"graph @g(%a: tensor<1x4xf32>) { %r = relu %a\n return %r as \"out\" }\n"
	"graph @main(%x: tensor<1x4xf32>, %q: tensor<1x4x!quant.uniform<i8:f32, $x:$x>>) {\n"
	"  %w = const : tensor<2x4x!quant.uniform<i8<-127:127>:f32:0, $w>> rand 3\n"
	"  %d = dense %q, %w\n  %f = dequantize %d\n  %c = const : tensor<70xf32> splat 0.5\n"
	"  %\"n/1\" = call @g %x {}\n  %k = clip %\"n/1\" {min=-1.5, max=2}\n"
	"  %p = pad %k {before=[0,1], after=[2,0], value=1e3}\n  %b = const : tensor<2xi16> bytes "
	"\"01ff0200\"\n"
	"  %t = tuple %f, %p\n  %u = get %t {index=1}\n  return %u as \"u \\\"x\\\"\", %c, %b\n}\n";

/* Reads a text of which nothing is expected but that it does no harm; what is accepted prints as
 * itself. */
static void
try_text(const char *text, size_t n)
{
	fixture *f = calloc(1, sizeof *f);
	qn_buf once, twice;

	f->left = -1;
	open_model(f);
	if (qn_model_parse(&f->m, "", text, n) == QN_OK) {
		if (qn_model_verify(&f->m) != QN_OK)
			assert_true(f->diags.nerrors > 0);
		qn_buf_init(&once, &f->arena);
		qn_buf_init(&twice, &f->arena);
		qn_model_print(&once, &f->m);
		qn_model_init(&f->m, &f->env, &f->arena, "model");
		assert_int_equal(qn_model_parse(&f->m, "", qn_buf_str(&once), once.n), QN_OK);
		qn_model_print(&twice, &f->m);
		assert_string_equal(qn_buf_str(&twice), qn_buf_str(&once));
	} else {
		assert_true(f->diags.nerrors > 0);
	}
	close_model(f);
	free(f);
}

static void
test_cut_and_changed(void **state)
{
	static const char bytes[] = "{}[]<>()%@$\":,=-.0179eExaf \n\\#*?";
	size_t n = sizeof sample - 1;
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i <= n; i++)
		try_text(sample, i);
	for (int k = 0; k < 3000; k++) {
		char text[sizeof sample];

		memcpy(text, sample, sizeof sample);
		for (int i = 0; i < 1 + k % 3; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			text[(seed >> 33) % n] = bytes[(seed >> 20) % (sizeof bytes - 1)];
		}
		try_text(text, n);
	}
}

/* What came of reading n bytes: the model's text, or each problem with its place and message. */
static const char *
outcome(fixture *f, const char *text, size_t n)
{
	qn_buf b;

	qn_model_init(&f->m, &f->env, &f->arena, "model");
	qn_status status = qn_model_parse(&f->m, "", text, n);
	qn_buf_init(&b, &f->arena);
	qn_buff(&b, "%d", (int)status);
	if (status == QN_OK)
		qn_model_print(&b, &f->m);
	for (size_t i = 0; i < f->diags.n; i++)
		qn_buff(&b, "\n%s %s %s", f->diags.item[i].place, f->diags.item[i].id,
			f->diags.item[i].message);
	qn_diags_clear(&f->env, &f->diags);
	return qn_buf_str(&b);
}

/* A text ends at its length: the same comes of each cut of it, whatever the bytes after the cut. */
static void
test_bytes_after(void **state)
{
	static const char filler[] = " 0x.\"{}[]>,:a#\\-*$%@+\n";
	fixture *f = *state;
	const size_t n = sizeof sample - 1;
	char text[sizeof sample + 40];

	for (size_t cut = 0; cut <= n; cut++) {
		memset(text, 0, sizeof text);
		memcpy(text, sample, cut);
		const char *want = outcome(f, text, cut);

		for (const char *c = filler; *c != '\0'; c++) {
			memset(text + cut, *c, sizeof text - cut);
			assert_string_equal(outcome(f, text, cut), want);
		}
		close_model(f);
		open_model(f);
	}
}

/* A hundred problems end the reading; a large file with places is read in one scan. */
static void
test_large(void **state)
{
	fixture *f = *state;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buf_puts(&b, "graph @main(%r0: tensor<2xf32>) {\n");
	for (int i = 1; i <= 20000; i++)
		qn_buff(&b, "  %%r%d = relu %%r%d : tensor<2xf32>\n", i, i - 1);
	size_t body = b.n;
	qn_buf_puts(&b, "  return %r20000\n}\n");
	assert_int_equal(parse(f, qn_buf_str(&b)), QN_OK);
	assert_int_equal(qn_model_verify(&f->m), QN_OK);
	b.n = body;
	for (int i = 0; i < 20000; i++)
		qn_buff(&b, "  %%x%d = relu %%r1 : tensor<2xf33>\n", i);
	qn_model_init(&f->m, &f->env, &f->arena, "model");
	assert_int_equal(parse(f, qn_buf_str(&b)), QN_EINVALID);
	assert_int_equal(f->diags.n, QN_MAX_DIAGS);
}

/* Reads and prints with n allocations; whether they were enough. */
static bool
enough(fixture *f, long n)
{
	jmp_buf oom;

	*f = (fixture){.left = n};
	f->env = (qn_env){.alloc = heap, .alloc_user = f, .diags = &f->diags, .oom = &oom};
	qn_arena_init(&f->arena, &f->env);
	if (setjmp(oom) != 0)
		return false;
	qn_buf b;
	qn_model_init(&f->m, &f->env, &f->arena, "model");
	assert_int_equal(qn_model_parse(&f->m, "", sample, sizeof sample - 1), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_model_print(&b, &f->m);
	return true;
}

/* Every allocation fails once: the jump arrives, and releasing the arena leaves nothing behind
 * (the address sanitizer looks). */
static void
test_out_of_memory(void **state)
{
	fixture *f = *state;
	long n = 0;
	bool done = false;

	close_model(f);
	while (!done && n < 10000) {
		done = enough(f, n++);
		close_model(f);
	}
	f->left = -1;
	open_model(f);
	assert_true(done);
	assert_true(n > 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nested_scales, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test(test_cut_and_changed),
		cmocka_unit_test_setup_teardown(test_bytes_after, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
