/* SPDX-License-Identifier: Apache-2.0 */
/* float_left.c - the list of what keeps a requantized graph from being integer, each node with its
 * own reason.
 *
 *   batch_norm 'n'   the op has no integer implementation, and quantized values cannot pass through it
 *   pow 'p'          pattern 'lut' declined: …                              (noted by partition)
 *   matmul 'm'       no quantizer pattern of the scheme takes it
 *   conv2d 'c'       the model gives no range for 'x'                (quantized by another tool)
 *   concat 'c'       one of its operands comes from 'y', which stays in float …  a path that does not end in quantized values
 *   relu 'r'         's', which reads it, stays in float */
#include <string.h>

#include "ir/diag.h"
#include "ir/foreign_names.h"
#include "passes/float_left.h"
#include "passes/requantize.h"
#include "runtime/impls.h"

bool
qn_left_is_float(const qn_type *t)
{
	return t->is_tuple ? t->nfield == 0 || qn_left_is_float(t->field[0])
			   : qn_elem_is_float(t->elem);
}

static bool
reads_float(const qn_graph *g, const qn_node *n)
{
	bool reads = false;

	for (uint32_t i = 0; i < n->nin; i++)
		reads = reads || qn_left_is_float(qn_graph_node(g, n->in[i])->type);
	return reads;
}

/* Whether n has float results or needs floats: an op without an integer implementation may have others. */
static bool
stays(const qn_graph *g, const qn_node *n)
{
	return qn_left_is_float(n->type) ||
	       (reads_float(g, n) && qn_opinfo_of(n)->behaviour == QN_NONE);
}

/* Constants, inputs and casts are listed only where no op is the cause. */
static bool
is_around(const qn_node *n)
{
	if (n->op == QN_OP_dynamic_fake_quant || n->op == QN_OP_dynamic_rescale)
		return false;
	return n->op == QN_OP_const || n->op == QN_OP_input ||
	       qn_opinfo_of(n)->behaviour == QN_EDGE;
}

/* Which nodes are listed first: ops with a float result, those before the others that no ranges would help; ops that
 * read floats and give none, as a comparison; what is around. */
enum { CAUSES, OPS, READERS, AROUND, NLEVEL };

static int
level(const qn_graph *g, const qn_node *n)
{
	if (stays(g, n))
		return is_around(n) ? AROUND : qn_left_is_cause(g, n) ? CAUSES : OPS;
	return !is_around(n) && reads_float(g, n) ? READERS : NLEVEL;
}

const char *
qn_left_text(const qn_model *m, const char *fmt, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, m->arena);
	qn_buff(&b, fmt, name);
	return qn_buf_str(&b);
}

/* Whether all operands are dequantized values that the op's integer arithmetic takes. */
static bool
on_quantized(const qn_graph *g, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *dq = qn_graph_node(g, n->in[i]);

		if (qn_rqz_is_parameter(g, n, i))
			continue;
		if (dq->op != QN_OP_dequantize ||
		    !qn_rqz_supports(qn_graph_node(g, dq->in[0])->type->elem))
			return false;
	}
	return n->nin > 0;
}

/* A graph and, for each value, the first quantize and the first other node that reads it, and the
 * float op that it comes from, moved or not; 0: none. */
typedef struct survey {
	const qn_graph *g;
	qn_id *quantize, *other, *blame;
	bool exact; /* averages are to stay float */
} survey;

/* Each float value's own op, or, after a move, that of an operand. */
static void
find_blame(survey *s)
{
	for (qn_id id = 1; id < s->g->n; id++) {
		const qn_node *n = qn_graph_node(s->g, id);

		if (!qn_left_is_float(n->type) || n->op == QN_OP_dequantize || n->op == QN_OP_const)
			continue;
		if (!qn_rqz_moves(s->g, n) && !on_quantized(s->g, n))
			s->blame[id] = id;
		for (uint32_t i = 0; qn_rqz_moves(s->g, n) && i < n->nin; i++)
			if (s->blame[id] == 0)
				s->blame[id] = s->blame[n->in[i]];
	}
}

static survey
survey_readers(const qn_graph *g)
{
	qn_arena *a = g->model->arena;
	survey s = {g, QN_NEW(a, qn_id, g->n), QN_NEW(a, qn_id, g->n), QN_NEW(a, qn_id, g->n),
		    false};

	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin; i++)
			(n->op == QN_OP_quantize ? s.quantize : s.other)[n->in[i]] = id;
	}
	find_blame(&s);
	return s;
}

