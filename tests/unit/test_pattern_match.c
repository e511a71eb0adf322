/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_match.c - what patterns in text form match and what not; each of them reads back from
 * its own text and matches alike. */
#include "tests/unit/pattern_rig.h"

#include "patterns/index.h"
#include "patterns/memo.h"
#include "patterns/search.h"

typedef struct row {
	const char *pattern, *root; /* the value that is asked */
	const char *bindings;       /* NULL: no match */
	uint32_t flags;
} row;

static const char *
ask(const char *text, const char *root, uint32_t flags, const char **canonical)
{
	qn_pattern *p = read_pattern(new_set(), text);
	qn_id id = qn_graph_find(rg->g, root);
	qn_match m;

	assert_int_not_equal(id, 0);
	*canonical = text_of(p);
	bool is = qn_match_at(qn_matcher_new(&rg->arena, flags), rg->g, &p->pat, id, &m);
	return is ? bindings_of(&m) : NULL;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void
run_rows(const row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const row *r = &rows[i];
		const char *canonical, *again;
		const char *got = ask(r->pattern, r->root, r->flags, &canonical);

		if (!same_text(got, r->bindings))
			fail_msg("%s at %s: %s, not %s", r->pattern, r->root, got ? got : "no",
				 r->bindings ? r->bindings : "no");
		if (!same_text(ask(canonical, r->root, r->flags, &again), r->bindings) ||
		    strcmp(canonical, again) != 0)
			fail_msg("%s: prints as %s, then %s", r->pattern, canonical, again);
	}
}

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

/* ---- dominators ---- */

