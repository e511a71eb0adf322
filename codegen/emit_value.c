/* SPDX-License-Identifier: Apache-2.0 */
/* emit_value.c - how emitted C names a value.
 *
 *   graph input   in->image       any other result   s + 128
 *   state         state->h
 *   graph output  out->probs                         (int32_t *)(void *)(s + 128)
 *   constant      net_conv1_w */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/parts.h"
#include "codegen/schedule.h"

/* Whether a and b can be one symbol. */
static bool
same_constant(const qn_constant *a, const qn_constant *b)
{
	return a->type == b->type && a->count == b->count && a->crc == b->crc &&
	       memcmp(a->value->data, b->value->data, b->value->bytes) == 0;
}

const char *
qn_emit_constant(qn_emitter *e, const char *base, const char *note, const qn_tensor *x)
{
	qn_constant c = {.value = x, .note = note};
	uint32_t id;
	qn_buf b;

	c.type = qn_stored_plain(x->type);
	c.count = (size_t)qn_type_count(x->type);
	c.crc = qn_tensor_crc(x);
	for (size_t at = 0; (id = qn_hashes_next(&e->by_crc, c.crc, &at)) != 0;)
		if (same_constant(&e->constant[id - 1], &c))
			return e->constant[id - 1].name;
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s_%s", e->plan->name, qn_names_add(&e->names, base));
	c.name = qn_buf_str(&b);
	e->constant = qn_arena_grow(e->arena, e->constant, &e->constant_cap, e->nconstant + 1,
				    sizeof(*e->constant));
	e->constant[e->nconstant++] = c;
	qn_hashes_add(&e->by_crc, c.crc, (uint32_t)e->nconstant);
	e->constant_bytes += x->bytes;
	return c.name;
}

const char *
qn_emit_table(qn_emitter *e, const qn_step *s, const char *what, qn_plain p, int64_t count,
	      const void *data)
{
	qn_buf b;

	if (data == NULL)
		return NULL;
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s_%s", s->name, what);
	return qn_emit_constant(
		e, qn_buf_str(&b), qn_buf_str(&b),
		qn_tensor_view(e->arena, qn_type_plain(&e->g->model->types, p, 1, &count), data));
}

/* The symbol of the constant that value id is, NULL when it is not one. */
static const char *
constant_of(qn_emitter *e, qn_id id)
{
	const qn_node *n = qn_graph_node(e->g, qn_value_root(e->plan->step, e->step_of, id));

	return n->op == QN_OP_const ? qn_emit_constant(e, n->name, n->name, n->value) : NULL;
}

const char *
qn_emit_operand(qn_emitter *e, const qn_step *s, uint32_t j)
{
	return j < s->nin ? constant_of(e, s->in[j]) : NULL;
}

bool
qn_operand_varies(const qn_emitter *e, const qn_step *s, uint32_t j)
{
	if (j >= s->nin)
		return false;
	qn_id root = qn_value_root(e->plan->step, e->step_of, s->in[j]);
	return qn_graph_node(e->g, root)->op != QN_OP_const;
}

/* "in->image" or "state->h" */
static const char *
input_place(qn_emitter *e, qn_id id)
{
	size_t k = 0;
	qn_buf b;

	while (k < e->g->ninput && e->g->input[k] != id)
		k++;
	const bool fed = k < qn_graph_fed(e->g);
	e->uses_in = e->uses_in || fed;
	e->uses_state = e->uses_state || !fed;
	qn_buf_init(&b, e->arena);
	qn_buff(&b, fed ? "in->%s" : "state->%s", e->input[k]);
	return qn_buf_str(&b);
}

/* "out->probs", or "state->h" of the next value of a state. */
static const char *
output_place(qn_emitter *e, size_t k)
{
	const size_t given = qn_graph_given(e->g);
	qn_buf b;

	qn_buf_init(&b, e->arena);
	e->uses_out = e->uses_out || k < given;
	e->uses_state = e->uses_state || k >= given;
	if (k < given)
		qn_buff(&b, "out->%s", e->output[k]);
	else
		qn_buff(&b, "state->%s", qn_state_port_of(e, k - given).name);
	return qn_buf_str(&b);
}

