/* SPDX-License-Identifier: Apache-2.0 */
/* simplify leaves the least number of casts that there is.
 *
 * Random graphs of ops that move or select values, with float and quantized sources and readers.  Every choice of a
 * domain for each op is built and run; of those with the outputs of the graph, the one with the fewest casts
 * must have as many as simplify leaves, whose outputs must be the same too. */
#include "tests/unit/run_util.h"

#include <stdio.h>

#include "passes/solver.h"

enum { FLOAT, ONE, TWO, NDOMAIN };
enum { MOST_VALUES = 12, MOST_SINKS = 4, MOST_ROWS = 40, WIDTH = 3, GRAPHS = 800, SAMPLES = 5 };

static const char *const elems[NDOMAIN] = {"f32", "!quant.uniform<i8:f32, 0.5:3>",
					   "!quant.uniform<i8:f32, 0.3>"};

typedef struct value {
	int domain; /* of a source */
	int a, b;   /* operands, -1: none; a source has none */
	qn_op op;
	int64_t rows;
} value;

typedef struct sink {
	int value, domain; /* FLOAT: exp reads it; else it is quantized */
} sink;

typedef struct net {
	value v[MOST_VALUES];
	int nsource, n;
	sink sink[MOST_SINKS];
	int nsink;
} net;

static void
draw(net *t)
{
	static const qn_op one[] = {QN_OP_reverse, QN_OP_trilu};
	static const qn_op two[] = {QN_OP_concat, QN_OP_minimum, QN_OP_maximum};

	t->nsource = (int)pick(1, 3);
	t->n = t->nsource + (int)pick(1, 5);
	t->nsink = (int)pick(1, MOST_SINKS);
	for (int i = 0; i < t->n; i++) {
		value *v = &t->v[i];

		*v = (value){.domain = (int)pick(0, 2), .a = -1, .b = -1, .rows = 2};
		if (i < t->nsource)
			continue;
		v->domain = FLOAT;
		v->a = (int)pick(i > 2 ? i - 3 : 0, i - 1);
		v->b = pick(0, 1) == 0 ? -1 : (int)pick(0, i - 1);
		v->rows = t->v[v->a].rows;
		if (v->b >= 0 && v->rows + t->v[v->b].rows > MOST_ROWS)
			v->b = -1;
		if (v->b < 0) {
			v->op = one[pick(0, (int)QN_COUNT(one) - 1)];
			continue;
		}
		v->op = two[v->rows == t->v[v->b].rows ? pick(0, (int)QN_COUNT(two) - 1) : 0];
		if (v->op == QN_OP_concat)
			v->rows += t->v[v->b].rows;
	}
	const int most = (int)pick(0, 2);
	for (int k = 0; k < t->nsink; k++)
		t->sink[k] = (sink){k == 0 ? t->n - 1 : (int)pick(0, t->n - 1),
				    pick(0, 3) == 0 ? FLOAT : most};
}

/* ---- graphs ---- */

typedef struct made {
	const net *t;
	const int *domain; /* by value */
	qn_id id[MOST_VALUES][NDOMAIN];
} made;

static const char *
type_text(int domain, int64_t rows)
{
	char *text = qn_arena_alloc(&rg->arena, 100, 1);

	(void)snprintf(text, 100, "tensor<%lldx%dx%s>", (long long)rows, WIDTH, elems[domain]);
	return text;
}

static qn_id
in_domain(made *m, int i, int d)
{
	qn_id *id = &m->id[i][d];

	if (*id == 0 && d == FLOAT)
		*id = op1(QN_OP_dequantize, m->id[i][m->domain[i]], NULL, NULL);
	else if (*id == 0)
		*id = op1(QN_OP_quantize, in_domain(m, i, FLOAT), NULL,
			  type_text(d, m->t->v[i].rows));
	return *id;
}

static void
add_op(made *m, int i)
{
	const value *v = &m->t->v[i];
	const int d = m->domain[i];
	const qn_id x = in_domain(m, v->a, d);
	const qn_attr_set_info *set = qn_opinfo_get(v->op)->attrs;
	qn_attrs a;

	qn_attrs_default(set, &a);
	if (v->op == QN_OP_concat)
		a.axis.axis = 0;
	if (v->op == QN_OP_reverse)
		a.axes.axes = (qn_list){1, {1}};
	m->id[i][d] = v->b >= 0 ? op2(v->op, x, in_domain(m, v->b, d), &a, NULL)
				: op1(v->op, x, &a, NULL);
}

static void
build(const net *t, const int *domain)
{
	made m = {.t = t, .domain = domain};
	char name[16];

	rg->g = qn_graph_new(&rg->m, "main");
	for (int i = 0; i < t->nsource; i++) {
		(void)snprintf(name, sizeof name, "x%d", i);
		m.id[i][domain[i]] = input(name, type_text(domain[i], 2));
	}
	for (int i = t->nsource; i < t->n; i++)
		add_op(&m, i);
	for (int k = 0; k < t->nsink; k++) {
		const qn_id x = in_domain(&m, t->sink[k].value, t->sink[k].domain);

		(void)snprintf(name, sizeof name, "y%d", k);
		qn_graph_output(rg->g, name,
				t->sink[k].domain == FLOAT ? op1(QN_OP_exp, x, NULL, NULL) : x);
	}
}

