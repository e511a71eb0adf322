/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_control.c - operators that run subgraphs: CALL, STABLEHLO_COMPOSITE, IF, WHILE.
 *
 *   STABLEHLO_COMPOSITE  the operators that its name stands for, whatever that is
 *   IF (constant, x)     the operators of the branch that it chooses
 *   IF (c, x)            where(c, the operators of one branch, those of the other): both run
 *   WHILE (x)            a loop (tflite_while.c); otherwise the operators of the body, as often as its condition,
 *                        which must be known while reading, says */
#include "import/tflite.h"

#include <string.h>

enum { FIELD_THEN, FIELD_ELSE, FIELD_CONDITION = 0, FIELD_BODY };

/* The inputs from `first` on. */
static void
held(const qn_tfl_op *o, uint32_t first, qn_tfl_held *x)
{
	for (uint32_t i = first; i < o->nin; i++)
		x[i - first] = (qn_tfl_held){
			.id = o->in[i],
			.variable = qn_tfl_is_handle(o->from[i]) ? o->from[i]->variable : NULL};
}

/* Runs a subgraph for all results of the operator. */
static void
run_for_results(qn_tfl_op *o, int64_t index, uint32_t nin, const qn_tfl_held *in)
{
	qn_tfl_held out[QN_TFL_MOST_OUTPUTS];

	if (!qn_tfl_run(o, index, nin, in, o->nout, out))
		return;
	for (uint32_t k = 0; k < o->nout; k++)
		qn_tfl_set_held(o, k, &out[k]);
}

static void
call_of(qn_tfl_op *o, uint32_t field)
{
	qn_tfl_held in[QN_TFL_MOST_INPUTS];

	held(o, 0, in);
	run_for_results(o, qn_tfl_option(o, field, 0), o->nin, in);
}

static void
call(qn_tfl_op *o)
{
	call_of(o, 0);
}

static void
composite(qn_tfl_op *o)
{
	call_of(o, 1);
}

/* ---- IF ---- */

/* Result k where the condition is true and where it is not; 0 after a report. */
static qn_id
chosen(qn_tfl_op *o, uint32_t k, qn_id condition, const qn_tfl_held *yes, const qn_tfl_held *no)
{
	if (yes->variable != NULL || no->variable != NULL)
		return qn_importer_refuse(o->im, "import.op",
					  "result %u names a variable, which must be known before "
					  "a run",
					  k);
	qn_id in[3] = {condition, qn_tfl_as(o, o->to[k], yes->id), qn_tfl_as(o, o->to[k], no->id)};
	if (in[1] == 0 || in[2] == 0)
		return 0;
	const qn_type *a = qn_importer_type(o->im, in[1]), *b = qn_importer_type(o->im, in[2]);
	if (a != b)
		return qn_importer_refuse(o->im, "import.type",
					  "the shape of result %u depends on a condition that is "
					  "known at run time only; fix the inputs that it depends "
					  "on (--input-value NAME=VALUE)",
					  k);
	return qn_importer_op(o->im, QN_OP_where, 3, in, NULL, NULL);
}

/* Both branches run, so neither may change a variable. */
static void
both_branches(qn_tfl_op *o, const qn_tfl_held *in)
{
	qn_tfl_held yes[QN_TFL_MOST_OUTPUTS], no[QN_TFL_MOST_OUTPUTS];
	const uint64_t assigned = o->f->assigned;

	if (!qn_tfl_run(o, qn_tfl_option(o, FIELD_THEN, 0), o->nin - 1, in, o->nout, yes) ||
	    !qn_tfl_run(o, qn_tfl_option(o, FIELD_ELSE, 0), o->nin - 1, in, o->nout, no))
		return;
	if (o->f->assigned != assigned) {
		(void)qn_importer_refuse(o->im, "import.op",
					 "a branch assigns a variable, and the condition '%s' is "
					 "known at run time only; fix the inputs that it depends "
					 "on (--input-value NAME=VALUE)",
					 o->from[0]->name);
		return;
	}
	const qn_id condition = qn_importer_reshape(o->im, o->in[0], 0, NULL);
	for (uint32_t k = 0; k < o->nout; k++) {
		o->im->node = o->to[k]->name;
		qn_tfl_set_result(o, k, chosen(o, k, condition, &yes[k], &no[k]));
	}
}

static void
branch(qn_tfl_op *o)
{
	const qn_tensor *known = qn_importer_known(o->im, o->in[0]);
	const qn_type *type = qn_importer_type(o->im, o->in[0]);
	qn_tfl_held in[QN_TFL_MOST_INPUTS];

	held(o, 1, in);
	if (qn_type_count(type) != 1 || type->elem->plain != QN_PLAIN_bool)
		(void)qn_importer_refuse(o->im, "import.input",
					 "the condition '%s' is not one truth value",
					 o->from[0]->name);
	else if (known != NULL)
		run_for_results(
			o,
			qn_tfl_option(o, qn_tensor_i64(known, 0) != 0 ? FIELD_THEN : FIELD_ELSE, 0),
			o->nin - 1, in);
	else
		both_branches(o, in);
}

/* ---- WHILE ---- */

/* Whether another step follows; false too after a report. */
static bool
goes_on(qn_tfl_op *o, const qn_tfl_held *x)
{
	qn_tfl_held condition;

	if (!qn_tfl_run(o, qn_tfl_option(o, FIELD_CONDITION, 0), o->nin, x, 1, &condition))
		return false;
	const qn_tensor *known = qn_importer_known(o->im, condition.id);
	if (known != NULL && qn_type_count(known->type) == 1)
		return qn_tensor_i64(known, 0) != 0;
	const char *why = condition.id != 0 ? qn_graph_node(o->im->g, condition.id)->name : "";
	(void)qn_importer_refuse(
		o->im, "import.constant",
		"the number of steps must be known before a run, but the condition "
		"'%s' depends on data; fix the inputs that it depends on "
		"(--input-value NAME=VALUE), or run the body once per sample",
		why);
	return false;
}

static void
repeat(qn_tfl_op *o)
{
	qn_tfl_held x[QN_TFL_MOST_INPUTS];
	const size_t problems = o->im->problems;

	if (o->nin != o->nout) {
		(void)qn_importer_refuse(o->im, "import.input", "%u inputs and %u results", o->nin,
					 o->nout);
		return;
	}
	if (qn_tfl_while_loop(o) || o->im->problems > problems)
		return;
	held(o, 0, x);
	while (goes_on(o, x))
		if (!qn_importer_step(o->im) ||
		    !qn_tfl_run(o, qn_tfl_option(o, FIELD_BODY, 0), o->nin, x, o->nout, x))
			return;
	for (uint32_t k = 0; k < o->nout && o->im->problems == problems; k++)
		qn_tfl_set_held(o, k, &x[k]);
}

const qn_tfl_row qn_tfl_control_rows[] = {
	{QN_TFL_CALL, call, 0, 0, QN_TFL_MOST_INPUTS, 0, 0},
	{QN_TFL_STABLEHLO_COMPOSITE, composite, 0, 0, QN_TFL_MOST_INPUTS, 0, 0},
	{QN_TFL_IF, branch, 0, 1, QN_TFL_MOST_INPUTS, 0, 0},
	{QN_TFL_WHILE, repeat, 0, 1, QN_TFL_MOST_INPUTS, 0, 0},
	{0},
};
