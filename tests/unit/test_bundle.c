/* SPDX-License-Identifier: Apache-2.0 */
/* test_bundle.c - batches in lockstep give what they give one at a time: every value of every node,
 * byte for byte, in bundles of every size and with every instruction set. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/interp_impl.h"
#include "runtime/simd.h"

enum { BATCHES = 9, MOST_INPUTS = 4, MOST_SEEN = 4096 };

typedef struct samples {
	const qn_tensor *x[BATCHES][MOST_INPUTS];
} samples;

/* A value that was observed. */
typedef struct record {
	const qn_graph *g;
	qn_id id;
	size_t batch;
	size_t bytes;
	void *data;
	bool found; /* by same_values: a graph that is called twice shows its values twice */
} record;

typedef struct seen {
	record r[MOST_SEEN];
	size_t n, first; /* first: of the run under way */
	size_t batch;    /* of the first of the run */
} seen;

static qn_status
remember(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	seen *s = user;
	size_t batch = s->batch;

	assert_true(s->n < MOST_SEEN);
	assert_ptr_equal(value->type, qn_graph_node(g, id)->type);
	for (size_t i = s->n; i-- > s->first && s->r[i].id == id && s->r[i].g == g;)
		batch++;
	s->r[s->n++] = (record){
		g,    id, batch, value->bytes, qn_arena_copy(&rg->arena, value->data, value->bytes),
		false};
	return QN_OK;
}

static samples *
make_samples(void)
{
	samples *s = QN_NEW(&rg->arena, samples, 1);

	assert_true(rg->g->ninput <= MOST_INPUTS);
	for (size_t b = 0; b < BATCHES; b++)
		for (size_t i = 0; i < rg->g->ninput; i++) {
			const qn_type *t = qn_graph_node(rg->g, rg->g->input[i])->type;

			s->x[b][i] = tensor(t, reals(qn_type_count(t)));
		}
	return s;
}

/* All batches in runs of up to `most`; a bundle may be larger than what is loaded. */
static void
run_all(const samples *x, size_t most, seen *s, void **out)
{
	qn_interp *in = NULL;

	rg->env.bundle_bytes = most > 1 ? SIZE_MAX / 2 : 1;
	assert_int_equal(qn_interp_new_bundle(rg->g, most, &rg->arena, &in), QN_OK);
	assert_int_equal(qn_interp_bundle(in), most);
	for (size_t b = 0; b < BATCHES; b += most) {
		size_t n = BATCHES - b < most ? BATCHES - b : most;

		for (size_t j = 0; j < n; j++)
			assert_int_equal(qn_interp_load(in, j, x->x[b + j]), QN_OK);
		s->first = s->n;
		s->batch = b;
		assert_int_equal(qn_interp_run_bundle(in, n, remember, s), QN_OK);
		for (size_t j = 0; j < n; j++)
			for (size_t k = 0; k < rg->g->noutput; k++) {
				qn_tensor y = qn_interp_output_of(in, k, j);

				*out++ = qn_arena_copy(&rg->arena, y.data, y.bytes);
			}
	}
}

/* The same values as in `one`, whatever their order. */
static void
same_values(const seen *one, seen *s, size_t most)
{
	assert_int_equal(s->n, one->n);
	for (size_t i = 0; i < one->n; i++) {
		const record *want = &one->r[i];
		record *have = NULL;

		for (size_t k = 0; k < s->n && have == NULL; k++)
			if (s->r[k].g == want->g && s->r[k].id == want->id &&
			    s->r[k].batch == want->batch && !s->r[k].found)
				have = &s->r[k];
		assert_non_null(have);
		have->found = true;
		if (memcmp(have->data, want->data, want->bytes) != 0)
			fail_msg("bundle of %zu: node %u, batch %zu differs", most, want->id,
				 want->batch);
	}
}

