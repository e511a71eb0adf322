/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - the tokens of a language model, as the host sees them: what the emitted functions compute, on the tables of the
 * archive. */
#include "quern/tokens.h"

#include <string.h>

#include "codegen/emit_tokens.h"
#include "codegen/ident.h"
#include "driver/host_struct.h"
#include "driver/stored.h"
#include "driver/tokens_encode.h"
#include "formats/character_classes.h"
#include "formats/file.h"
#include "formats/vocabulary.h"

_Static_assert((int)QN_TOKENS_GPT2 == (int)QN_SPLIT_GPT2 &&
		       (int)QN_TOKENS_MARKS == (int)QN_SPLIT_MARKS &&
		       (int)QN_TOKENS_DIGIT == (int)QN_SPLIT_DIGIT &&
		       (int)QN_TOKENS_CASES == (int)QN_SPLIT_CASES,
	       "the numbers of the reader are those of the kernel");
_Static_assert((int)QN_CLASS_OTHER == (int)QN_OTHER && (int)QN_CLASS_LETTER == (int)QN_LETTER &&
		       (int)QN_CLASS_NUMBER == (int)QN_NUMBER &&
		       (int)QN_CLASS_SPACE == (int)QN_SPACE &&
		       (int)QN_CLASS_PUNCTUATION == (int)QN_PUNCTUATION,
	       "and its classes");

#define MOST_TEXT ((size_t)1 << 30) /* bytes: indices of them are int32_t */

typedef struct tokens_call {
	qn_archive *x;
	qn_tokens_info *info;
	const char *text, *folder, *name;
	const char **written;
	size_t n;
	const qn_array *tokens;
	qn_array *made;
	qn_write_fn *fn;
	void *user;
} tokens_call;

static qn_vocabulary
vocabulary_of(const qn_token_table *t)
{
	return (qn_vocabulary){.tokens = t->tokens,
			       .pieces = t->pieces,
			       .begin = t->begin,
			       .unknown = t->unknown,
			       .prefix = t->prefix,
			       .words = t->words,
			       .user = t->user,
			       .marks = !t->bpe,
			       .text = t->text,
			       .at = t->at,
			       .order = t->order,
			       .rank = t->rank,
			       .byte = t->byte};
}

static qn_bpe
bpe_of(const qn_token_table *t)
{
	return (qn_bpe){.vocabulary = vocabulary_of(t),
			.split = (int32_t)t->split,
			.digits = t->digits,
			.whole = t->whole,
			.ranges = t->ranges,
			.merge = t->merge,
			.range = t->range};
}

static qn_status
describe(void *arg, qn_arena *scratch)
{
	const tokens_call *c = arg;
	const qn_token_table *t;

	(void)scratch;
	QN_TRY(qn_archive_tokens(c->x, &t));
	*c->info = (qn_tokens_info){.tokens = (size_t)t->tokens,
				    .begin = t->begin,
				    .end = t->end,
				    .longest = (size_t)t->longest};
	return QN_OK;
}

qn_status
qn_tokens_describe(qn_archive *x, qn_tokens_info *out)
{
	QN_TRY(QN_GIVEN(qn_archive_ctx(x), out));
	*out = (qn_tokens_info){0};
	return qn_guard(qn_archive_ctx(x), describe, &(tokens_call){.x = x, .info = out});
}

static qn_status
encode(void *arg, qn_arena *scratch)
{
	tokens_call *c = arg;
	qn_ctx *ctx = qn_archive_ctx(c->x);
	const qn_token_table *t;

	QN_TRY(qn_archive_tokens(c->x, &t));
	if (c->n >= MOST_TEXT)
		return qn_report(&ctx->env, QN_EUSAGE, "tokenizer.text", "",
				 "the text has %zu bytes (expected less than %zu)", c->n,
				 MOST_TEXT);
	const qn_bpe bpe = bpe_of(t);
	int32_t *token = QN_NEW(scratch, int32_t, c->n + c->n / 2 + 2);
	const int32_t n = (int32_t)c->n;
	const int64_t shape[2] = {
		t->bpe ? qn_tokens_of_bytes(&bpe, c->text, n, token, scratch)
		       : qn_tokens_of_text(&bpe.vocabulary, c->text, n, token, scratch),
		1};
	void *data;

	c->made = qn_array_alloc(ctx);
	const qn_type *type = qn_array_type(c->made, "i32", 2, shape);
	if (type == NULL)
		return QN_EUSAGE;
	qn_array_set(c->made, qn_tensor_new(&c->made->arena, type, &data));
	memcpy(data, token, (size_t)shape[0] * sizeof *token);
	return QN_OK;
}

