/* SPDX-License-Identifier: Apache-2.0 */
/* test_indexed.c - gather_elements, gather_nd, scatter_elements, scatter_nd, one_hot, trilu,
 * reverse and top_k
 * in several element types, against the definitions of ONNX written as loops over positions. */
#include "tests/unit/run_util.h"

#include <math.h>

/* Elements of the data: real, codes of 8 and 16 bits, plain ones of 1, 4 and 8 bytes. */
static const char *const elems[] = {
	"f32", "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i16:f32, 0.5>", "i32", "i64", "u8",
};
enum { REAL, I8, I16, I32, I64, U8, NELEM };

static qn_attrs
attrs_of(qn_op kind)
{
	qn_attrs a;

	memset(&a, 0, sizeof a);
	qn_attrs_default(qn_opinfo_get(kind)->attrs, &a);
	return a;
}

static const char *
shaped(int rank, const int64_t *dim, const char *elem)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "tensor<");
	for (int i = 0; i < rank; i++)
		qn_buff(&b, "%lldx", (long long)dim[i]);
	qn_buff(&b, "%s>", elem);
	return qn_buf_str(&b);
}

/* Places on an axis of d elements, some counted from the end. */
static double *
places(int64_t n, const int64_t *d, int ndim)
{
	double *v = codes(n, 0, 0);

	for (int64_t i = 0; i < n; i++)
		v[i] = (double)pick(-d[i % ndim], d[i % ndim] - 1);
	return v;
}

static int64_t
at_of(double place, int64_t d)
{
	return (int64_t)place + (place < 0 ? d : 0);
}

enum { D0 = 3, D1 = 4, D2 = 2, N = D0 * D1 * D2 };
static const int64_t dims[3] = {D0, D1, D2};

/* The element of the data that index i of indices [e0, e1, e2] stands for along `axis`. */
static int64_t
beside(const int64_t *e, const double *index, int64_t i, int axis)
{
	int64_t p[3] = {i / (e[1] * e[2]), i / e[2] % e[1], i % e[2]};

	p[axis] = at_of(index[i], dims[axis]);
	return (p[0] * D1 + p[1]) * D2 + p[2];
}

static double
joined(int t, int32_t how, double have, double with)
{
	double both = how == QN_REDUCTION_add ? have + with : have * with;

	if (t == U8 && (how == QN_REDUCTION_add || how == QN_REDUCTION_mul))
		return (double)((int64_t)both & 0xff);
	if (how == QN_REDUCTION_add || how == QN_REDUCTION_mul)
		return (double)(float)both;
	return how == QN_REDUCTION_none  ? with
	       : how == QN_REDUCTION_max ? (with > have ? with : have)
					 : (with < have ? with : have);
}

/* Whether the elements have a form of the reduction: plain ones have all. */
static bool
takes(int t, int32_t how)
{
	return (t != I8 && t != I16) || how == QN_REDUCTION_none || how >= QN_REDUCTION_max;
}

static qn_id
scatter(qn_op kind, qn_attrs *a, int t, const int64_t *e, int rank, const int64_t *u, int urank)
{
	fresh_graph();
	qn_id x = input("x", shaped(3, dims, elems[t]));
	qn_id i = input("i", shaped(rank, e, pick(0, 1) ? "i64" : "i32"));
	return op(kind, 3, (const qn_id[]){x, i, input("u", shaped(urank, u, elems[t]))},
		  attributes(*a), NULL);
}

static void
test_elements(void **state)
{
	(void)state;
	for (int round = 0; round < 120; round++) {
		const int64_t e[3] = {pick(1, D0), pick(1, D1), pick(1, D2)};
		int axis = (int)pick(0, 2), t = round % NELEM;
		int64_t n = e[0] * e[1] * e[2];
		double *x = codes(N, 0, 9), *index = places(n, &dims[axis], 1), want[N];
		double *u = codes(n, 0, 9);
		qn_attrs g = attrs_of(QN_OP_gather_elements), s = attrs_of(QN_OP_scatter_elements);

		for (int64_t i = 0; i < n; i++)
			want[i] = x[beside(e, index, i, axis)];
		g.gather.axis = axis - 3 * pick(0, 1);
		fresh_graph();
		qn_id xi = input("x", shaped(3, dims, elems[t]));
		output(op2(QN_OP_gather_elements, xi,
			   input("i", shaped(3, e, pick(0, 1) ? "i64" : "i32")), attributes(g),
			   NULL));
		near(want, run((const double *[]){x, index}), n, 0);
		memcpy(want, x, sizeof want);
		s.scatter_elements.axis = axis;
		s.scatter_elements.reduction = (int32_t)pick(QN_REDUCTION_none, QN_REDUCTION_min);
		for (int64_t i = 0; i < n; i++) {
			double *y = &want[beside(e, index, i, axis)];

			*y = joined(t, s.scatter_elements.reduction, *y, u[i]);
		}
		output(scatter(QN_OP_scatter_elements, &s, t, e, 3, e, 3));
		if (!takes(t, s.scatter_elements.reduction))
			refused("int.unsupported", "scatter_elements");
		else
			near(want, run((const double *[]){x, index, u}), N, 0);
	}
}

