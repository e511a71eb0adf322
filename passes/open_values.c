/* SPDX-License-Identifier: Apache-2.0 */
/* open_values.c - quantizes what a file of a quantized graph leaves in float, with symbols that samples give values.
 *
 *   %c = conv2d %d, %w                %c   = conv2d %d, %w
 *   %y = mul %c, %d            ->     %c.q = quantize %c : …<i8:f32, $c.open:$c.open>
 *                                     %c.d = dequantize %c.q
 *                                     %y   = mul %c.d, %d
 *
 * A trial of requantize and legalize says what would stay in float; what the rules without samples make integer is
 * left to them, but for ranges that follow from those of operands: samples give closer ones, unless these values are
 * kept as they are.  All other nodes are copied: their parameters stay as they are.
 *
 * requires: a calibrated graph.   leaves: a symbolic graph where a value got a symbol, else a calibrated one. */
#include <ctype.h>
#include <string.h>

#include "ir/mask.h"
#include "passes/passes.h"
#include "passes/requantize.h"
#include "patterns/quantizing.h"

/* How eagerly values are taken: results whose parameters follow from their operator after those that need
 * symbols, and sums of products, which a rule may hold in 16 bits, only where that was not enough. */
enum { FEW, FIXED, ALL, EAGERNESS };

typedef struct open_values {
	qn_model *m;
	const qn_graph *g;
	const char **name;      /* by id: in a trial */
	qn_map left;            /* names there of nodes that stay in float */
	bool *open;             /* by id: needs parameters */
	bool *derived;          /* by id: moves quantized values of the same parameters alone */
	const qn_elem **stored; /* by id: the quantized values that it is computed from */
	bool *pair_reads;       /* by id: a node that computes in float, and is left, reads it */
	bool *multiplied;       /* by id: a product with weights reads it, moved or not */
	const qn_mask *mask;    /* by id: what it stands for before a softmax */
	bool *levels;           /* by id: its scale is computed at run time, moved or not */
} open_values;

static bool
is_f32(const qn_node *n)
{
	return !n->type->is_tuple && qn_type_is_f32(n->type);
}

static bool
is_left(const open_values *s, qn_id id)
{
	return qn_map_gets(&s->left, s->name[id]) != NULL;
}

/* ---- the trial ---- */

/* Names that end as those of new nodes do get another end, so that x_1 of a trial means a new node. */
static void
name_nodes(open_values *s)
{
	qn_buf b;

	for (qn_id id = 1; id < s->g->n; id++) {
		const char *name = qn_graph_node(s->g, id)->name;
		size_t n = strlen(name);

		while (n > 0 && isdigit((unsigned char)name[n - 1]))
			n--;
		s->name[id] = name;
		if (n == 0 || name[n - 1] != '_')
			continue;
		qn_buf_init(&b, s->m->scratch);
		qn_buff(&b, "%s#", name);
		s->name[id] = qn_buf_str(&b);
	}
}

/* A copy with these names. */
static qn_graph *
renamed(const open_values *s)
{
	qn_graph *to = qn_graph_new_in(s->m, s->g->name, s->m->scratch);
	qn_id *map = QN_NEW(s->m->scratch, qn_id, s->g->n);

	qn_graph_copy_facts(to, s->g);
	for (qn_id id = 1; id < s->g->n; id++) {
		qn_node n = *qn_graph_node(s->g, id);
		qn_id *in = QN_NEW(s->m->scratch, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		n.name = s->name[id];
		map[id] = qn_graph_add(to, &n);
		if (map[id] == 0)
			return NULL;
	}
	qn_graph_copy_outputs(to, s->g, map);
	return to;
}

/* The names of what stays in float when the graph is made integer as it is.  measured: without ranges that follow from
 * those of operands, where samples give closer ones. */
static qn_status
try_integer(open_values *s, const qn_requant_opts *opts, bool measured)
{
	qn_requant_opts how = *opts;
	qn_model *m = s->m;
	qn_graph *keep = qn_model_entry(m), *g = renamed(s);
	qn_log_fn *trace = m->env->trace;
	qn_status status;

	if (g == NULL)
		return QN_EINVALID;
	qn_model_set_graph(m, g);
	m->env->trace = NULL;
	how.measured = measured;
	status = qn_requantize(m, &how);
	g = qn_model_entry(m);
	qn_model_set_graph(m, keep);
	if (status == QN_OK)
		status = qn_integer_graph(m, g, &g);
	m->env->trace = trace;
	qn_map_init(&s->left, m->scratch);
	if (status == QN_OK)
		qn_float_names(g, &s->left);
	return status;
}

/* ---- which values ---- */

static void
note_operand(open_values *s, qn_id id, const qn_node *n)
{
	bool all = n->nin > 0 && qn_rqz_moves(s->g, n);

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_id x = n->in[i];

		if (s->stored[id] == NULL && qn_graph_node(s->g, x)->op != QN_OP_const)
			s->stored[id] = s->stored[x];
		all = all &&
		      (qn_rqz_is_index(n, i) ||
		       (s->derived[x] && (s->stored[x] == NULL || s->stored[x] == s->stored[id])));
	}
	s->derived[id] = all && (s->stored[id] == NULL || n->type->is_tuple ||
				 qn_rqz_represents_attrs(&s->m->types, n, s->stored[id]));
	if (n->op == QN_OP_split)
		s->derived[id] = s->derived[n->in[0]];
	if (n->op == QN_OP_dequantize && qn_rqz_narrow(qn_graph_node(s->g, n->in[0])->type->elem)) {
		s->stored[id] = qn_graph_node(s->g, n->in[0])->type->elem;
		s->derived[id] = true;
	}
}

