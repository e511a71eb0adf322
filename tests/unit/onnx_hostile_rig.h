/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_hostile_rig.h - reads ONNX files that ask for more than they are worth, and counts the memory for it.
 *
 *   onx_node(file, "ConstantOfShape", "v", "y");       as in onnx_writer.h
 *   no_way("import.size");                             an error with a name, in a moment and in little memory */
#ifndef TESTS_UNIT_ONNX_HOSTILE_RIG_H
#define TESTS_UNIT_ONNX_HOSTILE_RIG_H

#include "tests/unit/run_util.h"

#include "import/import.h"
#include "tests/unit/onnx_writer.h"

enum { MOST_MEMORY = 64 << 20 };

static onx *file;
static size_t live, peak;

static inline void *
counted(void *user, void *p, size_t old_size, size_t new_size)
{
	live += new_size - (p != NULL ? old_size : 0);
	peak = live > peak ? live : peak;
	return rig_heap(user, p, old_size, new_size);
}

static inline int
setup(void **state)
{
	file = calloc(1, sizeof *file);
	onx_begin(file);
	(void)rig_setup(state);
	qn_arena_release(&rg->arena);
	live = peak = 0;
	rg->env.alloc = counted;
	qn_arena_init(&rg->arena, &rg->env);
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	return 0;
}

static inline int
teardown(void **state)
{
	free(file);
	return rig_teardown(state);
}

static inline qn_status
import_from(const char *folder)
{
	const qn_import_how how = {0};
	size_t n;
	const uint8_t *bytes = onx_end(file, 13, &n);

	return qn_onnx_read(&rg->m, "f.onnx", folder, qn_arena_copy(&rg->arena, bytes, n), n, &how);
}

/* An error of this id, with little memory. */
static inline void
no_way(const char *id)
{
	assert_int_not_equal(import_from(NULL), QN_OK);
	assert_true(rg->diags.n > 0);
	assert_string_equal(rg->diags.item[0].id, id);
	assert_true(peak < MOST_MEMORY);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
