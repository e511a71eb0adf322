/* SPDX-License-Identifier: Apache-2.0 */
/* json_archive.c - constants of a model file that are tensors of an archive: as they are stored, or
 * with an f32 type their values.
 *
 *   {"file": "net.gguf", "tensor": "blk.0.ffn_up.weight"} */
#include "formats/file.h"
#include "formats/folder.h"
#include "formats/json_read.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"
#include "ir/nearest.h"

static const struct reader {
	const char *extension, *name;
	qn_archive_read_fn *read;
} readers[] = {
	{".gguf", "GGUF", qn_gguf_read},
	{".irpa", "IRPA", qn_irpa_read},
	{".safetensors", "safetensors", qn_safetensors_read},
};

static const struct reader *
reader_of(const char *file)
{
	for (size_t i = 0; i < QN_COUNT(readers); i++)
		if (qn_name_ends(file, readers[i].extension))
			return &readers[i];
	return NULL;
}

bool
qn_json_is_archive(const char *file)
{
	return reader_of(file) != NULL;
}

qn_status
qn_json_archive_open(qn_json_reader *r, const char *path, qn_archive_data **out)
{
	const struct reader *f = reader_of(path);
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(r->m->arena, path, &data, &n));
	qn_archive_data *d = QN_NEW(r->m->arena, qn_archive_data, 1);
	qn_archive_init(d, r->m->arena, f->name, path);
	QN_TRY(f->read(d, data, n));
	*out = d;
	return QN_OK;
}

static const char *
nearest(const qn_env *env, const qn_archive_data *d, const char *name)
{
	const char *best = NULL;

	if (env->diags->n >= QN_MAX_DIAGS)
		return NULL;
	for (size_t i = 0; i < d->n && i < QN_MAX_COMPARED; i++)
		best = qn_nearer_name(name, best, d->tensor[i].name);
	return best;
}

const qn_tensor *
qn_json_archive_tensor(qn_json_reader *r, const qn_json *name, const qn_archive_data *d,
		       const qn_type *type)
{
	const qn_named_tensor *x = qn_archive_named(d, name->string);
	const qn_tensor *out = NULL;

	if (x == NULL) {
		const char *best = nearest(r->m->env, d, name->string);

		qn_json_error(r, name, "tensor.missing",
			      "unknown tensor '%s' of %s" QN_DID_YOU_MEAN, name->string, d->place,
			      QN_SUGGEST(best));
		return NULL;
	}
	if (type != NULL && qn_type_is_f32(type) && !qn_layout_is_plain(&x->t) &&
	    !qn_layout_is_quantizer(&x->t) && qn_layout_opaque_type(&x->t) < 0)
		return qn_layout_values(&r->m->types, r->m->arena, &x->t);
	if (qn_layout_constant(&r->m->types, r->m->arena,
			       qn_archive_at(r->m->arena, d->place, "tensor", x->name), &x->t,
			       &out) != QN_OK)
		return NULL;
	return out;
}
