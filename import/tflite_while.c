/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_while.c - a WHILE whose body computes the same in each of a known number of steps, as a loop (ir/loops.h).
 *
 *   WHILE (time 0, h, xs, ys)       ->      %i = loop {count=28}
 *     GATHER (xs, time) -> x                %x = loop_slice %xs, %i
 *     f (x, h) -> h                         %h = loop_carry %h0, %i;  … f …;  %e = loop_end %i, %next
 *     DYNAMIC_UPDATE_SLICE (ys, h)          %ys = loop_stack %next, %e */
#include "import/importer_steps.h"
#include "import/tflite_while.h"

/* What the body gets of variable k; false after a report. */
static bool
given(qn_tfl_while *w, uint32_t k, qn_tfl_tensor *inner, qn_tfl_held *out)
{
	const qn_tfl_while_var *var = &w->var[k];

	*out = (qn_tfl_held){.id = w->o->in[k]};
	if (var->role >= QN_TFL_COUNTED)
		*out = (qn_tfl_held){.counter = &var->count};
	if (var->role != QN_TFL_CARRIED)
		return true;
	const qn_id first = qn_tfl_as(w->o, inner, w->o->in[k]);
	out->id = first != 0 ? qn_importer_steps_carry(w->steps, first) : 0;
	return out->id != 0;
}

/* What is carried on, with the types of what came in; how many, -1 after a report. */
static int32_t
next_values(qn_tfl_while *w, const qn_tfl_held *in, qn_tfl_held *out, qn_id *next)
{
	int32_t n = 0;

	for (uint32_t k = 0; k < w->n; k++) {
		if (w->var[k].role != QN_TFL_CARRIED)
			continue;
		const qn_type *to = qn_importer_type(w->o->im, in[k].id);
		const qn_id x = out[k].id != 0 ? qn_tfl_retyped(w->o, out[k].id, to->elem) : 0;
		if (x == 0 || qn_importer_type(w->o->im, x) != to) {
			(void)qn_importer_refuse(w->o->im, "import.type",
						 "variable %u has another type after a step", k);
			return -1;
		}
		out[k].id = next[n++] = x;
	}
	return n;
}

static qn_id
last_value(qn_tfl_while *w, uint32_t k, qn_id x)
{
	const qn_tfl_while_var *var = &w->var[k];
	const qn_type *type = qn_importer_type(w->o->im, w->o->in[k]);

	switch (var->role) {
	case QN_TFL_SAME:
		return w->o->in[k];
	case QN_TFL_COUNTED:
		x = qn_importer_i64(w->o->im, var->count.start + w->count * var->count.step);
		return qn_importer_reshape(w->o->im,
					   qn_importer_cast(w->o->im, x, type->elem->plain),
					   type->rank, type->dim);
	case QN_TFL_STACKED:
		return qn_importer_steps_stack(w->steps, x, var->count.at, var->count.step < 0);
	case QN_TFL_CARRIED:
		break;
	}
	return qn_importer_steps_last(w->steps, x);
}

static bool
read_body(qn_tfl_while *w, qn_tfl_held *in, qn_tfl_held *out, qn_id *next)
{
	enum { FIELD_BODY = 1 };
	qn_tfl *f = w->o->f;
	const int64_t body = qn_tfl_option(w->o, FIELD_BODY, 0);

	for (uint32_t k = 0; k < w->n; k++) {
		qn_tfl_tensor *inner = qn_tfl_input_of(f, body, k);

		if (inner == NULL || !given(w, k, inner, &in[k]))
			return false;
	}
	if (!qn_tfl_run(w->o, body, w->n, in, w->n, out))
		return false;
	const int32_t n = next_values(w, in, out, next);
	return n >= 0 && qn_importer_steps_end(w->steps, (uint32_t)n, next);
}

