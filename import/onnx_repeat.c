/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_repeat.c - see onnx_repeat.h. */
#include "import/onnx_repeat.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

bool
qn_onnx_repeat_begin(qn_onnx *o, qn_onnx_repeat *r, int64_t most)
{
	size_t nin = (size_t)r->first_in + r->nstate + r->nscan;
	size_t nout = (size_t)r->first_out + r->nstate + r->ncollect;

	r->problems = o->im.problems;
	const int64_t limit = (int64_t)qn_importer_most(&o->im, QN_IMPORT_STEPS);

	r->most = most < 0 ? 0 : most < limit ? most : limit;
	if (r->body == NULL || r->body->n_input != nin || r->body->n_output < nout) {
		(void)qn_importer_refuse(
			&o->im, "import.attr",
			r->body == NULL
				? "the body is missing"
				: "the body's inputs or outputs do not match those of the node");
		return false;
	}
	if (!qn_importer_take(&o->im, (uint64_t)r->ncollect * (uint64_t)r->most * sizeof(qn_id)))
		return false;
	r->in = QN_NEW(o->im.scratch, qn_id, nin + 1);
	r->out = QN_NEW(o->im.scratch, qn_id, nout + 1);
	r->collected = QN_NEW(o->im.scratch, qn_id, (size_t)r->ncollect * (size_t)r->most + 1);
	return true;
}

bool
qn_onnx_repeat_step(qn_onnx *o, qn_onnx_repeat *r)
{
	uint32_t nout = r->first_out + r->nstate + r->ncollect;

	if (!qn_importer_step(&o->im))
		return false;
	memset(r->out, 0, nout * sizeof r->out[0]);
	qn_onnx_body(o, r->body, r->first_in + r->nstate + r->nscan, r->in, nout, r->out);
	for (uint32_t i = 0; i < nout; i++)
		if (r->out[i] == 0) {
			if (o->im.problems == 0)
				(void)qn_importer_refuse(
					&o->im, "import.output",
					"result %u of the body is not computed by any of its nodes",
					i);
			return false;
		}
	memcpy(r->in + r->first_in, r->out + r->first_out, r->nstate * sizeof r->in[0]);
	for (uint32_t i = 0; i < r->ncollect; i++) {
		qn_id x = r->out[r->first_out + r->nstate + i];

		if (qn_onnx_is_list(o, x)) {
			(void)qn_importer_refuse(&o->im, "import.type",
						 "a sequence per step is not supported");
			return false;
		}
		r->collected[(size_t)i * (size_t)r->most + (size_t)r->steps] = x;
	}
	r->steps++;
	return true;
}

qn_id
qn_onnx_repeat_stack(qn_onnx *o, const qn_onnx_repeat *r, uint32_t i, int64_t axis, bool reversed)
{
	qn_id *x = QN_NEW(o->im.scratch, qn_id, (size_t)r->steps + 1);
	int32_t at = 0;

	if (r->steps == 0)
		return qn_importer_refuse(
			&o->im, "import.dim",
			"it runs no steps, so the shape of what a step gives is unknown");
	for (int64_t k = 0; k < r->steps; k++) {
		qn_id y = r->collected[(size_t)i * (size_t)r->most + (size_t)k];

		if (!qn_onnx_axis(o, axis, qn_onnx_type(o, y)->rank + 1, &at))
			return 0;
		x[reversed ? r->steps - 1 - k : k] = qn_importer_expand_dim(&o->im, y, at);
	}
	return qn_importer_join(&o->im, r->steps, x, at);
}

bool
qn_onnx_repeat_results_ok(qn_onnx *o, const qn_onnx_repeat *r)
{
	for (uint32_t i = 0; i < r->nstate + r->ncollect; i++) {
		const qn_id x = r->out[r->first_out + i];

		if (x == 0 && o->im.problems == r->problems)
			(void)qn_importer_refuse(
				&o->im, "import.output",
				"result %u of the body is not computed by any of its nodes", i);
		if (x == 0)
			return false;
		if (qn_onnx_is_list(o, x))
			return qn_importer_refuse(&o->im, "import.type",
						  "a sequence per step is not supported") != 0;
		if (i < r->nstate && qn_onnx_type(o, x) != qn_onnx_type(o, r->in[r->first_in + i]))
			return qn_importer_refuse(&o->im, "import.type",
						  "state %u has another type after a step", i) != 0;
	}
	return true;
}
