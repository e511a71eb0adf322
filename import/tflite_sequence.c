/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_sequence.c - see tflite_sequence.h. */
#include "import/tflite_sequence.h"

enum { MOST_STEPS = 4096 };

static bool
variables_ok(qn_tfl_op *o, uint64_t states)
{
	if (o->from[0] == NULL)
		return qn_importer_refuse(o->im, "import.input", "input 0 is missing (-1)") != 0;
	for (uint32_t i = 0; i < o->nin; i++) {
		const qn_tfl_tensor *t = o->from[i];
		bool state = (states & QN_TFL_STATE(i)) != 0;

		if (t == NULL || qn_tfl_is_variable(t) == state)
			continue;
		return qn_importer_refuse(o->im, "import.input",
					  state ? "the state '%s' is not a variable that begins at "
						  "0; convert the model with its own state"
						: "'%s' is a variable; only a state may be one",
					  t->name) != 0;
	}
	return true;
}

bool
qn_tfl_seq_open(qn_tfl_op *o, uint64_t states, bool time_major, qn_tfl_seq *s)
{
	if (!variables_ok(o, states))
		return false;
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	const uint64_t most = qn_importer_most(o->im, MOST_STEPS);
	if (x->rank != 3 || qn_type_count(x) < 1)
		return qn_importer_refuse(o->im, "import.rank",
					  "data of %d dimensions; must be 3, all known",
					  (int)x->rank) != 0;
	if ((uint64_t)x->dim[time_major ? 0 : 1] > most)
		return qn_importer_refuse(o->im, "import.size",
					  "a sequence of %lld steps; at most %llu are read%s",
					  (long long)x->dim[time_major ? 0 : 1],
					  (unsigned long long)most, qn_importer_more(o->im)) != 0;
	*s = (qn_tfl_seq){.o = o,
			  .batch = x->dim[time_major ? 1 : 0],
			  .steps = x->dim[time_major ? 0 : 1],
			  .time_major = time_major};
	return true;
}

bool
qn_tfl_seq_open_step(qn_tfl_op *o, uint64_t states, qn_tfl_seq *s)
{
	if (!variables_ok(o, states))
		return false;
	for (uint32_t i = 0; i < o->nin; i++)
		if ((states & QN_TFL_STATE(i)) != 0 && o->from[i] == NULL)
			return qn_importer_refuse(o->im, "import.input",
						  "the state %u is missing (-1)", i) != 0;
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	if (x->rank != 2 || qn_type_count(x) < 1)
		return qn_importer_refuse(o->im, "import.rank",
					  "data of %d dimensions; must be 2, all known",
					  (int)x->rank) != 0;
	*s = (qn_tfl_seq){.o = o, .batch = x->dim[0], .steps = 1, .single = true};
	return true;
}

void
qn_tfl_seq_begin(qn_tfl_seq *s)
{
	s->nstate = 0;
	qn_importer_steps_begin(s->o->im, s->steps, &s->loop);
}

qn_id
qn_tfl_seq_now(qn_tfl_seq *s, qn_id x)
{
	return x == 0 || s->single
		       ? x
		       : qn_importer_steps_slice(&s->loop, x, s->time_major ? 0 : 1, s->backward);
}

/* The value of a variable from run to run. */
static qn_id
kept_state(qn_tfl_seq *s, qn_tfl_tensor *t, const qn_type *want)
{
	const qn_type *have = qn_tfl_type(s->o->f, t);

	if (have == NULL)
		return 0;
	if (have != want)
		return qn_importer_refuse(
			s->o->im, "import.type",
			"the state '%s' has another shape or element type than the "
			"operator computes",
			t->name);
	return qn_tfl_read_variable(s->o->f, t);
}

qn_id
qn_tfl_seq_state(qn_tfl_seq *s, uint32_t input, int64_t cells, const qn_elem *e)
{
	const int64_t dim[] = {s->batch, cells};
	qn_tfl_tensor *t = s->steps == 1 ? s->o->from[input] : NULL;

	s->kept[s->nstate++] = t;
	if (t != NULL)
		return kept_state(s, t, qn_type_tensor(&s->o->im->m->types, e, 2, dim));
	return qn_importer_steps_carry(&s->loop, qn_importer_zeros(s->o->im, e, 2, dim));
}

qn_id
qn_tfl_seq_end(qn_tfl_seq *s, uint32_t n, const qn_id *next, qn_id x)
{
	if (!qn_importer_steps_end(&s->loop, n, next) || x == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (s->kept[i] != NULL && next[i] != 0)
			qn_tfl_assign_variable(s->o->f, s->kept[i], next[i]);
	return s->single ? x
			 : qn_importer_steps_stack(&s->loop, x, s->time_major ? 0 : 1, s->backward);
}

/* ---- both directions ---- */

bool
qn_tfl_directions_open(qn_tfl_op *o, uint32_t merged, uint32_t second, uint32_t weights,
		       qn_tfl_directions *w)
{
	const qn_id data = qn_tfl_real(o, 0), other = qn_tfl_real(o, second);
	const qn_type *a = qn_importer_type(o->im, data);
	const qn_type *b = other != 0 ? qn_importer_type(o->im, other) : a;

	*w = (qn_tfl_directions){.data = {data, data}, .merged = qn_tfl_flag(o, merged, 0) != 0};
	if (o->nout != (w->merged ? 1U : 2U))
		return qn_importer_refuse(o->im, "import.input",
					  "%u results; with merge_outputs it has 1, else 2",
					  o->nout) != 0;
	if (b->rank != 3 || b->dim[0] != a->dim[0] || b->dim[1] != a->dim[1])
		return qn_importer_refuse(
			       o->im, "import.input",
			       "the auxiliary data has another number of steps than the data") != 0;
	if (other != 0 && weights < o->nin && o->from[weights] != NULL)
		w->aux = other;
	else if (other != 0)
		w->data[1] = other;
	return true;
}

void
qn_tfl_directions_set_results(qn_tfl_op *o, const qn_tfl_directions *w)
{
	const qn_attrs a = {.axis = {2}};

	if (w->merged) {
		qn_tfl_set_result(o, 0,
				  qn_importer_op(o->im, QN_OP_concat, 2, w->result, &a, NULL));
		return;
	}
	qn_tfl_set_result(o, 0, w->result[0]);
	qn_tfl_set_result(o, 1, w->result[1]);
}
