/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_external.c - the bytes of tensors that lie in files beside the model.
 *
 *   location "w.bin", offset "4", length "32"  ->  32 bytes of w.bin, which is mapped once */
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "formats/file.h"

/* "12" -> 12. */
static bool
number(const char *s, uint64_t *out)
{
	*out = 0;
	if (s[0] == '\0')
		return false;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9' || *out > (UINT64_MAX - 9) / 10)
			return false;
		*out = *out * 10 + (uint64_t)(*s - '0');
	}
	return true;
}

typedef struct file_bytes {
	const char *data;
	size_t n;
	bool bad; /* it cannot be read, which was reported */
} file_bytes;

static const file_bytes *
open_external(qn_onnx *o, const char *tensor, const char *path)
{
	file_bytes *f = qn_map_gets(&o->external, path);

	if (f != NULL && f->bad)
		o->im.problems++;
	if (f != NULL)
		return f->bad ? NULL : f;
	f = QN_NEW(o->im.scratch, file_bytes, 1);
	const char *wrong;
	const char *whole = qn_path_named(o->im.scratch, o->folder, o->im.file, path, &wrong);
	if (whole == NULL) {
		(void)qn_importer_refuse(&o->im, "import.external",
					 "the data of tensor '%s' is in '%s'; %s", tensor, path,
					 wrong);
		return NULL;
	}
	qn_map_puts(&o->external, path, f);
	qn_status status = qn_file_map(o->im.m->arena, whole, &f->data, &f->n);
	f->bad = status != QN_OK;
	if (f->bad) {
		(void)qn_importer_refuse(&o->im, "import.external",
					 "the data of tensor '%s' is in '%s', which cannot be "
					 "read; put the file that belongs to the model there",
					 tensor, whole);
		qn_importer_failed(&o->im, status);
		return NULL;
	}
	qn_importer_grant(&o->im, f->n);
	return f;
}

const uint8_t *
qn_onnx_external(qn_onnx *o, const Onnx__TensorProto *t, size_t *n)
{
	const char *name = t->name != NULL ? t->name : "", *path = "";
	uint64_t offset = 0, length = *n;
	bool ok = true;

	for (size_t i = 0; i < t->n_external_data; i++) {
		const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;
		if (key == NULL || value == NULL)
			continue;
		if (strcmp(key, "location") == 0)
			path = value;
		else if (strcmp(key, "offset") == 0)
			ok = number(value, &offset) && ok;
		else if (strcmp(key, "length") == 0)
			ok = number(value, &length) && ok;
	}
	if (!ok || o->folder == NULL) {
		(void)qn_importer_refuse(&o->im, "import.external",
					 "the data of tensor '%s' is in '%s'; %s", name, path,
					 ok ? "a model in memory has no folder to look into"
					    : "its offset or length is not a number");
		return NULL;
	}
	const file_bytes *f = open_external(o, name, path);
	if (f == NULL)
		return NULL;
	if (offset > f->n || length > f->n - offset) {
		(void)qn_importer_refuse(&o->im, "import.external",
					 "tensor '%s' is %llu bytes at %llu of '%s', which has %zu "
					 "bytes; the file is truncated or belongs to another model",
					 name, (unsigned long long)length,
					 (unsigned long long)offset, path, f->n);
		qn_importer_failed(&o->im, QN_EINVALID);
		return NULL;
	}
	*n = (size_t)length;
	return (const uint8_t *)f->data + offset;
}
