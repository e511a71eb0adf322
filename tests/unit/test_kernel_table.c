/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kernels: every row names functions and structs that the kernels' texts have, for each
 * family that it takes, and places inside of them; every op has rows for the families of its
 * integer form; the first row that fits is taken. */
#include "tests/e2e/build.h"

#include "codegen/emitter.h"
#include "runtime/impl_args.h"
#include "runtime/impls.h"

typedef struct walk {
	qn_arena *arena;
	qn_pieces pieces;
	qn_op op;
	size_t rows;
} walk;

static void
check_piece(walk *w, const qn_kernel *k, qn_family f, int bits, bool wide)
{
	const qn_variant v = {f, bits, wide, k->narrow};
	const char *full = qn_family_name(k->name, &v, w->arena);

	if (qn_pieces_find(&w->pieces, full) == NULL)
		fail_msg("op %s: the kernels' texts have no %s", qn_opinfo_get(w->op)->name, full);
}

/* An int32_t of the struct. */
static void
check_int(const qn_fields *f, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nint; i++)
		n += f->item[i].length > 0 ? f->item[i].length : 1;
	assert_int_equal(at % sizeof(int32_t), 0);
	assert_true(at / sizeof(int32_t) < n);
}

static size_t
pointers(const qn_kernel *k)
{
	size_t n = 0;

	while (n < QN_KERNEL_POINTERS && (k->pointer[n].table != NULL || k->pointer[n].operand > 0))
		n++;
	return n;
}

/* The name of the integer field at a place. */
static const char *
field_at(const qn_fields *f, size_t at)
{
	size_t n = 0, i = 0;

	for (; i < f->nint && n < at / sizeof(int32_t); i++)
		n += f->item[i].length > 0 ? f->item[i].length : 1;
	assert_true(i < f->nint);
	return f->item[i].name;
}

static void
check_fused(const qn_kernel *k, const qn_fields *f)
{
	if (k->fused == NULL)
		return;
	check_int(f, k->fused->channels);
	assert_string_equal(field_at(f, k->fused->zo), "zo");
	assert_string_equal(field_at(f, k->fused->lo), "lo");
	assert_string_equal(field_at(f, k->fused->hi), "hi");
	assert_string_equal(field_at(f, k->fused->mode), "mode");
	assert_string_equal(field_at(f, k->fused->mult_n), "mult_n");
	assert_string_equal(f->item[f->n - 2].name, "mult");
	assert_string_equal(f->item[f->n - 1].name, "shift");
}

/* Kernels that a target with program memory may choose point to constants there. */
static void
check_rom(const char *type, const qn_kernel *k, const char *text)
{
	if ((k->needs & ~(uint32_t)QN_TARGET_ROM) != 0)
		return;
	for (const char *at = text; (at = strstr(at, "\tconst ")) != NULL; at++)
		if (strncmp(at, "\tconst QN_ROM ", strlen("\tconst QN_ROM ")) != 0)
			fail_msg("%s: no QN_ROM at '%.30s'", type, at + 1);
}

static void
check_struct(walk *w, const qn_kernel *k, qn_family family, bool wide)
{
	const qn_variant v = {family, 8, wide, k->narrow};
	const char *type = qn_family_name(k->args, &v, w->arena);
	const qn_piece *piece = qn_pieces_find(&w->pieces, type);

	if (piece == NULL)
		fail_msg("op %s: no struct %s", qn_opinfo_get(w->op)->name, type);
	const qn_fields f = qn_fields_read(piece->text, type, w->arena);
	if (f.wrong != NULL)
		fail_msg("%s: %s", type, f.wrong);
	check_rom(type, k, piece->text);
	assert_int_equal(pointers(k), f.n - f.nint);
	if (k->rows > 0 && strcmp(field_at(&f, k->rows), "ring") != 0)
		assert_string_equal(field_at(&f, k->rows), "k_h");
	for (size_t i = 0; i < pointers(k); i++)
		if (k->pointer[i].count > 0 &&
		    k->pack == NULL) /* which may count after the struct */
			check_int(&f, k->pointer[i].count);
	if (k->needs ==
	    0) /* those of a target have a struct of their own, and fuse in the prepared one */
		check_fused(k, &f);
	assert_int_equal(k->work != NULL, k->work_type != NULL);
}

/* Tokens for the width of an outer sum (families.cmake). */
static bool
ends_in_x(const char *name)
{
	return strcmp(name + strlen(name) - 3, "_ax") == 0;
}

