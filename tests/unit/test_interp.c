/* SPDX-License-Identifier: Apache-2.0 */
/* test_interp.c - the interpreter: order of observation, composites and tuples, float and integer
 * nodes in one graph, reuse of memory, and what it refuses. */
#include "tests/unit/run_util.h"

#define Q(shape, params) "tensor<" shape "x!quant.uniform<i8:f32, " params ">>"

typedef struct seen {
	const qn_graph *graph[32];
	qn_id id[32];
	double first[32];
	size_t n;
	size_t stop_at; /* 0: never */
} seen;

static qn_status
watch(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	seen *s = user;

	assert_true(s->n < 32);
	assert_true(value->type == qn_graph_node(g, id)->type);
	s->graph[s->n] = g;
	s->id[s->n] = id;
	s->first[s->n++] = qn_tensor_f64(value, 0);
	return s->n == s->stop_at ? QN_EUSAGE : QN_OK;
}

static void
test_observe(void **state)
{
	const double x[2] = {-1, 4}, c[2] = {10, 20};
	seen s = {0};

	(void)state;
	qn_id a = input("x", "tensor<2xf32>");
	qn_id b = constant("c", "tensor<2xf32>", c);
	output(op1(QN_OP_relu, op2(QN_OP_add, a, b, NULL, NULL), NULL, NULL));
	qn_interp *in = interp();
	const qn_tensor *given = tensor(type("tensor<2xf32>"), x);
	assert_int_equal(qn_interp_run(in, &given, watch, &s), QN_OK);
	const double first[4] = {-1, 10, 9, 9};
	assert_int_equal(s.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(s.id[i], i + 1);
		assert_ptr_equal(s.graph[i], rg->g);
		assert_true(s.first[i] == first[i]);
	}
	/* What the observer returns ends the run. */
	s = (seen){.stop_at = 2};
	assert_int_equal(qn_interp_run(in, &given, watch, &s), QN_EUSAGE);
	assert_int_equal(s.n, 2);
	/* A second run starts afresh. */
	const double other[2] = {-30, 1};
	const qn_tensor *again = tensor(type("tensor<2xf32>"), other);
	assert_int_equal(qn_interp_run(in, &again, NULL, NULL), QN_OK);
	near((const double[]){0, 21}, doubles(qn_interp_output(in, 0)), 2, 0.0);
	assert_null(qn_interp_output(in, 1));
}

/* sums(x) = (x + x, x * x); main(x) = sums(sums(x).0).1 + sums(x).1 */
static void
test_composite(void **state)
{
	qn_graph *callee = rg->g;
	const double x[2] = {1, -3};
	seen s = {0};

	(void)state;
	qn_id p = input("p", "tensor<2xf32>");
	qn_graph_output(callee, "sum", op2(QN_OP_add, p, p, NULL, NULL));
	qn_graph_output(callee, "product", op2(QN_OP_mul, p, p, NULL, NULL));
	qn_model_add_graph(&rg->m, callee);
	fresh_graph();
	qn_id in = input("x", "tensor<2xf32>");
	qn_node call = {.op = QN_OP_call, .nin = 1, .in = &in, .callee = callee};
	qn_id one = qn_graph_add(rg->g, &call);
	const qn_attrs *second = attributes((qn_attrs){.get = {.index = 1}});
	qn_id sum = op1(QN_OP_get, one, attributes((qn_attrs){.get = {.index = 0}}), NULL);
	qn_id product = op1(QN_OP_get, one, second, NULL);
	call.in = &sum;
	qn_id two = qn_graph_add(rg->g, &call);
	qn_id pair = op2(QN_OP_tuple, product, op1(QN_OP_get, two, second, NULL), NULL, NULL);
	output(op2(QN_OP_add, op1(QN_OP_get, pair, second, NULL), product, NULL, NULL));
	qn_model_add_graph(&rg->m, rg->g);

	qn_interp *run_it = interp();
	const qn_tensor *given = tensor(type("tensor<2xf32>"), x);
	assert_int_equal(qn_interp_run(run_it, &given, watch, &s), QN_OK);
	near((const double[]){5, 45}, doubles(qn_interp_output(run_it, 0)), 2, 0.0);
	/* The caller's input, then the callee's three nodes, then the values after the call. */
	assert_ptr_equal(s.graph[0], rg->g);
	for (size_t i = 1; i < 4; i++) {
		assert_ptr_equal(s.graph[i], callee);
		assert_int_equal(s.id[i], i);
	}
	assert_ptr_equal(s.graph[4], rg->g);
	assert_int_equal(s.id[4], sum);
	assert_true(s.first[6] == 2); /* the input of the second call */
}

