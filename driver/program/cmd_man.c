/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_man.c - quern man: manual pages from the tables of commands and options, in the language of
 * man(7). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "program.h"

/* Text whose hyphens may be copied into a shell and whose lines are not roff requests. */
static void
put(const char *text)
{
	bool begins = true;

	for (; *text != '\0'; text++) {
		if (begins && (*text == '.' || *text == '\''))
			printf("\\&");
		if (*text == '-')
			printf("\\-");
		else if (*text == '\\')
			printf("\\e");
		else
			putchar(*text);
		begins = *text == '\n';
	}
}

static void
put_upper(const char *text)
{
	for (; *text != '\0'; text++)
		putchar(toupper((unsigned char)*text));
}

/* quern, or quern-NAME. */
static void
put_heading(const char *name, const char *summary)
{
	printf(".TH QUERN");
	if (name != NULL) {
		printf("\\-");
		put_upper(name);
	}
	printf(" 1 \"\" \"quern %s\" \"Quern\"\n.SH NAME\nquern%s%s \\- ", qn_version(),
	       name != NULL ? "\\-" : "", name != NULL ? name : "");
	put(summary);
	printf("\n.SH SYNOPSIS\n");
}

/* The synopsis, whose other forms are on lines of their own. */
static void
put_synopsis(const command *c)
{
	const char *text = c->synopsis;

	printf(".B quern %s\n", c->name);
	for (;;) {
		char line[512];
		const size_t n = strcspn(text, "\n");

		(void)snprintf(line, sizeof line, "%.*s", (int)n, text);
		put(line);
		putchar('\n');
		if (text[n] == '\0')
			return;
		text += n + strspn(text + n, "\n ");
		printf(".br\n");
	}
}

/* Paragraphs with empty lines between them. */
static void
put_paragraphs(const char *text)
{
	for (const char *end; *text != '\0'; text = end + strspn(end, "\n")) {
		char paragraph[2048];

		end = strstr(text, "\n\n");
		if (end == NULL)
			end = text + strlen(text);
		(void)snprintf(paragraph, sizeof paragraph, "%.*s", (int)(end - text), text);
		printf(".PP\n");
		put(paragraph);
		putchar('\n');
	}
}

/* An item and its explanation; commas in a name stay with it. */
static void
put_item(const char *name, const char *help)
{
	printf(".TP\n\\fB");
	put(name);
	printf("\\fR\n");
	put(help);
	putchar('\n');
}

static void
put_option(const option_row *r)
{
	printf(".TP\n\\fB");
	if (r->letter != 0)
		printf("\\-%c\\fR, \\fB", r->letter);
	put(r->name);
	printf("\\fR%s", r->value != NULL && r->kind != OPT_MAYBE ? " " : "");
	if (r->value != NULL) {
		printf("\\fI");
		put(r->value);
		printf("\\fR");
	}
	putchar('\n');
	put(r->help);
	putchar('\n');
	if (r->choice == NULL)
		return;
	printf(".RS\n");
	for (const option_choice *k = r->choice; k->word != NULL; k++)
		put_item(k->word, k->help);
	printf(".RE\n");
}

static void
put_options(const command *c)
{
	for (int g = 0; g < NGROUP; g++) {
		bool any = false;

		for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++) {
			if (r->group != (option_group)g)
				continue;
			if (!any)
				printf(".SS %c%s\n",
				       toupper((unsigned char)option_group_name(
					       (option_group)g)[0]),
				       option_group_name((option_group)g) + 1);
			any = true;
			put_option(r);
		}
	}
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++) {
		if (r->names == NULL)
			continue;
		printf(".SS ");
		putchar(toupper((unsigned char)r->names[0]));
		put(r->names + 1);
		putchar('\n');
		for (size_t i = 0; r->name_of(i) != NULL; i++)
			put_item(r->name_of(i), r->name_help(i));
	}
}

static void
put_exit_codes(void)
{
	printf(".SH EXIT STATUS\n");
	for (const exit_code *e = exit_codes; e->meaning != NULL; e++) {
		char number[12];

		(void)snprintf(number, sizeof number, "%d", e->code);
		put_item(number, e->meaning);
	}
}

static void
print_command(const command *c)
{
	put_heading(c->name, c->summary);
	put_synopsis(c);
	printf(".SH DESCRIPTION\n");
	put_paragraphs(c->about);
	printf(".SH OPTIONS\n");
	put_options(c);
	printf(".SH EXAMPLES\n.nf\n");
	put(c->example);
	printf("\n.fi\n");
	put_exit_codes();
	printf(".SH SEE ALSO\n.BR quern (1)\n");
}

static void
print_program(void)
{
	put_heading(NULL,
		    "quantize trained networks and write integer-only C for microcontrollers");
	printf(".B quern\n.I COMMAND\n…\n.SH COMMANDS\n");
	for (const command *c = command_rows; c->name != NULL; c++)
		put_item(c->name, c->summary);
	put_exit_codes();
	printf(".SH SEE ALSO\n");
	for (const command *c = command_rows; c->name != NULL; c++) {
		printf(".BR quern\\-");
		put(c->name);
		printf(" (1)%s\n", c[1].name != NULL ? "," : "");
	}
}

int
cmd_man(const options *o)
{
	const command *c = o->model != NULL ? command_find(o->model) : NULL;

	if (o->model == NULL)
		print_program();
	else if (c != NULL)
		print_command(c);
	else
		return command_unknown(o->model);
	return 0;
}
