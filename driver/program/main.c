/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program `quern`: picks the command. */
#include <stdio.h>
#include <string.h>

#include "program.h"

static int
run(int argc, char **argv)
{
	static options o; /* 64 KB of pointers */

	if (argc < 2) {
		help_program(stderr);
		return QN_EUSAGE;
	}
	bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		    strcmp(argv[1], "help") == 0;
	if (help && argc == 2) {
		help_program(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		printf("quern %s\n", qn_version());
		return 0;
	}
	const char *name = help ? argv[2] : argv[1]; /* `quern help run` is `quern run --help` */
	const command *c = command_find(name);
	if (c == NULL)
		return command_unknown(name);
	int err = help ? 0 : options_parse(c, argc - 2, argv + 2, &o);
	if (err != 0)
		return err;
	if (!help && !o.help)
		return program_check_sample_options(&o) == QN_OK ? c->run(&o) : QN_EUSAGE;
	help_command(c);
	return 0;
}

/* What should be written and cannot be is a failure, also when the disk was full only at
 * the end. */
int
main(int argc, char **argv)
{
	static char text[1 << 16]; /* so that the reason of a failure is that of the flush below */

	(void)setvbuf(stdout, text, _IOFBF, sizeof text);
	signals_catch();
	int code = run(argc, argv);
	bool failed = fflush(stdout) != 0;

	if (code != 0 || (!failed && !ferror(stdout)))
		return code;
	if (failed)
		perror("quern: stdout");
	else
		fprintf(stderr, "quern: stdout: it could not be written\n");
	return 1;
}
