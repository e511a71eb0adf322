/* SPDX-License-Identifier: Apache-2.0 */
/* test_types.c - the text of types: canonical print, every rule by its id, positions.  Rows are (text,
 * expected); adding a case is adding a row. */
#include "tests/unit/types_rows.h"

/* NULL: the text is its own canonical form. */
static const struct {
	const char *text, *print;
} valid[] = {
	{"!quant.uniform<i8:f32, 0.01>", "!quant.uniform<i8:f32, 1.000000e-02>"},
	{"!quant.uniform<i8<-127:127>:f32, 0.01:3>",
	 "!quant.uniform<i8<-127:127>:f32, 1.000000e-02:3>"},
	{"!quant.uniform< u8 : f32 , 0.5:128 >", "!quant.uniform<u8:f32, 5.000000e-01:128>"},
	{"!quant.uniform<i8<-128:127>:f32, 1.0>", "!quant.uniform<i8:f32, 1.000000e+00>"},
	{"!quant.uniform<i4:f16, 0.125>", "!quant.uniform<i4:f16, 1.250000e-01>"},
	{"!quant.uniform<i1:f32, 1.0>", "!quant.uniform<i1:f32, 1.000000e+00>"},
	{"!quant.uniform<u32:f64, 1.0e-3:4294967295>",
	 "!quant.uniform<u32:f64, 1.000000e-03:4294967295>"},
	{"!quant.uniform<i64:f32, 1.0>", "!quant.uniform<i64:f32, 1.000000e+00>"},
	{"!quant.uniform<i8:f32:0, {0.1,0.2:-4,0.3}>",
	 "!quant.uniform<i8:f32:0, {1.000000e-01,2.000000e-01:-4,3.000000e-01}>"},
	{"!quant.uniform<i4:f32:{0:1, 1:32}, {{0.5, 0.25}, {1.0, 2.0}}>",
	 "!quant.uniform<i4:f32:{0:1, 1:32}, {{5.000000e-01, 2.500000e-01}, {1.000000e+00, "
	 "2.000000e+00}}>"},
	{"!quant.uniform<i4:f32:{1:32, 0:1}, {{0.5, 0.25}, {1.0, 2.0}}>",
	 "!quant.uniform<i4:f32:{0:1, 1:32}, {{5.000000e-01, 2.500000e-01}, {1.000000e+00, "
	 "2.000000e+00}}>"},
	{"!quant.uniform<u4:f32:{1:2}, {{0.5:8, 0.25:7}}>",
	 "!quant.uniform<u4:f32:{1:2}, {{5.000000e-01:8, 2.500000e-01:7}}>"},
	{"!quant.uniform<u4:f32:{1:2}+, {{0.5, 0.25, 0.5}}>",
	 "!quant.uniform<u4:f32:{1:2}+, {{5.000000e-01, 2.500000e-01, 5.000000e-01}}>"},
	{"!quant.uniform<i8:f32:{}, {{0.5}}>", "!quant.uniform<i8:f32:{}, {{5.000000e-01}}>"},
	{"!quant.uniform<i8:f32, 0x3FD0000000000000>", "!quant.uniform<i8:f32, 2.500000e-01>"},
	{"!quant.any<i16>", NULL},
	{"!quant.any<u8<1:254>:f32>", NULL},
	{"!quant.calibrated<f32<-1.0:6.0>>", "!quant.calibrated<f32<-1.000000e+00:6.000000e+00>>"},
	{"!quant.calibrated<f32<-0.1:0.1>>", "!quant.calibrated<f32<-1.000000e-01:1.000000e-01>>"},
	/* not short: the bits of the double that holds the f32 */
	{"!quant.uniform<i8:f32, 0.003921568859368563>", "!quant.uniform<i8:f32, 3.921569e-03>"},
	{"!quant.uniform<i8:f32, 0x3FB99999C0000000>",
	 "!quant.uniform<i8:f32, 0x3FB99999C0000000>"},
	{"!quant.uniform<i8:f64, 0.1>", "!quant.uniform<i8:f64, 1.000000e-01>"},
	{"!quant.uniform<i8:f16, 0.0010004043579101562>", "!quant.uniform<i8:f16, 1.000404e-03>"},
	{"!quant.uniform<i8:bf16, 0.1>", "!quant.uniform<i8:bf16, 1.000977e-01>"},
	/* zero points above the signed range of the storage */
	{"!quant.uniform<u8:f32, 1.0:200>", "!quant.uniform<u8:f32, 1.000000e+00:200>"},
	{"!quant.uniform<u8:f32:0, {1.0:200,2.0}>",
	 "!quant.uniform<u8:f32:0, {1.000000e+00:200,2.000000e+00}>"},
	{"!quant.uniform<u8:f32:{0:2}, {{1.0:200}, {2.0}}>",
	 "!quant.uniform<u8:f32:{0:2}, {{1.000000e+00:200}, {2.000000e+00}}>"},
	/* expressions */
	{"!quant.uniform<i32:f32, $b * $a>", "!quant.uniform<i32:f32, $a*$b>"},
	{"!quant.uniform<i32:f32, $a*$b/$c>", NULL},
	{"!quant.uniform<i32:f32, $a*($b/$c)>", NULL},
	{"!quant.uniform<i32:f32, $a/($b*$c)>", NULL},
	{"!quant.uniform<i32:f32, (($a)/$b)/$c>", "!quant.uniform<i32:f32, $a/$b/$c>"},
	{"!quant.uniform<i32:f32, fmul($b,$a)>", NULL},
	{"!quant.uniform<i32:f32, fmul( 0.5 , $a*$b )>",
	 "!quant.uniform<i32:f32, fmul(5.000000e-01,$a*$b)>"},
	{"!quant.uniform<i32:f32:3, {0.1, 0.2}*0.01>",
	 "!quant.uniform<i32:f32:3, 1.000000e-02*{1.000000e-01,2.000000e-01}>"},
	{"!quant.uniform<i32:f32:{0:2}, 0.5*{{0.1}, {0.2}}>",
	 "!quant.uniform<i32:f32:{0:2}, 5.000000e-01*{{1.000000e-01}, {2.000000e-01}}>"},
	{"!quant.uniform<i8:f32, $a:$a>", NULL},
	{"!quant.uniform<i8:f32, $a:7>", NULL},
	{"!quant.uniform<i8:f32:0, $v>", NULL},
	{"!quant.uniform<i8:f32:0, $v:$v>", NULL},
	{"!quant.uniform<i8:f32:0, {0.5, 0.25}:3>",
	 "!quant.uniform<i8:f32:0, {5.000000e-01:3,2.500000e-01:3}>"},
	{"!quant.uniform<i8:f32, $\"a/b.w\":$\"a/b.w\">", NULL},
	{"!quant.uniform<i8:f32, $\"a\">", "!quant.uniform<i8:f32, $a>"},
	{"!quant.uniform<i8:f32, $\"q\\\"\\u0001\\\\\">", NULL},
	/* the spellings of MLIR's integer types */
	{"!quant.uniform<si8:f32, 0.5>", "!quant.uniform<i8:f32, 5.000000e-01>"},
	{"!quant.uniform<ui8:f32, 0.5:200>", "!quant.uniform<u8:f32, 5.000000e-01:200>"},
	{"!quant.uniform<ui5<1:31>:f32, 0.5:1>", "!quant.uniform<u5<1:31>:f32, 5.000000e-01:1>"},
	{"!quant.any<si32>", "!quant.any<i32>"},
	{"si16", "i16"},
	{"ui4", "u4"},
	{"f32", NULL},
	{"bool", NULL},
	{"bf16", NULL},
};

