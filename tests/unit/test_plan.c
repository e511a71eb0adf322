/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - the schedule of an emitted program, and its memory plan, also of random graphs. */
#include "tests/unit/codegen_rig.h"

#include "codegen/kernel_table.h"

/* ---- schedule ---- */

static void
fused_step(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id y = dense(&b, "fc", build_input(&b, "x", Q("1x4")), 4, 2);
	qn_graph_output(b.g, "y", y);
	p = plan(&b);
	assert_int_equal(p->nstep, 1);
	assert_int_equal(p->step[0].node, y);
	assert_int_equal(p->step[0].core, y - 1);
	assert_int_equal(p->step[0].nepilogue, 1);
	assert_int_equal(p->step[0].epilogue[0].node, y);
	assert_int_equal(p->step[0].nin, 2);
	assert_string_equal(p->step[0].kernel->name, "qn_dense_qw");
	assert_string_equal(p->step[0].name, "fc");
	assert_true(p->step[0].in_output);
	assert_int_equal(p->scratch_bytes, 0);
	assert_int_equal(p->weight_bytes, 8 + 4 + 1);
	build_end(&b);
}

/* An accumulator that is used twice stays a step of its own. */
static void
unfused_step(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id y = dense(&b, "fc", build_input(&b, "x", Q("1x4")), 4, 2);
	qn_graph_output(b.g, "y", y);
	qn_graph_output(b.g, "acc", y - 1);
	p = plan(&b);
	assert_int_equal(p->nstep, 2);
	assert_int_equal(p->step[0].node, y - 1);
	assert_int_equal(p->step[0].nepilogue, 0);
	assert_string_equal(p->step[0].kernel->name, "qn_dense_acc_ow");
	assert_int_equal(p->step[0].output, 1);
	assert_int_equal(p->step[1].output, 0);
	build_end(&b);
}

/* A chain of clamps and an add need one buffer; reshape needs none; dead nodes are no steps. */
static void
in_place(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", Q("1x20"));
	qn_id c1 = clamp(&b, "c1", x, -50, 50);
	(void)clamp(&b, "dead", x, 0, 1);
	qn_id c2 = clamp(&b, "c2", c1, -40, 40);
	qn_attrs shape = build_attrs(QN_OP_reshape);
	shape.shape.shape = LIST(20, 1);
	qn_id r = build_op(&b, QN_OP_reshape, "r", IDS(c2), &shape, NULL);
	qn_id a = build_op(&b, QN_OP_add, "a", IDS(r, r), NULL, Q("20x1"));
	qn_id c3 = clamp(&b, "c3", a, 0, 30);
	qn_graph_output(b.g, "y", c3);
	p = plan(&b);
	assert_int_equal(p->nstep, 5);
	assert_int_equal(p->scratch_bytes, 32);
	assert_int_equal(p->lower_bound, 32);
	assert_int_equal(p->step[2].alias, c2);
	assert_int_equal(p->step[2].offset, p->step[1].offset);
	assert_true(p->step[4].in_output);
	build_end(&b);
}

/* c1, c2 of c1, and the sum of both: two buffers of 16 bytes. */
static qn_id
two_and_sum(builder *b)
{
	qn_id x = build_input(b, "x", Q("1x16"));
	qn_id c1 = clamp(b, "c1", x, -50, 50);
	qn_id c2 = clamp(b, "c2", c1, -40, 40);

	return build_op(b, QN_OP_add, "y", IDS(c1, c2), NULL, Q("1x16"));
}

/* An operand that is read again is not overwritten, nor one that is repeated. */
static void
not_in_place(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id z = clamp(&b, "z", two_and_sum(&b), 0, 9);
	qn_graph_output(b.g, "z", z);
	p = plan(&b);
	assert_int_not_equal(p->step[0].offset, p->step[1].offset);
	assert_int_equal(p->scratch_bytes, 32);
	build_end(&b);
}

