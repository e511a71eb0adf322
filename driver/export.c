/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - models as files of other tools. */
#include "driver/context.h"
#include "driver/encodings.h"
#include "formats/file.h"
#include "import/import.h"
#include "ir/diag.h"

typedef struct export_call {
	qn_model *m;
	const char *path;
	qn_export_format format;
} export_call;

static qn_status
export_model(void *arg, qn_arena *scratch)
{
	export_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	if (c->format == QN_EXPORT_ONNX_QDQ)
		QN_TRY(qn_onnx_write(c->m, &b));
	else if (c->m->stage == QN_STAGE_CALIBRATED)
		qn_encodings_write(c->m, (qn_encodings_version)(c->format - QN_EXPORT_ENCODINGS), &b);
	else
		return qn_report(c->m->env, QN_EINVALID, "export.stage", c->m->name,
				 "encodings are those of a calibrated model; this one is %s",
				 qn_stage_names[c->m->stage]);
	return qn_file_write(c->m->env, c->path, b.data, b.n);
}

qn_status
qn_export(qn_model *m, const char *path, qn_export_format format)
{
	export_call c = {m, path, format};

	if ((int)format < 0 || (int)format > (int)QN_EXPORT_ENCODINGS_2 || path == NULL)
		return qn_report(m->env, QN_EUSAGE, "export.format", "format",
				 "qn_export needs a path and a format of quern.h");
	return qn_guard_model(m, export_model, &c);
}
