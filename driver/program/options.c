/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - parsing of command lines by the table of options (options_rows.c). */
#include <stdio.h>
#include <string.h>

#include "program.h"

const char *
option_word(const option_row *r, size_t i)
{
	return r->choice != NULL ? r->choice[i].word : r->name_of != NULL ? r->name_of(i) : NULL;
}

const option_row *
option_next(const command *c, const option_row *r)
{
	while (r->name != NULL && (r->commands & c->bit) == 0)
		r++;
	return r->name != NULL ? r : NULL;
}

static const option_row *
find(const command *c, const char *arg, size_t n)
{
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++) {
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

/* An option that only other commands have: "an option of compile and opt". */
static bool
tell_others(const command *c, const char *arg, size_t n)
{
	unsigned bits = 0;
	int left = 0;

	for (const option_row *r = option_rows; r->name != NULL; r++)
		if (strlen(r->name) == n && memcmp(r->name, arg, n) == 0)
			bits |= r->commands;
	for (const command *o = command_rows; o->name != NULL; o++)
		left += (o->bit & bits & ~(unsigned)CMD_GENERAL) != 0;
	if (left == 0)
		return false;
	fprintf(stderr, "quern %s: %.*s is an option of", c->name, (int)n, arg);
	for (const command *o = command_rows; o->name != NULL; o++)
		if ((o->bit & bits & ~(unsigned)CMD_GENERAL) != 0)
			fprintf(stderr, " %s%s", o->name,
				--left > 1  ? ","
				: left == 1 ? " and"
					    : "");
	fprintf(stderr, "\ntry: quern %s --help\n", c->name);
	return true;
}

static bool
begins_with(const char *word, const char *begin)
{
	return strncmp(word, begin, strlen(begin)) == 0;
}

static int
unknown_option(const command *c, const char *arg, size_t n)
{
	char word[64];
	const char *best = NULL;

	if (tell_others(c, arg, n))
		return QN_EUSAGE;
	(void)snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1),
		       arg);
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++)
		best = qn_nearer_name(word, best, r->name);
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++)
		if (begins_with(word, r->name) && !(best != NULL && begins_with(best, r->name)))
			best = r->name; /* --calibration is --calib, not --validation */
	fprintf(stderr, "quern %s: unknown option: %s", c->name, arg);
	program_suggest(best);
	fprintf(stderr, "try: quern %s --help\n", c->name);
	return QN_EUSAGE;
}

/* "int8", "i4". */
static bool
is_storage_type(const char *value)
{
	value += value[0] == 'u';
	return value[0] == 'i' && value[strlen(value) - 1] >= '0' &&
	       value[strlen(value) - 1] <= '9';
}

/* "(expected a, b or c)", and the nearest of them. */
static int
invalid_value(const command *c, const option_row *r, const char *value)
{
	const char *best = NULL;
	size_t n = 0;

	while (option_word(r, n) != NULL)
		best = qn_nearer_name(value, best, option_word(r, n++));
	fprintf(stderr, "quern %s: %s: invalid value '%s' (expected ", c->name, r->name, value);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", option_word(r, i));
	fprintf(stderr, ")");
	if (strcmp(r->name, "--weights") == 0 && is_storage_type(value))
		fprintf(stderr, "; storage types are for --weights-type");
	program_suggest(best);
	return QN_EUSAGE;
}

/* One of the option's words, which are long-lived: its index and 1, or for OPT_NAME the word. */
static int
store_word(const command *c, const option_row *r, const char *value, void *slot)
{
	for (size_t i = 0; option_word(r, i) != NULL; i++) {
		const char *also = r->choice != NULL ? r->choice[i].also : NULL;

		if (strcmp(option_word(r, i), value) != 0 &&
		    (also == NULL || strcmp(also, value) != 0))
			continue;
		if (r->kind == OPT_CHOICE)
			*(int *)slot = 1 + (int)i;
		else
			*(const char **)slot = option_word(r, i);
		return 0;
	}
	return invalid_value(c, r, value);
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

/* An integer from 1 to what the row says. */
static int
store_count(const command *c, const option_row *r, const char *value, int *slot)
{
	const int most = r->most > 0 ? r->most : MAX_COUNT;
	char why[64];
	int n = 0;

	for (const char *s = value; *s != '\0'; s++) {
		n = *s >= '0' && *s <= '9' ? n * 10 + (*s - '0') : most + 1;
		if (n > most)
			break;
	}
	if (n < 1 || n > most) {
		(void)snprintf(why, sizeof why, "option needs a number from 1 to %d", most);
		return usage_error(c, why, r->name);
	}
	*slot = n;
	return 0;
}

/* Nothing: 8 bits, the library's default. */
static int
store_bits(const command *c, const option_row *r, const char *value, int *slot)
{
	static const char method[] = "fixed-point";
	const size_t n = sizeof method - 1;

	if (strcmp(value, "tflite") == 0) {
		*slot = 0;
		return 0;
	}
	if (strncmp(value, method, n) == 0 && value[n] == ':')
		return store_count(c, r, value + n + 1, slot);
	if (strcmp(value, method) == 0)
		value = "";
	else if (*value != '\0' && (*value < '0' || *value > '9'))
		return usage_error(c,
				   "invalid value (expected tflite, fixed-point, "
				   "fixed-point:BITS or BITS)",
				   value);
	if (*value != '\0')
		return store_count(c, r, value, slot);
	*slot = 8;
	return 0;
}

static int
store(const command *c, options *o, const option_row *r, const char *value)
{
	char *base = (char *)o;

	if (r->group == GROUP_QUANTIZATION)
		o->quantizing = r->name;
	if (r->kind == OPT_FLAG) {
		*(bool *)(void *)(base + r->offset) = true;
	} else if (r->kind == OPT_COUNT) {
		return store_count(c, r, value, (int *)(void *)(base + r->offset));
	} else if (r->kind == OPT_MAYBE) {
		return store_bits(c, r, value, (int *)(void *)(base + r->offset));
	} else if (r->kind == OPT_CHOICE) {
		if (*(int *)(void *)(base + r->offset) != 0)
			return usage_error(c, "option given twice", r->name);
		return store_word(c, r, value, base + r->offset);
	} else if (r->kind == OPT_TEXT || r->kind == OPT_NAME) {
		const char **slot = (const char **)(void *)(base + r->offset);

		if (*slot != NULL)
			return usage_error(c, "option given twice", r->name);
		if (r->kind == OPT_NAME)
			return store_word(c, r, value, slot);
		*slot = value;
	} else {
		int *n = (int *)(void *)(base + r->count_offset);

		if (*n == MAX_VALUES)
			return usage_error(c, "option given more than 64 times", r->name);
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
	program_command = c->name;
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
			return unknown_option(c, arg, n);
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
				return usage_error(c,
						   "option needs a value, but an option follows it",
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
