/* SPDX-License-Identifier: Apache-2.0 */
/* test_lower_quant.c - quantize and dequantize, and the arithmetic that lower-quant makes of them, give the
 * same bits: any storage, granularity, expressed type, rounding of halves, any values.
 *
 *   ./unit-lower_quant              a sample
 *   QUERN_FULL=1 ./unit-lower_quant many more */
#include <math.h>
#include <stdio.h>

#include "passes/passes.h"
#include "tests/unit/run_util.h"

enum { SAMPLE = 400, LONG = 20000, MOST_TEXT = 4096 };

typedef struct text {
	char s[MOST_TEXT];
	size_t n;
} text;

static void
put(text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, args);
	va_end(args);
	assert_true(t->n < sizeof t->s);
}

/* A storage type and, in *lo and *hi, its range. */
static void
put_storage(text *t, int64_t *lo, int64_t *hi)
{
	const int bits = (int)pick(1, 32), is_signed = (int)pick(0, 1);

	*hi = (int64_t)((UINT64_C(1) << (bits - is_signed)) - 1);
	*lo = is_signed ? -*hi - 1 : 0;
	put(t, "%c%d", is_signed ? 'i' : 'u', bits);
	if (pick(0, 3) > 0 || bits < 3)
		return;
	*lo += pick(0, (*hi - *lo) / 3);
	*hi -= pick(0, (*hi - *lo) / 3);
	put(t, "<%lld:%lld>", (long long)*lo, (long long)*hi);
}

static void
put_pair(text *t, int64_t lo, int64_t hi, bool zero)
{
	put(t, "%.6e", ldexp(1.0 + (double)pick(0, 999) / 1000, (int)pick(-9, 4)));
	if (zero)
		put(t, ":%lld", (long long)pick(lo, hi));
}

/* Nested lists of the shape's parameters. */
static void
put_list(text *t, int rank, const int64_t *shape, int64_t lo, int64_t hi, bool zero)
{
	put(t, "{");
	for (int64_t i = 0; i < shape[0]; i++) {
		put(t, i > 0 ? ", " : "");
		if (rank > 1)
			put_list(t, rank - 1, shape + 1, lo, hi, zero);
		else
			put_pair(t, lo, hi, zero);
	}
	put(t, "}");
}

static void
put_blocks(text *t, int rank, const int64_t *dim, int64_t lo, int64_t hi, bool zero)
{
	int64_t shape[3] = {1, 1, 1};
	bool partial = false;

	put(t, ":{");
	for (int d = 0, n = 0; d < rank; d++) {
		if (pick(0, 2) == 0)
			continue;
		const int64_t block = pick(1, dim[d]);
		shape[d] = (dim[d] + block - 1) / block;
		partial = partial || dim[d] % block != 0;
		put(t, "%s%d:%lld", n++ > 0 ? ", " : "", d, (long long)block);
	}
	put(t, partial ? "}+, " : "}, ");
	put_list(t, rank, shape, lo, hi, zero);
}

/* A quantized type for a tensor of this shape; expressed: the float type. */
static void
put_type(text *t, const char *expressed, int rank, const int64_t *dim)
{
	const bool zero = pick(0, 3) > 0, product = !zero && pick(0, 2) == 0;
	int64_t lo, hi;

	put(t, "!quant.uniform<");
	put_storage(t, &lo, &hi);
	put(t, ":%s", expressed);
	if (!zero && lo > 0) /* the zero point 0 must be stored */
		rg->m.types.lax_zp = true;
	switch (pick(0, 2)) {
	case 0:
		put(t, ", ");
		put_pair(t, lo, hi, zero);
		break;
	case 1: {
		const int axis = (int)pick(0, rank - 1);

		put(t, ":%d, ", axis);
		put_list(t, 1, &dim[axis], lo, hi, zero);
		break;
	}
	default:
		put_blocks(t, rank, dim, lo, hi, zero);
		break;
	}
	put(t, product ? "*0.37>" : ">");
}

/* Halves of steps, small and huge values, and what is not a number. */
static double
awkward(void)
{
	static const double some[] = {0.0,
				      -0.0,
				      (double)INFINITY,
				      (double)-INFINITY,
				      (double)NAN,
				      1e30,
				      -1e30,
				      0.5,
				      -0.5,
				      1.5,
				      2.5,
				      -2.5,
				      0x1p-140,
				      65504,
				      0x1p40,
				      -0x1p41,
				      0x1p31,
				      0.49999997};

	switch (pick(0, 3)) {
	case 0:
		return some[pick(0, 17)];
	case 1:
		return (double)pick(-600, 600) / 2;
	case 2:
		return real() * ldexp(1, (int)pick(-10, 36));
	default:
		return real() * 20;
	}
}

static void
run_model(const qn_graph *g, const qn_tensor *x, const qn_tensor *out[2])
{
	qn_interp *in = NULL;

	if (qn_interp_new(g, &rg->arena, &in) != QN_OK)
		no_errors();
	assert_int_equal(qn_interp_run(in, &x, NULL, NULL), QN_OK);
	for (size_t k = 0; k < 2; k++)
		out[k] = qn_interp_output(in, k);
}

static bool
has_cast(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_quantize ||
		    qn_graph_node(g, id)->op == QN_OP_dequantize)
			return true;
	return false;
}

/* One random network; in `lowered` what the pass makes of it. */
static void
one(uint64_t seed)
{
	static const char *const floats[] = {"f32", "f32", "f32", "f16", "bf16", "f64"};
	text t = {.n = 0}, shape = {.n = 0};
	const qn_tensor *want[2], *have[2];
	int64_t dim[3];

	rig_setup(NULL);
	rg->seed = seed;
	const char *expressed = floats[pick(0, 5)];
	const int rank = (int)pick(1, 3);
	for (int d = 0; d < rank; d++) {
		dim[d] = pick(1, 5);
		put(&shape, "%lldx", (long long)dim[d]);
	}
	put(&t, "model \"m\" stage calibrated graph @main(%%x: tensor<%s%s>) {\n", shape.s,
	    expressed);
	put(&t, "  %%q = quantize %%x {ties=%s} : tensor<%s", pick(0, 2) == 0 ? "away" : "even",
	    shape.s);
	put_type(&t, expressed, rank, dim);
	put(&t, ">\n  %%y = dequantize %%q : tensor<%s%s>\n  return %%q, %%y }\n", shape.s,
	    expressed);
	if (qn_model_parse(&rg->m, "t", t.s, t.n) != QN_OK)
		fail_msg("%s\n%s", t.s, rg->diags.item[0].message);
	const qn_graph *direct = qn_model_entry(&rg->m);
	const qn_type *in = qn_graph_node(direct, direct->input[0])->type;
	void *data;
	const qn_tensor *x = qn_tensor_new(&rg->arena, in, &data);
	for (int64_t i = 0; i < qn_type_count(in); i++)
		qn_store_f64(data, in->elem->plain, i, awkward());

	run_model(direct, x, want);
	assert_int_equal(qn_lower_quant(&rg->m), QN_OK);
	const qn_graph *lowered = qn_model_entry(&rg->m);
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	assert_false(has_cast(lowered));
	run_model(lowered, x, have);
	for (size_t k = 0; k < 2; k++)
		if (!qn_tensor_equal(want[k], have[k]))
			fail_msg("seed %llu, output %zu of\n%s", (unsigned long long)seed, k, t.s);
	rig_teardown(NULL);
}

static void
test_agrees(void **state)
{
	const uint64_t n = getenv("QUERN_FULL") != NULL ? LONG : SAMPLE;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++)
		one(seed * 7919);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
