/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c - graphs through the C interface: building, windows, attributes, equality, the
 * verifier on tampered graphs.  Shape rules and the text form have their cases in
 * tests/golden/ir-*.qir. */
#include "tests/unit/graph_fixture.h"

#include "ir/window.h"

static const qn_type *
f32(fixture *f, int64_t a, int64_t b)
{
	return qn_type_plain(&f->m.types, QN_PLAIN_f32, 2, (int64_t[]){a, b});
}

/* ---- building ---- */

static void
test_names(void **state)
{
	fixture *f = *state;
	qn_graph *g = qn_graph_new(&f->m, "main");
	qn_id x = qn_graph_input(g, "x", f32(f, 2, 3));
	qn_id a = qn_graph_op(g, QN_OP_relu, NULL, 1, &x, NULL, NULL);
	qn_id b = qn_graph_op(g, QN_OP_relu, NULL, 1, &a, NULL, NULL);
	qn_id c = qn_graph_op(g, QN_OP_relu, "x", 1, &b, NULL, NULL);
	qn_id d = qn_graph_op(g, QN_OP_relu, "x_2", 1, &c, NULL, NULL);
	qn_id e = qn_graph_op(g, QN_OP_relu, "x", 1, &d, NULL, NULL);

	assert_string_equal(qn_graph_node(g, a)->name, "relu_1");
	assert_string_equal(qn_graph_node(g, b)->name, "relu_2");
	assert_string_equal(qn_graph_node(g, c)->name, "x_1");
	assert_string_equal(qn_graph_node(g, e)->name, "x_3");
	assert_int_equal(qn_graph_find(g, "x_3"), e);
	assert_int_equal(qn_graph_find(g, "y"), 0);
	assert_string_equal(qn_node_place(g, qn_graph_node(g, a)), "node 'relu_1'");
	qn_graph_output(g, NULL, e);
	qn_graph_output(g, "other", a);
	assert_string_equal(g->output[0].name, "x_3");
	uint32_t *uses = qn_graph_uses(g, &f->arena);
	assert_int_equal(uses[a], 2);
	assert_int_equal(uses[x], 1);
	qn_model_add_graph(&f->m, g);
	assert_ptr_equal(qn_model_graph(&f->m, "main"), g);
	assert_int_equal(qn_model_verify(&f->m), QN_OK);
}

static void
test_refused(void **state)
{
	fixture *f = *state;
	qn_graph *g = qn_graph_new(&f->m, "main");
	qn_id x = qn_graph_input(g, "x", f32(f, 2, 3));
	qn_id late = 17;

	assert_int_equal(qn_graph_op(g, QN_OP_relu, "a", 0, NULL, NULL, NULL), 0);
	assert_int_equal(qn_graph_op(g, QN_OP_relu, "a", 1, &late, NULL, NULL), 0);
	assert_int_equal(qn_graph_op(g, QN_OP_relu, "a", 1, &x, NULL, f32(f, 3, 2)), 0);
	assert_int_equal(qn_graph_op(g, QN_OP_max_pool, "a", 1, &x, NULL, NULL), 0);
	assert_int_equal(qn_graph_op(g, QN_OP_call, "a", 1, &x, NULL, NULL), 0);
	assert_int_equal(qn_graph_const(g, "a", NULL), 0);
	assert_int_equal(qn_graph_input(g, "a", NULL), 0);
	assert_ids(f, "op.arity op.input type.mismatch attr.value shape.rank op.callee const.value "
		      "type.needed");
	assert_int_equal(g->n, 2);
	assert_int_equal(qn_graph_find(g, "a"), 0);
}

/* The accumulator's scale is the interned product, so that passes compare pointers. */
static void
test_accumulator(void **state)
{
	fixture *f = *state;
	qn_graph *g =
		graph_of(f, "model \"m\" stage symbolic\nsymbol $x : asym\nsymbol $w : sym, len 3\n"
			    "graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, $x:$x>>,\n"
			    " %w: tensor<3x4x!quant.uniform<i8<-127:127>:f32:0, $w>>) {\n"
			    " %y = dense %x, %w\n return %y }");
	const qn_type *y = qn_graph_node(g, qn_graph_find(g, "y"))->type;
	const qn_scale *sx = qn_scale_sym(&f->m.types, qn_symbol_find(&f->m.types, "x"));
	const qn_scale *sw = qn_scale_sym(&f->m.types, qn_symbol_find(&f->m.types, "w"));

	assert_ptr_equal(y->elem->scale, qn_scale_op(&f->m.types, QN_SCALE_MUL, sx, sw));
	assert_int_equal(y->elem->bits, 32);
	assert_int_equal(y->elem->gran, QN_PER_AXIS);
	assert_int_equal(y->elem->axis[0], 1);
	assert_int_equal(qn_model_verify(&f->m), QN_OK);
	f->m.stage = QN_STAGE_CALIBRATED;
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.symbol verify.symbol verify.symbol");
}

