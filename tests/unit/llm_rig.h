/* SPDX-License-Identifier: Apache-2.0 */
/* llm_rig.h - a folder for the files of a test of language models, which is removed behind it.
 *
 *   cmocka_unit_test_setup_teardown(f, set_up, tear_down)        its state is a rig
 *   llm_file_write(r->ctx, &f, at(r, "x.gguf")); */
#ifndef TESTS_UNIT_LLM_RIG_H
#define TESTS_UNIT_LLM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "quern/measure.h"
#include "tests/unit/llm_files.h"

#define FOLDER "x-1.5"

typedef struct rig {
	qn_ctx *ctx;
	char folder[64];
} rig;

static inline int
set_up(void **state)
{
	rig *r = calloc(1, sizeof *r);

	(void)snprintf(r->folder, sizeof r->folder, "/tmp/quern-llm-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	r->ctx = qn_open(NULL);
	*state = r;
	return 0;
}

static inline int
tear_down(void **state)
{
	static const char *const files[] = {FOLDER "/config.json",
					    FOLDER "/model.safetensors",
					    FOLDER "/model.safetensors.index.json",
					    FOLDER "/part-0.safetensors",
					    FOLDER "/part-1.safetensors",
					    "x.gguf",
					    "y.gguf"};
	rig *r = *state;
	char path[128];

	qn_close(r->ctx);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", r->folder, files[i]);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof path, "%s/" FOLDER, r->folder);
	(void)rmdir(path);
	assert_int_equal(rmdir(r->folder), 0);
	free(r);
	return 0;
}

static inline const char *
at(const rig *r, const char *name)
{
	static char path[4][512];
	static int next;
	char *p = path[next++ % 4];

	(void)snprintf(p, sizeof path[0], "%s/%s", r->folder, name);
	return p;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