static void
test_tuples(void **state)
{
	(void)state;
	for (int round = 0; round < 120; round++) {
		int length = (int)pick(1, 3), t = round % NELEM, m = (int)pick(1, 4);
		const int64_t e[2] = {m, length}, u[3] = {m, length < 2 ? D1 : D2, D2};
		int64_t tail = length == 1 ? D1 * D2 : length == 2 ? D2 : 1, n = m * tail;
		double *x = codes(N, 0, 9), *index = places(m * length, dims, length);
		double want[N], *updates = codes(n, 0, 9);
		qn_attrs s = attrs_of(QN_OP_scatter_nd);
		int64_t place[4 * D1 * D2];

		for (int64_t i = 0; i < n; i++) {
			place[i] = 0;
			for (int k = 0; k < length; k++)
				place[i] = place[i] * dims[k] +
					   at_of(index[i / tail * length + k], dims[k]);
			place[i] = place[i] * tail + i % tail;
			want[i % N] = x[place[i]];
			updates[i] = i < N ? updates[i] : 0;
		}
		fresh_graph();
		qn_id xi = input("x", shaped(3, dims, elems[t]));
		output(op2(QN_OP_gather_nd, xi, input("i", shaped(2, e, "i32")), NULL, NULL));
		if (n <= N)
			near(want, run((const double *[]){x, index}), n, 0);
		memcpy(want, x, sizeof want);
		s.scatter_nd.reduction = (int32_t)pick(QN_REDUCTION_none, QN_REDUCTION_min);
		for (int64_t i = 0; i < n; i++)
			want[place[i]] =
				joined(t, s.scatter_nd.reduction, want[place[i]], updates[i]);
		output(scatter(QN_OP_scatter_nd, &s, t, e, 2, u, 4 - length));
		if (!takes(t, s.scatter_nd.reduction))
			refused("int.unsupported", "scatter_nd");
		else
			near(want, run((const double *[]){x, index, updates}), N, 0);
	}
}

/* Leading axes that indices and data share (the examples of ONNX's GatherND). */
static void
test_batches(void **state)
{
	static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, index[] = {1, 0}, want[] = {2, 3, 4, 5};
	qn_attrs a = attrs_of(QN_OP_gather_nd);

	(void)state;
	a.gather_nd.batch_dims = 1;
	for (int t = 0; t < NELEM; t++) {
		fresh_graph();
		qn_id d = input("x", shaped(3, (const int64_t[]){2, 2, 2}, elems[t]));
		output(op2(QN_OP_gather_nd, d, input("i", "tensor<2x1xi64>"), attributes(a), NULL));
		near(want, run((const double *[]){x, index}), 4, 0);
	}
}

/* What lies outside stands for the nearest place. */
static void
test_outside(void **state)
{
	static const double x[] = {1, 2, 3}, index[] = {-9, 7e9, -1}, want[] = {1, 3, 3};

	(void)state;
	qn_id d = input("x", "tensor<3xi32>");
	output(op2(QN_OP_gather_elements, d, input("i", "tensor<3xi64>"), NULL, NULL));
	near(want, run((const double *[]){x, index}), 3, 0);
}

static void
test_one_hot(void **state)
{
	static const double index[] = {1, -1, 9, 0, 2, -4}, values[] = {3, 8};
	double want[18];

	(void)state;
	for (int axis = 0; axis < 3; axis++)
		for (int t = 0; t < NELEM; t++) {
			qn_attrs a = attrs_of(QN_OP_one_hot);

			a.one_hot.axis = axis == 2 ? -1 : axis;
			a.one_hot.depth = 3;
			for (int i = 0; i < 18; i++) {
				/* [3,2,3], [2,3,3], [2,3,3]: the index, then the place on the axis */
				int k = axis == 0 ? i % 6 : axis == 1 ? i / 9 * 3 + i % 3 : i / 3;
				int d = axis == 0 ? i / 6 : axis == 1 ? i / 3 % 3 : i % 3;

				want[i] = values[at_of(index[k], 3) == d];
			}
			fresh_graph();
			qn_id x = input("i", pick(0, 1) ? "tensor<2x3xi32>" : "tensor<2x3xi64>");
			qn_id v = input("v", shaped(1, (const int64_t[]){2}, elems[t]));
			output(op2(QN_OP_one_hot, x, v, attributes(a), NULL));
			near(want, run((const double *[]){index, values}), 18, 0);
		}
}

