/* SPDX-License-Identifier: Apache-2.0 */
/* test_lower_quant.c - quantize and dequantize, and the arithmetic that lower-quant makes of them, give the
 * same bits: any storage, granularity, expressed type, rounding of halves, any values.
 *
 *   ./unit-lower_quant              a sample
 *   QUERN_FULL=1 ./unit-lower_quant many more */
#include "passes/passes.h"
#include "tests/unit/random_types.h"

enum { SAMPLE = 400, LONG = 20000 };

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

static int unranked; /* networks that were tried so */

static void
put_network(random_text *t, const char *shape, const char *expressed, const char *ties,
	    const char *type)
{
	put(t, "model \"m\" stage calibrated graph @main(%%x: tensor<%s%s>) {\n", shape, expressed);
	put(t, "  %%q = quantize %%x {ties=%s} : tensor<%s%s>\n", ties, shape, type);
	put(t, "  %%y = dequantize %%q : tensor<%s%s>\n  return %%q, %%y }\n", shape, expressed);
}

/* The network without its shapes, lowered, then given the shape of the samples: the same values.  Blocks must
 * divide their axes in a type without a rank. */
static bool
unranked_agrees(const char *text, const qn_tensor *x, const qn_tensor *const want[2])
{
	const qn_tensor *have[2];
	qn_graph *special;
	qn_model m;
	bool same = true;

	qn_model_init(&m, &rg->env, &rg->arena, "u");
	m.types.lax_zp = rg->m.types.lax_zp;
	if (qn_model_parse(&m, "u", text, strlen(text)) != QN_OK)
		fail_msg("%s\n%s", text, rg->diags.item[0].message);
	assert_int_equal(qn_lower_quant(&m), QN_OK);
	assert_int_equal(qn_model_verify(&m), QN_OK);
	assert_false(has_cast(qn_model_entry(&m)));
	const qn_type *in =
		qn_type_plain(&m.types, x->type->elem->plain, x->type->rank, x->type->dim);
	assert_int_equal(qn_specialize(qn_model_entry(&m), &in, &special), QN_OK);
	run_model(special, qn_tensor_view(&rg->arena, in, x->data), have);
	for (size_t k = 0; k < 2; k++)
		same = same && want[k]->bytes == have[k]->bytes &&
		       memcmp(want[k]->data, have[k]->data, want[k]->bytes) == 0;
	return same;
}

/* One random network; in `lowered` what the pass makes of it. */
static void
one(uint64_t seed)
{
	static const char *const floats[] = {"f32", "f32", "f32", "f16", "bf16", "f64"};
	static random_text t, open, type, shape;
	const qn_tensor *want[2], *have[2];
	int64_t dim[3];

	rig_setup(NULL);
	rg->seed = seed;
	t.n = open.n = type.n = shape.n = 0;
	const char *expressed = floats[pick(0, 5)];
	const int rank = (int)pick(1, 3);
	for (int d = 0; d < rank; d++) {
		dim[d] = pick(1, 5);
		put(&shape, "%lldx", (long long)dim[d]);
	}
	const char *ties = pick(0, 2) == 0 ? "away" : "even";
	put_type(&type, expressed, rank, dim);
	put_network(&t, shape.s, expressed, ties, type.s);
	put_network(&open, "*x", expressed, ties, type.s);
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
	const bool partial = strstr(type.s, "}+") != NULL;
	if (!partial && !unranked_agrees(open.s, x, want))
		fail_msg("seed %llu, unranked:\n%s", (unsigned long long)seed, open.s);
	unranked += !partial;
	rig_teardown(NULL);
}

static void
test_agrees(void **state)
{
	const uint64_t n = getenv("QUERN_FULL") != NULL ? LONG : SAMPLE;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++)
		one(seed * 7919);
	assert_true(unranked > (int)n / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
