/* SPDX-License-Identifier: Apache-2.0 */
/* emit_family.c - which of a kernel's functions a step calls: the tokens of its name, as
 * runtime/kernels/families.cmake explains them, become those of the step's storage types.
 *
 *   qn_dense_qw -> qn_dense_s8, with weights of 4 bits qn_dense_s8w4
 *   qn_dense_blocks_qx -> qn_dense_blocks_s8, with those and sums of 64 bits qn_dense_blocks_s8w4x
 *   qn_dense_args_a -> qn_dense_args, for i16 qn_dense_args64
 *   qn_dense_by4_qw -> qn_dense_by4_s16n for i16 with sums of 32 bits, whose arguments are qn_dense_args */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/schedule.h"
#include "runtime/override.h"

/* What a token becomes: the name of the family, what stands for the weights and the outer sum after it. */
typedef struct token {
	const char *text;
	const char *name[QN_NFAMILY];
	bool weights, sums; /* whether these have a part in it */
	const char *wide;   /* for sums of 64 bits: what it is then; NULL: as `sums` says */
} token;

enum { OTHER = 5 };

/* A token that another one begins with comes after that one. */
static const token tokens[] = {
	{"_qw", {"_s8", "_u8", "_s16"}, true, false, NULL},
	{"_qx", {"_s8", "_u8", "_s16"}, true, true, NULL},
	{"_ow", {"", "_u8", "_s16"}, true, false, NULL},
	{"_ox", {"", "_u8", "_s16"}, true, true, NULL},
	{"_q", {"_s8", "_u8", "_s16"}, false, false, NULL},
	[OTHER] = {"_o", {"", "_u8", "_s16"}, false, false, NULL},
	{"_ax", {"", "", "64"}, false, false, "64"},
	{"_a", {"", "", "64"}, false, false, NULL},
};

static bool
ends_word(char c)
{
	return c == '\0' || c == '_';
}

static void
put_token(qn_buf *b, const token *t, const qn_variant *v)
{
	const bool packed = t->weights && v->bits < 8, wide = v->wide && v->family != QN_FAMILY_s16;
	const bool narrow = v->narrow && v->family == QN_FAMILY_s16;

	if (wide && t->wide != NULL) {
		qn_buf_puts(b, t->wide);
		return;
	}
	if (t->name[v->family][0] == '\0' && wide && t->sums)
		qn_buf_puts(b, "_s8");
	else if (t->name[v->family][0] == '\0' && packed)
		qn_buf_puts(b, "_");
	else if (narrow)
		qn_buf_puts(b, t->name[v->family][0] == '_' ? "_s16n" : "");
	else
		qn_buf_puts(b, t->name[v->family]);
	if (packed)
		qn_buff(b, "w%d", v->bits);
	if (wide && t->sums)
		qn_buf_puts(b, "x");
}

const char *
qn_family_name(const char *text, const qn_variant *v, qn_arena *a)
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
		if (i < QN_COUNT(tokens) && v->family != QN_NFAMILY) {
			put_token(&b, &tokens[i], v);
			text += n;
		} else {
			qn_buf_putc(&b, *text++);
		}
	}
	return qn_buf_str(&b);
}

/* Sums of weights in blocks that are wider than those of other weights. */
static bool
has_wide_sums(const qn_graph *g, const qn_step *s)
{
	const qn_node *core = qn_graph_node(g, s->core);

	return qn_opinfo_of(core)->behaviour == QN_ACC && core->type->elem->bits == 64;
}

const char *
qn_emit_name(qn_emitter *e, const qn_step *s, const char *text)
{
	const qn_variant v = {.family = qn_step_facts_of(e->g, s).family,
			      .bits = qn_step_weight_bits(e, s),
			      .wide = has_wide_sums(e->g, s),
			      .narrow = s->kernel != NULL && s->kernel->narrow};

	return qn_family_name(text, &v, e->arena);
}

const char *
qn_emit_row_name(qn_emitter *e, const qn_step *s)
{
	const qn_variant v = {.family = qn_step_facts_of(e->g, s).family, .bits = 8};

	return qn_family_name("rows_o", &v, e->arena);
}

static int
bits_of(const qn_node *w)
{
	const int bits = w->type->elem->bits;

	return w->op == QN_OP_const && (bits == 4 || bits == 2) ? bits : 8;
}

int
qn_step_weight_bits(const qn_emitter *e, const qn_step *s)
{
	const qn_node *core = qn_graph_node(e->g, s->core);
	qn_id w = core->nin > 1 ? core->in[1] : 0;

	if (qn_gather_rescales(e->g, core))
		w = core->in[0];
	else if (qn_opinfo_of(core)->behaviour != QN_ACC || core->op == QN_OP_matmul)
		return 8;
	return bits_of(qn_graph_node(e->g, qn_value_root(e->plan->step, e->step_of, w)));
}

/* Two weights in a byte, or four, the first in the lowest bits. */
const char *
qn_emit_packed(qn_emitter *e, const qn_step *s, uint32_t j)
{
	qn_id id = qn_value_root(e->plan->step, e->step_of, s->in[j]);
	const qn_node *c = qn_graph_node(e->g, id);
	const int bits = bits_of(c), each = 8 / bits;
	const int64_t n = qn_type_count(c->type), bytes = (n + each - 1) / each;
	int8_t *data = QN_NEW(e->arena, int8_t, (size_t)bytes);
	int64_t i;

	for (i = 0; i < n; i++) {
		unsigned code = (unsigned)qn_tensor_i64(c->value, i) & ((1u << bits) - 1);
		unsigned byte = (uint8_t)data[i / each] | code << (i % each * bits);

		data[i / each] = (int8_t)(byte < 128 ? (int)byte : (int)byte - 256);
	}
	return qn_emit_constant(
		e, c->name, c->name,
		qn_tensor_view(e->arena, qn_type_plain(&e->g->model->types, QN_PLAIN_i8, 1, &bytes),
			       data));
}

static const char *const stored[QN_NFAMILY] = {"int8_t", "uint8_t", "int16_t"};

const char *
qn_emit_row_type(const qn_emitter *e, const qn_step *s)
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
qn_emit_windows(const qn_emitter *e, const char *text, size_t n, qn_buf *b)
{
	for (qn_family f = QN_FAMILY_s8; f < QN_NFAMILY; f++) {
		qn_buf name;

		qn_buf_init(&name, e->arena);
		qn_buff(&name, "rows%s", tokens[OTHER].name[f]);
		if (e->window[f] > 0 && qn_code_has_word(text, n, qn_buf_str(&name)))
			qn_buff(b, "\tconst %s *%s[%lld]; /* the rows that a window covers */\n",
				stored[f], qn_buf_str(&name), (long long)e->window[f]);
	}
}

const char *
qn_step_function(const qn_graph *g, const qn_step *s, qn_arena *a)
{
	const qn_kernel *k = s->kernel;
	qn_variant v = {.family = qn_step_facts_of(g, s).family,
			.bits = 8,
			.wide = has_wide_sums(g, s),
			.narrow = k != NULL && k->narrow};

	if (k == &qn_host_kernel)
		return s->host->by->desc.c_name;
	if (k == NULL || k->name == NULL)
		return NULL;
	if (k->pointer[0].packs && s->nin > 1)
		v.bits = bits_of(qn_graph_node(g, s->in[1]));
	return qn_family_name(k->name, &v, a);
}