/* The k best of each row of [2,5,3], each of which has no better one that is not before it. */
static void
test_top_k(void **state)
{
	static const int64_t shape[3] = {2, 5, 3};

	(void)state;
	for (int round = 0; round < 60; round++) {
		int t = round % NELEM;
		double *x = codes(30, 0, 6), best[30], where[30];
		qn_attrs a = attrs_of(QN_OP_top_k), get = attrs_of(QN_OP_get);

		a.top_k.axis = pick(0, 1) ? 1 : -2;
		a.top_k.k = pick(0, 5);
		a.top_k.largest = pick(0, 1);
		for (int i = 0; i < 30; i++) {
			int row = i / 15 * 15 + i % 3, place = i / 3 % 5, rank = 0;

			for (int k = 0; k < 5; k++) {
				double d = x[row + 3 * k] - x[i];

				rank += (a.top_k.largest ? d > 0 : d < 0) ||
					(k < place && d <= 0 && d >= 0);
			}
			if (rank >= a.top_k.k)
				continue;
			int64_t to = (i / 15 * a.top_k.k + rank) * 3 + i % 3;
			best[to] = x[i];
			where[to] = place;
		}
		for (int part = 0; part < 3; part++) {
			fresh_graph();
			qn_id xi = input("x", shaped(3, shape, elems[t]));
			qn_op kind = part == 2 ? QN_OP_top_k_indices : QN_OP_top_k;
			qn_id y = op1(kind, xi, attributes(a), NULL);

			get.get.index = part;
			output(part == 2 ? y : op1(QN_OP_get, y, attributes(get), NULL));
			near(part == 0 ? best : where, run1(x), 6 * a.top_k.k, 0);
		}
	}
}

static void
test_top_nan(void **state)
{
	static const double x[5] = {1, (double)NAN, -HUGE_VAL, HUGE_VAL, (double)NAN};
	static const double up[5] = {1, 4, 3, 0, 2};
	qn_attrs a = attrs_of(QN_OP_top_k);

	(void)state;
	a.top_k.k = 5;
	output(op1(QN_OP_top_k_indices, input("x", "tensor<5xf32>"), attributes(a), NULL));
	near(up, run1(x), 5, 0);
}

static void
test_trilu(void **state)
{
	double want[N];

	(void)state;
	for (int round = 0; round < 60; round++) {
		double *x = codes(N, 1, 100);
		int t = round % NELEM;
		qn_attrs a = attrs_of(QN_OP_trilu);

		a.trilu.k = pick(-5, 5);
		a.trilu.upper = pick(0, 1);
		for (int i = 0; i < N; i++) {
			int64_t right = i % D2 - i / D2 % D1;
			bool stays = a.trilu.upper ? right >= a.trilu.k : right <= a.trilu.k;

			want[i] = stays ? x[i] : t == I8 ? 3 : 0;
		}
		fresh_graph();
		output(op1(QN_OP_trilu, input("x", shaped(3, dims, elems[t])), attributes(a),
			   NULL));
		near(want, run1(x), N, 0);
	}
}

static void
test_reverse(void **state)
{
	double want[N];

	(void)state;
	for (int mask = 0; mask < 8; mask++)
		for (int t = 0; t < NELEM; t++) {
			double *x = codes(N, 0, 100);
			qn_attrs a = attrs_of(QN_OP_reverse);

			for (int k = 0; k < 3; k++)
				if ((mask >> k & 1) != 0)
					a.axes.axes.v[a.axes.axes.n++] = k == 1 ? -2 : k;
			for (int i = 0; i < N; i++) {
				int64_t p[3] = {i / (D1 * D2), i / D2 % D1, i % D2};

				for (int k = 0; k < 3; k++)
					p[k] = (mask >> k & 1) != 0 ? dims[k] - 1 - p[k] : p[k];
				want[i] = x[(p[0] * D1 + p[1]) * D2 + p[2]];
			}
			fresh_graph();
			output(op1(QN_OP_reverse, input("x", shaped(3, dims, elems[t])),
				   attributes(a), NULL));
			near(want, run1(x), N, 0);
		}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {T(test_elements), T(test_tuples),  T(test_batches),
					   T(test_outside),  T(test_one_hot), T(test_trilu),
					   T(test_reverse),  T(test_top_k),   T(test_top_nan)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
