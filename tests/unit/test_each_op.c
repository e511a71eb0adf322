/* SPDX-License-Identifier: Apache-2.0 */
/* test_each_op.c - what every row of ir/ops.def must have that neither compiler nor linker asks for: all that is missing,
 * of all ops, is named at once.  CONTRIBUTING.md ("Add an op") lists the same.
 *
 *   roll: no golden file has it (tests/golden/op-NAME.qir)
 *   roll: docs/ir.md does not name it
 *
 * QUERN_RENEW=1 writes the table of element-wise functions into docs/ir.md. */
#include "tests/unit/run_util.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "codegen/kernel_table.h"
#include "ir/text.h"
#include "runtime/impls.h"

typedef struct facts {
	qn_op op;
	const char *name, *family;
	bool function; /* FUNCTION, which has its own docs and tests */
} facts;

static const facts rows[] = {
#define OP(name, min_in, max_in, attributes, behaviour, family)                                    \
	{QN_OP_##name, #name, #family, false},
#define FUNCTION(name, attributes, behaviour, types, value, facts)                                 \
	{QN_OP_##name, #name, "unary", true},
#include "ir/ops.def"
};

/* ---- files of the sources ---- */

static char *
path_of(const char *name)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "%s/%s", getenv("QUERN_SOURCE"), name);
	return qn_arena_str(&rg->arena, qn_buf_str(&b));
}

/* NULL: there is none. */
static const char *
read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	qn_buf b;

	if (f == NULL)
		return NULL;
	qn_buf_init(&b, &rg->arena);
	for (int c; (c = fgetc(f)) != EOF;)
		qn_buf_putc(&b, (char)c);
	assert_int_equal(fclose(f), 0);
	return qn_buf_str(&b);
}

/* All golden files, one after the other. */
static const char *
goldens(void)
{
	glob_t found;
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	assert_int_equal(glob(path_of("tests/golden/*.qir"), 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		qn_buf_puts(&b, read_file(found.gl_pathv[i]));
	globfree(&found);
	return qn_buf_str(&b);
}

static const char *
text(const char *before, const char *name, const char *after)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "%s%s%s", before, name, after);
	return qn_buf_str(&b);
}

/* ---- what is missing ---- */

/* Values without arithmetic, which every graph may hold, and the operators of hosts. */
static bool
is_structure(const facts *r)
{
	return strcmp(r->family, "core") == 0 || strcmp(r->family, "custom") == 0;
}

static const char *
lacks_implementation(const facts *r)
{
	const qn_opinfo *info = qn_opinfo_get(r->op);
	const qn_behaviour b = info->behaviour;
	const qn_int_impl *integer = qn_int_impl_get(r->op);
	const qn_op_kernels *emit = qn_op_kernels_get(r->op);
	const qn_node n = {.op = r->op};
	const qn_elem i8 = qn_elem_desc(8, true);
	double scale;
	int64_t zp;

	qn_fixed_output(&n, &i8, &scale, &zp);
	if (qn_float_impl(r->op) == NULL && !qn_op_is_plain(r->op) && integer == NULL)
		return "its qn_impl has no implementation, float or integer";
	if (integer == NULL && b != QN_NONE && b != QN_EDGE)
		return "its behaviour is not NONE, but its qn_impl has no integer implementation";
	if (b == QN_FIXED && scale == 1.0)
		return "its behaviour is FIXED, but `fixed` in ir/ops.c has no row of it";
	for (size_t i = 0; r->function && i < info->attrs->nattr; i++)
		if (info->attrs->attr[i].kind == QN_ATTR_INTS ||
		    info->attrs->attr[i].kind == QN_ATTR_LIST)
			return "an element-wise function has attributes INT, REAL or ENUM only";
	if (emit->why == NULL && !emit->alias && emit->nkernel == 0)
		return "its qn_op_kernels has no kernel, no alias and no reason";
	return NULL;
}

/* Texts in which an op is looked for. */
typedef struct files {
	const char *golden, *ir, *supported;
} files;

/* Says what is missing of op r in b, and counts it. */
static size_t
missing(qn_buf *b, const facts *r, const char *what)
{
	qn_buff(b, "\n  %s: %s", r->name, what);
	return 1;
}

static size_t
check(qn_buf *b, const facts *r, const files *f)
{
	const char *what = is_structure(r) ? NULL : lacks_implementation(r);
	size_t n = 0;

	if (what != NULL)
		n += missing(b, r, what);
	if (!is_structure(r) && strstr(f->supported, text("| ", r->name, " |")) == NULL)
		n += missing(b, r,
			     "docs/supported-ops.md is old (QUERN_RENEW=1 ctest -R supported-ops)");
	if (r->function || is_structure(r))
		return n;
	if (read_file(path_of(text("runtime/impl_", r->family, ".c"))) == NULL)
		n += missing(b, r, "its family has no file runtime/impl_FAMILY.c");
	if (strstr(f->golden, text("= ", r->name, " %")) == NULL)
		n += missing(b, r, "no golden file has it (tests/golden/op-NAME.qir)");
	if (strstr(f->ir, text("`", r->name, "")) == NULL)
		n += missing(b, r, "docs/ir.md does not name it");
	return n;
}