static void
test_text(void **state)
{
	fixture *f = *state;

	declare(f, "a", QN_SYM_ASYMMETRIC, 0);
	declare(f, "b", QN_SYM_SYMMETRIC, 0);
	declare(f, "c", QN_SYM_SYMMETRIC, 0);
	declare(f, "v", QN_SYM_ASYMMETRIC, 3);
	declare(f, "a/b.w", QN_SYM_ASYMMETRIC, 0);
	declare(f, "q\"\x01\\", QN_SYM_ASYMMETRIC, 0);
	for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
		const qn_elem *e = elem(f, valid[i].text);
		const char *want = valid[i].print != NULL ? valid[i].print : valid[i].text;

		if (e == NULL)
			fail_msg("%s: refused (%s)", valid[i].text,
				 f->diags.n > 0 ? f->diags.item[0].message : "text left over");
		assert_string_equal(elem_text(f, e), want);
		assert_ptr_equal(elem(f, want), e);
		assert_int_equal(f->diags.n, 0);
	}
}

/* The ends of every float format, its subnormals among them, survive a round trip. */
static void
test_scale_limits(void **state)
{
	static const struct {
		const char *type;
		uint64_t bits;
	} row[] = {
		{"f16", 0x3E70000000000000},  {"f16", 0x3E80000000000000},
		{"f16", 0x40EFFC0000000000},  {"bf16", 0x37A0000000000000},
		{"bf16", 0x47EFE00000000000}, {"f32", 0x36A0000000000000},
		{"f32", 0x36B0000000000000},  {"f32", 0x47EFFFFFE0000000},
		{"f64", 0x0000000000000001},  {"f64", 0x7FEFFFFFFFFFFFFF},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char text[80];
		double scale, want;
		int64_t zp;

		(void)snprintf(text, sizeof text, "!quant.uniform<i8:%s, 0x%016llX>", row[i].type,
			       (unsigned long long)row[i].bits);
		const qn_elem *e = elem(f, text);
		assert_non_null(e);
		assert_ptr_equal(elem(f, elem_text(f, e)), e);
		memcpy(&want, &row[i].bits, sizeof want);
		qn_elem_param(&f->t, e, 0, &scale, &zp);
		assert_true(scale == want);
	}
	for (size_t i = 0; i < f->diags.n; i++)
		assert_string_equal(f->diags.item[i].id, "type.scale.subnormal");
	assert_true(f->diags.n > 0 && f->diags.nerrors == 0);
}

