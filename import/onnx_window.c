/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_window.c - see onnx_window.h. */
#include "import/onnx_window.h"

#include <string.h>

/* Of strides, dilations, kernels and sizes: no product of two overflows. */
enum { MOST = 1 << 30 };

bool
qn_onnx_each(qn_onnx *o, const qn_onnx_node *n, const char *name, int32_t count, int64_t dflt,
	     int64_t *v)
{
	bool given = qn_onnx_has(o, n, name);
	int32_t have = given ? qn_onnx_ints(o, n, name, count, v) : count;

	for (int32_t i = 0; !given && i < count; i++)
		v[i] = dflt;
	if (have != count) {
		(void)qn_importer_refuse(&o->im, "import.attr",
					 "%s must have %d numbers, one per axis", name, (int)count);
		return false;
	}
	for (int32_t i = 0; i < count; i++)
		if (v[i] < -(int64_t)MOST || v[i] > MOST) {
			(void)qn_importer_refuse(&o->im, "import.attr", "%s has the value %lld",
						 name, (long long)v[i]);
			return false;
		}
	return true;
}

static bool
explicit_pads(qn_onnx *o, const qn_onnx_node *n, qn_onnx_window *w)
{
	int64_t pads[2 * QN_ONNX_SPATIAL] = {0};

	if (!qn_onnx_each(o, n, "pads", 2 * w->n, 0, pads))
		return false;
	for (int32_t i = 0; i < w->n; i++) {
		w->before[i] = pads[i];
		w->after[i] = pads[w->n + i];
	}
	return true;
}

/* Pads so that the result has ceil(in / stride) elements; upper: the odd one stands after. */
static void
same_pads(qn_onnx_window *w, bool upper)
{
	for (int32_t i = 0; i < w->n; i++) {
		int64_t size = (w->in[i] + w->stride[i] - 1) / w->stride[i];
		int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
		int64_t total = (size - 1) * w->stride[i] + reach - w->in[i];

		if (total < 0)
			total = 0;
		w->before[i] = upper ? total / 2 : total - total / 2;
		w->after[i] = total - w->before[i];
	}
}

bool
qn_onnx_window_read(qn_onnx *o, const qn_onnx_node *n, qn_id x, const int64_t *kernel,
		    qn_onnx_window *w)
{
	const qn_type *t = qn_onnx_type(o, x);
	const char *auto_pad = qn_onnx_string(o, n, "auto_pad", "NOTSET");

	*w = (qn_onnx_window){.n = t->rank - 2};
	if (w->n < 1 || w->n > QN_ONNX_SPATIAL) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "its input has %d dimensions; 3 to 5 are supported",
					 (int)t->rank);
		return false;
	}
	for (int32_t i = 0; i < w->n; i++) {
		w->in[i] = t->dim[2 + i];
		w->kernel[i] = kernel != NULL ? kernel[i] : 0;
		if (w->in[i] > MOST || w->kernel[i] > MOST) {
			(void)qn_importer_refuse(&o->im, "import.dim",
						 "spatial axis %d has %lld elements, its kernel "
						 "%lld; at most %d are supported",
						 (int)i, (long long)w->in[i],
						 (long long)w->kernel[i], (int)MOST);
			return false;
		}
	}
	if ((kernel == NULL && !qn_onnx_each(o, n, "kernel_shape", w->n, 0, w->kernel)) ||
	    !qn_onnx_each(o, n, "strides", w->n, 1, w->stride) ||
	    !qn_onnx_each(o, n, "dilations", w->n, 1, w->dilation))
		return false;
	for (int32_t i = 0; i < w->n; i++)
		if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1) {
			(void)qn_importer_refuse(&o->im, "import.attr",
						 "kernels, strides and dilations are at least 1");
			return false;
		}
	if (strcmp(auto_pad, "SAME_UPPER") == 0 || strcmp(auto_pad, "SAME_LOWER") == 0)
		same_pads(w, strcmp(auto_pad, "SAME_UPPER") == 0);
	else if (strcmp(auto_pad, "VALID") != 0)
		return explicit_pads(o, n, w);
	return true;
}

void
qn_onnx_window_pads(const qn_onnx_window *w, int64_t *pad)
{
	for (int32_t i = 0; i < w->n; i++) {
		pad[2 * i] = w->before[i];
		pad[2 * i + 1] = w->after[i];
	}
}

void
qn_onnx_window_image(qn_onnx_window *w)
{
	int64_t *const rows[] = {w->in, w->kernel, w->stride, w->dilation, w->before, w->after};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		rows[i][1] = rows[i][0];
		rows[i][0] = i < 4; /* lengths and steps of 1, no pads */
	}
	w->n = 2;
}