/* The place of `bytes` bytes after those of an object of the C program. */
static const char *
place_after(qn_emitter *e, const char *object, qn_plain type, size_t bytes)
{
	qn_buf b;

	if (bytes == 0)
		return object;
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s + %zu", object, bytes / qn_plain_table[type].bytes);
	return qn_buf_str(&b);
}

/* The plain expression of `after` bytes from the begin of a value on, and the type that it points to;
 * *writable: not to const. */
static const char *
place_of(qn_emitter *e, qn_id root, size_t after, qn_plain *type, bool *writable)
{
	const qn_node *n = qn_graph_node(e->g, root);
	const qn_step *s;
	qn_buf b;

	qn_buf_init(&b, e->arena);
	*writable = n->op != QN_OP_input && n->op != QN_OP_const;
	*type = qn_stored_plain(n->type);
	if (n->op == QN_OP_const && e->rom) {
		*type = QN_PLAIN_i8;
		*writable = true;
		return qn_emit_load(e, constant_of(e, root), n->value->bytes);
	}
	if (n->op == QN_OP_const)
		return constant_of(e, root);
	if (n->op == QN_OP_input)
		return place_after(e, input_place(e, root), *type, after);
	s = &e->plan->step[e->step_of[root] - 1];
	if (s->in_output) {
		*type = qn_stored_plain(qn_graph_node(e->g, e->g->output[s->output].value)->type);
		return place_after(e, output_place(e, s->output), *type, s->part_offset + after);
	}
	e->uses_scratch = true;
	*type = QN_PLAIN_i8;
	qn_buf_puts(&b, "s");
	if (s->offset + after > 0)
		qn_buff(&b, " + %zu", s->offset + after);
	return qn_buf_str(&b);
}

const char *
qn_emit_ref(qn_emitter *e, qn_id id, qn_plain as)
{
	qn_plain type;
	bool writable;
	const char *at = place_of(e, qn_value_root(e->plan->step, e->step_of, id),
				  qn_part_offset(e->plan->step, e->step_of, id), &type, &writable);
	qn_buf b;

	if (as == QN_OWN)
		as = qn_stored_plain(qn_graph_node(e->g, id)->type);
	if (as == QN_NPLAIN || strcmp(qn_ctype(type), qn_ctype(as)) == 0)
		return at;
	qn_buf_init(&b, e->arena);
	if (writable)
		qn_buff(&b, "(%s *)(void *)(%s)", qn_ctype(as), at);
	else
		qn_buff(&b, "(const %s *)(const void *)(%s)", qn_ctype(as), at);
	return qn_buf_str(&b);
}

void
qn_emit_output_copies(qn_emitter *e)
{
	size_t k;

	for (k = 0; k < qn_graph_given(e->g); k++) {
		qn_id id = e->g->output[k].value;
		const qn_node *n = qn_graph_node(e->g, id);
		uint32_t w = e->step_of[qn_value_root(e->plan->step, e->step_of, id)];

		if (w != 0 && e->plan->step[w - 1].in_output && e->plan->step[w - 1].output == k)
			continue;
		if (qn_type_count(n->type) < 0) /* only NAME_io.h knows how much there is */
			continue;
		const char *symbol = e->rom ? constant_of(e, id) : NULL;
		e->uses_out = true;
		qn_buff(&e->run, "\t%s(out->%s, %s, %zu);\n",
			symbol != NULL ? "qn_from_rom" : "memcpy", e->output[k],
			symbol != NULL ? symbol : qn_emit_ref(e, id, QN_NPLAIN),
			qn_type_bytes(n->type));
	}
	qn_emit_state_copies(e);
}
