/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - which reader a file gets. */
#include "import/import.h"

#include <string.h>

#include "formats/archive.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "ir/diag.h"

qn_import_format
qn_import_format_of(const char *path)
{
	static const struct {
		const char *end;
		qn_import_format format;
	} rows[] = {
		{".onnx", QN_IMPORT_ONNX},   {".tflite", QN_IMPORT_TFLITE},
		{".lite", QN_IMPORT_TFLITE}, {".gguf", QN_IMPORT_GGUF},
		{".json", QN_IMPORT_NONE}, /* also of a folder, which cannot be read then */
		{".qir", QN_IMPORT_NONE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (qn_path_ends(path, rows[i].end))
			return rows[i].format;
	return qn_folder_is(path) ? QN_IMPORT_HUGGING_FACE : QN_IMPORT_NONE;
}

qn_status
qn_import_read(qn_model *m, const char *path, qn_import_format format, const qn_import_how *how)
{
	const char *data;
	size_t n;

	if (format == QN_IMPORT_HUGGING_FACE)
		return qn_hugging_face_is(m->arena, path) ? qn_hugging_face_read_model(m, path, how)
							  : qn_import_refuse(m->arena, path);
	QN_TRY(qn_file_map(m->arena, path, &data, &n));
	if (format == QN_IMPORT_GGUF)
		return qn_gguf_read_model(m, path, data, n, how);
	if (format == QN_IMPORT_ONNX && qn_import_is_tflite(data, n))
		return qn_report(m->env, QN_EINVALID, "import.file", path,
				 "this is a TFLite model, not ONNX: rename it to .tflite");
	if (format == QN_IMPORT_ONNX)
		return qn_onnx_read(m, path, qn_path_folder(m->arena, path), data, n, how);
	return qn_tflite_read(m, path, data, n, how);
}