static void
test_dominators(void **state)
{
	static const char head[] = "graph @main(%x: tensor<1x4x4x2xf32>, %w: tensor<2x1x1x2xf32>, "
				   "%v: tensor<2xf32>) {\n"
				   "  %c = conv2d %x, %w\n  %k = const : tensor<2xf32> splat 2.0\n";
	static const struct {
		const char *body, *pattern, *bindings;
		uint32_t flags;
	} rows[] = {
		{"%r = relu %c  %s = relu %c  %a = add %r, %s  return %a",
		 "c=conv2d(*, *) ~ p=relu(*) ~> a=add(*, *)", "a=a p=r c=c p=s", 0},
		{"%d = conv2d %x, %w  %r = relu %c  %s = relu %d  %a = add %r, %s  return %a",
		 "conv2d(*, *) ~ relu(*) ~> add(*, *)", NULL, 0},
		{"%r = relu %c  %a = add %c, %r  return %a",
		 "c=conv2d(*, *) ~ relu(*) ~> add(*, *)", "c=c", 0},
		{"%t = tanh %c  %d = conv2d %t, %w  %r = relu %c  %a = add %d, %r  return %a",
		 "conv2d(*, *) ~ relu(*) ~> add(*, *)", NULL, 0},
		{"%r = relu %x  %a = add %r, %r  return %a", "conv2d(*, *) ~ relu(*) ~> add(*, *)",
		 NULL, 0},
		/* constants and inputs stand beside the path, of the child too */
		{"%r = relu %c  %p = add %r, %k  %q = relu %p  %a = relu6 %q  return %a",
		 "conv2d(*, *) ~ p=(relu(*) | add(*, const)) ~> relu6(*)", "p=q p=p p=r", 0},
		{"%r = relu %c  %p = add %r, %k  %q = relu %p  %a = relu6 %q  return %a",
		 "conv2d(*, *) ~ (relu(*) | add(*, const)) ~> relu6(*)", NULL,
		 QN_MATCH_NO_PATH_CONST},
		{"%r = relu %c  %a = add %r, %k  return %a",
		 "c=conv2d(*, *) ~ p=relu(*) ~> a=add(*, const)", "a=a p=r c=c", 0},
		{"%r = relu %c  %a = add %r, %k  return %a",
		 "conv2d(*, *) ~ relu(*) ~> add(*, const)", NULL, QN_MATCH_NO_PATH_CONST},
		{"%b = bias_add %c, %v  %r = relu %b  %a = reshape %r {shape=[32]}  return %a",
		 "c=conv2d(*, *) ~ p=(bias_add(*, *) | relu(*)) ~> reshape(*)", "p=r p=b c=c", 0},
		{"%b = bias_add %c, %v  %r = relu %b  %a = reshape %r {shape=[32]}  return %a",
		 "conv2d(*, *) ~ (bias_add(*, *) | relu(*)) ~> reshape(*)", NULL,
		 QN_MATCH_NO_PATH_CONST},
		{"%r = relu %c  %p = add %r, %v  %a = add %p, %v  return %a",
		 "c=conv2d(*, *) ~ p=(relu(*) | add(*, *)) ~> add(*, *)", "p=p p=r c=c", 0},
		/* nothing but these: no way to a parent */
		{"%r = add %v, %k  %a = relu %r  return %a", "conv2d(*, *) ~ add(*, *) ~> relu(*)",
		 NULL, 0},
		{"%a = relu %x  return %a", "input ~> relu(*)", NULL, 0},
		{"%a = relu %x  return %a", "i=input ~> relu(*)", "i=x", QN_MATCH_NO_PATH_CONST},
		/* fields of a tuple count: it is no call */
		{"%r = relu %c  %t = tuple %r, %k  %a = get %t {index=0}  return %a",
		 "conv2d(*, *) ~ (relu(*) | tuple(*, *)) ~> get(*)", NULL, 0},
		/* the parent leads out by another way */
		{"%r = relu %c  %a = relu6 %r  return %a, %c", "conv2d(*, *) ~ relu(*) ~> relu6(*)",
		 NULL, 0},
		{"%r = relu %c  %a = relu6 %r  return %a, %r", "conv2d(*, *) ~ relu(*) ~> relu6(*)",
		 NULL, 0},
		/* the first value that may be the parent is not where all ways meet; greedy stays at it */
		{"%t = tanh %c  %r = relu %t  %a = add %r, %t  return %a",
		 "t=(tanh(*) | relu(*)) ~ p=relu(*) ~> add(*, *)", "p=r t=t", 0},
		{"%t = tanh %c  %r = relu %t  %a = add %r, %t  return %a",
		 "(tanh(*) | relu(*)) ~ relu(*) ~> add(*, *)", NULL, QN_MATCH_GREEDY},
		/* any path; a parent that is the child; a diamond of diamonds */
		{"%r = relu %c  %t = tanh %r  %a = add %r, %t  return %a",
		 "c=conv2d(*, *) ~> add(*, *)", "c=c", 0},
		{"%a = relu %c  return %a", "a=relu(*) ~ relu(*) ~> relu(*)", NULL, 0},
		{"%r = relu %c  %a = add %r, %r  %b = add %a, %a  %d = add %b, %b  return %d",
		 "c=conv2d(*, *) ~ p=(relu(*) | add(*, *)) ~> add(*, *)", "p=b p=a p=r c=c", 0},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_buf b;

		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "%s%s }", head, rows[i].body);
		read_model(qn_buf_str(&b));
		run_rows(&(row){rows[i].pattern, qn_graph_node(rg->g, rg->g->output[0].value)->name,
				rows[i].bindings, rows[i].flags},
			 1);
	}
}

/* Every way from b to the outputs, tried one by one. */
static bool
leads_through(const qn_graph *g, qn_id a, qn_id b)
{
	bool reached[64] = {0}; /* from b without a */

	reached[b] = true;
	for (qn_id id = b + 1; id < g->n; id++)
		for (uint32_t i = 0; i < qn_graph_node(g, id)->nin; i++)
			reached[id] =
				reached[id] || (reached[qn_graph_node(g, id)->in[i]] && id != a);
	for (size_t i = 0; i < g->noutput; i++)
		if (reached[g->output[i].value])
			return false;
	return true;
}

static void
test_dominators_of_random_graphs(void **state)
{
	enum { NODES = 40 };

	(void)state;
	for (uint64_t seed = 1; seed < 200; seed++) {
		uint64_t s = seed * UINT64_C(0x9E3779B97F4A7C15);
		qn_index ix;

		rg->g = qn_graph_new(&rg->m, "g");
		(void)qn_graph_input(rg->g, "x", type("tensor<4xf32>"));
		for (qn_id id = 2; id < NODES; id++) {
			qn_id in[2];

			for (int i = 0; i < 2; i++) {
				s = s * UINT64_C(6364136223846793005) + 1442695040888963407u;
				in[i] = id - 1 - (qn_id)(s >> 40) % (id - 1 < 6 ? id - 1 : 6);
			}
			assert_int_equal(qn_graph_op(rg->g, QN_OP_add, NULL, 2, in, NULL, NULL),
					 id);
		}
		qn_graph_output(rg->g, "y", NODES - 1);
		qn_graph_output(rg->g, "z", NODES - 1 - (qn_id)(seed % 5));
		qn_index_init(&ix, &rg->arena, rg->g);
		for (qn_id a = 1; a < NODES; a++)
			for (qn_id b = 1; b < NODES; b++)
				if (ix.live[a] && ix.live[b])
					assert_int_equal(qn_index_dominates(&ix, a, b),
							 a != b && leads_through(rg->g, a, b));
	}
}

