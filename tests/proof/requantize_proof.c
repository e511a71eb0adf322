/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_proof.c - the requantizer keeps what its rules say: a graph runs before and behind it.
 *
 * Every value of codes is made an output, so that what stands for it behind the pass is known.
 * Each is compared with what the graph before computes from the codes behind: a rule answers for
 * its own difference, not for those of the values that it reads.  The bounds are derived in
 * requantize_bound.c; most are 0 or 1 code. */
#include "tests/proof/requantize_proof.h"

#include <math.h>

#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/interp.h"

enum { SAMPLES = 4 };

typedef struct proof {
	builder *b;
	const qn_graph *before; /* with all codes as outputs */
	const qn_graph *after;
	qn_graph *cut; /* before, reading its own codes from further inputs */
	size_t own;    /* outputs that were there anyway */
	size_t *distance; /* output -> the cut's output with the real distance of a comparison's operands, or 0 */
	tally *tally;
} proof;

static bool
is_cut(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op != QN_OP_input && n->op != QN_OP_const && !n->type->is_tuple &&
	       !qn_elem_is_float(n->type->elem);
}

/* Weights and biases keep their node: kernels want them constant. */
static bool
is_constant(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op == QN_OP_quantize && qn_graph_node(g, n->in[0])->op == QN_OP_const;
}

static bool
is_comparison(const qn_graph *g, const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_MIX && !n->type->is_tuple &&
	       n->type->elem->kind == QN_ELEM_PLAIN && !qn_elem_is_float(n->type->elem) &&
	       qn_graph_node(g, n->in[0])->op == QN_OP_dequantize &&
	       qn_graph_node(g, n->in[1])->op == QN_OP_dequantize;
}

/* ---- the graphs ---- */

static void
expose(proof *p, qn_graph *g)
{
	p->own = g->noutput;
	for (qn_id id = 1; id < g->n; id++)
		if (is_cut(g, id)) {
			qn_buf name;

			qn_buf_init(&name, g->arena);
			qn_buff(&name, "codes of %u", id);
			qn_graph_output(g, qn_buf_str(&name), id);
		}
}

/* The value of the cut graph that stands for output k of the graph before. */
static void
cut_graph(proof *p)
{
	const qn_graph *g = p->before;
	builder *b = p->b;
	qn_id *made = QN_NEW(&b->arena, qn_id, g->n), *map = QN_NEW(&b->arena, qn_id, g->n);
	qn_graph *cut = qn_graph_new(&b->model, "main");

	for (int pass = 0; pass < 2; pass++) /* inputs keep their places: the new ones come last */
		for (qn_id id = 1; id < g->n; id++) {
			const qn_node *n = qn_graph_node(g, id);
			qn_node like = *n;
			qn_id *in = QN_NEW(&b->arena, qn_id, n->nin + 1);

			if ((pass == 0) != (n->op == QN_OP_input))
				continue;
			for (uint32_t i = 0; i < n->nin; i++)
				in[i] = map[n->in[i]];
			like.in = in;
			made[id] = map[id] = qn_graph_add(cut, &like);
			build_check(b, map[id] != 0);
			if (is_cut(g, id) && !is_constant(g, id))
				map[id] = qn_graph_input(cut, NULL, n->type);
		}
	for (size_t k = 0; k < g->noutput; k++)
		qn_graph_output(cut, NULL, made[g->output[k].value]);
	p->distance = QN_NEW(&b->arena, size_t, g->noutput);
	for (size_t k = 0; k < g->noutput; k++) {
		const qn_node *n = qn_graph_node(g, g->output[k].value);

		if (!is_comparison(g, n))
			continue;
		const qn_node *c = qn_graph_node(cut, made[g->output[k].value]);
		qn_id sub = qn_graph_op(cut, QN_OP_sub, NULL, 2, c->in, NULL, NULL);
		build_check(b, sub != 0);
		p->distance[k] = cut->noutput;
		qn_graph_output(cut, NULL, sub);
	}
	p->cut = cut;
}