/* A gate is read with its operand by one product, which is a silu. */
static bool
is_gate(const open_values *s, const qn_node *user, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);

	return n->op == QN_OP_sigmoid && user->op == QN_OP_mul &&
	       (user->in[0] == n->in[0] || user->in[1] == n->in[0]);
}

/* Whether operand i of a node that computes in float is left: where the result is a truth value or an index, which never
 * stays in float itself, the operand is. */
static bool
reads_left(const open_values *s, qn_id id, uint32_t i)
{
	const qn_type *t = qn_graph_node(s->g, id)->type;

	return is_left(s, id) ||
	       (!t->is_tuple && t->elem->kind == QN_ELEM_PLAIN && !qn_elem_is_float(t->elem) &&
		is_left(s, qn_graph_node(s->g, id)->in[i]));
}

static void
note_readers(open_values *s)
{
	for (qn_id id = s->g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(s->g, id);

		for (uint32_t i = 0; i < n->nin; i++) {
			if (qn_opinfo_of(n)->behaviour == QN_ACC ||
			    (s->multiplied[id] && qn_rqz_moves(s->g, n)))
				s->multiplied[n->in[i]] = true;
			if (n->op == QN_OP_dynamic_fake_quant ||
			    (s->levels[id] && qn_rqz_moves(s->g, n)))
				s->levels[n->in[i]] = true;
			if (n->op != QN_OP_quantize && !qn_rqz_moves(s->g, n) &&
			    reads_left(s, id, i) && !is_gate(s, n, n->in[i]))
				s->pair_reads[n->in[i]] = true;
		}
	}
}

/* What a value is before it is moved. */
static const qn_node *
before_moves(const qn_graph *g, const qn_node *n)
{
	while (n->nin == 1 && qn_rqz_moves(g, n))
		n = qn_graph_node(g, n->in[0]);
	return n;
}

static bool
may_take(const open_values *s, qn_id id, int eager)
{
	const qn_node *n = qn_graph_node(s->g, id), *from = before_moves(s->g, n);

	if (!is_f32(n) || n->op == QN_OP_const || n->op == QN_OP_dequantize || s->derived[id] ||
	    from->op == QN_OP_dynamic_fake_quant)
		return false;
	if (qn_opinfo_of(from)->behaviour == QN_FIXED)
		return eager >= (qn_has_fixed_range(from) ? FIXED : ALL);
	return eager == ALL || qn_opinfo_of(from)->behaviour != QN_ACC;
}

/* A product whose sums have a scale of run time: nothing is left under its name where it is an output. */
static bool
is_dynamic_product(const qn_graph *g, const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_ACC &&
	       before_moves(g, qn_graph_node(g, n->in[0]))->op == QN_OP_dynamic_fake_quant;
}

/* Results that are left, and operands of what is left; those of the graph too. */
static size_t
choose(open_values *s, int eager)
{
	size_t n = 0;

	for (size_t i = 0; i < s->g->noutput; i++) {
		const qn_id id = s->g->output[i].value;

		s->open[id] = is_left(s, id) || is_dynamic_product(s->g, qn_graph_node(s->g, id));
	}
	for (qn_id id = 1; id < s->g->n; id++) {
		s->open[id] = (s->open[id] || s->pair_reads[id]) && may_take(s, id, eager);
		n += s->open[id];
	}
	return n;
}

/* ---- the pairs ---- */

/* As the quantized values that it is computed from, of which tables have an entry for each and products multiply
 * those of 8 bits; what is added, multiplied element by element or joined is 16 bits wide, as where its range follows
 * from its operands': a step of 8 bits can be many of the result's.  So is a function of that. */
static qn_storage
storage_of(const open_values *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id), *from = before_moves(s->g, n);
	const qn_behaviour behaviour = qn_opinfo_of(from)->behaviour;
	const qn_elem *e = s->stored[id];

	if (s->levels[id])
		return QN_STORAGE_I16;
	if (!s->multiplied[id] && (behaviour == QN_MIX || behaviour == QN_JOIN ||
				   behaviour == QN_MEAN || from->op == QN_OP_dequantize))
		return QN_STORAGE_I16;
	if (!s->multiplied[id] && behaviour == QN_LUT && s->open[from->in[0]])
		return storage_of(s, from->in[0]);
	for (qn_id k = 1; e == NULL && k < s->g->n; k++)
		e = s->stored[k];
	return qn_storage_like(e);
}

