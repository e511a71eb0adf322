/* SPDX-License-Identifier: Apache-2.0 */
/* npz.c - see npz.h; the one file that includes libzip.
 *
 *   x.npz:  x.npy (deflated)  y.npy (stored)   ──▶   {"x", tensor}, {"y", tensor}
 *
 * libzip's own memory is the C library's and is freed when the arena is released, or before. */
#include "formats/npz.h"

#include "formats/npy.h"
#include "ir/diag.h"
#include "ir/limits.h"

#ifdef QN_HAVE_ZIP

#include <string.h>
#include <zip.h>

typedef struct archive {
	zip_t *zip;
	zip_file_t *file; /* the member that is being read */
	qn_arena *arena;
	const char *place;
	uint64_t total; /* bytes of the members so far, */
	uint64_t
		room; /* and what they may be: a few deflated ones become a thousand times as many */
	size_t only;  /* index of the array that is wanted */
	size_t n;     /* arrays so far */
} archive;

static void
close_member(archive *z)
{
	if (z->file != NULL)
		(void)zip_fclose(z->file);
	z->file = NULL;
}

static void
drop(void *ptr)
{
	archive *z = ptr;

	close_member(z);
	if (z->zip != NULL)
		zip_discard(z->zip);
	z->zip = NULL;
}

static qn_status
fail(archive *z, const char *id, const char *place, zip_error_t *e)
{
	qn_status status = qn_report(z->arena->env, QN_EINVALID, id, place, "%s",
				     e != NULL ? zip_error_strerror(e) : "the archive is damaged");
	if (e != NULL)
		zip_error_fini(e);
	return status;
}

static qn_status
open_archive(archive *z, const char *data, size_t n)
{
	zip_error_t e;

	zip_error_init(&e);
	zip_source_t *source = zip_source_buffer_create(data, n, 0, &e);
	if (source == NULL)
		return fail(z, "npz.archive", z->place, &e);
	z->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &e);
	if (z->zip == NULL) {
		zip_source_free(source);
		return fail(z, "npz.archive", z->place, &e);
	}
	zip_error_fini(&e);
	return QN_OK;
}

/* What the member says it needs, against what it may. */
static qn_status
check_member(archive *z, const zip_stat_t *s, const char *place)
{
	const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
	uint64_t most = qn_limit(z->arena->env, QN_LIMIT_BYTES);

	if ((s->valid & needed) != needed)
		return fail(z, "npz.archive", place, NULL);
	if ((s->comp_method != ZIP_CM_STORE && s->comp_method != ZIP_CM_DEFLATE) ||
	    ((s->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && s->encryption_method != ZIP_EM_NONE))
		return qn_report(
			z->arena->env, QN_EUNSUPPORTED, "npz.member", place,
			"compression method %u%s; NumPy stores or deflates, without a password",
			(unsigned)s->comp_method,
			s->comp_method <= ZIP_CM_DEFLATE ? " with encryption" : "");
	if (s->size > most || z->total > most - s->size)
		return qn_limit_report(z->arena->env, QN_LIMIT_BYTES, place, s->size + z->total);
	if (s->size > z->room || z->total > z->room - s->size)
		return qn_report(
			z->arena->env, QN_EINVALID, "npz.size", place,
			"the arrays need %llu bytes, and this archive may need at most %llu: "
			"64 MiB, and 64 times its size; save them without compression "
			"(numpy.savez), or as .npy",
			(unsigned long long)(s->size + z->total), (unsigned long long)z->room);
	z->total += s->size;
	return QN_OK;
}

/* Exactly size bytes, and then the end: libzip compares the checksum there. */
static bool
read_all(zip_file_t *f, char *data, uint64_t size)
{
	uint64_t have = 0;
	char more;

	while (have < size) {
		zip_int64_t k = zip_fread(f, data + have, size - have);

		if (k <= 0)
			return false;
		have += (uint64_t)k;
	}
	return zip_fread(f, &more, 1) == 0;
}

static qn_status
read_member(archive *z, qn_types *t, zip_uint64_t i, qn_npz_member *out)
{
	zip_stat_t s;

	zip_stat_init(&s);
	if (zip_stat_index(z->zip, i, 0, &s) != 0 || (s.valid & ZIP_STAT_NAME) == 0)
		return fail(z, "npz.archive", z->place, NULL);
	size_t n = strlen(s.name);
	if (n <= 4 || strcmp(s.name + n - 4, ".npy") != 0)
		return QN_OK; /* no array */
	qn_buf b;
	qn_buf_init(&b, z->arena);
	qn_buff(&b, "%s/%s", z->place, s.name);
	const char *place = qn_buf_str(&b);
	QN_TRY(check_member(z, &s, place));
	out->name = qn_arena_strn(z->arena, s.name, n - 4);
	if (z->n++ != z->only && z->only != QN_NPZ_ALL)
		return QN_OK;
	char *data = qn_arena_alloc(z->arena, s.size > 0 ? (size_t)s.size : 1, 1);
	z->file = zip_fopen_index(z->zip, i, 0);
	bool whole = z->file != NULL && read_all(z->file, data, s.size);
	close_member(z);
	if (!whole)
		return qn_report(z->arena->env, QN_EINVALID, "npz.member", place,
				 "this member cannot be decompressed: it is damaged");
	return qn_npy_parse(t, z->arena, place, data, (size_t)s.size, &out->tensor);
}

qn_status
qn_npz_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n, size_t only,
	     size_t *count, qn_npz_member **out)
{
	archive *z = QN_NEW(a, archive, 1);
	qn_status status = QN_OK;

	*z = (archive){.arena = a, .place = place, .only = only, .room = qn_limit_expansion(n)};
	*count = 0;
	qn_arena_defer(a, drop, z);
	QN_TRY(open_archive(z, data, n));
	zip_int64_t entries = zip_get_num_entries(z->zip, 0);
	if (entries < 0 || entries > QN_NPZ_MOST)
		return qn_report(a->env, QN_EINVALID, "npz.size", place,
				 "%lld members; at most %d are supported", (long long)entries,
				 (int)QN_NPZ_MOST);
	*out = QN_NEW(a, qn_npz_member, (size_t)entries + 1);
	for (zip_int64_t i = 0; i < entries; i++) {
		qn_npz_member *m = &(*out)[*count];
		qn_status one = read_member(z, t, (zip_uint64_t)i, m);

		if (one != QN_OK)
			status = one;
		else if (m->name != NULL)
			++*count;
	}
	drop(z);
	if (status == QN_OK && *count == 0)
		return qn_report(a->env, QN_EINVALID, "npz.archive", place,
				 "the archive has no array: no member has the file extension .npy");
	return status;
}

#else

qn_status
qn_npz_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n, size_t only,
	     size_t *count, qn_npz_member **out)
{
	(void)t;
	(void)data;
	(void)n;
	(void)only;
	(void)out;
	*count = 0;
	return qn_report(
		a->env, QN_EUNSUPPORTED, "npz.support", place,
		"this Quern was built without libzip (Debian: libzip-dev) and cannot read .npz; "
		"save one .npy per input");
}

#endif
