/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_lengths.c - sequences of different lengths in one batch (onnx_recurrent.h). */
#include "import/onnx_recurrent.h"

bool
qn_onnx_lengths(qn_onnx *o, const qn_onnx_node *n, uint32_t i, qn_lengths *l)
{
	int64_t *of;

	if (l->batch < 1 || l->batch > 1 << 16) {
		(void)qn_importer_refuse(&o->im, "import.size",
					 "lengths of %lld sequences are not supported",
					 (long long)l->batch);
		return false;
	}
	of = QN_NEW(o->im.scratch, int64_t, (size_t)l->batch);
	int32_t count = qn_onnx_const_ints(o, n, i, (int32_t)l->batch, of);
	bool ok = count == l->batch;
	for (int32_t k = 0; ok && k < count; k++) {
		ok = of[k] >= 0 && of[k] <= l->steps;
		if (of[k] != l->steps)
			l->of = of;
	}
	if (count >= 0 && !ok)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "one length per sequence is needed, of 0 to %lld steps",
					 (long long)l->steps);
	return ok;
}

qn_id
qn_onnx_turned(qn_onnx *o, const qn_lengths *l, qn_id x)
{
	qn_importer *im = &o->im;
	qn_attrs a = {0};

	if (x == 0 || !qn_importer_take(im, 16 * (uint64_t)l->steps * (uint64_t)l->batch))
		return 0;
	int64_t *row = QN_NEW(im->scratch, int64_t, (size_t)(l->steps * l->batch));
	for (int64_t t = 0; t < l->steps; t++)
		for (int64_t b = 0; b < l->batch; b++) {
			int64_t end = l->of[b];
			row[t * l->batch + b] = (t < end ? end - 1 - t : t) * l->batch + b;
		}
	qn_id in[] = {x, qn_importer_i64s(im, (int32_t)(l->steps * l->batch), row)};
	return qn_importer_op(im, QN_OP_gather, 2, in, &a, NULL);
}

qn_id
qn_onnx_going(qn_onnx *o, const qn_lengths *l, int64_t t, qn_id x, qn_id other)
{
	int64_t dim[] = {l->batch, 1};
	bool all = true;
	void *data;

	for (int64_t b = 0; l->of != NULL && b < l->batch; b++)
		all = all && t < l->of[b];
	if (all || x == 0 || other == 0)
		return x;
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_bool, 2, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *going = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t b = 0; b < l->batch; b++)
		((uint8_t *)data)[b] = t < l->of[b];
	qn_id in[] = {qn_importer_const(&o->im, NULL, going), x, other};
	return qn_importer_op(&o->im, QN_OP_where, 3, in, NULL, NULL);
}
