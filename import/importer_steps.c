/* SPDX-License-Identifier: Apache-2.0 */
/* importer_steps.c - see importer_steps.h. */
#include "import/importer_steps.h"

#include <string.h>

void
qn_importer_steps_begin(qn_importer *im, int64_t count, qn_importer_steps *s)
{
	qn_attrs a = {.loop = {count}};

	*s = (qn_importer_steps){.im = im, .count = count, .outer = im->loop};
	if (count == 1)
		return;
	s->number =
		qn_importer_op_unfolded(im, QN_OP_loop, im->loop != 0 ? 1 : 0, &im->loop, &a, NULL);
	im->loop = s->number;
}

qn_id
qn_importer_steps_slice(qn_importer_steps *s, qn_id x, int32_t axis, bool reverse)
{
	qn_attrs a = {.loop_slice = {axis, reverse}};

	if (s->count == 1)
		return qn_importer_drop_dim(s->im, x, axis);
	return qn_importer_op_unfolded(s->im, QN_OP_loop_slice, 2, (qn_id[]){x, s->number}, &a,
				       NULL);
}

qn_id
qn_importer_steps_carry(qn_importer_steps *s, qn_id first)
{
	qn_attrs a = {.loop_carry = {s->ncarry++}};

	if (s->count == 1)
		return first;
	return qn_importer_op_unfolded(s->im, QN_OP_loop_carry, 2, (qn_id[]){first, s->number}, &a,
				       NULL);
}

bool
qn_importer_steps_end(qn_importer_steps *s, uint32_t n, const qn_id *next)
{
	qn_id *in = QN_NEW(s->im->scratch, qn_id, (size_t)n + 1);

	s->im->loop = s->outer;
	if (s->count == 1)
		return true;
	in[0] = s->number;
	memcpy(in + 1, next, n * sizeof *in);
	s->end = qn_importer_op_unfolded(s->im, QN_OP_loop_end, n + 1, in, NULL, NULL);
	return s->end != 0;
}

qn_id
qn_importer_steps_stack(qn_importer_steps *s, qn_id x, int32_t axis, bool reverse)
{
	qn_attrs a = {.loop_stack = {axis, s->count, reverse}};

	if (s->count == 1)
		return qn_importer_expand_dim(s->im, x, axis);
	return qn_importer_op_unfolded(s->im, QN_OP_loop_stack, 2, (qn_id[]){x, s->end}, &a, NULL);
}

qn_id
qn_importer_steps_last(qn_importer_steps *s, qn_id x)
{
	return s->count == 1 ? x
			     : qn_importer_op_unfolded(s->im, QN_OP_loop_last, 2,
						       (qn_id[]){x, s->end}, NULL, NULL);
}

qn_id
qn_importer_zeros(qn_importer *im, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const qn_type *type = qn_type_tensor(&im->m->types, e, rank, dim);
	const bool quantized = qn_elem_is_quant(e);
	double scale;
	int64_t zp = 0;
	void *data;

	if (!qn_importer_take_type(im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(im->m->arena, type, &data);
	if (quantized)
		qn_elem_param(&im->m->types, e, 0, &scale, &zp);
	for (int64_t i = 0; zp != 0 && i < qn_type_count(type); i++)
		qn_store_i64(data, e->plain, i, zp);
	return qn_importer_const(im, NULL, x);
}