/* ---- attributes ---- */

static void
test_attrs(void **state)
{
	fixture *f = *state;
	qn_attrs a, b;
	qn_buf text;

	qn_attrs_default(QN_ATTRS(conv2d), &a);
	assert_int_equal(a.conv2d.stride[1], 1);
	assert_int_equal(a.conv2d.padding, QN_PADDING_explicit);
	assert_int_equal(a.conv2d.groups, 1);
	qn_attrs_default(QN_ATTRS(clip), &a);
	assert_true(a.clip.min < -1e300 && a.clip.max > 1e300);
	qn_attrs_default(QN_ATTRS(clamp), &a);
	assert_true(a.clamp.lo == INT32_MIN && a.clamp.hi == INT32_MAX);
	qn_attrs_default(QN_ATTRS(batch_norm), &a);
	assert_true(a.batch_norm.epsilon > 0.99e-5 && a.batch_norm.epsilon < 1.01e-5);
	b = a;
	assert_true(qn_attrs_equal(QN_ATTRS(batch_norm), &a, &b));
	assert_true(qn_attr_is_default(QN_ATTRS(batch_norm), &QN_ATTRS(batch_norm)->attr[0], &a));
	b.batch_norm.epsilon = 1e-3;
	assert_false(qn_attrs_equal(QN_ATTRS(batch_norm), &a, &b));
	qn_buf_init(&text, &f->arena);
	qn_attr_print(&text, &QN_ATTRS(batch_norm)->attr[0], &b);
	assert_string_equal(qn_buf_str(&text), "0.001");
	/* What lies behind the end of a list does not count. */
	qn_attrs_default(QN_ATTRS(perm), &a);
	a.perm.perm = (qn_list){2, {1, 0, 7}};
	b = a;
	b.perm.perm.v[2] = 8;
	assert_true(qn_attrs_equal(QN_ATTRS(perm), &a, &b));
	b.perm.perm.n = 3;
	assert_false(qn_attrs_equal(QN_ATTRS(perm), &a, &b));
	assert_int_equal(qn_op_find("conv2d"), QN_OP_conv2d);
	assert_int_equal(qn_op_find("conv4d"), QN_NOP);
}

/* ---- windows ---- */

