/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_choose.c - Unique, NonMaxSuppression and Det of ONNX, with numbers computed by hand. */
#include "tests/unit/onnx_rig.h"

#include <stdio.h>

/* Output k is a constant of these integers. */
static void
integers_are(size_t k, int n, const int64_t *want)
{
	const qn_tensor *x = qn_graph_node(rg->g, rg->g->output[k].value)->value;

	assert_non_null(x);
	assert_int_equal(qn_type_count(x->type), n);
	for (int i = 0; i < n; i++)
		assert_int_equal(qn_tensor_i64(x, i), want[i]);
}

static void
test_unique(void **state)
{
	static const int64_t want[2][4][6] = {
		{{2, 1, 3, 4}, {0, 1, 3, 4}, {0, 1, 1, 2, 3, 2}, {1, 2, 2, 1}},
		{{1, 2, 3, 4}, {1, 0, 3, 4}, {1, 0, 0, 2, 3, 2}, {2, 1, 2, 1}}};

	(void)state;
	for (int sorted = 0; sorted < 2; sorted++) {
		another_file();
		onx_ints64(file, "c", "2,3", (const int64_t[]){2, 1, 1, 3, 4, 3});
		onx_int(file, "sorted", sorted);
		onx_node(file, "Unique", "c", "y,i,v,n");
		onx_output(file, "y");
		onx_output(file, "i");
		onx_output(file, "v");
		onx_output(file, "n");
		import(11);
		for (size_t k = 0; k < 4; k++)
			integers_are(k, k == 2 ? 6 : 4, want[sorted][k]);
	}
}

/* Columns: the first and the last one are the same. */
static void
test_unique_slices(void **state)
{
	(void)state;
	onx_ints64(file, "c", "2,3", (const int64_t[]){3, 1, 3, 4, 9, 4});
	onx_int(file, "axis", -1);
	onx_node(file, "Unique", "c", "y,i");
	onx_output(file, "y");
	onx_output(file, "i");
	import(11);
	integers_are(0, 4, (const int64_t[]){1, 3, 9, 4});
	integers_are(1, 2, (const int64_t[]){1, 0});
}

/* The second box covers 9/11 of what it has in common with the first; the third stands alone. */
static void
test_suppression(void **state)
{
	static const struct {
		const char *in;
		int64_t most;
		int n;
		int64_t box[3];
	} rows[] = {{"b,s,m,half", 3, 2, {2, 0}},
		    {"b,s,m,most", 3, 3, {2, 0, 1}},
		    {"b,s,m,half", 1, 1, {2}},
		    {"b,s,m,most,least", 3, 1, {2}},
		    {"b,s", 3, 0, {0}}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		int64_t want[9] = {0};

		another_file();
		onx_floats(file, "b", "1,3,4",
			   (const float[]){0, 0, 1, 1, 1, 1.1f, 0, 0.1f, 5, 5, 6, 6});
		onx_floats(file, "s", "1,1,3", (const float[]){0.5f, 0.25f, 0.75f});
		onx_ints64(file, "m", "1", &rows[i].most);
		onx_floats(file, "half", "1", (const float[]){0.5f});
		onx_floats(file, "most", "1", (const float[]){0.9f});
		onx_floats(file, "least", "1", (const float[]){0.5f});
		onx_node(file, "NonMaxSuppression", rows[i].in, "y");
		onx_output(file, "y");
		import(11);
		for (int k = 0; k < rows[i].n; k++)
			want[3 * k + 2] = rows[i].box[k];
		integers_are(0, 3 * rows[i].n, want);
	}
}

/* Middles at 1 and 1.5, 1 and 2 wide: the first lies in the second, half of it. */
static void
test_middles(void **state)
{
	(void)state;
	for (int over = 0; over < 2; over++) {
		another_file();
		onx_floats(file, "b", "1,2,4", (const float[]){1, 0, 1, 1, 1.5f, 0, 2, 1});
		onx_floats(file, "s", "1,1,2", (const float[]){0.25f, 0.5f});
		onx_ints64(file, "m", "1", (const int64_t[]){9});
		onx_floats(file, "t", "1", (const float[]){over ? 0.625f : 0.375f});
		onx_int(file, "center_point_box", 1);
		onx_node(file, "NonMaxSuppression", "b,s,m,t", "y");
		onx_output(file, "y");
		import(11);
		integers_are(0, over ? 6 : 3, (const int64_t[]){0, 0, 1, 0, 0, 0});
	}
}

static void
test_determinant(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,2,2");
	onx_node(file, "Det", "x", "y");
	onx_output(file, "y");
	import(11);
	output_is("tensor<2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 9), 0, -2, 3);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "3,3");
	onx_node(file, "Det", "x", "y");
	onx_output(file, "y");
	import(11);
	GIVES(V(2, 0, 1, 1, 3, 2, 1, 1, 4), 0, 18);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *op, *in, *id, *text;
	} rows[] = {{"Unique", "x", "import.constant", "must be a constant"},
		    {"NonMaxSuppression", "x,x", "import.constant", "must be a constant"},
		    {"NonMaxSuppression", "c,c", "import.input", "scores [B, C, n]"},
		    {"Det", "x", "import.input", "square matrices"}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2,3");
		onx_floats(file, "c", "1,1,3", (const float[]){0, 0, 0});
		onx_node(file, rows[i].op, rows[i].in, "y");
		onx_output(file, "y");
		import_fails(11, rows[i].id, rows[i].text);
	}
}

/* The message names the values at which the model can end instead. */
static void
test_cut_before(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,6,4");
	onx_input(file, "s", ONX_FLOAT, "1,2,6");
	onx_node(file, "Relu", "x", "boxes");
	onx_node(file, "Sigmoid", "s", "scores");
	onx_node(file, "NonMaxSuppression", "boxes,scores", "y");
	onx_output(file, "y");
	import_fails(11, "import.constant", "(--cut boxes --cut scores)");
}

/* All nodes together compare a bounded number of elements, and rows without boxes count too. */
static void
test_budget(void **state)
{
	static float zeros[64 * 128];
	char name[8];

	(void)state;
	onx_floats(file, "c", "64,128", zeros);
	for (int i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof name, "y%d", i);
		onx_int(file, "axis", 0);
		onx_node(file, "Unique", "c", name);
	}
	onx_output(file, "y0");
	import_fails(11, "import.size", "2^26");

	another_file();
	onx_floats(file, "boxes", "1,0,4", NULL);
	onx_floats(file, "scores", "1,134217728,0", NULL);
	onx_node(file, "NonMaxSuppression", "boxes,scores", "y");
	onx_output(file, "y");
	import_fails(11, "import.size", "2^26");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unique),     TEST(test_unique_slices), TEST(test_suppression),
		TEST(test_middles),    TEST(test_determinant),   TEST(test_refused),
		TEST(test_cut_before), TEST(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