static void
check_bundles(void)
{
	static const qn_simd_kind kind[] = {QN_SIMD_BASELINE, QN_SIMD_AVX2, QN_SIMD_AVX512};
	const samples *x = make_samples();
	seen *one = calloc(1, sizeof *one), *s = calloc(1, sizeof *s);
	void *want[BATCHES * 8], *have[BATCHES * 8];

	assert_non_null(one);
	assert_non_null(s);
	assert_true(rg->g->noutput <= 8);
	run_all(x, 1, one, want);
	for (size_t k = 0; k < QN_COUNT(kind); k++) {
		rg->env.simd = kind[k];
		for (size_t most = 1; most <= BATCHES + 1; most++) {
			s->n = 0;
			run_all(x, most, s, have);
			same_values(one, s, most);
			for (size_t i = 0; i < BATCHES * rg->g->noutput; i++) {
				const qn_type *t =
					qn_graph_node(rg->g,
						      rg->g->output[i % rg->g->noutput].value)
						->type;
				assert_memory_equal(have[i], want[i], qn_type_bytes(t));
			}
		}
	}
	rg->env.simd = QN_SIMD_BEST;
	free(one);
	free(s);
}

static qn_id
numbers(const char *t)
{
	return constant(NULL, t, reals(qn_type_count(type(t))));
}

static qn_id
conv(qn_id x, const char *w, const char *bias, int64_t pad, int64_t groups)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(conv2d), &a);
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = pad;
	a.conv2d.groups = groups;
	return op(QN_OP_conv2d, 3, (const qn_id[]){x, numbers(w), numbers(bias)}, attributes(a),
		  NULL);
}

/* Convolutions with and without a padding, depthwise, an infinite weight; then a dense layer. */
static void
test_convolutions(void **state)
{
	(void)state;
	qn_id x = input("x", "tensor<2x6x5x3xf32>");
	qn_id y = op1(QN_OP_relu, conv(x, "tensor<20x3x3x3xf32>", "tensor<20xf32>", 1, 1), NULL,
		      NULL);
	y = conv(y, "tensor<20x3x3x1xf32>", "tensor<20xf32>", 1, 20);
	y = conv(op1(QN_OP_sigmoid, y, NULL, NULL), "tensor<7x1x1x20xf32>", "tensor<7xf32>", 0, 1);
	double *w = reals(7 * 9 * 7);
	w[5] = HUGE_VAL;
	qn_attrs a;
	qn_attrs_default(QN_ATTRS(conv2d), &a);
	a.conv2d.pad[0] = 1;
	output(op2(QN_OP_conv2d, y, constant("w", "tensor<7x3x3x7xf32>", w), attributes(a), NULL));
	y = conv(y, "tensor<4x3x2x7xf32>", "tensor<4xf32>", 0, 1);
	a.shape.shape = (qn_list){2, {2, 64}};
	y = op1(QN_OP_reshape, y, attributes(a), NULL);
	const qn_id in[] = {y, numbers("tensor<19x64xf32>"), numbers("tensor<19xf32>")};
	a.axis.axis = -1;
	output(op1(QN_OP_softmax, op(QN_OP_dense, 3, in, NULL, NULL), attributes(a), NULL));
	check_bundles();
}

/* Operands that vary and operands that do not, at every place; an input that is declared last, one
 * that nobody reads; a constant as output. */
static void
test_operands(void **state)
{
	(void)state;
	qn_id x = input("x", "tensor<3x8xf32>");
	qn_id fixed = numbers("tensor<5x8xf32>");
	qn_id y = op2(QN_OP_dense, x, fixed, NULL, NULL);
	qn_id wide = op2(QN_OP_dense, fixed, x, NULL, NULL);
	qn_id twice = op1(QN_OP_relu, fixed, NULL, NULL);
	qn_id late = input("late", "tensor<5x8xf32>");
	(void)input("unread", "tensor<7xf32>");
	y = op2(QN_OP_add, y, op2(QN_OP_dense, x, late, NULL, NULL), NULL, NULL);
	y = op2(QN_OP_add, y, numbers("tensor<5xf32>"), NULL, NULL);
	output(op2(QN_OP_mul, wide, op2(QN_OP_dense, twice, x, NULL, NULL), NULL, NULL));
	output(y);
	output(fixed);
	output(twice);
	check_bundles();
}

