/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - see texts.h.
 *
 *   text      t1 t2 t3 t4 t5 t6 t7           --sequence 4, the token B begins a text
 *   samples   B  t1 t2 t3 | B  t4 t5 t6
 *   next      t1 t2 t3 t4 | t4 t5 t6 t7 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texts.h"

enum { CONTEXT = 256 }; /* tokens: the default of --context */

char *
texts_read(const char *path, size_t *n)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	char *text = NULL;
	size_t cap = 0, got = 1;

	for (*n = 0; f != NULL && got > 0; *n += got) {
		if (*n == cap) {
			char *more = realloc(text, cap = cap > 0 ? 2 * cap : 1 << 16);

			if (more == NULL)
				break;
			text = more;
		}
		got = fread(text + *n, 1, cap - *n, f);
	}
	const bool read = f != NULL && !ferror(f) && feof(f);
	if (!read)
		fprintf(stderr, "quern %s: %s: %s\n", program_command, path, strerror(errno));
	if (f != NULL && f != stdin)
		(void)fclose(f);
	if (read)
		return text;
	free(text);
	return NULL;
}

static qn_status
too_short(int64_t tokens, int64_t each)
{
	if (each < 2)
		fprintf(stderr,
			"quern %s: --sequence %lld: a sequence of a text needs 2 tokens or more\n",
			program_command, (long long)each);
	else
		fprintf(stderr,
			"quern %s: the text has %lld token%s, which do%s not fill a sequence of "
			"%lld (--sequence)\n",
			program_command, (long long)tokens, tokens == 1 ? "" : "s",
			tokens == 1 ? "es" : "", (long long)each);
	return QN_EUSAGE;
}

qn_status
texts_sequences(qn_ctx *ctx, const qn_tokens_info *info, const qn_array *tokens, int64_t each,
		qn_array **out, qn_array **next)
{
	const int32_t *from = qn_array_data(tokens);
	const int64_t begin = info->begin >= 0 ? 1 : 0, n = qn_array_dim(tokens, 0) - begin;
	const int64_t text = each - begin, used = next != NULL ? n - 1 : n;
	const int64_t count = text > 0 ? used / text : 0, shape[2] = {count * each, 1};

	if (count < 1)
		return too_short(n, each);
	int32_t *to = malloc(2 * (size_t)shape[0] * sizeof *to);
	if (to == NULL)
		return QN_ENOMEM;
	int32_t *after = to + shape[0];
	for (int64_t i = 0; i < count; i++) {
		const int32_t *at = from + begin + i * text;

		if (begin != 0) {
			to[i * each] = info->begin;
			after[i * each] = at[0];
		}
		memcpy(to + i * each + begin, at, (size_t)text * sizeof *to);
		if (next != NULL)
			memcpy(after + i * each + begin, at + 1, (size_t)text * sizeof *to);
	}
	qn_status status = qn_array_new(ctx, "i32", 2, shape, to, out);
	if (status == QN_OK && next != NULL)
		status = qn_array_new(ctx, "i32", 1, shape, after, next);
	free(to);
	return status;
}

/* The context of the model as it will be read: --context, or what it was made for up to the default. */
static int64_t
context_of(qn_archive *x, const options *o)
{
	int64_t made_for = CONTEXT;

	for (size_t i = 0; o->context == 0 && i < qn_archive_properties(x); i++) {
		qn_property_view p;

		if (qn_archive_property(x, i, &p) == QN_OK &&
		    (program_ends(p.key, ".context_length") ||
		     strcmp(p.key, "max_position_embeddings") == 0)) /* of a folder */
			made_for = strtoll(p.json, NULL, 10);
	}
	return o->context != 0 ? o->context : made_for < CONTEXT ? made_for : CONTEXT;
}

/* The tokens of a text file. */
static qn_status
read_tokens(qn_archive *x, const char *path, qn_array **out)
{
	size_t n;
	char *text = texts_read(path, &n);

	if (text == NULL)
		return QN_EIO;
	const qn_status status = qn_tokens_encode(x, text, n, out);
	free(text);
	return status;
}

/* Lowers *each to what the shortest of these texts has, the last token of which follows the others; 2 at least. */
static qn_status
shorten(qn_archive *x, int n, const char *const *path, int64_t *each)
{
	for (int i = 0; i < n; i++) {
		qn_array *tokens;

		if (!program_ends(path[i], ".txt"))
			continue;
		const qn_status status = read_tokens(x, path[i], &tokens);
		if (status != QN_OK)
			return status;
		const int64_t all = qn_array_dim(tokens, 0) - 1;
		*each = all < *each ? all : *each;
	}
	*each = *each < 2 ? 2 : *each;
	return QN_OK;
}

/* The length of sequences, which all texts of a command have. */
static qn_status
length_of(qn_archive *x, const options *o, int64_t *each)
{
	*each = o->sequence != 0 ? o->sequence : context_of(x, o);
	if (o->sequence != 0)
		return QN_OK;
	qn_status status = shorten(x, o->ncalib, o->calib, each);
	if (status == QN_OK)
		status = shorten(x, o->ndata, o->data, each);
	return status == QN_OK ? shorten(x, o->narg, o->arg, each) : status;
}

static qn_status
samples_of(qn_ctx *ctx, const options *o, qn_archive *x, const char *path, qn_array **out,
	   qn_array **next)
{
	qn_tokens_info info;
	qn_array *tokens;
	int64_t each;
	qn_status status = qn_tokens_describe(x, &info);

	if (status == QN_OK)
		status = length_of(x, o, &each);
	if (status == QN_OK)
		status = read_tokens(x, path, &tokens);
	if (status == QN_OK)
		status = texts_sequences(ctx, &info, tokens, each, out, next);
	if (status == QN_OK)
		qn_set_sequence(ctx, (size_t)each);
	return status;
}

static qn_status
not_a_language_model(const options *o, const char *path)
{
	fprintf(stderr,
		"quern %s: %s: text is for a language model with a vocabulary (.gguf or "
		"a folder), which "
		"'%s' is not; a table of numbers is a .csv, and the tokens of a text are "
		"written by quern tokens MODEL %s --sequence N -o tokens.npy\n",
		program_command, path, o->model, path);
	return QN_EUSAGE;
}

qn_status
texts_samples(qn_ctx *ctx, const options *o, const char *path, qn_array **out, qn_array **next)
{
	qn_archive *x;

	if (!program_takes_context(o->model))
		return not_a_language_model(o, path);
	qn_status status = qn_archive_open(ctx, o->model, &x);
	if (status != QN_OK)
		return status;
	status = samples_of(ctx, o, x, path, out, next);
	qn_archive_free(x);
	return status;
}
