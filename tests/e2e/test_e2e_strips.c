/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and convolutions that are computed with the step before them, some rows at a time, give the bytes that the
 * interpreter gives: random ones of any windows, strides, padding and storage, after a convolution, many with a step between
 * that computes each element alone, or after such a step, with the kernels of every kind of target. */
#include "tests/e2e/e2e.h"

#include <math.h>

#include "codegen/kernel_table.h"
#include "codegen/schedule.h"
#include "codegen/strips.h"
#include "tests/e2e/random_maker.h"

enum { NETS = 1, FULL_NETS = 6, BRANCHES = 12, SAMPLES = 4 };

static const char *const targets[] = {"generic",    "cortex-m4", "cortex-m0plus",
				      "cortex-m55", "avr",       "x86-64-avx512vnni"};

/* A pool, or another convolution. */
static qn_id
add_reader(maker *m, qn_id x)
{
	if (chance(m, 50))
		return random_conv2d(m, x);
	return chance(m, 60) ? random_max_pool(m, x) : random_avg_pool(m, x);
}

/* Values of 8 bits as 16 bits, or the other way round, whose scale is a power of two apart. */
static qn_id
add_shift(maker *m, qn_id x)
{
	const double scale = ldexp(scale_of(m, x, 0), -(int)pick(m, 0, 7));

	m->code =
		m->code == QN_PLAIN_i16 ? chance(m, 50) ? QN_PLAIN_u8 : QN_PLAIN_i8 : QN_PLAIN_i16;
	return add_op(
		m, QN_OP_requantize, 1, &x, NULL,
		qn_type_with_elem(&m->b->model.types, type_of(m, x), code_elem(m, scale, false)));
}

/* A function of each value, limits, or another scale or storage. */
static qn_id
add_between(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);

	if (chance(m, m->code == QN_PLAIN_i16 ? 60 : 20))
		return add_shift(m, x);
	if (chance(m, 40))
		return random_unary(m, x);
	if (chance(m, 30))
		return add_op(m, QN_OP_relu, 1, &x, NULL, t);
	if (m->code != QN_PLAIN_i16 && chance(m, 60))
		m->code = m->code == QN_PLAIN_i8 ? QN_PLAIN_u8 : QN_PLAIN_i8;
	const double scale = scale_of(m, x, 0) * factor(m, 0.6, 1.6);
	return add_op(m, QN_OP_requantize, 1, &x, NULL,
		      qn_type_with_elem(&m->b->model.types, t, code_elem(m, scale, false)));
}

/* A reader of x, maybe after a step between, or a depthwise convolution of values with a scale for each channel. */
static qn_id
add_after(maker *m, qn_id x)
{
	if (chance(m, 15))
		return random_channels(m, x);
	if (chance(m, 20)) /* then the second one is the first step */
		x = add_between(m, x);
	return add_reader(m, x != 0 && chance(m, 50) ? add_between(m, x) : x);
}

/* A convolution and a reader of its result, twice where the first is large enough. */
static void
add_branch(maker *m)
{
	int64_t dim[4] = {1};

	dim[1] = pick(m, 6, 17);
	dim[2] = pick(m, 1, 8);
	dim[3] = pick(m, 1, 6);
	const qn_type *t = shaped(m, code_elem(m, factor(m, 0.01, 0.2), true), 4, dim);
	qn_id x = qn_graph_input(m->b->g, NULL, t), y;
	build_check(m->b, x != 0);

	for (int i = 0; i < 2 && type_of(m, x)->dim[1] > 2; i++) {
		if ((y = random_conv2d(m, x)) == 0)
			break;
		x = y;
		if ((y = add_after(m, x)) == 0)
			break;
		x = y;
	}
	qn_graph_output(m->b->g, NULL, x);
}

static void
build_net(builder *b, uint64_t seed)
{
	static const qn_plain codes[5] = {QN_PLAIN_i8, QN_PLAIN_i8, QN_PLAIN_i8, QN_PLAIN_u8,
					  QN_PLAIN_i16};

	build_begin(b, "net", seed * UINT64_C(0x9e3779b97f4a7c15));
	maker m = {.b = b, .weight_bits = 8};
	for (int i = 0; i < BRANCHES; i++) {
		m.code = codes[pick(&m, 0, 4)];
		add_branch(&m);
	}
	qn_model_add_graph(&b->model, b->g);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
}

typedef struct strip_counts {
	size_t pools, convolutions, kept; /* kept: rows, from a turn to the next */
	size_t between, runs, stored,
		shrunk; /* of them: that count runs of channels; to another storage; a smaller one */
	size_t element_wise; /* first steps */
} strip_counts;

static void
count_between(const qn_graph *g, const qn_step *s, uint32_t count, strip_counts *n)
{
	n->between++;
	n->runs += s->kernel->counts > 1 && count == 0;
	n->shrunk += qn_elem_bytes(qn_graph_node(g, s->in[0])->type->elem) >
		     qn_elem_bytes(qn_graph_node(g, s->node)->type->elem);
	n->stored += qn_graph_node(g, s->in[0])->type->elem->plain !=
		     qn_graph_node(g, s->node)->type->elem->plain;
}

