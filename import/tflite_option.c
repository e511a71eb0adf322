/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_option.c - options of an operator: those of its table, constant inputs, axes.
 *
 *   field 3 of Conv2DOptions    qn_tfl_flag(o, 3, QN_TFL_ACT_NONE)     absent: the schema's default */
#include "import/tflite.h"

#include <string.h>

int64_t
qn_tfl_option(const qn_tfl_op *o, uint32_t field, int64_t absent)
{
	return qn_flat_int(&o->options, field, QN_FLAT_I32, absent);
}

int64_t
qn_tfl_flag(const qn_tfl_op *o, uint32_t field, int64_t absent)
{
	return qn_flat_int(&o->options, field, QN_FLAT_I8, absent);
}

double
qn_tfl_option_real(const qn_tfl_op *o, uint32_t field, double absent)
{
	return qn_flat_real(&o->options, field, absent);
}

int32_t
qn_tfl_ints(qn_tfl_op *o, uint32_t i, int32_t most, int64_t *v)
{
	int32_t n = qn_importer_ints(o->im, o->in[i], most, v);

	if (n < 0)
		(void)qn_importer_refuse(
			o->im, "import.input",
			"input %u ('%s') must be a constant of at most %d integers%s", i,
			o->from[i]->name, (int)most,
			qn_importer_known(o->im, o->in[i]) != NULL
				? ""
				: "; fix the inputs that it depends on (--input-value NAME=VALUE)");
	return n;
}

int32_t
qn_tfl_dims(qn_tfl_op *o, uint32_t i, int32_t from, int32_t most, int64_t *v)
{
	const qn_tfl_tensor *y = o->to[0];
	const qn_type *says = qn_importer_type(o->im, o->in[i]);
	int32_t n = y->rank - from < most ? y->rank - from : most;
	bool known = n > 0 && qn_importer_known(o->im, o->in[i]) == NULL && says->rank == 1 &&
		     says->dim[0] == n;

	for (int32_t k = 0; known && k < n; k++)
		known = y->dim[from + k] >= 0;
	if (!known)
		return qn_tfl_ints(o, i, most, v);
	memcpy(v, y->dim + from, (size_t)n * sizeof *v);
	return n;
}

int32_t
qn_tfl_rank(const qn_tfl_op *o, uint32_t i)
{
	return qn_importer_type(o->im, o->in[i])->rank;
}

bool
qn_tfl_axis(qn_tfl_op *o, int64_t axis, int32_t rank, int32_t *out)
{
	if (axis < -(int64_t)rank || axis >= rank)
		return qn_importer_refuse(o->im, "import.attr", "axis %lld of %d dimensions",
					  (long long)axis, (int)rank) != 0;
	*out = (int32_t)(axis < 0 ? axis + rank : axis);
	return true;
}