/* ^ is not part of the text: the diagnostic has the line and column of what follows it. */
static const struct {
	const char *text, *id;
} invalid[] = {
	{"!quant.^unifrom<i8:f32, 1.0>", "type.unknown"},
	{"!quant.^quantile<i8:f32, 1.0>", "type.unknown"},
	{"^!foo<i8>", "type.unknown"},
	{"^f33", "type.unknown"},
	{"^", "type.unknown"},
	{"!quant.uniform<^s8:f32, 1.0>", "type.storage.kind"},
	{"!quant.uniform<^int8:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<^i:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<^f8:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<^i08:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<^i0:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<^u33:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<^i63:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<^u64:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<^i99999999999:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<i4<^-9:7>:f32, 1.0>", "type.storage.min"},
	{"!quant.uniform<u4<0:^16>:f32, 1.0>", "type.storage.max"},
	{"!quant.uniform<i8<^5:5>:f32, 1.0>", "type.storage.range"},
	{"!quant.uniform<i8<^6:5>:f32, 1.0>", "type.storage.range"},
	{"!quant.uniform<i8<^-99999999999999999999:5>:f32, 1.0>", "type.literal"},
	{"!quant.uniform<i8<5:7>:f32, ^1.0>", "type.zp.range"},
	{"!quant.uniform<i8<5:7>:f32:0, {1.0:6,^1.0}>", "type.zp.range"},
	{"!quant.uniform<^sii8:f32, 1.0>", "type.storage.kind"},
	{"!quant.uniform<^su8:f32, 1.0>", "type.storage.kind"},
	{"!quant.uniform<^si:f32, 1.0>", "type.storage.kind"},
	{"!quant.uniform<^si33:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<^ui64:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<ui4<0:^16>:f32, 1.0>", "type.storage.max"},
	{"!quant.uniform<i8<5^>:f32, 1.0>", "type.syntax"},
	{"!quant.uniform<i8 ^f32, 1.0>", "type.syntax"},
	{"!quant.uniform<i8:f32 ^1.0>", "type.syntax"},
	{"!quant.uniform<i8:f32, 1.0 ^7>", "type.syntax"},
	{"!quant.uniform<i8^, 1.0>", "type.syntax"},
	{"!quant.uniform<i8:f32, 1.0^", "type.syntax"},
	{"!quant.uniform^", "type.syntax"},
	{"!quant.uniform<i8:^i32, 1.0>", "type.expressed"},
	{"!quant.uniform<i8:^f33, 1.0>", "type.expressed"},
	{"!quant.uniform<i8:f32, ^1>", "type.literal"},
	{"!quant.uniform<i8:f32, ^x>", "type.literal"},
	{"!quant.uniform<i8:f32, 1.0:^>", "type.literal"},
	{"!quant.uniform<i8:f32, 1.0:^y>", "type.literal"},
	{"!quant.uniform<i8:f32, ^2e0>", "type.literal"},
	{"!quant.uniform<i8:f32, ^{1.0, 2.0}>", "type.literal"},
	{"!quant.uniform<i8:f32:^, {1.0}>", "type.literal"},
	{"!quant.uniform<i8:f32:0, {^}>", "type.literal"},
	{"!quant.uniform<i8:f32:0, {1.0,^$a}>", "type.literal"},
	{"!quant.uniform<i8:f32:^99999999999, {1.0}>", "type.literal"},
	{"!quant.uniform<i8:f32, ^0.0>", "type.scale.range"},
	{"!quant.uniform<i8:f32, ^-2.0>", "type.scale.range"},
	{"!quant.uniform<i8:f32, ^0x7FF0000000000000>", "type.scale.range"},
	{"!quant.uniform<i8:f32, ^0x7FF8000000000000>", "type.scale.range"},
	{"!quant.uniform<i8:f16, ^3.0e-8>", "type.scale.range"},
	{"!quant.uniform<i8:f16, ^7.0e4>", "type.scale.range"},
	{"!quant.uniform<i8:bf16, ^4.0e38>", "type.scale.range"},
	{"!quant.uniform<i8:f32:{1:1}, {{0.5, ^0.0}}>", "type.scale.range"},
	{"!quant.uniform<i32:f64, ^1.0e-300*1.0e-300>", "scale.value"},
	{"!quant.uniform<i8<-8:7>:f32, 1.0:^127>", "type.zp.range"},
	{"!quant.uniform<u8:f32, 1.0:^-1>", "type.zp.range"},
	{"!quant.uniform<u8:f32:0, {1.0:3,1.0:^256}>", "type.zp.range"},
	{"!quant.uniform<i8:f32:0, {1.0:3}:^4>", "type.zp"},
	{"!quant.uniform<i8:f32:0, ^{1.0:3}*0.5>", "type.zp"},
	{"!quant.uniform<i8:f32:0, $v*0.5:^$v>", "type.zp"},
	{"!quant.uniform<i8:f32:0, {0.5,0.25}:^$v>", "type.param.count"},
	{"!quant.uniform<i8:f32:^-1, {1.0}>", "type.axis.negative"},
	{"!quant.uniform<i8:f32:0, {^{1.0},{2.0}}>", "type.param.rank"},
	{"!quant.uniform<i8:f32:{0:^0}, {{1.0}}>", "type.block.size"},
	{"!quant.uniform<i8:f32:{0:^-4}, {{1.0}}>", "type.block.size"},
	{"!quant.uniform<i8:f32:{^-1:4}, {{1.0}}>", "type.block.axis"},
	{"!quant.uniform<i8:f32:{1:2,^1:4}, {{1.0}}>", "type.block.duplicate"},
	{"!quant.uniform<i8:f32:{0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1,^8:1}, {1.0}>", "type.rank"},
	{"!quant.uniform<i8:f32:{}, {{{{{{{{^{1.0}}}}}}}}}>", "type.rank"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {{1.0, 2.0}, {3.0^}}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, ^2.0}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {1.0, ^{2.0}}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {{1.0},{^{2.0}}}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1}, ^{{1.0},{2.0}}*{{1.0,2.0}}>", "type.param.shape"},
	{"!quant.uniform<i8:f32:0, ^0.5>", "scale.length"},
	{"!quant.uniform<i8:f32, ^$v>", "scale.length"},
	{"!quant.uniform<i8:f32:0, {0.5,0.25}*$v^>", "scale.length"},
	{"!quant.uniform<i8:f32, $^nope>", "symbol.unknown"},
	{"!quant.uniform<i8:f32, 1.0:$^nope>", "symbol.unknown"},
	{"!quant.uniform<i8:f32:0, {@^nope}>", "type.param.unknown"},
	{"!quant.uniform<i8:f32, $^>", "type.literal"},
	{"!quant.uniform<i8:f32, $^\"a>", "type.literal"},
	{"!quant.uniform<i8:f32, $^\"\\x\">", "type.literal"},
	{"!quant.calibrated<f32<^2.0:2.0>>", "type.calibrated.range"},
	{"!quant.calibrated<f32<^3.0:2.0>>", "type.calibrated.range"},
	{"!quant.calibrated<f32<^0x7FF8000000000000:2.0>>", "type.calibrated.range"},
	{"!quant.calibrated<^i8<0.0:1.0>>", "type.expressed"},
};