static const qn_node *
reader(const qn_graph *g, qn_id id)
{
	return id != 0 ? qn_graph_node(g, id) : NULL;
}

/* The float op above n that keeps a quantize from moving up past it; NULL: all paths end in
 * quantized values. */
static const qn_node *
real_operand(const survey *s, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++)
		if (s->blame[n->in[i]] != 0)
			return qn_graph_node(s->g, s->blame[n->in[i]]);
	return NULL;
}

static const char *reason(const survey *s, qn_id id);

/* An op that only moves elements: which of its sides is the cause. */
static const char *
reason_of_move(const survey *s, qn_id id, const qn_node *n)
{
	const qn_graph *g = s->g;
	const qn_node *before = real_operand(s, n);
	const qn_node *next = reader(g, s->other[id]);
	const qn_node *quantize = reader(g, s->quantize[id]);

	if (qn_rqz_joins_sums(n))
		return "it adds or multiplies what meets (reduction), for which there is no "
		       "integer "
		       "arithmetic; write it as additions, or let elements replace, or take the "
		       "least or the greatest";
	if (quantize != NULL && quantize->type->elem->gran == QN_SUB_CHANNEL)
		return qn_left_text(
			g->model,
			"'%s' quantizes it with one scale per block, which the op does not "
			"support in integers; quantize its result with one scale",
			quantize->name);
	if (before != NULL && n->nin > 1)
		return qn_left_text(
			g->model,
			"one of its operands comes from '%s', which stays in float, so the "
			"others cannot be quantized either",
			qn_left_own_name(g, before));
	if (before != NULL && before->op == QN_OP_input && qn_came_quantized(g->model))
		return qn_left_no_range_for(g->model, qn_left_text(g->model, "'%s'", before->name));
	if (before != NULL)
		return qn_left_text(g->model, "it comes from '%s', which stays in float",
				    qn_left_own_name(g, before));
	if (quantize != NULL && next != NULL)
		return qn_left_text(
			g->model,
			"'%s' needs it in float, and with it more than 2 ops that would have "
			"to be computed a second time on quantized values",
			qn_left_own_name(g, next));
	if (next != NULL && strcmp(qn_left_own_name(g, next), qn_left_own_name(g, n)) == 0)
		return reason(s, s->other[id]); /* of the same layer */
	if (next != NULL)
		return qn_left_text(g->model, "'%s', which reads it, stays in float",
				    qn_left_own_name(g, next));
	if (quantize == NULL && qn_came_quantized(g->model))
		return qn_left_no_range_for(g->model,
					    qn_left_text(g->model, "'%s'", qn_left_own_name(g, n)));
	return quantize != NULL
		       ? qn_left_text(g->model,
				      "the value that '%s' quantizes is shared, through more than "
				      "2 ops, with a float user",
				      quantize->name)
		       : "it is an output that is not quantized; the scheme tflite "
			 "quantizes outputs";
}

static const char *
reason_of_blocks(const qn_model *m, const qn_node *q)
{
	const qn_foreign_name *called = qn_model_foreign_names(m, q);
	const bool constant = q->op == QN_OP_const && called != NULL;

	return qn_left_text(m,
			    "'%s' has one scale per block, which its integer arithmetic does not "
			    "support; use weights with one scale per output channel and "
			    "activations with one scale, or --from-float --calib SAMPLES",
			    constant ? called->name : q->name);
}

/* The reason, and the way out where the scheme is not the default one, which has patterns for most ops. */
static const char *
of_other_scheme(const qn_graph *g, const char *why)
{
	const char *options = g->model->options;

	if (options == NULL || strstr(options, "scheme=rfc") == NULL)
		return why;
	return qn_left_text(g->model,
			    "%s; leave --scheme rfc out: the scheme tflite has more patterns", why);
}

/* An op that a pattern has, or should have, given quantized operands. */
static const char *
reason_of_op(const survey *s, qn_id id, const qn_node *n)
{
	const qn_graph *g = s->g;
	const qn_node *quantize = reader(g, s->quantize[id]);
	const char *lacks = qn_left_no_range(g, n, quantize != NULL);

	const qn_node *blocks = qn_left_in_blocks(g, n);

	if (s->exact && qn_opinfo_of(n)->behaviour == QN_MEAN)
		return "integer averages round, and --no-approx keeps such ops in float";
	if (blocks != NULL)
		return reason_of_blocks(g->model, blocks);
	if (qn_left_weights(g, n) != NULL)
		return qn_left_weights(g, n);
	if (lacks != NULL)
		return lacks;
	if (!on_quantized(g, n))
		return of_other_scheme(g, "no quantizer pattern of the scheme takes it");
	if (quantize == NULL)
		return of_other_scheme(g, "its result is not quantized, so it has no scale");
	if (quantize->type->elem->gran == QN_SUB_CHANNEL)
		return qn_left_text(g->model, "'%s' gives its result one scale per block",
				    quantize->name);
	if (qn_opinfo_of(n)->behaviour == QN_FIXED)
		return qn_left_or_recalibrate(
			g->model, qn_left_text(g->model,
					       "'%s' gives its result other parameters than its "
					       "integer arithmetic has",
					       quantize->name));
	return qn_left_or_recalibrate(g->model, "no rule of the requantizer takes it");
}

