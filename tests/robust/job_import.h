/* SPDX-License-Identifier: Apache-2.0 */
/* job_import.h - the jobs that begin with a file of another tool.
 *
 *   job_write_imports(&w);        net.tflite, net.onnx and its weights net.bin
 *   job_tflite(ctx, &w);          reads it, writes out/m.json, compiles it, writes out/m.qir
 *   job_onnx(ctx, &w);            likewise, and writes the float model as out/m.onnx */
#ifndef QN_TESTS_JOB_IMPORT_H
#define QN_TESTS_JOB_IMPORT_H

#include "tests/robust/job.h"

void job_write_imports(workshop *w);
qn_status job_tflite(qn_ctx *ctx, workshop *w);
qn_status job_onnx(qn_ctx *ctx, workshop *w);

#endif
