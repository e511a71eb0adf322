/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_archive.h - any bytes as an archive of a format: what was read is checked, dequantized, written, and read again. */
#ifndef TESTS_FUZZ_FUZZ_ARCHIVE_H
#define TESTS_FUZZ_FUZZ_ARCHIVE_H

#include "formats/archive.h"
#include "tests/fuzz/fuzz.h"

typedef struct fuzz_format {
	const char *name;
	qn_archive_read_fn *read;
	qn_archive_prepare_fn *prepare;
	qn_archive_print_fn *print;
	bool takes_all; /* what is read can be written */
} fuzz_format;

/* false: the bytes are no archive, or it cannot be written, and a message said so. */
static inline bool
fuzz_archive(fuzz *f, const fuzz_format *format, const char *data, size_t size, qn_archive_data *d,
	     qn_archive_data *again)
{
	qn_archive_data ready;
	qn_buf b;

	qn_archive_init(d, &f->arena, format->name, "x");
	if (format->read(d, data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return false;
	}
	for (size_t i = 0; i < d->nproperty; i++)
		(void)qn_property_json(&f->arena, &d->property[i]);
	for (size_t i = 0; i < d->n; i++) {
		const qn_layout_tensor *t = &d->tensor[i].t;

		FUZZ_CHECK(qn_layout_check(&f->env, "t", t) == QN_OK);
		qn_layout_dequant(t, QN_NEW(&f->arena, float, (size_t)qn_layout_elements(t)));
	}
	if (format->prepare(&f->env, &f->arena, d, &ready) != QN_OK) {
		FUZZ_CHECK(!format->takes_all && fuzz_told(f));
		return false;
	}
	qn_buf_init(&b, &f->arena);
	format->print(&b, &ready);
	qn_archive_init(again, &f->arena, format->name, "y");
	FUZZ_CHECK(format->read(again, b.data, b.n) == QN_OK);
	FUZZ_CHECK(again->n == d->n);
	return true;
}

#endif
