/* SPDX-License-Identifier: Apache-2.0 */
/* emit_tokens.c - NAME_tokens.h and NAME_tokens.c: text to tokens and back, with the tables of a vocabulary.
 *
 *   n = story_encode("Once upon a time", 16, token);
 *   n = story_decode(before, token, text);
 *
 * They need nothing of the program of a network, nor it of them. */
#include "codegen/emit_tokens.h"

#include "codegen/ident.h"
#include "codegen/kernel_text.h"

enum { PER_LINE = 16 };

static void
put_notice(const qn_tokens_style *s, const char *suffix, const char *what, qn_buf *b)
{
	qn_buff(b,
		"/* SPDX-License-Identifier: MIT-0 */\n"
		"/* %s%s - %s. Written by quern tokens; compile it again instead of changing "
		"it.\n",
		s->name, suffix, what);
}

void
qn_emit_tokens_header(const qn_vocabulary *v, const qn_tokens_style *s, qn_arena *a, qn_buf *b)
{
	const char *macro = qn_ident_upper(a, s->name), *name = s->name;

	put_notice(s, "_tokens.h", "the tokens of a language model", b);
	qn_buff(b,
		" *\n *   vocabulary  %d tokens, %d bytes of text\n */\n"
		"#ifndef %s_TOKENS_H\n#define %s_TOKENS_H\n\n#include <stdint.h>\n\n"
		"#define %s_TOKENS %d\n",
		(int)v->tokens, (int)v->at[v->tokens], macro, macro, macro, (int)v->tokens);
	qn_buff(b, "#define %s_TOKEN_BEGIN %s%d%s /* before a text%s */\n", macro,
		v->begin < 0 ? "(" : "", (int)v->begin, v->begin < 0 ? ")" : "",
		v->begin < 0 ? ": none" : "");
	qn_buff(b, "#define %s_TOKEN_END %s%d%s /* after a text%s */\n", macro,
		s->end < 0 ? "(" : "", (int)s->end, s->end < 0 ? ")" : "",
		s->end < 0 ? ": none" : "");
	qn_buff(b, "#define %s_TOKEN_BYTES %d /* of the longest token */\n\n", macro,
		(int)(s->longest > 0 ? s->longest : 1));
	qn_buf_puts(b, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	qn_buff(b,
		"/* n bytes of UTF-8 as tokens, %s_TOKEN_BEGIN first; how many they are, at most "
		"%s. "
		"token: room\n"
		" * for so many. The time of a word grows with the square of its length. */\n"
		"int32_t %s_encode(const char *text, int32_t n, int32_t *token);\n\n"
		"/* The bytes of a token, and how many they are; no NUL follows. before: the token "
		"that it "
		"follows;\n",
		macro,
		v->user > 0 && v->prefix == 1 ? "n + n / 2 + 2" /* a space after each of them */
					      : "n + 2",
		name);
	if (s->bpe != NULL)
		qn_buff(b, " * it changes nothing here. text: room for %s_TOKEN_BYTES. A ", macro);
	else
		qn_buff(b,
			" * after %s_TOKEN_BEGIN a first space is left out. text: room for "
			"%s_TOKEN_BYTES. A ",
			macro, macro);
	qn_buff(b,
		"character may be\n"
		" * the bytes of several tokens. */\n"
		"int32_t %s_decode(int32_t before, int32_t token, char *text);\n\n",
		name);
	qn_buf_puts(b, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static void
put_numbers(const char *type, const char *table, const int32_t *x, const uint8_t *bytes, int32_t n,
	    qn_buf *b)
{
	qn_buff(b, "static const %s %s[%d] = {", type, table, (int)(n > 0 ? n : 1));
	for (int32_t i = 0; i < n; i++) {
		if (i % PER_LINE == 0) {
			qn_buf_puts(b, "\n\t");
			qn_buf_flush(b);
		}
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of both is there */
		qn_buff(b, "%d,", (int)(x != NULL ? x[i] : bytes[i]));
	}
	qn_buf_puts(b, n > 0 ? "\n};\n" : "0};\n");
}

/* The kernels that the functions call. */
static void
put_pieces(const char *body, size_t n, qn_arena *a, qn_buf *b)
{
	qn_pieces p;

	qn_pieces_init(&p, a, false);
	qn_pieces_need(&p, body, n);
	for (size_t i = 0; i < p.n; i++)
		if (p.item[i].needed)
			qn_buf_pass(b, p.item[i].text, p.item[i].n);
}

/* The functions of a vocabulary whose merges are chosen by scores. */
static void
put_scores(const qn_vocabulary *v, const char *name, qn_buf *body)
{
	qn_buff(body,
		"static const qn_vocabulary vocabulary = {\n\t%d, %d, %d, %d, %d, %d, %d, %d, "
		"text_of, "
		"at, "
		"order, "
		"rank, byte_of,\n};\n\n",
		(int)v->tokens, (int)v->pieces, (int)v->begin, (int)v->unknown, (int)v->prefix,
		(int)v->words, (int)v->user, (int)v->marks);
	qn_buff(body,
		"int32_t\n%s_encode(const char *text, int32_t n, int32_t *token)\n{\n"
		"\treturn qn_encode(&vocabulary, text, n, token);\n}\n\n"
		"int32_t\n%s_decode(int32_t before, int32_t token, char *text)\n{\n"
		"\treturn qn_decode(&vocabulary, before, token, text);\n}\n",
		name, name);
}

/* … and of one with a list of merges. */
static void
put_bpe(const qn_bpe *p, const char *name, qn_buf *body)
{
	const qn_vocabulary *v = &p->vocabulary;

	qn_buff(body,
		"static const qn_bpe vocabulary = {\n\t{%d, %d, %d, %d, %d, %d, %d, %d, text_of, "
		"at, "
		"order, rank, NULL},\n\t%d, %d, %d, %d, merge, range,\n};\n\n",
		(int)v->tokens, (int)v->pieces, (int)v->begin, (int)v->unknown, (int)v->prefix,
		(int)v->words, (int)v->user, (int)v->marks, (int)p->split, (int)p->digits,
		(int)p->whole, (int)p->ranges);
	qn_buff(body,
		"int32_t\n%s_encode(const char *text, int32_t n, int32_t *token)\n{\n"
		"\treturn qn_bpe_encode(&vocabulary, text, n, token);\n}\n\n"
		"int32_t\n%s_decode(int32_t before, int32_t token, char *text)\n{\n"
		"\treturn qn_decode(&vocabulary.vocabulary, before, token, text);\n}\n",
		name, name);
}

void
qn_emit_tokens_source(const qn_vocabulary *v, const qn_tokens_style *s, qn_arena *a, qn_buf *b)
{
	qn_buf body;

	qn_buf_init(&body, a);
	if (s->bpe != NULL)
		put_bpe(s->bpe, s->name, &body);
	else
		put_scores(v, s->name, &body);
	put_notice(s, "_tokens.c", "the tokens of a language model", b);
	qn_buff(b, " */\n#include \"%s_tokens.h\"\n\n#include <string.h>\n\n", s->name);
	put_pieces(qn_buf_str(&body), body.n, a, b);
	put_numbers("uint8_t", "text_of", NULL, v->text, v->at[v->tokens], b);
	put_numbers("int32_t", "at", v->at, NULL, v->tokens + 1, b);
	put_numbers("int32_t", "order", v->order, NULL, v->pieces, b);
	put_numbers("int32_t", "rank", v->rank, NULL, v->tokens, b);
	if (s->bpe != NULL) {
		put_numbers("int32_t", "merge", s->bpe->merge, NULL, 2 * s->merges, b);
		put_numbers("int32_t", "range", s->bpe->range, NULL, s->bpe->ranges, b);
	} else {
		put_numbers("int32_t", "byte_of", v->byte, NULL, 256, b);
	}
	qn_buf_pass(b, qn_buf_str(&body), body.n);
}