/* Casts that outputs need. */
static int
casts(const qn_graph *g)
{
	bool *used = QN_NEW(&rg->arena, bool, g->n);
	int n = 0;

	for (size_t i = 0; i < g->noutput; i++)
		used[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *x = qn_graph_node(g, id);

		for (uint32_t i = 0; used[id] && i < x->nin; i++)
			used[x->in[i]] = true;
		n += used[id] && (x->op == QN_OP_quantize || x->op == QN_OP_dequantize);
	}
	return n;
}

/* The outputs on samples of random values, the same for every graph of a net: the lesser of two values hides the other,
 * so one sample is too few. */
static bool
run_all(uint64_t seed, double *out, size_t *n)
{
	const qn_tensor *x[MOST_VALUES];
	qn_interp *in = interp();
	const uint64_t kept = rg->seed;

	*n = 0;
	rg->seed = seed;
	for (int s = 0; s < SAMPLES; s++) {
		for (size_t k = 0; k < rg->g->ninput; k++) {
			const qn_type *t = qn_graph_node(rg->g, rg->g->input[k])->type;
			double v[2 * WIDTH];

			for (int i = 0; i < 2 * WIDTH; i++)
				v[i] = qn_elem_is_float(t->elem) ? (s + 1) * 10 * real()
								 : (double)pick(-128, 127);
			x[k] = tensor(t, v);
		}
		assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
		for (size_t k = 0; k < rg->g->noutput; k++) {
			const qn_tensor *y = qn_interp_output(in, k);

			for (int64_t i = 0; i < qn_type_count(y->type); i++)
				out[(*n)++] = qn_tensor_f64(y, i);
		}
	}
	rg->seed = kept;
	return true;
}

static bool
same_outputs(uint64_t seed, const double *want, size_t n)
{
	static double have[SAMPLES * MOST_SINKS * MOST_ROWS * WIDTH];
	size_t m = 0;

	return run_all(seed, have, &m) && m == n && memcmp(have, want, n * sizeof *want) == 0;
}

/* The fewest casts among all choices with these outputs. */
static int
fewest(const net *t, uint64_t seed, const double *want, size_t n)
{
	int domain[MOST_VALUES] = {0}, best = 1000, total = 1;

	for (int i = 0; i < t->n; i++)
		domain[i] = t->v[i].domain;
	for (int i = t->nsource; i < t->n; i++)
		total *= NDOMAIN;
	for (int c = 0; c < total; c++) {
		int rest = c;

		for (int i = t->nsource; i < t->n; i++, rest /= NDOMAIN)
			domain[i] = rest % NDOMAIN;
		build(t, domain);
		const int count = casts(rg->g);
		if (count < best && same_outputs(seed, want, n))
			best = count;
	}
	return best;
}

static void
test_optimum(void **state)
{
	static double want[SAMPLES * MOST_SINKS * MOST_ROWS * WIDTH];
	int fewer = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
		net t = {0};
		int domain[MOST_VALUES] = {0};
		size_t n;

		rg->seed = seed;
		qn_model_init(&rg->m, &rg->env, &rg->arena, "simplify");
		rg->m.stage = QN_STAGE_CALIBRATED;
		draw(&t);
		for (int i = 0; i < t.nsource; i++)
			domain[i] = t.v[i].domain;
		build(&t, domain);
		qn_model_add_graph(&rg->m, rg->g);
		const int before = casts(rg->g);
		(void)run_all(seed, want, &n);
		const int best = fewest(&t, seed, want, n);
		assert_int_equal(qn_simplify(&rg->m), QN_OK);
		rg->g = qn_model_entry(&rg->m);
		const int after = casts(rg->g);
		if (after != best)
			fail_msg("seed %llu: %d casts, %d before, the least is %d",
				 (unsigned long long)seed, after, before, best);
		assert_true(same_outputs(seed, want, n));
		fewer += after < before;
	}
	assert_true(fewer > GRAPHS / 4);
}

/* A chain of joins with many open values ends in time. */
static void
test_many(void **state)
{
	enum { PARTS = 24 };
	qn_id x[PARTS];
	qn_attrs a;

	(void)state;
	qn_model_init(&rg->m, &rg->env, &rg->arena, "simplify");
	rg->m.stage = QN_STAGE_CALIBRATED;
	rg->g = qn_graph_new(&rg->m, "main");
	qn_attrs_default(QN_ATTRS(axes), &a);
	a.axes.axes = (qn_list){1, {1}};
	for (int i = 0; i < PARTS; i++) {
		char name[16];

		(void)snprintf(name, sizeof name, "x%d", i);
		x[i] = op1(QN_OP_dequantize, input(name, type_text(1 + i % 2, 2)), NULL, NULL);
		x[i] = op1(QN_OP_reverse, x[i], &a, NULL);
	}
	qn_attrs_default(QN_ATTRS(axis), &a);
	a.axis.axis = 0;
	output(op(QN_OP_concat, PARTS, x, &a, NULL));
	qn_model_add_graph(&rg->m, rg->g);
	assert_int_equal(qn_simplify(&rg->m), QN_OK);
	assert_int_equal(casts(qn_model_entry(&rg->m)), PARTS);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {T(test_optimum), T(test_many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
