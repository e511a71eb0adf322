/* SPDX-License-Identifier: Apache-2.0 */
/* job_import.c - see job_import.h.  Both files hold x[1,4,4,1] -> reshape -> dense -> softmax. */
#include "tests/robust/job_import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/onnx_writer.h"
#include "tests/unit/tflite_writer.h"

enum { WIDTH = 16, CLASSES = 3 };

/* A dense layer's weights as half-precision numbers, each 1 or -0.5, that an operator widens. */
static void
write_tflite(workshop *w)
{
	uint16_t v[CLASSES * WIDTH];
	tfl_file *t = tfl_begin();
	size_t n;

	for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
		v[i] = i % 3 == 0 ? 0x3c00 : 0xb800;
	int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(1, 4, 4, 1), NULL, 0);
	int s = tfl_tensor(t, "s", TFL_INT32, DIMS(2), (const int32_t[]){1, WIDTH}, 8);
	int f = tfl_tensor(t, "f", TFL_FLOAT32, DIMS(1, WIDTH), NULL, 0);
	int h = tfl_tensor(t, "h", TFL_FLOAT16, DIMS(CLASSES, WIDTH), v, sizeof v);
	int k = tfl_tensor(t, "k", TFL_FLOAT32, DIMS(CLASSES, WIDTH), NULL, 0);
	int b = tfl_tensor(t, "b", TFL_FLOAT32, DIMS(CLASSES), (const float[]){1, 2, -1}, 12);
	int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(1, CLASSES), NULL, 0);
	int z = tfl_tensor(t, "z", TFL_FLOAT32, DIMS(1, CLASSES), NULL, 0);

	tfl_op(t, QN_TFL_RESHAPE, INTS(x, s), INTS(f));
	tfl_op(t, QN_TFL_DEQUANTIZE, INTS(h), INTS(k));
	tfl_op(t, QN_TFL_FULLY_CONNECTED, INTS(f, k, b), INTS(y));
	tfl_with(tfl_op(t, QN_TFL_SOFTMAX, INTS(y), INTS(z)), 0, 'f', 1);
	const uint8_t *bytes = tfl_end(t, INTS(x), INTS(z), &n);
	job_put(w, "net.tflite", "", 0, bytes, n);
	free(t);
}

/* A function with an attribute, a node Constant, a body, and weights in another file. */
static void
write_onnx(workshop *w)
{
	onx *t = calloc(2, sizeof *t);
	onx *body = t + 1;
	float v[CLASSES * WIDTH];
	uint8_t bytes_of[sizeof v];
	size_t n;

	assert_non_null(t);
	for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
		v[i] = (float)(i * 37 % 64) / 32.0f - 1.0f;
	put_little(bytes_of, v, sizeof v, sizeof v[0]);
	job_put(w, "net.bin", "head", 4, bytes_of, sizeof v);
	onx_begin(body);
	onx_node(body, "Relu", "h", "r");
	onx_output(body, "r");
	onx_begin(t);
	onx_function(t, "mine", "Twice", "a", "b");
	onx_refer(t, "alpha", "slope");
	onx_node(t, "LeakyRelu", "a", "h");
	onx_node(t, "Add", "h,h", "b");
	onx_function_end(t, 13);
	onx_input(t, "x", ONX_FLOAT, "N,4,4,1");
	onx_external(t, "w", ONX_FLOAT, "16,3", "net.bin", "4");
	onx_floats(t, "b", "3", (const float[]){1, 2, -1});
	onx_tensor(t, "yes", ONX_BOOL, "", "\1", 1);
	onx_list(t, "value_ints", 2, (const int64_t[]){1, WIDTH});
	onx_node(t, "Constant", "", "s");
	onx_node(t, "Reshape", "x,s", "f");
	t->domain = "mine";
	onx_real(t, "slope", 0.25f);
	onx_node(t, "Twice", "f", "h");
	t->domain = NULL;
	onx_body(t, "then_branch", body);
	onx_body(t, "else_branch", body);
	onx_node(t, "If", "yes", "g");
	onx_node(t, "Gemm", "g,w,b", "y");
	onx_node(t, "Softmax", "y", "z");
	onx_output(t, "z");
	const uint8_t *bytes = onx_end(t, 13, &n);
	job_put(w, "net.onnx", "", 0, bytes, n);
	free(t);
}

void
job_write_imports(workshop *w)
{
	write_tflite(w);
	write_onnx(w);
}

static qn_status
import(qn_ctx *ctx, workshop *w, const char *name, const qn_import_opts *opts, const char *also)
{
	qn_model *m;
	qn_array *x = NULL;
	qn_status status = qn_import(ctx, job_path(w, name), opts, &m);

	if (status == QN_OK)
		status = qn_save(m, job_path(w, "out/m.json"), 1);
	if (status == QN_OK && also != NULL)
		status = qn_export(m, job_path(w, also), QN_EXPORT_ONNX_QDQ);
	if (status == QN_OK)
		status = qn_array_load(ctx, job_path(w, "x.npy"), &x);
	if (status == QN_OK)
		status = qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = 1});
	return status == QN_OK ? qn_save_text(m, job_path(w, "out/m.qir")) : status;
}

qn_status
job_tflite(qn_ctx *ctx, workshop *w)
{
	return import(ctx, w, "net.tflite", NULL, NULL);
}

qn_status
job_onnx(qn_ctx *ctx, workshop *w)
{
	static const char *const dims[] = {"N=1"};

	return import(ctx, w, "net.onnx", &(qn_import_opts){.dim = dims, .ndim = 1}, "out/m.onnx");
}
