/* SPDX-License-Identifier: Apache-2.0 */
/* emit_family.c - which of a kernel's functions a step calls: the tokens of its name, as
 * runtime/kernels/families.cmake explains them, become those of the step's storage types.
 *
 *   qn_dense_qw -> qn_dense_s8, with weights of 4 bits qn_dense_s8w4
 *   qn_dense_args_a -> qn_dense_args, for i16 qn_dense_args64 */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/schedule.h"

typedef struct token {
	const char *text;
	const char *name[QN_NFAMILY], *packed[QN_NFAMILY]; /* for weights of 8 bits and of 4 */
} token;

enum { OTHER = 3 };

/* Those that begin another one stand behind it. */
static const token tokens[] = {
	{"_qw", {"_s8", "_u8", "_s16"}, {"_s8w4", "_u8w4", "_s16w4"}},
	{"_ow", {"", "_u8", "_s16"}, {"_w4", "_u8w4", "_s16w4"}},
	{"_q", {"_s8", "_u8", "_s16"}, {"_s8", "_u8", "_s16"}},
	[OTHER] = {"_o", {"", "_u8", "_s16"}, {"", "_u8", "_s16"}},
	{"_a", {"", "", "64"}, {"", "", "64"}},
};

static bool
ends_word(char c)
{
	return c == '\0' || c == '_';
}

const char *
qn_family_name(const char *text, qn_family f, bool packed, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	while (*text != '\0') {
		size_t i = 0, n = 1;

		for (; i < QN_COUNT(tokens); i++) {
			n = strlen(tokens[i].text);
			if (strncmp(text, tokens[i].text, n) == 0 && ends_word(text[n]))
				break;
		}
		if (i < QN_COUNT(tokens) && f != QN_NFAMILY) {
			qn_buf_puts(&b, packed ? tokens[i].packed[f] : tokens[i].name[f]);
			text += n;
		} else {
			qn_buf_putc(&b, *text++);
		}
	}
	return qn_buf_str(&b);
}

const char *
qn_emit_name(qn_emitter *e, const qn_step *s, const char *text)
{
	return qn_family_name(text, qn_step_facts_of(e->g, s).family, qn_step_packs(e, s),
			      e->arena);
}

bool
qn_step_packs(const qn_emitter *e, const qn_step *s)
{
	const qn_node *core = qn_graph_node(e->g, s->core), *w;

	if (qn_opinfo_of(core)->behaviour != QN_ACC || core->op == QN_OP_matmul)
		return false;
	w = qn_graph_node(e->g, qn_value_root(e->plan->step, e->step_of, core->in[1]));
	return w->op == QN_OP_const && w->type->elem->bits == 4;
}

/* Two codes a byte, the first in the lower half. */
const char *
qn_emit_packed(qn_emitter *e, const qn_step *s, uint32_t j)
{
	qn_id id = qn_value_root(e->plan->step, e->step_of, s->in[j]);
	const qn_node *c = qn_graph_node(e->g, id);
	const int64_t n = qn_type_count(c->type), bytes = (n + 1) / 2;
	int8_t *data = QN_NEW(e->arena, int8_t, (size_t)bytes);
	int64_t i;

	for (i = 0; i < n; i++) {
		unsigned code = (unsigned)qn_tensor_i64(c->value, i) & 15u;
		unsigned byte = (uint8_t)data[i / 2] | code << (i % 2 * 4);

		data[i / 2] = (int8_t)(byte < 128 ? (int)byte : (int)byte - 256);
	}
	return qn_emit_constant(
		e, c->name, c->name,
		qn_tensor_view(e->arena, qn_type_plain(&e->g->model->types, QN_PLAIN_i8, 1, &bytes),
			       data));
}

static const char *const stored[QN_NFAMILY] = {"int8_t", "uint8_t", "int16_t"};

const char *
qn_emit_codes(const qn_emitter *e, const qn_step *s)
{
	return stored[qn_step_facts_of(e->g, s).family];
}

void
qn_emit_window(qn_emitter *e, const qn_step *s, int64_t rows)
{
	int64_t *most = &e->window[qn_step_facts_of(e->g, s).family];

	*most = rows > *most ? rows : *most;
}

void
qn_emit_windows(const qn_emitter *e, qn_buf *b)
{
	qn_family f;

	for (f = QN_FAMILY_s8; f < QN_NFAMILY; f++)
		if (e->window[f] > 0)
			qn_buff(b,
				"\tconst %s *rows%s[%lld]; /* the rows that a window covers */\n",
				stored[f], tokens[OTHER].name[f], (long long)e->window[f]);
}

const char *
qn_step_function(const qn_graph *g, const qn_step *s, qn_arena *a)
{
	const qn_kernel *k = s->kernel;
	bool packed = false;

	if (k == NULL || k->name == NULL)
		return NULL;
	if (k->pointer[0].packs && s->nin > 1) {
		const qn_node *w = qn_graph_node(g, s->in[1]);

		packed = w->op == QN_OP_const && w->type->elem->bits == 4;
	}
	return qn_family_name(k->name, qn_step_facts_of(g, s).family, packed, a);
}
