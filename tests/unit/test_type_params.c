/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_params.c - parameters of types: making elements, scale expressions, symbols and their
 * values, named parameters, normalization, the index of an element's parameters. */
#include "types_fixture.h"

/* ---- the API's own rules ---- */

static void
test_elem_make(void **state)
{
	fixture *f = *state;
	const int32_t axis[] = {1, 0};
	const int64_t block[] = {32, 1};
	const qn_elem *e = NULL;
	const qn_elem *same =
		elem(f, "!quant.uniform<i4:f32:{0:1, 1:32}, {{0.5, 0.25}, {1.0, 2.0}}>");
	const double scale[] = {0.5, 0.25, 1.0, 2.0};
	const int64_t shape[] = {2, 2};
	const qn_params *p = NULL;
	qn_elem d = qn_elem_desc(4, true);

	assert_int_equal(qn_params_intern(&f->t, "", NULL, 4, 2, shape, scale, NULL, &p), QN_OK);
	d.gran = QN_SUB_CHANNEL;
	d.naxis = 2;
	d.axis = axis;
	d.block = block;
	d.scale = qn_scale_vec(&f->t, p);
	assert_int_equal(qn_elem_make(&f->t, "", &d, &e), QN_OK);
	assert_ptr_equal(e, same);
	assert_int_equal(e->plain, QN_PLAIN_i4);

	d = qn_elem_desc(5, true);
	d.scale = qn_scale_const(&f->t, 0.1); /* rounded to f32 on the way in */
	assert_int_equal(qn_elem_make(&f->t, "", &d, &e), QN_OK);
	assert_true(e->scale->value == (double)0.1f);
	assert_int_equal(e->plain, QN_PLAIN_i8);
	d.scale = qn_scale_op(&f->t, QN_SCALE_DIV, d.scale, qn_scale_const(&f->t, 0.0));
	assert_int_equal(qn_elem_make(&f->t, "node n", &d, &e), QN_EINVALID);
	assert_string_equal(f->diags.item[0].place, "node n");
	expect_diag(f, "type.scale.range", "0 inside an expression");
	d.bits = 33;
	assert_int_equal(qn_elem_make(&f->t, "", &d, &e), QN_EINVALID);
	expect_diag(f, "type.storage.width", "33");
	assert_int_equal(qn_params_intern(&f->t, "", NULL, 3, 2, shape, scale, NULL, &p),
			 QN_EINVALID);
	expect_diag(f, "type.param.shape", "3 in 2x2");
	const int64_t dim[] = {-5};
	assert_int_equal(qn_type_check(&f->t, "", qn_type_plain(&f->t, QN_PLAIN_f32, 1, dim)),
			 QN_EINVALID);
	expect_diag(f, "type.dim", "-5");
}

/* ---- expressions ---- */

