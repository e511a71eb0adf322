/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - the texts of --help, from the tables of commands and options: at most 100 columns, of
 * which the names of options take 30. */
#include <stdio.h>
#include <string.h>

#include "program.h"

enum { LINE = 100, COLUMN = 30 };

static const char *const groups[NGROUP] = {
	[GROUP_CALIBRATION] = "calibration",
	[GROUP_SAMPLES] = "samples (for one source: FILE:scale=…,mean=…,std=…,layout=…)",
	[GROUP_EVALUATION] = "evaluation",
	[GROUP_QUANTIZATION] = "quantization",
	[GROUP_BUDGETS] = "search",
	[GROUP_OUTPUT] = "output",
	[GROUP_MODEL] = "input model",
	[GROUP_MATCHING] = "matching",
	[GROUP_DEBUGGING] = "debugging",
	[GROUP_GENERAL] = "general",
};

const char *
option_group_name(option_group g)
{
	return groups[g];
}

/* Columns on a terminal of n bytes of UTF-8: all characters of our texts are one wide. */
static int
columns(const char *s, size_t n)
{
	int width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)s[i] & 0xc0) != 0x80;
	return width;
}

/* Words of a text, from column `at` on, on lines that begin at column `indent`; a line feed in the
 * text stays. */
static void
print_wrapped(const char *text, int at, int indent)
{
	bool first = true; /* of its line */

	while (*text != '\0') {
		const size_t n = strcspn(text, " \n");
		const int width = columns(text, n);

		if (!first && at + 1 + width > LINE) {
			printf("\n%*s", indent, "");
			at = indent;
			first = true;
		}
		printf("%s%.*s", first ? "" : " ", (int)n, text);
		at += width + !first;
		first = false;
		text += n;
		if (*text == '\n') {
			printf("\n%*s", text[1] != '\n' ? indent : 0, "");
			at = indent;
			first = true;
		}
		text += *text != '\0';
	}
	putchar('\n');
}

/* A name and its explanation beside it, or below it where the name is too long. */
static void
print_row(int indent, const char *name, const char *help)
{
	const int width = columns(name, strlen(name));

	printf("%*s%s", indent, "", name);
	if (indent + width + 2 > COLUMN)
		printf("\n%*s", COLUMN, "");
	else
		printf("%*s", COLUMN - indent - width, "");
	print_wrapped(help, COLUMN, COLUMN);
}

static void
print_option(const option_row *r)
{
	char name[96];

	(void)snprintf(name, sizeof name, "%s%s%s%s",
		       r->letter != 0 ? (char[]){'-', r->letter, ',', ' ', 0} : "", r->name,
		       r->value != NULL && r->kind != OPT_MAYBE ? " " : "",
		       r->value != NULL ? r->value : "");
	print_row(2, name, r->help);
	for (const option_choice *k = r->choice; k != NULL && k->word != NULL; k++)
		print_row(6, k->word, k->help);
}

static void
print_group(const command *c, option_group g)
{
	bool any = false;

	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++) {
		if (r->group != g)
			continue;
		if (!any)
			printf("\n%s:\n", groups[g]);
		any = true;
		print_option(r);
	}
}

/* Words of options that have too many for their place. */
static void
print_names(const option_row *r)
{
	printf("\n%s:\n", r->names);
	for (size_t i = 0; r->name_of(i) != NULL; i++)
		print_row(2, r->name_of(i), r->name_help(i));
}

void
help_command(const command *c)
{
	printf("usage: quern %s%s%s\n\n", c->name, *c->synopsis != '\0' ? " " : "", c->synopsis);
	print_wrapped(c->about, 0, 0);
	printf("\nexample:\n%s\n", c->example);
	for (int g = 0; g < NGROUP; g++)
		print_group(c, (option_group)g);
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++)
		if (r->names != NULL)
			print_names(r);
}

void
help_program(FILE *to)
{
	fprintf(to, "usage: quern COMMAND …\n\n");
	fprintf(to,
		"Quern %s quantizes trained networks (post-training quantization: TFLite, ONNX, "
		"JSON) "
		"and writes\ninteger-only C for microcontrollers.\n\ncommands:\n",
		qn_version());
	for (const command *c = command_rows; c->name != NULL; c++)
		fprintf(to, "  %-15s %s\n", c->name, c->summary);
	fprintf(to, "\n`quern COMMAND --help` explains a command with an example.\nexit codes:\n");
	for (const exit_code *e = exit_codes; e->meaning != NULL; e++)
		fprintf(to, "  %-15d %s\n", e->code, e->meaning);
	fprintf(to, "\nstart here:\n"
		    "  quern compile examples/digits/digits.json --calib examples/digits/calib.npy "
		    "-o out\n");
}
