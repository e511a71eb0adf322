/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qdq_run.h - runs networks of onnx_qdq.h as they stand in the file, which is ONNX's definition, and as integers:
 * results are within one step of the output.
 *
 *   static const network networks[] = {{"one_conv", one_conv}};       one_conv: writes the file, returns the step
 *   become_integer(networks, QN_COUNT(networks)); */
#ifndef TESTS_UNIT_ONNX_QDQ_RUN_H
#define TESTS_UNIT_ONNX_QDQ_RUN_H

#include <math.h>

#include "passes/passes.h"
#include "tests/unit/onnx_qdq.h"

enum { SAMPLES = 8 };

typedef struct network {
	const char *name;
	double (*build)(void);
} network;

static inline int64_t
elements(const qn_type *t)
{
	return qn_type_count(t);
}

/* The floats as the quantized values that input k takes. */
static inline double *
quantized(const double *x, const qn_type *t)
{
	double *q = qn_arena_alloc(&rg->arena, (size_t)elements(t), sizeof *q), scale;
	int64_t zp;

	for (int64_t i = 0; i < elements(t); i++) {
		qn_elem_param(&rg->m.types, t->elem, 0, &scale, &zp);
		const double v = rint((double)((float)x[i] / (float)scale)) + (double)zp;
		q[i] = fmin(fmax(v, (double)t->elem->qmin), (double)t->elem->qmax);
	}
	return q;
}

static inline void
dequantize(double *y, const qn_type *t)
{
	double scale;
	int64_t zp;

	for (int64_t i = 0; i < elements(t); i++) {
		qn_elem_param(&rg->m.types, t->elem, 0, &scale, &zp);
		y[i] = (y[i] - (double)zp) * scale;
	}
}

static inline void
lower(const char *name)
{
	qn_status status = qn_axes(&rg->m);

	if (status == QN_OK)
		status = qn_requantize(&rg->m, NULL);
	if (status == QN_OK)
		status = qn_legalize(&rg->m);
	if (status == QN_OK)
		status = qn_model_verify(&rg->m);
	if (status != QN_OK)
		print_message("%s:\n", name);
	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static inline void
become_integer(const network *networks, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		double *x[SAMPLES], *want[SAMPLES], off = 0;

		another_file();
		const double step = networks[k].build();
		import(20);
		assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
		const qn_type *in = qn_graph_node(rg->g, rg->g->input[0])->type;
		for (int s = 0; s < SAMPLES; s++) {
			x[s] = qn_arena_alloc(&rg->arena, (size_t)elements(in), sizeof *x[s]);
			for (int64_t i = 0; i < elements(in); i++)
				x[s][i] = 1.4 * real();
			want[s] = run1(x[s]);
		}
		lower(networks[k].name);
		in = qn_graph_node(rg->g, rg->g->input[0])->type;
		const qn_type *out = qn_graph_node(rg->g, rg->g->output[0].value)->type;
		assert_true(qn_elem_is_quant(in->elem) && qn_elem_is_quant(out->elem));
		for (int s = 0; s < SAMPLES; s++) {
			double *have = run1(quantized(x[s], in));

			dequantize(have, out);
			for (int64_t i = 0; i < elements(out); i++)
				off = fmax(off, fabs(have[i] - want[s][i]));
		}
		if (!(off < 1.01 * step))
			fail_msg("%s: %g steps off", networks[k].name, off / step);
	}
}

#endif
