/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_loop.c - Loop, whose number of steps must be known before a run, as must be whether another step follows.
 *
 *   Loop(28, true, h) { …Gather(x, i)… }    a loop (ir/loops.h): i, the number of the step, only says which slice is
 *                                           read (onnx_loop_slice.c)
 *   Loop(3, true, x) { …x * i… }            the nodes of the body three times: what they do with an integer may
 *                                           have to be known while reading
 *
 * Counters, and conditions that follow from them, are computed before (onnx_loop_body.h). */
#include "import/importer_steps.h"
#include "import/onnx_loop_body.h"
#include "ir/diag.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

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

static qn_id
true_value(qn_onnx *o)
{
	return qn_importer_cast(&o->im, qn_importer_i64(&o->im, 1), QN_PLAIN_bool);
}

/* ---- as a loop ---- */

enum { MOST_STATES = 250 }; /* a node has 255 operands at most */

/* The outputs of the body that say what is known in each step: the condition and what counts; or the others. */
static const bool *
outputs_of(const qn_loop_body *b, bool known)
{
	const size_t n = b->body->n_output;
	const size_t taken = b->node->nout > b->nstate ? b->node->nout : b->nstate;
	bool *wanted = QN_NEW(b->o->im.scratch, bool, n + 1);

	for (size_t i = 0; i <= taken && i < n; i++) {
		const bool state = i >= 1 && i <= b->nstate;
		const bool counts = state && b->state[i - 1] == QN_LOOP_COUNTS;
		const bool kept = state && b->state[i - 1] == QN_LOOP_KEPT;

		wanted[i] = known ? i == 0 || counts : i > 0 && !counts && !kept;
	}
	return wanted;
}

/* A constant integer or truth value; false: it is none. */
static bool
is_known(qn_onnx *o, qn_id x, int64_t *out)
{
	const qn_tensor *c = x != 0 && !qn_onnx_is_list(o, x) ? qn_importer_known(&o->im, x) : NULL;

	if (c == NULL || qn_type_count(c->type) != 1 || qn_elem_is_float(c->type->elem))
		return false;
	*out = qn_tensor_i64(c, 0);
	return true;
}

/* One step of what is known in each: the next counters in r->in; *on: another step follows; false: something is not
 * known, or was reported. */
static bool
count_one(qn_loop_body *b, qn_onnx_repeat *r, const Onnx__GraphProto *part, int64_t k, bool *on)
{
	qn_onnx *o = b->o;
	int64_t v = 0;

	r->in[0] = qn_importer_i64(&o->im, k);
	r->in[1] = true_value(o);
	memset(r->out, 0, (1 + r->nstate) * sizeof r->out[0]);
	qn_onnx_body(o, part, 2 + r->nstate, r->in, 1 + r->nstate, r->out);
	if (o->im.problems > r->problems || !is_known(o, r->out[0], &v))
		return false;
	*on = v != 0;
	for (uint32_t i = 0; i < r->nstate; i++) {
		if (b->state[i] != QN_LOOP_COUNTS)
			continue;
		if (!is_known(o, r->out[1 + i], &v))
			return false;
		b->is_number[i] = b->is_number[i] && v == k + 1;
		r->in[2 + i] = r->out[1 + i];
	}
	return true;
}

/* The number of steps, of at most `most`; 0: it is not known before, or has to be found step by step.  The counters
 * after them are in r->in. */
static int64_t
count_steps(qn_loop_body *b, qn_onnx_repeat *r, int64_t most)
{
	const int64_t limit = (int64_t)qn_importer_most(&b->o->im, QN_IMPORT_STEPS);
	const char *again = b->body->output[0]->name;
	Onnx__GraphProto part;
	bool counts = false, on = true;
	int64_t k = 0, v;

	memcpy(r->in, b->node->in, (2 + r->nstate) * sizeof r->in[0]);
	for (uint32_t i = 0; i < r->nstate; i++) {
		counts = counts || b->state[i] == QN_LOOP_COUNTS;
		b->is_number[i] =
			b->state[i] == QN_LOOP_COUNTS && is_known(b->o, r->in[2 + i], &v) && v == 0;
	}
	if (!counts && again != NULL &&
	    strcmp(qn_loop_body_origin(b, again), b->body->input[1]->name) == 0)
		return most;
	if (!qn_loop_body_part(b, outputs_of(b, true), &part) || !qn_loop_body_counts(b, &part))
		return 0;
	for (; on && k < most; k++)
		if (k == limit || !count_one(b, r, &part, k, &on))
			return 0;
	return k;
}

/* Whether states keep their types; nothing is reported. */
static bool
repeats(const qn_loop_body *b, const qn_onnx_repeat *r)
{
	for (uint32_t i = 0; i < r->nstate; i++)
		if (b->state[i] == QN_LOOP_CARRIED &&
		    (r->out[1 + i] == 0 || qn_onnx_is_list(b->o, r->out[1 + i]) ||
		     qn_onnx_type(b->o, r->out[1 + i]) != qn_onnx_type(b->o, r->in[2 + i])))
			return false;
	return true;
}

/* What the body gives in all steps. */
static void
end_loop(const qn_loop_body *b, qn_onnx_repeat *r, qn_importer_steps *s, qn_id *out)
{
	qn_id *next = QN_NEW(b->o->im.scratch, qn_id, r->nstate + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nstate; i++)
		if (b->state[i] == QN_LOOP_CARRIED)
			next[n++] = r->out[1 + i];
		else
			r->out[1 + i] = r->in[2 + i]; /* for the check */
	if (!qn_onnx_repeat_results_ok(b->o, r) || !qn_importer_steps_end(s, n, next)) {
		b->o->im.loop = s->outer;
		return;
	}
	for (uint32_t i = 0; i < b->node->nout; i++)
		if (i >= r->nstate)
			out[i] = qn_importer_steps_stack(s, r->out[1 + i], 0, false);
		else
			out[i] = b->state[i] == QN_LOOP_CARRIED
					 ? qn_importer_steps_last(s, r->out[1 + i])
					 : r->in[2 + i];
}

