/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_groups.c - what is taken out of a graph, with which parameters. */
#include "tests/unit/pattern_head.h"

#include "patterns/cut.h"
#include "patterns/fixpoint.h"

static size_t
cut_by(const qn_pattern *p, uint32_t flags, bool (*check)(void *, const qn_graph *, qn_id))
{
	size_t count;

	assert_int_equal(qn_cut_pattern(&rg->m,
					&(qn_cut){.pattern = &p->pat,
						  .label = "part",
						  .flags = flags,
						  .check = check,
						  .nattr = 1,
						  .attr = &(qn_graph_attr){"Composite", "t"}},
					qn_matcher_new(&rg->arena, 0), &count),
			 QN_OK);
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	return count;
}

static size_t
cut_with(const char *pattern, uint32_t flags, bool (*check)(void *, const qn_graph *, qn_id))
{
	return cut_by(read_pattern(new_set(), pattern), flags, check);
}

/* "part(x, w) conv2d_relu_; part(…) …": the graphs that were made, callees first. */
static const char *
parts_of(void)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	for (size_t i = 0; i + 1 < rg->m.ngraph; i++) {
		const qn_graph *g = rg->m.graph[i];

		if (qn_graph_attr_value(g, "Composite") == NULL)
			continue;
		qn_buff(&b, "%s%s(", b.n > 0 ? "; " : "", g->name);
		for (size_t k = 0; k < g->ninput; k++)
			qn_buff(&b, "%s%s", k > 0 ? "," : "", qn_graph_node(g, g->input[k])->name);
		qn_buff(&b, ") %s", qn_graph_attr_value(g, "PartitionedFromPattern"));
	}
	return qn_buf_str(&b);
}

static void
test_cut_table(void **state)
{
	static const struct {
		const char *body, *pattern, *parts;
		uint32_t flags;
	} rows[] = {
		{"%c = conv2d %x, %w  %r = relu %c  return %r", "relu(conv2d(*, *))",
		 "r.part(x,w) conv2d_relu_", 0},
		/* a value that is read elsewhere */
		{"%c = conv2d %x, %w  %r = relu %c  %a = add %r, %c  return %a",
		 "relu(conv2d(*, *))", "", 0},
		{"%c = conv2d %x, %w  %r = relu %c  %s = relu %c  %a = add %r, %s  return %a",
		 "relu(conv2d(*, *))", "", 0},
		{"%c = conv2d %x, %w  %r = relu %c  return %r, %c", "relu(conv2d(*, *))", "", 0},
		{"%c = conv2d %x, %w  %r = relu %c  %d = tanh %c  return %r", "relu(conv2d(*, *))",
		 "r.part(x,w) conv2d_relu_", 0},
		{"%c = conv2d %x, %w  %r = relu %c  %d = conv2d %r, %w  %s = relu %d  return %s",
		 "relu(conv2d(*, *))", "r.part(x,w) conv2d_relu_; s.part(r,w) conv2d_relu_", 0},
		/* computed twice, or shared, where that is allowed */
		{"%c = conv2d %x, %w  %a = add %c, %b  %s = sigmoid %a  %m = mul %a, %s  return %m",
		 "mul(add(conv2d(*, *), *), *)", "", 0},
		{"%c = conv2d %x, %w  %a = add %c, %b  %s = sigmoid %a  %m = mul %a, %s  return %m",
		 "mul(add(conv2d(*, *), *), *)", "m.part(x,w,b,s) conv2d_add_mul_", QN_ALLOW_DUP},
		{"%c = conv2d %x, %w  %r = relu %c  %s = relu %c  %a = add %r, %s  return %a, %c",
		 "relu(conv2d(*, *))", "", QN_ALLOW_DUP},
		{"%c = conv2d %x, %w  %r = relu %c  %s = relu %c  %a = add %r, %s  return %a, %c",
		 "relu(conv2d(*, *))", "r.part(x,w) conv2d_relu_; s.part(x,w) conv2d_relu_",
		 QN_OVERLAP},
		/* constants */
		{"%c = conv2d %x, %k  %y = bias_add %c, %b  %r = relu %y  return %r",
		 "relu(bias_add(conv2d(*, *), *))", "r.part(x,k,b) conv2d_bias_add_relu_", 0},
		{"%c = conv2d %x, %k  %y = bias_add %c, %b  %r = relu %y  return %r",
		 "relu(bias_add(conv2d(*, const), *))", "r.part(x,b) conv2d_bias_add_relu_", 0},
		{"%c = conv2d %x, %w  %y = bias_add %c, %b  %r = relu %y  return %r",
		 "relu(bias_add(conv2d(*, const), *))", "", 0},
		{"%c = conv2d %x, %w  %d = conv2d %c, %k  return %d", "conv2d(*, (input | const))",
		 "c.part(x,w) conv2d_; d.part(c) conv2d_", 0},
		{"%c = conv2d %x, %w  %d = conv2d %c, %k  return %d", "conv2d(*, (const | input))",
		 "c.part(x,w) conv2d_; d.part(c) conv2d_", 0},
		{"%c = conv2d %x, %k  %d = conv2d %c, %k  return %d, %k", "conv2d(*, const)",
		 "c.part(x) conv2d_; d.part(c) conv2d_", 0},
		/* parameters */
		{"%a = add %x, %x  return %a", "add(*, *)", "a.part(x) add_", 0},
		{"%a = add %x, %v  return %a", "add(*, %x)", "a.part(v,x) add_", 0},
		{"%t = tuple %x  %g = get %t {index=0}  return %g", "t=tuple(...).0",
		 "g.part(x) Tuple_TupleGetItem0_", 0},
		{"%t = concat %x  return %t", "concat(...)", "t.part(x) concat_", 0},
		{"%t = concat %x, %v, %x  return %t", "concat(...)", "t.part(x,v) concat_", 0},
		{"%s = split %x {axis=3, sizes=[1,1]}  %g = get %s {index=0}  %h = get %s "
		 "{index=1}  "
		 "return %g, %h",
		 "split(*).*", "", 0},
		{"%c = conv2d %x, %w  %r = relu %c  %s = leaky_relu %c  %a = add %r, %s  return %a",
		 "add(relu(c=conv2d(*, *)), leaky_relu(c))",
		 "a.part(x,w) conv2d_relu_leaky_relu_add_", 0},
		{"%c = conv2d %x, %w  %r = relu %c  %s = leaky_relu %c  %a = add %r, %s  return %a",
		 "add(leaky_relu(c), relu(c=conv2d(*, *)))",
		 "a.part(x,w) conv2d_relu_leaky_relu_add_", 0},
		/* dominators and recursion */
		{"%c = conv2d %x, %w  %r = relu %c  %t = tanh %r  %a = add %r, %t  return %a",
		 "conv2d(*, *) ~> add(*, *)", "a.part(x,w) conv2d_relu_tanh_add_", 0},
		{"%c = conv2d %x, %w  %r = relu %c  %s = relu %r  return %s",
		 "R=relu(R | conv2d(*, *))", "s.part(x,w) conv2d_relu_relu_", 0},
		{"%r = relu %k  return %r", "relu(const)", "r.part() relu_", 0},
		{"return %x", "*", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_buf b;

		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "%s  %s\n}\n", HEAD, rows[i].body);
		read_model(qn_buf_str(&b));
		(void)cut_with(rows[i].pattern, rows[i].flags, NULL);
		if (strcmp(parts_of(), rows[i].parts) != 0)
			fail_msg("%s on %s: %s, not %s", rows[i].pattern, rows[i].body, parts_of(),
				 rows[i].parts);
	}
}

