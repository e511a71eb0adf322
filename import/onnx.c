/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.c - ONNX files. */
#include "import/import.h"

#include "ir/diag.h"

qn_status
qn_onnx_read(qn_model *m, const char *file, const char *folder, const void *data, size_t n,
	     const qn_import_how *how)
{
	(void)folder, (void)data, (void)n, (void)how;
	return qn_report(m->env, QN_EUNSUPPORTED, "import.format", file, "not yet");
}