/* The node's place among the steps. */
static size_t
place_of(const qn_plan *p, qn_id id)
{
	size_t i = 0;

	while (i < p->nstep && p->step[i].node != id)
		i++;
	return i;
}

/* What additions all over the network read is a step that comes first, whatever else stands before the first of them,
 * unless the arena is larger then, for the least code. */
static void
shared_first(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		builder b;
		qn_plan *p;

		build_begin(&b, "net", 1);
		qn_id z = build_input(&b, "z", Q("1x16"));
		qn_id y = wide ? two_and_sum(&b)
			       : clamp(&b, "c", build_input(&b, "x", Q("1x16")), -50, 50);
		qn_id made = clamp(&b, "made", z, -20, 20);
		qn_id mask = clamp(&b, "mask", made, -9, 9);
		for (int i = 0; i < 6; i++)
			y = build_op(&b, QN_OP_add, "add", IDS(y, mask), NULL, Q("1x16"));
		qn_graph_output(b.g, "y", y);
		p = plan(&b);
		assert_int_equal(place_of(p, mask), wide ? 4 : 2);
		p = plan_for(&b, QN_OPTIMIZE_SIZE);
		assert_int_equal(place_of(p, mask), wide ? 4 : 1);
		assert_int_equal(p->scratch_bytes, 32);
		build_end(&b);
	}
}

/* Memory that a kernel works in lies beside what lives at its step, and only there. */
static void
working_memory(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_graph_output(b.g, "y", two_and_sum(&b));
	p = plan(&b);
	assert_int_equal(p->scratch_bytes, 32);
	p->step[1].work = 40; /* beside c1 and c2 */
	p->step[2].work = 8;  /* beside both too; no longer the other's */
	qn_plan_place(p, &b.arena);
	assert_int_equal(p->scratch_bytes, 32 + 48);
	assert_int_equal(p->lower_bound, 32 + 48);
	for (size_t i = 1; i < 3; i++) {
		const qn_step *s = &p->step[i];

		assert_int_equal(s->work_offset % QN_SCRATCH_ALIGN, 0);
		assert_true(s->work_offset + s->work <= p->scratch_bytes);
		for (size_t k = 0; k < 2; k++)
			assert_true(s->work_offset + s->work <= p->step[k].offset ||
				    p->step[k].offset + 16 <= s->work_offset);
	}
	build_end(&b);
}

/* ---- memory plan of random graphs ---- */

enum { OWNERS = 1 << 16 };

static qn_id
root_of(const qn_plan *p, qn_id id)
{
	size_t i;

	for (i = 0; i < p->nstep; i++)
		if (p->step[i].node == id && p->step[i].alias != 0)
			return root_of(p, p->step[i].alias);
	return id;
}

static const qn_step *
writer_of(const qn_plan *p, qn_id id)
{
	size_t i;

	for (i = 0; i < p->nstep; i++)
		if (p->step[i].node == id)
			return &p->step[i];
	return NULL;
}

/* The bytes of a value that lies in scratch are still its own. */
static void
check_owner(const qn_plan *p, const qn_id *owner, qn_id id)
{
	const qn_step *w = writer_of(p, root_of(p, id));
	size_t k;

	for (k = 0; w != NULL && !w->in_output && k < w->bytes; k++)
		assert_int_equal(owner[w->offset + k], w->node);
}

static void
check_overlap(const qn_plan *p, const qn_step *s, qn_id in)
{
	const qn_step *w = writer_of(p, root_of(p, in));
	qn_op op = qn_graph_node(p->g, s->node)->op;
	bool may = op == QN_OP_clamp || op == QN_OP_add || op == QN_OP_softmax ||
		   (op == QN_OP_requantize && s->core == s->node);

	if (w == NULL || w->in_output || s->in_output)
		return;
	if (w->part_of != 0 &&
	    &p->step[w->part_of - 1] == s) { /* it is written where it lies in it */
		assert_true(s->offset <= w->offset && w->offset + w->bytes <= s->offset + s->bytes);
		return;
	}
	if (w->offset + w->bytes <= s->offset || s->offset + s->bytes <= w->offset)
		return;
	assert_true(may);
	assert_int_equal(w->offset, s->offset);
	assert_int_equal(w->bytes, s->bytes);
}

