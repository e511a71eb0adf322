/* SPDX-License-Identifier: Apache-2.0 */
/* test_types.c - quantized types: text and canonical print, every rule by its id, scale expressions,
 * symbols, normalization, tensors.  Rows are (text, expected); adding a case is adding a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/diag.h"
#include "ir/type.h"

/* ---- fixture ---- */

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_types t;
} fixture;

static void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

static int
setup(void **state)
{
	fixture *f = calloc(1, sizeof *f);

	f->env = (qn_env){.alloc = heap, .diags = &f->diags};
	qn_arena_init(&f->arena, &f->env);
	qn_types_init(&f->t, &f->arena);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	fixture *f = *state;

	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	free(f);
	return 0;
}

static const qn_elem *
elem(fixture *f, const char *s)
{
	qn_text text;
	const qn_elem *e = NULL;

	qn_text_init(&text, "", s, strlen(s));
	if (qn_elem_parse(&f->t, &text, &e) != QN_OK)
		return NULL;
	return text.at == text.end ? e : NULL;
}

static const qn_type *
type(fixture *f, const char *s)
{
	const qn_type *type = NULL;

	return qn_type_parse_str(&f->t, "t", s, &type) == QN_OK ? type : NULL;
}

static const char *
elem_text(fixture *f, const qn_elem *e)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_elem_print(&b, e);
	return qn_buf_str(&b);
}

static const char *
type_text(fixture *f, const qn_type *x)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_type_print(&b, x);
	return qn_buf_str(&b);
}

static const char *
scale_text(fixture *f, const qn_scale *s)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_scale_print(&b, s);
	return qn_buf_str(&b);
}

/* Exactly one diagnostic, this one; then the list is emptied. */
static void
expect_diag(fixture *f, const char *id, const char *what)
{
	if (f->diags.n != 1 || strcmp(f->diags.item[0].id, id) != 0)
		fail_msg("%s: expected %s, got %zu: %s (%s)", what, id, f->diags.n, f->diags.n > 0 ? f->diags.item[0].id : "none",
			 f->diags.n > 0 ? f->diags.item[0].message : "");
	qn_diags_clear(&f->env, &f->diags);
}

static const qn_symbol *
declare(fixture *f, const char *name, qn_sym_kind kind, int64_t len)
{
	qn_symbol *s = NULL;

	assert_int_equal(qn_symbol_declare(&f->t, "", name, kind, len, &s), QN_OK);
	return s;
}

/* ---- text ---- */

