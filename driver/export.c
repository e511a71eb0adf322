/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - models as files of other tools. */
#include "driver/context.h"
#include "driver/encodings.h"
#include "formats/file.h"
#include "import/import.h"
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

typedef struct export_call {
	qn_model *m;
	const char *path;
	qn_export_format format;
} export_call;

/* Warns before the accuracy is lost by kernels that add two products in 16 bits. */
static void
warn_of_saturation(const qn_model *m)
{
	const qn_saturation s = qn_saturation_of(m);

	if (s.saturating > 0)
		qn_warn(m->env, "export.saturation", m->name,
			"%zu of %zu layers with 8-bit weights, '%s' the first, can saturate in "
			"ONNX "
			"Runtime on x86 processors without VNNI, which adds pairs of u8 x i8 "
			"products "
			"in 16 bits; for those use --reduce-range (7-bit weights), or its session "
			"option "
			"session.x64quantprecision 1 (ARM and x86 with VNNI are exact)",
			s.saturating, s.products, s.first->name);
}

/* Constants that are stored as floats of few bits are written as f32. */
static qn_status
write_onnx(qn_model *m, qn_buf *b)
{
	qn_graph *const as_it_is = qn_model_entry(m), *g = as_it_is;

	QN_TRY(qn_unpack_floats(m, g, &g));
	qn_model_set_graph(m, g);
	const qn_status status = qn_onnx_write(m, b);
	qn_model_set_graph(m, as_it_is);
	return status;
}

static qn_status
export_model(void *arg, qn_arena *scratch)
{
	export_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	if (c->format == QN_EXPORT_ONNX_QDQ) {
		QN_TRY(write_onnx(c->m, &b));
		if (c->m->stage == QN_STAGE_CALIBRATED)
			warn_of_saturation(c->m);
	} else if (c->m->stage == QN_STAGE_CALIBRATED)
		qn_encodings_write(c->m, (qn_encodings_version)(c->format - QN_EXPORT_ENCODINGS),
				   &b);
	else
		return qn_report(c->m->env, QN_EINVALID, "export.stage", c->m->name,
				 "only a calibrated model has encodings; this one is %s",
				 qn_stage_names[c->m->stage]);
	return qn_file_write(c->m->env, c->path, b.data, b.n);
}

qn_status
qn_export(qn_model *m, const char *path, qn_export_format format)
{
	export_call c = {m, path, format};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), path));
	if ((int)format < 0 || (int)format > (int)QN_EXPORT_ENCODINGS_2)
		return qn_report(m->env, QN_EUSAGE, "export.format", "format",
				 "%d is not a qn_export_format (expected QN_EXPORT_ONNX_QDQ to "
				 "QN_EXPORT_ENCODINGS_2)",
				 (int)format);
	return qn_guard_model(m, export_model, &c);
}

static qn_status
reduce_range(void *arg, qn_arena *scratch)
{
	(void)scratch;
	return qn_reduce_range_of(arg);
}

qn_status
qn_reduce_range(qn_model *m)
{
	QN_TRY(QN_GIVEN(qn_model_ctx(m), m));
	return qn_guard_model(m, reduce_range, m);
}
