/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - sources by file extension: .npy, .npz, .pb (or a folder of them), .bin, .csv, and what calibrate/folder.c
 * reads. */
#include "calibrate/open.h"

#include <string.h>

#include "formats/csv.h"
#include "formats/dtype.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/pb.h"
#include "ir/diag.h"
#include "runtime/parallel.h"

typedef struct opening {
	qn_types *t;
	qn_arena *a;
	const char *path;
	const qn_open_opts *o;
	size_t index; /* of the source that is wanted, */
	size_t n;     /* of that many */
	const qn_source **out;
} opening;

/* Adds the source, after its preprocessing. */
static qn_status
add(opening *p, const qn_source *s)
{
	return qn_source_scaled(p->t, p->a, s, &p->o->prep, p->out);
}

static qn_status
add_tensor(opening *p, const qn_tensor *x, const char *place, const char *input)
{
	if (x->type->rank < 1)
		return qn_report(
			p->a->env, QN_EINVALID, "data.shape", place,
			"a single number is not supported; dimension 0 of an array counts samples");
	qn_source *s = qn_source_tensor(p->a, x, place);
	s->input = input;
	return add(p, s);
}

static qn_status
open_npy(opening *p)
{
	qn_tensor *x = NULL;

	QN_TRY(qn_npy_read(p->t, p->a, p->path, &x));
	return add_tensor(p, x, p->path, NULL);
}

static qn_status
open_pb(opening *p)
{
	qn_tensor *x = NULL;

	QN_TRY(qn_pb_read(p->t, p->a, p->path, &x));
	return add_tensor(p, x, p->path, NULL);
}

/* A folder of ONNX's test data, one tensor for each input in order. */
static qn_status
open_test_data(opening *p, size_t n)
{
	const char *path = qn_folder_test_data(p->a, p->path, p->index);
	qn_tensor *x = NULL;

	p->n = n;
	QN_TRY(qn_pb_read(p->t, p->a, path, &x));
	return add_tensor(p, x, path, NULL);
}

static qn_status
open_npz(opening *p)
{
	const char *data = NULL;
	size_t n = 0;
	size_t count = 0;
	qn_npz_member *m = NULL;

	QN_TRY(qn_file_map(p->a, p->path, &data, &n));
	QN_TRY(qn_npz_parse(p->t, p->a, p->path, data, n, p->index, &count, &m));
	p->n = count;
	return add_tensor(p, m[p->index].tensor, p->path, m[p->index].name);
}

/* The type of n samples of the shape that the options give. */
static const qn_type *
samples_type(const opening *p, qn_plain plain, size_t n)
{
	int64_t dim[QN_MAX_RANK] = {(int64_t)n};

	memcpy(dim + 1, p->o->dim, (size_t)p->o->rank * sizeof dim[0]);
	return qn_type_plain(p->t, plain, p->o->rank + 1, dim);
}

const char *
qn_dtype_hint(const qn_open_opts *o)
{
	return o->has_dtype ? "" : "; f32 is the default, give another element type with --dtype";
}

static qn_status
shape_needed(const opening *p)
{
	return qn_report(p->a->env, QN_EUSAGE, "data.shape-needed", p->path,
			 "a .bin file has no shape; give the shape of one sample, for example "
			 "--shape 28,28,1 (and --dtype, unless it is f32)");
}

static qn_status
open_bin(opening *p)
{
	qn_plain plain = p->o->has_dtype ? p->o->dtype : QN_PLAIN_f32;
	const char *data = NULL;
	size_t n = 0;

	if (!p->o->has_shape)
		return shape_needed(p);
	size_t each = qn_type_bytes(samples_type(p, plain, 1));
	QN_TRY(qn_file_map(p->a, p->path, &data, &n));
	if (each == 0 || n % each != 0)
		return qn_report(
			p->a->env, QN_EINVALID, "data.size", p->path,
			"%zu bytes are not a multiple of the sample size of %zu bytes (%s)%s", n,
			each, qn_plain_table[plain].name, qn_dtype_hint(p->o));
	return add_tensor(p, qn_tensor_view_file(p->a, samples_type(p, plain, n / each), data),
			  p->path, NULL);
}

static qn_status
fetch_csv(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	return qn_csv_read(s->user, tmp->env, index, dst);
}

/* How a table was read, which may not be what was meant. */
static const char *
table_text(qn_arena *a, const qn_csv *c)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, " (a table of %zu column%s", c->columns, c->columns == 1 ? "" : "s");
	if (c->columns > 1)
		qn_buff(&b, c->separator == '\t' ? " separated by tabs" : " separated by '%c'",
			c->separator);
	qn_buf_puts(&b, c->header != NULL ? ", after a header line)" : ", without a header line)");
	return qn_buf_str(&b);
}

