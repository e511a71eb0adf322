/* SPDX-License-Identifier: Apache-2.0 */
/* hugging_face.c - tensors in several safetensors files, as folders of Hugging Face hold them.
 *
 *   folder/config.json                     properties
 *          model.safetensors               tensors; or
 *          model.safetensors.index.json    {"metadata": {…}, "weight_map": {"a.weight": "model-00001-of-00002.safetensors"}}
 *
 * The tensors of an index stand in its order. */
#include <string.h>

#include "formats/file.h"
#include "formats/folder.h"
#include "formats/theta.h"
#include "ir/diag.h"

enum { SHARDS_MOST = 4096 };

static qn_status
parse_file(qn_archive_data *d, const char *path, qn_json_doc *doc)
{
	static const qn_json_ids ids = {"hugging-face.json", "hugging-face.json"};
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(d->arena, path, &data, &n));
	QN_TRY(qn_json_tree(d->arena, path, data, n, &ids, doc));
	if (doc->root->kind != QN_JSON_OBJECT)
		return qn_report(d->arena->env, QN_EINVALID, "hugging-face.json", path,
				 "it is not an object");
	return QN_OK;
}

static void
take_properties(qn_archive_data *d, const qn_json *object)
{
	for (size_t i = 0; object != NULL && i < object->n; i++) {
		const qn_json *v = &object->child[i];

		if (v->key == NULL || v->key[0] == '\0')
			continue;
		const qn_property p = qn_property_of_json(d->arena, v->key, v);
		qn_archive_set(d, &p);
	}
}

/* The tensors of a shard, read when it is first named. */
static qn_status
shard(qn_archive_data *d, qn_map *shards, const char *index, const char *name,
      const qn_archive_data **out)
{
	qn_archive_data *s = qn_map_gets(shards, name);
	const char *wrong = NULL, *data = NULL;
	size_t n = 0;

	*out = s;
	if (s != NULL)
		return QN_OK;
	const char *path =
		qn_path_named(d->arena, qn_path_folder(d->arena, index), index, name, &wrong);
	if (path == NULL || qn_map_count(shards) >= SHARDS_MOST)
		return qn_report(d->arena->env, QN_EINVALID, "hugging-face.file", index, "'%s': %s",
				 name, path == NULL ? wrong : "there are more than 4096 files");
	s = QN_NEW(d->arena, qn_archive_data, 1);
	qn_archive_init(s, d->arena, d->format, path);
	QN_TRY(qn_file_map(d->arena, path, &data, &n));
	QN_TRY(qn_safetensors_read(s, data, n));
	qn_map_puts(shards, name, s);
	*out = s;
	return QN_OK;
}

qn_status
qn_safetensors_read_index(qn_archive_data *d, const char *path)
{
	qn_map shards;
	qn_json_doc doc;

	QN_TRY(parse_file(d, path, &doc));
	const qn_json *map = qn_json_find(doc.root, "weight_map");
	if (map == NULL || map->kind != QN_JSON_OBJECT)
		return qn_report(d->arena->env, QN_EINVALID, "hugging-face.json", path,
				 "missing key 'weight_map' (expected an object)");
	qn_map_init(&shards, d->arena);
	take_properties(d, qn_json_find(doc.root, "metadata"));
	for (size_t i = 0; i < map->n; i++) {
		const qn_json *v = &map->child[i];
		const qn_archive_data *s = NULL;

		if (v->kind != QN_JSON_STRING)
			return qn_report(d->arena->env, QN_EINVALID, "hugging-face.json",
					 qn_json_place(&doc, d->arena, v),
					 "it is not the name of a file");
		QN_TRY(shard(d, &shards, path, v->string, &s));
		const qn_named_tensor *t = qn_archive_named(s, v->key);
		if (t == NULL)
			return qn_report(d->arena->env, QN_EINVALID, "hugging-face.tensor",
					 qn_json_place(&doc, d->arena, v),
					 "'%s' has no tensor '%s'", v->string, v->key);
		(void)qn_archive_put(d, v->key, &t->t);
	}
	return QN_OK;
}

/* Whether the folder holds a file of that name. */
static bool
has(qn_arena *a, const char *folder, const char *name)
{
	qn_diag_mark mark = qn_diag_mark_now(a->env);
	const char *data = NULL;
	size_t n = 0;

	if (qn_file_map(a, qn_path_join(a, folder, name), &data, &n) == QN_OK)
		return true;
	qn_diag_forget(a->env, mark);
	return false;
}

bool
qn_hugging_face_is(qn_arena *a, const char *folder)
{
	return has(a, folder, "config.json");
}

/* A folder whose weights are in files of another kind. */
static qn_status
refuse_pickle(const qn_archive_data *d, const char *folder)
{
	static const char *const names[] = {"pytorch_model.bin", "pytorch_model.bin.index.json"};

	for (size_t i = 0; i < QN_COUNT(names); i++)
		if (has(d->arena, folder, names[i]))
			return qn_report(
				d->arena->env, QN_EUNSUPPORTED, "hugging-face.file", folder,
				"its weights are in %s, a pickle of Python; convert them to "
				"safetensors first: AutoModelForCausalLM.from_pretrained(folder)"
				".save_pretrained(new_folder) of transformers writes them",
				names[i]);
	return QN_OK;
}

qn_status
qn_hugging_face_read(qn_archive_data *d, const char *folder)
{
	static const char index[] = "model.safetensors.index.json", one[] = "model.safetensors";
	const char *path = qn_path_join(d->arena, folder, one), *data = NULL;
	qn_json_doc doc;
	size_t n = 0;

	QN_TRY(parse_file(d, qn_path_join(d->arena, folder, "config.json"), &doc));
	take_properties(d, doc.root);
	if (has(d->arena, folder, index))
		return qn_safetensors_read_index(d, qn_path_join(d->arena, folder, index));
	if (!has(d->arena, folder, one))
		QN_TRY(refuse_pickle(d, folder));
	QN_TRY(qn_file_map(d->arena, path, &data, &n));
	return qn_safetensors_read(d, data, n);
}