static void
test_invalid(void **state)
{
	fixture *f = *state;

	declare(f, "a", QN_SYM_ASYMMETRIC, 0);
	declare(f, "v", QN_SYM_ASYMMETRIC, 3);
	for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
		expect_at(f, invalid[i].text, invalid[i].id, false);
}

/* Line and column of the wrong token. */
static void
test_position(void **state)
{
	static const struct {
		const char *text, *place;
	} row[] = {
		{"tensor<4x!quant.uniform<i8:f32,\n  0.0>>", "t:2:3"},
		{"tensor<4x!quant.uniform<i8:f32, 0.5:200>>", "t:1:37"},
		{"tensor<4x!quant.uniform<i8<9:2>:f32, 0.5>>", "t:1:28"},
		{"tensor<4x!quant.uniform<i8:f32, 0.5 7>>", "t:1:37"},
		{"tensor<4x!quant.uniform<i8:f32:0, {0.5}>>", "t:1:32"},
		{"tensor<4x!quant.uniform<i8:f32, 0.5*$x>>", "t:1:38"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		assert_null(type(f, row[i].text));
		assert_int_equal(f->diags.n, 1);
		assert_string_equal(f->diags.item[0].place, row[i].place);
		qn_diags_clear(&f->env, &f->diags);
	}
}

static void
test_lax_zp(void **state)
{
	fixture *f = *state;

	f->t.lax_zp = true;
	assert_non_null(elem(f, "!quant.uniform<i8<-8:7>:f32, 1.0:127>"));
	assert_non_null(type(f, "tensor<4x!quant.uniform<u8:f32, 1.0:-120>>"));
	f->t.lax_zp = false;
	assert_null(type(f, "tensor<4x!quant.uniform<u8:f32, 1.0:-120>>"));
	expect_diag(f, "type.zp.range", "lax off");
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_text),     T(test_scale_limits), T(test_invalid),
		T(test_position), T(test_lax_zp),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