static void
test_expressions(void **state)
{
	fixture *f = *state;
	qn_types *t = &f->t;
	const qn_scale *s0 = qn_scale_sym(t, declare(f, "s0", QN_SYM_SYMMETRIC, 0));
	const qn_scale *s1 = qn_scale_sym(t, declare(f, "s1", QN_SYM_SYMMETRIC, 0));
	const qn_scale *v = qn_scale_sym(t, declare(f, "v", QN_SYM_SYMMETRIC, 3));
	const qn_scale *w = qn_scale_sym(t, declare(f, "w", QN_SYM_SYMMETRIC, 4));
	const qn_scale *one = qn_scale_const(t, 1.0);
	const qn_scale *product = qn_scale_op(t, QN_SCALE_MUL, s0, s1);
	const qn_scale *two = qn_scale_const(t, 2.0);
	const qn_scale *three = qn_scale_const(t, 3.0);

	assert_ptr_equal(qn_scale_op(t, QN_SCALE_DIV, product, s1), s0);
	assert_ptr_equal(qn_scale_op(t, QN_SCALE_DIV, product, s0), s1);
	assert_ptr_equal(qn_scale_op(t, QN_SCALE_MUL, s1, s0), product);
	assert_ptr_equal(qn_scale_op(t, QN_SCALE_MUL, s0, one), s0);
	assert_ptr_equal(qn_scale_op(t, QN_SCALE_MUL, one, s0), s0);
	assert_ptr_equal(qn_scale_op(t, QN_SCALE_DIV, v, one), v);
	assert_ptr_not_equal(qn_scale_op(t, QN_SCALE_DIV, one, s0), s0);
	/* fmul is another function, and its operands stay in order */
	assert_ptr_not_equal(qn_scale_op(t, QN_SCALE_FMUL, s0, s1), product);
	assert_ptr_not_equal(qn_scale_op(t, QN_SCALE_FMUL, s1, s0),
			     qn_scale_op(t, QN_SCALE_FMUL, s0, s1));
	/* constants never fold, and do not cancel either */
	assert_string_equal(scale_text(f, qn_scale_op(t, QN_SCALE_MUL, three, two)),
			    "2.000000e+00*3.000000e+00");
	assert_string_equal(
		scale_text(f, qn_scale_op(t, QN_SCALE_DIV, qn_scale_op(t, QN_SCALE_MUL, three, two),
					  two)),
		"2.000000e+00*3.000000e+00/2.000000e+00");
	/* lengths */
	assert_int_equal(product->len, 0);
	assert_int_equal(qn_scale_op(t, QN_SCALE_MUL, v, s0)->len, 3);
	assert_int_equal(qn_scale_op(t, QN_SCALE_DIV, s0, v)->len, 3);
	assert_true(qn_scale_op(t, QN_SCALE_MUL, v, w)->len < 0);
	assert_ptr_not_equal(qn_scale_op(t, QN_SCALE_DIV, qn_scale_op(t, QN_SCALE_MUL, s0, v), v),
			     s0);
	assert_ptr_equal(qn_scale_op(t, QN_SCALE_DIV, qn_scale_op(t, QN_SCALE_MUL, s0, v), s0), v);

	const qn_scale *deep = s0;
	for (int i = 0; i < 100; i++)
		deep = qn_scale_op(t, QN_SCALE_MUL, deep, deep);
	assert_true(deep->len < 0);
	qn_elem d = qn_elem_desc(8, true);
	const qn_elem *e = NULL;
	d.scale = deep;
	assert_int_equal(qn_elem_make(t, "", &d, &e), QN_EINVALID);
	expect_diag(f, "scale.size", "deep");
}