static void
test_windows(void **state)
{
	static const struct {
		qn_padding padding;
		int64_t in, kernel, stride, dilation, pad[2];
		bool fits;
		qn_window want;
	} rows[] = {
		{QN_PADDING_same, 5, 3, 2, 1, {0, 0}, true, {3, 1, 1}},
		{QN_PADDING_same, 8, 3, 2, 1, {0, 0}, true, {4, 0, 1}}, /* the odd one after */
		{QN_PADDING_same, 8, 3, 1, 2, {0, 0}, true, {8, 2, 2}},
		{QN_PADDING_same, 8, 1, 2, 1, {0, 0}, true, {4, 0, 0}},
		{QN_PADDING_same, 0, 3, 1, 1, {0, 0}, false, {0, 0, 0}},
		{QN_PADDING_valid, 8, 3, 2, 1, {9, 9}, true, {3, 0, 0}},
		{QN_PADDING_valid, 2, 3, 1, 1, {0, 0}, false, {0, 0, 0}},
		{QN_PADDING_explicit, 8, 3, 2, 1, {1, 0}, true, {4, 1, 0}},
		{QN_PADDING_explicit, 1, 3, 1, 1, {1, 1}, true, {1, 1, 1}},
		{QN_PADDING_explicit, QN_DYNAMIC, 3, 1, 1, {1, 2}, true, {QN_DYNAMIC, 1, 2}},
		{QN_PADDING_same,
		 QN_DYNAMIC,
		 3,
		 1,
		 1,
		 {0, 0},
		 true,
		 {QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC}},
		{QN_PADDING_same,
		 INT64_C(1) << 40,
		 QN_WINDOW_MAX,
		 1,
		 QN_WINDOW_MAX,
		 {0, 0},
		 true,
		 {INT64_C(1) << 40, INT64_C(2305843005992468481), INT64_C(2305843005992468481)}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_window w;
		bool fits = qn_window_resolve((int32_t)rows[i].padding, rows[i].in, rows[i].kernel,
					      rows[i].stride, rows[i].dilation, rows[i].pad, &w);

		assert_int_equal(fits, rows[i].fits);
		if (!rows[i].fits)
			continue;
		assert_int_equal(w.out, rows[i].want.out);
		assert_int_equal(w.before, rows[i].want.before);
		assert_int_equal(w.after, rows[i].want.after);
	}
}

/* ---- equality ---- */

#define HEAD "graph @main(%x: tensor<2x3xf32>) {\n"

static bool
equal(fixture *f, const char *a, const char *b)
{
	qn_model other;

	qn_model_init(&other, &f->env, &f->arena, "other");
	assert_int_equal(qn_model_parse(&other, "b", b, strlen(b)), QN_OK);
	qn_model_init(&f->m, &f->env, &f->arena, "model");
	return qn_graph_equal(graph_of(f, a), qn_model_entry(&other));
}

static void
test_equal(void **state)
{
	static const char base[] = HEAD " %c = const : tensor<3xf32> [1, 2, 3]\n %r = relu %x\n %s "
					"= add %r, %c\n return %s as \"y\" }";
	static const char renamed[] =
		HEAD " %0 = relu %x\n %dead = relu6 %x\n %1 = const : tensor<3xf32> [1, 2, 3]\n"
		     " %2 = add %0, %1\n return %2 as \"y\" }";
	static const char *const others[] = {
		HEAD " %c = const : tensor<3xf32> [1, 2, 4]\n %r = relu %x\n %s = add %r, %c\n "
		     "return %s as \"y\" }",
		HEAD " %c = const : tensor<3xf32> [1, 2, 3]\n %r = relu6 %x\n %s = add %r, %c\n "
		     "return %s as \"y\" }",
		HEAD " %c = const : tensor<3xf32> [1, 2, 3]\n %r = relu %x\n %s = add %c, %r\n "
		     "return %s as \"y\" }",
		HEAD " %c = const : tensor<3xf32> [1, 2, 3]\n %r = relu %x\n %s = add %r, %c\n "
		     "return %s as \"z\" }",
		HEAD " %c = const : tensor<1x3xf32> [1, 2, 3]\n %r = relu %x\n %s = add %r, %c\n "
		     "return %s as \"y\" }",
	};
	fixture *f = *state;

	assert_true(equal(f, base, renamed));
	for (size_t i = 0; i < QN_COUNT(others); i++)
		assert_false(equal(f, base, others[i]));
	/* One node used twice is not two equal nodes. */
	assert_false(equal(f, HEAD " %r = relu %x\n %s = add %r, %r\n return %s }",
			   HEAD " %r = relu %x\n %q = relu %x\n %s = add %r, %q\n return %s }"));
	assert_false(equal(f, HEAD " %r = clip %x {max=1}\n return %r }",
			   HEAD " %r = clip %x {max=2}\n return %r }"));
}

/* Each graph calls the one before it twice: 2^60 calls in all. */
static void
test_equal_calls(void **state)
{
	fixture *f = *state;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buf_puts(&b, "graph @g0(%x: tensor<2xf32>) { %y = relu %x\n return %y }\n");
	for (int i = 1; i < 60; i++)
		qn_buff(&b,
			"graph @g%d(%%x: tensor<2xf32>) { %%a = call @g%d %%x\n %%b = call @g%d "
			"%%a\n return %%b as \"y\" }\n",
			i, i - 1, i - 1);
	const char *text = qn_buf_str(&b);
	assert_true(equal(f, text, text));
	assert_int_equal(qn_model_verify(&f->m), QN_OK);
}

/* ---- the verifier ---- */

#define VERIFIED HEAD " %r = relu %x\n %s = add %r, %x\n return %s }"

static void
test_tampered(void **state)
{
	fixture *f = *state;
	qn_graph *g = graph_of(f, VERIFIED);
	qn_node *node = &g->block[0][2];
	qn_node saved = *node;
	const qn_id forward[1] = {3};

	assert_int_equal(qn_model_verify(&f->m), QN_OK);
	node->type = f32(f, 3, 2);
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.type shape.broadcast");
	*node = saved;
	node->in = forward;
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.order");
	*node = saved;
	node->nin = 0;
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.arity");
	*node = saved;
	node->name = "s";
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.name");
	*node = saved;
	g->output[0].value = 9;
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.output");
	g->output[0].value = 3;
	f->m.stage = QN_STAGE_INTEGER;
	assert_int_equal(qn_model_verify(&f->m), QN_EUNSUPPORTED);
	assert_ids(f, "verify.float verify.float verify.float");
	f->m.stage = QN_STAGE_FLOAT;
	assert_int_equal(qn_model_verify(&f->m), QN_OK);
}

static void
test_callees(void **state)
{
	fixture *f = *state;
	qn_graph *g = graph_of(f, "graph @c(%x: tensor<2xf32>) { return %x }\n"
				  "graph @main(%x: tensor<2xf32>) { %y = call @c %x\n return %y }");
	qn_graph *callee = f->m.graph[0];

	assert_int_equal(qn_model_verify(&f->m), QN_OK);
	f->m.graph[0] = g;
	f->m.graph[1] = callee;
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.callee");
	f->m.ngraph = 0;
	assert_int_equal(qn_model_verify(&f->m), QN_EINVALID);
	assert_ids(f, "verify.graph");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_accumulator, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attrs, setup, teardown),
		cmocka_unit_test(test_windows),
		cmocka_unit_test_setup_teardown(test_equal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_equal_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tampered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callees, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