/* ---- what is kept from root to root ---- */

static uint64_t
draw(uint64_t *s, uint64_t n)
{
	*s = *s * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (*s >> 33) % n;
}

/* relu, tanh and add of what came shortly before. */
static void
random_graph(uint64_t seed, int n)
{
	const float one = 1.0f;
	qn_id last[4], id;

	rg->g = qn_graph_new(&rg->m, "g");
	last[0] = qn_graph_input(rg->g, "x", type("tensor<4xf32>"));
	last[1] = qn_graph_const(rg->g, "k", qn_tensor_of(&rg->arena, type("tensor<f32>"), &one));
	last[2] = last[3] = last[0];
	for (int i = 0; i < n; i++) {
		static const qn_op op[] = {QN_OP_relu, QN_OP_relu, QN_OP_relu,
					   QN_OP_tanh, QN_OP_add,  QN_OP_add};
		const qn_op o = op[draw(&seed, QN_COUNT(op))];
		qn_id in[2] = {last[draw(&seed, 3) > 0 ? 2 + draw(&seed, 2) : 0],
			       last[draw(&seed, 4)]};

		id = qn_graph_op(rg->g, o, NULL, o == QN_OP_add ? 2 : 1, in, NULL, NULL);
		assert_int_not_equal(id, 0);
		last[0] = last[2];
		last[2] = last[3];
		last[3] = id;
	}
	qn_graph_output(rg->g, "y", last[3]);
	if (draw(&seed, 3) == 0)
		qn_graph_output(rg->g, "z", last[2]);
}

/* An answer that was kept names the same value for each part as the search does: the only one, or the first. */
static void
check_first(const qn_pattern *p, bool is, const qn_match *kept, const qn_match *searched,
	    uint64_t seed, const char *text)
{
	size_t n;
	const qn_memo_count *count = qn_memo_counts(&rg->arena, &p->pat, &n);

	assert_true(n <= QN_MAX_SLOTS);
	for (size_t k = 0; is && k < n; k++)
		if (count[k] != QN_MEMO_ON_PATH && kept->at[k] != searched->at[k])
			fail_msg("seed %d, %s: part %zu is %u, not %u", (int)seed, text, k,
				 kept->at[k], searched->at[k]);
}

static void
compare(const char *text, uint64_t seed, uint32_t flags, size_t *found)
{
	qn_pattern *p = read_pattern(new_set(), text);
	qn_matcher *asks = qn_matcher_new(&rg->arena, flags);
	qn_matcher *binds = qn_matcher_new(&rg->arena, flags);

	for (qn_id id = rg->g->n - 1; id > 0; id--) {
		qn_matcher *plain = qn_matcher_new(&rg->arena, flags | QN_MATCH_FORGET);
		qn_match m, few;
		const bool is = qn_match_at(plain, rg->g, &p->pat, id, &m);
		const char *want = is ? bindings_of(&m) : NULL;

		assert_false(qn_matcher_exhausted(plain));
		if (qn_match_is(asks, rg->g, &p->pat, id, &few) != is)
			fail_msg("seed %d, %s at %u: %sa match", (int)seed, text, id,
				 is ? "" : "not ");
		check_first(p, is, &few, &m, seed, text);
		const char *got =
			qn_match_at(binds, rg->g, &p->pat, id, &m) ? bindings_of(&m) : NULL;
		if (!same_text(got, want))
			fail_msg("seed %d, %s at %u: %s, not %s", (int)seed, text, id,
				 got != NULL ? got : "no", want != NULL ? want : "no");
		*found += is;
	}
}

