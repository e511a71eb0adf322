/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_sequence.c - see tflite_sequence.h. */
#include "import/tflite_sequence.h"

enum { MOST_STEPS = 4096 };

bool
qn_tfl_seq_open(qn_tfl_op *o, uint32_t i, bool time_major, qn_tfl_seq *s)
{
	const qn_type *x = qn_importer_type(o->im, o->in[i]);

	if (x->rank != 3 || qn_type_count(x) < 1 || x->dim[time_major ? 0 : 1] > MOST_STEPS)
		return qn_importer_refuse(o->im, "import.rank",
					  "data of %d dimensions; must be 3, all known, with at "
					  "most %d steps",
					  (int)x->rank, (int)MOST_STEPS) != 0;
	*s = (qn_tfl_seq){.o = o,
			  .batch = x->dim[time_major ? 1 : 0],
			  .steps = x->dim[time_major ? 0 : 1],
			  .time_major = time_major};
	return true;
}

bool
qn_tfl_seq_state_ok(qn_tfl_op *o, uint32_t i)
{
	return i >= o->nin || o->from[i] == NULL || qn_tfl_is_variable(o->from[i]) ||
	       qn_importer_refuse(o->im, "import.input",
				  "the state '%s' is no variable, which would begin at 0; convert "
				  "the model with a state of its own",
				  o->from[i]->name) != 0;
}

qn_id
qn_tfl_seq_rows(const qn_tfl_seq *s, qn_id x)
{
	if (x == 0)
		return 0;
	const qn_type *type = qn_importer_type(s->o->im, x);
	return qn_importer_reshape(s->o->im, x, 2,
				   (int64_t[]){s->batch * s->steps, type->dim[type->rank - 1]});
}

/* [batch,steps,F] or [steps,batch,F] of so many steps. */
static qn_id
in_order(const qn_tfl_seq *s, qn_id x, int64_t steps)
{
	if (x == 0)
		return 0;
	const qn_type *type = qn_importer_type(s->o->im, x);
	return qn_importer_reshape(s->o->im, x, 3,
				   (int64_t[]){s->time_major ? steps : s->batch,
					       s->time_major ? s->batch : steps,
					       type->dim[type->rank - 1]});
}

qn_id
qn_tfl_seq_by_step(const qn_tfl_seq *s, qn_id rows)
{
	return in_order(s, rows, s->steps);
}

qn_id
qn_tfl_seq_at(const qn_tfl_seq *s, qn_id x, int64_t k)
{
	int64_t t = s->backward ? s->steps - 1 - k : k;

	if (x == 0)
		return 0;
	const qn_type *type = qn_importer_type(s->o->im, x);
	return qn_importer_reshape(s->o->im,
				   qn_importer_slice(s->o->im, x, s->time_major ? 0 : 1, t, t + 1),
				   2, (int64_t[]){s->batch, type->dim[2]});
}

qn_id
qn_tfl_seq_joined(const qn_tfl_seq *s, const qn_id *part)
{
	qn_id *in = QN_NEW(s->o->im->scratch, qn_id, (size_t)s->steps);

	for (int64_t k = 0; k < s->steps; k++) {
		int64_t t = s->backward ? s->steps - 1 - k : k;

		in[t] = in_order(s, part[k], 1);
		if (in[t] == 0)
			return 0;
	}
	return qn_tfl_joined(s->o, s->steps, in, s->time_major ? 0 : 1);
}