/* ---- running them ---- */

static const qn_tensor **
random_inputs(builder *b, const qn_graph *g, size_t sample)
{
	const qn_tensor **x = QN_NEW(&b->arena, const qn_tensor *, g->ninput + 1);

	for (size_t k = 0; k < g->ninput; k++) {
		const qn_type *type = qn_graph_node(g, g->input[k])->type;
		const qn_elem *e = type->elem;
		bool codes = e->kind == QN_ELEM_UNIFORM;
		int64_t lo = codes ? e->qmin : -3, hi = codes ? e->qmax : 3;
		void *data;

		if (codes &&
		    e->bits > 16) { /* sums: where results are neither all small nor all large */
			lo = -20000;
			hi = 20000;
		}
		x[k] = qn_tensor_new(&b->arena, type, &data);
		for (int64_t i = 0; i < qn_type_count(type); i++) {
			int64_t v = sample < 2 && codes ? (sample == 0 ? lo : hi)
							: build_random(b, lo, hi);

			if (qn_elem_is_float(e))
				qn_store_f64(data, e->plain, i,
					     (double)build_random(b, -3000, 3000) / 1000);
			else
				qn_store_i64(data, e->plain, i,
					     e->kind == QN_ELEM_PLAIN ? v < 0 : v);
		}
	}
	return x;
}

static const qn_tensor *
copy_output(builder *b, const qn_interp *in, size_t k)
{
	const qn_tensor *y = qn_interp_output(in, k);

	return qn_tensor_view(&b->arena, y->type, qn_arena_copy(&b->arena, y->data, y->bytes));
}

/* The codes that the graph behind gave, as further inputs of the cut one. */
static const qn_tensor **
cut_inputs(proof *p, const qn_tensor **x, const qn_tensor **y)
{
	const qn_tensor **z = QN_NEW(&p->b->arena, const qn_tensor *, p->cut->ninput + 1);
	size_t n = p->before->ninput, k = p->own;

	memcpy(z, x, n * sizeof(x[0]));
	for (qn_id id = 1; id < p->before->n; id++) {
		if (!is_cut(p->before, id))
			continue;
		if (!is_constant(p->before, id))
			z[n++] = y[k];
		k++;
	}
	assert_int_equal(n, p->cut->ninput);
	assert_int_equal(k, p->before->noutput);
	return z;
}

static void
show_graphs(const proof *p)
{
	qn_buf text;

	qn_buf_init(&text, &p->b->arena);
	qn_graph_print(&text, p->before);
	qn_graph_print(&text, p->after);
	(void)fputs(qn_buf_str(&text), stderr); /* longer than a message may be */
}

/* A result without parameters gets 16 bits: two steps of them, the rounding of its op and that to the result. */
static double
steps_of_derived(const proof *p, const qn_node *before, const qn_node *behind)
{
	const qn_elem *e;
	double scale = 0;
	int64_t zp;

	while (behind->nin == 1 && behind->op != QN_OP_dequantize)
		behind = qn_graph_node(p->after, behind->in[0]); /* moved as floats */
	if (!qn_type_is_f32(before->type) || before->op == QN_OP_dequantize ||
	    behind->op != QN_OP_dequantize)
		return 0;
	e = qn_graph_node(p->after, behind->in[0])->type->elem;
	if (e->kind != QN_ELEM_UNIFORM || e->bits != 16 || e->gran != QN_PER_TENSOR)
		return 0;
	qn_elem_param(&p->after->model->types, e, 0, &scale, &zp);
	return 2 * scale;
}

