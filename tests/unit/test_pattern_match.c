/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_match.c - what patterns in text form match and what not; each of them reads back from
 * its own text and matches alike. */
#include "tests/unit/pattern_rows.h"

static const char values[] =
	"graph @f(%p: tensor<4xf32>, %q: tensor<4xf32>) { %s = add %p, %q  return %s }\n"
	"graph @g(%p: tensor<4xf32>, %q: tensor<4xf32>) { %s = add %p, %q  return %s }\n"
	"graph @h(%p: tensor<4xf32>) pattern \"block\" { %s = relu %p  return %s }\n"
	"graph @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<1x5x5x2xf32>, %w: "
	"tensor<3x3x3x2xf32>, %b: tensor<3xf32>, %m: tensor<1x4xf32>) {\n"
	"  %k = const : tensor<4xf32> splat 1.5\n"
	"  %k_again = const : tensor<4xf32> splat 1.5\n"
	"  %k_other = const : tensor<4xf32> splat 2.5\n"
	"  %codes = const : tensor<4xi8> splat 1\n"
	"  %kw = const : tensor<4x4xf32> rand 1\n"
	"  %add = add %x, %y\n"
	"  %same = add %x, %y\n"
	"  %swapped = add %y, %x\n"
	"  %twice = add %x, %x\n"
	"  %mul = mul %y, %x\n"
	"  %sub = sub %y, %x\n"
	"  %div = div %y, %x\n"
	"  %max = maximum %y, %x\n"
	"  %conv = conv2d %i, %w {stride=[2,1], padding=same}\n"
	"  %bias = bias_add %conv, %b\n"
	"  %plus = add %conv, %b\n"
	"  %rc = relu %conv\n"
	"  %rb = relu %bias\n"
	"  %rp = relu %plus\n"
	"  %tc = tanh %conv\n"
	"  %relu = relu %x\n"
	"  %ttr = tanh %relu\n"
	"  %rt = relu %ttr\n"
	"  %tup = tuple %x, %add\n"
	"  %one = tuple %x\n"
	"  %g0 = get %tup {index=0}\n"
	"  %g1 = get %tup {index=1}\n"
	"  %left = relu %conv\n"
	"  %right = leaky_relu %conv\n"
	"  %diamond = add %left, %right\n"
	"  %other = conv2d %i, %w {stride=[2,1], padding=same}\n"
	"  %apart = leaky_relu %other\n"
	"  %two = add %left, %apart\n"
	"  %uv = sub %swapped, %x\n"
	"  %vu = sub %swapped, %y\n"
	"  %d = dense %m, %kw\n"
	"  %c1 = relu %d\n  %c2 = relu %c1\n  %c3 = relu %c2\n  %c4 = relu %c3\n  %c5 = relu %c4\n"
	"  %call = call @f %x, %y\n"
	"  %block = call @h %x\n"
	"  %prod = mul %add, %k\n"
	"  %quot = div %prod, %y\n"
	"  %inner = div %k, %y\n"
	"  %regr = mul %add, %inner\n"
	"  %clip = clip %x {min=-1.0, max=6.0}\n"
	"  %clip_again = clip %x {min=-1.0, max=6.0}\n"
	"  %clip_low = clip %x {min=-2.0, max=6.0}\n"
	"  %clip_high = clip %x {min=-1.0, max=7.0}\n"
	"  %fine = quantize %x : tensor<4x!quant.uniform<i8:f32, 0.5>>\n"
	"  %fine_again = quantize %x : tensor<4x!quant.uniform<i8:f32, 0.5>>\n"
	"  %coarse = quantize %x : tensor<4x!quant.uniform<i8:f32, 0.25>>\n"
	"  %call_again = call @f %x, %y\n"
	"  %call_other = call @g %x, %y\n"
	"  return %quot, %diamond, %two, %c5\n"
	"}\n";