static void
test_bind(void **state)
{
	fixture *f = *state;
	qn_types *t = &f->t;
	const double x = 0.1, ws[] = {0.1, 0.2, 0.3};
	const int64_t zx = 3, zw[] = {0, 1, 0};
	double v = 0;

	declare(f, "x", QN_SYM_ASYMMETRIC, 0);
	declare(f, "w", QN_SYM_SYMMETRIC, 3);
	declare(f, "later", QN_SYM_SYMMETRIC, 0);
	const qn_elem *input = elem(f, "!quant.uniform<i8:f32, $x:$x>");
	const qn_elem *weight = elem(f, "!quant.uniform<i8<-127:127>:f32:0, $w>");
	const qn_elem *acc = elem(f, "!quant.uniform<i32:f32:3, $x*$w>");
	const qn_elem *facc = elem(f, "!quant.uniform<i32:f32:3, fmul($x,$w)>");
	const qn_elem *open = elem(f, "!quant.uniform<i32:f32, $x*$later>");
	const qn_elem *out = NULL;

	assert_int_equal(qn_scale_eval(t, "", acc->scale, 0, &v), QN_EINVALID);
	assert_non_null(strstr(f->diags.item[0].message, "$w"));
	expect_diag(f, "scale.unbound", "acc");
	assert_int_equal(qn_elem_bind(t, "", input, &out), QN_EINVALID);
	expect_diag(f, "scale.unbound", "input");

	assert_int_equal(qn_symbol_bind(t, "", "nope", 1, &x, NULL), QN_EINVALID);
	expect_diag(f, "symbol.unknown", "nope");
	assert_int_equal(qn_symbol_bind(t, "", "w", 1, ws, NULL), QN_EINVALID);
	expect_diag(f, "symbol.len", "w");
	assert_int_equal(qn_symbol_bind(t, "", "w", 3, ws, zw), QN_EINVALID);
	expect_diag(f, "symbol.zp", "w");
	assert_int_equal(qn_symbol_bind(t, "", "x", 1, &(double){1e-50}, NULL), QN_EINVALID);
	expect_diag(f, "symbol.scale", "x");
	assert_int_equal(qn_symbol_bind(t, "", "x", 1, &x, &zx), QN_OK);
	assert_int_equal(qn_symbol_bind(t, "", "w", 3, ws, NULL), QN_OK);
	assert_int_equal(qn_symbol_bind(t, "", "x", 1, &x, &zx), QN_EINVALID);
	expect_diag(f, "symbol.bound", "x");

	assert_int_equal(qn_scale_eval(t, "", acc->scale, 1, &v), QN_OK);
	assert_true(v == (double)0.1f * (double)0.2f);
	assert_int_equal(qn_scale_eval(t, "", facc->scale, 1, &v), QN_OK);
	assert_true(v == (double)(0.1f * 0.2f));
	assert_true(v != (double)0.1f * (double)0.2f);

	assert_int_equal(qn_elem_bind(t, "", input, &out), QN_OK);
	assert_string_equal(elem_text(f, out), "!quant.uniform<i8:f32, 1.000000e-01:3>");
	assert_int_equal(qn_elem_bind(t, "", weight, &out), QN_OK);
	assert_ptr_equal(out, elem(f, "!quant.uniform<i8<-127:127>:f32:0, {0.1,0.2,0.3}>"));
	assert_int_equal(qn_elem_bind(t, "", acc, &out), QN_OK);
	assert_string_equal(
		elem_text(f, out),
		"!quant.uniform<i32:f32:3, 1.000000e-01*{1.000000e-01,2.000000e-01,3.000000e-01}>");
	double scale;
	int64_t zp;
	qn_elem_param(t, out, 2, &scale, &zp);
	assert_true(scale == (double)0.1f * (double)0.3f && zp == 0);
	assert_false(qn_elem_has_symbol(out));
	assert_int_equal(qn_elem_bind(t, "", open, &out), QN_EINVALID);
	assert_non_null(strstr(f->diags.item[0].message, "$later"));
	expect_diag(f, "scale.unbound", "open");

	/* a zero point is checked when it is known */
	const qn_elem *narrow = elem(f, "!quant.uniform<i2:f32, $x:$x>");
	assert_non_null(narrow);
	assert_int_equal(qn_elem_bind(t, "", narrow, &out), QN_EINVALID);
	expect_diag(f, "type.zp.range", "narrow");
}

/* Zero points of vectors: the symbol's own, a constant's, none. */
static void
test_bind_vector_zp(void **state)
{
	fixture *f = *state;
	const double scale[] = {0.5, 0.25};
	const int64_t zp[] = {7, -7};
	static const struct {
		const char *before, *after;
	} row[] = {
		{"$v:$v", "{5.000000e-01:7,2.500000e-01:-7}"},
		{"$v", "{5.000000e-01,2.500000e-01}"},
		{"$v:3", "{5.000000e-01:3,2.500000e-01:3}"},
		{"$v:$s", "{5.000000e-01:9,2.500000e-01:9}"},
		{"{0.5,0.25}:$v", "{5.000000e-01:7,2.500000e-01:-7}"},
		{"$v*$v", "{5.000000e-01,2.500000e-01}*{5.000000e-01,2.500000e-01}"},
		{"$s*$v:$s", "1.250000e-01*{5.000000e-01,2.500000e-01}:9"},
	};

	declare(f, "v", QN_SYM_ASYMMETRIC, 2);
	declare(f, "s", QN_SYM_ASYMMETRIC, 0);
	assert_int_equal(qn_symbol_bind(&f->t, "", "v", 2, scale, zp), QN_OK);
	assert_int_equal(qn_symbol_bind(&f->t, "", "s", 1, &(double){0.125}, &(int64_t){9}), QN_OK);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char text[128];
		const qn_elem *out = NULL;

		(void)snprintf(text, sizeof text, "!quant.uniform<i8:f32:0, %s>", row[i].before);
		const qn_elem *e = elem(f, text);
		assert_non_null(e);
		double s;
		int64_t z[2], bound[2];
		for (size_t k = 0; k < 2; k++)
			qn_elem_param(&f->t, e, k, &s,
				      &z[k]); /* bound symbols may be read before */
		assert_int_equal(qn_elem_bind(&f->t, "", e, &out), QN_OK);
		(void)snprintf(text, sizeof text, "!quant.uniform<i8:f32:0, %s>", row[i].after);
		assert_string_equal(elem_text(f, out), text);
		for (size_t k = 0; k < 2; k++) {
			qn_elem_param(&f->t, out, k, &s, &bound[k]);
			assert_int_equal(bound[k], z[k]);
		}
	}
}