/* What was computed twice is: inside, and for the sigmoid outside. */
static void
test_cut_duplicates(void **state)
{
	qn_buf b;

	(void)state;
	read_model(HEAD "  %c = conv2d %x, %w  %a = add %c, %b  %s = sigmoid %a  %m = mul %a, %s  "
			"return %m\n}\n");
	assert_int_equal(cut_with("mul(add(conv2d(*, *), *), *)", QN_ALLOW_DUP, NULL), 1);
	qn_buf_init(&b, &rg->arena);
	qn_graph_print(&b, qn_model_entry(&rg->m));
	assert_non_null(strstr(qn_buf_str(&b), "%m = call @m.part %x, %w, %b, %s"));
	assert_non_null(strstr(qn_buf_str(&b), "%s = sigmoid %a"));
	assert_null(strstr(qn_buf_str(&b), "mul"));
}

/* A pattern of a function, also one that a wildcard was redirected to, changes nothing and says so; a wildcard redirected
 * to itself, and one to an operator, are no such patterns. */
static void
test_cut_function(void **state)
{
	qn_patterns *set = new_set();
	qn_pattern *to[] = {read_pattern(set, "fn[relu(*)](...)"), qn_build_any(set),
			    qn_build_any(set), qn_build_any(set), qn_build_any(set)};

	(void)state;
	read_model(HEAD "  %c = conv2d %x, %w  %r = relu %c  return %r\n}\n");
	assert_int_equal(qn_build_redirect(set, to[1], to[0]), QN_OK);
	assert_int_equal(qn_build_redirect(set, to[2], to[1]), QN_OK);
	assert_int_equal(qn_build_redirect(set, to[3], to[3]), QN_OK);
	assert_int_equal(qn_build_redirect(set, to[4], read_pattern(set, "relu(*)")), QN_OK);
	for (size_t i = 0; i < QN_COUNT(to); i++) {
		qn_diags_clear(&rg->env, &rg->diags);
		assert_int_equal(cut_by(to[i], 0, NULL), i == 4);
		assert_int_equal(rg->diags.n, i < 3);
		if (i < 3)
			assert_string_equal(rg->diags.item[0].id, "pattern.function");
	}
}

