/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - a file of named tensors with properties: what readers and writers of GGUF, safetensors
 * and IRPA share.
 *
 *   stories.gguf   properties   general.architecture = "llama" …
 *                  tensors      blk.0.attn_q.weight   q8_0 [64,64]   a view of the mapped file …
 *
 * Tensors stand in the order of the file.  Names are NUL-terminated copies; planes are views. */
#ifndef QN_FORMATS_ARCHIVE_H
#define QN_FORMATS_ARCHIVE_H

#include "formats/property.h"
#include "ir/layout.h"

#define QN_HUGGING_FACE_FOLDER "Hugging Face folder"

typedef struct qn_named_tensor {
	const char *name;
	qn_layout_tensor t;
} qn_named_tensor;

typedef struct qn_archive_data {
	qn_arena *arena;
	const char *format; /* "GGUF", "safetensors", "IRPA", QN_HUGGING_FACE_FOLDER */
	const char *place;  /* the file, for messages */
	size_t n, cap;
	qn_named_tensor *tensor;
	size_t nproperty, property_cap;
	qn_property *property;
	qn_map names; /* of tensors: index + 1 */
	qn_map keys;  /* of properties: index + 1 */
} qn_archive_data;

void qn_archive_init(qn_archive_data *d, qn_arena *a, const char *format, const char *place);
/* False: the name is there already. */
bool qn_archive_put(qn_archive_data *d, const char *name, const qn_layout_tensor *t);
/* Replaces a property with this key. */
void qn_archive_set(qn_archive_data *d, const qn_property *p);
const qn_named_tensor *qn_archive_named(const qn_archive_data *d, const char *name);
/* The same, to be changed. */
qn_named_tensor *qn_archive_change(qn_archive_data *d, const char *name);
const qn_property *qn_archive_value(const qn_archive_data *d, const char *key);
/* "FILE: tensor 'NAME'". */
const char *qn_archive_at(qn_arena *a, const char *place, const char *what, const char *name);

/* A reader: the bytes must live as long as d. */
typedef qn_status qn_archive_read_fn(qn_archive_data *d, const char *data, size_t n);
/* GGUF; safetensors; IRPA (safetensors and IRPA: planes become tensors again, formats/theta.h). */
qn_archive_read_fn qn_gguf_read, qn_safetensors_read, qn_irpa_read;
/* model.safetensors.index.json with the files that it names; a folder with config.json. */
qn_status qn_safetensors_read_index(qn_archive_data *d, const char *path) QN_MUST_CHECK;
qn_status qn_hugging_face_read(qn_archive_data *d, const char *folder) QN_MUST_CHECK;
/* Whether a folder has a config.json. */
bool qn_hugging_face_is(qn_arena *a, const char *folder);

/* A writer in two steps: what of d the format has, as an archive of such tensors and properties, then
 * its bytes.  place of d: the file to be written, for messages. */
typedef qn_status qn_archive_prepare_fn(qn_env *env, qn_arena *a, const qn_archive_data *d,
					qn_archive_data *out);
typedef void qn_archive_print_fn(qn_buf *b, const qn_archive_data *d);
/* Planes are packed where a form holds their bits, others become f32, with a warning
 * (gguf.dequantized).  archive.type: GGUF has no type for the elements. */
qn_archive_prepare_fn qn_gguf_prepare, qn_safetensors_prepare, qn_irpa_prepare;
qn_archive_print_fn qn_gguf_print, qn_safetensors_print_archive, qn_irpa_print;

#endif
