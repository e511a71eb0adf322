/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - parsing of command lines by the rows of a command (options_rows.c), and the help that
 * follows from them. */
#include "options.h"

#include <stdio.h>
#include <string.h>

static const option_row *
find(const command *c, const char *arg, size_t n)
{
	for (const option_row *r = c->option; r->name != NULL; r++) {
		if (strlen(r->name) == n && memcmp(r->name, arg, n) == 0)
			return r;
		if (n == 2 && arg[0] == '-' && arg[1] == r->letter && r->letter != 0)
			return r;
	}
	return NULL;
}

static int
usage_error(const command *c, const char *what, const char *arg)
{
	fprintf(stderr, "quern %s: %s: %s\ntry: quern %s --help\n", c->name, what, arg, c->name);
	return QN_EUSAGE;
}

/* Names word k of the synopsis. */
static int
missing_argument(const command *c, int k)
{
	const char *word = c->synopsis;
	char name[32];

	for (; k > 0; k--)
		word += strcspn(word, " ") + 1;
	(void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word, " "), word);
	return usage_error(c, "missing argument", name);
}

/* A whole number from 1 to MAX_COUNT. */
static int
store_count(const command *c, const option_row *r, const char *value, int *slot)
{
	int n = 0;

	for (const char *s = value; *s != '\0'; s++) {
		n = *s >= '0' && *s <= '9' ? n * 10 + (*s - '0') : MAX_COUNT + 1;
		if (n > MAX_COUNT)
			break;
	}
	if (n < 1 || n > MAX_COUNT)
		return usage_error(c, "option needs a number from 1 to 256", r->name);
	*slot = n;
	return 0;
}

/* Digits, or nothing: then the library's default of 8 bits. */
static int
store_bits(const command *c, const option_row *r, const char *value, int *slot)
{
	if (*value != '\0')
		return store_count(c, r, value, slot);
	*slot = 8;
	return 0;
}

static int
store(const command *c, options *o, const option_row *r, const char *value)
{
	char *base = (char *)o;

	if (r->kind == OPT_FLAG) {
		*(bool *)(void *)(base + r->offset) = true;
	} else if (r->kind == OPT_COUNT) {
		return store_count(c, r, value, (int *)(void *)(base + r->offset));
	} else if (r->kind == OPT_MAYBE) {
		return store_bits(c, r, value, (int *)(void *)(base + r->offset));
	} else if (r->kind == OPT_TEXT) {
		const char **slot = (const char **)(void *)(base + r->offset);

		if (*slot != NULL)
			return usage_error(c, "option given twice", r->name);
		*slot = value;
	} else {
		int *n = (int *)(void *)(base + r->count_offset);

		if (*n == MAX_VALUES)
			return usage_error(c, "option given too often", r->name);
		((const char **)(void *)(base + r->offset))[(*n)++] = value;
	}
	return 0;
}

static int
positional(const command *c, options *o, const char *arg)
{
	if (o->model == NULL) {
		o->model = arg;
		return 0;
	}
	if (o->narg == MAX_ARGS)
		return usage_error(c, "too many arguments", arg);
	o->arg[o->narg++] = arg;
	return 0;
}

/* Whether the word is one of the command's options, with or without a value. */
static bool
is_option(const command *c, const char *word)
{
	return word[0] == '-' && word[1] != '\0' && find(c, word, strcspn(word, "=")) != NULL;
}

int
options_parse(const command *c, int argc, char **argv, options *o)
{
	bool only_args = false;

	*o = (options){0};
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i];
		int err;

		if (!only_args && strcmp(arg, "--") == 0) {
			only_args = true;
			continue;
		}
		if (only_args || arg[0] != '-' || arg[1] == '\0') {
			if ((err = positional(c, o, arg)) != 0)
				return err;
			continue;
		}
		size_t n = strcspn(arg, "=");
		const option_row *r = find(c, arg, n);
		if (r == NULL)
			return usage_error(c, "unknown option", arg);
		const char *value = NULL;
		if (r->kind == OPT_MAYBE) {
			value = arg[n] == '=' ? arg + n + 1 : "";
			if (arg[n] == '=' && *value == '\0')
				return usage_error(c, "option needs a value", r->name);
		} else if (r->kind != OPT_FLAG) {
			const bool joined = arg[n] == '=';

			value = joined ? arg + n + 1 : i + 1 < argc ? argv[++i] : NULL;
			if (value == NULL || *value == '\0')
				return usage_error(c, "option needs a value", r->name);
			if (!joined && is_option(c, value))
				return usage_error(
					c, "option needs a value; an option stands after it",
					r->name);
		} else if (arg[n] == '=') {
			return usage_error(c, "option takes no value", r->name);
		}
		if ((err = store(c, o, r, value)) != 0)
			return err;
	}
	int given = (o->model != NULL) + o->narg;
	if (!o->help && !o->list_passes && given < c->min_args)
		return missing_argument(c, o->model != NULL);
	if (!o->help && given > c->max_args)
		return usage_error(c, "unexpected argument",
				   o->narg > 0 ? o->arg[o->narg - 1] : o->model);
	return 0;
}

void
options_help(const command *c)
{
	bool methods = false;
	bool metrics = false;

	printf("usage: quern %s %s\n\n%s\n\noptions:\n", c->name, c->synopsis, c->about);
	for (const option_row *r = c->option; r->name != NULL; r++) {
		char left[96];

		(void)snprintf(left, sizeof left, "%s%s%s%s%s",
			       r->letter != 0 ? (char[]){'-', r->letter, ',', ' ', 0} : "", r->name,
			       r->value != NULL && r->kind != OPT_MAYBE ? " " : "",
			       r->value != NULL ? r->value : "", "");
		printf("  %-36s %s\n", left, r->help);
		methods = methods || strcmp(r->name, "--method") == 0;
		metrics = metrics || strcmp(r->name, "--top-k") == 0;
	}
	if (metrics)
		printf("\nmetrics:\n");
	for (size_t i = 0; metrics && qn_metric_name(i) != NULL; i++)
		printf("  %-36s %s\n", qn_metric_name(i), qn_metric_help(i));
	if (methods)
		printf("\nmethods, with their parameters and defaults:\n");
	for (size_t i = 0; methods && qn_method_name(i) != NULL; i++)
		printf("  %-36s %s\n", qn_method_name(i), qn_method_help(i));
}