/* A quantized layer inside a float graph, and the same layer in floats with simulated
 * quantization. */
static void
test_mixed(void **state)
{
	const double w[6] = {100, -50, 25, -127, 3, 60};
	double *x = reals(2 * 3);
	qn_id in[2];

	(void)state;
	qn_id image = input("x", "tensor<2x3xf32>");
	qn_id code = op1(QN_OP_quantize, image, NULL, Q("2x3", "0.015625:4"));
	in[0] = code;
	in[1] = constant("w", "tensor<2x3x!quant.uniform<i8<-127:127>:f32, 0.015625>>", w);
	qn_id acc = op(QN_OP_dense, 2, in, NULL, NULL);
	qn_id out = op1(QN_OP_requantize, acc, NULL, Q("2x2", "0.0625:-3"));
	output(op1(QN_OP_relu, op1(QN_OP_dequantize, out, NULL, NULL), NULL, NULL));
	double *have = run1(x);

	fresh_graph();
	image = input("x", "tensor<2x3xf32>");
	in[0] = op1(QN_OP_dequantize, op1(QN_OP_quantize, image, NULL, Q("2x3", "0.015625:4")),
		    NULL, NULL);
	in[1] = op1(QN_OP_dequantize,
		    constant("w", "tensor<2x3x!quant.uniform<i8<-127:127>:f32, 0.015625>>", w),
		    NULL, NULL);
	qn_id y = op1(QN_OP_quantize, op(QN_OP_dense, 2, in, NULL, NULL), NULL,
		      Q("2x2", "0.0625:-3"));
	output(op1(QN_OP_relu, op1(QN_OP_dequantize, y, NULL, NULL), NULL, NULL));
	near(run1(x), have, 4, 0.0625);
}

/* A chain of n values needs the room of two. */
static void
test_memory(void **state)
{
	enum { N = 4096, LENGTH = 12 };
	double *x = reals(N), want[N];

	(void)state;
	qn_id v = input("x", "tensor<4096xf32>");
	for (int i = 0; i < LENGTH; i++)
		v = op2(QN_OP_add, v, v, NULL, NULL);
	output(v);
	assert_int_equal(qn_interp_bytes(interp()), 2 * N * 4);
	for (int i = 0; i < N; i++)
		want[i] = x[i] * (1 << LENGTH);
	near(want, run1(x), N, 0.0);
}

/* Values of many sizes and lives, against a run in which every value is an output and so has a
 * place of its own. */
static void
test_memory_random(void **state)
{
	double *x = reals(64);

	(void)state;
	for (int trial = 0; trial < 20; trial++) {
		uint64_t seed = rg->seed;
		double *have[2];

		for (int keep = 0; keep < 2; keep++) {
			qn_id v[40];

			rg->seed = seed;
			fresh_graph();
			v[0] = input("x", "tensor<4x16xf32>");
			for (int i = 1; i < 40; i++) {
				qn_id a = v[pick(0, i - 1)], b = v[pick(0, i - 1)];
				qn_id joined = op2(QN_OP_add, a, b, NULL, NULL);
				const qn_attrs *attr = attributes((qn_attrs){.axis = {.axis = 1}});
				qn_attrs pool = {.perm = {.perm = {2, {0, 1}}}};

				if (pick(0, 2) == 0)
					v[i] = op1(QN_OP_softmax, joined, attr, NULL);
				else
					v[i] = op1(QN_OP_transpose, joined, &pool, NULL);
			}
			output(v[39]);
			for (qn_id id = 1; keep == 1 && id < rg->g->n; id++)
				qn_graph_output(rg->g, "all", id);
			have[keep] = run1(x);
		}
		near(have[0], have[1], 64, 0.0);
	}
}

