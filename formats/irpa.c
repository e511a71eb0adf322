/* SPDX-License-Identifier: Apache-2.0 */
/* irpa.c - reads IREE's parameter archives, version 0 (runtime/src/iree/schemas/parameter_archive.h).
 *
 *   header   "IRPA" u16 0, 0; u64 88, next header, flags, entries; entry, metadata, storage segment: u64 offset, length
 *   entry    u64 size, u32 type, u64 flags, name, metadata: u64 offset, length; u64 alignment; then
 *            splat: u64 length, 16 bytes, u8 of them     data: storage     external: path, range: offsets and lengths
 *
 * Offsets count from the start of their header, those of names and metadata from that of their
 * segment.  Entries begin at multiples of 16.  Element type and shape are in an entry's metadata, as
 * JSON; without it an entry is an array of bytes. */
#include <string.h>

#include "formats/file.h"
#include "formats/theta.h"
#include "ir/diag.h"

enum {
	HEADER = 88,
	ENTRY = 60,
	SPLAT = 85,
	DATA = 76,
	EXTERNAL = 92,
	FILL_MOST = 1 << 30, /* bytes of a splat, or of data with its padding */
	CHAIN_MOST = 1024
};

typedef enum kind { KIND_SKIP, KIND_SPLAT, KIND_DATA, KIND_EXTERNAL, NKIND } kind;

typedef struct segment {
	const uint8_t *data;
	uint64_t n;
} segment;

typedef struct reader {
	qn_archive_data *raw;
	qn_env *env;
	const char *place;
	segment file, metadata, storage;
	uint64_t filled; /* bytes of splats and padding so far */
} reader;

static uint64_t
u64_at(const uint8_t *p, size_t offset)
{
	return qn_little_get(p + offset, 8);
}

/* A part of a segment; false: it is not inside. */
static bool
part(segment of, uint64_t offset, uint64_t length, segment *out)
{
	if (offset > of.n || length > of.n - offset)
		return false;
	*out = (segment){of.data + offset, length};
	return true;
}

static qn_status
take(const reader *r, segment of, const char *what, uint64_t offset, uint64_t length, segment *out)
{
	if (part(of, offset, length, out))
		return QN_OK;
	return qn_report(r->env, QN_EINVALID, "irpa.range", r->place,
			 "%s: bytes %llu and %llu more, of %llu", what, (unsigned long long)offset,
			 (unsigned long long)length, (unsigned long long)of.n);
}

/* Counts bytes that are not in the file; false: there are too many. */
static bool
may_fill(reader *r, uint64_t n)
{
	if (n > FILL_MOST - r->filled)
		return false;
	r->filled += n;
	return true;
}

/* ---- what the metadata says ---- */

/* {"type": "Tensor", "dtype": "float16", "shape": [2, 3]}, after a word and ':'; false: something
 * else. */
static bool
typed(qn_arena *a, segment text, const qn_dtype **dtype, int32_t *rank, int64_t *dim)
{
	const char *s = (const char *)text.data;
	const char *open = text.n > 0 ? memchr(s, '{', (size_t)text.n) : NULL, *where;
	qn_json_doc doc;
	qn_diag_mark mark = qn_diag_mark_now(a->env);

	if (open == NULL || open - s > 16)
		return false;
	const size_t n = (size_t)(text.n - (uint64_t)(open - s));
	if (qn_json_lex(open, n, &where) != NULL)
		return false;
	if (qn_json_tree(a, "", open, n, NULL, &doc) != QN_OK) {
		qn_diag_forget(a->env, mark); /* foreign metadata is ignored */
		return false;
	}
	const qn_json *type = qn_json_find(doc.root, "dtype");
	const qn_json *shape = qn_json_find(doc.root, "shape");
	if (type == NULL || type->kind != QN_JSON_STRING || shape == NULL ||
	    shape->kind != QN_JSON_ARRAY || shape->n > QN_MAX_RANK)
		return false;
	for (size_t i = 0; i < shape->n; i++)
		if (!qn_json_i64(&shape->child[i], &dim[i]) || dim[i] < 0)
			return false;
	*dtype = qn_dtype_by_torch(type->string);
	*rank = (int32_t)shape->n;
	return *dtype != NULL && qn_layout_count(*rank, dim, (*dtype)->bytes) >= 0;
}

