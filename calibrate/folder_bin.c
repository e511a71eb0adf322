/* SPDX-License-Identifier: Apache-2.0 */
/* folder_bin.c - a folder of .bin files, one sample each, all of the type and shape that the user sets.
 *
 *   kws01/tst_000000.bin kws01/tst_000001.bin  ──▶  [2,49,10,1] of i8      --dtype i8 --shape 49,10,1 */
#include <string.h>

#include "calibrate/open.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "ir/diag.h"

static bool
is_bin(const char *name)
{
	return qn_name_ends(name, ".bin");
}

static qn_status
fetch_bin(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const qn_type *one = s->user;
	const char *data = NULL;
	size_t n = 0;
	size_t each = qn_source_bytes(s);

	QN_TRY(qn_file_map(tmp, s->path[index], &data, &n));
	if (n != each)
		return qn_report(
			tmp->env, QN_EINVALID, "data.size", s->path[index],
			"this file has %zu bytes, but a sample has %zu (%s); each file of a "
			"folder is one sample",
			n, each, qn_plain_table[one->elem->plain].name);
	memcpy(dst, qn_tensor_view_file(tmp, one, data)->data, n);
	return QN_OK;
}

qn_status
qn_source_folder_bin(qn_types *t, qn_arena *a, const char *path, const qn_open_opts *o,
		     const qn_source **out)
{
	qn_plain plain = o->has_dtype ? o->dtype : QN_PLAIN_f32;
	qn_source *s = QN_NEW(a, qn_source, 1);
	int64_t dim[QN_MAX_RANK] = {1};
	qn_folder files;

	QN_TRY(qn_folder_list(a, path, is_bin, &files));
	if (files.n == 0)
		return qn_report(a->env, QN_EINVALID, "data.empty", path,
				 "the folder and its subfolders have no file with the extension "
				 ".bin, for which a shape is given");
	memcpy(dim + 1, o->dim, (size_t)o->rank * sizeof dim[0]);
	const qn_type *one = qn_type_plain(t, plain, o->rank + 1, dim);
	dim[0] = (int64_t)files.n;
	*s = (qn_source){.type = qn_type_plain(t, plain, o->rank + 1, dim),
			 .name = path,
			 .fetch = fetch_bin,
			 .path = files.path,
			 .label = files.label,
			 .nclass = files.nclass,
			 .class_name = files.class_name,
			 .user = one};
	*out = s;
	return QN_OK;
}
