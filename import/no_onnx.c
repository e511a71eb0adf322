/* SPDX-License-Identifier: Apache-2.0 */
/* no_onnx.c - replaces import/onnx*.c when libprotobuf-c is missing. */
#include "import/import.h"

#include "ir/diag.h"

static qn_status
refuse(qn_model *m, const char *file)
{
	return qn_report(m->env, QN_EUNSUPPORTED, "import.support", file,
			 "this quern was built without ONNX; build it with libprotobuf-c and the "
			 "schema of libonnx-dev (-DQUERN_ONNX=ON), or save the model as TFLite");
}

qn_status
qn_onnx_read(qn_model *m, const char *file, const char *folder, const void *data, size_t n,
	     const qn_import_how *how)
{
	(void)folder, (void)data, (void)n, (void)how;
	return refuse(m, file);
}

qn_status
qn_onnx_read_value(qn_model *m, const char *file, const void *data, size_t n, const qn_tensor **out,
		   qn_plain *stored)
{
	(void)data, (void)n, (void)out, (void)stored;
	return refuse(m, file);
}

qn_import_op
qn_onnx_op_at(size_t i)
{
	(void)i;
	return (qn_import_op){0};
}

qn_status
qn_onnx_write(qn_model *m, qn_buf *out)
{
	(void)out;
	return refuse(m, m->name);
}
