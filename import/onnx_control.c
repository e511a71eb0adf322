/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_control.c - operators with bodies, expanded while reading.
 *
 *   If(c)             the branch that a condition known while reading chooses; with another one
 *                     where(c, the nodes of one branch, those of the other): both run
 *   Loop(3, true, x)  three times the nodes of the body: the number of steps and whether another follows must be known,
 *                     as they are where they come from constants and shapes
 *   Scan(s, x)        a loop over the slices of x (ir/loops.h); where the body may need the integers of a constant,
 *                     the nodes of the body for each of them */
#include "import/importer_steps.h"
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

/* ---- If ---- */

/* The results of a branch; false after a report. */
static bool
run_branch(qn_onnx *o, const qn_onnx_node *n, const char *name, qn_id *out)
{
	const Onnx__GraphProto *g = qn_onnx_graph(o, n, name);

	if (g == NULL)
		return qn_importer_refuse(&o->im, "import.attr", "the branch %s is missing",
					  name) != 0;
	qn_onnx_body(o, g, 0, NULL, n->nout, out);
	return true;
}

/* Result k where the condition is true and where it is not; 0 after a report, or where one has no result. */
static qn_id
chosen(qn_onnx *o, uint32_t k, qn_id condition, qn_id yes, qn_id no)
{
	if (yes == 0 || no == 0)
		return 0;
	if (qn_onnx_is_list(o, yes) || qn_onnx_is_list(o, no))
		return qn_importer_refuse(
			&o->im, "import.type",
			"result %u is a sequence, which needs a condition that is "
			"known before a run",
			k);
	if (qn_onnx_type(o, yes) != qn_onnx_type(o, no))
		return qn_importer_refuse(
			&o->im, "import.type",
			"the shape or the type of result %u depends on a condition "
			"that is known at run time only; fix the inputs that it "
			"depends on (--input-value NAME=VALUE)",
			k);
	return qn_importer_op(&o->im, QN_OP_where, 3, (qn_id[]){condition, yes, no}, NULL, NULL);
}

static void
both_branches(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id *yes = QN_NEW(o->im.scratch, qn_id, n->nout + 1);
	qn_id *no = QN_NEW(o->im.scratch, qn_id, n->nout + 1);
	const qn_importer before = o->im;

	if (!run_branch(o, n, "then_branch", yes) || !run_branch(o, n, "else_branch", no))
		return;
	qn_importer_at(&o->im, before.node, before.op, before.version);
	const qn_id condition = qn_importer_reshape(&o->im, n->in[0], 0, NULL);
	for (uint32_t k = 0; k < n->nout; k++)
		if (n->proto->output[k][0] != '\0')
			out[k] = chosen(o, k, condition, yes[k], no[k]);
}

static void
if_node(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_tensor *known = qn_importer_known(&o->im, n->in[0]);
	const qn_type *type = qn_onnx_type(o, n->in[0]);

	if (qn_type_count(type) != 1 || type->elem->plain != QN_PLAIN_bool)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "the condition is not one truth value");
	else if (known != NULL)
		(void)run_branch(o, n, qn_tensor_i64(known, 0) != 0 ? "then_branch" : "else_branch",
				 out);
	else
		both_branches(o, n, out);
}

/* ---- what repeats ---- */

typedef struct repeat {
	const Onnx__GraphProto *body;
	uint32_t first_in,
		first_out; /* of the body, after those that are not values of the loop: step and condition */
	uint32_t nstate, nscan,
		ncollect; /* carried on; a slice of each in each step; a result of each step */
	qn_id *in, *out;  /* of the body */
	qn_id *collected; /* [ncollect][most] */
	int64_t most, steps;
	size_t problems; /* before it */
} repeat;

/* Room for `most` steps, whether the body has what the node gives and takes; false after a report. */
static bool
begin(qn_onnx *o, repeat *r, int64_t most)
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

/* One step; false after a report. */
static bool
step(qn_onnx *o, repeat *r)
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

/* The results of all steps along a new axis, counted from the end when it is negative; 0 after a report. */
static qn_id
stack(qn_onnx *o, const repeat *r, uint32_t i, int64_t axis, bool reversed)
{
	qn_id *x = QN_NEW(o->im.scratch, qn_id, (size_t)r->steps + 1);
	int32_t at = 0;

	if (r->steps == 0)
		return qn_importer_refuse(
			&o->im, "import.dim",
			"there are no steps, so the shape of the result of a step is unknown");
	for (int64_t k = 0; k < r->steps; k++) {
		qn_id y = r->collected[(size_t)i * (size_t)r->most + (size_t)k];

		if (!qn_onnx_axis(o, axis, qn_onnx_type(o, y)->rank + 1, &at))
			return 0;
		x[reversed ? r->steps - 1 - k : k] = qn_importer_expand_dim(&o->im, y, at);
	}
	return qn_importer_join(&o->im, r->steps, x, at);
}