/* The number of the step as a counter of this type. */
static qn_id
number_as(qn_onnx *o, qn_id number, const qn_type *type)
{
	const qn_id x = qn_importer_cast(&o->im, number, type->elem->plain);

	return type->rank > 0 ? qn_importer_expand_dim(&o->im, x, 0) : x;
}

/* The body as it is in each step; false: a slice of it is not one of each step, and nothing was reported. */
static bool
read_step(qn_onnx *o, const Onnx__GraphProto *part, qn_onnx_repeat *r, const qn_id *in,
	  uint32_t nout)
{
	const qn_importer before = o->im;
	const qn_diag_mark mark = qn_diag_mark_now(o->im.m->env);
	const bool outer = o->unsliced; /* of the loop around it, whose body is being read */

	memset(r->out, 0, nout * sizeof r->out[0]);
	o->unsliced = false;
	qn_onnx_body(o, part, 2 + r->nstate, in, nout, r->out);
	const bool sliced = !o->unsliced;
	o->unsliced = outer;
	if (sliced)
		return true;
	qn_diag_forget(o->im.m->env, mark);
	o->im.problems = before.problems;
	o->im.behind = before.behind;
	o->im.first_behind = before.first_behind;
	o->im.why = before.why;
	return false;
}

/* False, and nothing was reported: the steps have to be read one by one.  What was made of the body no output needs. */
static bool
as_loop(qn_onnx *o, const qn_onnx_node *n, qn_onnx_repeat *r, int64_t most, qn_id *out)
{
	const uint32_t nout = 1 + r->nstate + r->ncollect;
	Onnx__GraphProto part;
	qn_importer_steps s;
	qn_loop_body b;
	int64_t v;

	if (r->nstate > MOST_STATES || (n->in[1] != 0 && (!is_known(o, n->in[1], &v) || v == 0)) ||
	    !qn_loop_body_init(&b, o, n, r))
		return false;
	for (uint32_t i = 0; i < r->nstate; i++)
		if (b.state[i] == QN_LOOP_OTHER)
			return false;
	/* as if what counts were the number of the step: whether it is costs more to find out */
	memset(b.is_number, true, r->nstate);
	if (!qn_loop_body_part(&b, outputs_of(&b, false), &part) || !qn_loop_body_slices(&b, &part))
		return false;
	const int64_t steps = count_steps(&b, r, most);
	if (o->im.problems > r->problems)
		return true;
	if (steps < 2 || steps > INT32_MAX || !qn_loop_body_slices(&b, &part))
		return false;
	qn_importer_steps_begin(&o->im, steps, &s);
	r->in[0] = qn_importer_cast(&o->im, s.number, QN_PLAIN_i64);
	r->in[1] = true_value(o);
	qn_id *in = qn_arena_copy(o->im.scratch, r->in, (2 + r->nstate) * sizeof *in);
	for (uint32_t i = 0; i < r->nstate; i++)
		if (b.state[i] == QN_LOOP_CARRIED)
			in[2 + i] = r->in[2 + i] = qn_importer_steps_carry(&s, n->in[2 + i]);
		else if (b.is_number[i])
			in[2 + i] = number_as(o, s.number, qn_onnx_type(o, n->in[2 + i]));
	const bool sliced = read_step(o, &part, r, in, nout);
	const bool failed = o->im.problems > r->problems;
	if (failed || !sliced || !repeats(&b, r)) {
		o->im.loop = s.outer;
		return failed;
	}
	end_loop(&b, r, &s, out);
	return true;
}

/* ---- the operator ---- */

static void
unrolled(qn_onnx *o, const qn_onnx_node *n, qn_onnx_repeat *r, int64_t most, qn_id *out)
{
	for (uint32_t i = 0; i < r->nstate; i++)
		r->in[2 + i] = n->in[2 + i];
	bool on = qn_onnx_in(n, 1) == 0 || goes_on(o, n->in[1]);
	for (int64_t k = 0; on && k < most; k++) {
		r->in[0] = qn_importer_i64(&o->im, k);
		r->in[1] = true_value(o);
		on = qn_onnx_repeat_step(o, r) && o->im.problems == r->problems &&
		     (k + 1 == most || goes_on(o, r->out[0]));
	}
	for (uint32_t i = 0; i < n->nout && o->im.problems == r->problems; i++)
		out[i] = i < r->nstate ? r->in[2 + i]
				       : qn_onnx_repeat_stack(o, r, i - r->nstate, 0, false);
}

void
qn_onnx_loop(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_repeat r = {.body = qn_onnx_graph(o, n, "body"), .first_in = 2, .first_out = 1};
	int64_t most = QN_IMPORT_MOST;

	if (qn_onnx_in(n, 0) != 0 && qn_onnx_const_ints(o, n, 0, 1, &most) != 1)
		return;
	r.nstate = n->nin > 2 ? n->nin - 2 : 0;
	r.ncollect = n->nout > r.nstate ? n->nout - r.nstate : 0;
	if (!qn_onnx_repeat_begin(o, &r, most))
		return;
	const uint64_t nodes = o->im.nodes;
	if (as_loop(o, n, &r, most, out))
		return;
	o->im.nodes = nodes; /* no output needs those that the attempt has made */
	unrolled(o, n, &r, most, out);
}
