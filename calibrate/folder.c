/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - images and audio as samples, one file each, decoded when they are read.
 *
 *   faces/0001.png faces/0002.jpg  ──▶  [2,h,w,c] of u8 or u16, or [2,c,h,w] with channels first
 *   words/yes.wav                  ──▶  [1,frames,channels] of f32
 *
 * The first file says what all have to be: height, width, channels and bits; frames, channels and
 * rate. */
#include <string.h>

#include "calibrate/open.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "formats/image.h"
#include "formats/wav.h"
#include "ir/diag.h"

/* What the dims of a file are; a dim of 0 ends them. */
typedef struct extent {
	int64_t dim[3];
	int64_t rate; /* of audio */
	bool wide;    /* pixels of 16 bits, not 8 */
} extent;

typedef struct kind {
	const char *what;
	const char *ends[6];
	int32_t rank;    /* of a sample */
	int32_t channel; /* index of the channels in dim, the others keep their order */
	/* Decodes a file: its extent, and with dst its values. */
	qn_status (*decode)(qn_arena *a, const char *path, const char *data, size_t n,
			    bool channels_first, const extent *want, extent *have, void *dst);
	void (*print)(qn_buf *b, const extent *e);
} kind;

typedef struct folder {
	const kind *kind;
	extent want;
	bool channels_first;
} folder;

/* Extents are compared by their bytes, those between members too. */
static bool
same_extent(const extent *a, const extent *b)
{
	return a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1] && a->dim[2] == b->dim[2] &&
	       a->wide == b->wide && a->rate == b->rate;
}

static void
set_extent(extent *e, int64_t first, int64_t second, int64_t third)
{
	memset(e, 0, sizeof *e);
	e->dim[0] = first;
	e->dim[1] = second;
	e->dim[2] = third;
}

/* ---- images ---- */

static qn_status
decode_image(qn_arena *a, const char *path, const char *data, size_t n, bool channels_first,
	     const extent *want, extent *have, void *dst)
{
	qn_image x = {0};

	QN_TRY(qn_image_decode(a, path, data, n, &x));
	set_extent(have, x.h, x.w, x.c);
	have->wide = x.wide;
	if (dst == NULL || !same_extent(have, want))
		return QN_OK;
	const int64_t positions = x.h * x.w;
	for (int64_t i = 0; i < positions; i++)
		for (int64_t c = 0; c < x.c; c++) {
			const int64_t to = channels_first ? c * positions + i : i * x.c + c;

			if (x.wide)
				((uint16_t *)dst)[to] = ((const uint16_t *)x.data)[i * x.c + c];
			else
				((uint8_t *)dst)[to] = ((const uint8_t *)x.data)[i * x.c + c];
		}
	return QN_OK;
}

static void
print_image(qn_buf *b, const extent *e)
{
	qn_buff(b, "height %lld, width %lld, %lld channels of %d bits", (long long)e->dim[0],
		(long long)e->dim[1], (long long)e->dim[2], e->wide ? 16 : 8);
}

/* ---- audio ---- */

static qn_status
decode_wav(qn_arena *a, const char *path, const char *data, size_t n, bool channels_first,
	   const extent *want, extent *have, void *dst)
{
	qn_wav w;

	QN_TRY(qn_wav_parse(a->env, path, data, n, &w));
	set_extent(have, w.frames, w.channels, 0);
	have->rate = w.rate;
	if (dst != NULL && same_extent(have, want))
		qn_wav_read(&w, channels_first, dst);
	return QN_OK;
}

static void
print_wav(qn_buf *b, const extent *e)
{
	qn_buff(b, "%lld frames, %lld channels, %lld frames per second", (long long)e->dim[0],
		(long long)e->dim[1], (long long)e->rate);
}

static const kind kinds[] = {
	{"images",
	 {".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".pnm"},
	 3,
	 2,
	 decode_image,
	 print_image},
	{"audio files", {".wav"}, 2, 1, decode_wav, print_wav},
};

static bool
is_of(const kind *k, const char *name)
{
	for (size_t i = 0; i < QN_COUNT(k->ends) && k->ends[i] != NULL; i++)
		if (qn_name_ends(name, k->ends[i]))
			return true;
	return false;
}

static bool
is_picture(const char *name)
{
	return is_of(&kinds[0], name);
}

static bool
is_sound(const char *name)
{
	return is_of(&kinds[1], name);
}

/* ---- both ---- */

static qn_status
wrong_size(const folder *f, const qn_source *s, size_t index, const extent *have, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "this file has ");
	f->kind->print(&b, have);
	qn_buff(&b, ", but '%s' has ", s->path[0]);
	f->kind->print(&b, &f->want);
	qn_buff(&b, "; all must be equal: crop or scale it");
	return qn_report(a->env, QN_EINVALID, "data.size", s->path[index], "%s", qn_buf_str(&b));
}

