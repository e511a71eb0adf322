/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_completion.c - quern completion: scripts for shells that complete commands, options and the
 * words that options take, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "program.h"

static void
print_words(const option_row *r, const char *between)
{
	for (size_t i = 0; option_word(r, i) != NULL; i++)
		printf("%s%s", i > 0 ? between : "", option_word(r, i));
}

/* Text in single quotes of a shell; characters of `special` after a backslash. */
static void
print_quoted(const char *text, const char *special)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			printf("'\\''");
		else
			printf("%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
	}
}

/* ---- bash ---- */

static void
bash_command(const command *c)
{
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++) {
		if (option_word(r, 0) == NULL)
			continue;
		printf("\t%s:%s) words='", c->name, r->name);
		print_words(r, " ");
		printf("' ;;\n");
	}
	printf("\t%s:*) options='", c->name);
	for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++)
		printf("%s ", r->name);
	printf("' ;;\n");
}

static void
print_bash(void)
{
	printf("# completion of quern for bash\n_quern() {\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
	       "words= options=\n"
	       "\tif [ \"$word\" = = ]; then word=; fi\n"
	       "\tif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
	       "\tCOMPREPLY=()\n"
	       "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	       "\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (const command *c = command_rows; c->name != NULL; c++)
		printf("%s ", c->name);
	printf("help' -- \"$word\")\n\t\treturn\n\tfi\n"
	       "\tcase ${COMP_WORDS[1]}:$before in\n"
	       "\thelp:help|man:man) words='");
	for (const command *c = command_rows; c->name != NULL; c++)
		printf("%s ", c->name);
	printf("' ;;\n\tcompletion:completion) words='bash zsh fish' ;;\n");
	for (const command *c = command_rows; c->name != NULL; c++)
		bash_command(c);
	printf("\tesac\n"
	       "\tcase $word in -*) words=$options ;; esac\n"
	       "\t[ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
	       "\"$word\")\n"
	       "}\ncomplete -o default -F _quern quern\n");
}

/* ---- zsh ---- */

static void
zsh_option(const option_row *r)
{
	printf("\t\t\t'");
	if (r->kind == OPT_LIST)
		printf("*");
	else if (r->letter != 0)
		printf("(-%c %s)", r->letter, r->name);
	if (r->letter != 0 && r->kind != OPT_LIST)
		printf("'{-%c,%s}'", r->letter, r->name);
	else
		printf("%s", r->name);
	if (r->value != NULL && r->kind != OPT_MAYBE)
		printf("=");
	printf("[");
	print_quoted(r->help, "[]:\\");
	printf("]");
	if (r->value != NULL && r->kind != OPT_MAYBE) {
		printf(":");
		print_quoted(r->value, "[]:\\");
		printf(":");
		if (option_word(r, 0) != NULL) {
			printf("(");
			print_words(r, " ");
			printf(")");
		} else {
			printf("_files");
		}
	}
	printf("' \\\n");
}

static void
print_zsh(void)
{
	printf("#compdef quern\n# completion of quern for zsh\n_quern() {\n\tlocal -a "
	       "commands=(\n");
	for (const command *c = command_rows; c->name != NULL; c++) {
		printf("\t\t'%s:", c->name);
		print_quoted(c->summary, ":\\");
		printf("'\n");
	}
	printf("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command "
	       "commands\n\t\treturn\n\tfi\n"
	       "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n"
	       "\tcase $command in\n");
	for (const command *c = command_rows; c->name != NULL; c++) {
		printf("\t%s)\n\t\t_arguments -S \\\n", c->name);
		for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++)
			zsh_option(r);
		printf("\t\t\t'*:file:_files'\n\t\t;;\n");
	}
	printf("\tesac\n}\ncompdef _quern quern\n");
}

/* ---- fish ---- */

static void
fish_option(const command *c, const option_row *r)
{
	printf("complete -c quern -n '__fish_seen_subcommand_from %s' -l %s", c->name, r->name + 2);
	if (r->letter != 0)
		printf(" -s %c", r->letter);
	if (option_word(r, 0) != NULL) {
		printf(" -x -a '");
		print_words(r, " ");
		printf("'");
	} else if (r->value != NULL && r->kind != OPT_MAYBE) {
		printf(" -r");
	}
	printf(" -d '");
	print_quoted(r->help, "\\");
	printf("'\n");
}

static void
print_fish(void)
{
	printf("# completion of quern for fish\n");
	for (const command *c = command_rows; c->name != NULL; c++) {
		printf("complete -c quern -n __fish_use_subcommand -f -a %s -d '", c->name);
		print_quoted(c->summary, "\\");
		printf("'\n");
	}
	for (const command *c = command_rows; c->name != NULL; c++)
		for (const option_row *r = option_rows; (r = option_next(c, r)) != NULL; r++)
			fish_option(c, r);
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

int
cmd_completion(const options *o)
{
	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
		if (strcmp(shells[i].name, o->model) == 0) {
			shells[i].print();
			return 0;
		}
	fprintf(stderr, "quern completion: unknown shell '%s' (expected bash, zsh or fish)\n",
		o->model);
	return QN_EUSAGE;
}
