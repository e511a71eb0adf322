/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tokens.c - quern tokens: text as the tokens of a language model, tokens as text, or the C that does both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texts.h"

static qn_status
save_sequences(qn_ctx *ctx, const options *o, const qn_tokens_info *info, const qn_array *all)
{
	qn_array *cut;
	qn_status status = texts_sequences(ctx, info, all, o->sequence, &cut, NULL);

	if (status == QN_OK)
		status = qn_array_save(cut, o->output);
	if (status == QN_OK)
		printf("%lld tokens in %lld sequences\n", (long long)qn_array_dim(cut, 0),
		       (long long)(qn_array_dim(cut, 0) / o->sequence));
	return status;
}

static qn_status
print_numbers(const qn_array *a)
{
	const int32_t *token = qn_array_data(a);

	for (int64_t i = 0; i < qn_array_dim(a, 0); i++)
		printf("%d\n", (int)token[i]);
	return QN_OK;
}

static qn_status
encode(qn_ctx *ctx, qn_archive *x, const options *o, const qn_tokens_info *info)
{
	size_t n;
	char *text = texts_read(o->arg[0], &n);
	qn_array *a;

	if (text == NULL)
		return QN_EIO;
	qn_status status = qn_tokens_encode(x, text, n, &a);
	free(text);
	if (status != QN_OK || o->output == NULL)
		return status == QN_OK ? print_numbers(a) : status;
	if (o->sequence != 0)
		return save_sequences(ctx, o, info, a);
	status = qn_array_save(a, o->output);
	if (status == QN_OK)
		printf("%lld tokens\n", (long long)qn_array_dim(a, 0));
	return status;
}

static qn_status
decode(qn_ctx *ctx, qn_archive *x, const char *path)
{
	qn_array *a;
	qn_status status = qn_array_load(ctx, path, &a);

	if (status == QN_OK)
		status = qn_tokens_decode(x, a, program_write_stdout, NULL);
	if (status == QN_OK)
		putchar('\n');
	return status;
}

/* The name of the C: that of the archive without its folder and ending. */
static qn_status
emit(qn_archive *x, const options *o)
{
	const char *base = strrchr(o->model, '/');
	char name[256];

	(void)snprintf(name, sizeof name, "%s", base != NULL ? base + 1 : o->model);
	if (strrchr(name, '.') != NULL)
		*strrchr(name, '.') = '\0';
	const char *written;
	qn_status status = qn_tokens_emit(x, o->output, o->name != NULL ? o->name : name, &written);
	if (status == QN_OK)
		printf("files        %s/%s_tokens.h, _tokens.c\n", o->output, written);
	return status;
}

static qn_status
tokens(qn_ctx *ctx, const options *o)
{
	qn_archive *x;
	qn_tokens_info info;
	qn_status status = qn_archive_open(ctx, o->model, &x);

	if (status == QN_OK)
		status = qn_tokens_describe(x, &info);
	if (status != QN_OK)
		return status;
	if (o->narg > 0)
		status = program_ends(o->arg[0], ".npy") ? decode(ctx, x, o->arg[0])
							 : encode(ctx, x, o, &info);
	else if (o->output != NULL)
		status = emit(x, o);
	else
		printf("tokens       %zu, the longest of %zu bytes\n"
		       "begin        %d\n"
		       "end          %d\n",
		       info.tokens, info.longest, (int)info.begin, (int)info.end);
	return status;
}

/* What the options ask for together; NULL, or why that is nothing. */
static const char *
mistake(const options *o)
{
	const bool decodes = o->narg > 0 && program_ends(o->arg[0], ".npy");
	const bool encodes = o->narg > 0 && !decodes;

	if (o->sequence != 0 && (!encodes || o->output == NULL))
		return "--sequence cuts a text for -o FILE.npy";
	if (decodes && o->output != NULL)
		return "the text of tokens goes to the standard output; leave out -o";
	if (encodes && o->output != NULL && !program_ends(o->output, ".npy"))
		return "the tokens of a text go to -o FILE.npy";
	if (o->name != NULL && (o->narg > 0 || o->output == NULL))
		return "--name is that of the C, which -o FOLDER gets without a text";
	return NULL;
}

int
cmd_tokens(const options *o)
{
	const char *why = mistake(o);

	if (why != NULL) {
		fprintf(stderr, "quern tokens: %s\n", why);
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);

	return ctx == NULL ? 1 : program_close(ctx, tokens(ctx, o));
}