/* NULL: the text is its own canonical form. */
static const struct {
	const char *text, *print;
} valid[] = {
	{"!quant.uniform<i8:f32, 0.01>", "!quant.uniform<i8:f32, 1.000000e-02>"},
	{"!quant.uniform<i8<-127:127>:f32, 0.01:3>", "!quant.uniform<i8<-127:127>:f32, 1.000000e-02:3>"},
	{"!quant.uniform< u8 : f32 , 0.5:128 >", "!quant.uniform<u8:f32, 5.000000e-01:128>"},
	{"!quant.uniform<i8<-128:127>:f32, 1.0>", "!quant.uniform<i8:f32, 1.000000e+00>"},
	{"!quant.uniform<i4:f16, 0.125>", "!quant.uniform<i4:f16, 1.250000e-01>"},
	{"!quant.uniform<i1:f32, 1.0>", "!quant.uniform<i1:f32, 1.000000e+00>"},
	{"!quant.uniform<u32:f64, 1.0e-3:4294967295>", "!quant.uniform<u32:f64, 1.000000e-03:4294967295>"},
	{"!quant.uniform<i64:f32, 1.0>", "!quant.uniform<i64:f32, 1.000000e+00>"},
	{"!quant.uniform<i8:f32:0, {0.1,0.2:-4,0.3}>", "!quant.uniform<i8:f32:0, {1.000000e-01,2.000000e-01:-4,3.000000e-01}>"},
	{"!quant.uniform<i4:f32:{0:1, 1:32}, {{0.5, 0.25}, {1.0, 2.0}}>",
	 "!quant.uniform<i4:f32:{0:1, 1:32}, {{5.000000e-01, 2.500000e-01}, {1.000000e+00, 2.000000e+00}}>"},
	{"!quant.uniform<i4:f32:{1:32, 0:1}, {{0.5, 0.25}, {1.0, 2.0}}>",
	 "!quant.uniform<i4:f32:{0:1, 1:32}, {{5.000000e-01, 2.500000e-01}, {1.000000e+00, 2.000000e+00}}>"},
	{"!quant.uniform<u4:f32:{1:2}, {{0.5:8, 0.25:7}}>", "!quant.uniform<u4:f32:{1:2}, {{5.000000e-01:8, 2.500000e-01:7}}>"},
	{"!quant.uniform<u4:f32:{1:2}+, {{0.5, 0.25, 0.5}}>", "!quant.uniform<u4:f32:{1:2}+, {{5.000000e-01, 2.500000e-01, 5.000000e-01}}>"},
	{"!quant.uniform<i8:f32:{}, {{0.5}}>", "!quant.uniform<i8:f32:{}, {{5.000000e-01}}>"},
	{"!quant.uniform<i8:f32, 0x3FD0000000000000>", "!quant.uniform<i8:f32, 2.500000e-01>"},
	{"!quant.any<i16>", NULL},
	{"!quant.any<u8<1:254>:f32>", NULL},
	{"!quant.calibrated<f32<-1.0:6.0>>", "!quant.calibrated<f32<-1.000000e+00:6.000000e+00>>"},
	{"!quant.calibrated<f32<-0.1:0.1>>", "!quant.calibrated<f32<-1.000000e-01:1.000000e-01>>"},
	/* not short: the bits of the double that holds the f32 */
	{"!quant.uniform<i8:f32, 0.003921568859368563>", "!quant.uniform<i8:f32, 3.921569e-03>"},
	{"!quant.uniform<i8:f32, 0x3FB99999C0000000>", "!quant.uniform<i8:f32, 0x3FB99999C0000000>"},
	{"!quant.uniform<i8:f64, 0.1>", "!quant.uniform<i8:f64, 1.000000e-01>"},
	{"!quant.uniform<i8:f16, 0.0010004043579101562>", "!quant.uniform<i8:f16, 1.000404e-03>"},
	{"!quant.uniform<i8:bf16, 0.1>", "!quant.uniform<i8:bf16, 1.000977e-01>"},
	/* zero points above the signed range of the storage */
	{"!quant.uniform<u8:f32, 1.0:200>", "!quant.uniform<u8:f32, 1.000000e+00:200>"},
	{"!quant.uniform<u8:f32:0, {1.0:200,2.0}>", "!quant.uniform<u8:f32:0, {1.000000e+00:200,2.000000e+00}>"},
	{"!quant.uniform<u8:f32:{0:2}, {{1.0:200}, {2.0}}>", "!quant.uniform<u8:f32:{0:2}, {{1.000000e+00:200}, {2.000000e+00}}>"},
	/* expressions */
	{"!quant.uniform<i32:f32, $b * $a>", "!quant.uniform<i32:f32, $a*$b>"},
	{"!quant.uniform<i32:f32, $a*$b/$c>", NULL},
	{"!quant.uniform<i32:f32, $a*($b/$c)>", NULL},
	{"!quant.uniform<i32:f32, $a/($b*$c)>", NULL},
	{"!quant.uniform<i32:f32, (($a)/$b)/$c>", "!quant.uniform<i32:f32, $a/$b/$c>"},
	{"!quant.uniform<i32:f32, fmul($b,$a)>", NULL},
	{"!quant.uniform<i32:f32, fmul( 0.5 , $a*$b )>", "!quant.uniform<i32:f32, fmul(5.000000e-01,$a*$b)>"},
	{"!quant.uniform<i32:f32:3, {0.1, 0.2}*0.01>", "!quant.uniform<i32:f32:3, 1.000000e-02*{1.000000e-01,2.000000e-01}>"},
	{"!quant.uniform<i32:f32:{0:2}, 0.5*{{0.1}, {0.2}}>", "!quant.uniform<i32:f32:{0:2}, 5.000000e-01*{{1.000000e-01}, {2.000000e-01}}>"},
	{"!quant.uniform<i8:f32, $a:$a>", NULL},
	{"!quant.uniform<i8:f32, $a:7>", NULL},
	{"!quant.uniform<i8:f32:0, $v>", NULL},
	{"!quant.uniform<i8:f32:0, $v:$v>", NULL},
	{"!quant.uniform<i8:f32:0, {0.5, 0.25}:3>", "!quant.uniform<i8:f32:0, {5.000000e-01:3,2.500000e-01:3}>"},
	{"!quant.uniform<i8:f32, $\"a/b.w\":$\"a/b.w\">", NULL},
	{"!quant.uniform<i8:f32, $\"a\">", "!quant.uniform<i8:f32, $a>"},
	{"!quant.uniform<i8:f32, $\"q\\\"\\u0001\\\\\">", NULL},
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
			fail_msg("%s: refused (%s)", valid[i].text, f->diags.n > 0 ? f->diags.item[0].message : "text left over");
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
		{"f16", 0x3E70000000000000},  {"f16", 0x3E80000000000000}, {"f16", 0x40EFFC0000000000}, {"bf16", 0x37A0000000000000},
		{"bf16", 0x47EFE00000000000}, {"f32", 0x36A0000000000000}, {"f32", 0x36B0000000000000}, {"f32", 0x47EFFFFFE0000000},
		{"f64", 0x0000000000000001},  {"f64", 0x7FEFFFFFFFFFFFFF},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char text[80];
		double scale, want;
		int64_t zp;

		(void)snprintf(text, sizeof text, "!quant.uniform<i8:%s, 0x%016llX>", row[i].type, (unsigned long long)row[i].bits);
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

static const struct {
	const char *text, *id;
} invalid[] = {
	{"!quant.unifrom<i8:f32, 1.0>", "type.unknown"},
	{"!quant.quantile<i8:f32, 1.0>", "type.unknown"},
	{"!foo<i8>", "type.unknown"},
	{"f33", "type.unknown"},
	{"", "type.unknown"},
	{"!quant.uniform<s8:f32, 1.0>", "type.storage.kind"},
	{"!quant.uniform<int8:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<i:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<f8:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<i08:f32,1.0>", "type.storage.kind"},
	{"!quant.uniform<i0:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<u33:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<i63:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<u64:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<i99999999999:f32, 1.0>", "type.storage.width"},
	{"!quant.uniform<i4<-9:7>:f32, 1.0>", "type.storage.min"},
	{"!quant.uniform<u4<0:16>:f32, 1.0>", "type.storage.max"},
	{"!quant.uniform<i8<5:5>:f32, 1.0>", "type.storage.range"},
	{"!quant.uniform<i8<6:5>:f32, 1.0>", "type.storage.range"},
	{"!quant.uniform<i8<-99999999999999999999:5>:f32, 1.0>", "type.literal"},
	{"!quant.uniform<i8<5>:f32, 1.0>", "type.syntax"},
	{"!quant.uniform<i8 f32, 1.0>", "type.syntax"},
	{"!quant.uniform<i8:f32 1.0>", "type.syntax"},
	{"!quant.uniform<i8:f32, 1.0 7>", "type.syntax"},
	{"!quant.uniform<i8, 1.0>", "type.syntax"},
	{"!quant.uniform<i8:f32, 1.0", "type.syntax"},
	{"!quant.uniform", "type.syntax"},
	{"!quant.uniform<i8:i32, 1.0>", "type.expressed"},
	{"!quant.uniform<i8:f33, 1.0>", "type.expressed"},
	{"!quant.uniform<i8:f32, 1>", "type.literal"},
	{"!quant.uniform<i8:f32, x>", "type.literal"},
	{"!quant.uniform<i8:f32, 1.0:>", "type.literal"},
	{"!quant.uniform<i8:f32, 1.0:y>", "type.literal"},
	{"!quant.uniform<i8:f32, 2e0>", "type.literal"},
	{"!quant.uniform<i8:f32, {1.0, 2.0}>", "type.literal"},
	{"!quant.uniform<i8:f32:, {1.0}>", "type.literal"},
	{"!quant.uniform<i8:f32:0, {}>", "type.literal"},
	{"!quant.uniform<i8:f32:0, {1.0,$a}>", "type.literal"},
	{"!quant.uniform<i8:f32:99999999999, {1.0}>", "type.literal"},
	{"!quant.uniform<i8:f32, 0.0>", "type.scale.range"},
	{"!quant.uniform<i8:f32, -2.0>", "type.scale.range"},
	{"!quant.uniform<i8:f32, 0x7FF0000000000000>", "type.scale.range"},
	{"!quant.uniform<i8:f32, 0x7FF8000000000000>", "type.scale.range"},
	{"!quant.uniform<i8:f16, 3.0e-8>", "type.scale.range"},
	{"!quant.uniform<i8:f16, 7.0e4>", "type.scale.range"},
	{"!quant.uniform<i8:bf16, 4.0e38>", "type.scale.range"},
	{"!quant.uniform<i8:f32:{1:1}, {{0.5, 0.0}}>", "type.scale.range"},
	{"!quant.uniform<i32:f64, 1.0e-300*1.0e-300>", "scale.value"},
	{"!quant.uniform<i8<-8:7>:f32, 1.0:127>", "type.zp.range"},
	{"!quant.uniform<u8:f32, 1.0:-1>", "type.zp.range"},
	{"!quant.uniform<u8:f32:0, {1.0:3,1.0:256}>", "type.zp.range"},
	{"!quant.uniform<i8:f32:0, {1.0:3}:4>", "type.zp"},
	{"!quant.uniform<i8:f32:0, {1.0:3}*0.5>", "type.zp"},
	{"!quant.uniform<i8:f32:0, $v*0.5:$v>", "type.zp"},
	{"!quant.uniform<i8:f32:0, {0.5,0.25}:$v>", "type.param.count"},
	{"!quant.uniform<i8:f32:-1, {1.0}>", "type.axis.negative"},
	{"!quant.uniform<i8:f32:0, {{1.0},{2.0}}>", "type.param.rank"},
	{"!quant.uniform<i8:f32:{0:0}, {{1.0}}>", "type.block.size"},
	{"!quant.uniform<i8:f32:{0:-4}, {{1.0}}>", "type.block.size"},
	{"!quant.uniform<i8:f32:{-1:4}, {{1.0}}>", "type.block.axis"},
	{"!quant.uniform<i8:f32:{1:2,1:4}, {{1.0}}>", "type.block.duplicate"},
	{"!quant.uniform<i8:f32:{0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1}, {1.0}>", "type.rank"},
	{"!quant.uniform<i8:f32:{}, {{{{{{{{{1.0}}}}}}}}}>", "type.rank"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {{1.0, 2.0}, {3.0}}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, 2.0}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {1.0, {2.0}}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1,1:2}, {{1.0},{{2.0}}}>", "type.param.ragged"},
	{"!quant.uniform<i8:f32:{0:1}, {{1.0},{2.0}}*{{1.0,2.0}}>", "type.param.shape"},
	{"!quant.uniform<i8:f32:0, 0.5>", "scale.length"},
	{"!quant.uniform<i8:f32, $v>", "scale.length"},
	{"!quant.uniform<i8:f32:0, {0.5,0.25}*$v>", "scale.length"},
	{"!quant.uniform<i8:f32, $nope>", "symbol.unknown"},
	{"!quant.uniform<i8:f32, 1.0:$nope>", "symbol.unknown"},
	{"!quant.uniform<i8:f32:0, {@nope}>", "type.param.unknown"},
	{"!quant.uniform<i8:f32, $>", "type.literal"},
	{"!quant.uniform<i8:f32, $\"a>", "type.literal"},
	{"!quant.uniform<i8:f32, $\"\\x\">", "type.literal"},
	{"!quant.calibrated<f32<2.0:2.0>>", "type.calibrated.range"},
	{"!quant.calibrated<f32<3.0:2.0>>", "type.calibrated.range"},
	{"!quant.calibrated<f32<0x7FF8000000000000:2.0>>", "type.calibrated.range"},
	{"!quant.calibrated<i8<0.0:1.0>>", "type.expressed"},
};

