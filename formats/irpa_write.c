/* SPDX-License-Identifier: Apache-2.0 */
/* irpa_write.c - the bytes of an IREE parameter archive: header, entries, names and metadata, data.
 *
 *   0      header, 88 bytes                     96     entries, at multiples of 16
 *          names and metadata, right after      then   data, at multiples of 64; up to a multiple of 4096 */
#include <string.h>

#include "formats/theta.h"

enum {
	HEADER = 88,
	FIRST = 96,
	ENTRY = 76,
	ENTRY_ALIGNMENT = 16,
	DATA = 64,
	FILE_ALIGNMENT = 4096
};
enum { KIND_DATA = 2 };

static void
put(qn_buf *b, size_t bytes, uint64_t v)
{
	uint8_t little[8];

	qn_little_put(little, bytes, v);
	qn_buf_put(b, (const char *)little, bytes);
}

static uint64_t
padded(uint64_t n, uint64_t alignment)
{
	return (n + alignment - 1) / alignment * alignment;
}

static void
pad(qn_buf *b, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		qn_buf_putc(b, 0);
}

/* What tells the type of an array, as iree-turbine and IREE's Python binding read it. */
static void
put_metadata(qn_buf *b, const qn_plane *p)
{
	const bool real = qn_dtype_is_float(p->dtype);
	double min, max, epsilon;
	qn_json_out o;

	qn_dtype_range(p->dtype, &min, &max, &epsilon);
	qn_buf_puts(b, "PYTORCH:");
	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(&o, "type", "Tensor");
	qn_json_put_string(&o, "dtype", p->dtype->torch);
	qn_json_open(&o, "shape", '[', QN_JSON_FLAT);
	for (int32_t i = 0; i < p->rank; i++)
		qn_json_put_i64(&o, NULL, p->dim[i]);
	qn_json_close(&o);
	qn_json_open(&o, "dtype_desc", '{', QN_JSON_FLAT);
	qn_json_put_string(&o, "class_name", "dtype");
	qn_json_put_bool(&o, "is_complex", false);
	qn_json_put_bool(&o, "is_floating_point", real);
	qn_json_put_bool(&o, "is_signed", min < 0);
	qn_json_put_i64(&o, "itemsize", p->dtype->bytes);
	qn_json_close(&o);
	qn_json_close(&o);
	b->n--; /* the newline */
}

/* Entries, and names with metadata, each counted from the start of its segment. */
static uint64_t
put_entries(const qn_archive_data *d, qn_buf *entries, qn_buf *names)
{
	uint64_t storage = 0;

	for (size_t i = 0; i < d->n; i++) {
		const qn_plane *p = &d->tensor[i].t.plane[0];
		const size_t length = strlen(d->tensor[i].name);
		const uint64_t name = names->n;

		qn_buf_put(names, d->tensor[i].name, length);
		const uint64_t metadata = names->n;
		if (qn_layout_meta(&d->tensor[i].t, "raw") == NULL)
			put_metadata(names, p);
		pad(entries, entries->n, padded(entries->n, ENTRY_ALIGNMENT));
		put(entries, 8, ENTRY);
		put(entries, 4, KIND_DATA);
		put(entries, 8, 0);
		put(entries, 8, name);
		put(entries, 8, length);
		put(entries, 8, names->n > metadata ? metadata : 0);
		put(entries, 8, names->n - metadata);
		put(entries, 8, DATA);
		storage = padded(storage, DATA);
		put(entries, 8, storage);
		put(entries, 8, p->bytes);
		storage += p->bytes;
	}
	return storage;
}

static void
add_text(qn_archive_data *d, const char *name, const char *text)
{
	const int64_t dim[] = {(int64_t)strlen(text)};
	qn_layout_tensor t = qn_layout_plain(qn_dtype_by_name("u8"), 1, dim, text);

	qn_layout_set_meta(&t, "raw", "true"); /* an array of bytes without metadata */

	(void)qn_archive_put(d, name, &t);
}

qn_status
qn_irpa_prepare(qn_env *env, qn_arena *a, const qn_archive_data *d, qn_archive_data *out)
{
	qn_theta_texts texts;

	QN_TRY(qn_theta_check(env, d));
	QN_TRY(qn_theta_prepare(env, a, d, out, &texts));
	add_text(out, "__SHARK_DATASET__", texts.dataset);
	add_text(out, "__SHARK_INFERENCE_TENSORS__", texts.tensors);
	return QN_OK;
}

void
qn_irpa_print(qn_buf *b, const qn_archive_data *d)
{
	qn_buf entries, names;

	qn_buf_init(&entries, b->arena);
	qn_buf_init(&names, b->arena);
	const uint64_t storage = put_entries(d, &entries, &names);
	const uint64_t metadata = FIRST + entries.n;
	const uint64_t data = padded(metadata + names.n, DATA);
	qn_buf_puts(b, "IRPA");
	put(b, 4, 0);
	put(b, 8, HEADER);
	put(b, 8, 0); /* no next header */
	put(b, 8, 0);
	put(b, 8, d->n);
	const uint64_t segments[] = {d->n > 0 ? FIRST : 0,       entries.n,
				     names.n > 0 ? metadata : 0, names.n,
				     storage > 0 ? data : 0,     storage};
	for (size_t i = 0; i < 6; i++)
		put(b, 8, segments[i]);
	pad(b, HEADER, FIRST);
	qn_buf_pass(b, entries.data, entries.n);
	qn_buf_pass(b, names.data, names.n);
	pad(b, metadata + names.n, data);
	uint64_t at = 0;
	for (size_t i = 0; i < d->n; i++) {
		const qn_plane *p = &d->tensor[i].t.plane[0];

		pad(b, at, padded(at, DATA));
		qn_buf_pass(b, (const char *)p->data, p->bytes);
		at = padded(at, DATA) + p->bytes;
	}
	pad(b, data + at, padded(data + at, FILE_ALIGNMENT));
}
