/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_scan.c - Scan: a loop over the slices of its inputs (ir/loops.h); where the body may need the integers of a
 * constant, the nodes of the body for each of them. */
#include "import/importer_steps.h"
#include "import/onnx_repeat.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

/* Element k of a list attribute, dflt when it is left out. */
static int64_t
one_of(qn_onnx *o, const qn_onnx_node *n, const char *name, uint32_t k, int64_t dflt)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL && k < a->n_ints ? qn_importer_near(a->ints[k]) : dflt;
}

/* The number of steps: that of all slices; -1 after a report. */
static int64_t
steps_of(qn_onnx *o, const qn_onnx_node *n, uint32_t nstate)
{
	int64_t steps = -1;
	int32_t axis;

	for (uint32_t i = nstate; i < n->nin; i++) {
		if (n->in[i] == 0 || qn_onnx_is_list(o, n->in[i])) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "input %u must be one value", i);
			return -1;
		}
		const qn_type *t = qn_onnx_type(o, n->in[i]);
		if (!qn_onnx_axis(o, one_of(o, n, "scan_input_axes", i - nstate, 0), t->rank,
				  &axis))
			return -1;
		if (steps >= 0 && t->dim[axis] != steps) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "its inputs have %lld and %lld slices",
						 (long long)steps, (long long)t->dim[axis]);
			return -1;
		}
		steps = t->dim[axis];
	}
	return steps;
}

/* Whether the body computes the same in each step, whatever it does with what it gets: integers that are known
 * while reading may be shapes. */
static bool
is_loop(qn_onnx *o, const qn_onnx_node *n, int64_t steps)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		if (n->in[i] == 0 || qn_onnx_is_list(o, n->in[i]))
			return false;
		if (qn_importer_known(&o->im, n->in[i]) != NULL &&
		    !qn_elem_is_float(qn_onnx_type(o, n->in[i])->elem))
			return false;
	}
	return steps > 1;
}

/* Result i of the body in all steps. */
static qn_id
stacked(qn_onnx *o, const qn_onnx_node *n, qn_importer_steps *s, uint32_t i, qn_id x)
{
	int32_t axis;

	if (!qn_onnx_axis(o, one_of(o, n, "scan_output_axes", i, 0), qn_onnx_type(o, x)->rank + 1,
			  &axis))
		return 0;
	return qn_importer_steps_stack(s, x, axis,
				       one_of(o, n, "scan_output_directions", i, 0) != 0);
}

static void
scan_loop(qn_onnx *o, const qn_onnx_node *n, qn_onnx_repeat *r, int64_t steps, qn_id *out)
{
	const uint32_t nout = r->nstate + r->ncollect;
	qn_importer_steps s;
	int32_t axis;

	qn_importer_steps_begin(&o->im, steps, &s);
	for (uint32_t i = 0; i < r->nstate; i++)
		r->in[i] = qn_importer_steps_carry(&s, n->in[i]);
	for (uint32_t i = 0; i < r->nscan; i++) {
		const qn_id x = n->in[r->nstate + i];

		(void)qn_onnx_axis(o, one_of(o, n, "scan_input_axes", i, 0),
				   qn_onnx_type(o, x)->rank, &axis);
		r->in[r->nstate + i] = qn_importer_steps_slice(
			&s, x, axis, one_of(o, n, "scan_input_directions", i, 0) != 0);
	}
	memset(r->out, 0, nout * sizeof r->out[0]);
	qn_onnx_body(o, r->body, r->nstate + r->nscan, r->in, nout, r->out);
	if (!qn_onnx_repeat_results_ok(o, r) || !qn_importer_steps_end(&s, r->nstate, r->out)) {
		o->im.loop = s.outer;
		return;
	}
	for (uint32_t i = 0; i < n->nout; i++)
		out[i] = i < r->nstate ? qn_importer_steps_last(&s, r->out[i])
				       : stacked(o, n, &s, i - r->nstate, r->out[i]);
}

void
qn_onnx_scan(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_repeat r = {.body = qn_onnx_graph(o, n, "body")};
	int64_t slices = qn_onnx_int(o, n, "num_scan_inputs", 0);
	int32_t axis;

	if (slices < 1 || slices > n->nin) {
		(void)qn_importer_refuse(&o->im, "import.attr", "num_scan_inputs is %lld",
					 (long long)slices);
		return;
	}
	r.nscan = (uint32_t)slices;
	r.nstate = n->nin - r.nscan;
	r.ncollect = n->nout > r.nstate ? n->nout - r.nstate : 0;
	int64_t steps = steps_of(o, n, r.nstate);
	if (steps < 0 || !qn_onnx_repeat_begin(o, &r, steps))
		return;
	if (is_loop(o, n, steps)) {
		scan_loop(o, n, &r, steps, out);
		return;
	}
	memcpy(r.in, n->in, r.nstate * sizeof r.in[0]);
	for (int64_t k = 0; k < steps && o->im.problems == r.problems; k++) {
		for (uint32_t i = 0; i < r.nscan; i++) {
			qn_id x = n->in[r.nstate + i];
			int64_t from = one_of(o, n, "scan_input_directions", i, 0) != 0
					       ? steps - 1 - k
					       : k;
			(void)qn_onnx_axis(o, one_of(o, n, "scan_input_axes", i, 0),
					   qn_onnx_type(o, x)->rank, &axis);
			x = qn_importer_slice(&o->im, x, axis, from, from + 1);
			r.in[r.nstate + i] = qn_importer_drop_dim(&o->im, x, axis);
		}
		if (!qn_onnx_repeat_step(o, &r))
			return;
	}
	for (uint32_t i = 0; i < n->nout && o->im.problems == r.problems; i++)
		out[i] = i < r.nstate ? r.in[i]
				      : qn_onnx_repeat_stack(
						o, &r, i - r.nstate,
						one_of(o, n, "scan_output_axes", i - r.nstate, 0),
						one_of(o, n, "scan_output_directions", i - r.nstate,
						       0) != 0);
}