/* An op whose result is not float, but whose operands are. */
static const char *
reason_of_reader(const survey *s, const qn_node *n)
{
	const qn_node *blocks = qn_left_in_blocks(s->g, n), *before = real_operand(s, n);

	if (blocks != NULL)
		return reason_of_blocks(s->g->model, blocks);
	return before != NULL
		       ? qn_left_text(s->g->model, "it comes from '%s', which stays in float",
				      before->name)
		       : qn_left_or_recalibrate(s->g->model,
						"its integer arithmetic does not support the "
						"parameters of its operands");
}

/* An input, or a state: --input-value sets the first value of what stays a state. */
static const char *
reason_of_input(const qn_graph *g, qn_id id)
{
	const char *name = qn_left_own_name(g, qn_graph_node(g, id));

	for (size_t k = 0; k < g->nstate; k++)
		if (g->input[qn_graph_fed(g) + k] == id)
			return qn_left_text(g->model,
					    "no output depends on this state through a node that "
					    "quantizes it; leave its --tie out and fix its value "
					    "(--input-value %s=0), or leave it out of the model",
					    name);
	return qn_left_text(g->model,
			    "no node that quantizes it leads to an output; fix its value "
			    "(--input-value %s=0), or end the model at an output (--cut)",
			    name);
}

static const char *
reason(const survey *s, qn_id id)
{
	const qn_graph *g = s->g;
	const qn_node *n = qn_graph_node(g, id);

	if (n->facts != NULL && n->facts->note != NULL)
		return n->facts->note;
	if (n->op == QN_OP_input)
		return reason_of_input(g, id);
	if (n->op == QN_OP_const)
		return s->other[id] != 0
			       ? "a float node reads it"
			       : "it is an output that has no range, as of infinite "
				 "numbers; it is the same for all samples: leave it out of "
				 "the model";
	if (n->op == QN_OP_cast && !qn_left_is_float(qn_graph_node(g, n->in[0])->type))
		return "it converts integers that no quantized values hold (2 or 4 bits, u64), or "
		       "to "
		       "another type than f32";
	if (n->op == QN_OP_quantize || n->op == QN_OP_dequantize)
		return "a float value is before or after it";
	if (level(g, n) == READERS)
		return reason_of_reader(s, n);
	if (qn_rqz_moves(g, n))
		return reason_of_move(s, id, n);
	if (n->op == QN_OP_lrn && !g->model->opened)
		return "the ops that it is written out in have no ranges; samples give them some: "
		       "--calib SAMPLES";
	if (qn_int_impl_get(n->op) == NULL && qn_opinfo_of(n)->behaviour == QN_NONE)
		return qn_left_or_recalibrate(g->model,
					      "the op has no integer implementation, and quantized "
					      "values cannot pass through it");
	return reason_of_op(s, id, n);
}

void
qn_float_names(const qn_graph *g, qn_map *names)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (stays(g, n) && (!is_around(n) || n->op == QN_OP_input))
			qn_map_puts(names, n->name, (void *)(uintptr_t)n->name);
	}
}

qn_status
qn_report_float(qn_model *m, const qn_graph *g, bool exact)
{
	survey s = survey_readers(g);
	qn_status status = QN_OK;

	s.exact = exact;
	for (int listed = CAUSES; listed < NLEVEL && (listed <= OPS || status == QN_OK); listed++)
		for (qn_id id = 1; id < g->n; id++) {
			const qn_node *n = qn_graph_node(g, id);

			if (level(g, n) != listed)
				continue;
			status = qn_report(m->env, QN_EUNSUPPORTED, "legalize.float",
					   n->place != NULL && n->place[0] != '\0' ? n->place
										   : m->name,
					   "%s '%s'%s stays in float: %s", qn_opinfo_of(n)->name,
					   n->name, qn_node_layers(n, m->scratch), reason(&s, id));
		}
	return status;
}