static void
test_invalid(void **state)
{
	fixture *f = *state;

	declare(f, "a", QN_SYM_ASYMMETRIC, 0);
	declare(f, "v", QN_SYM_ASYMMETRIC, 3);
	for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
		assert_null(elem(f, invalid[i].text));
		expect_diag(f, invalid[i].id, invalid[i].text);
	}
}

/* Elements in tensors; id NULL: accepted. */
static const struct {
	const char *shape, *elem, *id;
} in_tensor[] = {
	{"", "!quant.uniform<i8:f32:0, {1.0}>", "type.axis.scalar"},
	{"4x5x", "!quant.uniform<i8:f32:2, {1.0}>", "type.axis.rank"},
	{"4x5x", "!quant.uniform<i8:f32:0, {1.0,1.0,1.0}>", "type.axis.size"},
	{"?x3x?x", "!quant.uniform<i8:f32:1, {1.0,1.5,1.25}>", NULL},
	{"?x?x?x", "!quant.uniform<i8:f32:1, {1.0,1.5,1.25}>", NULL},
	{"*x", "!quant.uniform<i8:f32:1, {1.0,1.5,1.25}>", NULL},
	{"3x", "!quant.uniform<i8:f32:0, $v>", NULL},
	{"4x", "!quant.uniform<i8:f32:0, $v>", "type.axis.size"},
	{"?x", "!quant.uniform<i8:f32:0, $v>", NULL},
	{"", "!quant.uniform<i8:f32:{}, {0.5}>", "type.block.scalar"},
	{"2x4x", "!quant.uniform<i8:f32:{1:3}, {{1.0, 2.0}}>", "type.block.divide"},
	{"0x4x", "!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}}>", "type.block.zero_dim"},
	{"2x4x", "!quant.uniform<i8:f32:{3:2}, {{1.0, 2.0}}>", "type.block.rank"},
	{"2x4x", "!quant.uniform<i8:f32:{1:2}, {{{1.0}, {2.0}}}>", "type.block.scale_rank"},
	{"2x4x", "!quant.uniform<i8:f32:{1:2}, {1.0, 2.0}>", "type.block.scale_rank"},
	{"2x4x", "!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}, {1.0, 2.0}}>", "type.block.scale_dim"},
	{"2x4x", "!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, {2.0}}>", "type.block.scale_dim"},
	{"9x4x", "!quant.uniform<u4:f32:{1:2}, {{0.5:8, 0.25:7}}>", NULL},
	{"7x9x", "!quant.uniform<i8:f32:{}, {{0.5}}>", NULL},
	{"6x4x", "!quant.uniform<i8:f32:{0:1,1:2}, {{1.0,2.0},{1.0,2.0},{1.0,2.0},{1.0,2.0},{1.0,2.0},{1.0,2.0}}>", NULL},
	{"6x8x", "!quant.uniform<i8:f32:{0:2,1:4}, {{1.0,2.0},{1.0,2.0},{1.0,2.0}}>", NULL},
	{"5x7x64x", "!quant.uniform<i8:f32:{2:16}, {{{1.0,2.0,3.0,4.0}}}>", NULL},
	{"?x?x", "!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, {2.0}}>", NULL},
	{"*x", "!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, {2.0}}>", NULL},
	{"5x", "!quant.uniform<i8:f32:{0:2}+, {1.0, 2.0, 3.0}>", NULL},
	{"5x", "!quant.uniform<i8:f32:{0:2}+, {1.0, 2.0}>", "type.block.scale_dim"},
	{"5x", "!quant.uniform<i8:f32:{0:2}, {1.0, 2.0, 3.0}>", "type.block.divide"},
	{"5x", "!quant.uniform<i8:f32:{0:6}+, {1.0}>", "type.block.size"},
	{"6x2x", "!quant.uniform<i8:f32:{0:2}, $v>", NULL},
	{"6x2x", "!quant.uniform<i8:f32:{0:1}, $v>", "type.block.scale_dim"},
};