/* A value that is 0 on all samples has the step of what it is computed from: a step of 1 can be more than
 * arithmetic with that takes. */
static void
set_idle(const open_values *s, qn_id id, const qn_node *q)
{
	const qn_scale *scale = q->type->elem->scale;
	int64_t zp;

	if (s->stored[id] != NULL && scale->kind == QN_SCALE_SYM)
		qn_elem_param(&s->m->types, s->stored[id], 0,
			      &qn_symbol_find(&s->m->types, scale->sym->name)->idle, &zp);
}

/* With the parameters of the operator, else a symbol.  What the file quantizes for other readers limits it: these read
 * it as it is. */
static qn_id
write_pair(const open_values *s, qn_graph *dst, qn_id id, qn_id x, size_t *nsymbol)
{
	const qn_node *n = qn_graph_node(s->g, id), *from = before_moves(s->g, n);
	const qn_quant_opts opts = {.activations = storage_of(s, id)};
	const qn_elem *e = NULL;
	qn_types *t = &s->m->types;
	qn_id q;

	if (qn_has_fixed_range(from)) {
		qn_elem d = qn_activation_desc(&opts);
		double scale;

		qn_fixed_output(from, &d, &scale, &d.zp);
		d.scale = qn_scale_const(t, scale);
		if (qn_elem_make(t, n->name, &d, &e) != QN_OK)
			return 0;
	}
	if (e != NULL && qn_rqz_narrow(e)) {
		q = qn_graph_op(dst, QN_OP_quantize, NULL, 1, &x, NULL,
				qn_type_with_elem(t, n->type, e));
	} else {
		q = qn_quantize_real(s->m, dst, x, from->name, "open", &opts);
		++*nsymbol;
		if (q != 0)
			set_idle(s, id, qn_graph_node(dst, q));
	}
	return q != 0 ? qn_graph_op(dst, QN_OP_dequantize, NULL, 1, &q, NULL, NULL) : 0;
}

/* A copy of the graph in which readers of open values, but for quantizes, read pairs. */
static qn_status
write_pairs(const open_values *s, size_t *nsymbol)
{
	const qn_graph *g = s->g;
	qn_model *m = s->m;
	qn_graph *dst = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n), *pair = QN_NEW(m->scratch, qn_id, g->n);

	qn_graph_copy_facts(dst, g);
	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = (n.op == QN_OP_quantize ? map : pair)[n.in[i]];
		n.in = in;
		if (n.op == QN_OP_const && is_f32(&n) && s->mask[id] != QN_MASK_NONE &&
		    s->mask[id] != QN_MASK_LIMIT) /* which is -inf in the next round, too */
			n.value = qn_mask_bounded(m->arena, n.value, s->mask[id]);
		map[id] = pair[id] = qn_graph_add(dst, &n);
		if (map[id] != 0 && s->open[id])
			pair[id] = write_pair(s, dst, id, map[id], nsymbol);
		if (pair[id] == 0)
			return QN_EINVALID;
	}
	qn_graph_copy_outputs(dst, g, pair);
	QN_TRY(qn_graph_sweep(m, dst, NULL, &dst));
	qn_model_set_graph(m, dst);
	return QN_OK;
}

/* ---- one round ---- */

qn_status
qn_open_values(qn_model *m, const qn_requant_opts *opts, size_t *npair, size_t *nsymbol,
	       bool *stays)
{
	const qn_graph *g = qn_model_entry(m);
	open_values s = {.m = m,
			 .g = g,
			 .name = QN_NEW(m->scratch, const char *, g->n),
			 .open = QN_NEW(m->scratch, bool, g->n),
			 .derived = QN_NEW(m->scratch, bool, g->n),
			 .stored = QN_NEW(m->scratch, const qn_elem *, g->n),
			 .pair_reads = QN_NEW(m->scratch, bool, g->n),
			 .multiplied = QN_NEW(m->scratch, bool, g->n),
			 .mask = qn_mask_values(g, m->scratch),
			 .levels = QN_NEW(m->scratch, bool, g->n)};

	*npair = *nsymbol = 0;
	name_nodes(&s);
	for (qn_id id = 1; id < g->n; id++)
		note_operand(&s, id, qn_graph_node(g, id));
	for (int measured = 1; measured >= 0 && *npair == 0; measured--) {
		QN_TRY(try_integer(&s, opts, measured != 0));
		*stays = false;
		for (qn_id id = 1; id < g->n; id++) {
			*stays = *stays || is_left(&s, id);
			s.pair_reads[id] = false;
		}
		note_readers(&s);
		for (int eager = 0; eager < EAGERNESS && *npair == 0; eager++)
			*npair = choose(&s, eager);
	}
	if (*npair == 0)
		return QN_OK;
	QN_TRY(write_pairs(&s, nsymbol));
	if (*nsymbol > 0)
		m->stage = QN_STAGE_SYMBOLIC;
	return QN_OK;
}