/* The bytes as they are, or with zeros up to the size that the metadata asks for. */
static qn_status
put(reader *r, const char *name, segment text, segment bytes)
{
	const qn_dtype *dtype = qn_dtype_by_name("u8");
	int64_t dim[QN_MAX_RANK] = {(int64_t)bytes.n};
	int32_t rank = 1;

	if (!typed(r->raw->arena, text, &dtype, &rank, dim)) {
		dtype = qn_dtype_by_name("u8");
		rank = 1;
		dim[0] = (int64_t)bytes.n;
	}
	const uint64_t want = (uint64_t)qn_layout_count(rank, dim, dtype->bytes);
	if (want < bytes.n || (want > bytes.n && !may_fill(r, want)))
		return qn_report(r->env, QN_EINVALID, "irpa.size", r->place,
				 "%llu bytes of data, but its type and shape need %llu",
				 (unsigned long long)bytes.n, (unsigned long long)want);
	if (want > bytes.n) {
		uint8_t *padded = QN_NEW(r->raw->arena, uint8_t, (size_t)want);

		if (bytes.n > 0)
			memcpy(padded, bytes.data, (size_t)bytes.n);
		bytes.data = padded;
	}
	const qn_layout_tensor t = qn_layout_plain(dtype, rank, dim, bytes.data);
	qn_named_tensor *old = qn_archive_change(r->raw, name);
	if (old != NULL) /* of two entries with one name the last counts */
		old->t = t;
	else
		(void)qn_archive_put(r->raw, name, &t);
	return QN_OK;
}

/* ---- entries ---- */

static qn_status
splat(reader *r, const uint8_t *e, segment *out)
{
	const uint64_t length = u64_at(e, ENTRY), each = e[ENTRY + 24];

	if ((each != 1 && each != 2 && each != 4 && each != 8 && each != 16) || length % each != 0)
		return qn_report(r->env, QN_EINVALID, "irpa.splat", r->place,
				 "a pattern of %llu bytes for %llu (expected 1, 2, 4, 8 or 16, "
				 "which divide them)",
				 (unsigned long long)each, (unsigned long long)length);
	if (!may_fill(r, length))
		return qn_report(r->env, QN_EUNSUPPORTED, "irpa.splat", r->place,
				 "%llu bytes of one pattern (at most %d in all are read)",
				 (unsigned long long)length, FILL_MOST);
	uint8_t *data = QN_NEW(r->raw->arena, uint8_t, (size_t)length);
	for (uint64_t i = 0; i < length; i += each)
		memcpy(data + i, e + ENTRY + 8, (size_t)each);
	*out = (segment){data, length};
	return QN_OK;
}

static qn_status
external(reader *r, const uint8_t *e, segment *out)
{
	qn_arena *a = r->raw->arena;
	const char *folder = qn_path_folder(a, r->raw->place), *wrong = NULL, *data = NULL;
	segment path = {0}, file;
	size_t n = 0;

	QN_TRY(take(r, r->metadata, "the path", u64_at(e, ENTRY), u64_at(e, ENTRY + 8), &path));
	const char *name = qn_arena_strn(a, (const char *)path.data, (size_t)path.n);
	const char *full = qn_path_named(a, folder, r->raw->place, name, &wrong);
	if (full == NULL)
		return qn_report(r->env, QN_EINVALID, "irpa.external", r->place, "'%s': %s", name,
				 wrong);
	QN_TRY(qn_file_map(a, full, &data, &n));
	file = (segment){(const uint8_t *)data, n};
	return take(r, file, "the part of the other file", u64_at(e, ENTRY + 16),
		    u64_at(e, ENTRY + 24), out);
}

static qn_status
entry_bytes(reader *r, const uint8_t *e, kind k, segment *out)
{
	if (k == KIND_SPLAT)
		return splat(r, e, out);
	if (k == KIND_EXTERNAL)
		return external(r, e, out);
	return take(r, r->storage, "the data", u64_at(e, ENTRY), u64_at(e, ENTRY + 8), out);
}

static qn_status
entry(reader *r, const uint8_t *e, uint64_t size)
{
	static const uint64_t least[NKIND] = {ENTRY, SPLAT, DATA, EXTERNAL};
	const uint64_t type = qn_little_get(e + 8, 4);
	segment name = {0}, text = {0}, bytes = {0};

	if (type == KIND_SKIP)
		return QN_OK;
	if (type >= NKIND) {
		qn_warn(r->env, "irpa.type", r->place, "an entry of unknown type %llu is left out",
			(unsigned long long)type);
		return QN_OK;
	}
	if (size < least[type])
		return qn_report(r->env, QN_EINVALID, "irpa.entry", r->place,
				 "an entry of %llu bytes (its type needs %llu)",
				 (unsigned long long)size, (unsigned long long)least[type]);
	QN_TRY(take(r, r->metadata, "the name of an entry", u64_at(e, 20), u64_at(e, 28), &name));
	if (name.n == 0 || name.n > 65535 || memchr(name.data, '\0', (size_t)name.n) != NULL)
		return qn_report(r->env, QN_EINVALID, "irpa.name", r->place,
				 "the name of an entry has %llu bytes, or a NUL",
				 (unsigned long long)name.n);
	const char *n = qn_arena_strn(r->raw->arena, (const char *)name.data, (size_t)name.n);
	r->place = qn_archive_at(r->raw->arena, r->raw->place, "entry", n);
	QN_TRY(take(r, r->metadata, "the metadata", u64_at(e, 36), u64_at(e, 44), &text));
	QN_TRY(entry_bytes(r, e, (kind)type, &bytes));
	return put(r, n, text, bytes);
}

