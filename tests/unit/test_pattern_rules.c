/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_rules.c - rewriting by rules of patterns in text form, until nothing changes. */
#include "tests/unit/pattern_head.h"

#include "patterns/cut.h"
#include "patterns/fixpoint.h"

typedef struct text_rule {
	const char *pattern;
	qn_fixpoint_fn *fn;
	uint32_t flags;
} text_rule;

static qn_patterns *rule_set;
static size_t passes;

static qn_id
bound_to(const qn_match *m, const char *name)
{
	for (size_t i = 0; i < m->nbound; i++) {
		const qn_pattern *p = (const qn_pattern *)(const void *)m->bound[i].pat;
		const char *is = qn_pattern_slot_name(p);

		if (is != NULL && strcmp(is, name) == 0)
			return m->bound[i].value;
	}
	return 0;
}

static qn_status
rewrite_with(size_t n, const text_rule *rules)
{
	qn_fixpoint_rule r[8];

	rule_set = new_set();
	for (size_t i = 0; i < n; i++)
		r[i] = (qn_fixpoint_rule){rules[i].pattern,
					  &read_pattern(rule_set, rules[i].pattern)->pat,
					  rules[i].fn, NULL, rules[i].flags};
	qn_status status =
		qn_rewrite_to_fixpoint(&rg->m, r, n, qn_matcher_new(&rg->arena, 0), &passes);
	rg->g = qn_model_entry(&rg->m);
	return status;
}

static qn_id
take_x(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	(void)user, (void)g, (void)before, (void)root;
	return bound_to(m, "x");
}

static void
test_rewrite_identities(void **state)
{
	static const text_rule rules[] = {
		{"add(x, 0.0)", take_x, 0},   {"mul(x, 1.0)", take_x, 0},
		{"sub(x, 0.0)", take_x, 0},   {"div(x, 1.0)", take_x, 0},
		{"mul(*, x=0.0)", take_x, 0}, {"div(x=0.0, *)", take_x, 0},
	};

	(void)state;
	read_model("graph @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {\n"
		   "  %o = const : tensor<4xf32> splat 0.0\n"
		   "  %i = const : tensor<4xf32> splat 1.0\n"
		   "  %a = mul %o, %y\n  %b = add %x, %a\n  %c = div %b, %i\n  %d = mul %y, %i\n"
		   "  %e = add %c, %d\n  %f = div %o, %x\n  %g = sub %e, %f\n  return %g\n}\n");
	assert_int_equal(rewrite_with(QN_COUNT(rules), rules), QN_OK);
	no_errors();
	assert_int_equal(rg->g->n, 4); /* x + y */
	const qn_node *n = qn_graph_node(rg->g, rg->g->output[0].value);
	assert_int_equal(n->op, QN_OP_add);
	assert_string_equal(rg->g->output[0].name, "g");
}

static qn_id
drop_last(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	const qn_node *n = qn_graph_node(g, m->root);

	(void)user, (void)before, (void)root;
	return n->nin < 2 ? m->root
			  : qn_graph_op(g, QN_OP_add, NULL, 2, (qn_id[]){n->in[0], n->in[0]}, NULL,
					NULL);
}

static qn_id
relu_on_top(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	(void)user, (void)before, (void)root;
	return qn_graph_op(g, QN_OP_relu, NULL, 1, &m->root, NULL, NULL);
}

static qn_id
same_again(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	const qn_node *n = qn_graph_node(g, m->root);

	(void)user, (void)before, (void)root;
	return qn_graph_op(g, n->op, NULL, n->nin, n->in, n->attr, NULL);
}

static qn_id
nothing(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	(void)user, (void)g, (void)m, (void)before, (void)root;
	return 0;
}

static const char softmax[] = "graph @main(%x: tensor<1x4xf32>, %z: tensor<1x4xf32>) {\n"
			      "  %a = add %x, %z\n  %s = softmax %a\n  return %s\n}\n";

static qn_op
op_of(qn_id id)
{
	return qn_graph_node(rg->g, id)->op;
}

static void
test_rewrite_once(void **state)
{
	const text_rule once[] = {{"softmax(*)", relu_on_top, QN_ONCE}, {"add(...)", drop_last, 0}};
	const text_rule endless = {"softmax(*)", relu_on_top, 0};
	const qn_graph *before;

	(void)state;
	read_model(softmax);
	assert_int_equal(rewrite_with(2, once), QN_OK);
	qn_id y = rg->g->output[0].value;
	assert_int_equal(op_of(y), QN_OP_relu);
	y = qn_graph_node(rg->g, y)->in[0];
	assert_int_equal(op_of(y), QN_OP_softmax);
	y = qn_graph_node(rg->g, y)->in[0];
	assert_int_equal(op_of(qn_graph_node(rg->g, y)->in[0]), QN_OP_input);
	assert_int_equal(qn_graph_node(rg->g, y)->in[0], qn_graph_node(rg->g, y)->in[1]);
	assert_int_equal(passes, 3); /* both, then the second alone */

	read_model(softmax);
	before = rg->g;
	assert_int_equal(rewrite_with(1, &endless), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "rewrite.fixpoint");
	assert_ptr_equal(rg->g, before);
	assert_int_equal(passes, QN_MAX_PASSES);
}