/* What a pattern matches inside of a function is no input of the group that calls it. */
static void
test_cut_call(void **state)
{
	(void)state;
	read_model("model \"m\"\n"
		   "graph @f(%p: tensor<4xf32>, %q: tensor<4xf32>) {\n"
		   "  %s = add %p, %q  %t = tanh %s  return %t\n}\n"
		   "graph @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: tensor<4xf32>, %d: "
		   "tensor<4xf32>) {\n"
		   "  %u = call @f %c, %d  %r = relu %u  %v = add %x, %y  %w = mul %v, %r  return "
		   "%w\n}\n");
	assert_int_equal(cut_with("relu(fn[a, b -> tanh(add(a, b))](c, d))", 0, NULL), 1);
	assert_string_equal(parts_of(), "r.part(c,d) Call_relu_");
}

/* The graph of a match has its values in the order of the model, in whatever order the pattern meets
 * them: two chains, one after the other or by turns. */
static void
test_cut_order(void **state)
{
	(void)state;
	for (int way = 0; way < 6 * 64; way++) {
		const int most[2] = {1 + way / 6 / 8, 1 + way / 6 % 8};
		int done[2] = {0, 0};
		char chain[2][4] = {"x", "y"};
		qn_buf b, p;

		qn_buf_init(&b, &rg->arena);
		qn_buf_init(&p, &rg->arena);
		qn_buf_puts(&b,
			    "model \"m\"\ngraph @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {\n");
		for (int n = 0; n < most[0] + most[1]; n++) {
			int k = way % 6 < 2 ? way % 2 : (n / (way % 6 - 1)) % 2;

			k = done[k] < most[k] ? k : 1 - k;
			qn_buff(&b, "  %%n%d%d = relu %%%s", n / 10, n % 10, chain[k]);
			memcpy(chain[k],
			       (char[]){'n', (char)('0' + n / 10), (char)('0' + n % 10), 0}, 4);
			done[k]++;
		}
		qn_buff(&b, "  %%n99 = add %%%s, %%%s  return %%n99\n}\n", chain[0], chain[1]);
		qn_buf_puts(&p, "add(");
		for (int k = 0; k < 2; k++) {
			for (int i = 0; i < most[k]; i++)
				qn_buf_puts(&p, "relu(");
			qn_buf_puts(&p, "*");
			for (int i = 0; i < most[k]; i++)
				qn_buf_puts(&p, ")");
			qn_buf_puts(&p, k == 0 ? ", " : ")");
		}
		read_model(qn_buf_str(&b));
		assert_int_equal(cut_with(qn_buf_str(&p), 0, NULL), 1);
		const qn_graph *g = qn_model_entry(&rg->m);
		const qn_graph *part = qn_graph_node(g, g->output[0].value)->callee;
		const char *last = "n";
		for (qn_id id = 1; id < part->n; id++) {
			const qn_node *n = qn_graph_node(part, id);

			if (n->op == QN_OP_input)
				continue;
			assert_true(strcmp(last, n->name) < 0);
			last = n->name;
		}
		assert_string_equal(last, "n99");
	}
}

/* A second pattern leaves alone what the first took. */
static void
test_cut_twice(void **state)
{
	(void)state;
	read_model(HEAD "  %c = conv2d %x, %w  %y = bias_add %c, %b  %d = conv2d %y, %k  return "
			"%d\n}\n");
	assert_int_equal(cut_with("bias_add(conv2d(*, *), *)", 0, NULL), 1);
	assert_int_equal(cut_with("conv2d(*, *)", 0, NULL), 1);
	assert_string_equal(parts_of(), "y.part(x,w,b) conv2d_bias_add_; d.part(y,k) conv2d_");
	assert_int_equal(cut_with("fn[conv2d(*, *)](...)", 0, NULL), 0);
	assert_string_equal(rg->diags.item[0].id, "pattern.function");
	assert_int_equal(rg->diags.nerrors, 0);
	assert_int_equal(cut_with("relu(fn[...](...){Composite=t} ?relu(_))", 0, NULL), 0);
}

static bool
not_c3(void *user, const qn_graph *g, qn_id root)
{
	(void)user;
	return strcmp(qn_graph_node(g, root)->name, "c3") != 0;
}

/* relu(relu(*)) on a chain of three: the last two, or, when those are refused, the first two. */
static void
test_cut_check(void **state)
{
	static const char chain[] =
		HEAD "  %c1 = relu %x  %c2 = relu %c1  %c3 = relu %c2  return %c3\n}\n";

	(void)state;
	read_model(chain);
	assert_int_equal(cut_with("relu(relu(*))", 0, NULL), 1);
	assert_string_equal(parts_of(), "c3.part(c1) relu_relu_");
	read_model(chain);
	assert_int_equal(cut_with("relu(relu(*))", 0, not_c3), 1);
	assert_string_equal(parts_of(), "c2.part(x) relu_relu_");
	read_model(chain);
	assert_int_equal(cut_with("relu(relu(*))", QN_CHECK_LATE, not_c3), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_cut_table), TEST(test_cut_duplicates), TEST(test_cut_function),
		TEST(test_cut_call),  TEST(test_cut_order),      TEST(test_cut_twice),
		TEST(test_cut_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
