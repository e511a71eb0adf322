/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_each.c - ONNX operators one by one: a file with one of them, in f32, against values computed elsewhere.
 *
 *   row: operator, operator set, four numbers, result */
#include "tests/unit/run_util.h"

#include "import/import.h"
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
check_row(const op_row *r)
{
	static onx file;
	size_t n;

	onx_begin(&file);
	onx_input(&file, "x", ONX_FLOAT, "1,4");
	onx_node(&file, r->op, "x", "y");
	onx_output(&file, "y");
	const uint8_t *bytes = onx_end(&file, r->version, &n);
	qn_status status = qn_onnx_read(&rg->m, "f.onnx", NULL, qn_arena_copy(&rg->arena, bytes, n),
					n, &(qn_import_how){0});
	no_errors();
	assert_int_equal(status, QN_OK);
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	near(r->y, run1(r->x), r->n, 1e-6);
}

static void
test_rows(void **state)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		print_message("%s\n", rows[i].op);
		rig_setup(state);
		check_row(&rows[i]);
		rig_teardown(state);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