/* ---- Loop ---- */

/* Whether a constant is true; false too after a report. */
static bool
goes_on(qn_onnx *o, qn_id condition)
{
	const qn_tensor *c = qn_importer_known(&o->im, condition);

	if (c != NULL && qn_type_count(c->type) == 1)
		return qn_tensor_i64(c, 0) != 0;
	(void)qn_importer_refuse(&o->im, "import.constant",
				 "the number of steps must be known before a run: the condition "
				 "may only depend on constants and shapes");
	return false;
}

static void
loop(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	repeat r = {.body = qn_onnx_graph(o, n, "body"), .first_in = 2, .first_out = 1};
	int64_t most = QN_IMPORT_MOST;

	if (qn_onnx_in(n, 0) != 0 && qn_onnx_const_ints(o, n, 0, 1, &most) != 1)
		return;
	r.nstate = n->nin > 2 ? n->nin - 2 : 0;
	r.ncollect = n->nout > r.nstate ? n->nout - r.nstate : 0;
	if (!begin(o, &r, most))
		return;
	for (uint32_t i = 0; i < r.nstate; i++)
		r.in[2 + i] = n->in[2 + i];
	bool on = qn_onnx_in(n, 1) == 0 || goes_on(o, n->in[1]);
	for (int64_t k = 0; on && k < most; k++) {
		r.in[0] = qn_importer_i64(&o->im, k);
		r.in[1] = qn_importer_cast(&o->im, qn_importer_i64(&o->im, 1), QN_PLAIN_bool);
		on = step(o, &r) && o->im.problems == r.problems &&
		     (k + 1 == most || goes_on(o, r.out[0]));
	}
	for (uint32_t i = 0; i < n->nout && o->im.problems == r.problems; i++)
		out[i] = i < r.nstate ? r.in[2 + i] : stack(o, &r, i - r.nstate, 0, false);
}

/* ---- Scan ---- */

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

/* Whether the body gives a value for each result, and states of the types with which they began; reports. */
static bool
results_ok(qn_onnx *o, const repeat *r)
{
	for (uint32_t i = 0; i < r->nstate + r->ncollect; i++) {
		const qn_id x = r->out[i];

		if (x == 0 && o->im.problems == r->problems)
			(void)qn_importer_refuse(
				&o->im, "import.output",
				"result %u of the body is not computed by any of its nodes", i);
		if (x == 0)
			return false;
		if (qn_onnx_is_list(o, x))
			return qn_importer_refuse(&o->im, "import.type",
						  "a sequence per step is not supported") != 0;
		if (i < r->nstate && qn_onnx_type(o, x) != qn_onnx_type(o, r->in[i]))
			return qn_importer_refuse(&o->im, "import.type",
						  "state %u has another type after a step", i) != 0;
	}
	return true;
}

static void
scan_loop(qn_onnx *o, const qn_onnx_node *n, repeat *r, int64_t steps, qn_id *out)
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
	if (!results_ok(o, r) || !qn_importer_steps_end(&s, r->nstate, r->out)) {
		o->im.loop = s.outer;
		return;
	}
	for (uint32_t i = 0; i < n->nout; i++)
		out[i] = i < r->nstate ? qn_importer_steps_last(&s, r->out[i])
				       : stacked(o, n, &s, i - r->nstate, r->out[i]);
}

static void
scan(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	repeat r = {.body = qn_onnx_graph(o, n, "body")};
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
	if (steps < 0 || !begin(o, &r, steps))
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
		if (!step(o, &r))
			return;
	}
	for (uint32_t i = 0; i < n->nout && o->im.problems == r.problems; i++)
		out[i] = i < r.nstate ? r.in[i]
				      : stack(o, &r, i - r.nstate,
					      one_of(o, n, "scan_output_axes", i - r.nstate, 0),
					      one_of(o, n, "scan_output_directions", i - r.nstate,
						     0) != 0);
}

const qn_onnx_row qn_onnx_control[] = {
	QN_ONNX_READ("", "If", 1, if_node, 0),
	QN_ONNX_READ("", "Loop", 1, loop, 0),
	QN_ONNX_READ("", "Scan", 9, scan, 0),
	{0},
};