/* One matcher that is asked at all values answers and binds as one that forgets. */
static void
test_kept_answers(void **state)
{
	static const char *const patterns[] = {
		"R=relu(R | tanh(*))",
		"R=relu(R | t=tanh(y))",
		"R=(relu(R) | add(R, const) | add(R, R) | tanh(*))",
		"R=add(R | x=tanh(*), w)",
		"R=add(w, R | x=relu(*))",
		"add(R=relu(R | t=tanh(*)), *)",
		"add(R=relu(R | t=tanh(*)), relu(R | *))",
		"t=tanh(*) ~ relu(*) ~> relu(*)",
		"t=tanh(*) ~ p=(relu(*) | add(*, *)) ~> add(*, *)",
		"t=tanh(y) ~ (relu(*) | add(*, *)) ~> add(*, y)",
		"t=tanh(*) ~ (relu(*) | add(*, y)) ~> add(*, y)",
		"t=(tanh(*) | relu(*)) ~ (relu(*) | add(*, *)) ~> (relu(*) | add(*, *))",
		"add(t=tanh(*) ~ p=relu(*) ~> relu(*), p)",
		"add(t=tanh(*) ~ relu(*) ~> relu(*), t)",
		"t=tanh(*) ~> add(*, *)",
		"* ~ relu(*) ~> relu(*)",
		"t=tanh(*) ~ (relu(*) | (u=relu(*) ~ add(*, *) ~> relu(*))) ~> add(*, *)",
		"S=(S | relu(S | tanh(*)))",
	};
	size_t found[QN_COUNT(patterns)] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		random_graph(seed * UINT64_C(0x9E3779B97F4A7C15), 24);
		for (size_t i = 0; i < QN_COUNT(patterns); i++)
			compare(patterns[i], seed, seed % 5 == 0 ? QN_MATCH_NO_PATH_CONST : 0,
				&found[i]);
	}
	for (size_t i = 0; i < QN_COUNT(patterns); i++)
		if (found[i] == 0)
			print_message("%s matched nowhere\n", patterns[i]);
}

/* tanh, then `n` relus; with `blocks` every third is the sum of the two before. */
static void
chain(int n, bool blocks)
{
	fresh_graph();
	qn_id x = qn_graph_input(rg->g, "x", type("tensor<4xf32>")), before = 0;
	x = op1(QN_OP_tanh, x, NULL, NULL);
	for (int i = 0; i < n; i++) {
		const qn_id in[2] = {x, before};
		const bool sum = blocks && i % 3 == 2;

		before = x;
		x = op(sum ? QN_OP_add : QN_OP_relu, sum ? 2 : 1, in, NULL, NULL);
	}
	output(x);
}

/* A matcher that is asked at all values looks at each a few times, whatever lies above it. */
static void
test_steps(void **state)
{
	enum { N = 600 };
	static const struct {
		const char *text;
		bool blocks;
		uint32_t count;
		uint64_t most; /* steps for each value */
	} rows[] = {
		{"R=relu(R | tanh(*))", false, N, 7},
		{"relu(R=relu(R | t=tanh(*)))", false, N - 1, 8},
		{"R=relu(R | sigmoid(*))", false, 0, 6},
		{"R=(relu(R) | add(R, *) | tanh(*))", true, N + 1, 7},
		{"t=tanh(*) ~ relu(*) ~> relu(*)", false, N, 13},
		{"t=tanh(*) ~ p=relu(*) ~> c=relu(*)", false, N, 17},
		{"sigmoid(*) ~ relu(*) ~> relu(*)", false, 0, 12},
		{"t=tanh(*) ~ (relu(*) | add(*, *)) ~> add(*, *)", true, N / 3, 22},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_pattern *p = read_pattern(new_set(), rows[i].text);
		qn_matcher *s = qn_matcher_new(&rg->arena, 0);
		uint32_t count = 0;
		qn_match m;

		chain(N, rows[i].blocks);
		for (qn_id id = rg->g->n - 1; id > 0; id--)
			count += qn_match_is(s, rg->g, &p->pat, id, &m);
		if (count != rows[i].count || s->spent > rows[i].most * N)
			fail_msg("%s: %u matches, %llu steps", rows[i].text, count,
				 (unsigned long long)s->spent);
	}
}