/* Outputs that are an input or a constant, twice the same, and bytes at an odd address. */
static void
test_passing(void **state)
{
	static unsigned char bytes[13];
	const float values[3] = {1.5f, -2.5f, 4.0f};
	const double x[3] = {1, 2, 3};

	(void)state;
	memcpy(bytes + 1, values, sizeof values);
	const qn_type *t = type("tensor<3xf32>");
	qn_id in = input("x", "tensor<3xf32>");
	qn_id c = qn_graph_const(rg->g, "c", qn_tensor_view(&rg->arena, t, bytes + 1));
	output(in);
	output(c);
	output(c);
	output(op2(QN_OP_add, in, c, NULL, NULL));
	qn_interp *run_it = interp();
	const qn_tensor *given = tensor(t, x);
	assert_int_equal(qn_interp_run(run_it, &given, NULL, NULL), QN_OK);
	near(x, doubles(qn_interp_output(run_it, 0)), 3, 0.0);
	near((const double[]){1.5, -2.5, 4}, doubles(qn_interp_output(run_it, 2)), 3, 0.0);
	near((const double[]){2.5, -0.5, 7}, doubles(qn_interp_output(run_it, 3)), 3, 0.0);
	assert_int_equal((uintptr_t)qn_interp_output(run_it, 1)->data % 8, 0);
	assert_ptr_not_equal(qn_interp_output(run_it, 0)->data, given->data);
}

static void
test_eval_node(void **state)
{
	const double x[3] = {-1, 2, 30};
	qn_tensor *out = NULL;

	(void)state;
	qn_id c = constant("c", "tensor<3xf32>", x);
	qn_id y = op1(QN_OP_relu6, c, NULL, NULL);
	const qn_tensor *in[1] = {qn_graph_node(rg->g, c)->value};
	assert_int_equal(qn_eval_node(rg->g, qn_graph_node(rg->g, y), in, &rg->arena, &out), QN_OK);
	near((const double[]){0, 2, 6}, doubles(out), 3, 0.0);
	assert_ptr_equal(out->type, qn_graph_node(rg->g, y)->type);
	in[0] = tensor(type("tensor<2xf32>"), x);
	assert_int_equal(qn_eval_node(rg->g, qn_graph_node(rg->g, y), in, &rg->arena, &out),
			 QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "run.input");
	in[0] = qn_graph_node(rg->g, c)->value;
	assert_int_not_equal(qn_eval_node(rg->g, qn_graph_node(rg->g, c), in, &rg->arena, &out),
			     QN_OK);
}

/* ---- refusals ---- */

static void
test_refusals(void **state)
{
	(void)state;
	output(op1(QN_OP_softmax, input("x", "tensor<4xf64>"), NULL, NULL));
	refused("run.unsupported", "softmax, node 'softmax_1', (tensor<4xf64>) -> tensor<4xf64>: "
				   "float implementations take only f32");
	fresh_graph();
	output(op1(QN_OP_relu, input("x", "tensor<?x4xf32>"), NULL, NULL));
	refused("run.dynamic", "tensor<?x4xf32>");
	fresh_graph();
	qn_symbol *s = NULL;
	assert_int_equal(qn_symbol_declare(&rg->m.types, "test", "a", QN_SYM_ASYMMETRIC, 0, &s),
			 QN_OK);
	output(op1(QN_OP_quantize, input("x", "tensor<4xf32>"), NULL, Q("4", "$a:$a")));
	refused("run.symbol", "$a");
	/* All nodes are reported, not the first only. */
	fresh_graph();
	qn_id x = input("x", "tensor<4xf64>");
	x = op2(QN_OP_add, op1(QN_OP_softmax, x, NULL, NULL), op1(QN_OP_log_softmax, x, NULL, NULL),
		NULL, NULL);
	output(op1(QN_OP_softmax, x, NULL, NULL));
	qn_interp *in = NULL;
	assert_int_equal(qn_interp_new(rg->g, &rg->arena, &in), QN_EUNSUPPORTED);
	assert_int_equal(rg->diags.n, 3);
	assert_null(in);
}