static void
test_in_tensor(void **state)
{
	fixture *f = *state;

	declare(f, "v", QN_SYM_ASYMMETRIC, 3);
	for (size_t i = 0; i < sizeof in_tensor / sizeof in_tensor[0]; i++) {
		char text[256];

		(void)snprintf(text, sizeof text, "tensor<%s%s>", in_tensor[i].shape, in_tensor[i].elem);
		const qn_type *x = type(f, text);
		if (in_tensor[i].id != NULL) {
			assert_null(x);
			expect_diag(f, in_tensor[i].id, text);
			continue;
		}
		if (x == NULL)
			fail_msg("%s: %s", text, f->diags.item[0].message);
		assert_int_equal(qn_type_check(&f->t, "", x), QN_OK);
		assert_ptr_equal(type(f, type_text(f, x)), x);
	}
}

static void
test_tensors(void **state)
{
	static const char *const own[] = {
		"tensor<1x?x3xf32>",
		"tensor<*xf32>",
		"tensor<f32>",
		"tensor<0x4xi8>",
		"tuple<>",
		"tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>",
		"tuple<tensor<?x4xf32>, tuple<tensor<*xi32>>, tensor<bool>>",
		"tensor<1x2x3x4x5x6x7x8xu64>",
	};
	static const struct {
		const char *text, *id;
	} wrong[] = {
		{"tensor<1x2x3x4x5x6x7x8x9xu64>", "type.rank"},
		{"tensor<-1xf32>", "type.unknown"},
		{"tensor<99999999999999999999xf32>", "type.literal"},
		{"tensor<4 f32>", "type.syntax"},
		{"tensor<4xf32", "type.syntax"},
		{"tensor<4xf32> x", "type.syntax"},
		{"f32", "type.unknown"},
		{"tensor<4x>", "type.unknown"},
		{"tuple<tensor<f32>", "type.syntax"},
		{"tuple<tensor<f32>,>", "type.unknown"},
		{"tensors<f32>", "type.unknown"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		const qn_type *x = type(f, own[i]);

		assert_non_null(x);
		assert_string_equal(type_text(f, x), own[i]);
		assert_ptr_equal(type(f, own[i]), x);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_null(type(f, wrong[i].text));
		expect_diag(f, wrong[i].id, wrong[i].text);
	}
	assert_int_equal(qn_type_count(type(f, "tensor<2x3xf32>")), 6);
	assert_int_equal(qn_type_count(type(f, "tensor<f32>")), 1);
	assert_int_equal(qn_type_count(type(f, "tensor<9999999999999x0xf32>")), 0);
	assert_int_equal(qn_type_count(type(f, "tensor<1048576x1048576xf32>")), INT64_C(1) << 40);
	assert_int_equal(qn_type_count(type(f, "tensor<1048577x1048576xf32>")), -1);
	assert_int_equal(qn_type_count(type(f, "tensor<?xf32>")), -1);
	assert_int_equal(qn_type_count(type(f, "tuple<>")), -1);
}

/* Line and column of the wrong token. */
static void
test_position(void **state)
{
	static const struct {
		const char *text, *place;
	} row[] = {
		{"tensor<4x!quant.uniform<i8:f32,\n  0.0>>", "t:2:3"},    {"tensor<4x!quant.uniform<i8:f32, 0.5:200>>", "t:1:10"},
		{"tensor<4x!quant.uniform<i8<9:2>:f32, 0.5>>", "t:1:25"}, {"tensor<4x!quant.uniform<i8:f32, 0.5 7>>", "t:1:37"},
		{"tensor<4x!quant.uniform<i8:f32:0, {0.5}>>", "t:1:10"},  {"tensor<4x!quant.uniform<i8:f32, 0.5*$x>>", "t:1:38"},
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

/* ---- the API's own rules ---- */

static void
test_elem_make(void **state)
{
	fixture *f = *state;
	const int32_t axis[] = {1, 0};
	const int64_t block[] = {32, 1};
	const qn_elem *e = NULL;
	const qn_elem *same = elem(f, "!quant.uniform<i4:f32:{0:1, 1:32}, {{0.5, 0.25}, {1.0, 2.0}}>");
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
	assert_int_equal(qn_params_intern(&f->t, "", NULL, 3, 2, shape, scale, NULL, &p), QN_EINVALID);
	expect_diag(f, "type.param.shape", "3 in 2x2");
	const int64_t dim[] = {-5};
	assert_int_equal(qn_type_check(&f->t, "", qn_type_plain(&f->t, QN_PLAIN_f32, 1, dim)), QN_EINVALID);
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
	assert_ptr_not_equal(qn_scale_op(t, QN_SCALE_FMUL, s1, s0), qn_scale_op(t, QN_SCALE_FMUL, s0, s1));
	/* constants never fold, and do not cancel either */
	assert_string_equal(scale_text(f, qn_scale_op(t, QN_SCALE_MUL, three, two)), "2.000000e+00*3.000000e+00");
	assert_string_equal(scale_text(f, qn_scale_op(t, QN_SCALE_DIV, qn_scale_op(t, QN_SCALE_MUL, three, two), two)),
			    "2.000000e+00*3.000000e+00/2.000000e+00");
	/* lengths */
	assert_int_equal(product->len, 0);
	assert_int_equal(qn_scale_op(t, QN_SCALE_MUL, v, s0)->len, 3);
	assert_int_equal(qn_scale_op(t, QN_SCALE_DIV, s0, v)->len, 3);
	assert_true(qn_scale_op(t, QN_SCALE_MUL, v, w)->len < 0);
	assert_ptr_not_equal(qn_scale_op(t, QN_SCALE_DIV, qn_scale_op(t, QN_SCALE_MUL, s0, v), v), s0);
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
	assert_string_equal(elem_text(f, out), "!quant.uniform<i32:f32:3, 1.000000e-01*{1.000000e-01,2.000000e-01,3.000000e-01}>");
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
			qn_elem_param(&f->t, e, k, &s, &z[k]); /* bound symbols may be read before */
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
	assert_int_equal(qn_symbol_declare(&f->t, "m:1", "a", QN_SYM_SYMMETRIC, 0, &s), QN_EINVALID);
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
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d.0", i > 0 ? "," : "", i + 1);
	}
	strcat(text, "}>");
	assert_int_equal(qn_params_intern(t, "", "first", 17, 1, NULL, scale, NULL, &p), QN_OK);
	assert_int_equal(qn_params_intern(t, "", "second", 17, 1, NULL, scale, NULL, &q), QN_OK);
	assert_ptr_equal(p, q);
	assert_string_equal(p->name, "first");
	assert_int_equal(t->nparam, 1);
	assert_int_equal(qn_params_intern(t, "", "first", 17, 1, NULL, other, NULL, &q), QN_EINVALID);
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
	assert_int_equal(qn_elem_bind(t, "", elem(f, "!quant.uniform<i32:f32:3, 0.5*$\"c/w\">"), &out), QN_OK);
	assert_string_equal(elem_text(f, out), "!quant.uniform<i32:f32:3, 5.000000e-01*{@\"c/w.q\"}>");
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
		{"i8:f32:{0:2}, {{2.0},{3.0}}", NULL}, /* two scales for four elements: not per axis */
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
		(void)snprintf(text, sizeof text, "!quant.uniform<%s>", row[i].out != NULL ? row[i].out : row[i].in);
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
	assert_ptr_equal(bound, type(f, "tensor<2x4x!quant.uniform<i8:f32:{0:1,1:2}, {{1.0,2.0},{3.0,4.0}}>>"));
	assert_int_equal(qn_type_param_index(bound, (const int64_t[]){1, 1}), 2);
	assert_int_equal(qn_type_param_index(x, (const int64_t[]){1, 3}), 3);
}

static void
test_param_index(void **state)
{
	fixture *f = *state;
	const qn_type *axis = type(f, "tensor<2x3x!quant.uniform<i8:f32:1, {1.0,2.0,3.0}>>");
	const qn_type *part = type(f, "tensor<2x5x!quant.uniform<i8:f32:{1:2}+, {{1.0,2.0,3.0}}>>");
	const qn_type *dynamic = type(f, "tensor<?x4x!quant.uniform<i8:f32:{0:1,1:2}, {{1.0,2.0},{3.0,4.0}}>>");

	assert_int_equal(qn_type_param_index(axis, (const int64_t[]){1, 2}), 2);
	assert_int_equal(qn_type_param_index(part, (const int64_t[]){1, 4}), 2);
	assert_int_equal(qn_type_param_index(part, (const int64_t[]){1, 3}), 1);
	assert_int_equal(qn_type_param_index(dynamic, (const int64_t[]){1, 2}), 3);
}

/* ---- hostile input ---- */

static void
test_hostile(void **state)
{
	enum { N = 100000 };
	static const char *const unit[] = {
		"(",     "{",  "tuple<", "$a*",     "0.5*", "{1.0,",        "1.0,", "fmul(",
		"9",     "#",  "\n",     "\"",      "$\"",  "tensor<f32>,", "\xff", "!quant.uniform<i8:f32, ",
		"0.5*(", "?x", "1x",     "tensor<", "\x01",
	};
	static const char *const prefix[] = {
		"",
		"tensor<",
		"tuple<",
		"tensor<4x!quant.uniform<i8:f32, ",
		"tensor<4x!quant.uniform<i8:f32:0, {",
		"tensor<4x!quant.uniform<i8:f32:{0:1}, ",
		"tensor<4x!quant.uniform<i8:f32:{",
		"tensor<4x!quant.uniform<i8:f32, $",
	};
	fixture *f = *state;
	char *text = malloc(N + 1);

	declare(f, "a", QN_SYM_SYMMETRIC, 0);
	for (size_t k = 0; k < sizeof prefix / sizeof prefix[0]; k++) {
		for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++) {
			size_t n = strlen(prefix[k]), u = strlen(unit[i]);

			memcpy(text, prefix[k], n);
			for (; n + u <= N; n += u)
				memcpy(text + n, unit[i], u);
			text[n] = '\0';
			assert_null(type(f, text));
			assert_int_equal(f->diags.n, 1);
			qn_diags_clear(&f->env, &f->diags);
		}
	}
	/* random bytes of the grammar's alphabet */
	static const char alphabet[] = "tensor<tuple>!quant.uniform:f32i8,{}()$*/0123456789.x?e-\" +@#fmul";
	uint32_t seed = 1;
	for (int k = 0; k < 2000; k++) {
		size_t n = strlen(prefix[k % 8]);

		memcpy(text, prefix[k % 8], n);
		for (size_t i = n; i < n + 60; i++) {
			seed = seed * 1664525u + 1013904223u;
			text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
		}
		text[n + 60] = '\0';
		const qn_type *x = type(f, text);
		if (x != NULL)
			assert_ptr_equal(type(f, type_text(f, x)), x);
		qn_diags_clear(&f->env, &f->diags);
	}
	free(text);
}

/* n times unit between prefix and suffix; malloc'ed. */
static char *
repeated(const char *prefix, const char *unit, size_t n, const char *suffix)
{
	const size_t u = strlen(unit);
	char *text = malloc(strlen(prefix) + u * n + strlen(suffix) + 1);
	char *at = text + strlen(prefix);

	memcpy(text, prefix, strlen(prefix));
	for (size_t i = 0; i < n; i++, at += u)
		memcpy(at, unit, u);
	memcpy(at, suffix, strlen(suffix) + 1);
	return text;
}

/* Each limit: the last text that is taken and the first that is not. */
static void
test_limits(void **state)
{
	static const struct {
		const char *prefix, *unit;
		size_t most;
		const char *suffix, *id;
	} row[] = {
		{"tensor<?x!quant.uniform<i8:f32, fmul(0.5,", "(", 63, "$a", "type.depth"},
		{"", "tuple<", 64, "", "type.depth"},
		{"tensor<?x!quant.uniform<i8:f32, $b", "*$a", 64, ">>", "scale.size"},
		{"tensor<?x!quant.uniform<i8:f32:0, {0.5", ",0.5", (1 << 20) - 1, "}>>", "type.param.limit"},
		{"tensor<", "1x", 8, "f32>", "type.rank"},
	};
	fixture *f = *state;

	declare(f, "a", QN_SYM_SYMMETRIC, 0);
	declare(f, "b", QN_SYM_SYMMETRIC, 0);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char *text = repeated(row[i].prefix, row[i].unit, row[i].most, row[i].suffix);

		/* the first two are not closed: refused for another reason */
		if (type(f, text) == NULL)
			assert_string_not_equal(f->diags.item[0].id, row[i].id);
		else
			assert_true(i > 1);
		qn_diags_clear(&f->env, &f->diags);
		free(text);
		text = repeated(row[i].prefix, row[i].unit, row[i].most + 1, row[i].suffix);
		assert_null(type(f, text));
		expect_diag(f, row[i].id, row[i].prefix);
		free(text);
	}
}

