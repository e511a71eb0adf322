/* SPDX-License-Identifier: Apache-2.0 */
/* test_long_runs.c - broadcasts, transposes, slices and pads of tensors that are longer than a
 * vector, a square and a written-out operand, against one element after the other. */
#include "tests/unit/run_util.h"

typedef struct image {
	int64_t dim[4];
} image;

static int64_t
count(const image *m)
{
	return m->dim[0] * m->dim[1] * m->dim[2] * m->dim[3];
}

static image
random_image(int64_t most)
{
	image m;

	do
		for (int i = 0; i < 4; i++)
			m.dim[i] = pick(0, 3) == 0 ? 1 : pick(1, most);
	while (count(&m) > 20000);
	return m;
}

static const qn_type *
f32(const image *m)
{
	return qn_type_plain(&rg->m.types, QN_PLAIN_f32, 4, m->dim);
}

/* The element at idx; an axis of length 1 repeats. */
static double
at(const image *m, const double *v, const int64_t *idx)
{
	int64_t k = 0;

	for (int i = 0; i < 4; i++)
		k = k * m->dim[i] + (m->dim[i] == 1 ? 0 : idx[i]);
	return v[k];
}

static bool
next(const image *m, int64_t *idx)
{
	for (int i = 3; i >= 0; i--) {
		if (++idx[i] < m->dim[i])
			return true;
		idx[i] = 0;
	}
	return false;
}

static void
expect(const double *want, const double *have, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (want[i] < have[i] || want[i] > have[i])
			fail_msg("element %lld is %g, not %g", (long long)i, have[i], want[i]);
}

static double
apply(qn_op kind, double x, double y)
{
	switch ((int)kind) {
	case QN_OP_add:
		return (double)(float)(x + y);
	case QN_OP_sub:
		return (double)(float)(x - y);
	case QN_OP_mul:
		return (double)(float)(x * y);
	case QN_OP_div:
		return (double)((float)x / (float)y);
	case QN_OP_minimum:
		return x < y ? x : y;
	case QN_OP_maximum:
		return x > y ? x : y;
	default:
		return x < y;
	}
}

static void
test_broadcast(void **state)
{
	static const qn_op kind[] = {QN_OP_add,     QN_OP_sub,     QN_OP_mul, QN_OP_div,
				     QN_OP_minimum, QN_OP_maximum, QN_OP_less};

	(void)state;
	for (int i = 0; i < 140; i++) {
		image x, y, z = random_image(i % 3 == 0 ? 800 : 40);
		int64_t idx[4] = {0}, n = 0;
		qn_op o = kind[(size_t)i % QN_COUNT(kind)];

		fresh_graph();
		x = y = z;
		for (int k = 0; k < 4; k++)
			(pick(0, 1) == 0 ? &x : &y)->dim[k] = pick(0, 1) == 0 ? 1 : z.dim[k];
		double *a = reals(count(&x)), *b = reals(count(&y));
		double *want = calloc((size_t)count(&z), sizeof *want);
		assert_non_null(want);
		do
			want[n++] = apply(o, at(&x, a, idx), at(&y, b, idx));
		while (next(&z, idx));
		qn_id in[] = {qn_graph_input(rg->g, "x", f32(&x)),
			      qn_graph_input(rg->g, "y", f32(&y))};
		output(op(o, 2, in, NULL, NULL));
		expect(want, run((const double *[]){a, b}), n);
		free(want);
	}
}

static void
test_transpose(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		image x = random_image(50), z;
		int64_t perm[4] = {0, 1, 2, 3}, idx[4] = {0}, from[4], n = 0;

		fresh_graph();
		for (int k = 3; k > 0; k--) {
			int64_t j = pick(0, k), keep = perm[k];

			perm[k] = perm[j];
			perm[j] = keep;
		}
		for (int k = 0; k < 4; k++)
			z.dim[k] = x.dim[perm[k]];
		double *a = reals(count(&x));
		double *want = calloc((size_t)count(&x), sizeof *want);
		assert_non_null(want);
		do {
			for (int k = 0; k < 4; k++)
				from[perm[k]] = idx[k];
			want[n++] = at(&x, a, from);
		} while (next(&z, idx));
		const qn_attrs *attrs = attributes(
			(qn_attrs){.perm = {.perm = {4, {perm[0], perm[1], perm[2], perm[3]}}}});
		output(op1(QN_OP_transpose, qn_graph_input(rg->g, "x", f32(&x)), attrs, NULL));
		expect(want, run1(a), n);
		free(want);
	}
}

/* Where the element p of a padded axis comes from, -1 for the pad value. */
static int64_t
source(int64_t p, int64_t n, int32_t mode)
{
	if (p >= 0 && p < n)
		return p;
	if (mode == QN_PAD_constant)
		return -1;
	if (mode == QN_PAD_edge)
		return p < 0 ? 0 : n - 1;
	return p < 0 ? -p : 2 * n - 2 - p;
}

static void
test_pad(void **state)
{
	static const int32_t mode[] = {QN_PAD_constant, QN_PAD_edge, QN_PAD_reflect};

	(void)state;
	for (int i = 0; i < 60; i++) {
		image x = random_image(30), z;
		int64_t idx[4] = {0}, n = 0;
		qn_attrs a;

		fresh_graph();
		qn_attrs_default(QN_ATTRS(pad), &a);
		a.pad.mode = mode[i % 3];
		a.pad.value = 1.5;
		a.pad.before.n = a.pad.after.n = 4;
		for (int k = 0; k < 4; k++) {
			int64_t most =
				mode[i % 3] == QN_PAD_reflect && x.dim[k] < 4 ? x.dim[k] - 1 : 3;

			a.pad.before.v[k] = pick(0, 1) == 0 ? 0 : pick(0, most);
			a.pad.after.v[k] = pick(0, 1) == 0 ? 0 : pick(0, most);
			z.dim[k] = x.dim[k] + a.pad.before.v[k] + a.pad.after.v[k];
		}
		double *v = reals(count(&x));
		double *want = calloc((size_t)count(&z), sizeof *want);
		assert_non_null(want);
		do {
			int64_t from[4];
			bool inside = true;

			for (int k = 0; k < 4; k++) {
				from[k] = source(idx[k] - a.pad.before.v[k], x.dim[k], mode[i % 3]);
				inside = inside && from[k] >= 0;
			}
			want[n++] = inside ? at(&x, v, from) : 1.5;
		} while (next(&z, idx));
		output(op1(QN_OP_pad, qn_graph_input(rg->g, "x", f32(&x)), attributes(a), NULL));
		expect(want, run1(v), n);
		free(want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_broadcast, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_transpose, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_pad, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