static qn_status
fetch_file(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const folder *f = s->user;
	const char *data = NULL;
	size_t n = 0;
	extent have = {0};

	QN_TRY(qn_file_map(tmp, s->path[index], &data, &n));
	QN_TRY(f->kind->decode(tmp, s->path[index], data, n, f->channels_first, &f->want, &have,
			       dst));
	return same_extent(&have, &f->want) ? QN_OK : wrong_size(f, s, index, &have, tmp);
}

/* The first file's extent, through memory that is given back. */
typedef struct first_call {
	folder *f;
	const char *path;
} first_call;

static qn_status
read_first(void *arg, qn_arena *tmp)
{
	first_call *c = arg;
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(tmp, c->path, &data, &n));
	return c->f->kind->decode(tmp, c->path, data, n, false, NULL, &c->f->want, NULL);
}

static qn_status
measure_first(folder *f, qn_env *env, const char *path)
{
	first_call c = {f, path};
	qn_arena tmp;

	qn_arena_init(&tmp, env);
	qn_status status = qn_arena_try(&tmp, read_first, &c);
	qn_arena_release(&tmp);
	if (status == QN_ENOMEM && env->oom != NULL)
		qn_env_oom(env);
	return status;
}

/* The files, and what they are. */
static qn_status
find_files(qn_arena *a, const char *path, const kind **k, qn_folder *out)
{
	qn_folder sounds = {0};
	const char **one = QN_NEW(a, const char *, 1);

	*k = &kinds[is_sound(path)];
	one[0] = path;
	*out = (qn_folder){.n = 1, .path = one};
	if (!qn_folder_is(path))
		return QN_OK;
	QN_TRY(qn_folder_list(a, path, is_picture, out));
	QN_TRY(qn_folder_list(a, path, is_sound, &sounds));
	if (out->n > 0 && sounds.n > 0)
		return qn_report(a->env, QN_EINVALID, "data.format", path,
				 "the folder has %zu images and %zu audio files; put each kind "
				 "into its own folder",
				 out->n, sounds.n);
	if (out->n + sounds.n == 0)
		return qn_report(a->env, QN_EINVALID, "data.empty", path,
				 "the folder and its subfolders have no file with the extension "
				 ".png, .jpg, .jpeg, .pgm, .ppm, .pnm or .wav, and the folder has "
				 "no input_0.pb of ONNX's test data");
	*k = &kinds[sounds.n > 0];
	if (sounds.n > 0)
		*out = sounds;
	return QN_OK;
}

/* One channel fits any shape; of several, only the input's shape says which is which. */
static bool
is_mono(const kind *k, const extent *e)
{
	return k->rank == 2 && e->dim[k->channel] == 1;
}

qn_status
qn_source_folder(qn_types *t, qn_arena *a, const char *path, bool channels_first,
		 const qn_source **out)
{
	folder *f = QN_NEW(a, folder, 1);
	qn_source *s = QN_NEW(a, qn_source, 1);
	const kind *k;
	qn_folder files;
	int64_t dim[4];

	QN_TRY(find_files(a, path, &k, &files));
	*f = (folder){.kind = k, .channels_first = channels_first};
	QN_TRY(measure_first(f, a->env, files.path[0]));
	dim[0] = (int64_t)files.n;
	memcpy(dim + 1, f->want.dim, sizeof f->want.dim);
	if (channels_first) {
		memmove(dim + 2, dim + 1, (size_t)k->channel * sizeof dim[0]);
		dim[1] = f->want.dim[k->channel];
	}
	const qn_plain pixel = f->want.wide ? QN_PLAIN_u16 : QN_PLAIN_u8;
	*s = (qn_source){
		.type = qn_type_plain(t, k->rank == 3 ? pixel : QN_PLAIN_f32, k->rank + 1, dim),
		.name = path,
		.fit = is_mono(k, &f->want) ? QN_FIT_COUNT : QN_FIT_SHAPE,
		.fetch = fetch_file,
		.path = files.path,
		.label = files.label,
		.nclass = files.nclass,
		.class_name = files.class_name,
		.user = f};
	*out = s;
	return QN_OK;
}