static qn_id
twice(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	qn_id x = bound_to(m, "x");

	(void)user, (void)before, (void)root;
	x = qn_graph_op(g, QN_OP_relu, NULL, 1, &x, NULL, NULL);
	return qn_graph_op(g, QN_OP_relu, NULL, 1, &x, NULL, NULL);
}

/* A rule that doubles the graph ends at the limit, long before memory does. */
static void
test_rewrite_grows(void **state)
{
	const text_rule doubling = {"relu(x)", twice, 0};

	(void)state;
	read_model("graph @main(%x: tensor<4xf32>) {\n  %y = relu %x\n  return %y\n}\n");
	rg->env.limits.nodes = 1000;
	const qn_graph *before = rg->g;
	assert_int_equal(rewrite_with(1, &doubling), QN_EBUDGET);
	assert_string_equal(rg->diags.item[0].id, "limit.nodes");
	assert_ptr_equal(rg->g, before);
	assert_in_range(passes, 8, 10);
}

/* What is made anew in the same way is no change: the graph stays the very same. */
static void
test_rewrite_identity(void **state)
{
	const text_rule rules[] = {{"softmax(*)", same_again, 0}, {"add(*, *)", same_again, 0}};
	const qn_graph *before;

	(void)state;
	read_model(softmax);
	before = rg->g;
	assert_int_equal(rewrite_with(2, rules), QN_OK);
	assert_ptr_equal(rg->g, before);
	assert_int_equal(passes, 2);
}

static qn_id
other_type(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	(void)user, (void)before, (void)root;
	return qn_graph_op(g, QN_OP_global_avg_pool, NULL, 1, &m->root, NULL, NULL);
}

static void
test_rewrite_errors(void **state)
{
	const text_rule wrong[] = {{"relu(*)", other_type, 0}, {"relu(*)", nothing, 0}};
	static const char *const ids[] = {"rewrite.type", "rewrite.callback"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		qn_diags_clear(&rg->env, &rg->diags);
		read_model(HEAD "  %r = relu %x  return %r\n}\n");
		const qn_graph *before = rg->g;
		assert_int_equal(rewrite_with(1, &wrong[i]), QN_EINVALID);
		assert_string_equal(rg->diags.item[0].id, ids[i]);
		assert_string_equal(rg->diags.item[0].place, "r");
		assert_ptr_equal(rg->g, before);
	}
}

/* The value of x by its slot, as rules of the compiler read it. */
static qn_id
take_slot(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id root)
{
	(void)user, (void)before, (void)root;
	assert_ptr_equal(m->graph, g);
	assert_int_equal(m->at[0], bound_to(m, "x"));
	return m->at[0];
}

/* Slots and names are values of the graph under construction: those of %b and %d, which the groups
 * before them have replaced, are that of %x. */
static void
test_rewrite_slots(void **state)
{
	const text_rule rule = {"relu(relu(x))", take_slot, 0};

	(void)state;
	read_model("graph @main(%x: tensor<4xf32>) {\n  %a = relu %x\n  %b = relu %a\n  %c = relu "
		   "%b\n  %d = relu %c\n  %e = tanh %d\n  return %e\n}\n");
	assert_int_equal(rewrite_with(1, &rule), QN_OK);
	no_errors();
	assert_int_equal(rg->g->n, 3);
	assert_int_equal(op_of(qn_graph_node(rg->g, rg->g->output[0].value)->in[0]), QN_OP_input);
}

/* All groups of a pass are rewritten, inner ones first; types are there for the next one. */
static void
test_rewrite_chain(void **state)
{
	const text_rule rules[] = {{"relu(relu(x)) : f32", take_x, QN_ONCE},
				   {"relu(x : f32[4])", take_x, 0}};

	(void)state;
	read_model("graph @main(%x: tensor<4xf32>) {\n  %a = relu %x\n  %b = relu %a\n  %c = relu "
		   "%b\n  %d = relu %c\n  %e = relu %d\n  return %e\n}\n");
	assert_int_equal(rewrite_with(1, rules), QN_OK);
	assert_int_equal(rg->g->n, 3); /* two pairs are gone */
	assert_int_equal(rewrite_with(2, rules), QN_OK);
	assert_int_equal(rg->g->n, 2);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rewrite_once),  TEST(test_rewrite_identities),
		TEST(test_rewrite_chain), TEST(test_rewrite_identity),
		TEST(test_rewrite_grows), TEST(test_rewrite_errors),
		TEST(test_rewrite_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