static void
test_symbols(void **state)
{
	fixture *f = *state;
	qn_symbol *s = NULL;

	declare(f, "a", QN_SYM_SYMMETRIC, 0);
	assert_int_equal(qn_symbol_declare(&f->t, "m:1", "a", QN_SYM_SYMMETRIC, 0, &s),
			 QN_EINVALID);
	expect_diag(f, "symbol.duplicate", "a");
	assert_int_equal(qn_symbol_declare(&f->t, "", "n", QN_SYM_SYMMETRIC, -1, &s), QN_EINVALID);
	expect_diag(f, "symbol.len", "n");
	assert_int_equal(qn_symbol_declare(&f->t, "", "", QN_SYM_SYMMETRIC, 0, &s), QN_EINVALID);
	expect_diag(f, "symbol.name", "empty");
	assert_null(qn_symbol_find(&f->t, "n"));
	for (int i = 0; i < 40; i++) {
		char name[16];

		(void)snprintf(name, sizeof name, "s%d", i);
		declare(f, name, QN_SYM_SYMMETRIC, 0);
	}
	assert_int_equal(f->t.nsymbol, 41);
	assert_string_equal(f->t.symbol[40]->name, "s39");
}

/* ---- named parameters ---- */

static void
test_named_params(void **state)
{
	fixture *f = *state;
	qn_types *t = &f->t;
	double scale[17], other[17];
	const qn_params *p = NULL, *q = NULL;
	char text[512] = "!quant.uniform<i8:f32:0, {";

	for (int i = 0; i < 17; i++) {
		scale[i] = 1.0 + i;
		other[i] = 2.0 + i;
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d.0",
			       i > 0 ? "," : "", i + 1);
	}
	strcat(text, "}>");
	assert_int_equal(qn_params_intern(t, "", "first", 17, 1, NULL, scale, NULL, &p), QN_OK);
	assert_int_equal(qn_params_intern(t, "", "second", 17, 1, NULL, scale, NULL, &q), QN_OK);
	assert_ptr_equal(p, q);
	assert_string_equal(p->name, "first");
	assert_int_equal(t->nparam, 1);
	assert_int_equal(qn_params_intern(t, "", "first", 17, 1, NULL, other, NULL, &q),
			 QN_EINVALID);
	expect_diag(f, "param.duplicate", "first");
	const qn_elem *e = elem(f, text);
	assert_string_equal(elem_text(f, e), "!quant.uniform<i8:f32:0, {@first}>");
	assert_ptr_equal(elem(f, "!quant.uniform<i8:f32:0, {@first}>"), e);
	assert_ptr_equal(elem(f, "!quant.uniform<i8:f32:0, {@\"second\"}>"), e);
	assert_int_equal(qn_params_intern(t, "", NULL, 17, 1, NULL, other, NULL, &q), QN_OK);
	assert_string_equal(q->name, "q1");
	/* 16 stay where they are used; their name serves for reading */
	assert_int_equal(qn_params_intern(t, "", "few", 16, 1, NULL, scale, NULL, &q), QN_OK);
	assert_null(q->name);
	assert_ptr_equal(elem(f, "!quant.uniform<i8:f32:0, {@few}>")->scale->vec, q);
	/* symbols give theirs to the values */
	declare(f, "c/w", QN_SYM_SYMMETRIC, 17);
	other[3] = 0.5;
	assert_int_equal(qn_symbol_bind(t, "", "c/w", 17, other, NULL), QN_OK);
	const qn_elem *out = NULL;
	assert_int_equal(
		qn_elem_bind(t, "", elem(f, "!quant.uniform<i32:f32:3, 0.5*$\"c/w\">"), &out),
		QN_OK);
	assert_string_equal(elem_text(f, out),
			    "!quant.uniform<i32:f32:3, 5.000000e-01*{@\"c/w.q\"}>");
	assert_ptr_equal(elem(f, elem_text(f, out)), out);
}

/* ---- normalization, shapes ---- */