static void
test_parts(void **state)
{
	const files f = {goldens(), read_file(path_of("docs/ir.md")),
			 read_file(path_of("docs/supported-ops.md"))};
	size_t n = 0;
	qn_buf b;

	(void)state;
	qn_buf_init(&b, &rg->arena);
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		n += check(&b, &rows[i], &f);
	assert_int_equal(QN_COUNT(rows), QN_NOP);
	if (n > 0)
		fail_msg("%zu parts of ops are missing (CONTRIBUTING.md, \"Add an op\"):%s", n,
			 qn_buf_str(&b));
}

/* ---- plain numbers ---- */

/* A graph of the op alone, of one type and without attributes but these; false: it is not defined so. */
static bool
one_op(const facts *r, const char *elem, const char *attributes)
{
	const uint32_t n = qn_opinfo_get(r->op)->min_in;
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "model \"one\" stage float\ngraph @main(");
	for (uint32_t i = 0; i < n; i++)
		qn_buff(&b, "%s%%x%u: tensor<2x3x%s>", i > 0 ? ", " : "", i, elem);
	qn_buff(&b, ") {\n  %%y = %s ", r->name);
	for (uint32_t i = 0; i < n; i++)
		qn_buff(&b, "%s%%x%u", i > 0 ? ", " : "", i);
	qn_buff(&b, "%s\n  return %%y\n}\n", attributes);
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	const bool ok = qn_model_parse(&rg->m, "one", b.data, b.n) == QN_OK;
	if (ok)
		rg->g = qn_model_entry(&rg->m);
	qn_diags_clear(&rg->env, &rg->diags);
	return ok;
}

/* An op with an implementation for plain numbers runs on each type that its shape rule takes: `plain` of several ops
 * is one function over a table of what they do, and nothing else asks for a row of that. */
static void
test_plain(void **state)
{
	static const char *const elems[] = {"i8", "u8", "i32", "i64", "bool", "f16", "f64"};
	static const char *const attributes[] = {"", " {axes=[1]}", " {axis=1}"};
	const double x[6] = {0, 1, 1, 0, 1, 1};
	size_t runs = 0;

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		for (size_t k = 0; k < QN_COUNT(elems) * QN_COUNT(attributes); k++) {
			const char *elem = elems[k % QN_COUNT(elems)];

			if (!qn_op_is_plain(rows[i].op) ||
			    !one_op(&rows[i], elem, attributes[k / QN_COUNT(elems)]))
				continue;
			print_message("%s %s\n", rows[i].name, elem);
			(void)run((const double *[]){x, x, x});
			runs++;
		}
	assert_true(runs > 200);
}

/* ---- the table of functions in docs/ir.md ---- */

static void
put_attributes(qn_buf *b, const qn_attr_set_info *set)
{
	for (size_t i = 0; i < set->nattr; i++)
		qn_buff(b, "%s`%s` = %s", i > 0 ? ", " : "", set->attr[i].name,
			set->attr[i].default_text);
	if (set->nattr > 0)
		qn_buf_putc(b, ' ');
}

static void
put_function(qn_buf *b, const char *name, const qn_attr_set_info *set, const char *behaviour,
	     const char *value)
{
	const bool lut = strcmp(behaviour, "LUT") == 0;

	qn_buff(b, "| `%s`%s%s%s | ", name, lut ? "" : " (", lut ? "" : behaviour, lut ? "" : ")");
	put_attributes(b, set);
	qn_buff(b, "| %s |\n", value);
}

static void
test_docs(void **state)
{
	static const char first[] = "<!-- element-wise functions, from ir/ops.def -->\n";
	static const char last[] = "<!-- end of the functions -->\n";
	const char *renew = getenv("QUERN_RENEW"), *path = path_of("docs/ir.md");
	const char *page = read_file(path);
	const char *from = strstr(page, first), *to = strstr(page, last);
	qn_buf b;

	(void)state;
	assert_true(from != NULL && to != NULL && from < to);
	qn_buf_init(&b, &rg->arena);
	qn_buf_put(&b, page, (size_t)(from - page) + strlen(first));
	qn_buf_puts(&b, "\n| op | attributes | value |\n|---|---|---|\n");
#define FUNCTION(name, attributes, behaviour, types, value, facts)                                 \
	put_function(&b, #name, QN_ATTRS(attributes), #behaviour, value);
#include "ir/ops.def"
	qn_buf_puts(&b, "\n");
	qn_buf_puts(&b, to);
	if (renew != NULL && strcmp(renew, "1") == 0) {
		FILE *f = fopen(path, "wb");

		assert_non_null(f);
		assert_true(fputs(qn_buf_str(&b), f) >= 0);
		assert_int_equal(fclose(f), 0);
	} else if (strcmp(page, qn_buf_str(&b)) != 0) {
		fail_msg("the table of functions in docs/ir.md is old: QUERN_RENEW=1 ctest -R "
			 "each_op writes it");
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {T(test_parts), T(test_plain), T(test_docs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