/* ---- headers ---- */

static qn_status
entries(reader *r, segment all, uint64_t count)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < count; i++) {
		r->place = r->raw->place;
		if (at > all.n || all.n - at < ENTRY)
			return qn_report(r->env, QN_EINVALID, "irpa.entry", r->place,
					 "entry %llu of %llu is beyond the segment of %llu bytes",
					 (unsigned long long)i, (unsigned long long)count,
					 (unsigned long long)all.n);
		const uint64_t size = u64_at(all.data, (size_t)at);
		if (size < ENTRY || size > all.n - at)
			return qn_report(r->env, QN_EINVALID, "irpa.entry", r->place,
					 "entry %llu has %llu bytes (expected %d to %llu)",
					 (unsigned long long)i, (unsigned long long)size, ENTRY,
					 (unsigned long long)(all.n - at));
		QN_TRY(entry(r, all.data + at, size));
		at = (at + size + 15) / 16 * 16;
	}
	return QN_OK;
}

static qn_status
check_header(const reader *r, const uint8_t *h)
{
	if (memcmp(h, "IRPA", 4) != 0)
		return qn_report(r->env, QN_EINVALID, "irpa.magic", r->place,
				 "the header does not begin with IRPA");
	if (qn_little_get(h + 4, 4) != 0)
		return qn_report(r->env, QN_EUNSUPPORTED, "irpa.version", r->place,
				 "version %u.%u (expected 0.0)", (unsigned)qn_little_get(h + 4, 2),
				 (unsigned)qn_little_get(h + 6, 2));
	if (u64_at(h, 8) != HEADER)
		return qn_report(r->env, QN_EINVALID, "irpa.header", r->place,
				 "a header of %llu bytes (expected 88)",
				 (unsigned long long)u64_at(h, 8));
	return QN_OK;
}

/* One archive of the chain; *next: the offset of the next one from this one's start, 0: none. */
static qn_status
archive(reader *r, segment from, uint64_t *next)
{
	const uint8_t *h = from.data;
	segment all = {0};

	if (from.n < HEADER)
		return qn_report(r->env, QN_EINVALID, "irpa.truncated", r->place,
				 "%llu bytes are fewer than a header's 88",
				 (unsigned long long)from.n);
	QN_TRY(check_header(r, h));
	*next = u64_at(h, 16);
	QN_TRY(take(r, from, "the segment of entries", u64_at(h, 40), u64_at(h, 48), &all));
	QN_TRY(take(r, from, "the segment of metadata", u64_at(h, 56), u64_at(h, 64),
		    &r->metadata));
	QN_TRY(take(r, from, "the segment of storage", u64_at(h, 72), u64_at(h, 80), &r->storage));
	if (u64_at(h, 32) > all.n / ENTRY)
		return qn_report(r->env, QN_EINVALID, "irpa.entry", r->place,
				 "%llu entries in a segment of %llu bytes",
				 (unsigned long long)u64_at(h, 32), (unsigned long long)all.n);
	return entries(r, all, u64_at(h, 32));
}

qn_status
qn_irpa_read(qn_archive_data *d, const char *data, size_t n)
{
	qn_archive_data raw;
	reader r = {.raw = &raw,
		    .env = d->arena->env,
		    .place = d->place,
		    .file = {(const uint8_t *)data, n}};
	segment at = r.file;
	uint64_t next = 0;

	qn_archive_init(&raw, d->arena, d->format, d->place);
	for (int i = 0;; i++) {
		r.place = d->place;
		QN_TRY(archive(&r, at, &next));
		if (next == 0)
			break;
		r.place = d->place;
		if (i == CHAIN_MOST || next % 16 != 0)
			return qn_report(
				r.env, QN_EINVALID, "irpa.header", d->place,
				"the next header at %llu is not a multiple of 16, or there "
				"are more than %d",
				(unsigned long long)next, CHAIN_MOST);
		QN_TRY(take(&r, at, "the next header", next, at.n - (next < at.n ? next : at.n),
			    &at));
	}
	return qn_theta_fold(&raw, d);
}