/* One matcher looks at graphs of equal size in turn, and at one that has grown. */
static void
test_several_graphs(void **state)
{
	static const char text[] = "graph @other(%p: tensor<4xf32>, %q: tensor<4xf32>) {\n"
				   "  %s = add %p, %q\n  %t = add %p, %q\n  return %s, %t\n}\n"
				   "graph @main(%p: tensor<4xf32>, %q: tensor<4xf32>) {\n"
				   "  %s = add %p, %q\n  %t = add %q, %p\n  return %s, %t\n}\n";
	qn_matcher *s = qn_matcher_new(&rg->arena, 0);
	qn_match m;

	(void)state;
	read_model(text);
	const qn_pattern *p = read_pattern(new_set(), "expr(%s)");
	const qn_graph *other = qn_model_graph(&rg->m, "other");
	for (int turn = 0; turn < 2; turn++) {
		assert_false(qn_match_at(s, rg->g, &p->pat, qn_graph_find(rg->g, "t"), &m));
		assert_true(qn_match_at(s, other, &p->pat, qn_graph_find(other, "t"), &m));
	}
	const qn_id in[2] = {qn_graph_find(rg->g, "p"), qn_graph_find(rg->g, "q")};
	const qn_id again = op(QN_OP_add, 2, in, NULL, NULL);
	assert_true(qn_match_at(s, rg->g, &p->pat, again, &m));
}

/* ---- limits ---- */

/* A pattern of its own kind over 100000 nodes needs no stack. */
static void
test_depth(void **state)
{
	enum { DEPTH = 100000 };
	qn_pattern *p = read_pattern(new_set(), "R=relu(R | %x)");
	qn_match m;

	(void)state;
	rg->g = qn_graph_new(&rg->m, "g");
	qn_id id = qn_graph_input(rg->g, "x", type("tensor<4xf32>"));
	for (int i = 0; i < DEPTH; i++)
		id = qn_graph_op(rg->g, QN_OP_relu, NULL, 1, &id, NULL, NULL);
	qn_graph_output(rg->g, "y", id);
	assert_true(qn_match_at(qn_matcher_new(&rg->arena, 0), rg->g, &p->pat, id, &m));
	assert_int_equal(m.nbound, DEPTH + 1); /* R at each, and the input */
	/* a pattern of 100000 parts, made by hand */
	qn_patterns *set = new_set();
	qn_pattern *deep = qn_build_any(set);
	for (int i = 0; i < DEPTH; i++)
		deep = qn_build_call(set, qn_build_op(set, "relu"), 1, &deep);
	assert_true(qn_match_at(qn_matcher_new(&rg->arena, 0), rg->g, &deep->pat, id, &m));
	qn_buf b;
	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_patterns_print(&b, deep), QN_EUSAGE);
	assert_string_equal(rg->diags.item[0].id, "pattern.depth");
}

/* Swapped operands at 40 levels are 2^40 ways to fail. */
static void
test_step_limit(void **state)
{
	qn_buf b;
	qn_match m;

	(void)state;
	rg->g = qn_graph_new(&rg->m, "g");
	qn_id x = qn_graph_input(rg->g, "x", type("tensor<4xf32>")), in[2];
	qn_id id = x;
	qn_buf_init(&b, &rg->arena);
	for (int i = 0; i < 40; i++) {
		in[0] = id;
		in[1] = qn_graph_op(rg->g, QN_OP_relu, NULL, 1, &x, NULL, NULL);
		id = qn_graph_op(rg->g, QN_OP_add, NULL, 2, in, NULL, NULL);
		qn_buf_puts(&b, "add(*, ");
	}
	qn_buf_puts(&b, "const");
	for (int i = 0; i < 40; i++)
		qn_buf_putc(&b, ')');
	qn_pattern *p = read_pattern(new_set(), qn_buf_str(&b));
	qn_matcher *s = qn_matcher_new(&rg->arena, 0);
	assert_false(qn_match_at(s, rg->g, &p->pat, id, &m));
	assert_false(qn_matcher_exhausted(s)); /* a relu is soon seen not to be an add */
	p = read_pattern(
		new_set(),
		"add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add("
		"add(add(add(add(*, *), *), *), *), *), *), *), *), *), *), *), *), *), *), "
		"*), *), *), *), *), *), *), const)");
	qn_matcher_set_limit(s, 10000);
	assert_false(qn_match_at(s, rg->g, &p->pat, id, &m));
}

/* ---- by hand ---- */

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
		TEST(test_dominators),
		TEST(test_dominators_of_random_graphs),
		TEST(test_kept_answers),
		TEST(test_steps),
		TEST(test_several_graphs),
		TEST(test_depth),
		TEST(test_step_limit),
		TEST(test_shared_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
