/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_import.h - what must hold of the reader of any foreign format.
 *
 *   bytes ──read──▶ an error that says what is wrong
 *                 ▶ a graph: rules kept, comes back from its text; a small one runs and compiles
 *
 * And memory: 64 times the bytes and 64 MB at most. */
#ifndef QN_TESTS_FUZZ_IMPORT_H
#define QN_TESTS_FUZZ_IMPORT_H

#include "tests/fuzz/fuzz.h"

#include "import/import.h"
#include "tests/fuzz/fuzz_model.h"

typedef qn_status fuzz_read_fn(qn_model *m, const void *data, size_t n, const qn_import_how *how);

/* By the last bit of the bytes: an already quantized file as its real values. */
static inline qn_import_how
fuzz_how(const void *data, size_t size)
{
	return (qn_import_how){.from_float =
				       size > 0 && (((const uint8_t *)data)[size - 1] & 1) != 0};
}

static inline void
fuzz_import(fuzz *f, fuzz_read_fn *read, const void *data, size_t size)
{
	qn_model *m = fuzz_model(f), *again = fuzz_model(f);
	const qn_import_how how = fuzz_how(data, size);
	qn_buf text, twice;

	f->bounded = true;
	qn_status status = read(m, data, size, &how);
	f->bounded = false;
	FUZZ_CHECK(f->live <= 64 * size + (64 << 20));
	if (status != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	status = qn_model_verify(m);
	for (size_t i = 0; status != QN_OK && i < f->diags.n; i++)
		fprintf(stderr, "%s: %s: %s\n", f->diags.item[i].place, f->diags.item[i].id,
			f->diags.item[i].message);
	FUZZ_CHECK(status == QN_OK);
	qn_buf_init(&text, &f->arena);
	qn_model_print(&text, m);
	if (text.n > 1 << 20)
		return;
	FUZZ_CHECK(qn_model_parse(again, "y", text.data, text.n) == QN_OK);
	qn_buf_init(&twice, &f->arena);
	qn_model_print(&twice, again);
	FUZZ_CHECK(text.n == twice.n && memcmp(text.data, twice.data, text.n) == 0);
}

/* The whole target; end: of the file's name, by which the program knows the format. */
static inline void
fuzz_import_run(fuzz_fn *target, const char *end, const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	fuzz_model_run(end, data, size);
}

#endif