/* Plays the steps on an array that says whose each byte is. */
static void
play(const qn_plan *p)
{
	qn_id *owner = calloc(OWNERS, sizeof(*owner));
	size_t i, k;
	uint32_t j;

	assert_non_null(owner);
	assert_true(p->scratch_bytes <= OWNERS);
	for (i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];

		for (j = 0; j < s->nin; j++)
			check_owner(p, owner, s->in[j]);
		if (s->alias != 0 || s->in_output)
			continue;
		for (j = 0; j < s->nin; j++)
			check_overlap(p, s, s->in[j]);
		if (s->part_of == 0)
			assert_int_equal(s->offset % QN_SCRATCH_ALIGN, 0);
		assert_true(s->offset + s->bytes <= p->scratch_bytes);
		for (k = 0; k < s->bytes; k++)
			owner[s->offset + k] = s->node;
	}
	for (i = 0; i < p->g->noutput; i++)
		check_owner(p, owner, p->g->output[i].value);
	assert_true(p->lower_bound <= p->scratch_bytes);
	free(owner);
}

/* One random node on values of 1 x n codes. */
static qn_id
random_node(builder *b, const qn_id *value, size_t n)
{
	qn_id x = value[build_random(b, 0, (int64_t)n - 1)], y;
	int64_t k = qn_graph_node(b->g, x)->type->dim[1];
	qn_attrs a = build_attrs(QN_OP_concat);
	char text[96];
	size_t i;

	snprintf(text, sizeof(text), Q("1x%d"), (int)k);
	switch (build_random(b, 0, 5)) {
	case 0:
		return clamp(b, NULL, x, -30, 30);
	case 1:
		for (i = n, y = x; i-- > 0;)
			if (qn_graph_node(b->g, value[i])->type->dim[1] == k)
				y = value[i];
		return build_op(b, QN_OP_add, NULL, IDS(x, y), NULL, text);
	case 2:
		if (k > 200)
			return dense(b, "fc", x, (int)k, (int)build_random(b, 1, 40));
		return build_op(b, QN_OP_concat, NULL,
				IDS(x, value[build_random(b, 0, (int64_t)n - 1)]), &a, NULL);
	case 3:
		return build_op(b, QN_OP_requantize, NULL, IDS(x), NULL, text);
	case 4:
		return build_op(b, QN_OP_flatten, NULL, IDS(x), NULL, NULL);
	default:
		return dense(b, "fc", x, (int)k, (int)build_random(b, 1, 40));
	}
}

static void
random_plans(void **state)
{
	size_t exact = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		qn_id value[32];
		builder b;
		qn_plan *p;
		size_t n = 1;

		build_begin(&b, "net", seed);
		value[0] = build_input(&b, "x", Q("1x24"));
		for (; n < QN_COUNT(value); n++)
			value[n] = random_node(&b, value, n);
		for (n = 0; n < 3; n++)
			qn_graph_output(b.g, NULL, value[build_random(&b, 0, 31)]);
		qn_graph_output(b.g, "last", value[31]);
		p = plan(&b);
		play(p);
		exact += p->scratch_bytes == p->lower_bound;
		build_end(&b);
	}
	/* The placement is near the bound: most of these graphs reach it. */
	assert_true(exact >= 40);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fused_step),     cmocka_unit_test(unfused_step),
		cmocka_unit_test(in_place),       cmocka_unit_test(not_in_place),
		cmocka_unit_test(working_memory), cmocka_unit_test(shared_first),
		cmocka_unit_test(random_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