/* A composite that is called with a value, then with a constant, and returns one, too. */
static void
test_calls(void **state)
{
	qn_graph *callee = rg->g;

	(void)state;
	qn_id p = input("p", "tensor<3x8xf32>");
	qn_graph_output(callee, "dense",
			op2(QN_OP_dense, p, numbers("tensor<8x8xf32>"), NULL, NULL));
	qn_graph_output(callee, "same", numbers("tensor<3x8xf32>"));
	qn_model_add_graph(&rg->m, callee);
	fresh_graph();
	qn_id x = input("x", "tensor<3x8xf32>"), sum = x;
	qn_id of[] = {x, numbers("tensor<3x8xf32>")};
	for (size_t i = 0; i < 2; i++) {
		qn_node call = {.op = QN_OP_call, .nin = 1, .in = &of[i], .callee = callee};
		qn_id y = qn_graph_add(rg->g, &call);

		for (int32_t k = 0; k < 2; k++) {
			const qn_attrs *field = attributes((qn_attrs){.get = {.index = k}});

			sum = op2(QN_OP_add, sum, op1(QN_OP_get, y, field, NULL), NULL, NULL);
		}
	}
	output(sum);
	qn_model_add_graph(&rg->m, rg->g);
	check_bundles();
}

/* Codes whose batches are no multiple of any alignment, between floats. */
static void
test_codes(void **state)
{
	const double w[6] = {100, -50, 25, -127, 3, 60};

	(void)state;
	qn_id x = input("x", "tensor<1x3xf32>");
	qn_id code = op1(QN_OP_quantize, x, NULL, "tensor<1x3x!quant.uniform<i8:f32, 0.015625:4>>");
	qn_id weights = constant("w", "tensor<2x3x!quant.uniform<i8<-127:127>:f32, 0.015625>>", w);
	qn_id acc = op2(QN_OP_dense, code, weights, NULL, NULL);
	qn_id y = op1(QN_OP_requantize, acc, NULL, "tensor<1x2x!quant.uniform<i8:f32, 0.0625:-3>>");
	output(y);
	output(op1(QN_OP_relu, op1(QN_OP_dequantize, y, NULL, NULL), NULL, NULL));
	check_bundles();
}

/* The bundle is what its values' budget holds, between 1 and QN_MOST_BUNDLE; what goes wrong with
 * one of its batches is reported. */
static void
test_budget(void **state)
{
	const struct {
		size_t bytes, most, want;
	} row[] = {{1, 100, 1},     {1024, 100, 4}, {1024, 3, 3},
		   {1279, 100, 4},  {0, 1, 1},      {0, SIZE_MAX, QN_MOST_BUNDLE},
		   {SIZE_MAX, 0, 1}};
	qn_interp *in = NULL;

	(void)state;
	output(op1(QN_OP_relu, input("x", "tensor<32xf32>"), NULL, NULL));
	for (size_t i = 0; i < QN_COUNT(row); i++) {
		rg->env.bundle_bytes = row[i].bytes;
		assert_int_equal(qn_interp_new_bundle(rg->g, row[i].most, &rg->arena, &in), QN_OK);
		assert_int_equal(qn_interp_bundle(in), row[i].want);
		assert_int_equal(qn_interp_bytes(in), row[i].want * 2 * 32 * 4);
	}
	const qn_tensor *wrong = tensor(type("tensor<31xf32>"), reals(31));
	assert_int_equal(qn_interp_load(in, 0, &wrong), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "run.input");
	qn_diags_clear(&rg->env, &rg->diags);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_convolutions, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_operands, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_calls, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_codes, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_budget, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
