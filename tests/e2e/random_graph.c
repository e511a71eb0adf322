/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph.c - a random integer graph grows by one op after the other.
 *
 * An op takes the newest value most of the time, an older one (which is then used twice) otherwise;
 * values that nothing took become outputs or stay dead. */
#include "tests/e2e/random_graph.h"

#include "ir/loops.h"
#include "patterns/rewrite.h"
#include "tests/e2e/random_maker.h"

/* Ops that the outputs so far need. */
static size_t
count_needed(const maker *m)
{
	const qn_graph *g = m->b->g;
	bool *need = QN_NEW(&m->b->arena, bool, g->n);
	size_t count = 0, k;
	qn_id id;
	uint32_t i;

	for (k = 0; k < g->noutput; k++)
		need[g->output[k].value] = true;
	for (id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (i = 0; need[id] && i < n->nin; i++)
			need[n->in[i]] = true;
		count += need[id] && n->nin > 0;
	}
	return count;
}

static void
add_outputs(maker *m)
{
	qn_graph *g = m->b->g;
	size_t k;

	qn_graph_output(g, "last", m->value[m->n - 1]);
	if (m->sum != 0)
		qn_graph_output(g, "sum", m->sum);
	if (chance(m, 40))
		qn_graph_output(g, "early", m->value[pick(m, 0, (int64_t)m->n - 1)]);
	if (chance(m, 10))
		qn_graph_output(g, "again", m->value[m->n - 1]);
	for (k = m->n; k-- > 0 && count_needed(m) < 5;)
		qn_graph_output(g, NULL, m->value[k]);
}

static void
add_inputs(maker *m)
{
	int64_t count = pick(m, 1, 2);

	while (count-- > 0) {
		static const int64_t most[4] = {2, 8, 8, 5};
		int64_t dim[4];
		int i;

		for (i = 0; i < 4; i++) /* no list: the order of its calls is not fixed */
			dim[i] = pick(m, i == 1 || i == 2 ? 3 : 1, most[i]);
		int32_t skip = chance(m, 25) ? (int32_t)pick(m, 1, 2) : 0;
		const qn_elem *e = code_elem(m, factor(m, 0.01, 0.2), true);
		qn_id id = qn_graph_input(m->b->g, NULL, shaped(m, e, 4 - skip, dim + skip));

		build_check(m->b, id != 0);
		m->value[m->n++] = id;
	}
}

static qn_plain
some_code(maker *m)
{
	static const qn_plain code[6] = {QN_PLAIN_i8, QN_PLAIN_i8,  QN_PLAIN_i8,
					 QN_PLAIN_u8, QN_PLAIN_i16, QN_PLAIN_i16};

	return code[pick(m, 0, 5)];
}

static uint8_t
some_width(maker *m)
{
	return chance(m, 60) ? 8 : chance(m, 60) ? 4 : 2;
}

void
change_storage(maker *m)
{
	if (!m->mixed || chance(m, 60))
		return;
	m->code = some_code(m);
	m->weight_bits = some_width(m);
}

qn_id
in_storage(maker *m, qn_id x)
{
	const qn_type *t = type_of(m, x);
	double unit = t->elem->plain == QN_PLAIN_i16 ? 256 : 1;

	if (t->elem->plain == m->code)
		return x;
	return add_op(m, QN_OP_requantize, 1, &x, NULL,
		      qn_type_with_elem(&m->b->model.types, t,
					code_elem(m,
						  scale_of(m, x, 0) * unit / (double)code_unit(m) *
							  factor(m, 0.6, 1.6),
						  false)));
}

qn_id
in_reach(maker *m, qn_id x)
{
	const double scale = scale_of(m, x, 0);
	const qn_plain code = m->code;

	if (scale > 1e-5 && scale < 1e5)
		return x;
	m->code = type_of(m, x)->elem->plain;
	x = random_scast(m, x);
	m->code = code;
	return x;
}

/* The op, or one of the list, on one of the values; 0: it does not suit that. */
static qn_id
grow(maker *m, random_op *op)
{
	const size_t k = chance(m, 75) ? m->n - 1 : (size_t)pick(m, 0, (int64_t)m->n - 1);

	if (op == NULL)
		op = random_ops[pick(m, 0, (int64_t)random_nops - 1)];
	change_storage(m);
	const qn_id id = op(m, in_storage(m, m->value[k]));
	if (id != 0)
		m->value[m->n++] = in_reach(m, id);
	return id;
}

/* Maybe a loop, where there may be one, and something after it. */
static void
add_loop(maker *m, bool may)
{
	if (chance(m, 30) && may && grow(m, random_loop) != 0)
		(void)grow(m, NULL);
}

/* Nodes that an op made for operands from outside of its loop stand before the loop. */
static void
put_in_order(builder *b)
{
	qn_graph *to;

	if (qn_loops_order(b->g, &b->arena) == NULL)
		return;
	build_check(b, qn_graph_sweep(&b->model, b->g, NULL, &to) == QN_OK);
	b->g = to;
}

/* Returns how many ops the outputs need. */
static size_t
fill(builder *b, qn_plain only, bool loops)
{
	maker m = {.b = b};
	size_t end;

	b->model.rounding = (int32_t)pick(&m, 0, 3);
	m.code = only != QN_NPLAIN ? only : some_code(&m);
	m.mixed = only == QN_NPLAIN && chance(&m, 30);
	m.weight_bits = some_width(&m);
	m.blocks = 30;
	m.align = only == QN_NPLAIN && chance(&m, 25) ? (int32_t)pick(&m, QN_FIX_LEAST, QN_FIX_MOST)
						      : 0;
	add_inputs(&m);
	end = m.n + (size_t)pick(&m, 6, 14);
	while (m.n < end)
		(void)grow(&m, NULL);
	add_loop(&m, loops);
	add_outputs(&m);
	const size_t needed = count_needed(&m);
	put_in_order(b);
	qn_model_add_graph(&b->model, b->g);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
	return needed;
}

static void
build(builder *b, uint64_t seed, qn_plain only, bool loops)
{
	char name[32];

	snprintf(name, sizeof(name), "r%llu", (unsigned long long)seed);
	/* Neighbours must not resemble each other. */
	build_begin(b, name, seed * UINT64_C(0x9e3779b97f4a7c15));
	build_check(b, fill(b, only, loops) >= 5);
}

void
random_graph_build(builder *b, uint64_t seed)
{
	build(b, seed, QN_NPLAIN, true);
}

void
random_graph_build_of(builder *b, uint64_t seed, qn_plain code)
{
	build(b, seed, code, true);
}

void
random_graph_build_flat(builder *b, uint64_t seed, qn_plain code)
{
	build(b, seed, code, false);
}

void
random_graph_build_bytes(builder *b, const uint8_t *byte, size_t n)
{
	build_begin(b, "bytes", 1);
	b->byte = byte;
	b->nbyte = n;
	(void)fill(b, QN_NPLAIN, true);
}
