/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_written_pair.c - quantization that training has written out in float is read as pairs, and networks of it
 * become integer without samples. */
#include "tests/unit/onnx_qdq_run.h"

typedef enum form { LSQ, ROUND_FIRST, PACT, DOREFA, WITH_ZERO } form;

static void
number(const char *name, double v)
{
	scalar(name, ONX_FLOAT, v);
}

/* y = op(x, k) */
static const char *
by(const char *op, const char *x, double k, const char *y, int at)
{
	static char out[8][48];
	char in[96], name[48];

	(void)snprintf(name, sizeof name, "%s_k%d", y, at);
	(void)snprintf(out[at], sizeof out[at], "%s_%d", y, at);
	number(name, k);
	(void)snprintf(in, sizeof in, "%s,%s", x, name);
	onx_node(file, op, in, out[at]);
	return out[at];
}

static const char *
clipped(const char *x, double lo, double hi, const char *y, int at)
{
	static char out[8][48];
	char in[160], a[48], b[48];

	(void)snprintf(a, sizeof a, "%s_lo%d", y, at);
	(void)snprintf(b, sizeof b, "%s_hi%d", y, at);
	(void)snprintf(out[at], sizeof out[at], "%s_c%d", y, at);
	number(a, lo);
	number(b, hi);
	(void)snprintf(in, sizeof in, "%s,%s,%s", x, a, b);
	onx_node(file, "Clip", in, out[at]);
	return out[at];
}

static const char *
rounded(const char *x, const char *y)
{
	static char out[48];

	(void)snprintf(out, sizeof out, "%s_r", y);
	onx_node(file, "Round", x, out);
	return out;
}

/* y: x rounded to lo..hi times s, as written in this form. */
static void
fake(form as, const char *x, double s, double lo, double hi, const char *y)
{
	char in[96], scale[48];

	switch (as) {
	case ROUND_FIRST:
		x = clipped(rounded(by("Mul", x, 1 / s, y, 0), y), lo, hi, y, 0);
		break;
	case PACT:
		x = rounded(by("Mul", clipped(x, lo * s, hi * s, y, 0), 1 / s, y, 0), y);
		break;
	case DOREFA:
		x = clipped(by("Div", x, s * hi, y, 0), lo / hi, 1, y, 0);
		x = by("Div", rounded(by("Mul", x, hi, y, 1), y), hi, y, 2);
		s *= hi;
		break;
	case WITH_ZERO:
		x = by("Add", rounded(by("Div", x, s, y, 0), y), -lo, y, 1);
		x = by("Sub", clipped(x, 0, hi - lo, y, 0), -lo, y, 2);
		break;
	case LSQ:
		x = rounded(clipped(by("Div", x, s, y, 0), lo, hi, y, 0), y);
	}
	(void)snprintf(scale, sizeof scale, "%s_s", y);
	(void)snprintf(in, sizeof in, "%s,%s", x, scale);
	number(scale, s);
	onx_node(file, "Mul", in, y);
}

/* A convolution by weights of 4 bits, which are folded, between values of 8 and of 4 bits. */
static double
network_of(form as, double hi)
{
	float w[4 * 4 * 9];

	onx_input(file, "x", ONX_FLOAT, "1,4,6,5");
	fake(as, "x", 0.02, -128, 127, "d");
	for (size_t i = 0; i < QN_COUNT(w); i++)
		w[i] = (float)(0.03 * real());
	onx_floats(file, "w", "4,4,3,3", w);
	fake(LSQ, "w", 0.005, -8, 7, "v");
	onx_list(file, "pads", 4, (const int64_t[]){1, 1, 1, 1});
	onx_node(file, "Conv", "d,v", "c");
	onx_node(file, "Relu", "c", "r");
	fake(as, "r", 0.03, 0, hi, "y");
	onx_output(file, "y");
	return 0.03;
}

#define FORM(name, as, hi)                                                                         \
	static double name(void)                                                                   \
	{                                                                                          \
		return network_of(as, hi);                                                         \
	}
FORM(lsq, LSQ, 15)
FORM(round_first, ROUND_FIRST, 15)
FORM(pact, PACT, 255)
FORM(dorefa, DOREFA, 15)
FORM(with_zero, WITH_ZERO, 255)

static const network networks[] = {{"lsq", lsq},
				   {"round_first", round_first},
				   {"pact", pact},
				   {"dorefa", dorefa},
				   {"with_zero", with_zero}};

static void
test_forms(void **state)
{
	(void)state;
	become_integer(networks, QN_COUNT(networks));
}

static size_t
pairs(void)
{
	size_t n = 0;

	for (qn_id id = 1; id < rg->g->n; id++)
		n += qn_graph_node(rg->g, id)->op == QN_OP_quantize;
	return n;
}

/* The same numbers as the file, and its parameters. */
static void
test_types(void **state)
{
	(void)state;
	another_file();
	(void)lsq();
	import(20);
	assert_int_equal(pairs(), 2);
	for (qn_id id = 1; id < rg->g->n; id++) {
		const qn_node *n = qn_graph_node(rg->g, id);
		double scale;
		int64_t zp;

		if (n->op != QN_OP_quantize)
			continue;
		const bool is_last = n->type->elem->qmin == 0;
		qn_elem_param(&rg->m.types, n->type->elem, 0, &scale, &zp);
		assert_true(scale == (double)(is_last ? 0.03f : 0.02f));
		assert_int_equal(zp, 0);
		assert_int_equal(n->type->elem->qmax, is_last ? 15 : 127);
	}
}

/* Other numbers than those of a grid, and what is not to be read. */
static void
test_stays(void **state)
{
	static const struct {
		const char *name;
		double lo, hi, factor;
	} cases[] = {{"a limit between two", -3.5, 20, 1},
		     {"another scale", 0, 15, 1.01},
		     {"no range", 0, HUGE_VAL, 1}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,4");
		number("s", 0.5 * cases[i].factor);
		onx_node(file, "Mul", "d_r,s", "y"); /* nodes are sorted when they are read */
		(void)rounded(
			clipped(by("Div", "x", 0.5, "d", 0), cases[i].lo, cases[i].hi, "d", 0),
			"d");
		onx_node(file, "Round", "y", "z");
		onx_output(file, "z");
		import(20);
		if (rg->m.stage != QN_STAGE_FLOAT || pairs() != 0)
			fail_msg("%s: read as a pair", cases[i].name);
	}
	another_file(); /* one alone */
	onx_input(file, "x", ONX_FLOAT, "1,4");
	fake(LSQ, "x", 0.5, 0, 10, "y");
	onx_output(file, "y");
	import(20);
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
}

static void
test_from_float(void **state)
{
	(void)state;
	another_file();
	how.from_float = true;
	(void)lsq();
	import(20);
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	assert_int_equal(pairs(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_forms),
		TEST(test_types),
		TEST(test_stays),
		TEST(test_from_float),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