/* Every cut of a valid text is refused with exactly one diagnostic. */
static void
test_truncation(void **state)
{
	static const char whole[] = "tuple<tensor<2x?x!quant.uniform<i8<-127:127>:f32:{0:1, 1:2}+, "
				    "fmul($\"a/b\",0.5)*{{0.5, 0.25}, {1.0, 2.0}}:$\"a/b\">>, tensor<*xf32>>";
	fixture *f = *state;
	char cut[sizeof whole];

	declare(f, "a/b", QN_SYM_ASYMMETRIC, 0);
	assert_non_null(type(f, whole));
	for (size_t n = 0; n + 1 < sizeof whole; n++) {
		memcpy(cut, whole, n);
		cut[n] = '\0';
		assert_null(type(f, cut));
		assert_int_equal(f->diags.n, 1);
		qn_diags_clear(&f->env, &f->diags);
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_text),           T(test_scale_limits), T(test_invalid),      T(test_in_tensor),   T(test_tensors),
		T(test_position),       T(test_lax_zp),       T(test_elem_make),    T(test_expressions), T(test_bind),
		T(test_bind_vector_zp), T(test_symbols),      T(test_named_params), T(test_normalize),   T(test_shaped_by_tensor),
		T(test_param_index),    T(test_hostile),      T(test_limits),       T(test_truncation),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