static qn_status
open_csv(opening *p)
{
	qn_csv *c = QN_NEW(p->a, qn_csv, 1);
	qn_source *s = QN_NEW(p->a, qn_source, 1);
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(p->a, p->path, &data, &n));
	QN_TRY(qn_csv_index(p->a, p->path, data, n, c));
	const int64_t dim[] = {(int64_t)c->rows, (int64_t)c->columns};
	*s = (qn_source){.type = qn_type_plain(p->t, QN_PLAIN_f32, 2, dim),
			 .name = p->path,
			 .fit = QN_FIT_COUNT,
			 .fetch = fetch_csv,
			 .user = c};
	s->read_as = table_text(p->a, c);
	if (p->o->has_shape) {
		s->type = samples_type(p, QN_PLAIN_f32, c->rows);
		s->fit = QN_FIT_SHAPE;
		if (qn_type_count(s->type) != dim[0] * dim[1])
			return qn_report(p->a->env, QN_EINVALID, "data.size", p->path,
					 "a row has %zu numbers%s, but --shape says %zu",
					 c->columns, s->read_as,
					 qn_source_bytes(s) / sizeof(float));
	}
	return add(p, s);
}

static qn_status
open_folder(opening *p)
{
	const qn_source *s = NULL;

	QN_TRY(qn_source_folder(p->t, p->a, p->path, p->o->prep.channels_first, &s));
	return add(p, s);
}

/* With a shape the files are raw bytes. */
static qn_status
open_folder_bin(opening *p)
{
	const qn_source *s = NULL;

	if (!p->o->has_shape)
		return shape_needed(p);
	QN_TRY(qn_source_folder_bin(p->t, p->a, p->path, p->o, &s));
	return add(p, s);
}

/* Options that would change nothing are a mistake. */
static qn_status
check_options(const opening *p, bool takes_shape, bool takes_dtype)
{
	if (p->o->has_shape && !takes_shape)
		return qn_report(p->a->env, QN_EUSAGE, "data.option", p->path,
				 "this source has its own shape; --shape is for .bin, folders of "
				 ".bin, and .csv");
	if (p->o->has_dtype && !takes_dtype)
		return qn_report(p->a->env, QN_EUSAGE, "data.option", p->path,
				 "this source has its own element type; --dtype is for .bin");
	return QN_OK;
}

/* A name without a known end: a folder, or a NumPy file by its first bytes. */
static qn_status
open_other(opening *p)
{
	const char *data = NULL;
	size_t n = 0;

	if (qn_folder_is(p->path) && (n = qn_folder_count_test_data(p->a, p->path)) > 0) {
		QN_TRY(check_options(p, false, false));
		return open_test_data(p, n);
	}
	if (qn_folder_is(p->path) && !p->o->has_shape && !p->o->has_dtype)
		return open_folder(p);
	if (qn_folder_is(p->path))
		return open_folder_bin(p);
	QN_TRY(check_options(p, false, false));
	QN_TRY(qn_file_map(p->a, p->path, &data, &n));
	if (n >= 6 && memcmp(data, "\x93NUMPY", 6) == 0)
		return open_npy(p);
	return qn_report(
		p->a->env, QN_EINVALID, "data.format", p->path,
		"unknown kind of samples (expected .npy, .npz, .csv, .bin with --shape, .pb, "
		".png, .jpg, .pgm, .ppm, .wav, .txt for a language model, or a folder of images, "
		"audio "
		"files or .bin, or of test data: input_0.pb, input_1.pb …)");
}

qn_status
qn_source_open(qn_types *t, qn_arena *a, const char *path, const qn_open_opts *o, size_t index,
	       size_t *n, const qn_source **out)
{
	static const struct {
		const char *end;
		qn_status (*open)(opening *p);
		bool takes_shape, takes_dtype;
	} rows[] = {
		{".npy", open_npy, false, false},    {".npz", open_npz, false, false},
		{".bin", open_bin, true, true},      {".csv", open_csv, true, false},
		{".pb", open_pb, false, false},      {".png", open_folder, false, false},
		{".jpg", open_folder, false, false}, {".jpeg", open_folder, false, false},
		{".pgm", open_folder, false, false}, {".ppm", open_folder, false, false},
		{".pnm", open_folder, false, false}, {".wav", open_folder, false, false},
		{"", open_other, true, true},
	};
	opening p = {.t = t, .a = a, .path = path, .o = o, .index = index, .n = 1, .out = out};
	size_t i = 0;

	while (!qn_name_ends(path, rows[i].end))
		i++;
	QN_TRY(check_options(&p, rows[i].takes_shape, rows[i].takes_dtype));
	QN_TRY(rows[i].open(&p));
	*n = p.n;
	return QN_OK;
}

/* ---- the host's samples ---- */

typedef struct host {
	qn_sample_fn *fn;
	void *user;
	qn_lock *lock;
} host;

static qn_status
fetch_host(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const host *h = s->user;

	qn_lock_acquire(h->lock);
	int code = h->fn(h->user, index, dst);
	qn_lock_release(h->lock);
	if (code == 0)
		return QN_OK;
	return qn_report(tmp->env, QN_EIO, "data.callback", s->name,
			 "the host program has no sample %zu: its function returned %d", index,
			 code);
}

qn_source *
qn_source_host(qn_arena *a, const qn_type *type, const char *name, qn_sample_fn *fn, void *user)
{
	host *h = QN_NEW(a, host, 1);
	qn_source *s = QN_NEW(a, qn_source, 1);

	*h = (host){fn, user, qn_lock_new(a)};
	*s = (qn_source){.type = type, .name = name, .fetch = fetch_host, .user = h};
	return s;
}
