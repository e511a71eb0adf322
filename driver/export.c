/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - models as files of other tools. */
#include "driver/context.h"
#include "formats/file.h"
#include "import/import.h"

typedef struct export_call {
	qn_model *m;
	const char *path;
} export_call;

static qn_status
export_onnx(void *arg, qn_arena *scratch)
{
	export_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	QN_TRY(qn_onnx_write(c->m, &b));
	return qn_file_write(c->m->env, c->path, b.data, b.n);
}

qn_status
qn_export(qn_model *m, const char *path, qn_export_format format)
{
	export_call c = {m, path};

	if (format != QN_EXPORT_ONNX_QDQ || path == NULL)
		return qn_report(m->env, QN_EUSAGE, "export.format", "format",
				 "qn_export needs a path and a format of quern.h");
	return qn_guard_model(m, export_onnx, &c);
}
