/* SPDX-License-Identifier: Apache-2.0 */
/* samples_rig.h - for tests of samples through the public interface: a context with threads, a folder of
 * its own, and the digits' samples. */
#ifndef QN_TESTS_SAMPLES_RIG_H
#define QN_TESTS_SAMPLES_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "quern/quern.h"
#include "tests/unit/sample_files.h"

enum { SAMPLES = 200, PIXELS = 64, MOST = 8 };

typedef struct world {
	qn_ctx *ctx;
	char folder[64], path[256];
	float pixels[SAMPLES * PIXELS];
} world;

static inline const char *
digits(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof path, "%s/examples/digits/%s", getenv("QUERN_SOURCE"), name);
	return path;
}

static inline const char *
in_folder(world *w, const char *name)
{
	(void)snprintf(w->path, sizeof w->path, "%s/%s", w->folder, name);
	return w->path;
}

static inline void
write_file(world *w, const char *name, const void *data, size_t n)
{
	FILE *f = fopen(in_folder(w, name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static inline int
setup(void **state)
{
	world *w = calloc(1, sizeof *w);
	qn_array *x;

	w->ctx = qn_open(&(qn_config){.threads = 3});
	(void)snprintf(w->folder, sizeof w->folder, "/tmp/quern-samples-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	assert_int_equal(qn_array_load(w->ctx, digits("calib.npy"), &x), QN_OK);
	memcpy(w->pixels, qn_array_data(x), sizeof w->pixels);
	*state = w;
	return 0;
}

static inline int
teardown(void **state)
{
	world *w = *state;
	char command[128];

	qn_close(w->ctx);
	(void)snprintf(command, sizeof command, "rm -rf '%s'", w->folder);
	assert_int_equal(system(command), 0);
	free(w);
	return 0;
}

static inline const char *
id(world *w, size_t i)
{
	return i < qn_diag_count(w->ctx) ? qn_diag_get(w->ctx, i).id : "";
}

static inline void
show(world *w)
{
	for (size_t i = 0; i < qn_diag_count(w->ctx); i++) {
		qn_diagnostic d = qn_diag_get(w->ctx, i);

		print_message("%s: %s [%s]\n", d.place, d.message, d.id);
	}
}

static inline int
append(void *user, const char *text, size_t n)
{
	bytes *b = user;
	static const char head[] = "model ";

	if (b->n == 0 && n > sizeof head && memcmp(text, head, sizeof head - 1) == 0) {
		size_t line = strcspn(text, "\n"); /* holds the files' names and check sums */

		text += line;
		n -= line;
	}
	put_bytes(b, text, n);
	return 0;
}

/* The calibrated digits as text, without the line that names the data. */
static inline qn_status
scales_of(world *w, size_t n, qn_array *const *x, bytes *text)
{
	qn_model *m;

	text->n = 0;
	assert_int_equal(qn_load(w->ctx, digits("digits.json"), &m), QN_OK);
	qn_status status = qn_compile(
		m, &(qn_compile_opts){.calib = x, .ncalib = n, .stop_after = "calibrate"});
	if (status == QN_OK)
		assert_int_equal(qn_print(m, QN_FORMAT_IR, append, text), QN_OK);
	qn_model_free(m);
	return status;
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