static void
test_wrong_inputs(void **state)
{
	const double x[4] = {0};

	(void)state;
	qn_id a = input("a", "tensor<4xf32>"), b = input("b", "tensor<4xf32>");
	output(op2(QN_OP_add, a, b, NULL, NULL));
	qn_interp *in = interp();
	const qn_tensor *given[2] = {tensor(type("tensor<2x2xf32>"), x), NULL};
	assert_int_equal(qn_interp_run(in, given, NULL, NULL), QN_EINVALID);
	assert_int_equal(rg->diags.n, 2);
	assert_string_equal(rg->diags.item[0].id, "run.input");
	assert_string_equal(rg->diags.item[1].id, "run.input");
}

/* Graph k calls graph k - 1: as deep as allowed, and one deeper. */
static void
test_deep_calls(void **state)
{
	const double x[1] = {3};

	(void)state;
	output(op1(QN_OP_relu, input("x", "tensor<1xf32>"), NULL, NULL));
	for (int depth = 1; depth <= 65; depth++) {
		qn_graph *callee = rg->g;

		fresh_graph();
		qn_id in = input("x", "tensor<1xf32>");
		qn_node call = {.op = QN_OP_call, .nin = 1, .in = &in, .callee = callee};
		output(qn_graph_add(rg->g, &call));
		if (depth == 64)
			assert_true(run1(x)[0] == 3);
	}
	refused("run.unsupported", "calls nest deeper than 64");
}

/* What depends on constants alone is computed once and seen in each run: weights that are stored as integers give the
 * sums of their values. */
static void
test_fixed(void **state)
{
	const double q[6] = {100, -50, 25, -127, 3, 60}, half[1] = {0.5};
	const double x[2][2] = {{1, -3}, {0.25, 8}};
	double w[6], want[3];
	seen s = {0};

	(void)state;
	qn_id in = input("x", "tensor<1x2xf32>");
	qn_id stored = constant("q", Q("3x2", "0.25"), q);
	qn_id values = op1(QN_OP_dequantize, stored, NULL, NULL);
	qn_id scaled = op2(QN_OP_mul, values, constant("half", "tensor<1xf32>", half), NULL, NULL);
	output(op2(QN_OP_dense, in, scaled, NULL, NULL));
	output(op2(QN_OP_dense, in, values, NULL, NULL));
	output(op1(QN_OP_neg, scaled, NULL, NULL));
	for (int i = 0; i < 6; i++)
		w[i] = q[i] * 0.25;
	qn_interp *run_it = interp();
	for (int r = 0; r < 2; r++) {
		const qn_tensor *given = tensor(type("tensor<1x2xf32>"), x[r]);

		s.n = 0;
		assert_int_equal(qn_interp_run(run_it, &given, watch, &s), QN_OK);
		assert_int_equal(s.n, rg->g->n - 1); /* all values, also those computed before */
		assert_true(s.first[values - 1] == w[0] && s.first[scaled - 1] == w[0] / 2);
		for (int i = 0; i < 3; i++)
			want[i] = w[2 * i] * x[r][0] + w[2 * i + 1] * x[r][1];
		near(want, doubles(qn_interp_output(run_it, 1)), 3, 0.0);
		for (int i = 0; i < 3; i++)
			want[i] /= 2;
		near(want, doubles(qn_interp_output(run_it, 0)), 3, 0.0);
		assert_true(doubles(qn_interp_output(run_it, 2))[5] == -w[5] / 2);
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_observe),       T(test_composite),  T(test_mixed),     T(test_memory),
		T(test_memory_random), T(test_passing),    T(test_eval_node), T(test_refusals),
		T(test_wrong_inputs),  T(test_deep_calls), T(test_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
