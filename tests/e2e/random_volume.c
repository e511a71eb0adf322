/* SPDX-License-Identifier: Apache-2.0 */
/* random_volume.c - random convolutions and pools of volumes, for random_ops.c. */
#include "tests/e2e/random_maker.h"

qn_id
random_conv3d(maker *m, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_conv3d);
	const int64_t *d = type_of(m, x = with_rank(m, x, 5))->dim;
	int64_t w[5];

	a.conv3d.groups = divisor(m, d[4]);
	w[0] = a.conv3d.groups * pick(m, 1, a.conv3d.groups > 3 ? 1 : 3);
	w[4] = d[4] / a.conv3d.groups;
	if (w[0] > 40 || d[0] * d[1] * d[2] * d[3] * w[0] > MOST_ELEMENTS)
		return 0;
	a.conv3d.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	for (int i = 0; i < 3; i++) {
		w[1 + i] = pick(m, 1, d[1 + i] < 3 ? d[1 + i] : 3);
		a.conv3d.stride[i] = pick(m, 1, 3);
		if (d[1 + i] > 2 * (w[1 + i] - 1) && chance(m, 30))
			a.conv3d.dilation[i] = 2;
		if (a.conv3d.padding == QN_PADDING_explicit)
			a.conv3d.pad[2 * i] = pick(m, 0, 1);
	}
	return add_weighted(m, QN_OP_conv3d, x, 5, w, &a);
}

qn_id
random_pool3d(maker *m, qn_id x)
{
	qn_op op = chance(m, 50) ? QN_OP_max_pool3d : QN_OP_avg_pool3d;
	qn_attrs a = build_attrs(op);
	const int64_t *d = type_of(m, x = with_rank(m, x, 5))->dim;

	a.pool3d.padding = (int32_t)pick(m, QN_PADDING_explicit, QN_PADDING_valid);
	a.pool3d.ceil_mode = chance(m, 30);
	a.pool3d.count_include_pad = op == QN_OP_avg_pool3d && chance(m, 30);
	for (int i = 0; i < 3; i++) {
		a.pool3d.kernel[i] = pick(m, 1, d[1 + i] < 3 ? d[1 + i] : 3);
		a.pool3d.stride[i] = pick(m, 1, 3);
		if (d[1 + i] > 2 * (a.pool3d.kernel[i] - 1) && chance(m, 20))
			a.pool3d.dilation[i] = 2;
		if (a.pool3d.padding != QN_PADDING_explicit)
			continue;
		a.pool3d.pad[2 * i] = pick(m, 0, a.pool3d.kernel[i] - 1);
		a.pool3d.pad[2 * i + 1] = pick(m, 0, a.pool3d.kernel[i] - 1);
	}
	return add_op(m, op, 1, &x, &a, NULL);
}