bool
qn_tfl_while_loop(qn_tfl_op *o)
{
	qn_tfl_while *w = QN_NEW(o->im->scratch, qn_tfl_while, 1);
	qn_tfl_held in[QN_TFL_MOST_OUTPUTS], out[QN_TFL_MOST_OUTPUTS];
	qn_id next[QN_TFL_MOST_OUTPUTS];
	qn_importer_steps s;

	if (!qn_tfl_while_find(o, w))
		return false;
	qn_importer_steps_begin(o->im, w->count, &s);
	w->steps = &s;
	if (!read_body(w, in, out, next)) {
		o->im->loop = s.outer;
		return true;
	}
	for (uint32_t k = 0; k < w->n; k++)
		qn_tfl_set_held(o, k, &(qn_tfl_held){.id = last_value(w, k, out[k].id)});
	return true;
}

/* ---- operators that read a count ---- */

/* Slice `start + step * number` of x along an axis. */
static void
gather(qn_tfl_op *o, const qn_tfl_counter *c)
{
	const qn_type *type = qn_importer_type(o->im, o->in[0]);
	const int64_t n = c->of->count, from = c->step < 0 ? c->start - n + 1 : c->start;
	int32_t axis;

	if (!qn_tfl_axis(o, qn_tfl_option(o, 0, 0), type->rank, &axis))
		return;
	if (from < 0 || from + n > type->dim[axis]) {
		(void)qn_importer_refuse(o->im, "import.dim",
					 "steps read the indices %lld to %lld of an axis that has "
					 "%lld",
					 (long long)from, (long long)(from + n - 1),
					 (long long)type->dim[axis]);
		return;
	}
	qn_id x = qn_tfl_moved(o, 0);
	if (x != 0 && n < type->dim[axis])
		x = qn_importer_slice(o->im, x, axis, from, from + n);
	if (x != 0)
		qn_tfl_set_result(o, 0,
				  qn_importer_steps_slice(c->of->steps, x, axis, c->step < 0));
}

/* What a step puts into a stack, without the axis along which it is stacked. */
static void
stacked(qn_tfl_op *o, const qn_tfl_counter *place)
{
	const qn_type *u = qn_importer_type(o->im, o->in[1]);
	const qn_type *all = qn_importer_type(o->im, place->of->o->in[place->var]);
	bool fits = u->rank == all->rank;

	for (int32_t i = 0; i < u->rank && fits; i++)
		fits = u->dim[i] == (i == place->at ? 1 : all->dim[i]);
	if (!fits) {
		(void)qn_importer_refuse(o->im, "import.dim",
					 "a step does not put one whole slice into '%s'",
					 o->to[0]->name);
		return;
	}
	qn_id x = qn_tfl_as(o, o->to[0], o->in[1]);
	if (x != 0)
		o->to[0]->id = qn_importer_drop_dim(o->im, x, place->at);
}

/* The count that input i is, or NULL. */
static const qn_tfl_counter *
counter_of(const qn_tfl_op *o, uint32_t i)
{
	return o->from[i] != NULL ? o->from[i]->counter : NULL;
}

static void
pack(qn_tfl_op *o)
{
	qn_tfl_counter *c = QN_NEW(o->im->scratch, qn_tfl_counter, 1);

	for (uint32_t i = 0; i < o->nin; i++)
		if (counter_of(o, i) != NULL) {
			*c = *counter_of(o, i);
			c->at = (int32_t)i;
		}
	o->to[0]->counter = c;
}

/* The operators that qn_tfl_while_find lets read counts. */
bool
qn_tfl_reads_counter(qn_tfl_op *o, int64_t code)
{
	const qn_tfl_counter *c = NULL;

	for (uint32_t i = 0; i < o->nin; i++)
		if (counter_of(o, i) != NULL)
			c = counter_of(o, i);
	if (c == NULL)
		return false;
	o->is_read = true;
	const uint32_t value = code == QN_TFL_GATHER ? 0 : 1;
	if (code == QN_TFL_ADD || code == QN_TFL_SUB)
		o->to[0]->counter = c;
	else if (code == QN_TFL_PACK)
		pack(o);
	else if ((o->in[value] = qn_tfl_value(o->f, o->from[value])) != 0 &&
		 qn_tfl_type(o->f, o->to[0]) != NULL) {
		const qn_tfl_counter *place = counter_of(o, 0);

		if (code == QN_TFL_GATHER)
			gather(o, c);
		else if (place != NULL)
			stacked(o, place);
	}
	return true;
}