/* Which kernels made rows for which. */
static void
count_strips(builder *b, const qn_plan *p, strip_counts *n)
{
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_strip_of *s = p->step[i].strip;

		if (s == NULL)
			continue;
		const bool convolves = qn_graph_node(p->g, s->reader->core)->op == QN_OP_conv2d;
		n->pools += !convolves;
		n->convolutions += convolves;
		n->element_wise += s->made.element_wise;
		n->kept += s->windows.stride < s->windows.reach;
		if (s->between != NULL)
			count_between(p->g, s->between, s->count, n);
		print_message(
			"%s with %s, %d at once%s%s\n", qn_step_function(p->g, s->maker, &b->arena),
			qn_step_function(p->g, s->reader, &b->arena), s->windows.at_once,
			s->between != NULL ? " after " : "",
			s->between != NULL ? qn_step_function(p->g, s->between, &b->arena) : "");
	}
}

/* Most of the joins that there can be, with some rows at once. */
static const int32_t *
random_joins(builder *b, const qn_plan *p)
{
	int32_t *join = QN_NEW(&b->arena, int32_t, p->g->n);
	qn_joinable *can = QN_NEW(&b->arena, qn_joinable, p->g->n);
	maker m = {.b = b};

	qn_strips_find(p, true, can, &b->arena);
	for (qn_id core = 1; core < p->g->n; core++)
		if (can[core].most > 0 && chance(&m, 90))
			join[core] = (int32_t)pick(&m, 1, can[core].most / 2 + 1);
	return join;
}

/* The program gives the bytes of the interpreter. */
static void
run_plan(builder *b, qn_plan *p, e2e *t)
{
	e2e_prepare_plan(b, p, t, SAMPLES);
	if (e2e_target_cc() == NULL) {
		e2e_run_portable(b, t);
		return;
	}
	e2e_write(b, t);
	e2e_check_target(b, t);
	e2e_remove(b, t);
}

static void
test_random(void **state)
{
	const size_t ntarget = e2e_target_cc() != NULL ? 1 : QN_COUNT(targets);
	const char *full = getenv("QUERN_FULL");
	const uint64_t nets = full != NULL && strcmp(full, "1") == 0 ? FULL_NETS : NETS;
	strip_counts n = {0};

	(void)state;
	for (size_t i = 0; i < ntarget; i++) {
		const char *name = e2e_target_cc() != NULL ? getenv("QUERN_TARGET") : targets[i];

		for (uint64_t seed = 1; seed <= nets; seed++) {
			qn_plan *plan = NULL, *strips = NULL;
			builder b;
			e2e t;

			build_net(&b, 100 * i + seed);
			const qn_target *target = qn_target_find(&b.env, name);
			build_check(&b, qn_plan_fast(b.g, "net", target, &b.arena, &plan) == QN_OK);
			build_check(&b, qn_plan_strips(plan, random_joins(&b, plan), &b.arena,
						       &strips) == QN_OK);
			count_strips(&b, strips, &n);
			run_plan(&b, strips, &t);
			build_end(&b);
		}
	}
	print_message(
		"%zu pools and %zu convolutions, %zu of them keep rows; %zu after another "
		"step, %zu of them by runs, %zu in another storage, %zu in a smaller one; %zu "
		"element-wise ones are first\n",
		n.pools, n.convolutions, n.kept, n.between, n.runs, n.stored, n.shrunk,
		n.element_wise);
	assert_true(n.pools >= 2 * ntarget && n.convolutions >= 2 * ntarget && n.kept >= ntarget);
	assert_true(n.between >= 2 * ntarget);
	assert_true(ntarget == 1 || (n.runs > 0 && n.stored > 0));
	assert_true(ntarget == 1 || (n.shrunk > 1 && n.element_wise > ntarget));
}

/* The begin of a block of EfficientNet, as it is compiled: of the 65536 bytes that the function makes, a few rows are
 * in memory, and the program gives the bytes of the interpreter. */
static void
test_block(void **state)
{
#define CODES(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define WEIGHTS(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.01>>"
	const bool other = e2e_target_cc() != NULL;
	const char *name = other ? getenv("QUERN_TARGET") : "cortex-m4";
	qn_attrs a = build_attrs(QN_OP_conv2d);
	qn_plan *p = NULL;
	builder b;
	e2e t;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", CODES("1x32x32x8"));
	qn_id w = build_const(&b, "up.w", WEIGHTS("64x1x1x8"), -127, 127);
	x = build_op(&b, QN_OP_conv2d, "up", IDS(x, w), &a, NULL);
	x = build_op(&b, QN_OP_requantize, "up.q", IDS(x), NULL, CODES("1x32x32x64"));
	x = build_op(&b, QN_OP_silu, "silu", IDS(x), NULL, CODES("1x32x32x64"));
	w = build_const(&b, "each.w", WEIGHTS("64x3x3x1"), -127, 127);
	a.conv2d.padding = QN_PADDING_same;
	a.conv2d.groups = 64;
	a.conv2d.stride[0] = a.conv2d.stride[1] = 2;
	x = build_op(&b, QN_OP_conv2d, "each", IDS(x, w), &a, NULL);
	x = build_op(&b, QN_OP_requantize, "each.q", IDS(x), NULL, CODES("1x16x16x64"));
	qn_graph_output(b.g, "y",
			build_op(&b, QN_OP_silu, "then", IDS(x), NULL, CODES("1x16x16x64")));
	qn_model_add_graph(&b.model, b.g);
	build_check(&b, qn_model_verify(&b.model) == QN_OK);
	const qn_plan_opts how = {.target = qn_target_find(&b.env, name)};
	build_check(&b, qn_plan_make(b.g, "net", &how, &b.arena, &p) == QN_OK);
	print_message("an arena of %zu bytes\n", p->scratch_bytes);
	if (!how.target->is_host)
		assert_true(p->scratch_bytes < 32768);
	run_plan(&b, p, &t);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_block),
					   cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