static void
test_normalize(void **state)
{
	static const struct {
		const char *in, *out; /* NULL: unchanged */
	} row[] = {
		{"i8:f32:{}, {{2.0:7}}", "i8:f32, 2.0:7"},
		{"i8:f32:{0:1,1:4}, {{2.0:7}}", "i8:f32, 2.0:7"},
		{"i8:f32:{0:1}, {{2.0},{3.0}}", "i8:f32:0, {2.0,3.0}"},
		{"i8:f32:{0:1,1:4}, {{2.0:1},{3.0}}", "i8:f32:0, {2.0:1,3.0}"},
		{"i8:f32:{0:2}, {{2.0},{3.0}}",
		 NULL}, /* two scales for four elements: not per axis */
		{"i8:f32:{1:2}, {{2.0,3.0}}", NULL},
		{"i8:f32:{0:1,1:2}, {{2.0,3.0},{4.0,5.0}}", NULL},
		{"u8:f32:{}, {{1.0:200}}", "u8:f32, 1.0:200"},
		{"i32:f32:{1:1}, 0.5*{{2.0,3.0}}", "i32:f32:1, 0.5*{2.0,3.0}"},
		{"i32:f32:{}, $s*{{2.0}}", NULL},
		{"i8:f32, 2.0", NULL},
	};
	fixture *f = *state;

	declare(f, "s", QN_SYM_SYMMETRIC, 0);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char text[128];

		(void)snprintf(text, sizeof text, "!quant.uniform<%s>", row[i].in);
		const qn_elem *in = elem(f, text);
		(void)snprintf(text, sizeof text, "!quant.uniform<%s>",
			       row[i].out != NULL ? row[i].out : row[i].in);
		assert_ptr_equal(qn_elem_normalize(&f->t, in), elem(f, text));
	}
}

/* A bound symbol of a sub-channel type is flat until a tensor gives it a shape. */
static void
test_shaped_by_tensor(void **state)
{
	fixture *f = *state;
	const double scale[] = {1.0, 2.0, 3.0, 4.0};
	const qn_elem *e = NULL;

	declare(f, "v", QN_SYM_SYMMETRIC, 4);
	const qn_type *x = type(f, "tensor<2x4x!quant.uniform<i8:f32:{0:1,1:2}, $v>>");
	assert_int_equal(qn_symbol_bind(&f->t, "", "v", 4, scale, NULL), QN_OK);
	assert_int_equal(qn_elem_bind(&f->t, "", x->elem, &e), QN_OK);
	const qn_type *bound = qn_type_with_elem(&f->t, x, e);
	assert_int_equal(qn_type_check(&f->t, "", bound), QN_OK);
	assert_ptr_equal(
		bound,
		type(f, "tensor<2x4x!quant.uniform<i8:f32:{0:1,1:2}, {{1.0,2.0},{3.0,4.0}}>>"));
	assert_int_equal(qn_type_param_index(bound, (const int64_t[]){1, 1}), 2);
	assert_int_equal(qn_type_param_index(x, (const int64_t[]){1, 3}), 3);
}

static void
test_param_index(void **state)
{
	fixture *f = *state;
	const qn_type *axis = type(f, "tensor<2x3x!quant.uniform<i8:f32:1, {1.0,2.0,3.0}>>");
	const qn_type *part = type(f, "tensor<2x5x!quant.uniform<i8:f32:{1:2}+, {{1.0,2.0,3.0}}>>");
	const qn_type *dynamic =
		type(f, "tensor<?x4x!quant.uniform<i8:f32:{0:1,1:2}, {{1.0,2.0},{3.0,4.0}}>>");

	assert_int_equal(qn_type_param_index(axis, (const int64_t[]){1, 2}), 2);
	assert_int_equal(qn_type_param_index(part, (const int64_t[]){1, 4}), 2);
	assert_int_equal(qn_type_param_index(part, (const int64_t[]){1, 3}), 1);
	assert_int_equal(qn_type_param_index(dynamic, (const int64_t[]){1, 2}), 3);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_elem_make),      T(test_expressions),      T(test_bind),
		T(test_bind_vector_zp), T(test_symbols),          T(test_named_params),
		T(test_normalize),      T(test_shaped_by_tensor), T(test_param_index),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
