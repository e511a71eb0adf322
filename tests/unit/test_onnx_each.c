/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_each.c - ONNX operators one by one: a file with one of them, in f32, against values computed elsewhere.
 *
 *   row: operator, operator set, four numbers, result */
#include "tests/unit/run_util.h"

#include "import/import.h"
#include "runtime/unary.h"
#include "tests/unit/onnx_writer.h"

typedef struct op_row {
	const char *op;
	int64_t version;
	double x[4], y[4];
	int n; /* numbers of y */
} op_row;

static const op_row rows[] = {
	{"Acos",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {1.318116071652818, 2.0943951023931957, 0.7227342478134157, 1.696124157962962},
	 4},
	{"Asin",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {0.25268025514207865, -0.5235987755982989, 0.848062078981481, -0.1253278311680654},
	 4},
	{"Atan",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {0.24497866312686414, -0.4636476090008061, 0.6435011087932844, -0.12435499454676144},
	 4},
	{"Tan",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {0.25534192122103627, -0.5463024898437905, 0.9315964599440725, -0.12565513657513097},
	 4},
	{"Sinh",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {0.2526123168081683, -0.5210953054937474, 0.82231673193583, -0.12532577524111546},
	 4},
	{"Cosh",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {1.0314130998795732, 1.1276259652063807, 1.2946832846768448, 1.0078226778257109},
	 4},
	{"Asinh",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {0.24746646154726346, -0.48121182505960347, 0.6931471805599453, -0.12467674692144273},
	 4},
	{"Atanh",
	 22,
	 {0.25, -0.5, 0.75, -0.125},
	 {0.25541281188299536, -0.5493061443340548, 0.9729550745276566, -0.12565721414045303},
	 4},
	{"Acosh",
	 22,
	 {1.0, 1.5, 2.0, 4.0},
	 {0.0, 0.9624236501192069, 1.3169578969248166, 2.0634370688955608},
	 4},
	{"Reciprocal", 22, {1.0, -2.0, 4.0, 0.5}, {1.0, -0.5, 0.25, 2.0}, 4},
	{"LogSoftmax",
	 13,
	 {1, 2, 4, 0.5},
	 {-3.1950071985735935, -2.1950071985735935, -0.1950071985735935, -3.6950071985735935},
	 4},
	{"Hardmax", 13, {1, 2, 4, 0.5}, {0, 0, 1, 0}, 4},
	{"Dropout", 13, {1, 2, 4, 0.5}, {1, 2, 4, 0.5}, 4},
	{"ReduceLogSum", 13, {1, 2, 4, 0.5}, {2.0149030205422647}, 1},
	{"ReduceLogSumExp", 13, {1, 2, 4, 0.5}, {4.1950071985735935}, 1},
	{"ReduceMean", 13, {1, 2, 4, 0.5}, {1.875}, 1},
	{"ReduceProd", 13, {1, 2, 4, 0.5}, {4}, 1},
	{"Shrink", 9, {1, -2, 0.25, 3}, {1, -2, 0, 3}, 4},
};

static void
read_one(const char *op, int64_t version)
{
	static onx file;
	size_t n;

	onx_begin(&file);
	onx_input(&file, "x", ONX_FLOAT, "1,4");
	onx_node(&file, op, "x", "y");
	onx_output(&file, "y");
	const uint8_t *bytes = onx_end(&file, version, &n);
	qn_status status = qn_onnx_read(&rg->m, "f.onnx", NULL, qn_arena_copy(&rg->arena, bytes, n),
					n, &(qn_import_how){0});
	no_errors();
	assert_int_equal(status, QN_OK);
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static void
test_rows(void **state)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		print_message("%s\n", rows[i].op);
		rig_setup(state);
		read_one(rows[i].op, rows[i].version);
		near(rows[i].y, run1(rows[i].x), rows[i].n, 1e-6);
		rig_teardown(state);
	}
}

/* Element-wise functions, by their rows: the op with the attributes that it has where none are given, which are those
 * of ONNX too.  What the function is, test_unary says. */
static void
test_functions(void **state)
{
	static const struct {
		qn_op op;
		const char *name;
	} functions[] = {
#define ONNX(op, name, since) {QN_OP_##op, name},
#define FUNCTION(name, attributes, behaviour, types, value, facts) facts
#include "ir/ops.def"
	};
	const double x[4] = {0.25, 0.5, 0.75, 1.0};

	for (size_t i = 0; i < QN_COUNT(functions); i++) {
		const qn_attr_set_info *set = qn_opinfo_get(functions[i].op)->attrs;
		qn_attrs a;

		print_message("%s\n", functions[i].name);
		rig_setup(state);
		read_one(functions[i].name, 24);
		const qn_node *n = qn_graph_node(rg->g, rg->g->output[0].value);
		assert_int_equal(n->op, functions[i].op);
		qn_attrs_default(set, &a);
		assert_true(set->nattr == 0 || qn_attrs_equal(set, n->attr, &a));
		const double *y = run1(x);
		for (size_t k = 0; k < QN_COUNT(x); k++) {
			const double want = (double)(float)qn_unary_value(n, x[k]);
			assert_true(y[k] == want || (y[k] != y[k] && want != want));
		}
		rig_teardown(state);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
					   cmocka_unit_test(test_functions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