static const row table[] = {
	/* leaves */
	{"*", "x", "", 0},
	{"*", "conv", "", 0},
	{"a", "conv", "a=conv", 0},
	{"azAZ_09", "conv", "azAZ_09=conv", 0},
	{"%x", "x", "", 0},
	{"%x", "y", NULL, 0},
	{"input", "y", "", 0},
	{"input", "add", NULL, 0},
	{"const", "k", "", 0},
	{"const", "x", NULL, 0},
	{"1.5", "k", "", 0},
	{"2.5", "k", NULL, 0},
	{"1.5", "x", NULL, 0},
	{"expr(%add)", "same", "", 0},
	{"expr(%add)", "swapped", NULL, 0},
	{"expr(%conv)", "other", "", 0},
	{"expr(%nothing)", "other", NULL, 0},
	{"expr(%x)", "x", "", 0}, /* the first value of the graph */
	{"expr(%x)", "y", NULL, 0},
	{"expr(%k)", "k_again", "", 0}, /* constants of equal bytes */
	{"expr(%k)", "k_other", NULL, 0},
	{"expr(%clip)", "clip_again", "", 0}, /* equal attributes */
	{"expr(%clip)", "clip_low", NULL, 0},
	{"expr(%clip)", "clip_high", NULL, 0},
	{"expr(%fine)", "fine_again", "", 0}, /* equal types */
	{"expr(%fine)", "coarse", NULL, 0},
	{"expr(%call)", "call_again", "", 0}, /* of the same graph */
	{"expr(%call)", "call_other", NULL, 0},
	/* calls; only add and mul commute */
	{"add(%x, %y)", "add", "", 0},
	{"add(%x, %y)", "swapped", "", 0},
	{"mul(%x, %y)", "mul", "", 0},
	{"sub(%x, %y)", "sub", NULL, 0},
	{"sub(%y, %x)", "sub", "", 0},
	{"div(%x, %y)", "div", NULL, 0},
	{"maximum(%x, %y)", "max", NULL, 0},
	{"conv2d(*, *)", "conv", "", 0},
	{"conv2d(*)", "conv", NULL, 0},
	{"conv2d(...)", "conv", "", 0},
	{"*(...)", "relu", "", 0},
	{"*(...)", "add", "", 0},
	{"*(*)", "relu", "", 0},
	{"*(*)", "add", NULL, 0},
	{"*(...)", "x", NULL, 0},
	{"*(...)", "k", NULL, 0},
	{"*(...)", "tup", NULL, 0},
	{"*(...)", "call", "", 0},
	{"MIX(a, b)", "add", "a=x b=y", 0},
	{"SAME(*)", "relu", "", 0},
	{"SAME(*)", "add", NULL, 0},
	/* tuples */
	{"tuple(%x, *)", "tup", "", 0},
	{"tuple(%x, *)", "one", NULL, 0},
	{"tuple(...)", "tup", "", 0},
	{"tuple(...)", "one", "", 0},
	{"tuple(...).1", "g0", NULL, 0},
	{"tuple(...).1", "g1", "", 0},
	{"t.*", "g0", "t=tup", 0},
	{"t.*", "g1", "t=tup", 0},
	/* alternatives */
	{"add(*, *) | sub(*, *)", "sub", "", 0},
	{"add(*, *) | sub(*, *)", "mul", NULL, 0},
	{"add(a, %y) | add(b, *)", "add", "a=x", 0},
	{"relu(conv2d(*, *) ?bias_add(_, *))", "rc", "", 0},
	{"relu(conv2d(*, *) ?bias_add(_, b))", "rb", "b=b", 0},
	{"relu(conv2d(*, *) ?bias_add(_, *))", "rp", NULL, 0},
	{"relu(conv2d(*, *) ?bias_add(_, *))", "tc", NULL, 0},
	{"%x ?relu(_) ?tanh(_)", "x", "", 0},
	{"%x ?relu(_) ?tanh(_)", "relu", "", 0},
	{"%x ?relu(_) ?tanh(_)", "ttr", "", 0},
	{"%x ?relu(_) ?tanh(_)", "rt", NULL, 0},
	{"%x ?add(_, _)", "twice", "", 0},
	{"input ?add(_, _)", "add", NULL, 0},
	/* types */
	{"* : f32", "x", "", 0},
	{"* : f32", "codes", NULL, 0},
	{"* : f32", "tup", NULL, 0},
	{"* : [4]", "x", "", 0},
	{"* : [4]", "m", NULL, 0},
	{"* : [?,4]", "m", "", 0},
	{"* : f32[1,?]", "m", "", 0},
	{"* : i8[4]", "x", NULL, 0},
	{"* : tensor<4xf32>", "x", "", 0},
	{"* : tensor<4xf32>", "m", NULL, 0},
	{"* : quant", "x", NULL, 0},
	{"* where scalar", "x", NULL, 0},
	{"* where output", "c5", "", 0},
	{"* where output", "quot", "", 0}, /* the first */
	{"* where output", "c4", NULL, 0},
	/* attributes */
	{"conv2d(*, *){stride=[2,1]}", "conv", "", 0},
	{"conv2d(*, *){stride=[1,1]}", "conv", NULL, 0},
	{"conv2d(*, *){stride=[2,1], padding=same}", "conv", "", 0},
	{"conv2d(*, *){padding=valid}", "conv", NULL, 0},
	{"*(...){stride=[2,1]}", "conv", "", 0},
	{"*(...){stride=[2,1]}", "relu", NULL, 0},
	{"clip(*){min=-1, max=6.0}", "clip", "", 0},
	{"clip(*){min=-1.5}", "clip", NULL, 0},
	/* one name, one value */
	{"add(relu(c=conv2d(*, *)), leaky_relu(c))", "diamond", "c=conv", 0},
	{"add(relu(c=conv2d(*, *)), leaky_relu(c))", "two", NULL, 0},
	{"add(leaky_relu(c), relu(c=conv2d(*, *)))", "diamond", "c=conv c=conv", 0},
	{"add(a, b)", "twice", "a=x b=x", 0},
	{"add(a, a)", "twice", "a=x", 0},
	{"add(a, a)", "add", NULL, 0},
	/* coming back to the swapped operands of a part that was good for itself */
	{"sub(add(u, v), u)", "vu", "u=y v=x", 0},
	{"sub(add(u, v), u)", "uv", "u=x v=y", 0},
	{"sub(add(u, v), u)", "vu", "u=y v=x", QN_MATCH_GREEDY},
	{"sub(add(u, v), u)", "uv", NULL, QN_MATCH_GREEDY},
	{"add(a, %y | *)", "add", "a=x", QN_MATCH_GREEDY},
	/* functions */
	{"fn[add(*, *)](...)", "call", "", 0},
	{"fn[a, b -> add(b, a)](c, d)", "call", "a=p b=q c=x d=y", 0},
	{"fn[relu(*)](...)", "call", NULL, 0},
	{"fn[a -> *](...)", "call", NULL, 0},
	{"fn[...](*, *)", "call", "", 0},
	{"fn[...](*)", "call", NULL, 0},
	{"fn[-> *](...)", "call", NULL, 0},
	{"fn[relu(*)](*){pattern=block}", "block", "", 0},
	{"fn[relu(*)](*){pattern=conv}", "block", NULL, 0},
	{"add(*, *)", "call", NULL, 0},
	/* recursion */
	{"R=relu(R | dense(a, k=const))", "c5", "a=m k=kw R=c1 R=c2 R=c3 R=c4 R=c5", 0},
	{"R=relu(R | dense(*, *))", "c1", "R=c1", 0},
	{"R=relu(R | dense(*, *))", "d", NULL, 0},
	{"R=relu(R | conv2d(*, *))", "c5", NULL, 0},
	{"R=(R | %x)", "x", "R=x", 0},
	{"R=R", "x", NULL, 0},
	/* association */
	{"div(mul(a, b), c)", "quot", "a=add b=k c=y", 0},
	{"div(mul(a, b), c)", "regr", NULL, 0},
	{"div(mul(a, b), c)", "regr", "a=k b=add c=y", QN_MATCH_REASSOC},
	{"div(mul(a, const), c)", "regr", "a=add c=y", QN_MATCH_REASSOC},
	{"mul(a, div(b, c))", "quot", "b=add a=k c=y", QN_MATCH_REASSOC},
	{"mul(const, div(b, c))", "quot", "b=add c=y", QN_MATCH_REASSOC},
	{"mul(div(b, c), a)", "quot", "b=add a=k c=y", QN_MATCH_REASSOC}, /* the quotient first */
	{"mul(div(b, c), const)", "quot", "b=add c=y", QN_MATCH_REASSOC},
	{"mul(div(b, c), a)", "quot", NULL, 0},
	{"mul(a, div(b, c))", "quot", NULL, 0},
};

static void
test_table(void **state)
{
	(void)state;
	read_model(values);
	run_rows(table, QN_COUNT(table));
}

/* A node made by hand that stands in two places gets a name when it is written. */
static void
test_shared_nodes(void **state)
{
	qn_patterns *set = new_set();
	qn_pattern *c = qn_build_slot(qn_build_call(set, qn_build_op(set, "conv2d"), -1, NULL));
	qn_pattern *two[2] = {qn_build_call(set, qn_build_op(set, "relu"), 1, &c),
			      qn_build_call(set, qn_build_op(set, "leaky_relu"), 1, &c)};
	qn_pattern *p = qn_build_call(set, qn_build_op(set, "add"), 2, two);
	const char *text = text_of(p);

	(void)state;
	assert_string_equal(text, "add(relu(slot0=conv2d(...)), leaky_relu(slot0=conv2d(...)))");
	read_model(values);
	run_rows(&(row){text, "diamond", "slot0=conv slot0=conv", 0}, 1);
	run_rows(&(row){text, "two", NULL, 0}, 1);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_table),
		TEST(test_shared_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