static void
compare(proof *p, size_t k, const qn_tensor *want, const qn_tensor *got, const qn_tensor *apart)
{
	const qn_graph *g = p->before;
	qn_id id = g->output[k].value;
	const qn_node *n = qn_graph_node(g, id);
	const qn_node *behind = qn_graph_node(p->after, p->after->output[k].value);
	int64_t bound = is_cut(g, id) ? requantize_bound(g, id, behind->op) : 0;

	const double derived = steps_of_derived(p, n, behind);

	assert_int_equal(want->bytes, got->bytes);
	for (int64_t i = 0; i < qn_type_count(want->type); i++) {
		double a = qn_tensor_f64(want, i), c = qn_tensor_f64(got, i);
		double difference = a == c || (isnan(a) && isnan(c)) ? 0 : fabs(a - c);

		p->tally->values++;
		if (apart != NULL && difference > 0) {
			assert_true(fabs(qn_tensor_f64(apart, i)) <= compare_bound(g, n));
			continue;
		}
		p->tally->by_one += difference == 1;
		p->tally->by_more += difference > 1;
		if (difference > (double)p->tally->worst)
			p->tally->worst = (int64_t)difference;
		if (difference <= (double)bound || difference <= derived)
			continue;
		show_graphs(p);
		fail_msg("%s: %s '%s', element %lld: %g before, %g behind, bound %lld",
			 p->b->model.name, qn_opinfo_of(n)->name, n->name, (long long)i, a, c,
			 (long long)bound);
	}
}

static qn_interp *
interpreter(builder *b, const qn_graph *g)
{
	qn_interp *in;

	build_check(b, qn_interp_new(g, &b->arena, &in) == QN_OK);
	return in;
}

/* The outputs of the graph that nothing was added to are those of the graph with all of them. */
static void
same_outputs(proof *p, const qn_graph *without, qn_interp *plain, const qn_tensor **x,
	     const qn_tensor **y)
{
	build_check(p->b, qn_interp_run(plain, x, NULL, NULL) == QN_OK);
	for (size_t k = 0; k < p->own; k++)
		if (memcmp(qn_interp_output(plain, k)->data, y[k]->data, y[k]->bytes) != 0) {
			qn_buf b;

			show_graphs(p);
			qn_buf_init(&b, &p->b->arena);
			qn_graph_print(&b, without);
			(void)fputs(qn_buf_str(&b), stderr); /* longer than a message may be */
			fail_msg("%s: output %zu depends on what else is an output",
				 p->b->model.name, k);
		}
}

/* A graph of the builder's model, calibrated. */
static void
prove(proof *p, builder *b)
{
	qn_graph *g;

	p->b = b;
	build_check(b, qn_graph_sweep(&b->model, b->g, NULL, &g) == QN_OK);
	build_check(b, qn_expand_activations(&b->model, g, &g) ==
			       QN_OK); /* other types, the same values */
	build_check(b, qn_requantize(&b->model, NULL) == QN_OK);
	const qn_graph *without = qn_model_entry(&b->model);
	expose(p, g);
	qn_model_set_graph(&b->model, g);
	p->before = g;
	build_check(b, qn_requantize(&b->model, NULL) == QN_OK);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
	p->after = qn_model_entry(&b->model);
	cut_graph(p);
	qn_interp *after = interpreter(b, p->after), *cut = interpreter(b, p->cut);
	qn_interp *plain = interpreter(b, without);
	for (size_t s = 0; s < SAMPLES; s++) {
		const qn_tensor **x = random_inputs(b, p->before, s);
		const qn_tensor **y = QN_NEW(&b->arena, const qn_tensor *, p->before->noutput + 1);

		build_check(b, qn_interp_run(after, x, NULL, NULL) == QN_OK);
		for (size_t k = 0; k < p->before->noutput; k++)
			y[k] = copy_output(b, after, k);
		build_check(b, qn_interp_run(cut, cut_inputs(p, x, y), NULL, NULL) == QN_OK);
		for (size_t k = 0; k < p->before->noutput; k++)
			compare(p, k, qn_interp_output(cut, k), y[k],
				p->distance[k] != 0 ? qn_interp_output(cut, p->distance[k]) : NULL);
		same_outputs(p, without, plain, x, y);
	}
}

void
requantize_prove(builder *b, tally *t)
{
	proof p = {.tally = t};

	prove(&p, b);
}