qn_status
qn_tokens_encode(qn_archive *x, const char *text, size_t n, qn_array **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(qn_archive_ctx(x), out));
	tokens_call c = {.x = x, .text = text, .n = n};
	QN_TRY(qn_host_list(&qn_archive_ctx(x)->env, "text", n, text));
	const qn_status status = qn_guard(qn_archive_ctx(x), encode, &c);

	*out = status == QN_OK ? c.made : NULL;
	if (status != QN_OK)
		qn_array_free(c.made);
	return status;
}

static qn_status
decode(void *arg, qn_arena *scratch)
{
	const tokens_call *c = arg;
	qn_env *env = &qn_archive_ctx(c->x)->env;
	const qn_token_table *t;
	const qn_tensor *all;
	int32_t before = -1;

	QN_TRY(qn_archive_tokens(c->x, &t));
	QN_TRY(qn_array_read(c->tokens, scratch, &all));
	const qn_vocabulary v = vocabulary_of(t);
	const int64_t n = qn_type_count(all->type);
	char *text = QN_NEW(scratch, char, (size_t)t->longest + 1);
	for (int64_t i = 0; i < n; i++) {
		const double token = qn_tensor_f64(all, i);

		if (!(token >= 0 && token < t->tokens && token == (double)(int32_t)token))
			return qn_report(env, QN_EUSAGE, "tokenizer.token", "",
					 "element %lld is %g (expected a token, 0 to %d)",
					 (long long)i, token, (int)t->tokens - 1);
		const int32_t length = qn_decode(&v, before, (int32_t)token, text);
		if (length > 0 && c->fn(c->user, text, (size_t)length) != 0)
			return qn_report(env, QN_EIO, "tokenizer.write", "",
					 "the text could not be written");
		if (i == 0 ||
		    (int32_t)token != t->begin) /* a later one is that of a sequence, which
							     continues the text */
			before = (int32_t)token;
	}
	return QN_OK;
}

qn_status
qn_tokens_decode(qn_archive *x, const qn_array *tokens, qn_write_fn *fn, void *user)
{
	tokens_call c = {.x = x, .tokens = tokens, .fn = fn, .user = user};

	QN_TRY(QN_GIVEN(qn_archive_ctx(x), tokens, fn));
	return qn_guard(qn_archive_ctx(x), decode, &c);
}

/* ---- as C ---- */

typedef void print_fn(const qn_vocabulary *v, const qn_tokens_style *style, qn_arena *a, qn_buf *b);

typedef struct text {
	const qn_vocabulary *v;
	const qn_tokens_style *style;
	qn_arena *arena;
	print_fn *print;
} text;

static void
print_text(void *user, qn_buf *b)
{
	const text *t = user;

	t->print(t->v, t->style, t->arena, b);
}

static qn_status
emit(void *arg, qn_arena *scratch)
{
	const tokens_call *c = arg;
	qn_env *env = &qn_archive_ctx(c->x)->env;
	const qn_token_table *t;

	QN_TRY(qn_archive_tokens(c->x, &t));
	const char *name = qn_ident_clean(scratch, c->name);
	const qn_bpe bpe = bpe_of(t);
	const qn_tokens_style style = {.name = name,
				       .end = t->end,
				       .longest = t->longest,
				       .bpe = t->bpe ? &bpe : NULL,
				       .merges = t->merges};
	static print_fn *const print[2] = {qn_emit_tokens_header, qn_emit_tokens_source};
	text texts[2];
	qn_file_out files[2];
	for (int i = 0; i < 2; i++) {
		qn_buf file;

		qn_buf_init(&file, scratch);
		qn_buff(&file, "%s_tokens.%s", name, i == 0 ? "h" : "c");
		texts[i] = (text){&bpe.vocabulary, &style, scratch, print[i]};
		files[i] =
			(qn_file_out){.path = qn_path_join(scratch, c->folder, qn_buf_str(&file)),
				      .print = print_text,
				      .user = &texts[i]};
	}
	if (c->written != NULL)
		*c->written = qn_archive_text(c->x, name);
	return qn_files_write(env, c->folder, 2, files);
}

qn_status
qn_tokens_emit(qn_archive *x, const char *folder, const char *name, const char **written)
{
	tokens_call c = {.x = x, .folder = folder, .name = name, .written = written};

	QN_TRY(QN_GIVEN(qn_archive_ctx(x), folder, name));
	return qn_guard(qn_archive_ctx(x), emit, &c);
}