static void
check_row(walk *w, const qn_kernel *k)
{
	w->rows++;
	if (k->args == NULL) {
		assert_non_null(k->emit);
		return;
	}
	assert_true(k->emit != NULL || (k->in[0] != QN_AS_NONE && k->out != QN_AS_NONE));
	if (k->families == 0) { /* a name without tokens */
		check_piece(w, k, QN_NFAMILY, 8, false);
		check_struct(w, k, QN_NFAMILY, false);
	}
	for (qn_family f = QN_FAMILY_s8; f < QN_NFAMILY; f++) {
		if ((k->families >> f & 1) == 0)
			continue;
		for (int wide = 0; wide < (ends_in_x(k->args) ? 2 : 1); wide++) {
			check_piece(w, k, f, 8, wide);
			for (int bits = 2; k->pointer[0].packs && bits < 8; bits *= 2)
				if (bits == 4 || (k->pack == NULL && k->needs <= QN_TARGET_ANY))
					check_piece(w, k, f, bits, wide);
			check_struct(w, k, f, wide);
		}
	}
}

static void
rows(void **state)
{
	walk w = {0};
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	w.arena = &b.arena;
	qn_pieces_init(&w.pieces, &b.arena, true);
	for (w.op = 0; w.op < QN_NOP; w.op++) {
		const qn_op_kernels *form = qn_op_kernels_get(w.op);

		for (size_t i = 0; i < form->nkernel; i++)
			check_row(&w, &form->kernel[i]);
	}
	static const qn_op_kernels *const blocks[] = {&qn_emit_dense_blocks, &qn_emit_conv2d_blocks,
						      &qn_emit_conv2d_transpose_blocks,
						      &qn_emit_conv3d_blocks};
	for (size_t k = 0; k < QN_COUNT(blocks); k++)
		for (size_t i = 0; i < blocks[k]->nkernel; i++)
			check_row(&w, &blocks[k]->kernel[i]);
	assert_true(w.rows > 100);
	build_end(&b);
}

/* Each op that is a step has a kernel, is an alias, or says why it has no C; a kernel for each
 * family that its integer form takes. */
static void
ops(void **state)
{
	(void)state;
	for (qn_op op = 0; op < QN_NOP; op++) {
		const qn_op_kernels *form = qn_op_kernels_get(op);
		const qn_int_impl *codes = qn_int_impl_get(op);
		uint32_t families = 0;

		if (op == QN_OP_input || op == QN_OP_const)
			continue;
		assert_int_equal((form->why != NULL) + form->alias + (form->nkernel > 0), 1);
		if (form->nkernel == 0 || codes == NULL)
			continue;
		for (size_t i = 0; i < form->nkernel; i++)
			families |= form->kernel[i].families != 0 ? form->kernel[i].families
								  : QN_ALL_FAMILIES;
		if ((codes->families & ~families) != 0)
			fail_msg("op %s: no kernel for a family of its integer form",
				 qn_opinfo_get(op)->name);
	}
}

/* ---- which row ---- */

static const char *
never(const qn_step_facts *f)
{
	(void)f;
	return "never";
}

static void
choice(void **state)
{
	const qn_kernel table[] = {
		{.name = "wide", .families = 1 << QN_FAMILY_s16},
		{.name = "reads", .reads = 1 << QN_FAMILY_u8},
		{.name = "never", .fits = never},
		{.name = "first"},
		{.name = "second"},
	};
	const char *why;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", "tensor<4x!quant.uniform<i8:f32, 0.5:3>>");
	qn_id y = build_op(&b, QN_OP_relu, "y", IDS(x), NULL, NULL);
	const qn_step s = {.node = y, .core = y, .nin = 1, .in = &x};
	const qn_step_facts f = qn_step_facts_of(b.g, &s);
	assert_int_equal(f.family, QN_FAMILY_s8);
	assert_ptr_equal(qn_kernel_choose(table, QN_COUNT(table), &f, &why), &table[3]);
	assert_null(qn_kernel_choose(table, 0, &f, &why));
	assert_string_equal(why, "it has no kernel");
	assert_null(qn_kernel_choose(table, 3, &f, &why));
	assert_string_equal(why, "never");
	assert_null(qn_kernel_choose(table, 2, &f, &why));
	assert_string_equal(why, "its kernel does not support the storage type of its operand");
	assert_null(qn_kernel_choose(table, 1, &f, &why));
	assert_string_equal(why, "its kernel does not support the storage type of its values");
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(ops),
		cmocka_unit_test(choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
